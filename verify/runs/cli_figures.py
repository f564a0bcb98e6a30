"""``pdp-verify figures``: the papers' figures on synthetic and embedded data, as pages of a PDF."""

from __future__ import annotations

import itertools
import tempfile
from pathlib import Path

import click

from ..cli_typed import DOCUMENT
from ..cli_work import DEFAULT_SEED, default_jobs


@click.command()
@click.option(
    "-o",
    "--output",
    type=DOCUMENT,
    default=Path("figures.pdf"),
    show_default=True,
    help="File to write (.pdf, .md or .html); an existing one is replaced.",
)
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
def figures(output: Path, seed: int, jobs: int | None) -> None:
    """Make the papers' figures again: setting as printed, what was chosen, and what is seen.

    The same seed gives the same numbers, whatever the number of processes. Needs no data; takes a minute or two.
    """
    from reports.formats import write_document

    from ..engine.figures import drawn_figures
    from ..engine.work import mapped
    from ..figures.figure_page import MODULES, Page, document, draw
    from ..messages.errors import UserError

    if output.is_dir():
        raise UserError(f"output must be a file, got output={output} (a folder)")
    try:
        with tempfile.TemporaryFile(dir=output.absolute().parent):  # before minutes are spent
            pass
    except OSError as stop:
        rule = "in a folder that exists and can be written"
        raise UserError(f"output must be {rule}, got output={output} ({stop.strerror})") from stop
    jobs = jobs or default_jobs()
    done = itertools.count(1)

    def tell(_: object, page: Page) -> None:
        click.echo(f"[{next(done)}/{len(MODULES)}] {page.title}", err=True)

    pages = mapped(draw, [(module, seed) for module in MODULES], jobs, told=tell)
    book = document(pages, seed=seed)
    write_document(book, output, figures=drawn_figures(book, jobs))
    click.echo(str(output))
