"""Broken objective perturbation: a solver that stops early, too little noise, a density without its Jacobian."""

from __future__ import annotations

import math

import numpy as np

from ..base import check_draws
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..objective.losses import LogisticLoss
from ..objective.objective_perturbation import ObjectivePerturbation
from .misstated import Drawn, Misstated, check_severity


def objective_early_stop(claimed: ObjectivePerturbation, severity: float = 1.0) -> Misstated:
    """Releases what lies a fraction ``severity`` of the way back from the minimiser to the first Newton iterate.

    A stand-in for a solver that is stopped early. The density is still that of the exact minimiser, so noise recovered
    by ``b = -grad J`` is not the noise that was drawn.
    """
    check_severity(severity)

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        noise = claimed.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        objective, origin = claimed.objective(dataset), np.zeros((1, dataset.dim))
        first = -np.linalg.solve(objective.hessian(origin)[0], (objective.gradient(origin) + noise).T).T
        return np.asarray(severity * first + (1 - severity) * claimed.solve(dataset, noise))

    label = f"{claimed.name} stopped early ({severity:g})"
    return Misstated(claimed, Drawn(label, sample), label)


def objective_half_noise(claimed: ObjectivePerturbation, severity: float = 0.5) -> Misstated:
    """Adds ``1 - severity`` times the noise that it accounts for; one half doubles the loss from the gradient."""
    if not 0 <= severity < 1:
        raise ValueError(f"severity must be in [0, 1), got severity={severity}")

    def sample(dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        noise = (1 - severity) * claimed.sigma * rng.standard_normal((check_draws(n_draws), dataset.dim))
        return claimed.solve(dataset, noise)

    label = f"{claimed.name} with noise times {1 - severity:g}"
    return Misstated(claimed, Drawn(label, sample), label)


def objective_no_jacobian(claimed: ObjectivePerturbation) -> Misstated:
    """Leaves ``log det grad^2 J`` out, so that the density does not integrate to one and the loss lacks a term.

    The missing term of the loss is ``log(1 +- f'' mu)``, at most ``log(1 + beta/lam)``.
    """

    def density(outputs: FloatArray, dataset: Dataset) -> FloatArray:
        noise, sigma = claimed.noise(outputs, dataset), claimed.sigma
        log_norm = dataset.dim * math.log(sigma * math.sqrt(2.0 * math.pi))
        return np.asarray(-0.5 * np.square(noise / sigma).sum(axis=1) - log_norm)

    return Misstated(
        claimed,
        claimed,
        f"{claimed.name} without the Jacobian",
        density,
        lambda outputs, pair: density(outputs, pair.first) - density(outputs, pair.second),
    )


def misstatements() -> dict[str, Example]:
    """Return them, each with a pair that shows it."""
    claimed, labels = ObjectivePerturbation(LogisticLoss(), 1.5, 1.0), example_pair("labels")
    return {
        "objective_early_stop": Example(objective_early_stop(claimed), labels),
        "objective_half_noise": Example(objective_half_noise(claimed, 0.1), labels),
        "objective_no_jacobian": Example(objective_no_jacobian(claimed), labels),
    }
