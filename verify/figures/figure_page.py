"""One page: what a published figure shows, under which setting, and what is seen when it is made again."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from audits import StreamKey
from reports.row import Audience, Fact, Facts, Figure, Paragraph, Section, TextStyle


@dataclass(frozen=True)
class Page:
    """A published figure made again.

    Attributes
    ----------
    id : str
        Catalogue id (``W19-FIG1``).
    title : str
        Paper and printed number, in words.
    stated : tuple of (label, value)
        The setting that the paper states.
    chosen : tuple of str
        What the paper does not state, and what was taken instead.
    shows : str
        What is seen, in a sentence or two, with the numbers of this run.
    figures : tuple of Figure
    """

    id: str
    title: str
    stated: tuple[tuple[str, str], ...]
    chosen: tuple[str, ...]
    shows: str
    figures: tuple[Figure, ...]

    def section(self) -> Section:
        """Return the page; nothing on it depends on private data."""
        return Section(
            self.title,
            1,
            (
                Paragraph(self.shows, TextStyle.LEAD),
                Facts(tuple(Fact(label, value) for label, value in self.stated)),
                Paragraph("Not stated in the paper, and chosen here: " + "; ".join(self.chosen) + ".", TextStyle.NOTE),
                *self.figures,
            ),
            audience=Audience.RELEASE,
            kicker=self.id,
            id=self.id,
        )


def stream(seed: int, *names: str) -> np.random.Generator:
    """Return the generator of one named part of a figure."""
    return StreamKey(seed).child("figure", *names).rng()


def floats(values: object) -> tuple[float, ...]:
    """Return a vector as a tuple of plain floats."""
    return tuple(float(v) for v in np.asarray(values, dtype=np.float64).ravel())


def listed(values: Sequence[float], digits: int = 3) -> str:
    """Return numbers as text, separated by commas."""
    return ", ".join(f"{value:.{digits}g}" for value in values)
