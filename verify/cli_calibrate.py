"""``pdp-verify calibrate``: the instrument measured against itself."""

from __future__ import annotations

import platform
import shlex
import signal
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from .cli_run import DEFAULT_SEED, default_jobs, prepare_folder, resume_command, terminated, write_run
from .cli_typed import typed, will_go_on
from .errors import Defect, UserError
from .worker import PROFILES

if TYPE_CHECKING:
    from .calibration.record import Calibration


@click.command()
@click.option("--profile", type=click.Choice(PROFILES), default="standard", show_default=True, help="How many audits.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes [default: one a processor].")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of record and report [default: pdp-verify-out/<n>]."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Use an existing --out: keep its finished audits (and its profile and seed), replace its record and report.",
)
def calibrate(profile: str, seed: int, jobs: int | None, out: Path | None, resume: bool) -> int:
    """Audit true claims many times and count false alarms; audit mutants and count refutations.

    Leaves a record (calibration.jsonl), run.json and a report (calibration.pdf) in the output folder. Exits with 0 when
    every false-alarm rate is compatible with its level (and every mutant and invalid auditor is found), 1 otherwise,
    130 when interrupted.
    """
    folder = prepare_folder(out, resume=resume)

    from .record import CALIBRATION, holds_certificate

    if (folder / "audit.jsonl").exists() or holds_certificate(folder):
        raise UserError(f"out must not be the folder of a run or a certificate, got out={out}")
    record, pages = folder / CALIBRATION, folder / "calibration.pdf"

    from .calibration.findings import unexpected
    from .calibration.record import begin, render, write
    from .calibration.run import calibrate as measure
    from .calibration.run import tasks
    from .store import Store
    from .versions import library_versions
    from .watch import Follower

    will_go_on(resume_command(folder))
    if record.exists():
        profile, seed = _settings_of(folder, profile, seed)
    else:
        begin(record, profile, seed, n_tasks=len(tasks(profile, seed)))
    started, clock, jobs = datetime.now(UTC), time.monotonic(), jobs or default_jobs()
    before = signal.signal(signal.SIGTERM, terminated)
    store = Store(folder / "store.sqlite")
    try:
        with Follower(partial(click.echo, err=True), tasks="tasks of repetitions") as follower:
            outcome = measure(profile, seed, jobs=jobs, store=store, watcher=follower)
    finally:
        store.close()
        signal.signal(signal.SIGTERM, before)
    found = outcome.calibration
    write(found, record)
    wrong = unexpected(found.rows, complete=found.complete)
    code = 130 if outcome.interrupted else 1 if wrong else 0
    about: dict[str, object] = {
        "schema_version": 1,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 3),
        "command": shlex.join(["pdp-verify", *typed()]),
        "jobs": jobs,
        "host": platform.node(),
        "system": platform.platform(),
        "versions": library_versions(),
        "reused_tasks": outcome.reused,
        "exit_code": code,
    }
    write_run(folder, about)
    try:
        render(found, about, pages)
    except ValueError as stop:
        raise Defect(f"the report could not be set ({stop}); the record is {record}") from stop
    _summarise(found, wrong)
    click.echo(f"record  {record}")
    click.echo(f"report  {pages}")
    if outcome.interrupted:
        click.echo(f"next    {resume_command(folder)}")
    return code


def _settings_of(folder: Path, profile: str, seed: int) -> tuple[str, int]:
    """Return profile and seed of the calibration in a folder; those that were typed must be the same."""
    from .calibration.record import read
    from .record import CALIBRATION

    header, context = read(folder / CALIBRATION).header, click.get_current_context()
    for name, value in (("profile", profile), ("seed", seed)):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT and value != header[name]:
            raise UserError(f"{name} must be that of the calibration in {folder} ({header[name]}), got {name}={value}")
    return header["profile"], header["seed"]


def _summarise(found: Calibration, wrong: list[str]) -> None:
    """Print the unexpected first, then what was counted and the smallest violations found."""
    for line in wrong:
        click.echo(f"UNEXPECTED  {line}")
    rates = [row for row in found.rows if row["kind"] == "rate"]
    mutants = [row for row in found.rows if row["kind"] == "mutant"]
    for row in mutants:
        if row["graded"]:
            least = row["smallest_found"]
            click.echo(f"smallest found  {'none' if least is None else format(least, 'g'):>6}  {row['name']}")
    stated = [row["found"] for row in mutants if row["found"] is not None]
    if stated:
        power = f"{sum(stated)} of {len(stated)} mutants found at their stated strength"
    else:
        power = "the quick profile tests no mutants" if found.header["profile"] == "quick" else "no mutants tested yet"
    click.echo(f"{sum(row['repeats'] for row in rates)} audits of true claims, {len(rates)} rates; {power}")
    if not found.complete:
        click.echo(f"interrupted: {found.header['tasks_done']} of {found.header['tasks']} tasks were done")
    elif wrong:
        click.echo(f"{len(wrong)} findings are not as expected")
    else:
        click.echo("every rate is compatible with its level")
