"""Minimisers of regularised generalised linear models with normal noise, and draws from their Gibbs measures."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, row_norms
from ..data.neighbours import NeighbouringPair
from ..laws.gaussian_calibration import analytic_mu, classical_sigma
from ..laws.gaussian_profile import GaussianProfile, gaussian_delta
from ..numerics.mills import HALF_LOG_2PI
from ..numerics.spectra import derivative_room, roundings, summed
from ..offers import LOSSES, NO_SIZE, Offer, Offered, Promise, with_least_noise
from ..parameters import Ways
from ..records.record_laws import GaussianRecordLaws
from .losses import BoundedLoss, GlmLoss, LogisticLoss
from .objective_perturbation import ObjectiveParameters
from .perturbed_objective import POINTS, PerturbedObjective
from .perturbed_solver import newton

#: Most expected proposals a draw for which sampling is offered.
MOST_TRIES = 1000


@dataclass(frozen=True)
class GibbsSampling:
    """Release one draw from ``p(theta) ~ exp(-gamma (sum_i f(x_i^T theta; y_i) + lam/2 |theta|^2))``.

    Drawn by rejection from normal proposals, exactly: what is left out of the exponent there is the Bregman divergence
    of a convex function, which is at least 0 wherever the proposals are centred.

    Parameters
    ----------
    loss : GlmLoss
        Convex; with a bounded gradient, or nothing is promised.
    gamma, lam : float
        Inverse temperature and ridge; positive.

    Examples
    --------
    >>> from mechanisms.objective.losses import LogisticLoss
    >>> round(GibbsSampling(LogisticLoss(), gamma=1.0, lam=4.0).worst_case(Domain(2, 1.0, 1.0)).mu, 6)
    0.5
    """

    loss: GlmLoss
    gamma: float
    lam: float

    def __post_init__(self) -> None:
        for name in ("gamma", "lam"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))

    @property
    def name(self) -> str:
        return f"one-posterior sampling ({self.loss.name}, gamma={self.gamma:g}, lam={self.lam:g})"

    def most_tries(self, n_records: float, dim: int, x_bound: float) -> float:
        """Return a bound on the expected number of proposals a draw, for a loss of bounded curvature."""
        return math.pow(1 + n_records * self.loss.beta * x_bound**2 / (dim * self.lam), dim / 2)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, dim)``.

        Raises
        ------
        ValueError
            If a draw may take too many proposals on these records.
        """
        tries = self.most_tries(dataset.n_records, dataset.dim, float(row_norms(dataset.X).max(initial=0.0)))
        if tries > 1000 * MOST_TRIES:
            raise ValueError(f"lam must be greater to sample by rejection, got lam={self.lam:g}: {tries:.1e} proposals")
        none, losses = np.zeros((1, dataset.dim)), PerturbedObjective(dataset, self.loss, 0.0)
        near = newton(PerturbedObjective(dataset, self.loss, self.lam), none, none, 1e-6)
        value, gradient = losses.value(near)[0], losses.gradient(near)[0]
        centre, spread = -gradient / self.lam, 1 / math.sqrt(self.gamma * self.lam)
        drawn, missing = [np.empty((0, dataset.dim))], check_draws(n_draws)
        while missing > 0:
            theta = centre + spread * rng.standard_normal((POINTS, dataset.dim))
            left_out = losses.value(theta) - value - (theta - near[0]) @ gradient
            taken = theta[rng.random(POINTS) < np.exp(-self.gamma * np.maximum(left_out, 0.0))][:missing]
            drawn.append(taken)
            missing -= len(taken)
        return np.concatenate(drawn)

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the comparison with two normal laws."""
        return self.record_bound(domain, domain.x_bound)

    def record_bound(self, domain: Domain, length: float) -> Bound | None:
        xi = self.loss.xi(domain.y_bound, min(domain.x_bound, length))
        if not math.isfinite(xi):
            return None
        mu = xi * math.sqrt(self.gamma / self.lam)
        return Bound(
            "Gopi, Lee and Liu (2022); docs/derivations/compare.md, section 8",
            "Two Gibbs measures of strongly convex exponents that differ by a Lipschitz function are no easier to tell "
            "apart than two normal laws.",
            lambda epsilon, _: gaussian_delta(mu, epsilon),
            mu=mu,
        )


def _sampled(loss: str, domain: Domain, promise: Promise) -> Offered:
    n, dim, one, chosen = domain.n_public, domain.dim, promise.for_one, LOSSES[loss]()
    if n is None:
        return NO_SIZE
    xi = chosen.xi(domain.y_bound, domain.x_bound)
    lam = math.sqrt(dim) * xi * domain.x_bound / analytic_mu(one.epsilon, one.delta)
    tries = GibbsSampling(chosen, 1.0, lam).most_tries(n, dim, domain.x_bound)
    if tries > MOST_TRIES:
        return Offered(
            None, f"rejection sampling may need {tries:.1e} proposals a draw, {MOST_TRIES} are tried at most"
        )
    return with_least_noise(lambda level: GibbsSampling(chosen, 1 / level, lam), domain, promise)


@dataclass(frozen=True)
class GlmOutput:
    """Release ``argmin sum_i f(x_i^T theta; y_i) + lam/2 |theta|^2`` plus ``N(0, sigma^2 I)``.

    Parameters
    ----------
    loss : GlmLoss
        Convex; with a bounded gradient, or nothing is promised.
    sigma : float
        Standard deviation of each coordinate of the noise; positive.
    lam : float
        Positive.
    residual : float
        Largest ``max_j |grad|_j`` at the minimiser that is computed; the promise leaves room for it.

    Examples
    --------
    >>> from mechanisms.objective.losses import LogisticLoss
    >>> mechanism = GlmOutput(LogisticLoss(), sigma=1.0, lam=2.0)
    >>> round(mechanism.worst_case(Domain(2, 1.0, 1.0)).mu, 6)
    0.5
    """

    loss: GlmLoss
    sigma: float
    lam: float
    residual: float = 1e-9

    def __post_init__(self) -> None:
        for name in ("sigma", "lam", "residual"):
            object.__setattr__(self, name, check_positive(name, getattr(self, name)))

    @property
    def name(self) -> str:
        return f"Gaussian output perturbation ({self.loss.name}, sigma={self.sigma:g}, lam={self.lam:g})"

    def estimate(self, dataset: Dataset) -> FloatArray:
        """Return the minimiser, shape ``(dim,)``."""
        none = np.zeros((1, dataset.dim))
        return np.asarray(newton(PerturbedObjective(dataset, self.loss, self.lam), none, none, self.residual)[0])

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        noise = self.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        return np.asarray(self.estimate(dataset) + noise)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        square = np.square((np.atleast_2d(outputs) - self.estimate(dataset)) / self.sigma).sum(axis=1)
        return np.asarray(-0.5 * square - dataset.dim * (math.log(self.sigma) + HALF_LOG_2PI))

    def _shift(self, pair: NeighbouringPair) -> tuple[FloatArray, FloatArray]:
        first = self.estimate(pair.first)
        return first, (self.estimate(pair.second) - first) / self.sigma

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D - log p_D'`` of each output, shape ``(n_draws,)``; any relation."""
        first, shift = self._shift(pair)
        return np.asarray(0.5 * (shift @ shift) - (np.atleast_2d(outputs) - first) / self.sigma @ shift)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the law of the loss, any relation; what the computed minimisers may miss is room on both sides."""
        mu = float(np.linalg.norm(self._shift(pair)[1]))
        missed = self._missed(pair.first) + self._missed(pair.second)
        return GaussianProfile(mu, missed / self.sigma * (1 + 1e-12) + roundings(pair.first.dim + 8) * mu)

    def _missed(self, dataset: Dataset) -> float:
        """Return how far the computed minimiser may be from the true one: its gradient over the strong convexity."""
        theta, size = self.estimate(dataset), np.abs(dataset.X)
        slope, room = derivative_room(dataset.X, dataset.y, theta, self.loss.first)
        total, error = summed(dataset.X * slope[:, None])
        penalty = self.lam * np.abs(theta)
        most = (
            np.abs(total + self.lam * theta)
            + size.T @ room
            + (error + roundings(4)) * (size.T @ np.abs(slope) + penalty)
        )
        return float(np.linalg.norm(most)) / self.lam * (1 + 1e-9)

    def _slack(self, dim: int) -> float:
        """Return twice what the gradient at a computed minimiser is let miss 0 by, in norm."""
        return 2 * math.sqrt(dim) * self.residual

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the bound at the largest gradient over ``lam``."""
        return self.record_bound(domain, domain.x_bound)

    def record_bound(self, domain: Domain, length: float) -> Bound | None:
        xi = self.loss.xi(domain.y_bound, min(domain.x_bound, length))
        if not math.isfinite(xi):
            return None
        mu = (xi + 2 * self._slack(domain.dim)) / (self.lam * self.sigma)
        return Bound(
            "docs/derivations/compare.md, section 7",
            "One record moves the minimiser of a strongly convex objective by at most its gradient over lam.",
            lambda epsilon, _: gaussian_delta(mu, epsilon),
            mu=mu,
        )

    def dominating_laws(self, dataset: Dataset) -> GaussianRecordLaws:
        """Return laws that dominate those of leaving each record out: by its own gradient at the minimiser."""
        theta, lengths = self.estimate(dataset), row_norms(dataset.X)
        slope = np.abs(self.loss.first(dataset.X @ theta, dataset.y))
        slack = max(self._slack(dataset.dim), self.lam * self._missed(dataset))
        moved = slope * lengths + self.loss.beta * lengths**2 * slack / self.lam + 2 * slack
        return GaussianRecordLaws(np.where(lengths > 0, moved, 0.0) / (self.lam * self.sigma))


