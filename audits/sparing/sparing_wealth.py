"""The wealth of one player who bets on labels: a share on each bet, by what each has earned, and some kept in hand."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import special

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_bet import Pair, Point
from ..black_box.black_box_results import Hits
from .sparing_bets import Bets, LabelSets, Scored, bets_on_ends, bets_on_learned
from .sparing_odds import OddsBets, bets_on_odds

#: Prior weight of keeping the wealth in hand, of the bets on ends, of those on learned sets, and by learned odds.
PRIOR = (0.1, 0.35, 0.25, 0.3)
#: Share of the wealth that is spread by the prior weights again before each block.
FLOOR = 0.01
#: Parts of the pilot that take turns in telling what is earned by bets learned from the other parts.
FOLDS = 3

Learned = tuple[Bets, OddsBets]


class Player:
    """Bets against some claimed points on draws of one pair; what it stakes is decided before each block.

    Parameters
    ----------
    pilot : (array, array)
        Draws of both data sets, shapes ``(n, k)`` and ``(m, k)``, n and m at least 3: learned from and never bet on.
    points : sequence of Point
        Fixed beforehand.
    """

    def __init__(self, pilot: Pair, points: Sequence[Point]) -> None:
        self._points, self._past, self._n_pilot = tuple(points), pilot, (len(pilot[0]), len(pilot[1]))
        self._ends = bets_on_ends(pilot, self._points)
        parts = (np.zeros(1), self._ends.growth(pilot, self._points), *_folded(pilot, self._points))
        self._earned = np.concatenate(parts)
        shares = [np.full(len(part), share / max(len(part), 1)) for part, share in zip(parts, PRIOR, strict=True)]
        self._prior = np.concatenate(shares)

    @property
    def promise(self) -> float:
        """The log of what the same bets would have made of the pilot; it ranks pairs and refutes nothing."""
        return float(special.logsumexp(self._earned, b=self._prior / self._prior.sum()))

    def bet(self, draws: Pair) -> float:
        """Return the growth of the log wealth on these draws, by bets placed before them, and learn from the draws."""
        learned = self._learned()
        weights = self._weights(learned)
        growth = np.concatenate([[0.0], *(bets.growth(draws, self._points) for bets in (self._ends, *learned))])
        self._earned = self._earned + growth
        self._past = (np.concatenate([self._past[0], draws[0]]), np.concatenate([self._past[1], draws[1]]))
        return float(special.logsumexp(growth, b=weights))

    def best(self) -> tuple[LabelSets | None, Point, Hits]:
        """Return what the best bet on sets so far is on now, against which point, and how often that happened.

        Of a bet both ways, the way that won more. The counts are of all draws that were bet on; they describe, and the
        wealth refutes.
        """
        learned = self._learned()
        n_ends, n_sets = len(self._ends.place), len(learned[0].place)
        best = int(np.argmax(self._weights(learned)[1 : 1 + n_ends + n_sets]))
        bets, place = (self._ends, best) if best < n_ends else (learned[0], best - n_ends)
        sets, point = bets.named(place, self._points)
        first, second = (part[n:] for part, n in zip(self._past, self._n_pilot, strict=True))
        if sets is None:
            return None, point, Hits(0, len(first), 0, len(second))
        scores = Scored((first, second))(sets.score)
        way = sets.better_way(scores, float(bets.share[place]), point)
        return way, point, way.hits(scores)

    def _learned(self) -> Learned:
        return bets_on_learned(self._past, self._points), bets_on_odds(self._past, self._points)

    def _weights(self, learned: Learned) -> FloatArray:
        """Return the share of the wealth on each bet: a little by the prior, the rest also by what each has earned."""
        prior = self._prior * np.concatenate([[True], *(bets.there for bets in (self._ends, *learned))])
        earned = prior * np.exp(np.minimum(self._earned - self._earned[prior > 0].max(), 0.0))
        return np.asarray(FLOOR * prior / prior.sum() + (1 - FLOOR) * earned / earned.sum())


def _folded(pilot: Pair, points: Sequence[Point]) -> tuple[FloatArray, FloatArray]:
    """Return what learned bets would have earned on the pilot, each part of it by bets learned from the others."""
    sets: list[FloatArray] = []
    odds: list[FloatArray] = []
    for fold in range(FOLDS):
        held = [np.arange(len(part)) % FOLDS == fold for part in pilot]
        rest = pilot[0][~held[0]], pilot[1][~held[1]]
        told = pilot[0][held[0]], pilot[1][held[1]]
        sets.append(bets_on_learned(rest, points).growth(told, points))
        odds.append(bets_on_odds(rest, points).growth(told, points))
    return np.sum(sets, axis=0), np.sum(odds, axis=0)
