"""What a reader of a FAIL asks first: how large epsilon is at least, on which data sets, and the likely cause."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms.data.dataset import FloatArray

from ..black_box.claims import PrivacyClaim
from .witnesses import Witness

#: Witnesses whose lower end bounds epsilon at the claimed delta.
BY_FRESH_LAW = "each data set in a fresh process: epsilon by the stated law"
BOUNDS = ("black box: epsilon", "epsilon by the stated law", BY_FRESH_LAW)
#: Ratio of the spreads of the two samples, and their distance in standard deviations, from which a cause is named.
SPREAD, SHIFT = 1.25, 0.04


@dataclass(frozen=True)
class Violation:
    """A refuted claim in numbers.

    Attributes
    ----------
    claimed : str
        The claim in words.
    epsilon : float
        The true epsilon at ``delta`` is at least this (natural log); nan where no number is known.
    delta : float
        The claimed delta, or that of the point at which a claimed curve is shown.
    failure_prob : float
        With which the bound may be wrong; 0 where it is proved.
    pair : str
        The two data sets, in words.
    cause : str
        The likely cause; empty where the shape of the finding tells none.
    """

    claimed: str
    epsilon: float
    delta: float
    failure_prob: float
    pair: str
    cause: str = ""


def least_epsilon(witnesses: Sequence[Witness]) -> float:
    """Return the largest lower bound on epsilon at the claimed delta among sound witnesses; nan where there is none."""
    lows = [w.estimate.low for w in witnesses if w.about in BOUNDS]
    return max((low for low in lows if low > 0), default=math.nan)


def claimed_words(claim: PrivacyClaim) -> str:
    """Return what is claimed: a point by its two numbers, a curve by its name."""
    if claim.curve is not None:
        return claim.sentence
    return f"epsilon {claim.epsilon:.6g}" + (f" at delta {claim.delta:.6g}" if claim.delta else "")


def likely_cause(rows: tuple[FloatArray, FloatArray], pair: Any, refused: Sequence[str]) -> str:
    """Return what probably causes a violation, read off the shape of two samples; it decides nothing.

    Parameters
    ----------
    rows : two (n, k) arrays
        Encoded outputs of the first and the second data set.
    refused : sequence of str
        Why each data set was refused at every draw; empty where it was accepted.
    """
    if any(refused):
        return "the mechanism refuses one of the two data sets"
    for first, second in zip(rows[0].T, rows[1].T, strict=True):
        cause = _of_column(first, second, pair)
        if cause:
            return cause
    return ""


def _of_column(first: FloatArray, second: FloatArray, pair: Any) -> str:
    if not (np.isfinite(first).all() and np.isfinite(second).all() and first.size and second.size):
        return "the kind of output (a type, a key, a size, an error) depends on the data"
    quartiles = [np.quantile(side, (0.25, 0.5, 0.75)) for side in (first, second)]
    spreads = [float(q[2] - q[0]) / 1.349 for q in quartiles]
    shift = abs(float(quartiles[0][1] - quartiles[1][1]))
    if max(spreads) == 0.0:
        return "most outputs carry no noise" if shift else ""
    if min(spreads) == 0.0:
        return "the amount of noise depends on the data: one of the two samples hardly varies"
    ratio = max(spreads) / min(spreads)
    sizes = sorted((pair.first.n_records, pair.second.n_records))
    if sizes[0] and sizes[0] != sizes[1] and abs(ratio / (sizes[1] / sizes[0]) - 1) < 0.03 and ratio > 1 + SHIFT:
        return (
            f"the noise is divided by the number of records, which differs between neighbours ({sizes[0]}, {sizes[1]})"
        )
    if ratio > SPREAD:
        return f"the amount of noise depends on the data: its spread is {ratio:.2g} times as large on one of the two"
    if shift > SHIFT * min(spreads):
        return (
            f"one record moves the output by {shift / min(spreads):.2g} standard deviations of its noise: the "
            "sensitivity is larger than the noise allows for"
        )
    return ""
