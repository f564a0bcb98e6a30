"""Guesses from the scores of canaries of one training run, and how many of them were right."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.data.dataset import FloatArray

from ..stats.intervals import check_size

#: So many throws of a fair coin come out the same with a probability of at most 1e-15: they are taken for a mistake.
SURELY_MIXED = 51


@dataclass(frozen=True)
class GuessCounts:
    """How many canaries there were, for how many of them a guess was made, and how many guesses were right.

    Parameters
    ----------
    n_canaries : int
        At least 1; each was included, or not, by the throw of a fair coin of its own.
    n_guesses : int
        From 1 to ``n_canaries``; fixed before the run was looked at (docs/one_run.md says why).
    n_correct : int
        From 0 to ``n_guesses``.
    """

    n_canaries: int
    n_guesses: int
    n_correct: int

    def __post_init__(self) -> None:
        check_size(self.n_canaries)
        if not _whole_between(self.n_guesses, 1, self.n_canaries):
            raise ValueError(f"n_guesses must be from 1 to {self.n_canaries}, got n_guesses={self.n_guesses}")
        if not _whole_between(self.n_correct, 0, self.n_guesses):
            raise ValueError(f"n_correct must be from 0 to {self.n_guesses}, got n_correct={self.n_correct}")

    def __str__(self) -> str:
        """Return the counts in words."""
        return f"{self.n_correct} right of {self.n_guesses} guesses, {self.n_canaries} canaries"


def guess_counts(scores: ArrayLike, included: ArrayLike, n_guesses: int) -> GuessCounts:
    """Guess from both ends of the order of the scores, and count the right guesses.

    The highest scores (half of the guesses, and the odd one) are guessed to be included, the lowest not; between them
    nothing is guessed. Among equal scores at an end the wrong guesses are counted first, so that neither the order of
    the canaries nor a coarse score can help; independent noise of any small size makes such scores distinct.

    Parameters
    ----------
    scores : array_like, shape (m,)
        Of each canary, finite; made from what the run put out, never from ``included``. A higher score speaks for
        inclusion.
    included : array_like of bool, shape (m,)
        Whether each canary took part.
    n_guesses : int
        From 1 to ``m``.

    Raises
    ------
    ValueError
        For other shapes, scores that are not finite numbers, labels other than true and false, or the same
        for more than 50 canaries, or a wrong number of guesses.
    """
    given, labels = _numbers(scores), np.asarray(included)
    if given.ndim != 1 or not given.size:
        raise ValueError(f"scores must be a non-empty vector, got shape={given.shape}")
    if labels.shape != given.shape:
        raise ValueError(f"included must be as long as scores, got shape={labels.shape}, scores {given.shape}")
    if not np.isfinite(given).all():
        raise ValueError(f"scores must be finite, got {int((~np.isfinite(given)).sum())} that are not")
    if labels.dtype != np.bool_ and not np.isin(labels, (0, 1)).all():
        raise ValueError("included must be true or false (1 or 0), got other values")
    truth = labels.astype(np.bool_)
    if given.size >= SURELY_MIXED and truth.all() == truth.any():
        raise ValueError(f"included must be thrown by fair coins, got the same for all {given.size} canaries")
    GuessCounts(given.size, n_guesses, 0)
    order = np.lexsort((~truth, given))
    low, high = n_guesses // 2, n_guesses - n_guesses // 2
    correct = int((~truth[order[:low]]).sum()) + int(truth[order[given.size - high :]].sum())
    return GuessCounts(given.size, n_guesses, correct)


def _numbers(scores: ArrayLike) -> FloatArray:
    """Return scores as float64, or raise where they are no numbers: text that looks like a number is none."""
    given = np.asarray(scores)
    if given.dtype.kind not in "biuf":
        raise ValueError(f"scores must be real numbers, got dtype={given.dtype}")
    return given.astype(np.float64)


def _whole_between(number: int, low: int, high: int) -> bool:
    return isinstance(number, int) and not isinstance(number, bool) and low <= number <= high
