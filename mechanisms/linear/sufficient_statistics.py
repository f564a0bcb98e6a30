"""Sufficient statistics perturbation (SSP): release the Gram matrix and the moment with normal noise (W18, S1)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal, NamedTuple

import numpy as np
from flint import arb

from ..base import Bracket, Direction, check_nonnegative, check_positive
from ..capabilities import Bound, Domain, WorstPair, gaussian_worst_pair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..laws.gaussian_calibration import analytic_mu, check_open_delta
from ..laws.gaussian_profile import GaussianProfile, gaussian_balls, gaussian_delta
from ..numerics.balls import Ball, enclose
from ..numerics.transcripts import check_outputs, pack_triangle, triangle_size, unpack_triangle
from ..offers import LAM, LINEAR, Build, Offer, Offered, Promise, Recipe, with_least_noise
from ..parameters import NonNegative, Parameters, Positive, Ways
from ..records.record_laws import GaussianRecordLaws
from ..releases.gaussian_shift import (
    draw_shifted,
    length_of,
    log_density_shifted,
    shift_balls,
    shift_loss,
    shift_profile,
    sum_shift,
)

#: Records handled together, and numbers in the largest temporary array where records have many features.
CHUNK, FLOATS = 20_000, 4_000_000


class Statistics(NamedTuple):
    """The two released statistics: ``gram (n_draws, dim, dim)`` and ``moment (n_draws, dim)``."""

    gram: FloatArray
    moment: FloatArray


def contribution(x: FloatArray, y: float) -> FloatArray:
    """Return what one record adds to the transcript without noise: ``x x^T`` packed, then ``x y``."""
    return np.concatenate([pack_triangle(np.outer(x, x)), x * y])


def _balls(x: FloatArray, y: float) -> list[Ball]:
    """Return ``contribution(x, y)`` as balls."""
    row = [arb(float(each)) for each in x]
    packed = [row[i] * row[j] for i in range(len(row)) for j in range(i, len(row))]
    return packed + [each * arb(float(y)) for each in row]


def solve_ridge(gram: FloatArray, moment: FloatArray, lam: FloatArray | float) -> FloatArray:
    """Return ``(gram + lam I)^{-1} moment`` for each draw; the matrix is symmetric but may be indefinite."""
    dim = gram.shape[-1]
    matrices = gram + np.asarray(lam)[..., None, None] * np.eye(dim)
    return np.asarray(np.linalg.solve(matrices, moment[..., None])[..., 0])


@dataclass(frozen=True)
class SufficientStatistics:
    r"""SSP: ``X^T X + E1`` and ``X^T y + E2``, then ``(X^T X + E1 + lam I)^{-1} (X^T y + E2)`` (W18, S1 and C.1).

    ``E1`` is symmetric with independent normal entries of one standard deviation on *and* above the diagonal. The
    coefficients are computed from the two released statistics alone, so that they are post-processing: the
    transcript is the two statistics, and its law is normal with a covariance that no data change.

    Transcript: the ``dim (dim+1)/2`` entries of the noisy Gram matrix on and above the diagonal, row by row, then the
    ``dim`` entries of the noisy moment. ``split`` undoes it, ``output`` gives the coefficients.

    Parameters
    ----------
    sigma_gram, sigma_moment : float
        Standard deviations of the noise as added; finite and positive.
    lam : float
        Ridge of the last step, at least 0 (W18 has none); a public constant.

    Examples
    --------
    >>> mechanism = SufficientStatistics.calibrated(1.0, 1e-6, x_bound=1.0, y_bound=1.0)
    >>> round(mechanism.worst_profile(x_bound=1.0, y_bound=1.0).epsilon_at(1e-6), 6)
    1.0
    """

    covers_records: ClassVar[bool] = True

    sigma_gram: float
    sigma_moment: float
    lam: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "sigma_gram", check_positive("sigma_gram", self.sigma_gram))
        object.__setattr__(self, "sigma_moment", check_positive("sigma_moment", self.sigma_moment))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    @classmethod
    def published(
        cls, epsilon: float, delta: float, *, x_bound: float, y_bound: float, lam: float = 0.0
    ) -> SufficientStatistics:
        """Return SSP with the noise of W18, appendix C.1: variances ``4 B^4 log(4/delta)/epsilon^2`` and alike."""
        scale = 2 * math.sqrt(math.log(4 / check_open_delta(delta))) / check_positive("epsilon", epsilon)
        return cls(*_scaled(scale, x_bound, y_bound), lam)

    @classmethod
    def calibrated(
        cls, epsilon: float, delta: float, *, x_bound: float, y_bound: float, lam: float = 0.0
    ) -> SufficientStatistics:
        """Return SSP with the least noise, split evenly, that makes the two together (epsilon, delta)-DP, exactly.

        For one record added or removed. The two sensitivities ``B^2`` and ``B Y`` are reached together, at ``x`` on a
        coordinate axis, so the joint distance is ``sqrt(2)`` times each part's (docs/derivations/wang2018_ssp.md).
        """
        return cls(*_scaled(math.sqrt(2) / analytic_mu(epsilon, delta), x_bound, y_bound), lam)

    @property
    def name(self) -> str:
        return "sufficient statistics perturbation"

    def mean(self, dataset: Dataset) -> FloatArray:
        """Return the transcript without noise, shape ``(k,)``."""
        return np.concatenate([pack_triangle(dataset.X.T @ dataset.X), dataset.X.T @ dataset.y])

    def sigmas(self, dim: int) -> FloatArray:
        """Return the standard deviation of every entry of the transcript, shape ``(k,)``."""
        return np.repeat([self.sigma_gram, self.sigma_moment], [triangle_size(dim), dim])

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return draw_shifted(self.mean(dataset), self.sigmas(dataset.dim), n_draws, rng)

    def split(self, outputs: FloatArray, dim: int) -> Statistics:
        outputs = check_outputs(outputs, triangle_size(dim) + dim)
        packed, moment = outputs[:, : triangle_size(dim)], outputs[:, triangle_size(dim) :]
        return Statistics(unpack_triangle(packed, dim), moment)

    def output(self, outputs: FloatArray, dim: int) -> FloatArray:
        """Return the coefficients that follow from each transcript, shape ``(n_draws, dim)``."""
        gram, moment = self.split(outputs, dim)
        return solve_ridge(gram, moment, self.lam)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return log_density_shifted(outputs, self.mean(dataset), self.sigmas(dataset.dim))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript; linear in it, so nothing cancels."""
        sigmas = self.sigmas(pair.first.dim)
        return shift_loss(outputs, self.mean(pair.first), sum_shift(pair, contribution), sigmas)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        shift = sum_shift(pair, contribution)
        return shift_profile(shift, self.sigmas(pair.first.dim), lambda: self.distance_ball(pair))

    def proves(self, pair: NeighbouringPair) -> bool:
        return True

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, 1)

    def _proved(self, pair: NeighbouringPair, epsilon: float, part: int) -> Bracket:
        return enclose(lambda: gaussian_balls(arb(epsilon), self.distance_ball(pair))[part], low=0.0, high=1.0)

    def distance_ball(self, pair: NeighbouringPair) -> Ball:
        if pair.relation is Relation.REPLACE:
            sigmas = [arb(sigma) for sigma in self.sigmas(len(pair.x)).tolist()]
            return length_of([entry / sigma for entry, sigma in zip(shift_balls(pair, _balls), sigmas, strict=True)])
        squares = [arb(float(x)) ** 2 for x in pair.x]
        total = sum(squares, arb(0))
        # the packed x x^T has squared length sum over i <= j of x_i^2 x_j^2
        gram = (total**2 + sum((each**2 for each in squares), arb(0))) / 2
        moment = total * arb(pair.y) ** 2
        return (gram / arb(self.sigma_gram) ** 2 + moment / arb(self.sigma_moment) ** 2).sqrt()

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        """Return the profile that no record added or removed within the bounds exceeds, and one reaches."""
        x_bound, y_bound = check_positive("x_bound", x_bound), check_positive("y_bound", y_bound)
        return GaussianProfile(math.hypot(x_bound**2 / self.sigma_gram, x_bound * y_bound / self.sigma_moment))

    def replaced_mu(self, x_bound: float, y_bound: float) -> float:
        """Return the largest distance between data sets that differ in one record replaced (two features or more).

        With ``c`` the cosine of the two records it is ``2 g (1 - c^2) + 2 m (1 + c)`` squared, ``g`` and ``m`` the
        squares of the two parts of ``worst_profile``: no record is twice as far in both statistics.
        """
        gram, moment = (x_bound**2 / self.sigma_gram) ** 2, (x_bound * y_bound / self.sigma_moment) ** 2
        cosine = min(1.0, 0.5 * moment / gram)
        return math.sqrt(2 * gram * (1 - cosine**2) + 2 * moment * (1 + cosine))

    def worst_case(self, domain: Domain) -> Bound:
        mu = self.worst_profile(domain.x_bound, domain.y_bound).mu
        replaced = self.replaced_mu(domain.x_bound, domain.y_bound)
        return Bound(
            "W18-S1, in its exact form (the joint sensitivity of both statistics)",
            "Both statistics together are two normal laws of one covariance, at a largest distance that a record on a "
            "coordinate axis reaches: the bound is the exact worst case.",
            lambda epsilon, _: gaussian_delta(mu, epsilon),
            mu=mu,
            replaced=lambda epsilon, _: gaussian_delta(replaced, epsilon),
        )

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair:
        """Return no record against the longest on a coordinate axis."""
        mu = self.worst_profile(domain.x_bound, domain.y_bound).mu
        words = "one record more, of the longest features on a coordinate axis"
        return gaussian_worst_pair(domain, mu, epsilon, words)

    def record_laws(self, dataset: Dataset) -> GaussianRecordLaws:
        X, y = dataset.X, dataset.y
        square = np.einsum("ij,ij->i", X, X)
        packed = 0.5 * (square**2 + np.einsum("ij,ij,ij,ij->i", X, X, X, X))  # sum over i <= j of x_i^2 x_j^2
        return GaussianRecordLaws(np.sqrt(packed / self.sigma_gram**2 + square * y**2 / self.sigma_moment**2))

    def ex_post_losses(self, output: FloatArray, dataset: Dataset) -> FloatArray:
        sigmas = self.sigmas(dataset.dim)
        noise = (output - self.mean(dataset)) / sigmas
        losses = np.empty(dataset.n_records)
        chunk = max(1, min(CHUNK, FLOATS // dataset.dim**2))
        for start in range(0, dataset.n_records, chunk):
            X, y = dataset.X[start : start + chunk], dataset.y[start : start + chunk]
            added = np.column_stack([pack_triangle(X[:, :, None] * X[:, None, :]), X * y[:, None]]) / sigmas
            # the mean moves by -added: loss = |added|^2/2 + noise . added
            losses[start : start + chunk] = 0.5 * np.einsum("ij,ij->i", added, added) + added @ noise
        return losses

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return self.output(outputs, dataset.dim)


def _scaled(scale: float, x_bound: float, y_bound: float) -> tuple[float, float]:
    """Return ``scale`` times the two sensitivities: ``B^2`` of the packed Gram matrix, ``B Y`` of the moment."""
    x_bound, y_bound = check_positive("x_bound", x_bound), check_positive("y_bound", y_bound)
    return scale * x_bound**2, scale * x_bound * y_bound


class SSPParameters(Parameters):
    """Sufficient statistics perturbation (W18-S1)."""

    protection: ClassVar[Ways] = ({"sigma_gram": 1, "sigma_moment": 1},)

    name: Literal["ssp"]
    sigma_gram: Positive
    sigma_moment: Positive
    lam: NonNegative = 0.0

    def build(self, dim: int) -> SufficientStatistics:
        return SufficientStatistics(self.sigma_gram, self.sigma_moment, self.lam)


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    return {"ssp": Example(SufficientStatistics(1.2, 1.0, lam=0.5), example_pair())}


def _set_up(*, published: bool) -> Build:
    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        rule = SufficientStatistics.published if published else SufficientStatistics.calibrated
        data = pair.first
        return Offered(rule(epsilon, delta, x_bound=data.x_bound, y_bound=data.y_bound, lam=LAM))

    return build


def recipes() -> dict[str, Recipe]:
    """Return the printed and the exact calibration."""
    return {
        "ssp": Recipe(_set_up(published=True), LINEAR, True, "W18, appendix C.1, as printed"),
        "ssp-calibrated": Recipe(_set_up(published=False), LINEAR, True, "exact joint calibration"),
    }


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    one, x_bound, y_bound = promise.for_one, domain.x_bound, domain.y_bound
    return Offered(SufficientStatistics.published(one.epsilon, one.delta, x_bound=x_bound, y_bound=y_bound))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    bounds, start = (domain.x_bound, domain.y_bound), 1 / promise.epsilon
    return with_least_noise(lambda scale: SufficientStatistics(*_scaled(scale, *bounds)), domain, promise, start)


def offers() -> Sequence[Offer]:
    """Return the printed and the exact calibration, both without a ridge, as printed."""
    return (
        Offer("SSP", "published", _published, LINEAR, "W18, appendix C.1, as printed"),
        Offer("SSP", "exact", _exact, LINEAR, "least noise for both statistics together, split evenly"),
    )
