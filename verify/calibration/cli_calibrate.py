"""``pdp-verify calibrate``: the instrument measured against itself."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.core import ParameterSource

from ..cli_typed import typed, will_go_on
from ..cli_work import DEFAULT_SEED, check_scheduler, executor_of, prepare_folder, resume_command
from ..engine.worker import PROFILES
from ..messages.errors import Defect, UserError

if TYPE_CHECKING:
    from .calibration_record import Calibration


@click.command()
@click.option("--profile", type=click.Choice(PROFILES), default="standard", show_default=True, help="How many audits.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes [default: one a processor].")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT.")
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of record and report [default: pdp-verify-out/<n>]."
)
@click.option(
    "--resume",
    is_flag=True,
    help="Use an existing --out: keep its finished audits (and its profile and seed), replace its record and report.",
)
def calibrate(profile: str, seed: int, jobs: int | None, scheduler: str | None, out: Path | None, resume: bool) -> int:
    """Audit true claims many times and count false alarms; audit mutants and count refutations.

    Leaves a record (calibration.jsonl), run.json and a report (calibration.pdf) in the output folder. Exits with 0 when
    every false-alarm rate is compatible with its level (and every mutant and invalid auditor is found), 1 otherwise,
    4 when a worker process died every time at the same audits, 130 when interrupted.
    """
    check_scheduler(jobs, scheduler)
    from ..engine.record import CALIBRATION, COMPARISON, holds_certificate

    folder = prepare_folder(out, resume=resume, leaves=(CALIBRATION, "run.json", "calibration.pdf"))

    if any((folder / name).exists() for name in ("audit.jsonl", COMPARISON)) or holds_certificate(folder):
        raise UserError(f"out must not be the folder of a run, a comparison or a certificate, got out={out}")
    record, pages = folder / CALIBRATION, folder / "calibration.pdf"

    from ..engine.follow import Follower
    from ..engine.store import Store
    from ..engine.versions import Clock, write_run
    from .calibration_pages import render
    from .calibration_record import begin, unexpected, write
    from .calibration_run import calibrate as measure
    from .calibration_run import tasks

    will_go_on(resume_command(folder))
    if record.exists():
        profile, seed = _settings_of(folder, profile, seed)
    else:
        begin(record, profile, seed, n_tasks=len(tasks(profile, seed)))
    clock = Clock()
    with Store(folder / "store.sqlite") as store, Follower("tasks of repetitions") as follower:
        executor = executor_of(jobs, scheduler, follower.say)
        outcome = measure(profile, seed, executor=executor, store=store, watcher=follower)
    calibration = outcome.calibration
    write(calibration, record)
    wrong = unexpected(calibration.rows, complete=calibration.complete)
    code = 130 if outcome.interrupted else 4 if outcome.crashed else 1 if wrong else 0
    about = clock.about(
        typed(), jobs=executor.slots, exit_code=code, reused_tasks=outcome.reused, worker_deaths=outcome.worker_deaths
    )
    write_run(folder, about)
    try:
        render(calibration, about, pages)
    except ValueError as stop:
        raise Defect(f"the report could not be set ({stop}); the record is {record}") from stop
    for name in outcome.crashed:
        click.echo(f"CRASHED  a worker process died every time at {name}")
    _summarise(calibration, wrong)
    click.echo(f"record  {record}")
    click.echo(f"report  {pages}")
    if not calibration.complete:
        click.echo(f"next    {resume_command(folder)}")
    return code


def _settings_of(folder: Path, profile: str, seed: int) -> tuple[str, int]:
    """Return profile and seed of the calibration in a folder; those that were typed must be the same."""
    from ..engine.record import CALIBRATION
    from .calibration_record import read

    header, context = read(folder / CALIBRATION).header, click.get_current_context()
    for name, value in (("profile", profile), ("seed", seed)):
        if context.get_parameter_source(name) is not ParameterSource.DEFAULT and value != header[name]:
            raise UserError(f"{name} must be that of the calibration in {folder} ({header[name]}), got {name}={value}")
    return header["profile"], header["seed"]


def _summarise(calibration: Calibration, wrong: list[str]) -> None:
    """Print the unexpected first, then what was counted and the smallest violations calibration."""
    for line in wrong:
        click.echo(f"UNEXPECTED  {line}")
    rates = [row for row in calibration.rows if row["kind"] == "rate"]
    mutants = [row for row in calibration.rows if row["kind"] == "mutant"]
    for row in mutants:
        if row["graded"]:
            least = row["smallest_found"]
            click.echo(f"smallest found  {'none' if least is None else format(least, 'g'):>6}  {row['name']}")
    stated = [row["found"] for row in mutants if row["found"] is not None]
    if stated:
        power = f"{sum(stated)} of {len(stated)} mutants found at their stated strength"
    else:
        power = (
            "the quick profile tests no mutants"
            if calibration.header["profile"] == "quick"
            else "no mutants tested yet"
        )
    click.echo(f"{sum(row['repeats'] for row in rates)} audits of true claims, {len(rates)} rates; {power}")
    if not calibration.complete:
        why = "not complete" if "crashed" in calibration.header else "interrupted"
        click.echo(f"{why}: {calibration.header['tasks_done']} of {calibration.header['tasks']} tasks were done")
    elif wrong:
        click.echo(f"{len(wrong)} findings are not as expected")
    else:
        click.echo("every rate is compatible with its level")
