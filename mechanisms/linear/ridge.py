"""Ridge regression: the estimate, leverages, what one record changes (float64 and balls), and the worst pair."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol, runtime_checkable

import numpy as np
from flint import arb, arb_mat
from numpy.typing import ArrayLike
from scipy.linalg import solve_triangular

from ..base import BOTH, check_nonnegative
from ..capabilities import Domain, WorstPair
from ..data.dataset import Dataset, FloatArray, as_row
from ..data.neighbours import NeighbouringPair, Relation, without_old
from ..numerics.balls import Ball
from ..numerics.spectra import regular_factor

if TYPE_CHECKING:
    from .gaussian_output import GaussianOutput
    from .posterior_sampling import PosteriorSampling

#: A record whose leverage is nearer to 1 than this leaves a singular matrix behind, to working precision.
LEAST_LEFT = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class RidgeFit:
    """The ridge estimate on one data set with the factor of its Hessian.

    Attributes
    ----------
    theta : (dim,) array
        ``(X^T X + lam I)^{-1} X^T y``.
    factor : (dim, dim) array
        Lower Cholesky factor of ``H = X^T X + lam I``.
    """

    theta: FloatArray
    factor: FloatArray

    @property
    def log_det(self) -> float:
        """``log det H``."""
        return float(2 * np.log(np.diag(self.factor)).sum())

    def whiten(self, rows: FloatArray) -> FloatArray:
        """Return ``rows @ factor^{-T}``, shape ``(m, dim)``: Euclidean norms become norms of ``H^{-1}``."""
        return np.asarray(solve_triangular(self.factor, np.atleast_2d(rows).T, lower=True).T)

    def solve(self, rows: FloatArray) -> FloatArray:
        """Return ``rows @ H^{-1}``, shape ``(m, dim)``."""
        return np.asarray(solve_triangular(self.factor, self.whiten(rows).T, lower=True, trans="T").T)

    def leverage(self, x: ArrayLike) -> float:
        """Return ``x^T H^{-1} x``; out of sample for a target that was not fitted."""
        white = self.whiten(as_row(x, self.theta.size))
        return float((white**2).sum())

    def residual(self, x: ArrayLike, y: float) -> float:
        """Return ``y - x^T theta``."""
        return float(y - as_row(x, self.theta.size) @ self.theta)


def ridge_fit(dataset: Dataset, lam: float) -> RidgeFit:
    """Return the ridge fit; ``lam`` at least 0 multiplies ``||theta||^2 / 2`` beside ``||y - X theta||^2 / 2``.

    Raises
    ------
    ValueError
        If ``X^T X + lam I`` is not positive definite to working precision, whatever the units of the columns.
    """
    factor = regular_factor(dataset.X.T @ dataset.X + lam * np.eye(dataset.dim))
    if factor is None:
        raise ValueError(f"X^T X + lam I must be positive definite, got a singular matrix at lam={lam:g}; raise lam")
    half = solve_triangular(factor, dataset.X.T @ dataset.y, lower=True)
    return RidgeFit(np.asarray(solve_triangular(factor, half, lower=True, trans="T")), factor)


@runtime_checkable
class Estimator(Protocol):
    """A deterministic map of the data to ``R^k``, with what one record changes in it."""

    def __call__(self, dataset: Dataset) -> FloatArray:
        """Return the estimate, shape ``(k,)``."""

    def shift(self, pair: NeighbouringPair) -> FloatArray:
        """Return the estimate on ``D'`` minus that on ``D``, shape ``(k,)``."""


