"""``verify.compare``: the defaults that it states, the store, and one line for what is wrong."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rows import for_each

from mechanisms.data.synthetic import linear_unit_rows
from verify import compare
from verify.comparisons import experiment
from verify.comparisons.choice_data import ChoiceData
from verify.comparisons.compare_call import promises
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


@for_each(
    ("change", "words"),
    [
        ({"epsilon": 0.0}, "epsilon must be finite and positive, got epsilon=0"),
        ({"epsilon": []}, "epsilon and neighbours must be given, got none"),
        ({"delta": 1.0}, "delta must be in"),
        ({"neighbours": ["swap"]}, "neighbours must be add-remove or replace"),
        ({"loss": "hinge"}, "loss must be squared or logistic"),
        ({"jobs": 0}, "jobs must be a whole number of at least 1, got jobs=0"),
        ({"target": "y"}, "target must be left out where the data are a Dataset"),
        ({"methods": ["none"]}, "methods must be of"),
        ({"methods": "none"}, "methods must be of [^\n]*, got none$"),
        ({"methods": [1]}, "methods must be a name, or a list of names, got methods=1"),
        ({"draws": 1.5}, "draws must be a whole number of at least 1, got draws=1.5"),
        ({"folds": 2.5}, "folds must be a whole number of at least 2, got folds=2.5"),
        ({"folds": True}, "folds must be a whole number of at least 2, got folds=True"),
        ({"seed": "a"}, "seed must be a whole number of at least 0, got seed=a"),
        ({"synthetic": 2.5}, "synthetic must be a whole number of at least 1, got synthetic=2.5"),
        ({"epsilon": None}, "epsilon must be a positive number, or several, got epsilon=None"),
        ({"epsilon": [1.0, "x"]}, "epsilon must be a positive number, or several, got epsilon=x"),
        ({"delta": "x"}, r"delta must be a number in \(0, 1\), got delta=x"),
        ({"drops": "region"}, "drops must be left out where the data are a Dataset"),
        ({"x_bound": True}, "x_bound must be a number, got x_bound=True"),
        ({"public": 3}, "public must be a path, got public=3"),
        ({"ranges": {"a": 3.0}}, "ranges must be two numbers for a, got ranges=3.0"),
    ],
)
def test_a_wrong_argument_is_one_line(change: dict[str, Any], words: str) -> None:
    with pytest.raises(UserError, match=words):
        compare(data(), **({"epsilon": 1.0} | FEW | change))


ARGUMENTS = "data epsilon delta neighbours methods target features drops labels categories ranges x_bound n_public "
ARGUMENTS += "public synthetic folder folds seed store as_run"


@for_each("name", ARGUMENTS.split())
def test_what_may_be_records_is_named_by_its_type(name: str) -> None:
    frame = pd.DataFrame({"a": [0.7654321, 1.0], "y": ["Smith", "Jones"]})
    for value in (frame, frame["a"], frame["y"]):
        with pytest.raises(UserError) as refusal:
            compare(**({"data": data(), "epsilon": 1.0} | FEW | {name: value}))
        line = str(refusal.value)
        assert line.startswith(f"{name} must be ")
        assert line.endswith(f"got a {type(value).__name__}")
        assert "\n" not in line


def test_one_name_stands_for_itself_and_whole_numbers_of_numpy_are_whole(tmp_path: Path) -> None:
    X = np.random.default_rng(3).uniform(-1, 1, (12, 3))
    pd.DataFrame(X, columns=["region", "a", "y"]).to_csv(tmp_path / "d.csv", index=False)
    more: dict[str, Any] = {"target": "y", "epsilon": np.array([1.0, 2.0]), "folds": np.int64(2), "draws": 2}
    one = compare(tmp_path / "d.csv", drops="region", methods="SSP", **more)
    other = compare(tmp_path / "d.csv", features="a", methods=["SSP"], **more)
    assert len(one) == 4
    assert one["error"].tolist() == other["error"].tolist()
    assert one.attrs["dim"] == 1
