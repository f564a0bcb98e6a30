"""``pdp-verify calibrate``: the instrument measured against itself."""

from __future__ import annotations

import platform
import shlex
import time
from datetime import UTC, datetime
from pathlib import Path

import click

from .cli_run import DEFAULT_SEED, default_jobs, prepare_folder, write_run
from .cli_typed import typed
from .errors import Defect
from .worker import PROFILES

SCHEMA_VERSION = 1


@click.command()
@click.option("--profile", type=click.Choice(PROFILES), default="standard", show_default=True, help="How many audits.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes [default: one a processor].")
@click.option("--out", type=click.Path(path_type=Path), help="Folder of the result [default: pdp-verify-out/<n>].")
def calibrate(profile: str, seed: int, jobs: int | None, out: Path | None) -> int:
    """Audit true claims many times and count false alarms; audit mutants and count refutations.

    Leaves a record (calibration.jsonl), run.json and a report (calibration.pdf) in the output folder. Exits with 0 when
    every false-alarm rate is compatible with its level (and every mutant and invalid auditor is found), 1 otherwise.
    """
    folder = prepare_folder(out, resume=False)

    from reports.document import render_pdf
    from reports.files import write_atomic

    from .calibration.layout import document
    from .calibration.run import calibrate as measure
    from .calibration.run import unexpected
    from .rows import dumps
    from .versions import library_versions, own_version, platform_tag
    from .worker import one_blas_thread

    started, clock, jobs = datetime.now(UTC), time.monotonic(), jobs or default_jobs()
    with one_blas_thread():
        rows = measure(profile, seed, jobs, _progress)
    header = {
        "kind": "calibration",
        "schema_version": SCHEMA_VERSION,
        "version": own_version(),
        "platform": platform_tag(),
        "profile": profile,
        "seed": seed,
    }
    text = "\n".join(dumps(row) for row in (header, *rows)) + "\n"
    write_atomic(folder / "calibration.jsonl", text.encode())
    wrong = unexpected(rows)
    finished = datetime.now(UTC)
    write_run(
        folder,
        {
            "schema_version": 1,
            "started": started.isoformat(timespec="seconds"),
            "finished": finished.isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - clock, 3),
            "command": shlex.join(["pdp-verify", *typed()]),
            "jobs": jobs,
            "host": platform.node(),
            "system": platform.platform(),
            "versions": library_versions(),
            "exit_code": 1 if wrong else 0,
        },
    )
    try:
        render_pdf(document(header, rows, date=finished.date().isoformat()), folder / "calibration.pdf")
    except ValueError as stop:
        raise Defect(f"the report could not be set ({stop}); the record is {folder / 'calibration.jsonl'}") from stop
    rates = [row for row in rows if row["kind"] == "rate"]
    click.echo(f"{sum(row['repeats'] for row in rates)} audits of true claims, {len(rates)} rates")
    for row in rows:
        if row["kind"] == "mutant" and len(row["grades"]) > 1:
            least = row["smallest_found"]
            click.echo(f"smallest found  {'none' if least is None else format(least, 'g'):>6}  {row['name']}")
    for line in wrong:
        click.echo(f"UNEXPECTED  {line}")
    click.echo("every rate is compatible with its level" if not wrong else f"{len(wrong)} findings are not as expected")
    click.echo(f"record  {folder / 'calibration.jsonl'}")
    click.echo(f"report  {folder / 'calibration.pdf'}")
    return 1 if wrong else 0


def _progress(done: int, of: int) -> None:
    """Say on stderr how far it is, about twenty times."""
    if done == of or done * 20 // of > (done - 1) * 20 // of:
        click.echo(f"{done} of {of} tasks", err=True)
