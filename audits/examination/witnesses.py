"""What an examination says about one pair: numbers with intervals, what each may decide, and a FAIL in numbers."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mechanisms.base import Bracket, Direction
from mechanisms.data.dataset import FloatArray

from ..black_box.claims import PrivacyClaim
from ..estimate import Estimate
from ..harness.output_leaves import SYMBOLS
from ..verdict import CheckOutcome, CheckResult, CheckRole, Stated

Note = str | float | int


class StatedProfile(Protocol):
    """What a mechanism states about every pair of data sets: delta is at most this."""

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the stated bound on delta(epsilon)."""
        ...

    def delta_bracket(self, epsilon: float, direction: Direction) -> Bracket:
        """Return a proved enclosure of it."""
        ...


@dataclass(frozen=True)
class Witness:
    """One number about one pair, the interval that the claim (or the stated law) allows for it, and what was found."""

    about: str  #: who says so: "black box", "stated law, first data set", "exact law", …
    role: CheckRole
    quantity: str  #: what the number is, with its unit where it has one
    #: the allowed interval
    low: float
    high: float
    #: at least one; they must agree where both are there
    exact: Estimate | None = None
    sampled: Estimate | None = None
    words: str = ""  #: the event, or how the number was made, in words
    #: numbers beside it (hits on each side, p-value, direction)
    notes: Mapping[str, Note] = field(default_factory=dict)
    #: the statement of the mechanism about itself that a witness of role ``STATES`` is about
    tests: Stated | None = None
    rests_on: tuple[Stated, ...] = ()  #: the statements that the number was computed with

    def __post_init__(self) -> None:
        if self.exact is None and self.sampled is None:
            raise ValueError("a witness must have an estimate, got neither exact nor sampled")

    @property
    def estimate(self) -> Estimate:
        """What decides: the exact estimate where there is one."""
        number = self.exact if self.exact is not None else self.sampled
        assert number is not None
        return number

    @property
    def consistent(self) -> bool:
        """Whether the exact and the sampled estimate overlap (true when one is missing)."""
        exact, sampled = self.exact, self.sampled
        return exact is None or sampled is None or (exact.low <= sampled.high and sampled.low <= exact.high)

    @property
    def holds(self) -> bool:
        """Whether every value of the interval is allowed."""
        return self.consistent and self.low <= self.estimate.low and self.estimate.high <= self.high

    @property
    def refutes(self) -> bool:
        """Whether no value of the interval is allowed, and this witness may say so of the claim or of a statement."""
        return self.role is not CheckRole.REPORTS and self.outcome in (CheckOutcome.FAILS, CheckOutcome.INCONSISTENT)

    @property
    def outcome(self) -> CheckOutcome:
        """How the interval lies to what is allowed."""
        if not self.consistent:
            return CheckOutcome.INCONSISTENT
        if self.estimate.high < self.low or self.estimate.low > self.high:
            return CheckOutcome.FAILS
        return CheckOutcome.HOLDS if self.holds else CheckOutcome.OPEN

    def result(self, pair: str) -> CheckResult:
        """Return the witness as the verdict sees it, named after what it is about and the pair."""
        return CheckResult(f"{self.about}: {pair}", self.role, self.outcome, "", self.tests, self.rests_on)


def of_test(
    about: str,
    p_value: float,
    level: float,
    n_draws: int,
    *,
    refuted: bool,
    words: str,
    notes: Mapping[str, Note] | None = None,
    role: CheckRole = CheckRole.REFUTES,
    tests: Stated | None = None,
    rests_on: tuple[Stated, ...] = (),
) -> Witness:
    """Return the witness of a test at ``level``: its p-value is allowed to be anything above the level."""
    value = min(p_value, level * (1 - 1e-12)) if refuted else max(p_value, level)
    exact = Estimate(value, value, value, level, n_draws, "exact test")
    return Witness(
        about,
        role,
        "p-value of the null hypothesis",
        level,
        1.0,
        sampled=exact,
        words=words,
        notes=notes or {},
        tests=tests,
        rests_on=rests_on,
    )


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
NO_NOISE = "a number in the output carries no noise"
FIXED = "every draw gives the same output, as with a fixed seed or without noise, and it depends on the data"
ORDER = "the same members come in another order, which depends on the data"
COMBINED = "a combination of numbers in the output, such as a difference of two, carries no noise"
ROUNDED = "the noise is rounded and what it is added to is not: the last digits depend on the data"
#: Differences below this share of a column's spread, or of a step between its values, are rounding.
ROUNDING = 1e-6
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
    """A refuted claim in numbers."""

    claimed: str  #: the claim in words
    #: the true epsilon at ``delta`` is at least this (natural log); nan where none larger than the claimed is known
    epsilon: float
    delta: float  #: the claimed delta, or that of the point at which a claimed curve is shown
    failure_prob: float  #: with which the bound may be wrong; 0 where it is proved
    pair: str  #: the two data sets, in words
    cause: str = ""  #: the likely cause; empty where the shape of the finding tells none
    event: str = ""  #: which outputs show it, in words; empty where it was not seen in draws
    hits: str = ""  #: how often they came from the first data set and from the second, in words
    #: the two data sets themselves, with ``first``, ``second`` and ``relation``; None where they are not at hand
    members: Any = field(default=None, repr=False, compare=False)

    @property
    def unbounded(self) -> bool:
        """Whether the event never happened on one side, so that the draws bound epsilon by nothing from above."""
        return re.search(r"(?:^|against )0 of", self.hits) is not None


