"""Do a mechanism's draws follow what it states: its log density, its privacy loss, its profile?

Every test has a p-value that is valid at the number of draws made and at whatever law, so that a refutation of a true
statement has at most the failure probability of the budget. The derivation is in ``docs/derivations/stated_law.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit
from scipy.stats import binom

from mechanisms.base import BOTH, Direction
from mechanisms.data.dataset import FloatArray

from ..estimate import Budget, Result
from ..stats.intervals import even_capital, even_share
from ..white_box.tails import ROUNDING, outputs_in_chunks
from .stated_law_bets import KEPT, Chosen, Frame, PointsView, Sides, choose, wealth
from .stated_law_columns import Atoms, Column, RefusedError, atoms_of, columns_of, difference, few_states
from .stated_law_masses import masses
from .stated_law_moves import Affine, Exchange, Move, exchanges_of, moves_of, unshown

#: Draws of one data set that are learned from: this share, and no more than these.
LEARNING, MOST_LEARNING = 0.25, 6000
#: Numbers that are learned from, at most, where so many draws have more than that, and draws at least.
NUMBERS_LEARNED, LEAST_LEARNED = 60_000, 500

#: Shares of the level: masses of atoms, and bets on the ratio of two laws.
MASSES_SHARE, BETS_SHARE = 0.2, 0.8

#: What a density may raise at an output that cannot occur.
REFUSALS = (ArithmeticError, LookupError, TypeError, ValueError)
#: How often it may raise while one block of moved outputs is bisected for those it refuses.
MOST_REFUSED = 200


@dataclass(frozen=True, repr=False)
class LawTest(Result):
    """One test of what a mechanism states."""

    #: what is tested, and what was seen in the outputs
    name: str
    words: str
    p_value: float  #: valid at finite samples; 0 where the statement excludes what was drawn
    #: the share of the failure probability that this test may spend; 0 where only what cannot happen refutes
    level: float
    event: str  #: where the draws and the statement part, in words
    hits: int  #: draws that decided (in the event, or used by the bets)

    @property
    def refutes(self) -> bool:
        """Whether the statement is refuted at the test's level."""
        return self.p_value <= self.level


@dataclass(frozen=True, repr=False)
class LawAudit(Result):
    """All tests of one statement; together they refute a true one with ``failure_prob`` at most.

    Attributes
    ----------
    tests : tuple of LawTest, each with its own level
    failure_prob : float, with which a true statement may be refuted
    n_draws : int, draws that were read
    examined : float
        Share of the certifying draws that a move (or a comparison) could say anything about; 0 when the outputs
        were constant or the density jumps everywhere.
    untold : str
        A value that repeats, by the stated density not as an atom does, and yet not so often that it could be none: the
        law then vouches for nothing. Empty without one.
    """

    tests: tuple[LawTest, ...]
    failure_prob: float
    n_draws: int
    examined: float = 1.0
    untold: str = ""

    @property
    def refuted(self) -> bool:
        """Whether a test refutes."""
        return any(test.refutes for test in self.tests)

    @property
    def worst(self) -> LawTest:
        """The test whose p-value is smallest for its level."""
        return min(self.tests, key=lambda test: test.p_value / test.level if test.level else 0.0)

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {"refuted": self.refuted, **super().entries(), "worst": self.worst.words}


def audit_law(mechanism: Any, dataset: Any, budget: Budget, *, outputs: FloatArray | None = None) -> LawAudit:
    """Return whether the draws on one data set follow ``log_density(outputs, dataset)``, up to a constant factor.

    Parameters
    ----------
    mechanism : WhiteBox, only ``draw``, ``log_density`` and ``name`` are used
    dataset : Dataset
    budget : Budget, ``n_draws`` from this data set
    outputs : (n, k) array, optional, independent draws made before, instead of new ones

    Returns
    -------
    LawAudit
        Refuted or not, with the test that says so.

    References
    ----------
    docs/derivations/stated_law.md.
    """
    drawn = drawn_outputs(mechanism, dataset, budget, "law") if outputs is None else outputs
    density = stated(mechanism.log_density, mechanism.name, dataset)
    log_drawn = density(drawn)
    defect = _support_test(log_drawn, "the stated density")
    if defect is not None:
        return LawAudit((defect,), budget.failure_prob, len(drawn))
    density = wherever_stated(density)
    n = n_learning(*drawn.shape)
    atoms = atoms_of(density, drawn, n)
    parts = budget.split({"masses": MASSES_SHARE, "bets": BETS_SHARE})
    rng = budget.key.child("law", "masses").rng()
    tests, untold = _masses(density, drawn, log_drawn, atoms, parts["masses"], rng)
    rng = budget.key.child("law", "moves").rng()
    columns = columns_of(drawn, atoms, n)
    bets, examined = _moved(density, drawn, log_drawn, columns, parts["bets"], rng)
    untold = untold or unshown(drawn, n, columns) or few_states(drawn, atoms)
    return LawAudit((*tests, bets), budget.failure_prob, len(drawn), examined, untold)


