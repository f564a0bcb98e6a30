"""Do a mechanism's draws follow what it states: its log density, its privacy loss, its profile?

Every test has a p-value that is valid at the number of draws made and at whatever law, so that a refutation of a true
statement has at most the failure probability of the budget. The derivation is in ``docs/derivations/stated_law.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from .base import Budget
from .draws import outputs_in_chunks
from .stated_law_bets import KEPT, Chosen, Frame, Sides, View, choose, wealth
from .stated_law_columns import Column, columns_of, jumps_at, kinds_of
from .stated_law_moves import Affine, Move, RefusedError, moves_of
from .stated_law_repeats import repeats

FloatArray = NDArray[np.float64]

#: Draws of one data set that are learned from: this share, and no more than these.
LEARNING, MOST_LEARNING = 0.25, 6000

#: Shares of the level: values that repeat, and bets on the ratio of two laws.
REPEATS_SHARE, BETS_SHARE = 0.2, 0.8

#: What a density may raise at an output that cannot occur.
REFUSALS = (ArithmeticError, LookupError, TypeError, ValueError)
#: How often it may raise while one block of moved outputs is bisected for those it refuses.
MOST_REFUSED = 200


@dataclass(frozen=True)
class LawTest:
    """One test of what a mechanism states.

    Attributes
    ----------
    name, words : str
        What is tested, and what was seen in the outputs.
    p_value : float
        Valid at finite samples; 0 where the statement excludes what was drawn.
    level : float
        The share of the failure probability that this test may spend; 0 where only what cannot happen refutes.
    event : str
        Where the draws and the statement part, in words.
    hits : int
        Draws that decided (in the event, or used by the bets).
    """

    name: str
    words: str
    p_value: float
    level: float
    event: str
    hits: int

    @property
    def refutes(self) -> bool:
        """Whether the statement is refuted at the test's level."""
        return self.p_value <= self.level


@dataclass(frozen=True)
class LawAudit:
    """All tests of one statement; together they refute a true one with ``failure_prob`` at most.

    Attributes
    ----------
    examined : float
        Share of the certifying draws that a move (or a comparison) could say anything about; 0 when the outputs
        were constant or the density jumps everywhere.
    """

    tests: tuple[LawTest, ...]
    failure_prob: float
    n_draws: int
    examined: float = 1.0

    @property
    def refuted(self) -> bool:
        """Whether a test refutes."""
        return any(test.refutes for test in self.tests)

    @property
    def worst(self) -> LawTest:
        """The test whose p-value is smallest for its level."""
        return min(self.tests, key=lambda test: test.p_value / test.level if test.level else 0.0)


def audit_law(mechanism: Any, dataset: Any, budget: Budget, *, outputs: FloatArray | None = None) -> LawAudit:
    """Return whether the draws on one data set follow ``log_density(outputs, dataset)``, up to a constant factor.

    Parameters
    ----------
    mechanism : WhiteBox
        Only ``draw``, ``log_density`` and ``name`` are used.
    dataset : Dataset
    budget : Budget
        ``n_draws`` from this data set.
    outputs : (n, k) array, optional
        Independent draws made before, instead of new ones.
    """
    drawn = drawn_outputs(mechanism, dataset, budget, "law") if outputs is None else outputs
    density = stated(mechanism.log_density, mechanism.name, dataset)
    here = density(drawn)
    defect = support_test(here, "the stated density")
    if defect is not None:
        return LawAudit((defect,), budget.failure_prob, len(drawn))
    density = wherever_stated(density)
    n = n_learning(len(drawn))
    free = [j for j, kind in enumerate(kinds_of(drawn[:n])) if kind == "continuous"]
    jumps = jumps_at(density, drawn, free)
    columns = columns_of(drawn, jumps, n)
    again = repeats(drawn, n, jumps, free, budget.failure_prob * REPEATS_SHARE)
    tests = [LawTest(*again)] if again is not None else []
    rng = budget.key.child("law", "moves").rng()
    bets, examined = _moved(density, drawn, here, columns, budget, rng)
    return LawAudit((*tests, bets), budget.failure_prob, len(drawn), examined)


