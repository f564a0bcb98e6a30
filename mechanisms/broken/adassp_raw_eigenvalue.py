"""Broken beyond repair: AdaSSP that releases the smallest eigenvalue without noise (its loss is infinite)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..adassp import AdaSSP
from ..data import Dataset, FloatArray
from ..spectra import GramSpectrum


@dataclass(frozen=True)
class AdaSSPRawEigenvalue:
    """Draws with the exact eigenvalue (shifted and cut as usual) while ``claimed`` is claimed."""

    claimed: AdaSSP

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "AdaSSP, eigenvalue without noise"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent transcripts in the layout of ``claimed``."""
        outputs = self.claimed.draw(dataset, n_draws, rng=rng)
        outputs[:, 0] = max(GramSpectrum.of(dataset).smallest - self.claimed.scales(dataset).shift, 0.0)
        return outputs
