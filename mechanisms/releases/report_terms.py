"""The private upper bound on one's own ex-post loss, term by term and for many releases at once (RW21, Algorithm 2).

Two forms: ``printed_terms`` evaluates the algorithm literally; ``corrected_terms`` is the smallest change that
makes ``epsilon_1 <= epsilon1_bar`` true with probability ``1 - 3 rho`` (see ``docs/derivations/privacy_report.md``).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import ndtri

from ..base import check_positive
from ..data.dataset import Dataset, FloatArray, as_row
from ..numerics.goe import Normalisation, draw_goe, goe_tau
from ..objective.losses import GlmLoss
from ..objective.objective_loss_terms import LossTerms

if TYPE_CHECKING:
    from ..objective.objective_perturbation import ObjectivePerturbation


class ReportRequirement(ValueError):
    """The algorithm's requirement on its parameters does not hold; the message names it.

    Cause: too much noise on the Hessian for the regularisation. Cure: a larger ``lam`` or a smaller ``sigma3``.
    """


@dataclass(frozen=True)
class ReportScales:
    """The public parameters of a report.

    Parameters
    ----------
    loss : GlmLoss
        Loss of the objective.
    sigma : float
        Noise of objective perturbation, positive.
    lam : float
        Weight of its quadratic regulariser, positive.
    failure_prob : float
        The paper's ``rho``, in (0, 1).
    sigma2, sigma3 : float, optional
        Noise of the released gradient and Hessian; both (RW21's DATA-DEP) or neither (DATA-INDEP).
    """

    loss: GlmLoss
    sigma: float
    lam: float
    failure_prob: float
    sigma2: float | None = None
    sigma3: float | None = None

    def __post_init__(self) -> None:
        check_positive("sigma", self.sigma)
        check_positive("lam", self.lam)
        if isinstance(self.failure_prob, bool) or not 0 < self.failure_prob < 1:
            raise ValueError(f"failure_prob must be in (0, 1), got failure_prob={self.failure_prob}")
        for name, value in (("sigma2", self.sigma2), ("sigma3", self.sigma3)):
            if value is not None:
                check_positive(name, value)

    @property
    def quantile(self) -> float:
        """``F^{-1}_{N(0,1)}(1 - rho/2)``, from the lower tail."""
        return -float(ndtri(0.5 * self.failure_prob))

    def require(self, dim: int) -> None:
        """Refuse parameters outside RW21's requirement ``lam >= 2 sigma3 tau(rho)`` (Algorithm 2)."""
        if self.sigma3 is None:
            return
        tau = goe_tau(dim, self.failure_prob)
        if not self.lam >= 2.0 * self.sigma3 * tau:
            raise ReportRequirement(
                f"lam must be at least 2*sigma3*tau(rho) = {2.0 * self.sigma3 * tau:g} "
                f"(tau={tau:g}, dim={dim}, rho={self.failure_prob:g}), got lam={self.lam}"
            )


@dataclass(frozen=True, eq=False)
class Releases:
    """What has been released, in each of ``n_draws`` runs; a report for one run has ``n_draws = 1``.

    Parameters
    ----------
    theta : (n_draws, dim) array
    gradient : (n_draws, dim) array, optional
        Outputs of ``GradientRelease``.
    hessian : (n_draws, dim, dim) array, optional
        Symmetric; outputs of ``HessianRelease`` as full matrices.
    """

    theta: FloatArray
    gradient: FloatArray | None = None
    hessian: FloatArray | None = None

    def __post_init__(self) -> None:
        theta = np.asarray(self.theta, dtype=np.float64)
        if theta.ndim != 2 or theta.shape[1] == 0:
            raise ValueError(f"theta must have shape (n_draws, dim), got theta.shape={theta.shape}")
        for name, value, shape in (
            ("theta", theta, theta.shape),
            ("gradient", self.gradient, theta.shape),
            ("hessian", self.hessian, (*theta.shape, theta.shape[1])),
        ):
            if value is None:
                continue
            array = np.asarray(value, dtype=np.float64)
            if array.shape != shape:
                raise ValueError(f"{name} must have shape {shape}, got {name}.shape={array.shape}")
            if not np.isfinite(array).all():
                raise ValueError(f"{name} must be finite, got a non-finite value")
            object.__setattr__(self, name, array)


@dataclass(frozen=True, eq=False, repr=False)
class ReportTerms:
    """The bound and its parts, natural log, each of shape ``(n_draws,)``.

    Attributes
    ----------
    g_bar, mu_bar
        Bounds on ``g = grad J^T grad l`` and on the leverage ``mu(x)``.
    log_det_term, quadratic_term, gradient_term
        Bounds on the three terms of the ex-post loss.
    """

    g_bar: FloatArray
    mu_bar: FloatArray
    log_det_term: FloatArray
    quadratic_term: FloatArray
    gradient_term: FloatArray

    @property
    def epsilon1_bar(self) -> FloatArray:
        """``epsilon1_bar(z)``: the sum of the terms."""
        return np.asarray(self.log_det_term + self.quadratic_term + self.gradient_term)


#: A form of the report: printed, corrected, or a broken one.
ReportForm = Callable[[ReportScales, Releases, FloatArray, float], ReportTerms]


def printed_terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
    """Return the terms of RW21's Algorithm 2 as printed; NaN where it takes the logarithm of a negative number.

    The record is ``(x, y)``; the releases have a gradient and a Hessian for DATA-DEP, and neither for DATA-INDEP.
    """
    own = OwnRecord.at(scales, releases, x, y)
    if releases.gradient is None:
        g_bar = own.gradient_cap(scales)
    else:
        # A2: min{ f' g_hat^T x + sigma2 ||f' x|| z, sigma ||f' x|| z }
        g_bar = np.minimum(own.released_inner(releases) + own.gradient_slack(scales), own.gradient_cap(scales))
    # A2: 3/2 x^T H_hat^{-1} x
    mu_bar = own.leverage_cap(scales) if releases.hessian is None else 1.5 * own.released_quadratic(releases)
    with np.errstate(invalid="ignore", divide="ignore"):
        log_det = np.abs(-np.log1p(-own.second * mu_bar))  # A2: |-log(1 - f'' mu_bar)|
    return own.terms(scales, g_bar, mu_bar, log_det)


def corrected_terms(scales: ReportScales, releases: Releases, x: FloatArray, y: float) -> ReportTerms:
    """Return the terms of the corrected Algorithm 2: two-sided in ``g``, pointwise minimum in ``mu``.

    ``g_bar = min{|f' g_hat^T x| + sigma2 ||f' x|| z, sigma ||f' x|| z}`` bounds ``|g|``, where the printed one bounds
    ``g`` and then takes its absolute value; ``mu_bar = min{3/2 x^T H_hat^{-1} x, ||x||^2/lam}``, the minimum that the
    paper's proof uses. The bound is infinite where ``f'' mu_bar >= 1``. Parameters as in ``printed_terms``.
    """
    own = OwnRecord.at(scales, releases, x, y)
    g_bar, mu_bar = own.gradient_cap(scales), own.leverage_cap(scales)
    if releases.gradient is not None:
        g_bar = np.minimum(np.abs(own.released_inner(releases)) + own.gradient_slack(scales), g_bar)
    if releases.hessian is not None:
        quadratic = 1.5 * own.released_quadratic(releases)
        # a form that is not positive shows that the noise exceeded tau; the other bound needs no release
        mu_bar = np.where(quadratic > 0, np.minimum(quadratic, mu_bar), mu_bar)
    return own.terms(scales, g_bar, mu_bar, log_det_bound(own.second * mu_bar))


def corrected_upper_bound(
    scales: ReportScales, releases: Releases, x: FloatArray, y: float, exact: LossTerms
) -> FloatArray:
    """Return what ``epsilon1_bar`` of ``corrected_terms`` stays below with probability ``1 - 2 rho`` (DATA-DEP).

    ``C(w) |first term| + second term + |third term| + min{2 sigma2, sigma} ||f' x|| z / sigma^2`` with
    ``w = f'' ||x||^2/lam`` and ``C(w) = -log(1 - w)/log(1 + w/3)``, at most 4.497 for ``w <= 1/2`` (3.802 for a record
    that is removed). It replaces RW21's T10.3, whose right-hand side ``12 epsilon_1 + ...`` fails where the three terms
    cancel. Infinite from ``w = 1`` on. ``exact`` has the three terms of the ex-post loss at the same outputs; the rest
    is as in ``corrected_terms``.
    """
    own = OwnRecord.at(scales, releases, x, y)
    assert scales.sigma2 is not None
    weight = own.second * own.leverage_cap(scales)
    added = exact.log_det_term <= 0  # -log(1 + f'' mu); a removed record has -log(1 - f'' mu) >= 0
    least = np.abs(np.where(added, np.log1p(weight / 3.0), np.log1p(-np.minimum(weight, 1.0) / 3.0)))
    factor = np.where(weight > 0, log_det_bound(weight) / np.where(weight > 0, least, 1.0), 3.0)
    slack = min(2.0 * scales.sigma2, scales.sigma) * own.gradient_norm * scales.quantile / scales.sigma**2
    first = factor * np.abs(exact.log_det_term)
    return np.asarray(first + exact.quadratic_term + np.abs(exact.gradient_term) + slack)


def log_det_bound(weight: FloatArray) -> FloatArray:
    """Return ``-log(1 - weight)``, infinite from 1 on; it bounds ``|-log(1 -+ f'' mu)|`` if ``weight >= f'' mu``."""
    inside = np.minimum(weight, 1.0)
    with np.errstate(divide="ignore"):
        return np.asarray(-np.log1p(-inside))


@dataclass(frozen=True, eq=False, repr=False)
class OwnRecord:
    """One's own record at each released parameter: ``f'``, ``f''`` (shape ``(n_draws,)``) and ``x``."""

    x: FloatArray
    first: FloatArray
    second: FloatArray

    @classmethod
    def at(cls, scales: ReportScales, releases: Releases, x: ArrayLike, y: float) -> OwnRecord:
        """Return the derivatives of one's own loss at each ``theta``; refuses a record that does not fit."""
        row, response = as_row(x, releases.theta.shape[1]), np.asarray(float(y))
        if not np.isfinite(response):
            raise ValueError("y must be finite, got a non-finite value")
        scales.loss.check_response(response)
        predictor = releases.theta @ row
        return cls(row, scales.loss.first(predictor, response), scales.loss.second(predictor, response))

    @property
    def gradient_norm(self) -> FloatArray:
        """``||grad l(theta; z)|| = |f'| ||x||``."""
        return np.asarray(np.abs(self.first) * np.linalg.norm(self.x))

    @property
    def hessian_norm(self) -> FloatArray:
        """``||grad^2 l(theta; z)||_F = f'' ||x||^2``."""
        return np.asarray(self.second * (self.x @ self.x))

    def gradient_cap(self, scales: ReportScales) -> FloatArray:
        """``sigma ||f' x|| z``: the bound on ``|g|`` that needs no release."""
        return scales.sigma * self.gradient_norm * scales.quantile

    def gradient_slack(self, scales: ReportScales) -> FloatArray:
        """``sigma2 ||f' x|| z``: the error of the released gradient along ``x``."""
        if scales.sigma2 is None:
            raise ValueError("sigma2 must be given when a gradient was released, got sigma2=None")
        return scales.sigma2 * self.gradient_norm * scales.quantile

    def leverage_cap(self, scales: ReportScales) -> FloatArray:
        """``||x||^2 / lam``: the bound on the leverage that needs no release."""
        return np.full(len(self.first), (self.x @ self.x) / scales.lam)

    def released_inner(self, releases: Releases) -> FloatArray:
        """``f' g_hat^T x``."""
        assert releases.gradient is not None
        return np.asarray(self.first * (releases.gradient @ self.x))

    def released_quadratic(self, releases: Releases, shift: FloatArray | float = 0.0) -> FloatArray:
        """``x^T (H_hat + shift I)^{-1} x``."""
        assert releases.hessian is not None
        matrices = releases.hessian + np.multiply.outer(np.asarray(shift), np.eye(len(self.x)))
        return np.asarray(np.linalg.solve(matrices, self.x[:, None])[..., 0] @ self.x)

    def terms(
        self, scales: ReportScales, g_bar: FloatArray, mu_bar: FloatArray, log_det_term: FloatArray
    ) -> ReportTerms:
        """Return the terms with RW21's second and third: ``||f' x||^2/(2 sigma^2)`` and ``|g_bar|/sigma^2``."""
        quadratic = np.square(self.gradient_norm) / (2.0 * scales.sigma**2)
        return ReportTerms(g_bar, mu_bar, log_det_term, quadratic, np.abs(g_bar) / scales.sigma**2)


def draw_releases(
    mechanism: ObjectivePerturbation, dataset: Dataset, scales: ReportScales, n_draws: int, *, rng: np.random.Generator
) -> Releases:
    """Return independent runs of the whole transcript: objective perturbation, then the releases of ``scales``.

    A batch holds ``n_draws * dim^2`` floats for the Hessians; split larger runs. The mechanism has the loss, ``sigma``
    and ``lam`` of ``scales``.
    """
    for name in ("loss", "sigma", "lam"):
        ours, theirs = getattr(scales, name), getattr(mechanism, name)
        if ours != theirs:
            raise ValueError(f"{name} must be that of the mechanism, {theirs}, got {name}={ours}")
    theta = mechanism.draw(dataset, n_draws, rng=rng)
    gradient = hessian = None
    if scales.sigma2 is not None:
        exact = mechanism.objective(dataset).gradient(theta)
        gradient = exact + scales.sigma2 * rng.standard_normal(theta.shape)
    if scales.sigma3 is not None:
        noise = draw_goe(dataset.dim, n_draws, Normalisation.UNIT_OFF_DIAGONAL, rng=rng)
        hessian = mechanism.hessian(theta, dataset) + scales.sigma3 * noise
    return Releases(theta, gradient, hessian)
