"""Objects rebuilt from their numbers: each gives itself again, and moved numbers stand in their places."""

from __future__ import annotations

from collections import namedtuple
from dataclasses import dataclass

import numpy as np
import pytest

from audits.subject.output_leaves import take_apart
from audits.subject.rebuilt import Rebuilt


@dataclass(frozen=True)
class Answer:
    total: float
    count: int


Both = namedtuple("Both", "low high")


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
    ],
    ids=str,
)
def test_an_object_of_numbers_is_rebuilt(output) -> None:
    rebuilt = Rebuilt.of([output, output])
    assert rebuilt is not None
    leaves = [leaf.value for leaf in take_apart(output).leaves]
    (again,), (moved,) = (rebuilt.outputs(np.array([leaves]) + step) for step in (0.0, 0.25))
    assert [leaf.value for leaf in take_apart(moved).leaves] == [value + 0.25 for value in leaves]
    assert take_apart(again).structure == take_apart(output).structure


def test_whole_numbers_stay_whole_and_keys_keep_their_order() -> None:
    rebuilt = Rebuilt.of([{"z": 1, "a": 2.0}])
    assert rebuilt is not None
    (output,) = rebuilt.outputs(np.array([[0.5, 7.0]]))
    assert list(output.items()) == [("z", 7), ("a", 0.5)]
    assert type(output["z"]) is int


@pytest.mark.parametrize("outputs", [[], ["text"], [{"a": "text"}], [{"a": 1.0}, {"b": 1.0}], [{1.0, 2.0}], [1j]])
def test_what_its_numbers_do_not_make_again_is_not_rebuilt(outputs) -> None:
    assert Rebuilt.of(outputs) is None
