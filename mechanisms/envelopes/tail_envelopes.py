"""An event that holds a rare tail of the privacy loss, with known probability: rare-event sampling draws inside it.

Derivations: docs/derivations/rare_events.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ..data.dataset import FloatArray


@dataclass(frozen=True)
class Envelope:
    """An event E that contains ``{L > epsilon}``, with known probability.

    Attributes
    ----------
    epsilon : float
        The threshold (natural log).
    log_mass : float
        ``log P(E)``, exact up to rounding.
    losses : callable
        ``losses(n, rng)`` returns ``n`` independent privacy losses given E, shape ``(n,)``.
    """

    epsilon: float
    log_mass: float
    losses: Callable[[int, np.random.Generator], FloatArray]

    def __post_init__(self) -> None:
        if not self.log_mass <= 0:
            raise ValueError(f"log_mass must be at most 0, got log_mass={self.log_mass}")