def _moved(
    density: Callable[[FloatArray], FloatArray],
    drawn: FloatArray,
    here: FloatArray,
    columns: Sequence[Column],
    budget: Budget,
    rng: np.random.Generator,
) -> tuple[LawTest, float]:
    n, level = n_learning(len(drawn)), budget.failure_prob * BETS_SHARE
    name, moves, found = "moved draws", [], list[Chosen]()
    if n >= 20:
        moves = list(moves_of(density, drawn[:n], columns, rng))
        frame = Frame.of(drawn[:n], _scored([column.index for column in columns], rng))
        for i, move in enumerate(moves):
            sides = moved_sides(density, move, drawn[:n], here[:n], frame)
            found += [] if sides is None else choose(i, sides, always=move.always)
    found = sorted(found, key=lambda each: -each.won)[:KEPT] + [e for e in found if e.won == 0][:6]
    found = list(dict.fromkeys(found))
    used = sorted({each.comparison for each in found})
    certifying = {i: moved_sides(density, moves[i], drawn[n:], here[n:], frame) for i in used}
    log_wealth, best = wealth(found, certifying)
    p_value = math.exp(-log_wealth)
    event = f"{moves[found[best].comparison].words}: {found[best].bet.words}" if found else ""
    reached = np.zeros(len(drawn) - n, dtype=np.bool_)
    for move in moves[:12]:
        reached |= move.movable(drawn[n:]) if isinstance(move, Affine) else move(drawn[n:]).movable
    examined = float(reached.mean()) if reached.size else 0.0
    words = f"the draws do {'not ' if p_value <= level else ''}follow the stated density when they are moved"
    if not moves:
        words = "no move says anything about these outputs: they are constant, or the density jumps at all of them"
    return LawTest(name, words, p_value, level, event, int(reached.sum())), examined


def moved_sides(
    density: Callable[[FloatArray], FloatArray], move: Move, drawn: FloatArray, here: FloatArray, frame: Frame
) -> Sides | None:
    """Return draws and their images under a move, with the stated probability that such a point is a draw.

    None if the density refuses too many of the points.
    """
    with np.errstate(all="ignore"):
        ahead, behind = move(drawn), move(drawn, back=True)
        log_image = here - ahead.log_jacobian  # density of the image's law at the image
        try:
            images = expit(_difference(density(ahead.points), log_image))
            draws = expit(_difference(here, density(behind.points) - behind.log_jacobian))
        except RefusedError:
            return None
    moving = ahead.movable & behind.movable
    images, draws = (np.where(moving, share, 0.5) for share in (images, draws))
    points = np.where(moving[:, None], ahead.points, drawn)
    return Sides(View(drawn, draws, frame), View(points, images, frame))


def _difference(first: FloatArray, second: FloatArray) -> FloatArray:
    """Return the difference of two log densities, nan (nothing stated) counting as a density of 0."""
    first, second = (np.where(np.isnan(each), -np.inf, each) for each in (first, second))
    with np.errstate(invalid="ignore"):
        return np.asarray(np.where(first == second, 0.0, first - second))


def audit_loss(
    mechanism: Any, pair: Any, budget: Budget, *, outputs: tuple[FloatArray, FloatArray] | None = None
) -> LawAudit:
    """Return whether the draws on both data sets follow the stated loss (``privacy_loss``, or the log densities).

    Parameters
    ----------
    mechanism : WhiteBox
        ``draw``, ``name`` and one of ``privacy_loss`` and ``log_density`` are used.
    pair : NeighbouringPair
    budget : Budget
        ``n_draws`` of both data sets together, half from each.
    outputs : two (n, k) arrays, optional
        Independent draws made before, from the first and the second data set, instead of new ones.
    """
    first, second = drawn_pair(mechanism, pair, budget, "loss") if outputs is None else outputs
    rows = min(len(first), len(second))
    first, second = first[:rows], second[:rows]
    own, other = (stated_loss(mechanism, pair, each) for each in (first, second))
    for losses, words in ((-own, "first"), (other, "second")):
        defect = _loss_defect(losses, words)
        if defect is not None:
            return LawAudit((defect,), budget.failure_prob, 2 * rows)
    n = n_learning(rows)
    rng = budget.key.child("loss", "scores").rng()
    scored = _scored(range(first.shape[1]), rng)
    frame = Frame.of(np.concatenate([first[:n], second[:n]]), scored)
    sides = Sides(View(first, np.asarray(expit(own)), frame), View(second, np.asarray(expit(other)), frame))
    found = choose(0, sides.part(slice(0, n)))
    log_wealth, best = wealth(found, {0: sides.part(slice(n, None))})
    p_value = math.exp(-log_wealth)
    words = "the draws of the two data sets have the stated loss"
    if p_value <= budget.failure_prob:
        words = "the draws of the two data sets do not have the stated loss"
    event = found[best].bet.words.replace("images", "draws of the second data set") if found else ""
    test = LawTest("stated loss", words, p_value, budget.failure_prob, event, rows - n)
    return LawAudit((test,), budget.failure_prob, 2 * rows)


def stated_loss(mechanism: Any, pair: Any, outputs: FloatArray) -> FloatArray:
    """Return the loss that a mechanism states, shape ``(n,)``: ``privacy_loss``, or the difference of log densities."""
    if hasattr(mechanism, "privacy_loss"):
        return stated(mechanism.privacy_loss, mechanism.name, pair)(outputs)
    first, second = (stated(mechanism.log_density, mechanism.name, data)(outputs) for data in (pair.first, pair.second))
    with np.errstate(invalid="ignore"):
        return np.asarray(first - second)


