"""What every record of the data means to the deployment, in one vectorised pass: per-instance and ex-post losses.

Each function is checked in the tests against ``privacy_loss`` and ``profile`` of one pair at a time.
"""

from __future__ import annotations

from weakref import WeakKeyDictionary

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
from mechanisms.leverage import record_quantities
from mechanisms.record_laws import batched_laws, ridge_shifts
from mechanisms.ridge import RidgeMap
from mechanisms.sufficient_statistics import SufficientStatistics
from mechanisms.transcripts import pack_triangle

from .mechanism_source import law_of, white_box_of

#: Records handled together, and numbers in the largest temporary array where records have many features.
CHUNK, FLOATS = 20_000, 4_000_000
#: Most records for which a mechanism without a vectorised form is asked one by one.
ONE_BY_ONE = 2_000
#: The last answer about each data set that is still in use: checks and figures of a claim ask the same.
_LAST: WeakKeyDictionary[Dataset, tuple[object, float, FloatArray]] = WeakKeyDictionary()


def record_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the exact per-instance epsilon of every record at ``delta`` (worse direction), or None where unknown.

    Parameters
    ----------
    delta : float
        In (0, 1).

    Of more than 65,536 records the largest is exact, and those below are interpolated between exact values.

    Returns
    -------
    (n_records,) array or None
    """
    found = _batched(mechanism, dataset, delta)
    if found is not None:
        return found
    law = law_of(mechanism)
    if law is None or dataset.n_records > ONE_BY_ONE:
        return None
    profiles = (law(NeighbouringPair.remove(dataset, i)) for i in range(dataset.n_records))
    return np.array([max(p.epsilon_at(delta, d) for d in BOTH) for p in profiles])


def _batched(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the same from one vectorised pass, kept for the next question about these records; None without such a pass."""
    known = _LAST.get(dataset)
    if known is not None and known[0] is mechanism and known[1] == delta:
        return known[2]
    laws = batched_laws(mechanism, dataset)
    if laws is None:
        return None
    found = laws.worse_epsilon_at(delta)
    found.setflags(write=False)
    _LAST[dataset] = (mechanism, delta, found)
    return found


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
            noise = (output - mechanism.estimator(dataset)) @ mechanism.factor
            losses = np.empty(dataset.n_records)
            for part, shifts in ridge_shifts(mechanism.estimator.lam, dataset):
                shift = shifts @ mechanism.factor
                losses[part] = mechanism.gamma * (0.5 * np.einsum("ij,ij->i", shift, shift) - shift @ noise)
            return losses
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
    chunk = max(1, min(CHUNK, FLOATS // dataset.dim**2))
    for start in range(0, dataset.n_records, chunk):
        X, y = dataset.X[start : start + chunk], dataset.y[start : start + chunk]
        added = np.column_stack([pack_triangle(X[:, :, None] * X[:, None, :]), X * y[:, None]]) / sigmas
        # the mean moves by -added: loss = |added|^2/2 + noise . added
        losses[start : start + chunk] = 0.5 * np.einsum("ij,ij->i", added, added) + added @ noise
    return losses
