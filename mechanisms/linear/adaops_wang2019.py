"""AdaOPS of W19 (algorithm 1): a noisy smallest eigenvalue chooses the ridge, then one posterior sample."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Protocol

import numpy as np
from pydantic import Field

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain, stated_bound
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..guarantees import Guarantee
from ..laws.gaussian_calibration import analytic_sigma, check_open_delta, upper_quantile
from ..numerics.spectra import GramSpectrum
from ..numerics.transcripts import check_bounds, check_count, check_outputs, loss_of, normal_log_density
from ..offers import LINEAR, NO_SIZE, Offer, Offered, Promise
from ..parameters import MOST_RECORDS, Delta, Parameters, Positive, Ways
from .adaops_wang2018 import StatedRule
from .ops_calibrations import LARGEST_DELTA, largest_gamma, largest_leverage, ridge_norm_bound, two_sided_quantile


class AdaOPS2019Transcript(NamedTuple):
    """What W19's AdaOPS shows: ``eigenvalue (n_draws,)``, then ``theta (n_draws, dim)``."""

    eigenvalue: FloatArray
    theta: FloatArray


@dataclass(frozen=True)
class Settings2019:
    """The constants of one run: noise of the eigenvalue, ``lam = (floor + slack - eigenvalue)`` cut at 0, and gamma."""

    sigma: float
    floor: float
    slack: float
    gamma: float
    raise_only: bool  # True: lam = max(0, .); False: lam = min(0, .), as printed

    def lam(self, eigenvalue: FloatArray) -> FloatArray:
        gap = self.floor + self.slack - eigenvalue
        return np.maximum(gap, 0.0) if self.raise_only else np.minimum(gap, 0.0)


class Rule2019(StatedRule, Protocol):
    """How the constants of W19's AdaOPS follow from the budget and the public bounds."""

    def settings(self, dataset: Dataset) -> Settings2019:
        """Return the constants of one run."""


@dataclass(frozen=True)
class PublishedRule2019:
    r"""The constants of W19, algorithm 1, as printed, with every misprint.

    ``lam = min{0, n/(d kappa) - eigenvalue + log(4/delta)/(epsilon/2)}`` is never positive: it *removes* regularisation
    from well-conditioned data and never adds any to the others. ``n`` is each data set's own number of records unless
    ``n_public`` is given.

    Parameters
    ----------
    epsilon, delta : float
        The printed budget; positive, and in (0, 1).
    kappa : float
        "Largest acceptable condition number", positive; the printed domain ends at ``largest_kappa``.
    n_public : int or None
        Number of records used in the constants, if it is public.
    """

    epsilon: float
    delta: float
    kappa: float
    n_public: int | None = None

    standing: ClassVar[str] = "as printed"

    def __post_init__(self) -> None:
        _check_rule(self)

    def largest_kappa(self, n_records: int, dim: int) -> float:
        """Return ``n epsilon / (4 d (1 + log(4/delta)))``, the end of the printed domain."""
        return n_records * self.epsilon / (4 * dim * (1 + math.log(4 / self.delta)))

    def settings(self, dataset: Dataset) -> Settings2019:
        """Return the constants that the printed algorithm computes for a data set."""
        n, dim = dataset.n_records if self.n_public is None else self.n_public, dataset.dim
        log_term, half = math.log(4 / self.delta), self.epsilon / 2
        ratio = n / (self.kappa * dim) ** 2
        gamma = min(ratio * self.epsilon**2 / (16 * log_term), ratio * self.epsilon / 8)
        return Settings2019(
            math.sqrt(log_term) / half, n / (dim * self.kappa), log_term / half, gamma, raise_only=False
        )


