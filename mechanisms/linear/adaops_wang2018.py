"""AdaOPS of W18 (algorithm 1): release the smallest eigenvalue, a Lipschitz bound, then one posterior sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np
import scipy
from scipy.special import log_ndtr

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain, stated_bound
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..guarantees import Guarantee
from ..laws.gaussian_calibration import analytic_sigma, check_open_delta, upper_quantile
from ..numerics.spectra import GramSpectrum
from ..numerics.transcripts import check_bounds, check_outputs, finite_rows, loss_of, normal_log_density
from ..offers import LINEAR, Offer, Offered, Promise
from ..parameters import Delta, Parameters, Positive, Ways
from .ops_calibrations import largest_gamma, largest_leverage, two_sided_quantile


class AdaOPS2018Transcript(NamedTuple):
    """What W18's AdaOPS shows: ``eigenvalue (n,)`` cut at 0, ``log_lipschitz (n,)`` (Delta), ``theta (n, dim)``."""

    eigenvalue: FloatArray
    log_lipschitz: FloatArray
    theta: FloatArray


@dataclass(frozen=True)
class Settings2018:
    r"""The constants of one run; functions of the budget, the public bounds and ``dim`` alone.

    ``eigenvalue = max(lambda_min + sigma Z - shift, 0)``; ``lam = max(best, floor, eigenvalue) - eigenvalue``, which
    is the solution of (7): its objective depends on ``t`` through ``t + eigenvalue`` up to a constant and is convex.
    ``Delta = log(Y + B |theta_hat|) + l (unit_sigma Z + unit_shift)`` with ``l = log(1 + B^2/(lam + eigenvalue))``.
    """

    sigma: float
    shift: float
    total: float
    unit_sigma: float
    unit_shift: float
    x_bound: float
    y_bound: float

    def lam(self, eigenvalue: FloatArray) -> FloatArray:
        """Return the ridge of (7) for each released eigenvalue, shape ``(n_draws,)``."""
        return np.maximum(self.total - eigenvalue, 0.0)

    def step(self, eigenvalue: FloatArray) -> FloatArray:
        """Return ``l = log(1 + B^2/(lam + eigenvalue))``, the sensitivity used for Delta (W18, lemma 12)."""
        return np.log1p(self.x_bound**2 / np.maximum(self.total, eigenvalue))

    def lipschitz_mean(self, theta_hat: FloatArray) -> FloatArray:
        """Return ``log(Y + B |theta_hat|)``; 0 where there is no ridge solution (nothing is drawn there)."""
        norm = np.where(finite_rows(theta_hat), np.linalg.norm(theta_hat, axis=1), 0.0)
        return np.log(self.y_bound + self.x_bound * norm)


def best_total(x_bound: float, c1: float, c2: float) -> float:
    """Return the minimiser over ``u > 0`` of ``B^4 c1 (1 + B^2/u)^(2 c2)/u + u`` (W18, eq. 7 with u = t + eigenvalue).

    In units of ``B^2`` the slope vanishes where ``c1 (1 + 1/v)^(2 c2) (1 + 2 c2/(v + 1)) / v^2 = 1``; the left side
    falls from infinity to 0, so there is one root.
    """

    def log_slope(log_v: float) -> float:
        v = math.exp(log_v)
        return math.log(c1) + 2 * c2 * math.log1p(1 / v) + math.log1p(2 * c2 / (v + 1)) - 2 * log_v

    low, high = -1.0, 1.0
    while log_slope(low) < 0:
        low *= 2
    while log_slope(high) > 0:
        high *= 2
    return x_bound**2 * math.exp(float(scipy.optimize.brentq(log_slope, low, high, xtol=1e-14, rtol=1e-14)))


def positive_root(square: float, constant: float) -> float:
    """Return the positive root ``e`` of ``square e^2 / 2 + e - constant = 0``."""
    return 2 * constant / (1 + math.sqrt(1 + 2 * square * constant))


