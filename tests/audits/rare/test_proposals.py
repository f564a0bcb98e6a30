import math
from functools import cache
from itertools import pairwise

import numpy as np
import pytest
from oracles.audits.importance import mixture_density
from scipy.integrate import quad
from scipy.stats import binom

from audits.rare import proposals
from audits.rare.proposals import Piece, fit_mixture, fit_whitening


@cache
def fitted(dim):
    rng = np.random.default_rng(dim)
    points = rng.normal(size=(400, dim)) + 4.0 * rng.choice([-1.0, 1.0], size=(400, 1)) * np.eye(dim)[0]
    points[:, 0] += 0.1 * np.square(points[:, -1])
    mixture, asked = fit_mixture(points, rng.random(400), lambda point: abs(point[0]) > 2.0, longer=1.1)
    return mixture, asked, points


@pytest.mark.parametrize("dim", [1, 2, 5])
def test_mixture_density_against_its_literal_twin(dim):
    mixture, asked, points = fitted(dim)
    assert len(mixture.pieces) == 4  # two sides, each with its wider copy
    assert asked == 3
    assert math.isclose(mixture.shares.sum(), 1.0)
    found = mixture.log_density(points)
    for point, value in zip(points[:40].tolist(), found[:40], strict=True):
        expected = mixture_density(mixture, point)
        assert math.exp(value) == pytest.approx(expected, rel=1e-11)


def test_mixture_density_has_total_mass_one_and_is_what_is_drawn():
    """Null: a share of the draws in a half-line is that of the density. Level 1e-7, 20,000 draws."""
    mixture, _, _ = fitted(1)
    breaks = [piece.start * piece.frame[0, 0] for piece in mixture.pieces]
    edges = [-math.inf, *sorted(breaks), math.inf]

    def density(x):
        return math.exp(mixture.log_density(np.array([[x]]))[0])

    assert sum(quad(density, a, b)[0] for a, b in pairwise(edges)) == pytest.approx(1.0, abs=1e-7)
    draws = mixture.draw(20_000, np.random.default_rng(5))[:, 0]
    above = quad(density, 5.0, math.inf)[0]
    assert binom.ppf(5e-8, 20_000, above) <= (draws > 5.0).sum() <= binom.isf(5e-8, 20_000, above)


def test_wider_copies_keep_the_slope_and_halve_the_bend():
    piece = Piece(np.eye(2), np.array([1.0]), np.array([2.0]), np.array([0.6]), np.array([0.2]), 3.0, 5.0)
    wide = piece.wider()
    assert wide.slope / wide.scales == pytest.approx(piece.slope / piece.scales)
    assert wide.bend / wide.scales**2 == pytest.approx(0.5 * piece.bend / piece.scales**2, rel=0.02)
    assert wide.start == pytest.approx(2.8)


def test_whitening_is_a_change_of_coordinates():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(500, 3)) @ np.array([[1e3, 0, 0], [5, 1, 0], [0, 0.01, 1e-4]]) + 7.0
    change = fit_whitening(points)
    white = change.white(points)
    assert change.raw(white) == pytest.approx(points, rel=1e-9)
    assert change.log_det == pytest.approx(math.log(abs(np.linalg.det(change.matrix))))
    assert white.mean(axis=0) == pytest.approx(np.zeros(3), abs=1e-6)
    assert np.cov(white.T) == pytest.approx(np.eye(3), abs=0.1)


def test_covariance_is_shrunk_where_it_is_uncertain_only():
    rng = np.random.default_rng(1)
    for n, low, high in ((30, 0.7, 1.4), (20_000, 0.97, 1.03)):
        values, _ = proposals.shrunk_covariance(rng.normal(size=(n, 8)), np.full(n, 1 / n))
        assert low < values.min() <= values.max() < high
    values, _ = proposals.shrunk_covariance(rng.normal(size=(20_000, 2)) * (1.0, 5.0), np.full(20_000, 1 / 20_000))
    assert values == pytest.approx([1.0, 25.0], rel=0.05)