class GlmOutputParameters(ObjectiveParameters):
    """The minimiser of a regularised generalised linear model plus normal noise of one standard deviation."""

    reportable: ClassVar[bool] = False
    protection: ClassVar[Ways] = ({"sigma": 1}, {"lam": 1})

    name: Literal["glm-output"]  # type: ignore[assignment]
    loss: BoundedLoss

    def build(self, dim: int) -> GlmOutput:  # type: ignore[override]
        return GlmOutput(self.build_loss(), self.sigma, self.lam)

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        self.build_loss().check_response(dataset.y)
        return True


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    return {"glm-output": Example(GlmOutput(LogisticLoss(), 0.1, 1.0), example_pair("labels"))}


def _ridge(loss: GlmLoss, domain: Domain, promise: Promise) -> float:
    """Return the ridge that public numbers alone suggest (docs/derivations/compare.md, section 7)."""
    assert domain.n_public is not None
    one, square = promise.for_one, domain.x_bound**2
    information = domain.n_public * loss.beta * square / domain.dim
    noise = domain.x_bound * loss.xi(domain.y_bound, domain.x_bound) / analytic_mu(one.epsilon, one.delta)
    grid = square * np.geomspace(1e-2, 100.0 * (1 + domain.n_public), 801)
    return float(grid[np.argmin((noise / grid) ** 2 + (grid / (grid + information)) ** 2)])


def _published(loss: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    if promise.epsilon > 1:
        return Offered(None, "the classical constant is stated for epsilon up to 1")
    chosen = LOSSES[loss]()
    lam = _ridge(chosen, domain, promise)
    moved = chosen.xi(domain.y_bound, domain.x_bound) / lam * (2 if promise.neighbours == "replace" else 1)
    return Offered(GlmOutput(chosen, classical_sigma(moved, promise.epsilon, promise.delta), lam))


def _exact(loss: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    chosen = LOSSES[loss]()
    lam = _ridge(chosen, domain, promise)
    return with_least_noise(lambda sigma: GlmOutput(chosen, sigma, lam), domain, promise, 1 / promise.epsilon)


def offers() -> Sequence[Offer]:
    """Return OPS at the largest proved inverse temperature, and both calibrations of the noise."""
    rule, losses = "docs/derivations/compare.md, section 7", tuple(LOSSES)
    return (
        Offer("OPS", "exact", _sampled, losses, "docs/derivations/compare.md, section 8"),
        Offer("Gaussian output", "published", _published, losses, f"Dwork and Roth (2014), A.1; {rule}"),
        Offer("Gaussian output", "exact", _exact, losses, rule),
    )