def _masses(
    density: Callable[[FloatArray], FloatArray],
    drawn: FloatArray,
    log_drawn: FloatArray,
    atoms: Sequence[Atoms],
    budget: Budget,
    rng: np.random.Generator,
) -> tuple[list[LawTest], str]:
    """Return the tests of the masses of atoms, and which value repeats without anybody knowing why."""
    tests, untold = list[LawTest](), ""
    found = list(masses(density, drawn, log_drawn, atoms, n_learning(*drawn.shape), rng))
    level = even_share(budget.spend("values that repeat"), max(1, sum(mass.told for mass in found)))
    for mass in found:
        words = "outputs repeat as often as the stated density says"
        if mass.p_value <= level:
            words = "outputs repeat, and not as often as the stated density says"
        if mass.told:
            tests.append(LawTest("values that repeat", words, mass.p_value, level, mass.words, mass.hits))
        if mass.as_atom <= level < mass.p_value:
            untold = untold or mass.words
    return tests, untold


def _moved(
    density: Callable[[FloatArray], FloatArray],
    drawn: FloatArray,
    log_drawn: FloatArray,
    columns: Sequence[Column],
    budget: Budget,
    rng: np.random.Generator,
) -> tuple[LawTest, float]:
    n, level = n_learning(*drawn.shape), budget.spend("moved draws")
    name, moves, bets = "moved draws", list[Move | Exchange](), list[Chosen]()
    if n >= 20:
        moves = [*exchanges_of(drawn[:n], columns, rng), *moves_of(density, drawn[:n], columns, rng)]
        frame = Frame.of(drawn[:n], _scored([column.index for column in columns], rng))
        for i, move in enumerate(moves):
            sides = moved_sides(density, move, drawn[:n], log_drawn[:n], frame)
            bets += [] if sides is None else choose(i, sides, always=move.always)
    bets = sorted(bets, key=lambda bet_kept: -bet_kept.won)[:KEPT] + [e for e in bets if e.won == 0][:6]
    bets = list(dict.fromkeys(bets))
    used = sorted({bet_kept.comparison for bet_kept in bets})
    certifying = {i: moved_sides(density, moves[i], drawn[n:], log_drawn[n:], frame) for i in used}
    log_wealth, best = wealth(bets, certifying)
    p_value = math.exp(-log_wealth)
    event = f"{moves[bets[best].comparison].words}: {bets[best].bet.words}" if bets else ""
    reached = np.zeros(len(drawn) - n, dtype=np.bool_)
    for move in moves[:12]:
        reached |= move.movable(drawn[n:]) if isinstance(move, Affine) else move(drawn[n:]).movable
    examined = float(reached.mean()) if reached.size else 0.0
    words = f"the draws do {'not ' if p_value <= level else ''}follow the stated density when they are moved"
    if not moves:
        words = "no move says anything about these outputs: they are constant, or the density jumps at all of them"
    return LawTest(name, words, p_value, level, event, int(reached.sum())), examined


def moved_sides(
    density: Callable[[FloatArray], FloatArray],
    move: Move | Exchange,
    drawn: FloatArray,
    log_drawn: FloatArray,
    frame: Frame,
) -> Sides | None:
    """Return draws and their images under a move, with the stated probability that such a point is a draw.

    None if the density refuses too many of the points.
    """
    with np.errstate(all="ignore"):
        ahead, behind = move(drawn), move(drawn, back=True)
        log_image = log_drawn - ahead.log_jacobian  # density of the image's law at the image
        try:
            images = expit(difference(density(ahead.points), log_image))
            draws = expit(difference(log_drawn, density(behind.points) - behind.log_jacobian))
        except RefusedError:
            return None
    moving = ahead.movable & behind.movable
    images, draws = (np.where(moving, share, 0.5) for share in (images, draws))
    points = np.where(moving[:, None], ahead.points, drawn)
    return Sides(PointsView(drawn, draws, frame), PointsView(points, images, frame))


