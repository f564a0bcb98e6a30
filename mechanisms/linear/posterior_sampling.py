"""One-posterior sampling (OPS) for linear and ridge regression (W19-T4.1)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from flint import arb

from ..base import BOTH, Bracket, Direction, PrivacyProfile, check_draws, check_nonnegative, check_positive
from ..capabilities import Bound, Domain, WorstPair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..envelopes.gaussian_envelopes import posterior_envelope
from ..envelopes.tail_envelopes import Envelope
from ..laws.profile_tools import SwappedProfile, epsilon_bracket
from ..laws.quadratic_profile import QuadraticProfile, quadratic_balls, quadratic_log_delta
from ..numerics.balls import Ball, enclose
from ..numerics.mills import HALF_LOG_2PI
from ..numerics.spectra import coloured
from ..offers import LINEAR, NO_SIZE, Build, Offer, Offered, Promise, Recipe, with_least_noise
from ..parameters import NonNegative, Parameters, Positive, Ways
from ..records.leverage import record_quantities, record_ranges
from ..records.record_laws import QuadraticRecordLaws
from .ops_calibrations import CorrectedOPSCalibration, PublishedOPSCalibration, largest_proved_gamma, proved_delta
from .ridge import RidgeFit, check_ridge, largest_at, largest_residual, ridge_fit, ridge_worst_pair, target_balls


@dataclass(frozen=True)
class PosteriorSampling:
    """Releases one draw from ``p(theta) ~ exp(-gamma/2 (||y - X theta||^2 + lam ||theta||^2))`` (W19-T4.1).

    That is ``N(theta_hat, H^{-1}/gamma)`` with ``H = X^T X + lam I``: output perturbation with the data's own Fisher
    information as precision (W19-S4.A3).

    Parameters
    ----------
    gamma : float
        Inverse temperature; finite and positive.
    lam : float
        Regularisation; finite, at least 0. With 0, ``X^T X`` must be positive definite on both data sets.

    Examples
    --------
    >>> pair, mechanism = example_pair(), PosteriorSampling(gamma=3.0, lam=1.0)
    >>> mechanism.draw(pair.first, 3, rng=np.random.default_rng(1)).shape
    (3, 2)
    >>> round(mechanism.profile(pair).epsilon_at(1e-3, Direction.FORWARD), 3)
    2.906
    """

    gamma: float
    lam: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    @property
    def name(self) -> str:
        return f"one-posterior sampling (gamma={self.gamma:g}, lam={self.lam:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent draws, shape ``(n_draws, dim)``."""
        fit = ridge_fit(dataset, self.lam)
        return coloured(fit.theta, fit.factor, self.gamma, rng.standard_normal((check_draws(n_draws), dataset.dim)))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        fit = ridge_fit(dataset, self.lam)
        quadratic = (((np.atleast_2d(outputs) - fit.theta) @ fit.factor) ** 2).sum(axis=1)
        constant = 0.5 * (fit.log_det + dataset.dim * math.log(self.gamma)) - dataset.dim * HALF_LOG_2PI
        return np.asarray(constant - 0.5 * self.gamma * quadratic)

    def target(self, pair: NeighbouringPair) -> tuple[float, float]:
        """Return out-of-sample leverage and scaled residual ``sqrt(gamma) (y - x^T theta_hat)`` of the target.

        Raises
        ------
        UnsupportedRelation
            For REPLACE.
        """
        return self._target(pair)[1:]

    def _target(self, pair: NeighbouringPair) -> tuple[RidgeFit, float, float]:
        pair.require(Relation.ADD, Relation.REMOVE)
        fit = ridge_fit(_without_target(pair), self.lam)
        return fit, fit.leverage(pair.x), math.sqrt(self.gamma) * fit.residual(pair.x, pair.y)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        if pair.relation is Relation.REPLACE:
            return np.asarray(self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second))
        fit, leverage, scaled = self._target(pair)
        # W19-T4.1, proof: -log(1 + mu)/2 + (W^2 - a^2/(1 + mu))/2 for the order without, with the target, where
        # W^2 - a^2 = moved (moved + 2 a) keeps the digits of a loss that is small beside a^2
        moved = -math.sqrt(self.gamma) * ((np.atleast_2d(outputs) - fit.theta) @ pair.x)
        constant = scaled**2 * leverage / (1 + leverage) - math.log1p(leverage)
        return np.asarray(pair.sign * 0.5 * (constant + moved * (moved + 2 * scaled)))

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the exact law of the loss for ADD and REMOVE."""
        inner = QuadraticProfile(*self.target(pair))
        return inner if pair.relation is Relation.ADD else SwappedProfile(inner)

    def proves(self, pair: NeighbouringPair) -> bool:
        """Return whether ``delta_bracket`` is for this pair: ADD and REMOVE."""
        return pair.relation is not Relation.REPLACE

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``delta(epsilon)`` that is proved from the data on.

        Unlike ``profile(pair).delta_bracket``, which starts from a leverage and a residual rounded to float64, the
        linear algebra is done in ball arithmetic too. ADD and REMOVE.
        """
        return self._proved(pair, epsilon, direction, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, direction, 1)

    def epsilon_bracket(self, pair: NeighbouringPair, delta: float, direction: Direction) -> Bracket:
        epsilon = self.profile(pair).epsilon_at(delta, direction)
        return epsilon_bracket(lambda e: self.delta_bracket(pair, e, direction), delta, epsilon)

    def _proved(self, pair: NeighbouringPair, epsilon: float, direction: Direction, part: int) -> Bracket:
        pair.require(Relation.ADD, Relation.REMOVE)
        smaller = _without_target(pair)
        ridge_fit(smaller, self.lam)  # refuses a singular matrix in one line, before balls do at length
        towards = direction if pair.relation is Relation.ADD else direction.opposite

        def evaluate() -> Ball:
            leverage, residual = target_balls(smaller, pair.x, pair.y, self.lam)
            return quadratic_balls(arb(epsilon), leverage, arb(self.gamma).sqrt() * residual, towards)[part]

        return enclose(evaluate, low=0.0, high=1.0)

    def noise_map(self, dataset: Dataset) -> Callable[[FloatArray], FloatArray]:
        fit = ridge_fit(dataset, self.lam)
        return lambda noise: coloured(fit.theta, fit.factor, self.gamma, np.array(noise))

    def envelope(self, pair: NeighbouringPair, direction: Direction, epsilon: float) -> Envelope:
        """Return the intervals of noise on which the loss exceeds ``epsilon``; ADD and REMOVE."""
        return posterior_envelope(self, pair, direction, epsilon)

    def record_laws(self, dataset: Dataset) -> QuadraticRecordLaws:
        records = record_quantities(dataset, self.lam)
        return QuadraticRecordLaws(records.leverage_out, math.sqrt(self.gamma) * records.residual_out)

    def record_law_ends(self, dataset: Dataset) -> tuple[QuadraticRecordLaws, QuadraticRecordLaws]:
        """Return the laws at the ends of every record's leverage and residual, with which divergence grows."""
        ranges, scale = record_ranges(dataset, self.lam), math.sqrt(self.gamma)
        low, high = (
            QuadraticRecordLaws(leverage, scale * residual)
            for leverage, residual in zip(ranges.leverage_out, ranges.residual_out, strict=True)
        )
        return low, high

    def ex_post_losses(self, output: FloatArray, dataset: Dataset) -> FloatArray:
        records = record_quantities(dataset, self.lam)
        with np.errstate(divide="ignore"):
            log_det = np.log1p(-records.leverage_in)
        gain = records.residual_in * records.residual_out - np.square(dataset.y - dataset.X @ output)
        return np.asarray(-0.5 * log_det + 0.5 * self.gamma * gain)

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the exact law at the largest leverage and residual, for a public number of records."""
        if domain.n_public is None or self.lam == 0:
            return None
        leverage, residual = domain.x_bound**2 / self.lam, largest_residual(self.lam, domain)
        scaled = math.sqrt(self.gamma) * residual
        return Bound(
            "W19-T4.1, the exact law, at the largest leverage and residual over all data sets",
            "The leverage of any record is at most B^2/lam and its residual is bounded through the public number of "
            "records; the exact law at both, the residual sqrt(1 + B^2/lam) larger, is the worst.",
            lambda epsilon, _: proved_delta(leverage, scaled, epsilon),
            (f"no data set has more than {domain.n_public} records, which is public",),
        )

    def worst_target(self, dataset: Dataset, domain: Domain) -> Bound:
        """Return the same at the largest leverage and residual of a record added to ``dataset``."""
        smallest, residual = largest_at(self.lam, dataset, domain)
        leverage, scaled = domain.x_bound**2 / smallest, math.sqrt(self.gamma) * residual
        return Bound(
            "leverage and residual at this data set",
            "",
            lambda epsilon, _: proved_delta(leverage, scaled, epsilon),
        )

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        """Return the worst of equal records and one that points the other way."""

        def log_delta(curvature: FloatArray, leverage: FloatArray, residual: FloatArray) -> FloatArray:
            scaled = math.sqrt(self.gamma) * residual
            return np.maximum(*(quadratic_log_delta(epsilon, leverage, scaled, d) for d in BOTH))

        return ridge_worst_pair(self, self.lam, domain, epsilon, log_delta)


def _without_target(pair: NeighbouringPair) -> Dataset:
    return pair.first if pair.relation is Relation.ADD else pair.second


class PosteriorParameters(Parameters):
    """One-posterior sampling (W19-T4.1)."""

    protection: ClassVar[Ways] = ({"gamma": -1}, {"lam": 1}, {"gamma": -1, "lam": 1})

    name: Literal["posterior-sampling"]
    gamma: Positive
    lam: NonNegative

    def build(self, dim: int) -> PosteriorSampling:
        return PosteriorSampling(self.gamma, self.lam)

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        check_ridge(self.name, self.lam, dataset, everywhere=everywhere)
        return everywhere


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    return {"ops": Example(PosteriorSampling(3.0, 1.0), example_pair())}


def _calibrated(kind: type[PublishedOPSCalibration] | type[CorrectedOPSCalibration], rule: str) -> Build:
    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        data = pair.first
        chosen = getattr(kind(epsilon, delta, data.n_records + 1, data.dim, data.x_bound, data.y_bound), rule)()
        return Offered(PosteriorSampling(chosen.gamma, chosen.lam))

    return build


def recipes() -> dict[str, Recipe]:
    """Return two of W18's calibrations, as printed and corrected."""
    forms = ((PublishedOPSCalibration, "", "as printed"), (CorrectedOPSCalibration, "-corrected", "corrected"))
    return {
        f"ops-{rule}{form}": Recipe(_calibrated(kind, rule), LINEAR, True, f"W18-{number}, {words}")
        for rule, number in (("diffuse", "F1"), ("concentrated", "F2"))
        for kind, form, words in forms
    }


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    one = promise.for_one
    chosen = PublishedOPSCalibration(
        one.epsilon, one.delta, domain.n_public, domain.dim, domain.x_bound, domain.y_bound
    ).balanced()
    return Offered(PosteriorSampling(chosen.gamma, chosen.lam))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    one, square, norm = promise.for_one, domain.x_bound**2, domain.y_bound / domain.x_bound
    lams = square * np.geomspace(1e-2, 1e7, 721)
    residuals = np.array([largest_residual(float(lam), domain) for lam in lams])
    gammas = largest_proved_gamma(square / lams, residuals, one.epsilon, one.delta)
    with np.errstate(divide="ignore"):
        best = int(np.argmin(domain.dim / gammas + lams * norm**2))
    if gammas[best] == 0:
        return Offered(None, "no temperature is proved to keep this promise")
    lam = float(lams[best])
    return with_least_noise(lambda level: PosteriorSampling(1 / level, lam), domain, promise, 1 / float(gammas[best]))


def offers() -> Sequence[Offer]:
    """Return W18's balanced rule as printed, and the ridge of least stated risk with the largest proved gamma."""
    return (
        Offer("OPS", "published", _published, LINEAR, "W18-F3 (balanced), as printed, at the public number of records"),
        Offer("OPS", "exact", _exact, LINEAR, "docs/derivations/compare.md, section 3"),
    )
