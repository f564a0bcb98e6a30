"""One-posterior sampling of a regularised generalised linear model: a draw from its Gibbs measure, exactly."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain
from ..data.dataset import Dataset, FloatArray, row_norms
from ..laws.gaussian_calibration import analytic_mu
from ..laws.gaussian_profile import gaussian_delta
from ..offers import LOSSES, NO_SIZE, Offer, Offered, Promise, with_least_noise
from .losses import GlmLoss
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


def _exact(loss: str, domain: Domain, promise: Promise) -> Offered:
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


def offers() -> Sequence[Offer]:
    """Return the largest proved inverse temperature at the ridge of least stated risk."""
    return (Offer("OPS", "exact", _exact, tuple(LOSSES), "docs/derivations/compare.md, section 8"),)
