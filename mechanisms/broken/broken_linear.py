"""Broken Gaussian output, one-posterior sampling, sufficient statistics, NoisySGD, and subsample and aggregate."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from ..base import PrivacyProfile, check_nonnegative, check_positive
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..laws.gaussian_profile import GaussianProfile
from ..laws.profile_tools import SwappedProfile
from ..laws.quadratic_profile import QuadraticProfile
from ..linear.gaussian_output import GaussianOutput
from ..linear.noisy_sgd import NoisySGD
from ..linear.posterior_sampling import PosteriorSampling
from ..linear.ridge import RidgeMap, ridge_fit
from ..linear.subsample_aggregate import SubsampleAggregate
from ..linear.sufficient_statistics import SufficientStatistics
from .misstated import Misstated, MisstatedLaw, check_severity, understated


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


def misstatements() -> dict[str, Example]:
    """Return them, each with a pair that shows it."""
    linear, few = example_pair(), example_pair(n_records=6)
    gaussian = GaussianOutput(np.array([[2.0, 0.5], [0.5, 1.0]]), 30.0, RidgeMap(1.0))
    ops, ssp = PosteriorSampling(3.0, 1.0), SufficientStatistics(1.2, 1.0)
    sgd = NoisySGD(2, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32)
    blocks = SubsampleAggregate(4, 3.0, 1.5, lam=0.1)
    return {
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