def least_epsilon(witnesses: Sequence[Witness], claim: PrivacyClaim) -> float:
    """Return the largest lower bound on epsilon at the claimed delta among sound witnesses.

    It is nan where it is hardly larger than the claimed epsilon, and would be printed as the same number.
    """
    least = max((w.estimate.low for w in witnesses if w.about in BOUNDS), default=0.0)
    return least if least > LARGER * claim.epsilon else math.nan


def spaced(counts: str) -> str:
    """Return counts in words with a comma at every thousand."""
    return re.sub(r"\d{4,}", lambda digits: f"{int(digits[0]):,}", counts)


def outputs_said(event: str) -> str:
    """Return an event in words, those of symbols as what these stand for."""
    event = re.sub(r"equal to [12](?:\.\d+)?e\+30", "equal to one text, kind or error", event)
    return re.sub(r"at least [12](?:\.\d+)?e\+30", "that is a text, a kind or an error", event)


def claimed_words(claim: PrivacyClaim) -> str:
    """Return what is claimed: a point by its two numbers, a curve by its name."""
    if claim.curve is not None:
        return claim.sentence
    return f"epsilon {claim.epsilon:.6g}" + (f" at delta {claim.delta:.6g}" if claim.delta else "")


def likely_cause(rows: tuple[FloatArray, FloatArray], pair: Any, refused: Sequence[str], claim: PrivacyClaim) -> str:
    """Return what probably causes a violation, read off two samples; it decides nothing.

    Only what would refute the claim on its own is named: whoever leaks by a digit has noise enough.

    ``rows``, two (n, k) arrays: encoded outputs of the first and the second data set. ``refused``: why each data set
    was refused at every draw; empty where it was accepted.
    """
    if all(refused):
        return "the mechanism refuses both data sets, each with another error"
    if any(refused):
        return "the mechanism refuses one of the two data sets"
    columns = list(zip(rows[0].T, rows[1].T, strict=True))
    kinds = [(symbols(first), symbols(second)) for first, second in columns]
    if _reordered(*rows):
        return ORDER
    if any(_tells(first, second, claim) for first, second in kinds):
        return KIND
    if all(map(_constant, (*rows[0].T, *rows[1].T))) and not any(each.any() for kind in kinds for each in kind):
        return FIXED if len(rows[0]) and not np.array_equal(rows[0][0], rows[1][0]) else ""
    for column, kind in zip(columns, kinds, strict=True):
        if all(map(_constant, column)) and not np.array_equal(column[0][:1], column[1][:1], equal_nan=True):
            return KIND if any(each.any() for each in kind) else NO_NOISE
    if _combined(rows[0], rows[1]):
        return COMBINED
    if any(_rounded(first, second) for first, second in columns):
        return ROUNDED
    causes = (_of_noise(first, second, pair, claim) for first, second in columns)
    return next((cause for cause in causes if cause), "")


def _reordered(first: FloatArray, second: FloatArray) -> bool:
    """Return whether all rows of a side are equal, and those of the other are their members in another order."""
    if not (first.size and all(map(_constant, (*first.T, *second.T)))) or np.array_equal(first[0], second[0]):
        return False
    return np.array_equal(np.sort(first[0]), np.sort(second[0]))


def _combined(first: FloatArray, second: FloatArray) -> bool:
    """Return whether a linear combination of numbers is constant on either side, and not the same on both."""
    varying = [j for j, pair in enumerate(zip(first.T, second.T, strict=True)) if all(map(_varies, pair))]
    if len(varying) < 2 or min(len(first), len(second)) <= len(varying):
        return False
    one, other = first[:, varying], second[:, varying]
    scale = one.std(axis=0)
    one, other = one / scale, other / scale
    _, sizes, ways = np.linalg.svd(np.concatenate([one - one.mean(axis=0), other - other.mean(axis=0)]), False)
    fixed = ways[sizes < 1e-9 * sizes[0]]
    return bool((np.abs(fixed @ (one.mean(axis=0) - other.mean(axis=0))) > ROUNDING).any())


def _rounded(first: FloatArray, second: FloatArray) -> bool:
    """Return whether the values of either side are whole steps apart, and those of the two sides are not."""
    values = [np.unique(side) for side in (first, second)]
    if min(map(len, values)) < 3 or any(symbols(each).any() for each in values):
        return False
    step = min(float(np.diff(each).min()) for each in values)
    whole = [np.abs((each - each[0]) / step - np.rint((each - each[0]) / step)).max() < ROUNDING for each in values]
    apart = (values[1][0] - values[0][0]) / step
    return all(whole) and abs(apart - round(apart)) > 1e3 * ROUNDING


def _of_noise(first: FloatArray, second: FloatArray, pair: Any, claim: PrivacyClaim) -> str:
    """Return the cause that the spread and the place of two samples of a number tell."""
    if (_varies(first) and _constant(second)) or (_varies(second) and _constant(first)):
        return "the amount of noise depends on the data: one of the two samples does not vary"
    if not (_varies(first) and _varies(second)):
        return ""
    centred = [side - np.median(side) for side in (first, second)]
    spreads = [float(np.subtract(*np.quantile(side, (0.75, 0.25)))) for side in centred]
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
            f"{moved} the output by {shift:.2g} times the interquartile range of its noise: too little noise, or a "
            "larger sensitivity than was thought"
        )
    return ""


def symbols(column: FloatArray) -> NDArray[np.bool_]:
    """Return which values stand for a text, or for another thing that is no finite number."""
    return ~np.isfinite(column) | ((column >= SYMBOLS) & (column < 2 * SYMBOLS))


def _constant(column: FloatArray) -> bool:
    return column.size > 0 and bool((column == column[0]).all())


def _varies(column: FloatArray) -> bool:
    """Return whether these are numbers that hardly repeat, so that their quantiles say how much noise there is."""
    return not symbols(column).any() and np.unique(column).size > 0.9 * column.size > 0


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
