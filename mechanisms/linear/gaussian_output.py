"""Gaussian output perturbation: an estimate plus normal noise, of fixed or of data-dependent covariance (W19-E3.2)."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import ClassVar, Final, Literal

import numpy as np
from flint import arb, arb_mat
from scipy.linalg import LinAlgError, cholesky

from ..base import Bracket, Direction, check_draws, check_nonnegative, check_positive
from ..capabilities import Bound, Domain, WorstPair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..envelopes.gaussian_envelopes import gaussian_envelope
from ..envelopes.tail_envelopes import Envelope
from ..laws.gaussian_calibration import analytic_mu, analytic_sigma, classical_sigma
from ..laws.gaussian_profile import ROUNDING, GaussianProfile, gaussian_balls, gaussian_delta, gaussian_log_delta
from ..numerics.balls import Ball, enclose, square_root
from ..numerics.mills import HALF_LOG_2PI
from ..numerics.spectra import coloured
from ..offers import LAM, LINEAR, NO_SIZE, Build, Offer, Offered, Promise, Recipe, with_least_noise
from ..parameters import NonNegative, Parameters, Positive, Ways
from ..records.leverage import record_ranges, ridge_shifts, rounded
from ..records.record_laws import GaussianRecordLaws
from .ridge import Estimator, RidgeMap, check_ridge, largest_at, largest_residual, ridge_fit, ridge_worst_pair

#: The estimator used unless another is given: ridge regression with ``lam = 1`` (the setting of W19-FIG1).
UNIT_RIDGE: Final = RidgeMap(1.0)


@dataclass(frozen=True, eq=False)
class GaussianOutput:
    """Releases ``estimator(D) + N(0, A^{-1}/gamma)`` with a matrix ``A`` that does not depend on the data (W19-E3.2).

    Parameters
    ----------
    precision : (k, k) array
        ``A``, symmetric positive definite.
    gamma : float
        Finite and positive.
    estimator : Estimator
        The deterministic map: ``RidgeMap`` (by default with ``lam = 1``), or any function of
        a data set as a ``PlainMap``.

    Examples
    --------
    >>> pair, mechanism = example_pair(), GaussianOutput.isotropic(0.1, 2, RidgeMap(1.0))
    >>> mechanism.draw(pair.first, 3, rng=np.random.default_rng(1)).shape
    (3, 2)
    >>> round(mechanism.profile(pair).epsilon_at(1e-3), 3)
    5.125
    """

    precision: FloatArray
    gamma: float
    estimator: Estimator = UNIT_RIDGE
    factor: FloatArray = field(init=False, repr=False)

    def __post_init__(self) -> None:
        matrix = np.array(self.precision, dtype=np.float64)
        if matrix.ndim != 2 or matrix.shape[0] != matrix.shape[1] or not np.isfinite(matrix).all():
            raise ValueError(f"precision must be a finite square matrix, got shape {matrix.shape}")
        if not np.array_equal(matrix, matrix.T):
            raise ValueError("precision must be symmetric")
        try:
            factor = np.asarray(cholesky(matrix, lower=True))
        except LinAlgError:
            raise ValueError("precision must be positive definite") from None
        matrix.setflags(write=False)
        object.__setattr__(self, "precision", matrix)
        object.__setattr__(self, "factor", factor)
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))

    @classmethod
    def isotropic(cls, sigma: float, dim: int, estimator: Estimator = UNIT_RIDGE) -> GaussianOutput:
        """Return the mechanism that adds ``N(0, sigma^2 I)`` to an estimate in ``R^dim``."""
        return cls(np.eye(dim), check_positive("sigma", sigma) ** -2, estimator)

    @property
    def name(self) -> str:
        return f"Gaussian output perturbation (gamma={self.gamma:g})"

    def _centre(self, dataset: Dataset) -> FloatArray:
        centre = self.estimator(dataset)
        if centre.shape != (self.precision.shape[0],):
            raise ValueError(
                f"precision must have the size of the estimate, got precision {self.precision.shape} "
                f"for an estimate of shape {centre.shape}"
            )
        return centre

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        centre = self._centre(dataset)
        return coloured(centre, self.factor, self.gamma, rng.standard_normal((check_draws(n_draws), centre.size)))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        centre = self._centre(dataset)
        quadratic = (((np.atleast_2d(outputs) - centre) @ self.factor) ** 2).sum(axis=1)
        constant = np.log(np.diag(self.factor)).sum() + centre.size * (0.5 * math.log(self.gamma) - HALF_LOG_2PI)
        return np.asarray(constant - 0.5 * self.gamma * quadratic)

    def sensitivity(self, pair: NeighbouringPair) -> float:
        """Return ``Delta_A = ||estimate(D') - estimate(D)||_A``, the per-instance sensitivity (W19-L2.4)."""
        return float(np.linalg.norm(self.estimator.shift(pair) @ self.factor))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        shift = self.estimator.shift(pair) @ self.factor
        noise = (np.atleast_2d(outputs) - self._centre(pair.first)) @ self.factor
        return np.asarray(self.gamma * (0.5 * (shift @ shift) - noise @ shift))

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the exact law of the loss; any relation. ``mu = sqrt(gamma) Delta_A`` (W19-L2.4, the exact form)."""
        return GaussianProfile(math.sqrt(self.gamma) * self.sensitivity(pair))

    def proves(self, pair: NeighbouringPair) -> bool:
        """Return whether ``delta_bracket`` is for this pair: any, around a ridge estimate."""
        return isinstance(self.estimator, RidgeMap)

    def delta_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        """Return an enclosure of ``delta(epsilon)`` that is proved from the data on; any relation.

        Unlike ``profile(pair).delta_bracket``, which starts from a sensitivity rounded to float64, the linear algebra
        is done in ball arithmetic too. Both directions agree. ``TypeError`` if the estimator is not a ridge estimate.
        """
        return self._proved(pair, epsilon, 0)

    def tail_bracket(self, pair: NeighbouringPair, epsilon: float, direction: Direction) -> Bracket:
        return self._proved(pair, epsilon, 1)

    def _proved(self, pair: NeighbouringPair, epsilon: float, part: int) -> Bracket:
        self._ridge()
        self._centre(pair.first)  # refuses a singular matrix or a wrong size in one line
        self._centre(pair.second)
        return enclose(lambda: gaussian_balls(arb(epsilon), self.distance_ball(pair))[part], low=0.0, high=1.0)

    def _ridge(self) -> RidgeMap:
        if isinstance(self.estimator, RidgeMap):
            return self.estimator
        kind = type(self.estimator).__name__
        raise TypeError(f"estimator must be a RidgeMap for a proof from the data, got {kind}")

    def distance_ball(self, pair: NeighbouringPair) -> Ball:
        """Return the distance of both members in standard deviations, at the flint context's precision."""
        size = len(self.precision)
        shift = self._ridge().shift_balls(pair)
        square = (shift.transpose() * arb_mat(size, size, self.precision.ravel().tolist()) * shift)[0, 0]
        return square_root(arb(self.gamma) * square)

    def noise_map(self, dataset: Dataset) -> Callable[[FloatArray], FloatArray]:
        centre = self.estimator(dataset)
        return lambda noise: coloured(centre, self.factor, self.gamma, np.array(noise))

    def envelope(self, pair: NeighbouringPair, direction: Direction, epsilon: float) -> Envelope:
        """Return the half-line of noise on which the loss exceeds ``epsilon``; any relation."""
        return gaussian_envelope(self, pair, direction, epsilon)

    def record_laws(self, dataset: Dataset) -> GaussianRecordLaws | None:
        """Return the exact laws of leaving each record out, around a ridge estimate."""
        if not isinstance(self.estimator, RidgeMap):
            return None
        parts = [
            np.linalg.norm(shifts @ self.factor, axis=1) for _, shifts in ridge_shifts(self.estimator.lam, dataset)
        ]
        distance = np.concatenate([np.empty(0), *parts])
        return GaussianRecordLaws(math.sqrt(self.gamma) * np.where(np.isnan(distance), math.inf, distance))

    def record_law_ends(self, dataset: Dataset) -> tuple[GaussianRecordLaws, GaussianRecordLaws] | None:
        """Return the laws at the ends of every record's distance, around a ridge estimate."""
        if not isinstance(self.estimator, RidgeMap):
            return None
        ranges = record_ranges(dataset, self.estimator.lam, solve=True)
        # the norm of A is at most so many times that of H
        ratio = np.linalg.norm(ridge_fit(dataset, self.estimator.lam).whiten(self.factor.T), 2) * 1.02
        length = np.linalg.norm(ranges.solved @ self.factor, axis=1)
        room = ratio * ranges.solved_room + rounded(2 * dataset.dim + 8) * np.linalg.norm(
            np.abs(ranges.solved) @ np.abs(self.factor), axis=1
        )
        lengths = (np.maximum(length - room, 0.0), length + room)
        scale = math.sqrt(self.gamma)
        with np.errstate(invalid="ignore"):
            low, high = (
                GaussianRecordLaws(np.where(np.isinf(residual), math.inf, scale * part * residual))
                for part, residual in zip(lengths, ranges.residual_out, strict=True)
            )
        return low, high

    def ex_post_losses(self, output: FloatArray, dataset: Dataset) -> FloatArray | None:
        if not isinstance(self.estimator, RidgeMap):
            return None
        noise = (output - self.estimator(dataset)) @ self.factor
        losses = np.empty(dataset.n_records)
        for part, shifts in ridge_shifts(self.estimator.lam, dataset):
            shift = shifts @ self.factor
            losses[part] = self.gamma * (0.5 * np.einsum("ij,ij->i", shift, shift) - shift @ noise)
        return losses

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return W19-L2.4 at the largest sensitivity of ridge regression, for a public number of records."""
        estimator = self.estimator
        if domain.n_public is None or not isinstance(estimator, RidgeMap) or estimator.lam == 0:
            return None
        moved = largest_move(estimator.lam, domain)
        top = math.sqrt(float(np.linalg.eigvalsh(self.precision)[-1]) * (1 + ROUNDING) * self.gamma)
        return Bound(
            "W19-L2.4 at the largest sensitivity of ridge regression",
            "One record moves the estimate by at most sqrt(m/lam)/(1 + m) times its largest residual, "
            "m = min(1, B^2/lam).",
            lambda epsilon, _: gaussian_delta(moved * top, epsilon),
            (f"no data set has more than {domain.n_public} records, which is public",),
            moved * top,
        )

    def worst_target(self, dataset: Dataset, domain: Domain) -> Bound | None:
        """Return W19-L2.4 at the largest sensitivity to a record added to ``dataset``."""
        if not isinstance(self.estimator, RidgeMap):
            return None
        smallest, residual = largest_at(self.estimator.lam, dataset, domain)
        top = math.sqrt(self.gamma * float(np.linalg.eigvalsh(self.precision)[-1])) * (1 + 1e-12)
        mu = top * domain.x_bound / smallest * residual
        return Bound("sensitivity at this data set", "", lambda epsilon, _: gaussian_delta(mu, epsilon), mu=mu)

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        """Return the worst of equal records and one that points the other way, around a ridge estimate."""
        if not isinstance(self.estimator, RidgeMap):
            return None
        scale = math.sqrt(self.gamma * float(self.precision[0, 0]))

        def log_delta(curvature: FloatArray, leverage: FloatArray, residual: FloatArray) -> FloatArray:
            moved = domain.x_bound * residual / (curvature * (1 + leverage))
            return gaussian_log_delta(epsilon, moved * scale)

        first = GaussianOutput(self.precision[:1, :1], self.gamma, self.estimator)
        return ridge_worst_pair(first, self.estimator.lam, domain, epsilon, log_delta)


def largest_move(lam: float, domain: Domain) -> float:
    """Return a bound on how far one record moves the ridge estimate, for a public number of records."""
    leverage = min(1.0, domain.x_bound**2 / lam)
    # |H'^{-1} x| = |H^{-1} x|/(1 + mu) with |H^{-1} x|^2 <= mu/lam, which grows up to mu = 1
    return math.sqrt(leverage / lam) / (1 + leverage) * largest_residual(lam, domain)


@dataclass(frozen=True)
class DemocraticOutput:
    """Releases ``theta_hat + N(0, H^{-2}/gamma)`` with ``H = X^T X + lam I``: W19-S4.A2, and the data move the noise.

    It is objective perturbation of the squared loss: the minimiser of
    ``||y - X theta||^2/2 + lam ||theta||^2/2 + b^T theta`` with ``b ~ N(0, I/gamma)``. The Fisher choice (W19-S4.A3) is
    ``PosteriorSampling``.

    Parameters
    ----------
    gamma : float
        Finite and positive.
    lam : float
        Finite, at least 0.
    """

    gamma: float
    lam: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "gamma", check_positive("gamma", self.gamma))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    @property
    def name(self) -> str:
        return f"democratic output perturbation (gamma={self.gamma:g}, lam={self.lam:g})"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        fit = ridge_fit(dataset, self.lam)
        noise = rng.standard_normal((check_draws(n_draws), dataset.dim))
        return np.asarray(fit.theta + fit.solve(noise) / math.sqrt(self.gamma))

    def _noise(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        # the linear term b = X^T y - H theta whose minimiser the output is
        fit = ridge_fit(dataset, self.lam)
        return np.asarray((fit.theta - np.atleast_2d(outputs)) @ fit.factor @ fit.factor.T)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        noise = self._noise(outputs, dataset)
        constant = ridge_fit(dataset, self.lam).log_det + dataset.dim * (0.5 * math.log(self.gamma) - HALF_LOG_2PI)
        return np.asarray(constant - 0.5 * self.gamma * (noise**2).sum(axis=1))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``.

        With the target ``(x, y)`` outside: ``-log(1 + mu) + gamma/2 (2 r b^T x + r^2 ||x||^2)``, where ``mu`` is the
        leverage, ``r = y - x^T theta`` and ``b = X^T y - H theta``; no difference of large numbers.
        """
        outputs = np.atleast_2d(outputs)
        if pair.relation is Relation.REPLACE:
            return np.asarray(self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second))
        smaller = pair.first if pair.relation is Relation.ADD else pair.second
        residual = pair.y - outputs @ pair.x
        along = self._noise(outputs, smaller) @ pair.x
        gain = 0.5 * self.gamma * residual * (2 * along + residual * (pair.x @ pair.x))
        return np.asarray(pair.sign * (gain - math.log1p(ridge_fit(smaller, self.lam).leverage(pair.x))))


