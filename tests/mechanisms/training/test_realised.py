"""Realised epsilons agree with a loop over records and steps; they are refused where nothing of the run is seen."""

from __future__ import annotations

import copy
import json
import math
import pickle
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from oracles.mechanisms import literal_training as oracle
from rows import for_each

from audits import Estimate
from mechanisms.catalogue import example_data
from mechanisms.training.dp_sgd import DPSGD
from mechanisms.training.realised import ORDERS, PrivateEstimate, realised_epsilons
from reports.codec import dumps as layout_dumps
from reports.row import Fact
from verify.kernel.rows import dumps, encode

DATA = example_data(8, kind="labels")
TRAINING = DPSGD("logistic", 12, 0.3, 1.5, 0.35, 2.0, normaliser=3.0)
OUTPUT = TRAINING.draw(DATA, 1, rng=np.random.default_rng(5))


def test_it_agrees_with_a_loop_over_records_and_steps() -> None:
    found = realised_epsilons(TRAINING, OUTPUT[0], DATA, 1e-5)
    assert isinstance(found, PrivateEstimate)
    expected = oracle.realised_epsilons(
        DATA, OUTPUT.reshape(12, 2), 1e-5, ORDERS[:20], rate=0.3, sigma=1.5, clip=0.35, step=2.0 / 3.0
    )
    assert found.for_the_curator() == pytest.approx(expected, rel=2e-3)


def test_a_released_number_of_records_costs_too_and_no_iterates_no_estimate() -> None:
    counted = replace(TRAINING, normaliser=None, count_sigma=4.0)
    output = counted.draw(DATA, 1, rng=np.random.default_rng(6))
    both = realised_epsilons(counted, output, DATA, 1e-5).for_the_curator()
    without = realised_epsilons(replace(counted, count_sigma=1e6), output, DATA, 1e-5).for_the_curator()
    assert (both > without + 0.05).all()
    with pytest.raises(ValueError, match="observer must be transcript"):
        realised_epsilons(replace(TRAINING, observer="final"), OUTPUT, DATA, 1e-5)


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


@for_each("way", range(len(WAYS_OUT)))
def test_no_way_out(way: int) -> None:
    with pytest.raises((TypeError, ValueError)) as stop:
        WAYS_OUT[way]()
    assert "837" not in str(stop.value)


def test_its_numbers_cannot_be_written_to() -> None:
    with pytest.raises(ValueError, match="read-only"):
        KEPT.for_the_curator()[0] = 1.0
