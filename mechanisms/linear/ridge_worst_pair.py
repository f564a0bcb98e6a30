"""Mechanisms on ridge regression: how far a record can lie from the fit, and the worst pair of equal records."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Protocol

import numpy as np

from ..base import BOTH, Bracket, Direction, PrivacyProfile
from ..capabilities import Domain, WorstPair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from .ridge import ridge_fit

#: Most equal records beside the target, where the number of records is not bounded by the claim.
MOST_RECORDS = 2048


class OneLine(Protocol):
    """A mechanism in one dimension, whose divergence is proved from the data on."""

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the exact law of the loss."""

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of delta."""


def largest_residual(lam: float, domain: Domain) -> float:
    """Return a bound on a record's residual at the ridge estimate over all data sets of a public number of records."""
    assert domain.n_public is not None
    n, B, Y = domain.n_public, domain.x_bound, domain.y_bound
    return Y + B * min(math.sqrt(n) * Y / (2 * math.sqrt(lam)), n * B * Y / lam)


def largest_at(lam: float, dataset: Dataset, domain: Domain) -> tuple[float, float]:
    """Return the least eigenvalue of ``X^T X + lam I`` and a target's largest residual, to the safe side."""
    fit = ridge_fit(dataset, lam)
    values = np.linalg.eigvalsh(fit.factor @ fit.factor.T)
    smallest = float(values[0]) * (1 - 1e-9)
    if values[0] < 1e-6 * values[-1]:  # lost in the rounding of the largest; the inverse factor keeps it
        smallest = max(lam, float(np.linalg.norm(fit.whiten(np.eye(dataset.dim)), 2)) ** -2 * (1 - 1e-6))
    return smallest, (domain.y_bound + domain.x_bound * float(np.linalg.norm(fit.theta))) * (1 + 1e-9)


def ridge_worst_pair(
    law: OneLine,
    lam: float,
    domain: Domain,
    epsilon: float,
    log_delta: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
) -> WorstPair | None:
    """Return the worst of: ``m`` equal records on the first axis, and a target on it that points the other way.

    Parameters
    ----------
    law : OneLine
        The mechanism on the first coordinate alone (the others are the same under both data sets).
    log_delta : callable
        ``(curvature, leverage, residual) -> log delta`` at ``epsilon``, worse direction.
    """
    most = MOST_RECORDS if domain.n_public is None else min(MOST_RECORDS, max(domain.n_public - 1, 0))
    sizes = sorted({0, *(int(m) for m in np.geomspace(1, most, 24))}) if most else [0]
    lines = [(m, float(share) * domain.x_bound) for m in sizes for share in np.geomspace(1.0, 1e-2, 17)]
    counts, lengths = (np.array(column, dtype=np.float64) for column in zip(*lines, strict=True))
    curvature = lam + counts * lengths**2
    defined = curvature > 0
    curvature = np.where(defined, curvature, 1.0)
    residual = domain.y_bound + domain.x_bound * counts * lengths * domain.y_bound / curvature
    values = np.where(defined, log_delta(curvature, domain.x_bound**2 / curvature, residual), np.nan)
    if np.isnan(values).all():
        return None
    m, length = lines[int(np.nanargmax(values))]
    line = _line_pair(domain, m, length, 1)
    profile = law.profile(line)
    direction = max(BOTH, key=lambda d: profile.log_delta_at(epsilon, d))
    return WorstPair(
        _line_pair(domain, m, length, domain.dim),
        direction,
        law.delta_bracket(line, epsilon, direction),
        "equal records on the first axis, and one more there that points the other way",
        {"n_records": m, "x_norm_of_records": length, "x_norm": domain.x_bound, "y": domain.y_bound,
         "direction": direction.name},
        profile,
    )  # fmt: skip


def _line_pair(domain: Domain, m: int, length: float, dim: int) -> NeighbouringPair:
    axis = np.eye(dim)[0]
    X, y = np.tile(axis * length, (m, 1)), np.full(m, domain.y_bound)
    data = Dataset(X, y, domain.x_bound, domain.y_bound, name=f"{m} equal records", public=True)
    return NeighbouringPair.add(data, axis * domain.x_bound, -domain.y_bound)
