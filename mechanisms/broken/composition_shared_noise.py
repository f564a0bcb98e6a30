"""Broken: two releases composed from one random stream, so that their noise is the same instead of independent."""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np

from ..composition import Composition
from ..data import Dataset, FloatArray


@dataclass(frozen=True)
class CompositionSharedNoise:
    """Draws every part from a copy of the same generator while ``claimed`` is claimed."""

    claimed: Composition

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.claimed.name}, with shared noise"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return transcripts in the layout of ``claimed``."""
        copies = [copy.deepcopy(rng) for _ in self.claimed.parts[1:]]
        streams = [*copies, rng]
        parts = zip(self.claimed.parts, streams, strict=True)
        return np.hstack([part.draw(dataset, n_draws, rng=stream) for part, stream in parts])