class StatedRule(Protocol):
    """A rule for the constants of AdaOPS, with the budget it is for."""

    @property
    def epsilon(self) -> float:
        """The budget the paper states."""

    @property
    def delta(self) -> float:
        """The budget the paper states."""

    @property
    def standing(self) -> str:
        """Which version this is ("as printed", "corrected")."""


class Rule2018(StatedRule, Protocol):
    """How the constants of W18's AdaOPS follow from the budget and the public bounds."""

    def settings(self, dataset: Dataset) -> Settings2018:
        """Return the constants of one run."""

    def gamma(self, settings: Settings2018, eigenvalue: FloatArray, log_lipschitz: FloatArray) -> FloatArray:
        """Return gamma for each draw, from what has been released."""


@dataclass(frozen=True)
class PublishedRule2018:
    """The constants of W18, algorithm 1, as printed (the eigenvalue's noise carries no ``B^2``; (8) no plus sign).

    Parameters
    ----------
    epsilon, delta : float
        The printed budget; positive, and in (0, 1).
    rho : float
        Failure probability in ``C_1``; 0.05 in the paper. It affects utility only.
    """

    epsilon: float
    delta: float
    rho: float = 0.05

    standing: ClassVar[str] = "as printed"

    def __post_init__(self) -> None:
        _check_rule(self)

    def settings(self, dataset: Dataset) -> Settings2018:
        return _published_settings(self, *check_bounds(dataset), dataset.dim)

    def gamma(self, settings: Settings2018, eigenvalue: FloatArray, log_lipschitz: FloatArray) -> FloatArray:
        """Return gamma of step 7 for each draw, ``(eigenvalue + lam) e^2 / (log(6/delta) B^2 exp(2 Delta))``."""
        log_term = math.log(6 / self.delta)
        tilde = positive_root((1 + log_term) / log_term**2, self.epsilon / 2)
        total = np.maximum(settings.total, eigenvalue)
        return np.asarray(total * np.exp(-2 * log_lipschitz) * tilde**2 / (log_term * settings.x_bound**2))


@dataclass(frozen=True)
class CorrectedRule2018:
    r"""Constants with which the guarantee is proved (docs/derivations/wang2018_adaops.md).

    Five shares of ``delta/5``: the eigenvalue's release at ``epsilon/4`` (analytic noise, scaled by ``B^2``), its upper
    quantile, the release of Delta at ``epsilon/4``, its lower quantile, and the sample at ``epsilon/2``. Both shifts
    contain one sensitivity more than printed, so that they hold under both members of a pair; gamma is the largest
    that a proved bound on the loss allows.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee, for one record added or removed; positive, and in (0, 1).
    rho : float
        Failure probability in ``C_1``; it affects utility only.
    """

    epsilon: float
    delta: float
    rho: float = 0.05

    standing: ClassVar[str] = "corrected"

    def __post_init__(self) -> None:
        _check_rule(self)
        two_sided_quantile(self.delta / 5)

    def settings(self, dataset: Dataset) -> Settings2018:
        return _corrected_settings(self, *check_bounds(dataset), dataset.dim)

    def gamma(self, settings: Settings2018, eigenvalue: FloatArray, log_lipschitz: FloatArray) -> FloatArray:
        """Return the largest gamma whose bound at leverage ``B^2/(eigenvalue + lam)``, residual ``exp(Delta)`` fits."""
        leverage = settings.x_bound**2 / np.maximum(settings.total, eigenvalue)
        return largest_gamma(leverage, np.exp(log_lipschitz), self.epsilon / 2, self.delta / 5)


