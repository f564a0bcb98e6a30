"""What every record of the data means to the deployment, in one vectorised pass: per-instance and ex-post losses.

Each function is checked in the tests against ``privacy_loss`` and ``profile`` of one pair at a time.
"""

from __future__ import annotations

import math

import numpy as np

from mechanisms import (
    BOTH,
    Dataset,
    GaussianOutput,
    NeighbouringPair,
    ObjectivePerturbation,
    PosteriorSampling,
)
from mechanisms.data import FloatArray
from mechanisms.gaussian_calibration import gaussian_epsilons
from mechanisms.leverage import all_records_epsilon, record_quantities
from mechanisms.ridge import RidgeMap, ridge_fit
from mechanisms.sufficient_statistics import SufficientStatistics
from mechanisms.transcripts import pack_triangle

from .mechanism_source import law_of, white_box_of

#: Records handled together.
CHUNK = 20_000
#: Most records for which a mechanism without a vectorised form is asked one by one.
ONE_BY_ONE = 2_000


def record_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the exact per-instance epsilon of every record at ``delta`` (worse direction), or None where unknown.

    Parameters
    ----------
    delta : float
        In (0, 1).

    Returns
    -------
    (n_records,) array or None
    """
    match mechanism:
        case PosteriorSampling():
            return all_records_epsilon(dataset, gamma=mechanism.gamma, lam=mechanism.lam, delta=delta).both
        case SufficientStatistics():
            return gaussian_epsilons(_sufficient_mu(mechanism, dataset), delta)
        case GaussianOutput() if isinstance(mechanism.estimator, RidgeMap):
            moved = _ridge_shifts(mechanism.estimator.lam, dataset) @ mechanism.factor
            return gaussian_epsilons(math.sqrt(mechanism.gamma) * np.linalg.norm(moved, axis=1), delta)
    law = law_of(mechanism)
    if law is None or dataset.n_records > ONE_BY_ONE:
        return None
    profiles = (law(NeighbouringPair.remove(dataset, i)) for i in range(dataset.n_records))
    return np.array([max(p.epsilon_at(delta, d) for d in BOTH) for p in profiles])


def _sufficient_mu(mechanism: SufficientStatistics, dataset: Dataset) -> FloatArray:
    X, y = dataset.X, dataset.y
    square = np.einsum("ij,ij->i", X, X)
    packed = 0.5 * (square**2 + np.einsum("ij,ij,ij,ij->i", X, X, X, X))  # sum over i <= j of x_i^2 x_j^2
    return np.asarray(np.sqrt(packed / mechanism.sigma_gram**2 + square * y**2 / mechanism.sigma_moment**2))


def _ridge_shifts(lam: float, dataset: Dataset) -> FloatArray:
    """Return what leaving each record out adds to the ridge estimate, shape ``(n_records, dim)``."""
    fit, records = ridge_fit(dataset, lam), record_quantities(dataset, lam)
    return -fit.solve(dataset.X) * records.residual_out[:, None]


def ex_post_losses(mechanism: object, output: FloatArray, dataset: Dataset) -> FloatArray | None:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of every record at one output, shape ``(n_records,)``, or None."""
    match mechanism:
        case ObjectivePerturbation():
            return mechanism.ex_post_losses(output, dataset)
        case PosteriorSampling():
            records = record_quantities(dataset, mechanism.lam)
            with np.errstate(divide="ignore"):
                log_det = np.log1p(-records.leverage_in)
            gain = records.residual_in * records.residual_out - np.square(dataset.y - dataset.X @ output)
            return np.asarray(-0.5 * log_det + 0.5 * mechanism.gamma * gain)
        case GaussianOutput() if isinstance(mechanism.estimator, RidgeMap):
            shift = _ridge_shifts(mechanism.estimator.lam, dataset) @ mechanism.factor
            noise = (output - mechanism.estimator(dataset)) @ mechanism.factor
            return np.asarray(mechanism.gamma * (0.5 * np.einsum("ij,ij->i", shift, shift) - shift @ noise))
        case SufficientStatistics():
            return _sufficient_losses(mechanism, output, dataset)
    white_box = white_box_of(mechanism)
    if white_box is None or dataset.n_records > ONE_BY_ONE:
        return None
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return np.array([float(white_box.privacy_loss(output[None], pair)[0]) for pair in pairs])


def _sufficient_losses(mechanism: SufficientStatistics, output: FloatArray, dataset: Dataset) -> FloatArray:
    sigmas = mechanism.sigmas(dataset.dim)
    noise = (output - mechanism.mean(dataset)) / sigmas
    losses = np.empty(dataset.n_records)
    for start in range(0, dataset.n_records, CHUNK):
        X, y = dataset.X[start : start + CHUNK], dataset.y[start : start + CHUNK]
        added = np.column_stack([pack_triangle(X[:, :, None] * X[:, None, :]), X * y[:, None]]) / sigmas
        # the mean moves by -added: loss = |added|^2/2 + noise . added
        losses[start : start + CHUNK] = 0.5 * np.einsum("ij,ij->i", added, added) + added @ noise
    return losses
