r"""What is proved about every pair of neighbouring data sets in the public domain, as an upper bound on delta(epsilon).

Each bound names the statement whose printed or corrected form it rests on. Derivations:
docs/derivations/deployment.md, section 1, and those that the statements name.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtr

from mechanisms import (
    GaussianOutput,
    GaussianProfile,
    LogisticLoss,
    ObjectivePerturbation,
    PosteriorSampling,
    PseudoHuberLoss,
    SmoothedHingeLoss,
)
from mechanisms.adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from mechanisms.adaops_wang2019 import AdaOPS2019, CorrectedRule2019
from mechanisms.adassp import AdaSSP
from mechanisms.data import FloatArray
from mechanisms.gaussian_profile import gaussian_log_delta
from mechanisms.noisy_sgd import NoisySGD
from mechanisms.objective_calibration import variance_t5
from mechanisms.posterior_bound import LARGEST_DELTA, loss_bound
from mechanisms.ridge import RidgeMap
from mechanisms.subsample_aggregate import SubsampleAggregate
from mechanisms.sufficient_statistics import SufficientStatistics

#: Relative room for rounding in the inputs of a closed form that is then evaluated in ball arithmetic.
ROUNDING = 1e-13
#: Cells of the slope over which the curvature is bounded.
CELLS = 20_000


@dataclass(frozen=True)
class Domain:
    """The public domain that the claim is about: every data set of such records, of at most ``n_public`` of them."""

    dim: int
    x_bound: float
    y_bound: float
    n_public: int | None = None


@dataclass(frozen=True)
class UniversalBound:
    """A proved upper bound on delta(epsilon) over all neighbouring data sets (one record added or removed).

    Attributes
    ----------
    statement : str
        The statement it rests on, and in which form.
    sentence : str
        The reason in words.
    delta_at : callable
        ``(epsilon, delta) -> bound``; ``delta`` is the claimed one, for bounds that are stated at a given delta.
    conditions : tuple of str
        What the bound is conditional on beyond the public domain.
    mu : float or None
        Set where the bound is that of mu-Gaussian differential privacy, at every epsilon.
    """

    statement: str
    sentence: str
    delta_at: Callable[[float, float], float]
    conditions: tuple[str, ...] = ()
    mu: float | None = None


def gaussian_delta(mu: float, epsilon: float) -> float:
    """Return a proved upper bound on the divergence of two normal laws at distance ``mu`` (given up to rounding)."""
    if not math.isfinite(mu):
        return 1.0
    slack = ROUNDING * max(1.0, abs(epsilon))
    return GaussianProfile(mu * (1 + ROUNDING)).delta_bracket(epsilon - slack).high


def slope_curvature(mechanism: ObjectivePerturbation, low: FloatArray, high: FloatArray) -> FloatArray | None:
    """Return the largest ``f''`` while ``|f'|`` lies in each cell ``[low, high]`` (None for losses without a relation)."""
    loss = mechanism.loss
    if isinstance(loss, LogisticLoss | SmoothedHingeLoss):
        width = loss.width if isinstance(loss, SmoothedHingeLoss) else 1.0
        nearest = np.clip(0.5, low, high)
        return np.asarray(nearest * (1 - nearest) / width)
    if isinstance(loss, PseudoHuberLoss):
        return np.asarray(np.maximum(1 - (low / loss.width) ** 2, 0.0) ** 1.5)
    return None


def objective_tail(mechanism: ObjectivePerturbation, domain: Domain, epsilon: ArrayLike) -> FloatArray:
    """Return ``P(L > epsilon)`` at most, over all data sets, from the relation between a loss's slope and curvature.

    ``L <= F a Z + F^2 a^2/2 + log(1 + f'' B^2/lam)`` with ``F = |f'|``, ``a = B/sigma`` and ``Z`` standard normal; the
    edge in ``Z`` is the least over cells of ``F``, each at its worst. Shape of ``epsilon``.
    """
    levels = np.asarray(epsilon, dtype=np.float64)
    found = _edges(mechanism, domain)
    if found is None:
        return np.ones(levels.shape)
    constant, slope = found
    edges = np.array([float(((level - constant) / slope).min()) for level in levels.ravel()]).reshape(levels.shape)
    return np.asarray(np.where(edges <= 0, 1.0, ndtr(-edges * (1 - 1e-9)) * (1 + 1e-9)))