@dataclass(frozen=True)
class AdaOPS2018:
    """W18's AdaOPS (algorithm 1), three releases in a row.

    Where ``X^T X + lam I`` is not positive definite the algorithm stops after the eigenvalue: then Delta is 0 and the
    coordinates of ``theta`` are infinite ("no output", of mass 1 under such data).

    Transcript: the eigenvalue, Delta, ``theta``: ``2 + dim`` numbers. The eigenvalue has an atom at 0: densities are
    with respect to Lebesgue measure plus a unit mass at 0 for it, and plus a unit mass on "no output" for the rest.

    Parameters
    ----------
    rule : Rule2018
        ``PublishedRule2018`` or ``CorrectedRule2018``: how the constants follow from the budget.

    Examples
    --------
    >>> data, mechanism = example_pair().first, AdaOPS2018(CorrectedRule2018(10.0, 1e-2))
    >>> mechanism.output(mechanism.draw(data, 3, rng=np.random.default_rng(1)), 2).shape
    (3, 2)
    """

    rule: Rule2018

    @property
    def name(self) -> str:
        return f"AdaOPS of W18, {self.rule.standing}"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.rule.epsilon, self.rule.delta, Relation.ADD, "DP", "W18-TH2i")

    def worst_case(self, domain: Domain) -> Bound | None:
        rule = self.rule
        if not isinstance(rule, CorrectedRule2018):
            return None
        return stated_bound(rule.epsilon, rule.delta, "W18-TH2i, corrected", "Five shares, composed adaptively.")

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        settings, spectrum = self.rule.settings(dataset), GramSpectrum.of(dataset)
        noise = rng.standard_normal((check_draws(n_draws), 2 + dataset.dim))
        eigenvalue = np.maximum(spectrum.smallest - settings.shift + settings.sigma * noise[:, 0], 0.0)
        lam = settings.lam(eigenvalue)
        step = settings.step(eigenvalue)
        log_lipschitz = settings.lipschitz_mean(spectrum.ridge(lam)) + step * (
            settings.unit_shift + settings.unit_sigma * noise[:, 1]
        )
        stopped = spectrum.smallest + lam <= 0
        log_lipschitz = np.where(stopped, 0.0, log_lipschitz)
        gamma = self.rule.gamma(settings, eigenvalue, log_lipschitz)
        return np.column_stack([eigenvalue, log_lipschitz, spectrum.draw_posterior(lam, gamma, noise[:, 2:])])

    def split(self, outputs: FloatArray, dim: int) -> AdaOPS2018Transcript:
        outputs = check_outputs(outputs, 2 + dim)
        return AdaOPS2018Transcript(outputs[:, 0], outputs[:, 1], outputs[:, 2:])

    def output(self, outputs: FloatArray, dim: int) -> FloatArray:
        return self.split(outputs, dim).theta

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the sum of the three conditional log densities, shape ``(n_draws,)``."""
        eigenvalue, log_lipschitz, theta = self.split(outputs, dataset.dim)
        settings, spectrum = self.rule.settings(dataset), GramSpectrum.of(dataset)
        first = clipped_log_density(eigenvalue, spectrum.smallest - settings.shift, settings.sigma)
        lam, step = settings.lam(eigenvalue), settings.step(eigenvalue)
        mean = settings.lipschitz_mean(spectrum.ridge(lam)) + step * settings.unit_shift
        second = normal_log_density(log_lipschitz[:, None], mean[:, None], (step * settings.unit_sigma)[:, None])
        second = np.where(spectrum.smallest + lam > 0, second, np.where(log_lipschitz == 0.0, 0.0, -np.inf))
        gamma = self.rule.gamma(settings, eigenvalue, log_lipschitz)
        return np.asarray(first + second + spectrum.posterior_log_density(theta, lam, gamma))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript (infinite where one data set has no output)."""
        return loss_of(self.log_density(outputs, pair.first), self.log_density(outputs, pair.second))


def clipped_log_density(values: FloatArray, mean: float, sigma: float) -> FloatArray:
    """Return the log density of ``max(N(mean, sigma^2), 0)`` w.r.t. Lebesgue measure plus a unit mass at 0."""
    density = normal_log_density(values[:, None], mean, sigma)
    atom = float(log_ndtr(-mean / sigma))
    return np.where(values > 0, density, np.where(values == 0, atom, -np.inf))


