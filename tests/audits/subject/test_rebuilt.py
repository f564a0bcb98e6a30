"""Objects as rows and again as objects: each gives itself, moved numbers stand in their places, nothing is guessed."""

from __future__ import annotations

import json
from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pandas as pd
import pytest

from audits.subject.forms import Rebuilt
from audits.subject.output_leaves import Refusal, take_apart


@dataclass(frozen=True)
class Answer:
    total: float
    count: int


Both = namedtuple("Both", "low high")
VALUES = np.random.default_rng(1).laplace(scale=3, size=80).tolist()


def moved(outputs, step=1.0):
    """The first output with all of its numbers moved by a step; None where that is no output."""
    rebuilt = Rebuilt.of(outputs)
    row = rebuilt.rows(outputs[:1])
    row[:, :-1] += step
    made, _ = rebuilt.outputs(row)
    return made[0] if made else None


@pytest.mark.parametrize(
    "output",
    [
        {"sum": 1.5, "count": 3},
        {"z": 1.0, "a": {"value": 2.0, "row": [1, 2.5]}},
        [1.0, 2.0],
        (1.0, {"a": 2}),
        Both(1.0, 2.0),
        Answer(1.5, 2),
        {"matrix": np.arange(4.0).reshape(2, 2), "counts": np.array([1, 2])},
        2.5,
        np.float32(0.5),
        True,
        pd.Series([1.5, 2.0], index=["a", "b"], name="q"),
        pd.DataFrame({"n": [1, 2], "value": [0.5, 1.5]}, index=[3, 7]),
    ],
    ids=str,
)
def test_an_object_of_numbers_is_rebuilt(output) -> None:
    leaves = [leaf.value for leaf in take_apart(output).leaves if "index" not in leaf.path]
    again, other = moved([output, output], 0.0), moved([output, output], 0.25)
    assert take_apart(again)[::2] == take_apart(output)[::2]
    found = [leaf.value for leaf in take_apart(other).leaves if "index" not in leaf.path]
    assert found == [value + 0.25 for value in leaves]


def test_whole_numbers_stay_whole_and_keys_keep_their_order() -> None:
    output = moved([{"z": 1, "a": 2.0}], 2.0)
    assert list(output.items()) == [("z", 3), ("a", 4.0)]
    assert type(output["z"]) is int


def test_a_frame_keeps_its_columns_index_and_dtypes() -> None:
    frame = pd.DataFrame({"of": ["answer", "error"], "n": [1, 2], "value": [0.5, 1.5]}, index=["x", "y"])
    other = moved([frame, frame])
    expected = pd.DataFrame({"of": ["answer", "error"], "n": [2, 3], "value": [1.5, 2.5]}, index=["x", "y"])
    pd.testing.assert_frame_equal(other, expected)


@pytest.mark.parametrize(
    ("shown", "first", "one_more"),
    [
        (lambda v: f"y={v:.2f}", 0.25, "y=0.26"),
        (lambda v: f"{round(v)} of 12", -1.4, "0 of 13"),
        (lambda v: json.dumps({"sum": round(v, 3)}), 0.049, '{"sum": 0.05}'),
        (lambda v: json.dumps({"sum": v}), 0.125, '{"sum": 1.125}'),
        (lambda v: f"{v:.1f}", -0.1, "0.0"),
    ],
    ids=["fixed", "whole", "rounded", "float", "one decimal"],
)
def test_printed_numbers_are_printed_as_they_are_printed(shown, first, one_more) -> None:
    """One unit of the last decimal more, or 1 where there is no last one."""
    assert moved([shown(value) for value in (first, *VALUES)]) == one_more


def test_a_number_that_is_not_printed_again_belongs_to_the_form() -> None:
    """Significant digits, leading zeros, signs of zero: no unit, and half a unit of a fixed decimal is no output."""
    rebuilt = Rebuilt.of([f"{value:.2f}" for value in VALUES])
    assert rebuilt.outputs(np.array([[12.5, rebuilt.rows(["0.25"])[0, 1]]]))[1].tolist() == [False]
    rows = rebuilt.rows(["0.00", "-0.00", "007"])
    assert rows[0, 0] == 0
    assert (rows[1:, 0] == np.inf).all()
    assert rebuilt.outputs(rows)[0] == ["0.00", "-0.00", "007"]


def test_indices_in_lists_of_any_length_belong_to_the_form() -> None:
    rng = np.random.default_rng(2)
    outputs = [[[j, v] for j, v in enumerate(row) if v > 0] for row in rng.standard_normal((80, 3)).tolist()]
    rebuilt = Rebuilt.of(outputs)
    assert len(rebuilt.known) == 8
    assert rebuilt.width == 4
    made, possible = rebuilt.outputs(rebuilt.rows(outputs))
    assert made == outputs
    assert possible.all()


def test_numbers_that_lack_or_are_too_many_make_no_output() -> None:
    rebuilt = Rebuilt.of([None, *VALUES])
    (nothing, number) = rebuilt.rows([None, 1.5])
    swapped = np.array([[number[0], nothing[1]], [nothing[0], number[1]]])
    assert rebuilt.outputs(swapped) == ([], pytest.approx([0, 0]))
    assert (rebuilt.rows([Refusal("ValueError")]) == rebuilt.rows([{1.0}])).all()


KINDS = {
    "nothing": [],
    "a set": [{1.0, 2.0}],
    "complex": [1j],
    "an object": [object()],
    "a refusal": [Refusal("ValueError"), 1.0],
}


@pytest.mark.parametrize("outputs", KINDS.values(), ids=KINDS)
def test_what_its_numbers_do_not_make_again_is_not_rebuilt(outputs) -> None:
    assert Rebuilt.of(outputs) is None
