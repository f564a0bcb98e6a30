"""Broken by degrees: NoisySGD with noise ``sigma / factor``."""

from __future__ import annotations

from dataclasses import replace

from ..base import check_positive
from ..noisy_sgd import NoisySGD


def noisy_sgd_understated(claimed: NoisySGD, *, factor: float = 1.1) -> NoisySGD:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    return replace(claimed, sigma=claimed.sigma / check_positive("factor", factor))
