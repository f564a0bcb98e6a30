"""Tails of 1e-9 and far below, with intervals: draws are made inside an event of known, small probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from mechanisms.tail_envelopes import Envelope

from .base import Budget, Estimate
from .draws import chunk_sizes
from .tails import tail_estimates

FloatArray = NDArray[np.float64]


@dataclass(frozen=True)
class RareAudit:
    """``tail`` is P(L > epsilon), ``delta`` is E[(1 - exp(epsilon - L))_+]; both hold except with ``failure_prob``.

    Attributes
    ----------
    acceptance : float
        Share of the draws inside the envelope with ``L > epsilon``: the larger, the narrower the intervals.
    """

    epsilon: float
    tail: Estimate
    delta: Estimate
    acceptance: float
    failure_prob: float
    n_draws: int


def audit_rare(envelope: Envelope, budget: Budget) -> RareAudit:
    """Return the tail and the divergence at the envelope's epsilon.

    ``P(L > epsilon) = P(E) P(L > epsilon | E)``: the first factor is known, the second is a proportion of
    ``budget.n_draws`` draws (Clopper-Pearson). The same holds for the payoff of delta (betting). There are no weights,
    hence nothing has to be assumed about their tails.
    """
    rng = budget.key.child("rare events").rng()
    losses = np.concatenate([envelope.losses(size, rng) for size in chunk_sizes(budget.n_draws)])
    (point,) = tail_estimates(losses, [envelope.epsilon], budget.failure_prob)
    return RareAudit(
        envelope.epsilon,
        _scaled(point.tail, envelope),
        _scaled(point.delta, envelope),
        point.tail.value,
        budget.failure_prob,
        budget.n_draws,
    )


def _scaled(inside: Estimate, envelope: Envelope) -> Estimate:
    mass = math.exp(envelope.log_mass)
    method = f"{inside.method}, inside an event of probability {mass:.3g}"
    return Estimate(
        mass * inside.value, mass * inside.low, mass * inside.high, inside.failure_prob, inside.n_draws, method
    )
