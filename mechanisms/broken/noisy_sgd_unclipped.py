"""Broken: NoisySGD that does not clip its gradients; a record far from the fit moves a step by more than claimed."""

from __future__ import annotations

import math
from dataclasses import replace

from ..noisy_sgd import NoisySGD


def noisy_sgd_unclipped(claimed: NoisySGD) -> NoisySGD:
    """Return the law that is really drawn from when ``claimed`` is claimed."""
    return replace(claimed, clip=math.inf)
