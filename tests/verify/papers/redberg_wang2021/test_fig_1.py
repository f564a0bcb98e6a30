"""RW21, Figure 1: shares of the terms of Corollary 7, record by record with a literal twin."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value
from oracles.mechanisms.objective_perturbation import gradient, hessian, minimiser
from scipy.stats import spearmanr

from mechanisms import LogisticLoss, NeighbouringPair, ObjectivePerturbation
from verify.figures.figure_page import stream
from verify.papers.redberg_wang2021.fig_1 import STATEMENT
from verify.papers.redberg_wang2021.figures import rw21_fig_1 as drawn


@pytest.mark.parametrize(
    ("part", "omega", "angle"), [("#no rotation", "0", 0.0), ("#large rotations", "pi/2", math.pi / 2)]
)
def test_share_of_the_first_term(part: str, omega: str, angle: float) -> None:
    dataset, loss = drawn.data(stream(1, "RW21-F1")), LogisticLoss()
    theta = minimiser(np.zeros(2), dataset, loss, 1.0)
    theta = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]) @ theta
    inverse, whole = np.linalg.inv(hessian(theta, dataset, loss, 1.0)), gradient(theta, dataset, loss, 1.0)
    sigma = math.sqrt(8 * math.log(2e6) + 4)  # Theorem 5 at epsilon = 1
    first, others = [], []
    for x, y in zip(dataset.X, dataset.y, strict=True):
        slope = -y / (1 + math.exp(y * (x @ theta)))
        first.append(-math.log(1 + abs(slope) * (1 - abs(slope)) * (x @ inverse @ x)))
        others.append((slope**2 * (x @ x) / 2 + slope * (x @ whole)) / sigma**2)
    sizes = np.abs(first).sum(), np.abs(others).sum()
    at = {"omega": omega, "epsilon": 1.0, "data": 1}
    assert exact_value(STATEMENT, part, "printed", at) == pytest.approx(sizes[0] / sum(sizes), rel=1e-5)
    found = decide(STATEMENT, part, "printed", at)
    assert (found.claim.low, found.claim.high) == ((0.5, 1.0) if angle == 0 else (0.0, 0.5))
    assert found.notes["sigma"] == pytest.approx(sigma)
    if angle:
        losses = np.abs(np.array(first) + others)
        order = spearmanr(losses, -dataset.y * (dataset.X @ theta)).statistic
        assert exact_value(STATEMENT, "#order", "printed", at) == pytest.approx(order, rel=1e-6)


def test_what_is_not_stated_is_undecided() -> None:
    found = decide(STATEMENT, "#small rotations", "printed")
    assert found.exact is None
    assert found.reason.startswith("data missing")


def test_terms_are_the_loss_of_adding_the_record_again() -> None:
    dataset = drawn.data(np.random.default_rng(2))
    theta = drawn.rotated(drawn.minimiser(dataset), 1.0)
    losses = drawn.terms(dataset, theta).loss(3.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=3.0, lam=1.0)
    for i in (0, 7, 500):
        pair = NeighbouringPair.add(dataset, dataset.X[i], float(dataset.y[i]))
        assert losses[i] == pytest.approx(abs(mechanism.privacy_loss(theta[None], pair)[0]), rel=1e-9)