def _c1(dim: int, rho: float, log_term: float, epsilon: float) -> float:
    tail = math.log(1 / rho)
    return (dim / 2 + math.sqrt(dim * tail) + tail) * log_term / epsilon**2


@lru_cache(maxsize=64)
def _published_settings(rule: PublishedRule2018, x_bound: float, y_bound: float, dim: int) -> Settings2018:
    log_term, quarter = math.log(6 / rule.delta), rule.epsilon / 4
    bar = positive_root(1 / log_term, quarter)
    best = best_total(x_bound, _c1(dim, rule.rho, log_term, bar), log_term / quarter)
    floor = x_bound**2 * (1 + log_term) / (2 * rule.epsilon)
    unit_sigma, unit_shift = math.sqrt(log_term) / quarter, log_term / quarter
    return Settings2018(unit_sigma, unit_shift, max(best, floor), unit_sigma, unit_shift, x_bound, y_bound)


@lru_cache(maxsize=64)
def _corrected_settings(rule: CorrectedRule2018, x_bound: float, y_bound: float, dim: int) -> Settings2018:
    share, quarter = rule.delta / 5, rule.epsilon / 4
    unit_sigma = analytic_sigma(1.0, quarter, share)
    unit_shift = unit_sigma * upper_quantile(share) + 1.0
    log_term = math.log(6 / rule.delta)
    best = best_total(x_bound, _c1(dim, rule.rho, log_term, quarter), unit_shift)
    floor = x_bound**2 / largest_leverage(quarter, share)
    square = x_bound**2
    return Settings2018(
        square * unit_sigma, square * unit_shift, max(best, floor), unit_sigma, unit_shift, x_bound, y_bound
    )


def _check_rule(rule: PublishedRule2018 | CorrectedRule2018) -> None:
    object.__setattr__(rule, "epsilon", check_positive("epsilon", rule.epsilon))
    object.__setattr__(rule, "delta", check_open_delta(rule.delta))
    if not 0 < rule.rho < 1:
        raise ValueError(f"rho must be in (0, 1), got rho={rule.rho}")


class AdaOPS2018Parameters(Parameters):
    """AdaOPS of W18 (Algorithm 1)."""

    protection: ClassVar[Ways] = ({"epsilon": -1}, {"delta": -1}, {"epsilon": -1, "delta": -1})

    name: Literal["adaops-2018"]
    epsilon: Positive
    delta: Delta
    form: Literal["corrected", "printed"] = "corrected"

    def build(self, dim: int) -> AdaOPS2018:
        rule = CorrectedRule2018 if self.form == "corrected" else PublishedRule2018
        return AdaOPS2018(rule(self.epsilon, self.delta))


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    linear, cut = example_pair(), {0: 0.0}
    return {
        "adaops-2018-printed": Example(AdaOPS2018(PublishedRule2018(6.0, 1e-2)), linear, cut),
        "adaops-2018": Example(AdaOPS2018(CorrectedRule2018(10.0, 1e-2)), linear, cut),
    }


def offers() -> Sequence[Offer]:
    """Return the printed constants, and those with which the guarantee is proved."""

    def build(rule: type[PublishedRule2018 | CorrectedRule2018], promise: Promise) -> Offered:
        return Offered(AdaOPS2018(rule(promise.for_one.epsilon, promise.for_one.delta)))

    corrected = "W18-TH2i, corrected (docs/derivations/wang2018_adaops.md)"
    return (
        Offer(
            "AdaOPS 2018",
            "published",
            lambda *at: build(PublishedRule2018, at[2]),
            LINEAR,
            "W18, algorithm 1, as printed",
        ),
        Offer("AdaOPS 2018", "exact", lambda *at: build(CorrectedRule2018, at[2]), LINEAR, corrected),
    )
