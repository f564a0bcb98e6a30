"""Slow literal twins of the sparing audit: the factor of one draw by its definition, and wealth draw by draw."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from audits.black_box.black_box_bet import Point
from audits.sequential.sparing_bets import LabelSets

#: ``bet(x)``: what is staked on "first" and on "second" at an output, one of them 0; and the most of either.
Bet = tuple[Callable[[float], tuple[float, float]], tuple[float, float]]


def factor(x: float, first: bool, bet: Bet, point: Point) -> float:
    """Return what one draw multiplies the wealth by."""
    (ahead, behind), (most_ahead, most_behind) = bet[0](x), bet[1]
    loss = math.exp(point.epsilon)
    grown = 1 + (ahead - loss * behind if first else behind - loss * ahead)
    return grown / (1 + (most_ahead * point.forward + most_behind * point.backward) / 2)


def log_growth(draws: tuple[Sequence[float], Sequence[float]], bet: Bet, point: Point) -> float:
    """Return the log of the product of the factors of all draws."""
    product = 1.0
    for first, part in ((True, draws[0]), (False, draws[1])):
        for x in part:
            product *= factor(x, first, bet, point)
    return math.log(product)


def bet_on_sets(sets: LabelSets, scores: Callable[[float], float], share: float, point: Point) -> Bet:
    """Return a bet of a share of the largest stake where exactly one of two intervals holds the score."""
    stake = share * math.exp(-point.epsilon)

    def bet(x: float) -> tuple[float, float]:
        s = scores(x)
        ahead = sets.forward is not None and sets.forward.low <= s <= sets.forward.high
        behind = sets.backward is not None and sets.backward.low <= s <= sets.backward.high
        return stake * (ahead and not behind), stake * (behind and not ahead)

    return bet, (stake * (sets.forward is not None), stake * (sets.backward is not None))


def bet_on_odds(odds: Callable[[float], float], believed: float, share: float, point: Point) -> Bet:
    """Return a bet by log odds, at most a share of the largest stake."""
    chance, most = 1 / (1 + math.exp(-point.epsilon)), share * math.exp(-point.epsilon)

    def bet(x: float) -> tuple[float, float]:
        sure = 1 / (1 + math.exp(-believed * odds(x)))
        return tuple(min(most, max(0.0, side / chance - 1)) for side in (sure, 1 - sure))

    return bet, (most, most)


def expected_factor(first: Sequence[float], second: Sequence[float], bet: Bet, point: Point) -> float:
    """Return the mean factor of one draw of two laws on the outputs 0, 1, …, a fair coin in between."""
    return 0.5 * math.fsum(p * factor(x, True, bet, point) for x, p in enumerate(first)) + 0.5 * math.fsum(
        q * factor(x, False, bet, point) for x, q in enumerate(second)
    )


def excess(first: Sequence[float], second: Sequence[float], epsilon: float) -> float:
    """Return the least delta for which the first law is within ``(epsilon, delta)`` of the second."""
    return math.fsum(max(0.0, p - math.exp(epsilon) * q) for p, q in zip(first, second, strict=True))
