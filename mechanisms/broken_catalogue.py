"""Every broken twin beside the claim that it breaks: the conformance suite must fail for each of them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from .adaops_wang2019 import AdaOPS2019, CorrectedRule2019
from .adassp import AdaSSP
from .base import Mechanism, WhiteBox
from .broken.adaops2018_raw_eigenvalue import AdaOPS2018RawEigenvalue
from .broken.adaops2018_understated import adaops2018_understated
from .broken.adaops2019_understated import adaops2019_understated
from .broken.adassp_asymmetric import AdaSSPAsymmetric
from .broken.adassp_raw_eigenvalue import AdaSSPRawEigenvalue
from .broken.composition_shared_noise import CompositionSharedNoise
from .broken.eigenvalue_understated import eigenvalue_understated
from .broken.gaussian_data_precision import GaussianDataPrecision
from .broken.gaussian_small_noise import GaussianSmallNoise
from .broken.gaussian_wrong_norm import GaussianWrongNorm
from .broken.gradient_understated import gradient_understated
from .broken.hessian_half_variance import hessian_half_variance
from .broken.hessian_plain_diagonal import hessian_plain_diagonal
from .broken.hessian_understated import hessian_understated
from .broken.noisy_sgd_unclipped import noisy_sgd_unclipped
from .broken.noisy_sgd_understated import noisy_sgd_understated
from .broken.objective_early_stop import ObjectiveEarlyStop
from .broken.objective_half_noise import ObjectiveHalfNoise
from .broken.objective_no_jacobian import ObjectiveNoJacobian
from .broken.ops_in_sample_leverage import OpsInSampleLeverage
from .broken.ops_no_determinant import OpsNoDeterminant
from .broken.ops_wrong_gamma import OpsWrongGamma
from .broken.ssp_understated import ssp_understated
from .broken.subsample_understated import subsample_understated
from .catalogue import Example, example_pair
from .composition import Composition
from .data import Dataset, FloatArray
from .eigenvalue_release import EigenvalueRelease
from .gaussian_output import GaussianOutput
from .gradient_release import GradientRelease
from .hessian_release import HessianRelease
from .losses import LogisticLoss
from .neighbours import NeighbouringPair
from .noisy_sgd import NoisySGD
from .objective_perturbation import ObjectivePerturbation
from .posterior_sampling import PosteriorSampling
from .ridge import RidgeMap
from .subsample_aggregate import SubsampleAggregate
from .sufficient_statistics import SufficientStatistics


@dataclass(frozen=True)
class Misstated:
    """Draws from ``actual`` and states the density and loss of ``claimed``: how a broken implementation looks."""

    claimed: WhiteBox
    actual: Mechanism

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.actual.name}, stated as {self.claimed.name}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs of ``actual``."""
        return self.actual.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of ``claimed``."""
        return self.claimed.log_density(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss of ``claimed``."""
        return self.claimed.privacy_loss(outputs, pair)


def broken_twins() -> dict[str, Example]:
    """Return every broken mechanism that misstates a density, a loss or a profile, by the name of its file.

    The broken privacy reports are not here: a report is a bound that holds with some probability, and coverage is
    what refutes it.
    """
    linear, labels, cut = example_pair(), example_pair("labels"), {0: 0.0}
    theta, logistic, metric = np.array([0.4, -0.3]), LogisticLoss(), np.array([[2.0, 0.5], [0.5, 1.0]])
    gaussian = GaussianOutput(metric, 30.0, RidgeMap(1.0))
    ops, ssp, adassp = PosteriorSampling(3.0, 1.0), SufficientStatistics(1.2, 1.0), AdaSSP(5.0, 1e-2)
    ada18, ada19 = (
        AdaOPS2018(CorrectedRule2018(10.0, 1e-2)),
        AdaOPS2019(CorrectedRule2019(6.0, 1e-2, kappa=1.0, n_public=31)),
    )
    sgd = NoisySGD(2, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32)
    blocks, both = SubsampleAggregate(4, 3.0, 1.5, lam=0.1), Composition((ssp, ssp), (5, 5))
    objective = ObjectivePerturbation(logistic, 1.5, 1.0)
    hessian, gradient = HessianRelease(theta, logistic, 1.0, 0.2), GradientRelease(theta, logistic, 1.0, 0.6)
    eigenvalue = EigenvalueRelease(theta, logistic, 1.0, 0.05)
    return {
        "adaops2018_raw_eigenvalue": Example(Misstated(ada18, AdaOPS2018RawEigenvalue(ada18)), linear, cut),
        "adaops2018_understated": Example(Misstated(ada18, adaops2018_understated(ada18)), linear, cut),
        "adaops2019_understated": Example(Misstated(ada19, adaops2019_understated(ada19)), linear),
        "adassp_asymmetric": Example(Misstated(adassp, AdaSSPAsymmetric(adassp)), linear, cut),
        "adassp_raw_eigenvalue": Example(Misstated(adassp, AdaSSPRawEigenvalue(adassp)), linear, cut),
        "composition_shared_noise": Example(Misstated(both, CompositionSharedNoise(both)), linear),
        "eigenvalue_understated": Example(
            Misstated(eigenvalue, eigenvalue_understated(theta, logistic, 1.0, 0.05)), labels
        ),
        "gaussian_data_precision": Example(GaussianDataPrecision(3.0, 1.0), linear),
        "gaussian_small_noise": Example(GaussianSmallNoise(gaussian, 0.1), linear),
        "gaussian_wrong_norm": Example(GaussianWrongNorm(gaussian), linear),
        "gradient_understated": Example(Misstated(gradient, gradient_understated(theta, logistic, 1.0, 0.6)), labels),
        "hessian_half_variance": Example(Misstated(hessian, hessian_half_variance(theta, logistic, 1.0, 0.2)), labels),
        "hessian_plain_diagonal": Example(
            Misstated(hessian, hessian_plain_diagonal(theta, logistic, 1.0, 0.2)), labels
        ),
        "hessian_understated": Example(Misstated(hessian, hessian_understated(theta, logistic, 1.0, 0.2)), labels),
        "noisy_sgd_unclipped": Example(Misstated(sgd, noisy_sgd_unclipped(sgd)), linear),
        "noisy_sgd_understated": Example(Misstated(sgd, noisy_sgd_understated(sgd)), linear),
        "objective_early_stop": Example(ObjectiveEarlyStop(objective), labels),
        "objective_half_noise": Example(ObjectiveHalfNoise(objective, 0.1), labels),
        "objective_no_jacobian": Example(ObjectiveNoJacobian(objective), labels),
        "ops_in_sample_leverage": Example(OpsInSampleLeverage(ops, 1.0), example_pair(n_records=6)),
        "ops_no_determinant": Example(OpsNoDeterminant(ops, 1.0), example_pair(n_records=6)),
        "ops_wrong_gamma": Example(OpsWrongGamma(ops, 0.21), linear),
        "ssp_understated": Example(Misstated(ssp, ssp_understated(ssp)), linear),
        "subsample_understated": Example(Misstated(blocks, subsample_understated(blocks)), linear),
    }