@lru_cache(maxsize=8)
def _edges(mechanism: ObjectivePerturbation, domain: Domain) -> tuple[FloatArray, FloatArray] | None:
    """Return, for each cell of the slope, the loss's constant part and its factor on the noise, both at their worst."""
    top = mechanism.loss.xi(domain.y_bound, domain.x_bound) / domain.x_bound
    if not math.isfinite(top) or mechanism.lam == 0:
        return None
    cells = np.linspace(0.0, top, CELLS + 1)
    curvature = slope_curvature(mechanism, cells[:-1], cells[1:])
    if curvature is None:
        return None
    a = domain.x_bound / mechanism.sigma
    return np.log1p(curvature * domain.x_bound**2 / mechanism.lam) + 0.5 * (cells[1:] * a) ** 2, cells[1:] * a


def objective_domination(mu: float, shift: float, epsilon: float, mu_report: float = 0.0) -> float:
    """Return a bound on delta where the loss is at most ``shift + max(0, mu^2/2 + mu Z)``, reports included.

    ``delta_2(epsilon - shift)`` counts where the noise is below ``-mu/2``, with ``delta_2`` the report's profile.
    """
    rest = epsilon - shift
    low = float(ndtr(-0.5 * mu * (1 - ROUNDING))) * (1 + ROUNDING) * gaussian_delta(mu_report, rest)
    return min(1.0, gaussian_delta(math.hypot(mu, mu_report), rest) + low)


def objective_bound(mechanism: ObjectivePerturbation, domain: Domain, mu_report: float = 0.0) -> UniversalBound | None:
    """Return the bound for objective perturbation, with ``mu_report`` for Gaussian releases made after it."""
    xi = mechanism.loss.xi(domain.y_bound, domain.x_bound)
    beta = mechanism.loss.beta * domain.x_bound**2
    if not (math.isfinite(xi) and math.isfinite(beta)) or mechanism.lam == 0 or mechanism.regulariser is not None:
        return None
    shift, mu = math.log1p(beta / mechanism.lam), xi / mechanism.sigma

    def delta_at(epsilon: float, delta: float) -> float:
        dominated = objective_domination(mu, shift, epsilon, mu_report)
        if mu_report == 0.0:
            return min(dominated, float(objective_tail(mechanism, domain, epsilon)))
        splits = np.linspace(0.0, epsilon, 65)[1:-1]
        rest = np.exp(gaussian_log_delta(epsilon - splits, mu_report)) * (1 + 1e-9)
        tails = objective_tail(mechanism, domain, splits) + rest
        return min(1.0, dominated, float(tails.min(initial=1.0)))

    return UniversalBound(
        "RW21-T5, corrected (the noise scale is the root of the printed one; generalised linear losses)",
        "The privacy loss is at most log(1 + beta/lam) plus the positive part of that of normal noise, drawn from either "
        "data set; the bound takes this, or the sharper relation between slope and curvature of the loss.",
        delta_at,
    )


