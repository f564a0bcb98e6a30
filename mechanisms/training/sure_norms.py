"""How long the gradient of a record can be at any iterate that can be reached, and how short: sure bounds.

The predictor of a record with features of length ``l`` lies within ``radius * l`` of 0 at every iterate in the ball of
that radius, so that the slope of its loss lies between two numbers. Nothing here reads an iterate
(docs/derivations/dp_sgd.md).
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from ..capabilities import Domain
from ..data.dataset import FloatArray
from .batched_steps import LossName

#: Relative room for the rounding of the few operations below, and of a record within its public bounds.
ROOM: Final = 1e-11
#: Values of the norm that serve all records, and how far below the largest they reach.
VALUES, REACH = 64, 1e-3
#: Lengths of features among which the record with the longest sure gradient is looked for.
LENGTHS: Final = 512


def sure_norms(loss: LossName, lengths: FloatArray, responses: FloatArray, radius: float, clip: float) -> FloatArray:
    """Return what the clipped gradient of each record cannot exceed in norm at any reachable iterate, rounded up.

    Parameters
    ----------
    loss : {"squared", "logistic"}
        Half the squared residual, or the logistic loss at labels -1 and +1.
    lengths, responses : arrays of one shape
        Norms of the features, and responses.
    radius : float
        Of the ball that holds all iterates; may be infinite.
    clip : float
        Bound on the norm of a clipped gradient.

    Returns
    -------
    array
        ``l s(radius l)`` with the logistic function ``s``, or ``l (|y| + radius l)``; at most ``clip``.

    Examples
    --------
    >>> sure_norms("logistic", np.array([0.5, 2.0]), np.array([1.0, -1.0]), np.inf, 1.0).round(6).tolist()
    [0.5, 1.0]
    """
    reach = _predictors(lengths, radius)
    with np.errstate(over="ignore"):
        longest = lengths * (expit(reach) if loss == "logistic" else np.abs(responses) + reach)
    return np.asarray(np.where(lengths > 0, np.minimum(longest * (1 + ROOM), clip), 0.0))


def least_norms(loss: LossName, lengths: FloatArray, responses: FloatArray, radius: float) -> FloatArray:
    """Return what the gradient of each record, before it is clipped, surely reaches in norm, rounded down.

    Parameters are those of ``sure_norms``; ``l s(-radius l)``, or ``l (|y| - radius l)`` where that is positive.
    """
    reach = _predictors(lengths, radius)
    slopes = expit(-reach) if loss == "logistic" else np.maximum(np.abs(responses) - reach, 0.0)
    return np.asarray(lengths * slopes * (1 - ROOM))


def _predictors(lengths: FloatArray, radius: float) -> FloatArray:
    """Return how far from 0 the predictor of each record can be."""
    with np.errstate(over="ignore"):
        return lengths * np.where(lengths > 0, radius, 0.0)


def longest_norm(loss: LossName, domain: Domain, radius: float, clip: float) -> float:
    """Return what the clipped gradient of no record of a domain exceeds; ``clip`` where records are not bounded."""
    if not domain.bounded:
        return clip
    return float(sure_norms(loss, np.array([domain.x_bound]), np.array([domain.y_bound]), radius, clip)[0])


def forced_record(loss: LossName, domain: Domain, radius: float) -> tuple[float, float]:
    """Return the features' length, in a bounded domain, of the record whose gradient is surely longest, and that norm.

    Its response is ``y_bound``, or the label 1. The best of ``LENGTHS`` lengths: any of them is such a record.
    """
    lengths = domain.x_bound * np.geomspace(REACH**2, 1.0, LENGTHS)
    norms = least_norms(loss, lengths, np.full(LENGTHS, domain.y_bound), radius)
    best = LENGTHS - 1 - int(np.argmax(norms[::-1]))
    return float(lengths[best]), float(norms[best])


def few_values(norms: FloatArray) -> tuple[FloatArray, NDArray[np.intp]]:
    """Return at most ``VALUES`` increasing norms, and for each record the place of one that is at least its own.

    Records whose norms are few keep them; others have the next of ``VALUES`` in a geometric row up to the largest.
    """
    values, places = np.unique(norms, return_inverse=True)
    if len(values) <= VALUES:
        return values, places
    top = float(values[-1])
    values = np.geomspace(max(float(values[0]), REACH * top), top, VALUES)
    values[-1] = top
    return values, np.searchsorted(values, norms)
