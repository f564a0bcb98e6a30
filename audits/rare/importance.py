"""Tails of 1e-9 and far below: inside a proved event with two ends, elsewhere from below by importance sampling.

Derivation: docs/derivations/importance_sampling.md.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.special import logsumexp

from mechanisms.data.dataset import FloatArray
from mechanisms.envelopes.loss_points import LossPoints
from mechanisms.envelopes.tail_envelopes import Envelope

from ..estimate import Budget, Estimate, Result
from ..stats.intervals import betting
from ..white_box.tails import chunk_sizes, payoff, slack, tail_estimates
from .proposals import SMALLEST_ROUND, climb

METHOD = "importance sampling, betting on truncated weights: a lower bound, and an estimate without a proved envelope"


@dataclass(frozen=True, repr=False)
class RareLowerBound(Result):
    """``tail`` is P(L > epsilon), ``delta`` is E[(1 - exp(epsilon - L))_+]; both have ``high = 1``.

    The two lower ends hold together except with ``failure_prob``. The values are estimates that rest on the proposal
    having found the whole event, which nothing here proves: they can refute a claim and never support one.

    Attributes
    ----------
    acceptance : float, share of the final draws with ``L > epsilon``
    n_pilot, n_draws : int
        Mechanism evaluations that the proposal was fitted with, and in total.
    """

    epsilon: float
    tail: Estimate
    delta: Estimate
    acceptance: float
    failure_prob: float
    n_pilot: int
    n_draws: int


def audit_rare_lower(source: LossPoints, budget: Budget, *, epsilon: float) -> RareLowerBound:
    """Return estimates and valid lower ends of a tail and of its divergence, at any depth.

    At most half of ``budget.n_draws`` goes to a pilot on a stream of its own (`climb`), which fits a
    proposal and fixes at which level ``c`` weights are truncated; the rest is drawn from the proposal. With ``v`` the
    weight of a draw, ``E[min(v, c) 1{L > epsilon}] <= P(L > epsilon)`` whatever the proposal missed.

    Parameters
    ----------
    source : LossPoints
        From ``mechanisms.noise_points`` or ``mechanisms.output_points``.
    budget : Budget, ``failure_prob`` is split evenly over the two lower ends
    epsilon : float, finite (natural log)

    Returns
    -------
    RareLowerBound
        Valid lower ends, and estimates that rest on the proposal.

    Raises
    ------
    ValueError
        If the budget is too small for a pilot; if a density, or a loss inside the support, is not a number.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.rare import audit_rare_lower
    >>> from mechanisms import Direction
    >>> from mechanisms.envelopes import noise_points
    >>> from mechanisms import NeighbouringPair, PosteriorSampling, load
    >>> mechanism, pair = PosteriorSampling(1.0, 1.0), NeighbouringPair.remove(load("fair"), 0)
    >>> budget = Budget(2000, failure_prob=0.01, key=StreamKey(1))
    >>> rare = audit_rare_lower(noise_points(mechanism, pair, Direction.FORWARD), budget, epsilon=0.3).tail
    >>> rare.low <= mechanism.profile(pair).tail_at(0.3, Direction.FORWARD)
    True
    """
    if not math.isfinite(epsilon):
        raise ValueError(f"epsilon must be finite, got epsilon={epsilon}")
    if budget.n_draws < 2 * SMALLEST_ROUND:
        raise ValueError(f"n_draws must be at least {2 * SMALLEST_ROUND}, got n_draws={budget.n_draws}")
    parts = budget.split({"tail": 0.5, "delta": 0.5})
    share = parts["tail"].failure_prob  # as much as that of delta
    key = budget.key.child("importance sampling")
    proposal = climb(source, epsilon, budget.n_draws // 2, key.child("pilot").rng())
    proposal = proposal.plain_if_better(indicator, epsilon, budget.n_draws - proposal.n_pilot, share)
    n_main, rng = budget.n_draws - proposal.n_pilot, key.child("draws").rng()
    drawn = [proposal.weighted(size, rng) for size in chunk_sizes(n_main)]
    log_weights, losses = (np.concatenate(part) for part in zip(*drawn, strict=True))
    surely = epsilon + float(slack(epsilon))  # an atom at epsilon is not beyond it by rounding
    with np.errstate(divide="ignore"):
        tail, delta = (
            _lower_end(
                log_weights + np.log(gain(losses, surely)),
                proposal.cut(gain, epsilon, n_main, share)[1],
                parts[name].spend(f"{name}, from below"),
                budget,
            )
            for name, gain in (("tail", indicator), ("delta", payoff))
        )
    acceptance = float(indicator(losses, epsilon).mean())
    return RareLowerBound(epsilon, tail, delta, acceptance, budget.failure_prob, proposal.n_pilot, budget.n_draws)


def indicator(losses: FloatArray, epsilon: float) -> FloatArray:
    """Return 1 where a loss is above ``epsilon`` and 0 elsewhere."""
    return (losses > epsilon).astype(np.float64)


def _lower_end(log_values: FloatArray, log_cut: float, share: float, budget: Budget) -> Estimate:
    cut = np.exp(np.minimum(log_values - log_cut, 0.0))
    low = min(math.exp(log_cut) * betting(cut, 2 * share).low, 1.0)
    value = math.exp(float(logsumexp(log_values)) - math.log(log_values.size))
    return Estimate(min(max(value, low), 1.0), low, 1.0, share, budget.n_draws, METHOD)


@dataclass(frozen=True, repr=False)
class RareAudit(Result):
    """``tail`` is P(L > epsilon), ``delta`` is E[(1 - exp(epsilon - L))_+]; both hold except with ``failure_prob``.

    Attributes
    ----------
    epsilon : float, of the envelope
    acceptance : float
        Share of the draws inside the envelope with ``L > epsilon``: the larger, the narrower the intervals.
    failure_prob : float, of both intervals together
    n_draws : int, draws inside the envelope
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

    Returns
    -------
    RareAudit
        Tail and delta with valid intervals at any depth.

    Examples
    --------
    >>> from audits import Budget, StreamKey
    >>> from audits.rare import audit_rare
    >>> from mechanisms import Direction
    >>> from mechanisms.envelopes import posterior_envelope
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