@dataclass(frozen=True)
class RidgeMap:
    """The ridge estimate ``(X^T X + lam I)^{-1} X^T y`` as an ``Estimator``.

    Parameters
    ----------
    lam : float
        Regularisation, finite and at least 0.
    """

    lam: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))

    def __call__(self, dataset: Dataset) -> FloatArray:
        """Return the ridge estimate, shape ``(dim,)``."""
        return ridge_fit(dataset, self.lam).theta

    def shift(self, pair: NeighbouringPair) -> FloatArray:
        """Return the change of the estimate, by rank-one updates of the data set without the target (W19-L3.1)."""
        if pair.relation is Relation.ADD:
            return self._added(pair.first, pair.x, pair.y)
        assert pair.index is not None
        rest = without_old(pair)
        left = -self._added(rest, pair.first.X[pair.index], float(pair.first.y[pair.index]))
        return left if pair.relation is Relation.REMOVE else left + self._added(rest, pair.x, pair.y)

    def shift_balls(self, pair: NeighbouringPair) -> Ball:
        """Return ``shift`` as a column of balls, proved from the data on at the flint context's precision."""
        if pair.relation is Relation.ADD:
            return _added_balls(pair.first, pair.x, pair.y, self.lam)[2]
        assert pair.index is not None
        if pair.relation is Relation.REPLACE and _same_record(pair):
            return arb_mat(pair.dataset.dim, 1)
        rest = without_old(pair)
        left = -_added_balls(rest, pair.first.X[pair.index], float(pair.first.y[pair.index]), self.lam)[2]
        return left if pair.relation is Relation.REMOVE else left + _added_balls(rest, pair.x, pair.y, self.lam)[2]

    def _added(self, dataset: Dataset, x: FloatArray, y: float) -> FloatArray:
        fit = ridge_fit(dataset, self.lam)
        # H'^{-1} x (y - x^T theta) with H'^{-1} x = H^{-1} x / (1 + x^T H^{-1} x)
        return np.asarray(fit.solve(x)[0] * (fit.residual(x, y) / (1 + fit.leverage(x))))


def _same_record(pair: NeighbouringPair) -> bool:
    """Return whether a record is replaced by itself."""
    old, response = pair.dataset.X[pair.index], pair.dataset.y[pair.index]
    return bool((pair.x == old).all() and pair.y == response)


@dataclass(frozen=True)
class PlainMap:
    """Any deterministic function of the data as an ``Estimator``; the change is a plain difference."""

    function: Callable[[Dataset], FloatArray]

    def __call__(self, dataset: Dataset) -> FloatArray:
        """Return the value of the function, shape ``(k,)``."""
        return np.asarray(self.function(dataset), dtype=np.float64)

    def shift(self, pair: NeighbouringPair) -> FloatArray:
        """Return the value on ``D'`` minus that on ``D``."""
        return self(pair.second) - self(pair.first)


def target_balls(dataset: Dataset, x: FloatArray, y: float, lam: float) -> tuple[Ball, Ball]:
    """Return leverage and residual of a target outside ``dataset`` as balls, at the flint context's precision.

    The entries of the data are taken as the exact rationals that their floats are, so that no rounding of ours stands
    between the data and what is proved from these balls. Not finite where the precision cannot exclude singularity.
    """
    leverage, residual, _ = _added_balls(dataset, x, y, lam)
    return leverage, residual


def _added_balls(dataset: Dataset, x: FloatArray, y: float, lam: float) -> tuple[Ball, Ball, Ball]:
    # leverage, residual, and the change of the estimate when the target is added, a column
    dim = dataset.dim
    design = arb_mat(dataset.n_records, dim, dataset.X.ravel().tolist())
    response = arb_mat(dataset.n_records, 1, dataset.y.tolist())
    row = arb_mat(dim, 1, np.asarray(x).tolist())
    hessian = design.transpose() * design
    for i in range(dim):
        hessian[i, i] += arb(lam)
    moment = design.transpose() * response
    try:
        both = hessian.solve(arb_mat(dim, 2, [part[i, 0] for i in range(dim) for part in (row, moment)]))
    except ZeroDivisionError:
        unknown = arb("nan")
        return unknown, unknown, arb_mat(dim, 1, [unknown] * dim)
    leverage = sum((row[i, 0] * both[i, 0] for i in range(dim)), arb(0))
    residual = arb(float(y)) - sum((row[i, 0] * both[i, 1] for i in range(dim)), arb(0))
    return leverage, residual, arb_mat(dim, 1, [both[i, 0] * residual / (1 + leverage) for i in range(dim)])


