"""``pdp-verify figures``: the papers' figures on synthetic and embedded data, as pages of a PDF."""

from __future__ import annotations

import tempfile
from pathlib import Path

import click

from .cli_run import DEFAULT_SEED, default_jobs


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default=Path("figures.pdf"),
    show_default=True,
    help="PDF to write; an existing file is replaced.",
)
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
def figures(output: Path, seed: int, jobs: int | None) -> None:
    """Make the papers' figures again: setting as printed, what was chosen, and what is seen.

    The same seed gives the same numbers, whatever the number of processes. Needs no data; takes a minute or two.
    """
    from reports.document import render_pdf
    from reports.figures import figure_svg
    from reports.row import Figure, HeatMap

    from .errors import UserError
    from .paper_figures.book import MODULES, document, draw
    from .pool import spread

    if output.is_dir():
        raise UserError(f"output must be a file, got output={output} (a folder)")
    try:
        with tempfile.TemporaryFile(dir=output.absolute().parent):  # before minutes are spent
            pass
    except OSError as stop:
        rule = "in a folder that exists and can be written"
        raise UserError(f"output must be {rule}, got output={output} ({stop.strerror})") from stop
    jobs = jobs or default_jobs()
    tasks = [(module, seed) for module in MODULES]
    pages = {}
    for done, (task, page) in enumerate(spread(draw, tasks, jobs), start=1):
        pages[task] = page
        click.echo(f"[{done}/{len(tasks)}] {page.title}", err=True)
    book = document([pages[task] for task in tasks], seed=seed)
    drawn = [block for block in book.blocks() if isinstance(block, Figure | HeatMap)]
    render_pdf(book, output, figures={each.name: svg for each, svg in spread(figure_svg, drawn, jobs)})
    click.echo(str(output))
