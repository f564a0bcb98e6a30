"""What a reader of a FAIL asks first: how large epsilon is at least, on which data sets, and the likely cause."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray

from ..black_box.claims import PrivacyClaim
from ..subject.output_leaves import SYMBOLS
from .witnesses import Witness

#: Witnesses whose lower end bounds epsilon at the claimed delta.
BY_FRESH_LAW = "each data set in a fresh process: epsilon by the stated law"
BOUNDS = ("black box: epsilon", "epsilon by the stated law", BY_FRESH_LAW)
#: Ratio of two spreads from which it is named, and how near it must be to that of the numbers of records.
SPREAD, NEAR = 1.25, 0.1
#: Probabilities of the tails that are looked at.
SHARES = (0.05, 0.1, 0.25)
#: Factor over the claimed epsilon of which three digits show something.
LARGER = 1.01
KIND = "the kind of output (a type, a key, a size, a text, an error) depends on the data"
#: A broken part of the contract -> the cause in words; what is not here may have nothing to do with it.
BROKEN = {
    "outputs do not repeat from call to call": "the same outputs come again in other calls, as without noise, with a "
    "fixed seed, or with noise that was made beforehand",
    "rows of one call are independent": "outputs of one call depend on each other",
    "one law whatever the call": "outputs depend on the call: on how many it asks for, or on what was called before",
    "outputs do not depend on what was called before": "something is remembered between calls: in fresh processes the "
    "outputs have another law",
}


@dataclass(frozen=True)
class Violation:
    """A refuted claim in numbers.

    Attributes
    ----------
    claimed : str
        The claim in words.
    epsilon : float
        The true epsilon at ``delta`` is at least this (natural log); nan where none larger than the claimed is known.
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


def least_epsilon(witnesses: Sequence[Witness], claim: PrivacyClaim) -> float:
    """Return the largest lower bound on epsilon at the claimed delta among sound witnesses.

    It is nan where it is hardly larger than the claimed epsilon, and would be printed as the same number.
    """
    least = max((w.estimate.low for w in witnesses if w.about in BOUNDS), default=0.0)
    return least if least > LARGER * claim.epsilon else math.nan


def claimed_words(claim: PrivacyClaim) -> str:
    """Return what is claimed: a point by its two numbers, a curve by its name."""
    if claim.curve is not None:
        return claim.sentence
    return f"epsilon {claim.epsilon:.6g}" + (f" at delta {claim.delta:.6g}" if claim.delta else "")


def likely_cause(rows: tuple[FloatArray, FloatArray], pair: Any, refused: Sequence[str], claim: PrivacyClaim) -> str:
    """Return what probably causes a violation, read off two samples; it decides nothing.

    Only what would refute the claim on its own is named: whoever leaks by a digit has noise enough.

    Parameters
    ----------
    rows : two (n, k) arrays
        Encoded outputs of the first and the second data set.
    refused : sequence of str
        Why each data set was refused at every draw; empty where it was accepted.
    """
    if any(refused):
        return "the mechanism refuses one of the two data sets"
    columns = list(zip(rows[0].T, rows[1].T, strict=True))
    kinds = [(_is_symbol(first), _is_symbol(second)) for first, second in columns]
    if any(_tells(first, second, claim) for first, second in kinds):
        return KIND
    for column, kind in zip(columns, kinds, strict=True):
        if all(map(_constant, column)) and not np.array_equal(column[0][:1], column[1][:1], equal_nan=True):
            return KIND if any(each.any() for each in kind) else "a number in the output carries no noise"
    causes = (_of_noise(first, second, pair, claim) for first, second in columns)
    return next((cause for cause in causes if cause), "")


def _of_noise(first: FloatArray, second: FloatArray, pair: Any, claim: PrivacyClaim) -> str:
    """Return the cause that the spread and the place of two samples of a number tell."""
    if (_varies(first) and _constant(second)) or (_varies(second) and _constant(first)):
        return "the amount of noise depends on the data: one of the two samples does not vary"
    if not (_varies(first) and _varies(second)):
        return ""
    centred = [side - np.median(side) for side in (first, second)]
    spreads = [float(np.subtract(*np.quantile(side, (0.75, 0.25)))) / 1.349 for side in centred]
    ratio = max(spreads) / min(spreads)
    if ratio > SPREAD and _tails_tell(np.abs(centred[0]), np.abs(centred[1]), claim):
        sizes = sorted(len(side.y) for side in (pair.first, pair.second))
        divided = sizes[0] > 0 and abs(ratio * sizes[0] / sizes[1] - 1) < NEAR
        return (
            f"the amount of noise depends on the data: its spread is {ratio:.2g} times as large on one of the two"
            + (", as if it were divided by the number of records" if divided else "")
        )
    if _tails_tell(first, second, claim) or _tails_tell(-first, -second, claim):
        apart = getattr(pair, "distance", 1)
        moved = "one record moves" if apart == 1 else f"{apart} records move"
        shift = abs(float(np.median(first) - np.median(second))) / min(spreads)
        return (
            f"{moved} the output by {shift:.2g} standard deviations of its noise: too little noise, or a larger "
            "sensitivity than was thought"
        )
    return ""


def _is_symbol(column: FloatArray) -> NDArray[np.bool_]:
    """Return where there is something else than a number: nothing, a text, another size, NaN."""
    return ~np.isfinite(column) | ((column >= SYMBOLS) & (column < 2 * SYMBOLS))


def _constant(column: FloatArray) -> bool:
    return column.size > 0 and bool((column == column[0]).all())


def _varies(column: FloatArray) -> bool:
    """Return whether these are numbers that hardly repeat, so that their quantiles say how much noise there is."""
    return not _is_symbol(column).any() and np.unique(column).size > 0.9 * column.size > 0


def _tails_tell(first: FloatArray, second: FloatArray, claim: PrivacyClaim) -> bool:
    """Return whether being large alone would refute the claim, unless that is rare: rare outputs leak in other ways."""
    for level in [np.quantile(side, 1 - share) for side in (first, second) for share in SHARES]:
        low, high = sorted([float((first > level).mean()), float((second > level).mean())])
        if (low >= SHARES[0] / 2 or high >= SHARES[-1] / 2) and _tells(first > level, second > level, claim):
            return True
    return False


def _tells(first: NDArray[np.bool_], second: NDArray[np.bool_], claim: PrivacyClaim) -> bool:
    """Return whether an event alone would refute the claim, its frequencies taken three standard errors off."""
    ends = []
    for hits in (first, second):
        share = float(hits.mean())
        error = 3 * math.sqrt(max(share * (1 - share), 1 / hits.size) / hits.size)
        ends.append((share - error, share + error))
    factor = math.exp(min(claim.epsilon, 700.0))
    return max(ends[0][0] - factor * ends[1][1], ends[1][0] - factor * ends[0][1]) > claim.delta
