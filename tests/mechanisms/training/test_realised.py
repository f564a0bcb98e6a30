"""Realised epsilons agree with a loop over records and steps; they are refused where nothing of the run is seen."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from oracles.mechanisms import realised_costs as oracle

from mechanisms.catalogue import example_data
from mechanisms.training.dp_sgd import DPSGD
from mechanisms.training.realised import ORDERS, PrivateEstimate, realised_epsilons

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
