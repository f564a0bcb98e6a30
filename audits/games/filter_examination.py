"""A filter that somebody else wrote, tried against every analyst of finite games that fit what it claims.

The steps are randomised responses whose costs are shares of the claimed budget, some of them above it. What is
found is exact: a counterexample is a proof. Nothing found is no proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq

from mechanisms import Bracket
from mechanisms.filters.privacy_filters import Filter, GaussianFilter, RenyiFilter
from mechanisms.numerics.balls import Ball, enclose

from .adaptive_games import AdaptiveGame, GameValue, TooManyStatesError, worst_delta, worst_moment
from .finite_steps import FiniteStep, binary, randomised_response

#: Shares of the budget that the steps cost, and how many are asked.
SHARES, N_STEPS = (2.5, 1.2, 0.55, 0.3, 0.1), 6
#: How far beyond the claim a value must lie to refute it: more than the filter's own rounding of costs.
ROOM = 1e-9
#: Finest rounding of the steps' probabilities, and of the factor ``exp(epsilon)``.
FINE, COARSE = 10**9, 2**10
#: How near a step's cost is to its share; one in how many answers of the lopsided step is yes; the largest log ratio.
NEARLY, LOPSIDED, LARGEST_SIZE = 0.96, 20, 60.0
#: Largest epsilon whose exponential is a float.
MOST = 700.0


class FilterFaultError(ValueError):
    """A filter that cannot be examined: it raises, answers no number that can be kept, or remembers."""


@dataclass(frozen=True)
class Found:
    """One number of the worst analyst, and what is claimed of it."""

    quantity: str
    value: Bracket  #: the exact supremum over all analysts of the game, enclosed
    allowed: float  #: what the claim allows, with room for the filter's own rounding
    words: str  #: what the worst analyst asks
    states: int

    @property
    def refutes(self) -> bool:
        """Whether the claim is false."""
        return self.value.low > self.allowed


@dataclass(frozen=True)
class Guarded:
    """Somebody's filter, asked twice where it might remember; what it raises is told in one line."""

    inner: Filter
    _asked: dict[Hashable, Any] = field(default_factory=dict, compare=False, repr=False)

    def start(self) -> Any:
        """Return what is spent before the first step."""
        return self._call("start")

    def spend(self, spent: Any, cost: Any) -> Any:
        """Return what is spent after a step of this cost."""
        return self._call("spend", spent, cost)

    def admits(self, spent: Any) -> bool:
        """Return whether so much may be spent."""
        answer = self._call("admits", spent)
        if not isinstance(answer, bool | np.bool_):
            raise FilterFaultError(f"filter.admits must return True or False, got {answer!r:.80}")
        return bool(answer)

    def _call(self, name: str, *given: Any) -> Any:
        key = (name, *given)
        if key in self._asked:
            return self._asked[key]
        answers = [_told(name, getattr(self.inner, name), *given) for _ in range(2)]
        if answers[0] != answers[1]:
            raise FilterFaultError(
                f"filter.{name} must be a function of what it is given, got two answers to one question"
            )
        self._asked[key] = answers[0]
        return answers[0]


def _told(name: str, method: Callable[..., Any], *given: Any) -> Any:
    """Return what a method of somebody's filter answers, refused where it raises or cannot be kept."""
    try:
        answer = method(*given)
    except Exception as stop:
        raise FilterFaultError(f"filter.{name} must answer, got {type(stop).__name__}: {stop}") from stop
    try:
        hash(answer)
    except TypeError as stop:
        raise FilterFaultError(f"filter.{name} must return a number or a tuple, got {stop}") from stop
    parts = answer if isinstance(answer, tuple) else (answer,)
    if any(part != part for part in parts):  # NaN alone differs from itself
        raise FilterFaultError(f"filter.{name} must return numbers that are no NaN, got {answer!r:.80}")
    return answer


