"""Broken beyond repair: W18's AdaOPS with the smallest eigenvalue used and shown without noise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..adaops_wang2018 import AdaOPS2018
from ..base import check_draws
from ..data import Dataset, FloatArray
from ..spectra import GramSpectrum


@dataclass(frozen=True)
class AdaOPS2018RawEigenvalue:
    """Draws with the exact eigenvalue (shifted and cut as usual) while ``claimed`` is claimed."""

    claimed: AdaOPS2018

    @property
    def name(self) -> str:
        """Short name for reports."""
        return "AdaOPS of W18, eigenvalue without noise"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent transcripts in the layout of ``claimed``."""
        settings, spectrum = self.claimed.rule.settings(dataset), GramSpectrum.of(dataset)
        noise = rng.standard_normal((check_draws(n_draws), 1 + dataset.dim))
        eigenvalue = np.full(n_draws, max(spectrum.smallest - settings.shift, 0.0))
        lam = settings.lam(eigenvalue)
        spread = settings.unit_shift + settings.unit_sigma * noise[:, 0]
        log_lipschitz = settings.lipschitz_mean(spectrum.ridge(lam)) + settings.step(eigenvalue) * spread
        gamma = self.claimed.rule.gamma(settings, eigenvalue, log_lipschitz)
        return np.column_stack([eigenvalue, log_lipschitz, spectrum.draw_posterior(lam, gamma, noise[:, 1:])])
