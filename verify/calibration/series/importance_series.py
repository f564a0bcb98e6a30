"""False alarms of lower ends by importance sampling, at tails of 1e-6, against the exact law."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare_lower
from mechanisms import GaussianProfile
from mechanisms.envelopes.loss_points import LossPoints
from mechanisms.numerics.mills import HALF_LOG_2PI

from .series import AuditSeries, any_missed, missed, one_by_one

PROFILE, EPSILON, N_DRAWS = GaussianProfile(1.0), 5.25, 500

#: Factor of the control's density.
TOO_LARGE = 2.0


def _points(dim: int, factor: float) -> LossPoints:
    """Return standard normal noise whose component along the diagonal decides a Gaussian loss, ``mu = 1``."""

    def log_density(z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(-0.5 * np.square(z).sum(axis=1) - dim * HALF_LOG_2PI + math.log(factor))

    def losses(z: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(0.5 + z.sum(axis=1) / math.sqrt(dim))

    return LossPoints("normal noise", lambda n, rng: rng.standard_normal((n, dim)), log_density, losses)


def _audit(dim: int, factor: float, level: float, key: StreamKey) -> tuple[bool, bool]:
    audit = audit_rare_lower(_points(dim, factor), Budget(N_DRAWS, level, key), epsilon=EPSILON)
    tail, delta = PROFILE.tail_at(EPSILON), PROFILE.delta_at(EPSILON)
    return any_missed(
        [missed(audit.tail, tail, rounding=1e-10 * tail), missed(audit.delta, delta, rounding=1e-10 * delta)]
    )


def importance_series() -> Iterator[AuditSeries]:
    """Yield the series of importance sampling; only the lower ends say anything."""
    for dim in (1, 3):
        audit = one_by_one(partial(_audit, dim, 1.0))
        yield AuditSeries("importance sampling", f"Gaussian, dim {dim}, 1e-6", N_DRAWS, audit, halves=False)
    audit = one_by_one(partial(_audit, 1, TOO_LARGE))
    yield AuditSeries(
        "CONTROL density too large", "Gaussian, 1e-6", N_DRAWS, audit, halves=False, control=True, levels=(0.1,)
    )
