"""The enclosed divergence on the line against draws, a Gaussian limit and its own mirror image."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audits import Budget, StreamKey
from mechanisms import Dataset, Direction, GaussianProfile, NeighbouringPair
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from verify.kernel.evidence import sampled_delta
from verify.methods.line_delta import line_delta

SHARED = [(-0.5, 1.0), (1.0, -1.0), (0.7, 1.0)]


@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("n", [0, 3])
def test_encloses_what_draws_show(n: int, added: bool) -> None:
    """Null: the enclosure meets a betting interval of the same delta; 60,000 draws, level 1e-9."""
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=2.0, lam=0.5)
    X, y = np.array([[x] for x, _ in SHARED[:n]]).reshape(n, 1), np.array([y for _, y in SHARED[:n]])
    pair = NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), [1.0], 1.0)
    pair = pair if added else pair.swapped()
    bracket = line_delta(SHARED[:n], (1.0, 1.0), added=added, sigma=2.0, lam=0.5, epsilon=0.2, resolution=1e-4)
    sampled = sampled_delta(mechanism, pair, 0.2, Direction.FORWARD, Budget(60_000, 1e-9, StreamKey(5)))
    assert bracket.low <= sampled.high
    assert sampled.low <= bracket.high
    assert bracket.high - bracket.low < 0.02 * bracket.high


def test_gaussian_limit() -> None:
    """With lam = 1e6 the output stays at 0, where f' = -1/2 and f'' is nothing: Gaussian with mu = 1/(2 sigma)."""
    exact = GaussianProfile(0.5).delta_at(0.3)
    for added in (True, False):
        bracket = line_delta([], (1.0, 1.0), added=added, sigma=1.0, lam=1e6, epsilon=0.3, resolution=1e-3)
        assert bracket.low - 1e-5 <= exact <= bracket.high + 1e-5


def test_mirror_image() -> None:
    """Flipping all labels mirrors the line."""
    one, other = (
        line_delta(
            [(x, sign * y) for x, y in SHARED],
            (1.0, sign),
            added=True,
            sigma=1.0,
            lam=0.5,
            epsilon=0.5,
            resolution=1e-3,
        )
        for sign in (1.0, -1.0)
    )
    assert math.isclose(one.low, other.low, rel_tol=1e-9)
    assert math.isclose(one.high, other.high, rel_tol=1e-9)
