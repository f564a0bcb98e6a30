"""Simulation audits of random-matrix events, decided uniformly over directions, beside their exact probabilities."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import solve_triangular

from mechanisms.base import check_positive
from mechanisms.data.dataset import FloatArray
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, check_dim, draw_goe
from mechanisms.numerics.goe_brackets import sf_bracket

from ..estimate import Budget, Estimate
from ..stats.intervals import clopper_pearson

#: Floats in one batch of matrices (about 16 MB); part of the definition of a stream.
BATCH_FLOATS = 2_000_000


def _event_coverage(
    dim: int, event: Callable[[FloatArray], NDArray[np.bool_]], budget: Budget, normalisation: Normalisation
) -> Estimate:
    """Return the probability that a GOE(dim) matrix lies in ``event``, with a Clopper-Pearson interval.

    ``dim``: in [1, 500]. ``event``: maps matrices ``(n, dim, dim)`` to booleans ``(n,)``. ``budget``: ``n_draws``
    matrices.
    """
    dim, rng = check_dim(dim), budget.key.child("goe").rng()
    inside = sum(
        int(np.count_nonzero(event(draw_goe(dim, size, normalisation, rng=rng))))
        for size in _batch_sizes(budget.n_draws, dim)
    )
    interval = clopper_pearson(inside, budget.n_draws, budget.spend("share of matrices inside"))
    return Estimate(
        inside / budget.n_draws,
        interval.low,
        interval.high,
        budget.failure_prob,
        budget.n_draws,
        f"Clopper-Pearson, {budget.n_draws} GOE({dim}) matrices",
    )


def goe_norm_coverage(dim: int, tau: float, normalisation: Normalisation, budget: Budget) -> Estimate:
    """Return ``P(||A||_2 <= tau)`` for a GOE(dim) matrix ``A``, by simulation (RW21, Lemma 20).

    Parameters
    ----------
    dim : int, at least 1
    tau : float, finite
    normalisation : Normalisation, which variance the entries have
    budget : Budget

    Returns
    -------
    Estimate
        A Clopper-Pearson interval.

    References
    ----------
    RW21, Lemma 20.
    """

    def inside(matrices: FloatArray) -> NDArray[np.bool_]:
        spectra = np.linalg.eigvalsh(matrices)
        return np.asarray(np.maximum(-spectra[:, 0], spectra[:, -1]) <= tau)

    return _event_coverage(dim, inside, budget, normalisation)


def goe_norm_exact(dim: int, tau: float, normalisation: Normalisation) -> Estimate:
    """Return ``P(||A||_2 <= tau)`` for a GOE(dim) matrix ``A``, proved by ball arithmetic (practical to dim 100).

    Parameters
    ----------
    dim, tau, normalisation
        As of ``goe_norm_coverage``.

    Returns
    -------
    Estimate
        A proved enclosure.

    Examples
    --------
    >>> from audits.white_box import goe_norm_exact
    >>> from mechanisms.numerics.goe import Normalisation
    >>> round(goe_norm_exact(1, 1.96 * 2**0.5, Normalisation.UNIT_OFF_DIAGONAL).value, 3)  # one normal of variance 2
    0.95
    """
    tail = sf_bracket(GoeLaw(dim, Extreme.SPECTRAL_NORM, normalisation), tau)
    low, high = math.nextafter(1.0 - tail.high, 0.0), min(math.nextafter(1.0 - tail.low, 2.0), 1.0)
    return Estimate.proved(low, high, "exact law of the spectral norm, ball arithmetic")


def sandwich_coverage(
    H: FloatArray, sigma: float, budget: Budget, *, lower: float = 0.5, upper: float = 1.5
) -> Estimate:
    """Return the probability that ``lower x^T K^{-1} x <= x^T H^{-1} x <= upper x^T K^{-1} x`` for all ``x`` at once.

    ``K = H + sigma A`` with ``A`` of GOE(dim), off-diagonal variance 1 (RW21, Algorithm 6 and Proposition 21).
    The event is that all eigenvalues of ``L^{-1} K L^{-T}`` lie in ``[lower, upper]``, where ``H = L L^T``.

    Parameters
    ----------
    H : (dim, dim) array, symmetric positive definite
    sigma : float, noise scale, positive
    budget : Budget
    lower, upper : float, ``0 < lower < upper``

    Returns
    -------
    Estimate
        A Clopper-Pearson interval.

    Raises
    ------
    ValueError
        If ``H`` is not symmetric and positive definite, or ``lower`` is not in (0, ``upper``).
    """
    H = np.asarray(H, dtype=np.float64)
    if H.ndim != 2 or H.shape[0] != H.shape[1] or not np.isfinite(H).all() or not np.allclose(H, H.T, rtol=1e-12):
        raise ValueError(f"H must be a finite symmetric matrix, got H.shape={H.shape}")
    if not 0 < lower < upper:
        raise ValueError(f"lower must be in (0, upper), got lower={lower}, upper={upper}")
    try:
        L = np.linalg.cholesky(H)
    except np.linalg.LinAlgError as error:
        raise ValueError(f"H must be positive definite, got smallest eigenvalue={np.linalg.eigvalsh(H)[0]}") from error
    whitening = solve_triangular(L, math.sqrt(check_positive("sigma", sigma)) * np.eye(len(H)), lower=True)

    def inside(matrices: FloatArray) -> NDArray[np.bool_]:
        relative = np.linalg.eigvalsh(whitening @ matrices @ whitening.T)  # of K against H, minus 1
        return np.asarray((relative[:, 0] >= lower - 1.0) & (relative[:, -1] <= upper - 1.0))

    return _event_coverage(len(H), inside, budget, Normalisation.UNIT_OFF_DIAGONAL)


def sandwich_exact(dim: int, lambda_min: float, sigma: float, *, half_width: float = 0.5) -> Estimate:
    """Return the coverage of the sandwich ``[1 - half_width, 1 + half_width]`` for ``H = lambda_min I``, proved.

    The event is then ``||A||_2 <= half_width lambda_min / sigma``; no other matrix with smallest eigenvalue
    ``lambda_min`` has a smaller probability of the sandwich.
    """
    ratio = half_width * check_positive("lambda_min", lambda_min) / check_positive("sigma", sigma)
    low, high = (  # the float64 ratio is within two units in the last place
        goe_norm_exact(dim, ratio * (1.0 + slack), Normalisation.UNIT_OFF_DIAGONAL) for slack in (-4e-16, 4e-16)
    )
    return Estimate.proved(low.low, high.high, low.method)


def _batch_sizes(n_draws: int, dim: int) -> Iterator[int]:
    size = max(1, BATCH_FLOATS // dim**2)
    for start in range(0, n_draws, size):
        yield min(size, n_draws - start)
