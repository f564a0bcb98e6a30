"""Tails of 1e-9 and far below, with intervals: draws are made inside an event of known, small probability."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from mechanisms.envelopes.tail_envelopes import Envelope

from ..estimate import Budget, Estimate
from ..results import Result
from ..white_box.draws import chunk_sizes
from ..white_box.tails import tail_estimates


@dataclass(frozen=True, repr=False)
class RareAudit(Result):
    """``tail`` is P(L > epsilon), ``delta`` is E[(1 - exp(epsilon - L))_+]; both hold except with ``failure_prob``.

    Attributes
    ----------
    epsilon : float
        Of the envelope.
    acceptance : float
        Share of the draws inside the envelope with ``L > epsilon``: the larger, the narrower the intervals.
    failure_prob : float
        Of both intervals together.
    n_draws : int
        Draws inside the envelope.
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

    Parameters
    ----------
    envelope : Envelope
        A proved event around the tail: ``posterior_envelope``, ``gaussian_envelope`` or ``logistic_envelope``.
    budget : Budget
        Draws, failure probability and random stream; the result is a function of it.

    Returns
    -------
    RareAudit
        Tail and delta with valid intervals at any depth.

    Examples
    --------
    >>> from audits import Budget, StreamKey, audit_rare
    >>> from mechanisms import Direction, posterior_envelope
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> rare = audit_rare(posterior_envelope(mechanism, pair, Direction.FORWARD, 0.3), budget).delta
    >>> rare.low <= mechanism.profile(pair).delta_at(0.3, Direction.FORWARD) <= rare.high <= 1e-10
    True
    """
    rng = budget.key.child("rare events").rng()
    losses = np.concatenate([envelope.losses(size, rng) for size in chunk_sizes(budget.n_draws)])
    (point,) = tail_estimates(losses, [envelope.epsilon], budget.spend("tail and delta inside a proved event"))
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
