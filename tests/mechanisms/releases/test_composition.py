"""Composition, group privacy, post-processing: against finite laws written out, and Gaussian parts."""

import math

import numpy as np
import pytest
from oracles.mechanisms.examples import linear_data, pairs
from oracles.verify import w18_small as oracle
from rows import for_each

from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.noisy_sgd import NoisySGD
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.releases.composition import (
    Composition,
    PostProcessed,
    advanced_composition,
    optimal_composition,
)

SSP = SufficientStatistics(2.0, 1.5)
TWO = Composition((SSP, PosteriorSampling(0.5, 1.0)), (5, 2))


@for_each("epsilon", [0.1, 0.7, 2.0])
@for_each("k", [1, 2, 5, 9])
def test_optimal_composition_equals_the_listed_outcomes(epsilon, k):
    for total in (0.0, 0.3 * k * epsilon, epsilon, 0.99 * k * epsilon, k * epsilon):
        slow = oracle.randomised_response_delta(epsilon, k, total)
        assert optimal_composition(epsilon, 0.0, k, total) == pytest.approx(slow, rel=1e-9, abs=1e-15)
        # with probability delta a release says everything
        expected = 1 - (1 - 1e-3) ** k * (1 - slow)
        assert optimal_composition(epsilon, 1e-3, k, total) == pytest.approx(expected, rel=1e-9)
    assert optimal_composition(0.0, 0.1, 3, 1.0) == pytest.approx(1 - 0.9**3, rel=1e-12)
    assert optimal_composition(1.0, 1.0, 3, 1.0) == 1.0


def test_composition_theorems_are_no_better_than_the_optimum():
    for epsilon, delta, k in ((0.1, 0.0, 20), (0.1, 1e-6, 300), (1.0, 1e-4, 5)):
        assert optimal_composition(epsilon, delta, k, k * epsilon) <= k * delta + 1e-15
        for slack in (1e-9, 1e-3):
            advanced = advanced_composition(epsilon, delta, k, slack)
            assert optimal_composition(epsilon, delta, k, advanced.epsilon) <= advanced.delta


def test_parts_side_by_side():
    dataset = linear_data()
    outputs = TWO.draw(dataset, 20, rng=np.random.default_rng(0))
    assert outputs.shape == (20, 7)
    for pair in (pairs(dataset)["add"], pairs(dataset)["replace"]):
        parts = zip(TWO.parts, TWO.split(outputs), strict=True)
        loss = sum(part.privacy_loss(piece, pair) for part, piece in parts)
        np.testing.assert_allclose(TWO.privacy_loss(outputs, pair), loss, rtol=1e-12)
        direct = TWO.log_density(outputs, pair.first) - TWO.log_density(outputs, pair.second)
        np.testing.assert_allclose(direct, loss, rtol=1e-8, atol=1e-9)


def test_gaussian_parts_compose_exactly():
    pair = pairs(linear_data())["add"]
    three = Composition((SSP,) * 3, (5,) * 3)
    assert three.profile(pair).mu == pytest.approx(math.sqrt(3) * SSP.profile(pair).mu, rel=1e-12)
    for other in (PosteriorSampling(0.5, 1.0), NoisySGD(1, 1.0, 1.0)):
        with pytest.raises(ValueError, match="parts must have Gaussian profiles"):
            Composition((SSP, other), (5, 2)).profile(pair)


def test_post_processing_draws_the_function_of_the_output():
    dataset = linear_data()
    half = PostProcessed(SSP, lambda outputs: SSP.output(outputs, 2))
    drawn = half.draw(dataset, 5, rng=np.random.default_rng(3))
    np.testing.assert_array_equal(drawn, SSP.output(SSP.draw(dataset, 5, rng=np.random.default_rng(3)), 2))
    assert SSP.name in half.name


def test_bad_input_is_refused():
    for call, rule in (
        (lambda: advanced_composition(1.0, 0.0, 0, 0.1), "k must"),
        (lambda: advanced_composition(1.0, 0.0, 2, 0.0), "slack must"),
        (lambda: optimal_composition(1.0, math.nan, 2, 1.0), "delta must"),
        (lambda: optimal_composition(1.0, 0.0, 2, -1.0), "total must"),
        (lambda: Composition((), ()), "widths must"),
        (lambda: Composition((SSP,), (5, 2)), "widths must"),
        (lambda: TWO.split(np.zeros((2, 6))), "outputs must"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
    with pytest.raises(ValueError, match="x must have shape"):
        NeighbouringPair.add(linear_data(), [1.0], 0.0)
