"""Draws made once and handed out again, so that every question about a pair reads the same sample.

Each question is valid at its own level whatever sample it reads, so sharing the draws costs nothing but independence
between the questions, which nobody uses (Bonferroni).
"""

from __future__ import annotations

from typing import Any, Protocol, runtime_checkable

import numpy as np

from mechanisms.base import Mechanism
from mechanisms.data.dataset import FloatArray

from ..streams import StreamKey
from ..subject.output_leaves import SYMBOLS


@runtime_checkable
class DrawsBoth(Protocol):
    """A source whose draws of both data sets of a pair are made together, since what slows one slows the other."""

    def draw_both(self, n_each: int, key: StreamKey) -> tuple[FloatArray, FloatArray, float]:
        """Return rows of either data set, and the share of the failure probability that they may be asked for."""
        ...


@runtime_checkable
class Encodes(Protocol):
    """A source whose rows stand for outputs that may be objects."""

    def as_drawn(self, rows: FloatArray) -> FloatArray | list[Any]:
        """Return rows in the form in which the mechanism draws."""
        ...


class Recorded:
    """A sample of ``n_each`` float rows from each data set of a pair.

    Parameters
    ----------
    source : Mechanism
        Float rows of constant width.
    pair
        Anything with ``first`` and ``second``.
    n_each : int
        Draws of each data set.
    key : StreamKey

    Attributes
    ----------
    first, second : (n_each, k) array
    share : float
        Share of the failure probability that all questions about the sample together may spend; 1 unless the source
        might have begun it again.
    """

    def __init__(self, source: Mechanism, pair: Any, n_each: int, key: StreamKey) -> None:
        self.source, self.pair = source, pair
        self.share = 1.0
        if isinstance(source, DrawsBoth):
            self.first, self.second, self.share = source.draw_both(n_each, key)
        else:
            self.first = source.draw(pair.first, n_each, rng=key.child("first").rng())
            self.second = source.draw(pair.second, n_each, rng=key.child("second").rng())

    @property
    def symbols(self) -> str:
        """Why no density may be asked about the sample: a symbol among its rows; empty when there is none."""
        for rows in (self.first, self.second):
            with np.errstate(invalid="ignore"):
                if ((rows >= SYMBOLS) & (rows < 2 * SYMBOLS)).any():
                    return "some outputs are not rows of numbers like the others"
        return ""

    def as_drawn(self, rows: FloatArray) -> FloatArray | list[Any]:
        """Return rows in the form in which a stated law is asked about them."""
        return self.source.as_drawn(rows) if isinstance(self.source, Encodes) else rows

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
        rows: FloatArray = getattr(self._recorded, member)
        start = self._read[member]
        self._read[member] = stop = start + n_draws
        if stop <= len(rows):
            return rows[start:stop]
        more = self._recorded.source.draw(dataset, stop - max(start, len(rows)), rng=rng)
        return np.concatenate([rows[start:], more])

    def log_density(self, outputs: FloatArray, dataset: Any) -> FloatArray:
        """Return the stated log density, shape ``(n_draws,)``."""
        return _column(self._stated.log_density(self._recorded.as_drawn(outputs), dataset), len(outputs), "log_density")

    def privacy_loss(self, outputs: FloatArray, pair: Any) -> FloatArray:
        """Return the loss that the stated densities give, or the stated one where there is no density."""
        if callable(getattr(self._stated, "log_density", None)):
            with np.errstate(invalid="ignore"):  # -inf less -inf: such an output is refused by the test of the law
                return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)
        return self.stated_loss(outputs, pair)

    def stated_loss(self, outputs: FloatArray, pair: Any) -> FloatArray:
        """Return the loss as the mechanism states it, shape ``(n_draws,)``."""
        return _column(self._stated.privacy_loss(self._recorded.as_drawn(outputs), pair), len(outputs), "privacy_loss")

    def profile(self, pair: Any) -> Any:
        """Return the law of the loss as the mechanism states it."""
        return self._stated.profile(pair)


def _column(values: Any, n: int, name: str) -> FloatArray:
    column = np.asarray(values, dtype=np.float64)
    if column.shape != (n,):
        raise ValueError(f"{name} must return shape ({n},), got shape={column.shape}")
    return column