def examine_filter(given: Filter, claimed: RenyiFilter | GaussianFilter, delta: float) -> tuple[Found, ...]:
    """Return what the worst analyst of a game reaches under a filter that claims to be as strict as ``claimed``.

    ``given``: told the Renyi divergence of a step at the claimed order in nats, or the square of its Gaussian
    parameter; or what its own method ``cost(step)`` makes of a ``FiniteStep``, where it has one. ``delta``: at which
    the claimed epsilon is stated; in (0, 1). Raises ``FilterFaultError`` if it cannot be examined.
    """
    if isinstance(claimed, RenyiFilter):
        order, budget = claimed.order, claimed.budget
        steps = _steps(lambda step: _log_moment(step, order).high, budget)
        game = _game(given, steps, lambda step: _log_moment(step, order).mid)
        moment = worst_moment(game, order)
        found = [_beyond_renyi(moment, order, budget)]
        return (*found, *_deltas(game, [(claimed.epsilon_at(delta), delta)]))
    steps = _steps(lambda step: step.gaussian_mu**2, claimed.mu**2)
    game = _game(given, steps, lambda step: step.gaussian_mu**2)
    profile = claimed.profile
    levels = sorted({0.0, claimed.epsilon_at(0.1), claimed.epsilon_at(delta)})
    return _deltas(game, [(epsilon, max(profile.delta_bracket(epsilon).high, 0.0)) for epsilon in levels])


def _game(given: Filter, steps: tuple[FiniteStep, ...], cost: Callable[[FiniteStep], float]) -> AdaptiveGame:
    if not steps:
        raise FilterFaultError("no game can be played: no step of the games costs a share of the claimed budget")
    own = getattr(given, "cost", None)
    costs = tuple(_told("cost", own, step) if callable(own) else cost(step) for step in steps)
    return AdaptiveGame(steps, costs, Guarded(given), N_STEPS)


def _steps(cost: Callable[[FiniteStep], float], budget: float) -> tuple[FiniteStep, ...]:
    """Return randomised responses that cost about these shares of the budget, and a lopsided step of one share."""

    def response(size: float, fine: int) -> FiniteStep:
        return randomised_response(Fraction(math.floor(math.exp(size) * fine), fine))

    def lopsided(size: float, fine: int) -> FiniteStep:
        second = Fraction(fine, math.floor(LOPSIDED * math.exp(size) * fine))
        return binary(Fraction(1, LOPSIDED), second)

    made = [_sized(response, cost, share * budget) for share in SHARES]
    made.append(_sized(lopsided, cost, SHARES[2] * budget))
    return tuple(dict.fromkeys(step for step in made if step is not None))


def _sized(
    make: Callable[[float, int], FiniteStep], cost: Callable[[FiniteStep], float], wanted: float
) -> FiniteStep | None:
    """Return a step of small numbers that costs at most, and nearly, what is wanted; None where none is found.

    Its cost rises with its size.
    """
    low, high = 0.0, LARGEST_SIZE
    for _ in range(30):
        middle = 0.5 * (low + high)
        low, high = (middle, high) if cost(make(middle, FINE)) <= wanted else (low, middle)
    sized = (make(low, fine) for fine in (10, 100, 1000, 10**4, 10**6, FINE))
    return next((step for step in sized if NEARLY * wanted <= cost(step) <= wanted), None)


def _log_moment(step: FiniteStep, order: int) -> Bracket:
    moment = step.moment(order)
    return Bracket(math.inf, math.inf) if moment is None else _divergence(moment, order)


def _divergence(moment: Fraction, order: int) -> Bracket:
    def evaluate() -> Ball:
        return arb(fmpq(moment.numerator, moment.denominator)).log() / (order - 1)

    return enclose(evaluate, low=0.0)


def _beyond_renyi(moment: GameValue | None, order: int, budget: float) -> Found:
    quantity = f"largest Renyi divergence of order {order} in the games"
    if moment is None:
        return Found(quantity, Bracket(math.inf, math.inf), budget, "ask what reveals all", 0)
    value = _divergence(moment.value, order)
    return Found(quantity, value, budget * (1 + ROOM), moment.strategy.words(), moment.states)


def _deltas(game: AdaptiveGame, points: list[tuple[float, float]]) -> tuple[Found, ...]:
    """Return the largest delta at each epsilon beside the claimed one; ``exp(epsilon)`` is rounded up."""
    found = []
    for epsilon, delta in points:
        if epsilon > MOST:
            continue
        factor = Fraction(math.ceil(Fraction(math.exp(epsilon) * (1 + 1e-15)) * COARSE), COARSE)
        factor = Fraction(1) if epsilon == 0 else factor
        try:
            worst = worst_delta(game, factor)
        except TooManyStatesError as stop:
            raise FilterFaultError(f"filter.spend must lead to fewer states, got more than {stop.most}") from stop
        near = float(worst.value)
        value = Bracket(max(0.0, math.nextafter(near, -1.0)), min(1.0, math.nextafter(near, 2.0)) if near else near)
        quantity = f"largest delta at epsilon {epsilon:.6g} in the games"
        found.append(Found(quantity, value, delta * (1 + ROOM), worst.strategy.words(), worst.states))
    return tuple(found)
