"""The worst adaptive analyst of a finite game, exactly: backward induction over (likelihood ratio, what was spent).

An analyst asks steps one after the other, each chosen after all answers so far, as long as a filter admits them. What
the view has cost depends on the answers only through the ratio ``Q/P`` of the probabilities of all that was seen, so
the supremum over all analysts is a recursion over that ratio, what was spent, and how many steps are left
(docs/derivations/filters.md). Everything is rational: nothing is rounded, and a counterexample is a proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

from .finite_steps import FiniteStep

if TYPE_CHECKING:
    from mechanisms.filters.privacy_filters import Filter

#: States beyond which a game is refused: minutes of arithmetic, and gigabytes.
MOST_STATES = 3_000_000


class TooManyStatesError(ValueError):
    """A game of so many steps has more states than can be gone through."""

    def __init__(self, n_steps: int, most: int) -> None:
        super().__init__(f"n_steps must leave at most {most} states, got n_steps={n_steps}")
        self.most = most


@dataclass(frozen=True)
class AdaptiveGame:
    """Which steps an analyst may ask, what the filter counts for each, and how many are asked at most.

    Parameters
    ----------
    steps : tuple of FiniteStep
    costs : tuple, what ``filter.spend`` is told of each step
    filter : Filter, its ``spent`` must be hashable
    n_steps : int, at least 1
    """

    steps: tuple[FiniteStep, ...]
    costs: tuple[Any, ...]
    filter: Filter
    n_steps: int

    def __post_init__(self) -> None:
        if not self.steps or len(self.costs) != len(self.steps):
            sizes = len(self.steps), len(self.costs)
            raise ValueError(f"steps must be at least one with a cost each, got sizes={sizes}")
        if isinstance(self.n_steps, bool) or self.n_steps != int(self.n_steps) or self.n_steps < 1:
            raise ValueError(f"n_steps must be a whole number of at least 1, got n_steps={self.n_steps}")

    @property
    def swapped(self) -> AdaptiveGame:
        """The same game drawn from the other data set."""
        return replace(self, steps=tuple(step.swapped for step in self.steps))

    def moves(self, spent: Any) -> list[tuple[int, Any]]:
        """Return each step that the filter admits, with what is spent after it."""
        after = ((k, self.filter.spend(spent, cost)) for k, cost in enumerate(self.costs))
        return [(k, left) for k, left in after if self.filter.admits(left)]


@dataclass(frozen=True)
class Strategy:
    """What an analyst asks, and what next after each answer; ``step`` is empty where there is nothing to gain."""

    step: str
    then: Mapping[str, Strategy]

    @property
    def depth(self) -> int:
        """The number of steps on the longest run."""
        return 1 + max((after.depth for after in self.then.values()), default=0) if self.step else 0

    def words(self, *, most: int = 4) -> str:
        """Return the strategy in a sentence, to a depth of ``most`` steps.

        Examples
        --------
        >>> after = Strategy("RR(2)", {})
        >>> Strategy("RR(2)", {"in": after, "out": Strategy("", {})}).words()
        'ask RR(2); after "in": ask RR(2)'
        """
        if not self.step:
            return "stop"
        if most == 1 and any(after.step for after in self.then.values()):
            return f"ask {self.step}, and so on"
        following: dict[str, list[str]] = {}
        for answer, after in self.then.items():
            if after.step:
                following.setdefault(after.words(most=most - 1), []).append(f'"{answer}"')
        if len(following) == 1 and len(next(iter(following.values()))) == len(self.then):
            return f"ask {self.step}; then {next(iter(following))}"
        parts = [
            f"after {' or '.join(answers)}: {f'({words})' if ';' in words else words}"
            for words, answers in following.items()
        ]
        return "; ".join([f"ask {self.step}", *parts])


@dataclass(frozen=True)
class GameValue:
    """The exact supremum over all adaptive analysts, one that attains it, and how many states were gone through."""

    value: Fraction
    strategy: Strategy
    states: int


#: What an analyst gains who stops at masses ``m`` and ``n`` under the two laws, and what was spent: a whole number.
Gain = Callable[[int, int, Any], int]


class _Induction:
    """Values of states by memoised recursion, in whole numbers.

    With ``D`` a common denominator of all probabilities, a view has masses ``m/D^t`` and ``n/D^t``; its state keeps
    ``m`` and ``n`` without their common factor. A value is homogeneous in both, so that it is kept for the reduced
    masses, times ``D^left``: values then add without a fraction.
    """

    def __init__(self, game: AdaptiveGame, gain: Gain, scale: int = 1) -> None:
        self.game, self.gain, self.scale = game, gain, scale
        every = [p for step in game.steps for law in (step.first, step.second) for p in law]
        self.whole = math.lcm(*(p.denominator for p in every))
        # masses of each answer that D can give
        self.answers = [
            [(int(p * self.whole), int(q * self.whole)) for p, q in zip(step.first, step.second, strict=True) if p]
            for step in game.steps
        ]
        self.known: list[dict[tuple[int, int], tuple[int, int]]] = [{} for _ in range(game.n_steps + 1)]
        self.ratios: list[tuple[int, int]] = []
        self.places: dict[tuple[int, int], int] = {}
        self.after: dict[int, list[list[tuple[int, int]]]] = {}
        self.spent: list[Any] = []
        self.numbers: dict[Hashable, int] = {}
        self.admitted: dict[int, list[tuple[int, int]]] = {}
        self.start = self._ratio(1, 1)[1], self._spent(game.filter.start())

    @property
    def states(self) -> int:
        return sum(map(len, self.known))

    def _ratio(self, m: int, n: int) -> tuple[int, int]:
        common = math.gcd(m, n)
        reduced = m // common, n // common
        if reduced not in self.places:
            self.places[reduced] = len(self.ratios)
            self.ratios.append(reduced)
        return common, self.places[reduced]

    def _spent(self, spent: Any) -> int:
        if spent not in self.numbers:
            self.numbers[spent] = len(self.spent)
            self.spent.append(spent)
        return self.numbers[spent]

    def following(self, ratio: int) -> list[list[tuple[int, int]]]:
        """Return, for each step and answer, the factor and the ratio after it."""
        found = self.after.get(ratio)
        if found is None:
            m, n = self.ratios[ratio]
            found = [[self._ratio(m * p, n * q) for p, q in answers] for answers in self.answers]
            self.after[ratio] = found
        return found

    def moves(self, spent: int) -> list[tuple[int, int]]:
        found = self.admitted.get(spent)
        if found is None:
            found = [(k, self._spent(after)) for k, after in self.game.moves(self.spent[spent])]
            self.admitted[spent] = found
        return found

    def weight(self, left: int, ratio: int, spent: int) -> int:
        """Return the value of a state for its reduced masses, times ``scale D^left``."""
        found = self.known[left].get((ratio, spent))
        if found is None:
            found = self.known[left][ratio, spent] = self._best(left, ratio, spent)
            if left == 1 and self.states > MOST_STATES:
                raise TooManyStatesError(self.game.n_steps, MOST_STATES)
        return found[0]

    def _best(self, left: int, ratio: int, spent: int) -> tuple[int, int]:
        """Return the value and the step that attains it; -1 to stop, which is preferred where it is as good."""
        m, n = self.ratios[ratio]
        unit = self.whole**left
        best, chosen = self.gain(m, n, self.spent[spent]) * unit, -1
        if left == 0 or best == m * self.scale * unit:  # nobody gains more than all
            return best, chosen
        following = self.following(ratio)
        for k, after in self.moves(spent):
            total = 0
            for factor, child in following[k]:
                total += factor * self.weight(left - 1, child, after)
            if total > best:
                best, chosen = total, k
        return best, chosen

    def strategy(self, left: int, ratio: int, spent: int) -> Strategy:
        """Return what the worst analyst does from a state on; answers that ``D`` cannot give are not followed."""
        self.weight(left, ratio, spent)
        chosen = self.known[left][ratio, spent][1]
        if chosen < 0:
            return Strategy("", {})
        step, after = self.game.steps[chosen], dict(self.moves(spent))[chosen]
        seen = zip(_seen(step), self.following(ratio)[chosen], strict=True)
        then = {name: self.strategy(left - 1, child, after) for name, (_, child) in seen}
        return Strategy(step.name, then)

    def exact(self, weight: int) -> Fraction:
        return Fraction(weight, self.scale * self.whole**self.game.n_steps)

    def result(self) -> GameValue:
        left = self.game.n_steps
        return GameValue(self.exact(self.weight(left, *self.start)), self.strategy(left, *self.start), self.states)


def _seen(step: FiniteStep) -> list[str]:
    return [answer for answer, p in zip(step.answers, step.first, strict=True) if p]


def _beyond(factor: Fraction) -> tuple[Gain, int]:
    return lambda m, n, _: max(factor.denominator * m - factor.numerator * n, 0), factor.denominator


def worst_delta(game: AdaptiveGame, factor: Fraction) -> GameValue:
    """Return the largest delta at ``epsilon = log(factor)`` of what an adaptive analyst sees, both directions.

    The supremum over all analysts of ``sum_h (P(h) - factor Q(h))_+`` over the views ``h``, and of the same with the
    data sets exchanged; the larger of the two.

    Parameters
    ----------
    game : AdaptiveGame
    factor : Fraction, ``exp(epsilon)``

    Returns
    -------
    GameValue

    Examples
    --------
    >>> from .finite_steps import NaturalFilter, randomised_response, reveal
    >>> steps = (randomised_response(2), reveal(Fraction(2, 9)))
    >>> natural = NaturalFilter(Fraction(2), Fraction(2, 9))
    >>> worst = worst_delta(AdaptiveGame(steps, steps, natural, 2), Fraction(2))
    >>> str(worst.value), worst.strategy.words()
    ('8/27', 'ask RR(2); after "in": ask RR(2); after "out": ask Reveal(2/9)')
    """
    ways = (_delta(game, factor), _delta(game.swapped, factor))
    return max(ways, key=lambda way: way.value)


def _delta(game: AdaptiveGame, factor: Fraction) -> GameValue:
    return _Induction(game, *_beyond(factor)).result()


def worst_moment(game: AdaptiveGame, order: int) -> GameValue | None:
    """Return the largest ``exp((order - 1) D_order)`` of what an adaptive analyst sees, both directions.

    Parameters
    ----------
    game : AdaptiveGame
    order : int, whole, at least 2

    Returns
    -------
    GameValue or None
        None where a step that is admitted has an infinite divergence.
    """
    ways = [_worst_moment(each, order) for each in (game, game.swapped)]
    found = [way for way in ways if way is not None]
    return max(found, key=lambda way: way.value) if len(found) == len(ways) else None


def _worst_moment(game: AdaptiveGame, order: int) -> GameValue | None:
    """Return it in one direction: moments multiply, so that no ratio is needed."""
    moments = [step.forward_moment(order) for step in game.steps]
    known: dict[tuple[int, Hashable], tuple[Fraction | None, int]] = {}

    def value(left: int, spent: Any) -> Fraction | None:
        if (left, spent) not in known:
            known[left, spent] = best(left, spent)
        return known[left, spent][0]

    def best(left: int, spent: Any) -> tuple[Fraction | None, int]:
        largest, chosen = Fraction(1), -1
        for k, after in game.moves(spent) if left else ():
            rest, own = value(left - 1, after), moments[k]
            if rest is None or own is None:
                return None, k
            if own * rest > largest:
                largest, chosen = own * rest, k
        return largest, chosen

    def strategy(left: int, spent: Any) -> Strategy:
        chosen = known[left, spent][1]
        if chosen < 0:
            return Strategy("", {})
        after = strategy(left - 1, game.filter.spend(spent, game.costs[chosen]))
        return Strategy(game.steps[chosen].name, dict.fromkeys(game.steps[chosen].answers, after))

    start = game.n_steps, game.filter.start()
    largest = value(*start)
    return None if largest is None else GameValue(largest, strategy(*start), len(known))


def delta_beside_report(game: AdaptiveGame, factor: Fraction, reported: Callable[[Any], bool]) -> GameValue:
    """Return the largest delta at ``log(factor)`` of an interaction, some run of which reports that it was no worse.

    Where nothing filters and each run reports what it spent itself, an analyst may ask so that one run reports little
    while the interaction as a whole reveals much: the supremum over analysts with at least one such run.

    ``reported``: whether a run that spent so much reports at most ``log(factor)``.
    """
    ways = [_beside(each, factor, reported) for each in (game, game.swapped)]
    return max(ways, key=lambda way: way.value)


def _beside(game: AdaptiveGame, factor: Fraction, reported: Callable[[Any], bool]) -> GameValue:
    free = _Induction(game, *_beyond(factor))

    def bound(left: int, ratio: int, spent: int) -> tuple[int, Strategy] | None:
        """Return the weight where one run from here on must report little; None where none can."""
        m, n = free.ratios[ratio]
        stopped = free.gain(m, n, free.spent[spent]) * free.whole**left
        best = (stopped, Strategy("", {})) if reported(free.spent[spent]) else None
        for k, after in free.moves(spent) if left else ():
            step, following = game.steps[k], free.following(ratio)[k]
            parts = [common * free.weight(left - 1, child, after) for common, child in following]
            for place, (common, child) in enumerate(following):
                kept = bound(left - 1, child, after)
                if kept is None:
                    continue
                total = sum(parts) - parts[place] + common * kept[0]
                if best is None or total > best[0]:
                    then = [free.strategy(left - 1, each, after) for _, each in following]
                    then[place] = kept[1]
                    best = total, Strategy(step.name, dict(zip(_seen(step), then, strict=True)))
        return best

    found = bound(game.n_steps, *free.start)
    value, strategy = found if found is not None else (0, Strategy("", {}))
    return GameValue(free.exact(value), strategy, free.states)


def worst_exceedance(game: AdaptiveGame, exceeds: Callable[[Fraction, Any], bool]) -> GameValue:
    """Return the largest probability that the loss exceeds what is reported of a run, over analysts who stop anywhere.

    Drawn from the first data set; ask ``game.swapped`` for the other direction.

    ``exceeds``: of ``P/Q = exp(loss)`` and what was spent: whether the loss exceeds the report.
    """

    def gain(m: int, n: int, spent: Any) -> int:
        return m if n == 0 or exceeds(Fraction(m, n), spent) else 0

    return _Induction(game, gain).result()
