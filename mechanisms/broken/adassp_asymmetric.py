"""Broken: AdaSSP whose noise matrix is filled in full and averaged with its transpose afterwards.

The entries off the diagonal then have standard deviation ``sigma/sqrt(2)``; those on it are right. For a target on a
coordinate axis nothing changes; for one off the axes the loss is up to ``sqrt(2)`` times too large.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..adassp import AdaSSP
from ..data import Dataset, FloatArray
from ..transcripts import triangle_size


@dataclass(frozen=True)
class AdaSSPAsymmetric:
    """Draws with too little noise off the diagonal while ``claimed`` is claimed."""

    claimed: AdaSSP

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "AdaSSP, noise averaged off the diagonal"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent transcripts in the layout of ``claimed``."""
        outputs = self.claimed.draw(dataset, n_draws, rng=rng)
        rows, columns = np.triu_indices(dataset.dim)
        exact = (dataset.X.T @ dataset.X)[rows, columns]
        gram = outputs[:, 1 : 1 + triangle_size(dataset.dim)]
        gram[:] = exact + (gram - exact) * np.where(rows == columns, 1.0, np.sqrt(0.5))
        return outputs
