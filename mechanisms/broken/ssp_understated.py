"""Broken by degrees: sufficient statistics perturbation with noise divided by ``factor`` (``mu`` times ``factor``)."""

from __future__ import annotations

from ..base import check_positive
from ..sufficient_statistics import SufficientStatistics


def ssp_understated(claimed: SufficientStatistics, *, factor: float = 1.1) -> SufficientStatistics:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    factor = check_positive("factor", factor)
    return SufficientStatistics(claimed.sigma_gram / factor, claimed.sigma_moment / factor, claimed.lam)
