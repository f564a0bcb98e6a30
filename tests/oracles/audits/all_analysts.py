"""The worst analyst of a tiny game by trying every deterministic one, each played out answer by answer."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from itertools import product
from typing import Any

from audits.games.adaptive_games import AdaptiveGame

#: What an analyst asks (an index), and what after each answer; None to stop.
Plan = tuple[int, tuple["Plan", ...]] | None


def plans(game: AdaptiveGame, left: int, taken: tuple[int, ...] = ()) -> Iterator[Plan]:
    """Yield every analyst whom the filter lets do what they want."""
    yield None
    for k, step in enumerate(game.steps) if left else ():
        spent = game.filter.start()
        for index in (*taken, k):
            spent = game.filter.spend(spent, game.costs[index])
        if not game.filter.admits(spent):
            continue
        rest = list(plans(game, left - 1, (*taken, k)))
        yield from ((k, chosen) for chosen in product(rest, repeat=len(step.answers)))


def views(game: AdaptiveGame, plan: Plan) -> Iterator[tuple[Fraction, Fraction, tuple[int, ...]]]:
    """Yield both probabilities of everything that an analyst may see, and which steps were asked."""

    def play(plan: Plan, p: Fraction, q: Fraction, taken: tuple[int, ...]) -> Iterator[Any]:
        if plan is None:
            yield p, q, taken
            return
        k, then = plan
        step = game.steps[k]
        for first, second, after in zip(step.first, step.second, then, strict=True):
            yield from play(after, p * first, q * second, (*taken, k))

    yield from play(plan, Fraction(1), Fraction(1), ())


def largest(game: AdaptiveGame, worth: Callable[[list[Any]], Fraction | None]) -> Fraction:
    """Return the largest worth of the views of any analyst (None: not counted)."""
    found = (worth(list(views(game, plan))) for plan in plans(game, game.n_steps))
    return max(value for value in found if value is not None)


def delta_of(seen: list[tuple[Fraction, Fraction, Any]], factor: Fraction) -> Fraction:
    """Return the larger of both hockey-stick divergences of two laws of views."""
    forward = sum((max(p - factor * q, Fraction(0)) for p, q, _ in seen), Fraction(0))
    backward = sum((max(q - factor * p, Fraction(0)) for p, q, _ in seen), Fraction(0))
    return max(forward, backward)


def moment_of(seen: list[tuple[Fraction, Fraction, Any]], order: int) -> Fraction:
    """Return the larger of both moments of order ``order`` of the likelihood ratio; no probability is 0."""
    forward = sum((p**order / q ** (order - 1) for p, q, _ in seen), Fraction(0))
    backward = sum((q**order / p ** (order - 1) for p, q, _ in seen), Fraction(0))
    return max(forward, backward)
