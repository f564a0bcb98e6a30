"""``verify.compare``: the defaults that it states, the store, and one line for what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mechanisms.data.synthetic import linear_unit_rows
from verify import compare
from verify.choice import experiment
from verify.choice.choice_data import ChoiceData
from verify.choice.compare_call import promises
from verify.messages.errors import UserError

FEW: dict[str, Any] = {"methods": ["trivial", "SSP"], "folds": 2, "draws": 2}


def stop(*_: object) -> None:
    raise KeyboardInterrupt


def data(n_records: int = 30) -> Any:
    return linear_unit_rows(n_records, 2, noise_sd=0.3, rng=np.random.default_rng(2)).dataset


def test_delta_is_the_smaller_of_a_millionth_and_one_over_n_squared() -> None:
    few, many = ChoiceData(data(30), "records"), ChoiceData(data(2000), "records")
    assert {promise.delta for promise in promises(few, 1.0, None, ["add-remove"])} == {1e-6}
    assert {promise.delta for promise in promises(many, 1.0, None, ["add-remove"])} == {1 / 2000**2}
    each = promises(few, [1.0, 0.1, 1.0], 1e-5, ["add-remove", "replace"])
    assert [(promise.epsilon, promise.neighbours) for promise in each] == [
        (1.0, "add-remove"),
        (0.1, "add-remove"),
        (1.0, "replace"),
        (0.1, "replace"),
    ]


def test_the_table_of_a_notebook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = compare(data(), epsilon=[0.5, 1.0], neighbours="add-remove", store=tmp_path / "s.sqlite", **FEW)  # type: ignore[arg-type]
    assert table["method"].tolist() == ["trivial", *["SSP"] * 4]
    assert table["epsilon"].tolist()[1:] == [0.5, 1.0, 0.5, 1.0]
    assert (table.attrs["origin"], table.attrs["complete"]) == ("records", True)
    monkeypatch.setattr(experiment, "decide", stop)  # nothing is decided again
    again = compare(data(), epsilon=[0.5, 1.0], store=tmp_path / "s.sqlite", **FEW)
    pd.testing.assert_frame_equal(table, again)


def test_synthetic_records_are_those_of_the_seed() -> None:
    one, two, other = (compare(data(), epsilon=1.0, synthetic=20, seed=seed, **FEW) for seed in (1, 1, 2))
    assert one.attrs["data"] == two.attrs["data"] != other.attrs["data"]
    assert (one["origin"] == "synthetic").all()


def test_ctrl_c_is_ctrl_c(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(experiment, "decide", stop)
    with pytest.raises(KeyboardInterrupt):
        compare(data(), epsilon=1.0, **FEW)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be finite and positive, got epsilon=0"),
        ({"epsilon": []}, "epsilon and neighbours must be given, got none"),
        ({"delta": 1.0}, "delta must be in"),
        ({"neighbours": ["swap"]}, "neighbours must be add-remove or replace"),
        ({"loss": "hinge"}, "loss must be squared or logistic"),
        ({"jobs": 0}, "jobs must be at least 1"),
        ({"target": "y"}, "target must be left out where the data are a Dataset"),
        ({"methods": ["none"]}, "methods must be of"),
    ],
)
def test_a_wrong_argument_is_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        compare(data(), **({"epsilon": 1.0} | FEW | change))
