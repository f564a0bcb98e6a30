"""A mechanism of which one number of each output is looked at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.numerics.transcripts import batches

#: Rows of the first batch, which shows how wide an output is.
FIRST_ROWS = 256


@dataclass(frozen=True)
class ScoredMechanism:
    """A mechanism of which one number of each output is looked at: post-processing, at least as private.

    Parameters
    ----------
    mechanism : Mechanism
        What is drawn from.
    score : callable
        From outputs ``(n, k)`` to scores ``(n,)``, row by row.
    words : str
        What the score is.
    """

    mechanism: Mechanism
    score: Callable[[FloatArray], FloatArray]
    words: str = "a score of each output"

    @property
    def name(self) -> str:
        """The mechanism, and what is looked at."""
        return f"{self.mechanism.name}: {self.words}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return one score of each of as many outputs, shape ``(n_draws, 1)``; the outputs are not kept."""
        scores = np.empty((n_draws, 1))
        head = self.mechanism.draw(dataset, min(FIRST_ROWS, n_draws), rng=rng)
        scores[: len(head), 0] = self.score(head)
        rest = scores[len(head) :]
        for part in batches(len(rest), 4 * head.shape[1]):
            rest[part, 0] = self.score(self.mechanism.draw(dataset, part.stop - part.start, rng=rng))
        return scores
