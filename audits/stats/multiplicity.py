"""Several questions, one failure probability: shares are added up, never repeated."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .intervals import check_failure_prob, check_size


def even_share(failure_prob: float, n: int) -> float:
    """Return what each of ``n`` questions may spend (Bonferroni)."""
    return check_failure_prob(failure_prob) / check_size(n)


def look_share(look: int) -> Fraction:
    """Return the share of look 1, 2, …: ``1 / (look (look + 1))``; all shares add up to 1."""
    k = check_size(look)
    return Fraction(1, k * (k + 1))


def holm_rejections(p_values: ArrayLike, failure_prob: float) -> NDArray[np.bool_]:
    """Return which hypotheses Holm's step-down method rejects, whatever the dependence between them.

    The probability of rejecting any true hypothesis is at most ``failure_prob`` (Holm 1979).

    Parameters
    ----------
    p_values : (n,) array_like
        Each in [0, 1].
    failure_prob : float
        In (0, 1).

    Returns
    -------
    (n,) array of bool
        True where the hypothesis is rejected.

    Raises
    ------
    ValueError
        If ``p_values`` is empty or leaves [0, 1].

    References
    ----------
    Holm, A simple sequentially rejective multiple test procedure, Scand. J. Statist. 6 (1979).

    Examples
    --------
    >>> from audits import holm_rejections
    >>> holm_rejections([0.01, 0.04, 0.03], 0.05).tolist()
    [True, False, False]
    """
    from statsmodels.stats.multitest import multipletests

    values = np.asarray(p_values, dtype=np.float64)
    if values.ndim != 1 or values.size == 0 or not ((values >= 0) & (values <= 1)).all():
        raise ValueError(f"p_values must be a non-empty vector in [0, 1], got shape={values.shape}")
    reject = multipletests(values, alpha=check_failure_prob(failure_prob), method="holm")[0]
    return np.asarray(reject, dtype=np.bool_)
