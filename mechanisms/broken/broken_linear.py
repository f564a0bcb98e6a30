"""Broken linear mechanisms: too little noise, eigenvalues without any, laws and densities with a term forgotten."""

from __future__ import annotations

import copy
import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ..base import PrivacyProfile, check_draws, check_nonnegative, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..laws.gaussian_profile import GaussianProfile
from ..laws.profile_tools import SwappedProfile
from ..laws.quadratic_profile import QuadraticProfile
from ..linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from ..linear.adaops_wang2019 import AdaOPS2019, CorrectedRule2019
from ..linear.adassp import AdaSSP
from ..linear.gaussian_output import GaussianOutput
from ..linear.noisy_sgd import NoisySGD
from ..linear.posterior_sampling import PosteriorSampling
from ..linear.ridge import RidgeMap, ridge_fit
from ..linear.subsample_aggregate import SubsampleAggregate
from ..linear.sufficient_statistics import SufficientStatistics
from ..numerics.spectra import GramSpectrum
from ..numerics.transcripts import triangle_size
from ..releases.composition import Composition
from .misstated import Drawn, Misstated, MisstatedLaw, check_severity, understated


def gaussian_data_precision(gamma: float, lam: float) -> MisstatedLaw:
    """Draws ``N(theta_hat, H^{-1}/gamma)``; losses and law use the ``H`` of ``D`` for both data sets (W19-E3.2, S4.A3).

    How wrong that is grows with the leverage of the target: the two covariances differ by the factor ``1 + mu`` in one
    direction.
    """
    right = PosteriorSampling(gamma, lam)

    def claimed(dataset: Dataset) -> GaussianOutput:
        hessian = dataset.X.T @ dataset.X + lam * np.eye(dataset.dim)
        return GaussianOutput(0.5 * (hessian + hessian.T), gamma, RidgeMap(lam))

    return MisstatedLaw(
        right,
        right,
        f"output perturbation with the data's own precision (gamma={gamma:g}, lam={lam:g})",
        loss=lambda outputs, pair: claimed(pair.first).privacy_loss(outputs, pair),
        law=lambda pair: GaussianProfile(math.sqrt(gamma) * claimed(pair.first).sensitivity(pair)),
    )


def gaussian_small_noise(claimed: GaussianOutput, severity: float) -> MisstatedLaw:
    """Adds noise divided by ``1 + severity``."""
    actual = replace(claimed, gamma=claimed.gamma * (1 + check_nonnegative("severity", severity)) ** 2)
    label = f"Gaussian output perturbation, noise divided by {1 + severity:g}"
    return MisstatedLaw(claimed, actual, label, law=claimed.profile)


def gaussian_wrong_norm(right: GaussianOutput) -> MisstatedLaw:
    """States ``mu`` as ``sqrt(gamma)`` times the Euclidean norm of the change (W19-L2.4 has A's)."""

    def law(pair: NeighbouringPair) -> PrivacyProfile:
        return GaussianProfile(math.sqrt(right.gamma) * float(np.linalg.norm(right.estimator.shift(pair))))

    return MisstatedLaw(right, right, "Gaussian output perturbation, Euclidean sensitivity", law=law)


def ops_wrong_gamma(claimed: PosteriorSampling, severity: float) -> MisstatedLaw:
    """Draws with ``gamma * (1 + severity)``; 1 takes ``exp(-gamma ...)`` for ``exp(-gamma/2 ...)``."""
    actual = replace(claimed, gamma=claimed.gamma * (1 + check_nonnegative("severity", severity)))
    label = f"one-posterior sampling, gamma {1 + severity:g} times too large"
    return MisstatedLaw(claimed, actual, label, law=claimed.profile)


def ops_in_sample_leverage(right: PosteriorSampling, severity: float) -> MisstatedLaw:
    """States a law with ``mu/(1 + mu)^severity`` and ``a/(1 + mu)^severity`` for ``mu`` and ``a``: it is too good.

    ``severity = 1`` takes both in sample, the confusion of (4.3) with (4.4) of W19-T4.1.
    """
    check_severity(severity)

    def law(pair: NeighbouringPair) -> PrivacyProfile:
        leverage, scaled = right.target(pair)
        shrink = (1 + leverage) ** severity
        inner = QuadraticProfile(leverage / shrink, scaled / shrink)
        return inner if pair.relation is Relation.ADD else SwappedProfile(inner)

    return MisstatedLaw(right, right, f"one-posterior sampling, law stated in sample (severity {severity:g})", law=law)


def ops_no_determinant(right: PosteriorSampling, severity: float) -> Misstated:
    """Leaves the share ``severity`` of ``log det H / 2`` out of the density.

    The loss is then off by ``severity * log(1 + leverage) / 2``, the term that W19-T4.1 has inside its absolute value.
    """
    check_severity(severity)

    def density(outputs: FloatArray, dataset: Dataset) -> FloatArray:
        missing = 0.5 * severity * ridge_fit(dataset, right.lam).log_det
        return np.asarray(right.log_density(outputs, dataset) - missing)

    def loss(outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        shift = pair.sign * 0.5 * severity * math.log1p(right.target(pair)[0])
        return np.asarray(right.privacy_loss(outputs, pair) + shift)

    label = f"one-posterior sampling, {severity:.0%} of the determinant forgotten"
    return Misstated(right, right, label, density, loss)


def subsample_understated(claimed: SubsampleAggregate, *, factor: float = 1.1) -> SubsampleAggregate:
    """Return the law with Laplace noise divided by ``factor``.

    With ``factor`` equal to the dimension it is the common mistake of calibrating each coordinate as if it were alone.
    """
    return replace(claimed, epsilon=claimed.epsilon * check_positive("factor", factor))


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
    linear, few = example_pair(), example_pair(n_records=6)
    gaussian = GaussianOutput(np.array([[2.0, 0.5], [0.5, 1.0]]), 30.0, RidgeMap(1.0))
    ops, ssp = PosteriorSampling(3.0, 1.0), SufficientStatistics(1.2, 1.0)
    sgd = NoisySGD(2, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32)
    blocks = SubsampleAggregate(4, 3.0, 1.5, lam=0.1)
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
        "gaussian_data_precision": Example(gaussian_data_precision(3.0, 1.0), linear),
        "gaussian_small_noise": Example(gaussian_small_noise(gaussian, 0.1), linear),
        "gaussian_wrong_norm": Example(gaussian_wrong_norm(gaussian), linear),
        "noisy_sgd_unclipped": Example(Misstated(sgd, replace(sgd, clip=math.inf)), linear),
        "noisy_sgd_understated": Example(Misstated(sgd, understated(sgd, "sigma")), linear),
        "ops_in_sample_leverage": Example(ops_in_sample_leverage(ops, 1.0), few),
        "ops_no_determinant": Example(ops_no_determinant(ops, 1.0), few),
        "ops_wrong_gamma": Example(ops_wrong_gamma(ops, 0.21), linear),
        "ssp_understated": Example(Misstated(ssp, understated(ssp, "sigma_gram", "sigma_moment")), linear),
        "subsample_understated": Example(Misstated(blocks, subsample_understated(blocks)), linear),
    }