@dataclass(frozen=True)
class CorrectedRule2019:
    r"""The smallest changes to W19's constants that make the guarantee provable (docs/derivations/wang2018_adaops.md).

    ``lam = max{0, floor + slack - eigenvalue}``; the eigenvalue's noise is that of the analytic Gaussian mechanism at
    ``(epsilon/2, delta/4)``; the slack is its upper quantile at ``delta/4`` plus the sensitivity, so that the smallest
    eigenvalue of the smaller data set plus ``lam`` is at least ``floor = n B^2/(d kappa)`` under both members; gamma is
    the largest that a proved bound allows at ``(epsilon/2, delta/2)``. Any public bounds are allowed, not only 1.

    Parameters
    ----------
    epsilon, delta : float
        The guarantee, for one record added or removed; positive, and in (0, 0.6].
    kappa : float
        Largest acceptable condition number; below ``largest_kappa``.
    n_public : int
        Public upper bound on the number of records of every data set (both members of a pair).
    """

    epsilon: float
    delta: float
    kappa: float
    n_public: int

    standing: ClassVar[str] = "corrected"

    def __post_init__(self) -> None:
        _check_rule(self)
        two_sided_quantile(self.delta / 2)

    def largest_kappa(self, dim: int) -> float:
        """Return the ``kappa`` below which some budget is left to the posterior sample."""
        return self.n_public / dim * largest_leverage(self.epsilon / 2, self.delta / 2)

    def settings(self, dataset: Dataset) -> Settings2019:
        x_bound, y_bound = check_bounds(dataset)
        if dataset.n_records > self.n_public:
            raise ValueError(f"n_records must be at most n_public={self.n_public}, got n_records={dataset.n_records}")
        end = self.largest_kappa(dataset.dim)
        if not self.kappa < end:
            raise ValueError(f"kappa must be below {end:.6g} at this budget, got kappa={self.kappa}")
        sigma = analytic_sigma(x_bound**2, self.epsilon / 2, self.delta / 4)
        slack = sigma * upper_quantile(self.delta / 4) + x_bound**2
        floor = self.n_public * x_bound**2 / (dataset.dim * self.kappa)
        residual = y_bound + x_bound * ridge_norm_bound(self.n_public, x_bound, y_bound, floor)
        gamma = largest_gamma(x_bound**2 / floor, residual, self.epsilon / 2, self.delta / 2)
        return Settings2019(sigma, floor, slack, float(gamma), raise_only=True)


@dataclass(frozen=True)
class AdaOPS2019:
    """W19's AdaOPS: ``eigenvalue = lambda_min(X^T X) + noise``, a ridge computed from it, one posterior sample.

    Where ``X^T X + lam I`` is not positive definite there is no posterior to sample from; then the coordinates of
    ``theta`` are infinite ("no output", of mass 1 under such data).

    Transcript: the noisy smallest eigenvalue, then ``theta``: ``1 + dim`` numbers. Density with respect to Lebesgue
    measure, plus a unit mass on "no output" for ``theta``.

    Parameters
    ----------
    rule : Rule2019
        ``PublishedRule2019`` or ``CorrectedRule2019``: how the constants follow from the budget.

    Examples
    --------
    >>> data, mechanism = example_pair().first, AdaOPS2019(CorrectedRule2019(6.0, 1e-2, kappa=1.0, n_public=31))
    >>> mechanism.output(mechanism.draw(data, 3, rng=np.random.default_rng(1)), 2).shape
    (3, 2)
    """

    rule: Rule2019

    @property
    def name(self) -> str:
        return f"AdaOPS of W19, {self.rule.standing}"

    @property
    def guarantee(self) -> Guarantee:
        return Guarantee(self.rule.epsilon, self.rule.delta, Relation.ADD, "DP", "W19-P4.4.1")

    def worst_case(self, domain: Domain) -> Bound | None:
        rule = self.rule
        if not isinstance(rule, CorrectedRule2019):
            return None
        return stated_bound(
            rule.epsilon, rule.delta, "W19-A1, corrected", "A released eigenvalue, then a posterior sample."
        )

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        settings, spectrum = self.rule.settings(dataset), GramSpectrum.of(dataset)
        noise = rng.standard_normal((check_draws(n_draws), 1 + dataset.dim))
        eigenvalue = spectrum.smallest + settings.sigma * noise[:, 0]
        gamma = np.full(n_draws, settings.gamma)
        return np.column_stack([eigenvalue, spectrum.draw_posterior(settings.lam(eigenvalue), gamma, noise[:, 1:])])

    def split(self, outputs: FloatArray, dim: int) -> AdaOPS2019Transcript:
        outputs = check_outputs(outputs, 1 + dim)
        return AdaOPS2019Transcript(outputs[:, 0], outputs[:, 1:])

    def output(self, outputs: FloatArray, dim: int) -> FloatArray:
        return self.split(outputs, dim).theta

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of the eigenvalue plus that of the sample given it, shape ``(n_draws,)``."""
        eigenvalue, theta = self.split(outputs, dataset.dim)
        settings, spectrum = self.rule.settings(dataset), GramSpectrum.of(dataset)
        first = normal_log_density(eigenvalue[:, None], spectrum.smallest, settings.sigma)
        gamma = np.full(eigenvalue.shape, settings.gamma)
        return np.asarray(first + spectrum.posterior_log_density(theta, settings.lam(eigenvalue), gamma))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript (infinite where one data set has no output)."""
        return loss_of(self.log_density(outputs, pair.first), self.log_density(outputs, pair.second))