class GaussianOutputParameters(Parameters):
    """Ridge regression plus normal noise of one standard deviation in every coordinate."""

    protection: ClassVar[Ways] = ({"sigma": 1}, {"lam": 1})

    name: Literal["gaussian-output"]
    sigma: Positive
    lam: NonNegative

    def build(self, dim: int) -> GaussianOutput:
        return GaussianOutput.isotropic(self.sigma, dim, RidgeMap(self.lam))

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        check_ridge(self.name, self.lam, dataset, everywhere=everywhere)
        return everywhere


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    linear, metric = example_pair(), np.array([[2.0, 0.5], [0.5, 1.0]])
    return {
        "gaussian-output": Example(GaussianOutput(metric, 30.0, RidgeMap(1.0)), linear),
        "gaussian-isotropic": Example(GaussianOutput.isotropic(0.1, 2, RidgeMap(1.0)), linear),
        "gaussian-democratic": Example(DemocraticOutput(1.2, 1.0), linear),
    }


def calibrated(sigma: Callable[[float, float, float], float], limit: float = math.inf) -> Build:
    """Return the rule: ridge plus noise with ``sigma(sensitivity, epsilon, delta)`` at the pair's own sensitivity."""

    def build(_: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        dim = pair.first.dim
        shift = GaussianOutput.isotropic(1.0, dim, RidgeMap(LAM)).sensitivity(pair)
        if shift == 0.0:
            return Offered(None, "the target does not move the estimate: any noise will do")
        words = "" if epsilon <= limit else f"the rule is for epsilon at most {limit:g}"
        return Offered(GaussianOutput.isotropic(sigma(shift, epsilon, delta), dim, RidgeMap(LAM)), words)

    return build


def _sigma_exact(sensitivity: float, epsilon: float, delta: float) -> float:
    """Return the least sigma, a millionth larger: with equality the claim would be decided by rounding."""
    return analytic_sigma(sensitivity, epsilon, delta) * (1 + 1e-6)


def recipes() -> dict[str, Recipe]:
    """Return the classical and the exact calibration of the noise to the pair's own sensitivity."""
    return {
        "gaussian-classical": Recipe(calibrated(classical_sigma, 1.0), LINEAR, True, "W19-L2.4, corrected, lam = 1"),
        "gaussian-analytic": Recipe(calibrated(_sigma_exact), LINEAR, True, "exact calibration, lam = 1"),
    }


def _offered_ridge(domain: Domain, promise: Promise) -> float:
    """Return the ridge that public numbers alone suggest, from a grid.

    It minimises ``(B sigma)^2 + (Y lam/(lam + n B^2/dim))^2``: the square of the noise in a prediction, and of what the
    ridge takes from one where the features' second moments are equal.
    """
    assert domain.n_public is not None
    one, square, information = promise.for_one, domain.x_bound**2, domain.n_public * domain.x_bound**2 / domain.dim
    mu, grid = analytic_mu(one.epsilon, one.delta), square * np.geomspace(1e-2, 100.0 * (1 + domain.n_public), 801)

    def risk(lam: float) -> float:
        shrunk = domain.y_bound * lam / (lam + information)
        return (domain.x_bound * largest_move(lam, domain) / mu) ** 2 + shrunk**2

    return float(min(grid.tolist(), key=risk))


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    if promise.epsilon > 1:
        return Offered(None, "the classical constant is stated for epsilon up to 1")
    lam = _offered_ridge(domain, promise)
    moved = largest_move(lam, domain) * (2 if promise.neighbours == "replace" else 1)
    sigma = classical_sigma(moved, promise.epsilon, promise.delta)
    return Offered(GaussianOutput.isotropic(sigma, domain.dim, RidgeMap(lam)))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    lam = _offered_ridge(domain, promise)
    ridge, start = RidgeMap(lam), largest_move(lam, domain) / promise.epsilon
    return with_least_noise(lambda sigma: GaussianOutput.isotropic(sigma, domain.dim, ridge), domain, promise, start)


def offers() -> Sequence[Offer]:
    """Return the classical and the exact calibration at the largest sensitivity of ridge regression."""
    rule = "docs/derivations/compare.md, section 4"
    return (
        Offer("Gaussian output", "published", _published, LINEAR, f"Dwork and Roth (2014), A.1; {rule}"),
        Offer("Gaussian output", "exact", _exact, LINEAR, rule),
    )