def audit_loss(
    mechanism: Any, pair: Any, budget: Budget, *, outputs: tuple[FloatArray, FloatArray] | None = None
) -> LawAudit:
    """Return whether the draws on both data sets follow the stated loss (``privacy_loss``, or the log densities).

    Parameters
    ----------
    mechanism : WhiteBox
        ``draw``, ``name`` and one of ``privacy_loss`` and ``log_density`` are used.
    pair : NeighbouringPair
    budget : Budget, ``n_draws`` of both data sets together, half from each
    outputs : two (n, k) arrays, optional
        Independent draws made before, from the first and the second data set, instead of new ones.

    Returns
    -------
    LawAudit
        Refuted or not, with the test that says so.

    References
    ----------
    docs/derivations/stated_law.md.
    """
    first, second = _drawn_pair(mechanism, pair, budget, "loss") if outputs is None else outputs
    level, rows = budget.spend("ratio of the two"), min(len(first), len(second))
    first, second = first[:rows], second[:rows]
    own, other = (stated_loss(mechanism, pair, sample) for sample in (first, second))
    for losses, words in ((-own, "first"), (other, "second")):
        defect = _loss_defect(losses, words)
        if defect is not None:
            return LawAudit((defect,), level, 2 * rows)
    n = n_learning(rows)
    rng = budget.key.child("loss", "scores").rng()
    scored = _scored(range(first.shape[1]), rng)
    frame = Frame.of(np.concatenate([first[:n], second[:n]]), scored)
    sides = Sides(PointsView(first, np.asarray(expit(own)), frame), PointsView(second, np.asarray(expit(other)), frame))
    bets = choose(0, sides.part(slice(0, n)))
    log_wealth, best = wealth(bets, {0: sides.part(slice(n, None))})
    p_value = math.exp(-log_wealth)
    words = "the draws of the two data sets have the stated loss"
    if p_value <= level:
        words = "the draws of the two data sets do not have the stated loss"
    event = bets[best].bet.words.replace("images", "draws of the second data set") if bets else ""
    test = LawTest("stated loss", words, p_value, level, event, rows - n)
    return LawAudit((test,), level, 2 * rows)


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
    drawn = np.concatenate(_drawn_pair(mechanism, pair, budget, "agrees") if outputs is None else outputs)
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
    level = budget.spend("loss against densities")
    test = LawTest("loss against densities", words, p_value, level, event, int(off.size))
    return LawAudit((test,), level, len(drawn))


def _support_test(log_drawn: FloatArray, words: str) -> LawTest | None:
    """Return the refutation of a log density that is minus or plus infinity, or no number, at drawn outputs."""
    return _impossible(
        (np.isnan(log_drawn), f"{words} is undefined at a drawn output"),
        (log_drawn == -np.inf, f"{words} is 0 at a drawn output"),
        (log_drawn == np.inf, f"{words} is infinite at a drawn output"),
    )


def _loss_defect(against: FloatArray, words: str) -> LawTest | None:
    """Return the refutation of a loss by which a drawn output could not have been drawn."""
    return _impossible(
        (np.isnan(against), f"the stated loss is undefined at an output drawn from the {words} data set"),
        (against == np.inf, f"by the stated loss, an output drawn from the {words} data set cannot come from it"),
    )


def _impossible(*defects: tuple[NDArray[np.bool_], str]) -> LawTest | None:
    for wrong, what in defects:
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

    Raises ``RefusedError`` if it refuses more than ``MOST_REFUSED`` times what it is asked at once.
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


