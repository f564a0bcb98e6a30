"""Broken AdaOPS, AdaSSP and composition: eigenvalues without noise, too little noise, noise that is shared."""

from __future__ import annotations

import copy
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base import check_draws, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from ..linear.adaops_wang2019 import AdaOPS2019, CorrectedRule2019
from ..linear.adassp import AdaSSP
from ..linear.sufficient_statistics import SufficientStatistics
from ..numerics.spectra import GramSpectrum
from ..numerics.transcripts import triangle_size
from ..releases.composition import Composition
from .misstated import Drawn, Misstated

#: Columns of these transcripts that have an atom.
CUT = {0: 0.0}


def adaops2018_raw_eigenvalue(claimed: AdaOPS2018) -> Drawn:
    """Draws with the exact eigenvalue (shifted and cut as usual), which is shown without noise: beyond repair."""

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        settings, spectrum = claimed.rule.settings(dataset), GramSpectrum.of(dataset)
        noise = rng.standard_normal((check_draws(n_draws), 1 + dataset.dim))
        eigenvalue = np.full(n_draws, max(spectrum.smallest - settings.shift, 0.0))
        lam = settings.lam(eigenvalue)
        spread = settings.unit_shift + settings.unit_sigma * noise[:, 0]
        log_lipschitz = settings.lipschitz_mean(spectrum.ridge(lam)) + settings.step(eigenvalue) * spread
        gamma = claimed.rule.gamma(settings, eigenvalue, log_lipschitz)
        return np.column_stack([eigenvalue, log_lipschitz, spectrum.draw_posterior(lam, gamma, noise[:, 1:])])

    return Drawn("AdaOPS of W18, eigenvalue without noise", sample)


@dataclass(frozen=True)
class UnderstatedRule:
    """The constants of an AdaOPS ``rule`` with every standard deviation divided by ``factor``: also the sample's."""

    rule: Any
    factor: float = 1.1

    def __post_init__(self) -> None:
        check_positive("factor", self.factor)

    @property
    def epsilon(self) -> float:
        """The budget that is claimed."""
        return float(self.rule.epsilon)

    @property
    def delta(self) -> float:
        """The budget that is claimed."""
        return float(self.rule.delta)

    @property
    def standing(self) -> str:
        """Which version this is."""
        return f"noise divided by {self.factor:g}"

    def settings(self, dataset: Dataset) -> Any:
        """Return the constants of one run."""
        right = self.rule.settings(dataset)
        if hasattr(right, "gamma"):  # W19 fixes the sample's temperature before it is drawn
            return replace(right, sigma=right.sigma / self.factor, gamma=right.gamma * self.factor**2)
        return replace(right, sigma=right.sigma / self.factor, unit_sigma=right.unit_sigma / self.factor)

    def gamma(self, settings: Any, eigenvalue: FloatArray, log_lipschitz: FloatArray) -> FloatArray:
        """Return W18's gamma for each draw, ``factor^2`` times too large."""
        return np.asarray(self.factor**2 * self.rule.gamma(settings, eigenvalue, log_lipschitz))


def adassp_asymmetric(claimed: AdaSSP) -> Drawn:
    """Draws with a noise matrix that is filled in full and averaged with its transpose afterwards.

    The entries off the diagonal then have standard deviation ``sigma/sqrt(2)``; those on it are right. For a target on
    a coordinate axis nothing changes; for one off the axes the loss is up to ``sqrt(2)`` times too large.
    """

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        outputs = claimed.draw(dataset, n_draws, rng=rng)
        rows, columns = np.triu_indices(dataset.dim)
        exact = (dataset.X.T @ dataset.X)[rows, columns]
        gram = outputs[:, 1 : 1 + triangle_size(dataset.dim)]
        gram[:] = exact + (gram - exact) * np.where(rows == columns, 1.0, np.sqrt(0.5))
        return outputs

    return Drawn("AdaSSP, noise averaged off the diagonal", sample)


def adassp_raw_eigenvalue(claimed: AdaSSP) -> Drawn:
    """Draws with the exact eigenvalue (shifted and cut as usual): the loss is infinite."""

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        outputs = claimed.draw(dataset, n_draws, rng=rng)
        outputs[:, 0] = max(GramSpectrum.of(dataset).smallest - claimed.scales(dataset).shift, 0.0)
        return outputs

    return Drawn("AdaSSP, eigenvalue without noise", sample)


def composition_shared_noise(claimed: Composition) -> Drawn:
    """Draws every part from a copy of the same generator, so that their noise is the same instead of independent."""

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        streams = [*(copy.deepcopy(rng) for _ in claimed.parts[1:]), rng]
        parts = zip(claimed.parts, streams, strict=True)
        return np.hstack([part.draw(dataset, n_draws, rng=stream) for part, stream in parts])

    return Drawn(f"{claimed.name}, with shared noise", sample)


def misstatements() -> dict[str, Example]:
    """Return them, each with a pair that shows it."""
    linear, ssp = example_pair(), SufficientStatistics(1.2, 1.0)
    ada18 = AdaOPS2018(CorrectedRule2018(10.0, 1e-2))
    ada19 = AdaOPS2019(CorrectedRule2019(6.0, 1e-2, kappa=1.0, n_public=31))
    adassp, both = AdaSSP(5.0, 1e-2), Composition((ssp, ssp), (5, 5))
    return {
        "adaops2018_raw_eigenvalue": Example(Misstated(ada18, adaops2018_raw_eigenvalue(ada18)), linear, CUT),
        "adaops2018_understated": Example(Misstated(ada18, AdaOPS2018(UnderstatedRule(ada18.rule))), linear, CUT),
        "adaops2019_understated": Example(Misstated(ada19, AdaOPS2019(UnderstatedRule(ada19.rule))), linear),
        "adassp_asymmetric": Example(Misstated(adassp, adassp_asymmetric(adassp)), linear, CUT),
        "adassp_raw_eigenvalue": Example(Misstated(adassp, adassp_raw_eigenvalue(adassp)), linear, CUT),
        "composition_shared_noise": Example(Misstated(both, composition_shared_noise(both)), linear),
    }