def _check_rule(rule: PublishedRule2019 | CorrectedRule2019) -> None:
    object.__setattr__(rule, "epsilon", check_positive("epsilon", rule.epsilon))
    object.__setattr__(rule, "delta", check_open_delta(rule.delta))
    object.__setattr__(rule, "kappa", check_positive("kappa", rule.kappa))
    if rule.n_public is not None:
        object.__setattr__(rule, "n_public", check_count("n_public", rule.n_public))


class AdaOPS2019Parameters(Parameters):
    """AdaOPS of W19 (Algorithm 1)."""

    protection: ClassVar[Ways] = ({"epsilon": -1}, {"delta": -1}, {"epsilon": -1, "delta": -1})

    name: Literal["adaops-2019"]
    epsilon: Positive
    delta: Delta
    kappa: Positive
    n_public: int = Field(0, ge=0, le=MOST_RECORDS)
    form: Literal["corrected", "printed"] = "corrected"

    def build(self, dim: int) -> AdaOPS2019:
        if self.form == "printed":
            return AdaOPS2019(PublishedRule2019(self.epsilon, self.delta, kappa=self.kappa))
        return AdaOPS2019(CorrectedRule2019(self.epsilon, self.delta, kappa=self.kappa, n_public=self.n_public))


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    linear = example_pair()
    return {
        "adaops-2019-printed": Example(AdaOPS2019(PublishedRule2019(4.0, 1e-2, kappa=1.0)), linear),
        "adaops-2019": Example(AdaOPS2019(CorrectedRule2019(6.0, 1e-2, kappa=1.0, n_public=31)), linear),
    }


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    one, n = promise.for_one, domain.n_public
    if n is None:
        return NO_SIZE
    rule = PublishedRule2019(one.epsilon, one.delta, kappa=1.0, n_public=n)
    return Offered(AdaOPS2019(replace(rule, kappa=rule.largest_kappa(n, domain.dim) / 2)))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    one, n = promise.for_one, domain.n_public
    if n is None:
        return NO_SIZE
    if one.delta / 2 > LARGEST_DELTA:
        return Offered(None, f"the bound is proved for delta up to {2 * LARGEST_DELTA:g}")
    rule = CorrectedRule2019(one.epsilon, one.delta, kappa=1.0, n_public=n)
    end, norm = rule.largest_kappa(domain.dim), domain.y_bound / domain.x_bound
    kappas = end * np.linspace(0.04, 0.96, 24)
    floors = n * domain.x_bound**2 / (domain.dim * kappas)
    residuals = domain.y_bound + domain.x_bound * ridge_norm_bound(n, domain.x_bound, domain.y_bound, floors)
    gammas = largest_gamma(domain.x_bound**2 / floors, residuals, one.epsilon / 2, one.delta / 2)
    best = int(np.argmin(domain.dim / gammas + floors * norm**2))
    return Offered(AdaOPS2019(replace(rule, kappa=float(kappas[best]))))


def offers() -> Sequence[Offer]:
    """Return the printed constants at half the largest kappa, and those proved at the kappa of least stated risk."""
    return (
        Offer("AdaOPS 2019", "published", _published, LINEAR, "W19, algorithm 1, as printed; half the largest kappa"),
        Offer("AdaOPS 2019", "exact", _exact, LINEAR, "W19-A1, corrected; docs/derivations/compare.md, section 3"),
    )
