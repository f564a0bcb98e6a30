"""Objective perturbation (RW21, Algorithm 1): the minimiser of a regularised loss plus a random linear term."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike
from pydantic import Field

from ..base import Direction, check_draws, check_nonnegative, check_positive
from ..capabilities import Bound, Domain, WorstPair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, as_row
from ..data.neighbours import NeighbouringPair, Relation
from ..envelopes.logistic_envelope import has_logistic_envelope, logistic_envelope
from ..envelopes.tail_envelopes import Envelope
from ..offers import LOSSES, Offer, Offered, Promise, Recipe, with_least_noise
from ..parameters import Parameters, Positive, Ways
from ..releases.report_terms import ReportScales
from .losses import AnyLoss, GlmLoss, LogisticLoss, PoissonLoss, SmoothedHingeLoss, SquaredLoss, named_loss
from .objective_calibration import calibrate_t5
from .objective_loss_terms import LossTerms, ex_post_losses, loss_of_records, shared_records, target_terms
from .objective_worst_case import objective_bound, objective_worst_pair
from .perturbed_objective import PerturbedObjective, Regulariser, as_points, slices
from .perturbed_solver import solve

#: Size that coefficients of a perturbed objective may have: the noise over the ridge.
LARGEST_FIT = 1e7


@dataclass(frozen=True)
class ObjectivePerturbation:
    """Release ``argmin_theta J(theta; D) + b^T theta`` with ``b ~ N(0, sigma^2 I)`` (RW21, Algorithm 1, Theta = R^dim).

    ``J(theta; D) = sum_i f(x_i^T theta; y_i) + r(theta) + lam/2 ||theta||^2`` with a generalised linear loss ``f``.

    Parameters
    ----------
    loss : GlmLoss
        For example ``LogisticLoss()``.
    sigma : float
        Standard deviation of each coordinate of the noise ``b``, in the units of the gradient; positive.
    lam : float
        Weight of the quadratic regulariser; at least 0, and positive unless ``X^T X`` is nonsingular.
    residual : float
        Largest ``max_j |grad J(theta; D) + b|_j`` of a returned output, checked by an exact float64 pass over the data.
    regulariser : Regulariser, optional
        A further public, smooth, convex ``r(theta)``, such as ``QuadraticRegulariser(R)``.

    Raises
    ------
    ValueError
        If a parameter is out of its range; ``DataError`` if data do not fit the loss, or if ``lam = 0`` and the
        Hessian can be singular.

    References
    ----------
    RW21: Redberg and Wang, "Privately Publishable Per-instance Privacy", NeurIPS 2021, Algorithm 1, Theorem 6.

    Examples
    --------
    >>> import numpy as np
    >>> from mechanisms.data.dataset import Dataset
    >>> from mechanisms.objective.losses import LogisticLoss
    >>> data = Dataset(np.array([[0.6], [-0.8]]), np.array([1.0, -1.0]), x_bound=1.0, y_bound=1.0)
    >>> mechanism = ObjectivePerturbation(LogisticLoss(), sigma=2.0, lam=1.0)
    >>> outputs = mechanism.draw(data, 3, rng=np.random.default_rng(1))
    >>> bool(np.allclose(mechanism.solve(data, mechanism.noise(outputs, data)), outputs))
    True
    """

    covers_records: ClassVar[bool] = True

    loss: GlmLoss
    sigma: float
    lam: float
    residual: float = 1e-8
    regulariser: Regulariser | None = None

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma)
        check_nonnegative("lam", self.lam)
        check_positive("residual", self.residual)

    @property
    def name(self) -> str:
        return f"objective perturbation ({self.loss.name}, sigma={self.sigma:g}, lam={self.lam:g})"

    def objective(self, dataset: Dataset) -> PerturbedObjective:
        """Return ``J(.; D)``, whose ``value``, ``gradient`` and ``hessian`` take points ``(n_points, dim)``."""
        objective = PerturbedObjective(dataset, self.loss, self.lam, self.regulariser)
        objective.require_curvature()
        return objective

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return self.draw_with_noise(dataset, n_draws, rng=rng)[0]

    def draw_with_noise(
        self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator
    ) -> tuple[FloatArray, FloatArray]:
        """Return outputs and the noise they came from, both of shape ``(n_draws, dim)``."""
        noise = self.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        return self.solve(dataset, noise), noise

    def solve(self, dataset: Dataset, noise: ArrayLike) -> FloatArray:
        """Return the output for each given noise vector, shape ``(n_draws, dim)``: the bijection from ``b``."""
        return solve(self.objective(dataset), as_points("noise", noise, dataset.dim), self.residual)

    def noise(self, outputs: ArrayLike, dataset: Dataset) -> FloatArray:
        """Return the noise ``b = -grad J(theta; D)`` that gives each output (RW21, eq. 3), shape ``(n_draws, dim)``."""
        return -self.objective(dataset).gradient(as_points("outputs", outputs, dataset.dim))

    def hessian(self, outputs: ArrayLike, dataset: Dataset) -> FloatArray:
        """Return ``grad^2 J(theta; D)`` at each output, shape ``(n_draws, dim, dim)`` (prefer small batches)."""
        return self.objective(dataset).hessian(as_points("outputs", outputs, dataset.dim))

    def leverage(self, outputs: ArrayLike, dataset: Dataset, x: ArrayLike) -> FloatArray:
        """Return ``mu(x) = x^T (grad^2 J(theta; D))^{-1} x`` at each output, shape ``(n_draws,)`` (RW21, C7)."""
        objective, theta = self.objective(dataset), as_points("outputs", outputs, dataset.dim)
        row, result = as_row(x, dataset.dim), np.empty(len(theta))
        for points in slices(len(theta), objective.points_per_hessian):
            factor = np.linalg.cholesky(objective.hessian(theta[points]))
            result[points] = np.square(np.linalg.solve(factor, row[:, None])[..., 0]).sum(axis=1)
        return result

    def log_density(self, outputs: ArrayLike, dataset: Dataset) -> FloatArray:
        """Return the natural log density of each output, shape ``(n_draws,)``, with respect to Lebesgue measure.

        ``log N(b(theta); 0, sigma^2 I) + log det grad^2 J(theta; D)`` (RW21, Lemma 30 with eqs. 3 and 4).
        """
        objective, theta = self.objective(dataset), as_points("outputs", outputs, dataset.dim)
        b, log_det = objective.gradient(theta), np.empty(len(theta))
        for points in slices(len(theta), objective.points_per_hessian):
            factor = np.linalg.cholesky(objective.hessian(theta[points]))
            log_det[points] = 2.0 * np.log(np.diagonal(factor, axis1=1, axis2=2)).sum(axis=1)
        log_normal = -0.5 * np.square(b / self.sigma).sum(axis=1)
        return np.asarray(log_normal + log_det - dataset.dim * math.log(self.sigma * math.sqrt(2.0 * math.pi)))

    def loss_terms(self, outputs: ArrayLike, pair: NeighbouringPair) -> LossTerms:
        """Return the three terms of RW21's Corollary 7 at each output, signed, for ADD and REMOVE."""
        pair.require(Relation.ADD, Relation.REMOVE)
        objective, theta = self.objective(shared_records(pair)), as_points("outputs", outputs, pair.dataset.dim)
        self.loss.check_response(np.array([pair.y]))
        (terms,) = target_terms(objective, theta, [(pair.x, pair.y)], self.sigma)
        return terms if pair.relation is Relation.ADD else terms.negated()

    def privacy_loss(self, outputs: ArrayLike, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` at each output, natural log, shape ``(n_draws,)`` (RW21, Corollary 7).

        ADD and REMOVE use the rank-one formula; REPLACE is the loss of removing the old record plus that of adding the
        new one, both from the records that the two data sets share.
        """
        if pair.relation is not Relation.REPLACE:
            return self.loss_terms(outputs, pair).total
        assert pair.index is not None
        old = (pair.dataset.X[pair.index], float(pair.dataset.y[pair.index]))
        self.loss.check_response(np.array([pair.y]))
        objective, theta = self.objective(shared_records(pair)), as_points("outputs", outputs, pair.dataset.dim)
        gone, new = target_terms(objective, theta, [old, (pair.x, pair.y)], self.sigma)
        return new.total - gone.total

    def ex_post_losses(self, output: ArrayLike, dataset: Dataset) -> FloatArray:
        """Return the loss of removing each record of ``dataset`` at one output, shape ``(n_records,)``, natural log.

        Equals ``privacy_loss(output, NeighbouringPair.remove(dataset, i))`` for every ``i``, by one Cholesky factor.
        """
        (theta,) = as_points("output", np.reshape(output, (1, -1)), dataset.dim)
        return ex_post_losses(self.objective(dataset), theta, self.sigma)

    def record_losses(self, outputs: FloatArray, dataset: Dataset, records: range) -> FloatArray:
        """Return the same for some records at many outputs, shape ``(n_draws, len(records))``: one factor a draw."""
        return loss_of_records(self, outputs, dataset, records)

    def noise_map(self, dataset: Dataset) -> Callable[[FloatArray], FloatArray]:
        return lambda noise: self.solve(dataset, self.sigma * noise)

    def envelope(self, pair: NeighbouringPair, direction: Direction, epsilon: float) -> Envelope | None:
        """Return an event that holds ``{L > epsilon}``: logistic loss, ADD and REMOVE, features not zero."""
        if not has_logistic_envelope(self, pair):
            return None
        return logistic_envelope(self, pair, direction, epsilon)

    def report_scales(self, rho: float, sigma2: float | None, sigma3: float | None) -> ReportScales:
        return ReportScales(self.loss, self.sigma, self.lam, rho, sigma2, sigma3)

    def worst_case(self, domain: Domain, mu_report: float = 0.0) -> Bound | None:
        """Return what is proved over the domain, also with ``mu_report``-Gaussian private releases made after it."""
        return objective_bound(self, domain, mu_report)

    def record_bound(self, domain: Domain, length: float) -> Bound | None:
        shorter = replace(domain, x_bound=min(domain.x_bound, length))
        return objective_bound(self, shorter) if shorter.bounded else None

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        return objective_worst_pair(self, domain, epsilon, delta)


class ObjectiveParameters(Parameters):
    """Objective perturbation (RW21, Algorithm 1)."""

    reportable: ClassVar[bool] = True
    protection: ClassVar[Ways] = ({"sigma": 1}, {"lam": 1}, {"sigma": 1, "lam": 1})

    name: Literal["objective-perturbation"]
    loss: AnyLoss
    sigma: Positive
    lam: Positive
    width: Positive | None = Field(None, description="Of the smoothed hinge or pseudo-Huber loss.")

    def build_loss(self) -> GlmLoss:
        return named_loss(self.loss, self.width)

    def build(self, dim: int) -> ObjectivePerturbation:
        return ObjectivePerturbation(self.build_loss(), self.sigma, self.lam)

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        """Refuse responses that are not of the loss, and a ridge too small beside the noise."""
        self.build_loss().check_response(dataset.y)
        if self.lam * LARGEST_FIT < self.sigma:
            raise ValueError(
                f"lam must be at least sigma / {LARGEST_FIT:g}, got lam={self.lam:g}; float64 does not carry the "
                "coefficients of a smaller one"
            )
        return True


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    linear, labels, counts = example_pair(), example_pair("labels"), example_pair("counts")
    return {
        "objective-logistic": Example(ObjectivePerturbation(LogisticLoss(), 1.5, 1.0), labels),
        "objective-squared": Example(ObjectivePerturbation(SquaredLoss(), 1.5, 1.0), linear),
        "objective-poisson": Example(ObjectivePerturbation(PoissonLoss(), 2.0, 2.0), counts),
        "objective-hinge": Example(ObjectivePerturbation(SmoothedHingeLoss(), 1.5, 1.0), labels),
    }


def _theorem_5(loss: str, epsilon: float, delta: float, bounds: Dataset | Domain, *, published: bool) -> Offered:
    chosen = LOSSES[loss]()
    rule = calibrate_t5(chosen, epsilon, delta, x_bound=bounds.x_bound, y_bound=bounds.y_bound)
    return Offered(ObjectivePerturbation(chosen, rule.sigma_published if published else rule.sigma_corrected, rule.lam))


def recipes() -> dict[str, Recipe]:
    """Return Theorem 5's calibration, as printed and corrected."""

    def printed(loss: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        return _theorem_5(loss, epsilon, delta, pair.first, published=True)

    def corrected(loss: str, pair: NeighbouringPair, epsilon: float, delta: float) -> Offered:
        return _theorem_5(loss, epsilon, delta, pair.first, published=False)

    return {
        "objective-perturbation": Recipe(printed, tuple(LOSSES), False, "RW21-T5, as printed"),
        "objective-perturbation-corrected": Recipe(corrected, tuple(LOSSES), False, "RW21-T5, corrected"),
    }


def _exact(loss: str, domain: Domain, promise: Promise) -> Offered:
    corrected = _theorem_5(loss, promise.for_one.epsilon, promise.for_one.delta, domain, published=False).mechanism
    assert isinstance(corrected, ObjectivePerturbation)
    return with_least_noise(lambda sigma: replace(corrected, sigma=sigma), domain, promise, corrected.sigma)


def offers() -> Sequence[Offer]:
    """Return Theorem 5's scale as printed, and the least noise proved with its ridge."""

    def published(loss: str, domain: Domain, promise: Promise) -> Offered:
        return _theorem_5(loss, promise.for_one.epsilon, promise.for_one.delta, domain, published=True)

    proved = "docs/derivations/deployment.md, section 1; lam as published"
    return (
        Offer("ObjPert", "published", published, tuple(LOSSES), "RW21-T5, as printed"),
        Offer("ObjPert", "exact", _exact, tuple(LOSSES), proved),
    )
