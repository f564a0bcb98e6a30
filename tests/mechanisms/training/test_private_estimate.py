"""A private estimate shows no number, is no estimate, and nothing that writes a record or a page can hold it."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable

import numpy as np
import pytest

from audits import Estimate
from mechanisms.training.realised import PrivateEstimate
from reports.codec import dumps as layout_dumps
from reports.row import Fact
from verify.engine.rows import dumps, encode

NUMBER = 0.8374651
KEPT = PrivateEstimate("realised epsilon of every record", np.array([NUMBER, 0.25]))


def test_it_shows_no_number() -> None:
    for text in (repr(KEPT), str(KEPT), f"{KEPT}", f"{[KEPT]!r}"):
        assert not any(digit.isdigit() for digit in text)
    assert KEPT.for_the_curator().tolist() == [NUMBER, 0.25]


def test_it_has_no_interval_and_becomes_no_estimate() -> None:
    for name in ("low", "high", "value", "failure_prob", "exact"):
        assert not hasattr(KEPT, name)
    assert not isinstance(KEPT, Estimate)
    with pytest.raises(TypeError):
        Estimate(KEPT, KEPT, KEPT, 0.0, 0, "")  # type: ignore[arg-type]
    with pytest.raises(TypeError):
        Estimate.proved(KEPT, KEPT, "")  # type: ignore[arg-type]


WAYS_OUT: list[Callable[[], object]] = [
    lambda: json.dumps(KEPT),
    lambda: dumps({"kind": "check", "notes": {"realised": encode(KEPT)}}),
    lambda: layout_dumps(Fact("realised", KEPT)),  # type: ignore[arg-type]
    lambda: pickle.dumps(KEPT),
    lambda: KEPT.__getstate__(),
    lambda: copy.deepcopy(KEPT),
    lambda: np.asarray(KEPT),
    lambda: np.add(KEPT, 0.0),
    lambda: np.array([KEPT], dtype=float),
    lambda: float(KEPT),  # type: ignore[arg-type]
    lambda: KEPT + 0.0,  # type: ignore[operator]
    lambda: KEPT < 1.0,  # type: ignore[operator]
    lambda: list(KEPT),  # type: ignore[call-overload]
    lambda: math.fsum([KEPT]),  # type: ignore[list-item]
    lambda: hash(KEPT),
]


@pytest.mark.parametrize("way", range(len(WAYS_OUT)))
def test_no_way_out(way: int) -> None:
    with pytest.raises((TypeError, ValueError)) as stop:
        WAYS_OUT[way]()
    assert "837" not in str(stop.value)


def test_its_numbers_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        KEPT.for_the_curator()[0] = 1.0