def audit_loss_agrees(
    mechanism: Any, pair: Any, budget: Budget, *, outputs: tuple[FloatArray, FloatArray] | None = None
) -> LawAudit:
    """Return whether ``privacy_loss`` is the difference of the log densities at drawn outputs, up to rounding."""
    drawn = np.concatenate(drawn_pair(mechanism, pair, budget, "agrees") if outputs is None else outputs)
    loss = stated(mechanism.privacy_loss, mechanism.name, pair)(drawn)
    first, second = (stated(mechanism.log_density, mechanism.name, data)(drawn) for data in (pair.first, pair.second))
    with np.errstate(invalid="ignore"):
        direct = first - second
        tolerance = 1e-6 + 1e-11 * (np.abs(first) + np.abs(second))
        agrees = (loss == direct) | (np.abs(loss - direct) <= tolerance)
    off = np.flatnonzero(~agrees)
    words = "privacy_loss is the difference of the two log densities"
    event = ""
    if off.size:
        words = "privacy_loss is not the difference of the two log densities"
        event = f"it is {loss[off[0]]:.6g} where the difference is {direct[off[0]]:.6g}"
    p_value = 0.0 if off.size else 1.0
    test = LawTest("loss against densities", words, p_value, budget.failure_prob, event, int(off.size))
    return LawAudit((test,), budget.failure_prob, len(drawn))


def support_test(here: FloatArray, words: str) -> LawTest | None:
    """Return the refutation of a log density that is minus or plus infinity, or no number, at drawn outputs."""
    for wrong, what in (
        (np.isnan(here), f"{words} is undefined at a drawn output"),
        (here == -np.inf, f"{words} is 0 at a drawn output"),
        (here == np.inf, f"{words} is infinite at a drawn output"),
    ):
        if wrong.any():
            return LawTest("support", what, 0.0, 0.0, what, int(wrong.sum()))
    return None


def _loss_defect(against: FloatArray, words: str) -> LawTest | None:
    """Return the refutation of a loss by which a drawn output could not have been drawn."""
    for wrong, what in (
        (np.isnan(against), f"the stated loss is undefined at an output drawn from the {words} data set"),
        (against == np.inf, f"by the stated loss, an output drawn from the {words} data set cannot come from it"),
    ):
        if wrong.any():
            return LawTest("support", what, 0.0, 0.0, what, int(wrong.sum()))
    return None


def stated(function: Callable[..., Any], name: str, given: Any) -> Callable[[FloatArray], FloatArray]:
    """Return a log density (or loss) as a function of the outputs alone, checked for its shape."""

    def evaluate(outputs: FloatArray) -> FloatArray:
        with np.errstate(all="ignore"):
            values = np.asarray(function(outputs, given), dtype=np.float64)
        if values.shape != (len(outputs),):
            raise ValueError(f"log density of {name} must have shape ({len(outputs)},), got shape={values.shape}")
        return values

    return evaluate


def wherever_stated(density: Callable[[FloatArray], FloatArray]) -> Callable[[FloatArray], FloatArray]:
    """Return a log density that is nan at the outputs that it refuses, which may be any that were not drawn.

    Raises
    ------
    RefusedError
        If it refuses more than ``MOST_REFUSED`` times what it is asked at once.
    """

    def evaluate(outputs: FloatArray, left: list[int] | None = None) -> FloatArray:
        left = [MOST_REFUSED] if left is None else left
        try:
            return density(outputs)
        except REFUSALS:
            left[0] -= 1
            if left[0] < 0:
                raise RefusedError from None
            if len(outputs) < 2:
                return np.full(len(outputs), np.nan)
        half = len(outputs) // 2
        return np.concatenate([evaluate(outputs[:half], left), evaluate(outputs[half:], left)])

    return evaluate


def drawn_outputs(mechanism: Any, dataset: Any, budget: Budget, purpose: str) -> FloatArray:
    """Return all draws of a budget from one data set, shape ``(n, k)``."""
    rng = budget.key.child(purpose, "draws").rng()
    return np.concatenate(list(outputs_in_chunks(mechanism, dataset, budget.n_draws, rng=rng)))


def drawn_pair(mechanism: Any, pair: Any, budget: Budget, purpose: str) -> tuple[FloatArray, FloatArray]:
    """Return half of the draws of a budget from each member of a pair."""
    half = max(1, budget.n_draws // 2)
    first, second = (budget.part(f"{purpose} {side}", n_draws=half) for side in ("first", "second"))
    return drawn_outputs(mechanism, pair.first, first, purpose), drawn_outputs(mechanism, pair.second, second, purpose)


def n_learning(n_draws: int) -> int:
    """Return how many of the draws of one data set are learned from."""
    return min(int(LEARNING * n_draws), MOST_LEARNING)


def _scored(columns: Sequence[int] | range, rng: np.random.Generator, most: int = 8) -> list[int]:
    """Return the columns that intervals are taken of: all, or some by chance."""
    if len(columns) <= most:
        return list(columns)
    return sorted(int(j) for j in rng.choice(np.asarray(columns), most, replace=False))
