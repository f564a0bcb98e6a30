"""Is a stated profile (the law of the privacy loss) that of the sampled loss?"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.stats import binom

from mechanisms.base import BOTH, Direction

from .base import Budget
from .multiplicity import even_share
from .stated_law import LawAudit, LawTest, drawn_pair, n_learning, stated_loss
from .tails import ROUNDING

FloatArray = NDArray[np.float64]

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
    """
    draws = drawn_pair(mechanism, pair, budget, "profile") if outputs is None else outputs
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
    level = even_share(budget.failure_prob, len(tests))
    levelled = [LawTest(name, words, p, level, event, hits) for name, words, p, event, hits in tests]
    return LawAudit(tuple(levelled), budget.failure_prob, n_draws)


def _at(law: Any, epsilon: float, direction: Direction, losses: FloatArray) -> list[tuple[str, str, float, str, int]]:
    """Return the tests (name, words, p-value, event, hits) of a profile at one epsilon in one direction."""
    # a loss within rounding of epsilon counts on either side, so that atoms of the loss accuse nobody
    slack, found = ROUNDING * max(1.0, abs(epsilon)), []
    event = f"epsilon {epsilon:.4g}, {direction.value}"
    if hasattr(law, "tail_at"):
        tail = float(law.tail_at(epsilon, direction))
        low, high = int((losses > epsilon + slack).sum()), int((losses > epsilon - slack).sum())
        p_value = two_sided(low, high, losses.size, tail)
        words = f"P(loss > epsilon) is stated to be {tail:.6g}, and {low} of {losses.size} losses lie there"
        found.append(("tail of the profile", words, p_value, event, low))
    delta = float(law.delta_at(epsilon, direction))
    with np.errstate(over="ignore"):
        payoff = -np.expm1(np.minimum(epsilon - losses, 0.0))
    words = f"delta is stated to be {delta:.6g}, and the draws have {payoff.mean():.6g}"
    found.append(("delta of the profile", words, mean_p_value(payoff, delta), event, int((payoff > 0).sum())))
    return found


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
    capital = np.logaddexp.reduce(paths, axis=0) - np.log(len(paths))
    return float(np.exp(-max(0.0, float(capital.max()))))
