"""Failure probabilities of "with probability 1 - rho" claims: exact normal and chi-square tails, and counted draws."""

import math
from collections.abc import Callable, Mapping

import numpy as np
from flint import arb
from numpy.typing import NDArray

from audits import Budget, Estimate
from audits.stats.intervals import clopper_pearson
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.balls import Ball, enclose

from ..kernel.measure import Measure
from ..kernel.statement import Case, Claim, Evidence, Observer, Value

#: Floats drawn at once (about 16 MB); part of the definition of a stream.
BATCH_FLOATS = 2_000_000
BoolArray = NDArray[np.bool_]


def normal_tail(square: Ball) -> Ball:
    """Return ``P(Z^2 > square)``."""
    return (square / 2).sqrt().erfc()


def chi_square_tail(dim: int, value: Ball) -> Ball:
    """Return ``P(chi^2_dim > value)``."""
    return (value / 2).gamma_upper(arb(dim) / 2, 1)


def chi_square_lower(dim: int, value: Ball) -> Ball:
    """Return ``P(chi^2_dim < value)``."""
    return (value / 2).gamma_lower(arb(dim) / 2, 1)


def proved_probability(evaluate: Callable[[], Ball], method: str = "ball arithmetic") -> Estimate:
    """Return a proved enclosure of a probability that ``evaluate`` computes."""
    bracket = enclose(evaluate, low=0.0, high=1.0)
    return Estimate.proved(bracket.low, bracket.high, method)


def wigner(dim: int, size: int, rng: np.random.Generator) -> FloatArray:
    """Return symmetric matrices with independent N(0, 1) entries on and above the diagonal."""
    upper = np.triu(rng.standard_normal((size, dim, dim)))
    return np.asarray(upper + np.triu(upper, 1).transpose(0, 2, 1))


def spectral_norm(matrices: FloatArray) -> FloatArray:
    """Return the operator norms of symmetric matrices."""
    return np.asarray(np.abs(np.linalg.eigvalsh(matrices)).max(axis=-1))


def counted(failing: Callable[[int, np.random.Generator], BoolArray], budget: Budget, *, floats_each: int) -> Estimate:
    """Return the probability of ``failing`` from ``budget.n_draws`` independent draws, with a Clopper-Pearson interval.

    Parameters
    ----------
    failing : callable
        ``failing(size, rng)`` returns booleans of shape ``(size,)``.
    budget : Budget
    floats_each : int
        Numbers that one draw needs; batches are as large as memory allows.
    """
    rng, count, size = budget.key.child("draws").rng(), 0, max(1, BATCH_FLOATS // floats_each)
    for start in range(0, budget.n_draws, size):
        count += int(np.count_nonzero(failing(min(size, budget.n_draws - start), rng)))
    return frequency(count, budget)


def frequency(count: int, budget: Budget) -> Estimate:
    """Return the probability of what ``count`` of ``budget.n_draws`` draws showed, with a Clopper-Pearson interval."""
    interval = clopper_pearson(count, budget.n_draws, budget.spend("probability"))
    share = count / budget.n_draws
    return Estimate(share, interval.low, interval.high, budget.failure_prob, budget.n_draws, "Clopper-Pearson")


def failure_evidence(
    quantity: str,
    rho: float,
    *,
    exact: Estimate | None = None,
    sampled: Estimate | None = None,
    in_domain: bool = True,
    conditioned_on: str = "",
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide "with probability at least 1 - rho" on the probability of failing, which must be at most ``rho``."""
    claim = Claim(
        f"probability that this fails: {quantity}",
        -math.inf,
        rho,
        rho,
        in_domain=in_domain,
        observer=Observer.OUTPUT,
        conditioned_on=conditioned_on,
        measure=Measure.FAILURE,
    )
    return Evidence(claim, exact=exact, sampled=sampled, notes=notes or {})


def failing(
    case: Case,
    budget: Budget,
    quantity: str,
    rho: float,
    *,
    exact: Callable[[], Ball] | None = None,
    draw: Callable[[int, np.random.Generator], BoolArray] | None = None,
    floats_each: int = 1,
) -> Evidence:
    """Decide "with probability at least 1 - rho" from the exact probability of failing, and from draws if any.

    Parameters
    ----------
    case : Case
        Says whether draws are wanted.
    budget : Budget
        For the draws.
    quantity : str
        What fails, in words.
    rho : float
        The allowed probability.
    exact : callable, optional
        Computes the probability, where it is known.
    draw : callable, optional
        ``draw(size, rng)`` returns booleans of shape ``(size,)``: failed or not.
    floats_each : int
        Numbers that one draw needs.
    """
    sampled = counted(draw, budget, floats_each=floats_each) if draw and any(case.draws) else None
    return failure_evidence(quantity, rho, exact=proved_probability(exact) if exact else None, sampled=sampled)
