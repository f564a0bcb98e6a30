"""The papers' figures on pages: what one shows, under which setting, and the document of all of them."""

from __future__ import annotations

import importlib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from audits import StreamKey
from reports.row import Audience, Bullets, Document, Fact, Facts, Figure, Paragraph, Section, TextStyle


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


#: Catalogue id and printed number, and the module that draws it.
MODULES = (
    "papers.wang2019.figures.w19_fig_1",
    "papers.wang2019.figures.w19_fig_2",
    "papers.redberg_wang2021.figures.rw21_fig_1",
    "papers.redberg_wang2021.figures.rw21_fig_2",
    "papers.redberg_wang2021.figures.rw21_fig_4",
    "papers.redberg_wang2021.figures.rw21_fig_5",
    "papers.wang2018.figures.w18_fig_3",
    "papers.wang2018.figures.w18_fig_5",
)


def draw(task: tuple[str, int]) -> Page:
    """Return the page of one module; a pure function of ``(module, seed)``, picklable for worker processes."""
    module, seed = task
    made: Page = importlib.import_module(f"verify.{module}").page(seed)
    return made


def document(pages: Iterable[Page], *, seed: int) -> Document:
    """Return the pages as one document; it holds nothing private."""
    pages = tuple(pages)
    return Document(
        title="The papers' figures, made again",
        sections=tuple(page.section() for page in pages),
        subtitle="Synthetic and embedded data, exact losses where they are known",
        front=(
            Paragraph(
                "Each page shows one published figure on data that need no download, with the setting that the paper "
                "states, what it leaves open and was chosen here, and what is seen. Mechanisms run with the constants "
                "that their papers print, also where a guarantee printed with them has been refuted: these pages are "
                f"about utility and the size of losses, not about guarantees. Seed {seed}."
            ),
            Bullets(tuple(f"{page.title}: {page.id}" for page in pages)),
        ),
        running_header="pdp-verify figures",
        audience=Audience.RELEASE,
    )
