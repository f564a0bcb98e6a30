"""Draws made once and handed out again, so that every question about a pair reads the same sample.

Each question is valid at its own level whatever sample it reads, so sharing the draws costs nothing but independence
between the questions, which nobody uses (Bonferroni).
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.data.dataset import FloatArray

from ..estimate import StreamKey
from ..harness.forms import Rebuilt
from ..harness.output_leaves import ABSENT, SYMBOLS

#: Most forms of outputs about which a density is asked.
MOST_FORMS = 500


@runtime_checkable
class DrawsBoth(Protocol):
    """A source whose draws of both data sets of a pair are made together, since what slows one slows the other."""

    def draw_both(self, n_each: int, key: StreamKey) -> tuple[FloatArray, FloatArray, float]:
        """Return rows of either data set, and the share of the failure probability that they may be asked for."""
        ...


@runtime_checkable
class Encodes(Protocol):
    """A source whose outputs may be objects, with other rows of the same draws that make them again."""

    @property
    def rebuilt(self) -> Rebuilt | None:
        """What makes them, where outputs are objects."""
        ...

    def drawn_twice(self, dataset: Any, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return rows, and the same draws as rows that a density is asked about."""
        ...


class Recorded:
    """A sample of ``n_each`` float rows from each data set of a pair.

    ``source``: float rows of constant width. ``pair``: anything with ``first`` and ``second``. ``n_each``: draws of
    each data set. ``first``, ``second``, (n_each, k) array. ``asked``: the same draws as rows that a stated law is
    asked about, first and second data set. ``rebuilt``: makes the outputs of these rows, where outputs are objects.
    ``share``: share of the failure probability that all questions about the sample together may spend; 1 unless the
    source might have begun it again.
    """

    def __init__(self, source: Mechanism, pair: Any, n_each: int, key: StreamKey) -> None:
        self.source, self.pair = source, pair
        self.share = 1.0
        self.rebuilt = source.rebuilt if isinstance(source, Encodes) else None
        if isinstance(source, DrawsBoth):
            self.first, self.second, self.share = source.draw_both(n_each, key)
            self.asked = (self.first, self.second)
            return
        self.first, first = self.draw(pair.first, n_each, key.child("first").rng())
        self.second, second = self.draw(pair.second, n_each, key.child("second").rng())
        self.asked = (first, second)

    def draw(self, dataset: Any, n_draws: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return new rows, and the same draws as rows that a stated law is asked about."""
        if self.rebuilt is not None and isinstance(self.source, Encodes):
            return self.source.drawn_twice(dataset, n_draws, rng)
        rows = self.source.draw(dataset, n_draws, rng=rng)
        return rows, rows

    @property
    def symbols(self) -> str:
        """Why no density may be asked about the sample: a symbol among its rows; empty when there is none."""
        for rows in self.asked:
            with np.errstate(invalid="ignore"):
                if ((rows >= SYMBOLS) & (rows < 2 * SYMBOLS) if self.rebuilt is None else rows == ABSENT).any():
                    return "some outputs are not rows of numbers like the others"
        return (
            "" if self.rebuilt is None or len(self.rebuilt.known) <= MOST_FORMS else "outputs differ in form too often"
        )

    def answer(self, stated: Any, name: str, rows: FloatArray, given: Any) -> FloatArray:
        """Return what a stated function says of rows, shape ``(n,)``: nothing (nan) of one that is no output."""
        function = getattr(stated, name)
        if self.rebuilt is None:
            return _column(function(rows, given), len(rows), name)
        outputs, possible = self.rebuilt.outputs(rows)
        values = np.full(len(rows), np.nan)
        if outputs:
            values[possible] = _column(function(outputs, given), len(outputs), name)
        return values

    def view(self, stated: Any = None) -> RecordedView:
        """Return a mechanism that reads the sample from its start; ``stated`` knows the law, if anything does."""
        return RecordedView(self, stated)


class RecordedView:
    """One reader of a recorded sample; what it asks for beyond the sample is drawn afresh."""

    def __init__(self, recorded: Recorded, stated: Any) -> None:
        self._recorded, self._stated = recorded, stated
        self._read = {"first": 0, "second": 0}

    @property
    def name(self) -> str:
        """Name of the mechanism."""
        return self._recorded.source.name

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return the next rows of the sample of this data set, shape ``(n_draws, k)``."""
        member = "first" if dataset is self._recorded.pair.first else "second"
        if member == "second" and dataset is not self._recorded.pair.second:
            raise ValueError("dataset must be a member of the recorded pair, got another one")
        recorded, stated = self._recorded, self._stated is not None
        rows = recorded.asked[member == "second"] if stated else getattr(recorded, member)
        start = self._read[member]
        self._read[member] = stop = start + n_draws
        if stop <= len(rows):
            return rows[start:stop]
        more = recorded.draw(dataset, stop - max(start, len(rows)), rng)
        return np.concatenate([rows[start:], more[stated]])

    def log_density(self, outputs: FloatArray, dataset: Any) -> FloatArray:
        """Return the stated log density, shape ``(n_draws,)``."""
        return self._recorded.answer(self._stated, "log_density", outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: Any) -> FloatArray:
        """Return the loss that the stated densities give, or the stated one where there is no density."""
        if callable(getattr(self._stated, "log_density", None)):
            with np.errstate(invalid="ignore"):  # -inf less -inf: such an output is refused by the test of the law
                return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)
        return self.stated_loss(outputs, pair)

    def stated_loss(self, outputs: FloatArray, pair: Any) -> FloatArray:
        """Return the loss as the mechanism states it, shape ``(n_draws,)``."""
        return self._recorded.answer(self._stated, "privacy_loss", outputs, pair)

    def profile(self, pair: Any) -> Any:
        """Return the law of the loss as the mechanism states it."""
        return self._stated.profile(pair)


def _column(values: Any, n: int, name: str) -> FloatArray:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n,):
        raise ValueError(f"{name} must return shape ({n},), got shape={column.shape}")
    return column
