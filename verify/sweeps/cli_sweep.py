"""``pdp-verify sweep``: one claim over a grid of parameters."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..cli_typed import DOCUMENT, typed
from ..cli_work import check_scheduler, executor_of
from ..messages.errors import Defect, UserError

if TYPE_CHECKING:
    from .sweep_run import Sweep


@click.command()
@click.argument("grid", type=click.Path(path_type=Path))
@click.option("--store", type=click.Path(path_type=Path), help="File of the rows [default: GRID with suffix .sqlite].")
@click.option("--status", is_flag=True, help="Tell how far the sweep is; decide nothing.")
@click.option("--retry-failed", is_flag=True, help="Try crashed cells again, on the same streams; never a verdict.")
@click.option("--max-time", type=float, help="Seconds after which no more cells are begun; the rest stay absent.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT.")
@click.option("--export", type=click.Path(path_type=Path), help="Write the table: .parquet or .jsonl.")
@click.option("--report", type=DOCUMENT, help="Summary [default: the store with suffix .pdf and .html].")
def sweep(
    grid: Path,
    store: Path | None,
    status: bool,
    retry_failed: bool,
    max_time: float | None,
    jobs: int | None,
    scheduler: str | None,
    export: Path | None,
    report: Path | None,
) -> int:
    """Decide every cell of GRID (a TOML file: docs/scaling.md) that has no row in the store yet.

    Interrupt it, kill it, run it twice at once: the rows in the end are the same, each cell counted once. Exits with 0
    when every claim holds, 1 when one fails, 3 when some are undecided or were not reached, 4 when cells crashed, 130
    when interrupted.
    """
    if max_time is not None and not max_time > 0:
        raise UserError(f"max_time must be above 0, got max_time={max_time}")
    if status and (retry_failed or scheduler or max_time is not None):
        raise UserError("--status must come alone or with --store, --export and --report, got a further option")
    from ..engine.follow import Follower
    from ..engine.store import Store
    from ..messages.faults import withheld
    from .grid import read_grid
    from .sweep_run import Sweep, check_export

    cells = read_grid(grid, tell=lambda line: click.echo(line, err=True))
    path = store or grid.with_suffix(".sqlite")
    check_scheduler(jobs, scheduler, private=cells.private)
    if export:
        check_export(export)
    if status and not path.exists():
        click.echo(f"0 of {len(cells)} cells done: there is no store yet ({path})")
        return 3
    hidden, store_of = withheld(cells.private), Store(path, private=cells.private, many=True)
    with hidden, store_of as rows, Follower("cells", left=True) as follower:
        work = Sweep(cells, rows, follower)
        if not status:
            spends = cells.spends()
            words = f"failure probability {spends:.3g} in total" if spends else "all exact"
            follower.say(f"{cells.name}: {len(cells)} cells, {words}")
            where = executor_of(jobs, scheduler, follower.say, private=cells.private, apart=True)
            work.run(where, retry_failed=retry_failed, max_time=max_time)
        beside = [] if status else [path.with_suffix(suffix) for suffix in (".pdf", ".html")]
        return _finish(work, export, [report] if report else beside)


def _finish(work: Sweep, export: Path | None, reports: Sequence[Path]) -> int:
    """Write the summary and the table, print the counts, and return the exit code."""
    from reports.formats import write_document

    from ..engine.figures import drawn_figures
    from ..engine.store import refused
    from ..messages.faults import DAMAGE, keep_traceback
    from . import sweep_run as table
    from .sweep_pages import document, exit_code, tally
    from .sweep_run import WORDS

    try:
        counted = tally(work)
    except DAMAGE as stop:
        why = f"a row is not as it was written: {type(stop).__name__}, {keep_traceback(stop)}"
        raise refused(work.store.path, why) from stop
    try:
        if export:
            table.export(work, export)
        if reports:
            paper = document(work, counted, date=datetime.now(UTC).date().isoformat())
            figures = drawn_figures(paper, 1)
            for report in reports:
                write_document(paper, report, figures=figures, mode=0o600 if work.grid.private else 0o666)
    except ValueError as stop:
        raise Defect(f"the summary could not be set ({stop}); the rows are in {work.store.path}") from stop
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got {stop.filename} ({stop.strerror})") from stop
    counts: Counter[str] = counted.counts
    for (mechanism, loss), group in counted.groups.items():
        parts = ", ".join(f"{group.counts[word]} {words}" for word, words in WORDS.items() if group.counts[word])
        click.echo(f"{mechanism}, {loss}: {parts}")
    click.echo(f"{counted.n_rows} of {len(work.grid)} cells done")
    click.echo(f"rows    {work.store.path}")
    for name, path in (("table", export), *(("report", path) for path in reports)):
        if path:
            click.echo(f"{name:<8}{path}")
    if counted.n_rows < len(work.grid):
        click.echo(f"next    {shlex.join(['pdp-verify', *(word for word in typed() if word != '--status')])}")
    elif counts["ERROR"]:
        click.echo(f"next    {shlex.join(['pdp-verify', *typed(), '--retry-failed'])}")
    return exit_code(work, counts)
