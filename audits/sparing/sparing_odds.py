"""Bets on labels by learned odds: the surer a score is of a data set, the more is staked on it."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import special

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_bet import Pair, Point
from ..black_box.black_box_scores import MAX_ADDITIVE, Score, fit_additive, fit_hinges, fit_quadratic
from .sparing_bets import Scored

#: The learned log odds are believed to these shares.
BELIEVED = (0.5, 0.75, 1.0)
#: Most that is staked, as shares of the largest stake allowed.
MOST = (0.3, 0.6, 0.95)
#: Fits of log odds, each with the fewest and the most columns that it is for.
FITS: tuple[tuple[Callable[[FloatArray, FloatArray], Score], int, int], ...] = (
    (fit_hinges, 1, 1),
    (fit_quadratic, 2, 64),
    (fit_additive, 2, MAX_ADDITIVE),
)


@dataclass(frozen=True)
class OddsBets:
    """Bets by each score, believed to each share, with each largest stake, against each point: in this order."""

    scores: tuple[Score | None, ...]
    n_points: int

    @property
    def there(self) -> NDArray[np.bool_]:
        """Which bets there are scores for."""
        of_each = len(BELIEVED) * len(MOST) * self.n_points
        return np.repeat(np.array([score is not None for score in self.scores], dtype=np.bool_), of_each)

    def growth(self, draws: Pair, points: Sequence[Point]) -> FloatArray:
        """Return the log of the factor of each bet on some draws."""
        grown: list[float] = []
        scores_of = Scored(draws)
        for score in self.scores:
            if score is None:
                grown += [0.0] * (len(BELIEVED) * len(MOST) * self.n_points)
                continue
            first, second = scores_of(score)
            grown += [
                odds_growth(believed * first, most, point, first=True)
                + odds_growth(believed * second, most, point, first=False)
                for believed in BELIEVED
                for most in MOST
                for point in points
            ]
        return np.array(grown)


def odds_growth(odds: FloatArray, most: float, point: Point, *, first: bool) -> float:
    """Return the growth of one bet on draws of one data set, whose log odds of the first data set are given."""
    chance, least = float(special.expit(point.epsilon)), math.exp(-point.epsilon)
    rises, falls = (np.clip(special.expit(side) / chance - 1, 0.0, most * least) for side in (odds, -odds))
    right, wrong = (rises, falls) if first else (falls, rises)
    price = math.log1p(0.5 * most * least * (point.forward + point.backward))
    return float((np.log1p(right) + np.log1p(-wrong / least)).sum() - len(odds) * price)


def bets_on_odds(past: Pair, points: Sequence[Point]) -> OddsBets:
    """Return the bets by scores that are fitted on past draws."""
    enough, width = min(len(past[0]), len(past[1])) > 1, past[0].shape[1]
    fits = [fit for fit, least, most in FITS if least <= width <= most]
    return OddsBets(tuple(fit(*past) if enough else None for fit in fits), len(points))