def t5_domain(mechanism: ObjectivePerturbation, domain: Domain, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the least ``sigma`` and ``lam`` of RW21's Theorem 5, corrected (infinite where it claims nothing)."""
    xi = mechanism.loss.xi(domain.y_bound, domain.x_bound)
    beta = mechanism.loss.beta * domain.x_bound**2
    if not (math.isfinite(xi) and math.isfinite(beta)) or epsilon <= 0 or delta <= 0:
        return math.inf, math.inf
    return math.sqrt(variance_t5(xi, epsilon, delta)), 2 * beta / epsilon


def _ssp(mechanism: SufficientStatistics, domain: Domain) -> UniversalBound:
    mu = mechanism.worst_profile(domain.x_bound, domain.y_bound).mu
    return UniversalBound(
        "W18-S1, in its exact form (the joint sensitivity of both statistics)",
        "Both statistics together are two normal laws of one covariance, at a largest distance that a record on a "
        "coordinate axis reaches: the bound is the exact worst case.",
        lambda epsilon, _: gaussian_delta(mu, epsilon),
        mu=mu,
    )


def _adassp(mechanism: AdaSSP, domain: Domain) -> UniversalBound:
    mu = mechanism.worst_profile().mu
    return UniversalBound(
        "W18-TH3i, corrected (last line on the released matrix)",
        "The three releases before the eigenvalue is cut are two normal laws of one covariance.",
        lambda epsilon, _: gaussian_delta(mu, epsilon),
        mu=mu,
    )


def _stated(epsilon: float, delta: float, statement: str, sentence: str) -> UniversalBound:
    """Return the bound of a mechanism that is built for one (epsilon, delta)."""

    def delta_at(at: float, _: float) -> float:
        if at >= epsilon:
            return delta
        return min(1.0, delta - math.expm1(at - epsilon)) if delta == 0 else 1.0

    return UniversalBound(statement, sentence, delta_at)


def _posterior(mechanism: PosteriorSampling, domain: Domain) -> UniversalBound | None:
    if domain.n_public is None or mechanism.lam == 0:
        return None
    leverage, residual = domain.x_bound**2 / mechanism.lam, _residual(mechanism.lam, domain)

    def delta_at(epsilon: float, delta: float) -> float:
        if not 0 < delta <= LARGEST_DELTA:
            return 1.0
        bound = float(loss_bound(leverage, residual, mechanism.gamma, delta))
        return delta if bound * (1 + ROUNDING) <= epsilon else 1.0

    return UniversalBound(
        "W18-F, corrected (a bound on leverage and residual over all data sets)",
        "The leverage of any record is at most B^2/lam and its residual is bounded through the public number of "
        "records; the loss grows with both.",
        delta_at,
        (f"no data set has more than {domain.n_public} records, which is public",),
    )


def _residual(lam: float, domain: Domain) -> float:
    assert domain.n_public is not None
    n, B, Y = domain.n_public, domain.x_bound, domain.y_bound
    return Y + B * min(math.sqrt(n) * Y / (2 * math.sqrt(lam)), n * B * Y / lam)


def _gaussian_output(mechanism: GaussianOutput, domain: Domain) -> UniversalBound | None:
    estimator = mechanism.estimator
    if domain.n_public is None or not isinstance(estimator, RidgeMap) or estimator.lam == 0:
        return None
    leverage = min(1.0, domain.x_bound**2 / estimator.lam)
    # |H'^{-1} x| = |H^{-1} x|/(1 + mu) with |H^{-1} x|^2 <= mu/lam, which grows up to mu = 1
    moved = math.sqrt(leverage / estimator.lam) / (1 + leverage) * _residual(estimator.lam, domain)
    top = math.sqrt(float(np.linalg.eigvalsh(mechanism.precision)[-1]) * (1 + ROUNDING) * mechanism.gamma)
    return UniversalBound(
        "W19-L2.4 at the largest sensitivity of ridge regression",
        "One record moves the estimate by at most sqrt(m/lam)/(1 + m) times its largest residual, m = min(1, B^2/lam).",
        lambda epsilon, _: gaussian_delta(moved * top, epsilon),
        (f"no data set has more than {domain.n_public} records, which is public",),
        moved * top,
    )


def _noisy_sgd(mechanism: NoisySGD, domain: Domain) -> UniversalBound | None:
    if math.isinf(mechanism.clip) or mechanism.n_public is None:
        return None

    def delta_at(epsilon: float, delta: float) -> float:
        try:
            return delta if delta > 0 and mechanism.guarantee_at(delta).epsilon <= epsilon else 1.0
        except ImportError:
            return 1.0

    return UniversalBound(
        "the Renyi accountant of dp-accounting for subsampled normal noise",
        "Clipped gradients of one slot of a public number, composed over the steps.",
        delta_at,
        ("the accountant of dp-accounting (the extra 'accounting') is right",),
    )


def universal_bound(mechanism: object, domain: Domain, mu_report: float = 0.0) -> UniversalBound | None:
    """Return what is proved for a reference mechanism over the domain, or None where nothing is."""
    if not (math.isfinite(domain.x_bound) and math.isfinite(domain.y_bound)):
        return None
    match mechanism:
        case ObjectivePerturbation():
            return objective_bound(mechanism, domain, mu_report)
        case SufficientStatistics():
            return _ssp(mechanism, domain)
        case AdaSSP():
            return _adassp(mechanism, domain)
        case PosteriorSampling():
            return _posterior(mechanism, domain)
        case GaussianOutput():
            return _gaussian_output(mechanism, domain)
        case AdaOPS2018() if isinstance(mechanism.rule, CorrectedRule2018):
            rule = mechanism.rule
            return _stated(rule.epsilon, rule.delta, "W18-TH2i, corrected", "Five shares, composed adaptively.")
        case AdaOPS2019() if isinstance(mechanism.rule, CorrectedRule2019):
            stated = mechanism.rule
            return _stated(
                stated.epsilon, stated.delta, "W19-A1, corrected", "A released eigenvalue, then a posterior sample."
            )
        case SubsampleAggregate():
            return _stated(
                mechanism.epsilon, 0.0, "W18-S3", "One record changes one block, whose estimate is clamped to a box."
            )
        case NoisySGD():
            return _noisy_sgd(mechanism, domain)
    return None