def check_ridge(name: str, lam: float, dataset: Dataset, *, everywhere: bool) -> None:
    """Refuse a ridge too small for some data set of so many records in the public domain, or for these records.

    Raises
    ------
    ValueError
        ``lam must be <rule> for <name>, got lam=...``.
    """
    if not everywhere:
        try:
            fit = ridge_fit(dataset, lam)
            left = 1 - (fit.whiten(dataset.X) ** 2).sum(axis=1).max(initial=0.0)
        except ValueError:
            left = 0.0
        if not left > LEAST_LEFT:
            raise ValueError(
                f"lam must be greater for {name}, got lam={lam:g}; X^T X + lam I is singular on these records, or "
                "without one of them"
            )
        return
    if lam == 0:
        raise ValueError(
            f"lam must be greater than 0 for {name} on private data and for claims over all data sets, got lam=0; "
            "without it the mechanism is not defined on all of them"
        )
    norm = dataset.x_bound if np.isfinite(dataset.x_bound) else np.sqrt(dataset.dim)  # z-scores: of that size together
    least = 8 * dataset.dim * float(np.finfo(float).eps) * max(dataset.n_records, 1) * norm**2
    if lam < least:
        raise ValueError(
            f"lam must be at least 8 * dim * 2.2e-16 * records * x_bound^2 for {name}, got lam={lam:g}; float64 does "
            "not carry a smaller one"
        )


#: Most equal records beside the target, where the number of records is not bounded by the claim.
MOST_RECORDS = 2048


def largest_residual(lam: float, domain: Domain) -> float:
    """Return a bound on a record's residual at the ridge estimate over all data sets of a public number of records."""
    assert domain.n_public is not None
    n, B, Y = domain.n_public, domain.x_bound, domain.y_bound
    return Y + B * min(math.sqrt(n) * Y / (2 * math.sqrt(lam)), n * B * Y / lam)


def largest_at(lam: float, dataset: Dataset, domain: Domain) -> tuple[float, float]:
    """Return the least eigenvalue of ``X^T X + lam I`` and a target's largest residual, to the safe side."""
    fit = ridge_fit(dataset, lam)
    values = np.linalg.eigvalsh(fit.factor @ fit.factor.T)
    smallest = float(values[0]) * (1 - 1e-9)
    if values[0] < 1e-6 * values[-1]:  # lost in the rounding of the largest; the inverse factor keeps it
        smallest = max(lam, float(np.linalg.norm(fit.whiten(np.eye(dataset.dim)), 2)) ** -2 * (1 - 1e-6))
    return smallest, (domain.y_bound + domain.x_bound * float(np.linalg.norm(fit.theta))) * (1 + 1e-9)


def ridge_worst_pair(
    law: GaussianOutput | PosteriorSampling,
    lam: float,
    domain: Domain,
    epsilon: float,
    log_delta: Callable[[FloatArray, FloatArray, FloatArray], FloatArray],
) -> WorstPair | None:
    """Return the worst of: ``m`` equal records on the first axis, and a target on it that points the other way.

    ``log_delta(curvature, leverage, residual)`` is that at ``epsilon``, in the worse direction, of the mechanism on the
    first coordinate alone (the others are the same under both data sets).
    """
    most = MOST_RECORDS if domain.n_public is None else min(MOST_RECORDS, max(domain.n_public - 1, 0))
    sizes = sorted({0, *(int(m) for m in np.geomspace(1, most, 24))}) if most else [0]
    lines = [(m, float(share) * domain.x_bound) for m in sizes for share in np.geomspace(1.0, 1e-2, 17)]
    counts, lengths = (np.array(column, dtype=np.float64) for column in zip(*lines, strict=True))
    curvature = lam + counts * lengths**2
    defined = curvature > 0
    curvature = np.where(defined, curvature, 1.0)
    residual = domain.y_bound + domain.x_bound * counts * lengths * domain.y_bound / curvature
    values = np.where(defined, log_delta(curvature, domain.x_bound**2 / curvature, residual), np.nan)
    if np.isnan(values).all():
        return None
    m, length = lines[int(np.nanargmax(values))]
    line = _line_pair(domain, m, length, 1)
    profile = law.profile(line)
    direction = max(BOTH, key=lambda d: profile.log_delta_at(epsilon, d))
    return WorstPair(
        _line_pair(domain, m, length, domain.dim),
        direction,
        law.delta_bracket(line, epsilon, direction),
        "equal records on the first axis, and one more there that points the other way",
        {"n_records": m, "x_norm_of_records": length, "x_norm": domain.x_bound, "y": domain.y_bound,
         "direction": direction.name},
        profile,
    )  # fmt: skip


def _line_pair(domain: Domain, m: int, length: float, dim: int) -> NeighbouringPair:
    axis = np.eye(dim)[0]
    X, y = np.tile(axis * length, (m, 1)), np.full(m, domain.y_bound)
    data = Dataset(X, y, domain.x_bound, domain.y_bound, name=f"{m} equal records", public=True)
    return NeighbouringPair.add(data, axis * domain.x_bound, -domain.y_bound)
