"""All pages in the order of the papers, and the document they make."""

from __future__ import annotations

import importlib
from collections.abc import Iterable

from reports.row import Audience, Bullets, Document, Paragraph

from .figure_page import Page

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