def _drawn_pair(mechanism: Any, pair: Any, budget: Budget, purpose: str) -> tuple[FloatArray, FloatArray]:
    """Return half of the draws of a budget from each member of a pair."""
    half = max(1, budget.n_draws // 2)
    keys = (budget.key.child(f"{purpose} {side}") for side in ("first", "second"))
    first, second = (replace(budget, n_draws=half, key=key) for key in keys)
    return drawn_outputs(mechanism, pair.first, first, purpose), drawn_outputs(mechanism, pair.second, second, purpose)


def n_learning(n_draws: int, width: int = 1) -> int:
    """Return how many of the draws of one data set are learned from."""
    return min(int(LEARNING * n_draws), MOST_LEARNING, max(LEAST_LEARNED, NUMBERS_LEARNED // max(1, width)))


def _scored(columns: Sequence[int] | range, rng: np.random.Generator, most: int = 8) -> list[int]:
    if len(columns) <= most:
        return list(columns)
    return sorted(int(j) for j in rng.choice(np.asarray(columns), most, replace=False))


#: Quantiles of the learning losses at which the profile is asked, in each direction.
QUANTILES = (0.02, 0.1, 0.3, 0.5, 0.7, 0.9, 0.97, 0.99, 0.997)
#: Stakes of the bets on a mean, as shares of the largest.
STAKES = np.geomspace(1e-3, 0.9, 14)
#: Error of a stated probability that is not counted against it.
TOLERANCE = 1e-9


def audit_profile(
    mechanism: Any, pair: Any, budget: Budget, *, outputs: tuple[FloatArray, FloatArray] | None = None
) -> LawAudit:
    """Return whether ``profile(pair)`` is the law of the stated loss of the draws, in both directions.

    At quantiles of a part of the losses, ``tail_at`` is compared with counts on the rest (exact binomial tests) and
    ``delta_at`` with means of ``(1 - exp(epsilon - loss))_+`` (bets at fixed stakes); a profile without ``tail_at``
    is compared by its ``delta_at``.

    Parameters
    ----------
    mechanism : WhiteBox, with ``profile``, and ``privacy_loss`` or ``log_density``
    pair, budget, outputs
        As of ``audit_loss``.

    Returns
    -------
    LawAudit
        Refuted or not, with the test that says so.
    """
    draws = _drawn_pair(mechanism, pair, budget, "profile") if outputs is None else outputs
    law, tests = mechanism.profile(pair), []
    for direction, drawn in zip(BOTH, draws, strict=True):
        losses = stated_loss(mechanism, pair, drawn)
        losses = losses if direction is Direction.FORWARD else -losses
        if np.isnan(losses).any():
            words = "the stated loss is undefined at a drawn output"
            return LawAudit(
                (LawTest("support", words, 0.0, 0.0, words, len(losses)),), budget.failure_prob, len(losses)
            )
        n = n_learning(len(losses))
        known = losses[:n][np.isfinite(losses[:n])]
        for epsilon in np.unique(np.quantile(known, QUANTILES)).tolist() if known.size else [0.0]:
            tests += _at(law, epsilon, direction, losses[n:])
    n_draws = sum(len(drawn) for drawn in draws)
    level = even_share(budget.spend("stated profile"), len(tests))
    levelled = [LawTest(name, words, p, level, event, hits) for name, words, p, event, hits in tests]
    return LawAudit(tuple(levelled), budget.failure_prob, n_draws)


def _at(law: Any, epsilon: float, direction: Direction, losses: FloatArray) -> list[tuple[str, str, float, str, int]]:
    """Return the tests (name, words, p-value, event, hits) of a profile at one epsilon in one direction."""
    # a loss within rounding of epsilon counts on either side, so that atoms of the loss accuse nobody
    slack, tests = ROUNDING * max(1.0, abs(epsilon)), []
    event = f"epsilon {epsilon:.4g}, {direction.value}"
    if hasattr(law, "tail_at"):
        tail = float(law.tail_at(epsilon, direction))
        low, high = int((losses > epsilon + slack).sum()), int((losses > epsilon - slack).sum())
        p_value = two_sided(low, high, losses.size, tail)
        words = f"P(loss > epsilon) is stated to be {tail:.6g}, and {low} of {losses.size} losses lie there"
        tests.append(("tail of the profile", words, p_value, event, low))
    delta = float(law.delta_at(epsilon, direction))
    with np.errstate(over="ignore"):
        payoff = -np.expm1(np.minimum(epsilon - losses, 0.0))
    words = f"delta is stated to be {delta:.6g}, and the draws have {payoff.mean():.6g}"
    tests.append(("delta of the profile", words, mean_p_value(payoff, delta), event, int((payoff > 0).sum())))
    return tests


def two_sided(low: int, high: int, n: int, probability: float) -> float:
    """Return an exact p-value of ``Bin(n, probability)`` when the count lies in ``[low, high]``; 0 of no number."""
    if not 0 <= probability <= 1:
        return 0.0 if not -TOLERANCE <= probability <= 1 + TOLERANCE else 1.0
    above = binom.sf(low - 1, n, min(1.0, probability + TOLERANCE))
    below = binom.cdf(high, n, max(0.0, probability - TOLERANCE))
    return min(1.0, 2 * float(min(above, below)))


def mean_p_value(payoff: FloatArray, stated: float) -> float:
    """Return a valid p-value of "the mean of these values in [0, 1] is ``stated``": two gamblers at mixed stakes."""
    if not -TOLERANCE <= stated <= 1 + TOLERANCE:
        return 0.0
    paths = []
    for sign, bound in ((1.0, max(stated, 0.0) + TOLERANCE), (-1.0, 1.0 - min(stated, 1.0) + TOLERANCE)):
        x = sign * (payoff - stated) - TOLERANCE
        paths += [np.cumsum(np.log1p(stake / (bound + TOLERANCE) * x)) for stake in STAKES.tolist()]
    return float(np.exp(-even_capital(paths)))
