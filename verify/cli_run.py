"""``pdp-verify run``: the main job."""

from __future__ import annotations

import json
import os
import platform
import shlex
import signal
import tempfile
import time
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, NoReturn

import click

from .cli_typed import typed, will_go_on
from .errors import Defect, UserError
from .worker import PROFILES, Settings

if TYPE_CHECKING:
    from .run import Findings

DEFAULT_SEED = 20210527
DEFAULT_FAILURE_PROB = 1e-4


def default_jobs() -> int:
    """Return the number of processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID ...]")
@click.option("--profile", type=click.Choice(PROFILES), default="standard", show_default=True, help="How much to draw.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes [default: one a processor].")
@click.option(
    "--failure-prob",
    type=float,
    default=DEFAULT_FAILURE_PROB,
    show_default=True,
    help="Total failure probability, in (0, 1).",
)
@click.option(
    "--out", type=click.Path(path_type=Path), help="Folder of record and report [default: pdp-verify-out/<n>]."
)
@click.option(
    "--resume", is_flag=True, help="Use an existing --out: keep its finished cases, replace its record and report."
)
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def run(
    ids: tuple[str, ...],
    profile: str,
    seed: int,
    jobs: int | None,
    failure_prob: float,
    out: Path | None,
    resume: bool,
    as_json: bool,
) -> int:
    """Decide the statements with these ids (all of them when none is given).

    Leaves a record (audit.jsonl), run.json, junit.xml and a report (audit.pdf) in the output folder. Exits with 0 when
    every verdict is the expected one, 1 when one differs, 4 when a check of ours broke, 130 when interrupted.
    """
    if not 0 < failure_prob < 1:
        raise UserError(f"failure_prob must be in (0, 1), got failure_prob={failure_prob}")
    from . import registry

    sources = registry.default().select(ids)
    folder = prepare_folder(out, resume=resume)

    from .record import CALIBRATION, holds_certificate, write

    if (folder / CALIBRATION).exists() or holds_certificate(folder):
        raise UserError(f"out must not be the folder of a calibration or a certificate, got out={out}")

    from reports.files import write_atomic

    from . import ledger
    from .publish import junit, publish
    from .run import execute
    from .store import Store
    from .versions import library_versions
    from .watch import Follower

    will_go_on(resume_command(folder))
    settings = Settings(seed, profile, failure_prob)
    jobs = jobs or default_jobs()
    started = datetime.now(UTC)
    clock = time.monotonic()
    before = signal.signal(signal.SIGTERM, terminated)
    store = Store(folder / "store.sqlite")
    try:
        with Follower(partial(click.echo, err=as_json)) as follower:
            findings = execute(sources, settings, ledger.default(), jobs=jobs, store=store, watcher=follower)
    finally:
        store.close()
        signal.signal(signal.SIGTERM, before)
    write(findings.record, folder / "audit.jsonl")
    about = {
        "schema_version": 1,
        "started": started.isoformat(timespec="seconds"),
        "finished": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": round(time.monotonic() - clock, 3),
        "seconds_of": findings.seconds,
        "command": shlex.join(["pdp-verify", *typed()]),
        "jobs": jobs,
        "host": platform.node(),
        "system": platform.platform(),
        "versions": library_versions(),
        "reused_rows": findings.reused,
        "exit_code": findings.exit_code,
    }
    write_run(folder, about)
    write_atomic(folder / "junit.xml", junit(findings.record))
    try:
        publish(findings.record, about, folder / "audit.pdf", jobs=1 if findings.interrupted else jobs)
    except ValueError as stop:
        raise Defect(f"the report could not be set ({stop}); the record is {folder / 'audit.jsonl'}") from stop
    if as_json:
        verdicts = list(findings.record.verdicts)
        click.echo(
            json.dumps({"record": str(folder / "audit.jsonl"), "exit_code": findings.exit_code, "verdicts": verdicts})
        )
    summarise(findings, folder, err=as_json, seconds=float(str(about["seconds"])))
    return findings.exit_code


def write_run(folder: Path, about: dict[str, object]) -> None:
    """Write ``run.json``: everything about the run that is not part of the record."""
    from reports.files import write_atomic

    write_atomic(folder / "run.json", (json.dumps(about, indent=2) + "\n").encode())


def prepare_folder(out: Path | None, *, resume: bool) -> Path:
    """Return a folder that exists and can be written, before any work is done.

    Raises
    ------
    UserError
        If it cannot be written, or holds a run already and ``resume`` was not asked for.
    """
    from .run import fresh_folder

    try:
        if out is None:
            if resume:
                raise UserError("--resume must come with --out, got no --out")
            return fresh_folder()
        if out.exists() and not out.is_dir():
            raise UserError(f"out must be a folder, got out={out}")
        if out.exists() and any(out.iterdir()) and not resume:
            raise UserError(
                f"out must be new or empty, got out={out}; --resume continues there and replaces its record"
            )
        out.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=out):
            pass
    except OSError as stop:
        raise UserError(
            f"out must be a folder that can be written, got out={stop.filename} ({stop.strerror})"
        ) from stop
    return out


def terminated(_: int, __: FrameType | None) -> NoReturn:
    """Take SIGTERM for Ctrl-C."""
    raise KeyboardInterrupt


def summarise(findings: Findings, folder: Path, *, err: bool, seconds: float) -> None:
    """Print the unexpected first, then the counts, both paths and the next command to type."""

    def say(line: str) -> None:
        click.echo(line, err=err)

    record = findings.record
    say("")
    if findings.errors:
        say(f"BROKEN: {len(findings.errors)} of our own checks stopped with an exception")
        for row in findings.errors:
            what = row.get("case") or f"figure {row['number']}"
            say(f"  {row['id']} {what}: {row['error']['type']}: {row['error']['message']}")
    if findings.unexpected:
        say("UNEXPECTED")
        for id_, messages in findings.unexpected.items():
            for message in messages:
                say(f"  {id_} {message}")
    if findings.still_open:
        why = "interrupted" if findings.interrupted else "open at this budget, not counted as a mismatch"
        say(f"{sum(map(len, findings.still_open.values()))} {why}:")
        for id_, messages in findings.still_open.items():
            for message in messages:
                say(f"  {id_} {message}")
    say(counts_line(findings) + f" in {seconds:.0f} s")
    path = shlex.quote(str(folder / "audit.jsonl"))
    say(f"record  {folder / 'audit.jsonl'}")
    say(f"report  {folder / 'audit.pdf'}")
    if findings.interrupted:
        say(f"next    {resume_command(folder)}")
        return
    pointed = next(iter(findings.unexpected), None) or next(
        (row["id"] for row in record.verdicts if row["printed"]["verdict"] == "REFUTED"), record.verdicts[0]["id"]
    )
    say(f"next    pdp-verify show {pointed} --record {path}")


def resume_command(folder: Path) -> str:
    """Return the command that goes on with what was interrupted."""
    words = [word for word in typed() if word != "--resume"]
    if not any(word == "--out" or word.startswith("--out=") for word in words):
        words += ["--out", str(folder)]
    return shlex.join(["pdp-verify", *words, "--resume"])


def counts_line(findings: Findings) -> str:
    """Return how many statements were decided how, cases and mutants."""
    whole = [row for row in findings.record.verdicts if row["parent"] is None]
    words = [
        f"{sum(row['printed']['verdict'] == verdict for row in whole)} {word}"
        for verdict, word in (
            ("SUPPORTED", "supported"),
            ("REFUTED", "refuted as printed"),
            ("UNDECIDED", "undecided"),
        )
    ]
    words.append(_count(sum(row["printed"]["verdict"] == "DEFINITION" for row in whole), "definition"))
    mutants = [row for row in findings.record.cases if row["standing"] == "MUTANT"]
    caught = sum(row["outcome"] == "FAILS" for row in mutants)
    refuted = f" {caught} of {_count(len(mutants), 'mutant')} refuted," if mutants else ""
    cases = _count(len(findings.record.cases) - len(mutants), "case")
    return f"{_count(len(whole), 'statement')}: {', '.join(words)}; {cases},{refuted}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
