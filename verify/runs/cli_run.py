"""``pdp-verify run``: the main job."""

from __future__ import annotations

import json
import shlex
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..cli_typed import typed, will_go_on
from ..cli_work import DEFAULT_SEED, check_scheduler, default_jobs, executor_of, prepare_folder, resume_command
from ..engine.worker import PROFILES, RunSettings
from ..messages.errors import Defect, UserError

if TYPE_CHECKING:
    from ..kernel.rows import Row
    from .statement_run import Findings

DEFAULT_FAILURE_PROB = 1e-4
#: The files of a run, and the one that ``--full`` adds.
LEAVES, FULL = ("audit.jsonl", "run.json", "junit.xml", "audit.pdf", "audit.html"), "audit-full.pdf"


@click.command()
@click.argument("ids", nargs=-1, metavar="[ID ...]")
@click.option("--profile", type=click.Choice(PROFILES), default="standard", show_default=True, help="How much to draw.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), default=None, help="Worker processes [default: one a processor].")
@click.option("--scheduler", metavar="ADDRESS", help="Dask scheduler, tcp://HOST:PORT or tls://HOST:PORT.")
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
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    help="Folder of data that others published, for the statements about them (RW21-F3, F6 to F10).",
)
@click.option("--full", is_flag=True, help="Also leave audit-full.pdf: all the evidence, a section a statement.")
@click.option("--json", "as_json", is_flag=True, help="Print the verdicts as JSON.")
def run(
    ids: tuple[str, ...],
    profile: str,
    seed: int,
    jobs: int | None,
    scheduler: str | None,
    failure_prob: float,
    out: Path | None,
    resume: bool,
    data: Path | None,
    full: bool,
    as_json: bool,
) -> int:
    """Decide the statements with these ids (all of them when none is given).

    Leaves a record (audit.jsonl), run.json, junit.xml and a report (audit.pdf, audit.html) in the output folder. Exits
    with 0 when every verdict is the expected one, 1 when one differs, 4 when a check of ours broke, 130 when
    interrupted.
    """
    if not 0 < failure_prob < 1:
        raise UserError(f"failure_prob must be in (0, 1), got failure_prob={failure_prob}")
    check_scheduler(jobs, scheduler)
    from ..papers import registry
    from .given_data import given_sets, told

    sources = registry.default().select(ids)
    given = given_sets(sources, data) if data is not None else {}
    folder = prepare_folder(out, resume=resume, leaves=(*LEAVES, *((FULL,) if full else ())))

    from ..engine.record import CALIBRATION, COMPARISON, holds_certificate

    if any((folder / name).exists() for name in (CALIBRATION, COMPARISON)) or holds_certificate(folder):
        raise UserError(f"out must not be the folder of a calibration, a comparison or a certificate, got out={out}")

    from ..engine.follow import Follower
    from ..engine.store import Store
    from ..engine.versions import Clock
    from ..papers import ledger
    from .statement_run import execute, statement_line

    will_go_on(resume_command(folder))
    settings, clock = RunSettings(seed, profile, failure_prob), Clock()

    if data is not None:
        click.echo(told(sources, given), err=as_json)

    def tell(verdict: Row) -> None:
        if verdict["parent"] is None:  # the parts of a statement are left to ``show``
            click.echo(statement_line(verdict), err=as_json)

    with Store(folder / "store.sqlite") as store, Follower() as follower:
        executor = executor_of(jobs, scheduler, follower.say)
        findings = execute(
            sources,
            settings,
            ledger.default(),
            executor=executor,
            store=store,
            watcher=follower,
            tell=tell,
            given=given,
        )
    about = clock.about(
        typed(),
        jobs=executor.slots,
        exit_code=findings.exit_code,
        seconds_of=findings.seconds,
        reused_rows=findings.reused,
        worker_deaths=findings.worker_deaths,
    )
    leave(findings, folder, about, jobs=1 if findings.interrupted else jobs or default_jobs(), full=full)
    if as_json:
        verdicts = list(findings.record.verdicts)
        click.echo(
            json.dumps({"record": str(folder / "audit.jsonl"), "exit_code": findings.exit_code, "verdicts": verdicts})
        )
    _summarise(findings, folder, err=as_json, seconds=float(str(about["seconds"])), full=full)
    return findings.exit_code


def leave(findings: Findings, folder: Path, about: Row, *, jobs: int, full: bool) -> None:
    """Write what a run leaves: its record, what is not part of the record, and its pages."""
    from reports.files import write_atomic

    from ..engine.record import write
    from ..engine.versions import write_run
    from .publish import junit, publish

    write(findings.record, folder / "audit.jsonl")
    write_run(folder, about)
    write_atomic(folder / "junit.xml", junit(findings.record))
    paths, whole = (folder / "audit.pdf", folder / "audit.html"), [folder / FULL] if full else []
    try:
        publish(findings.record, about, *paths, jobs=jobs, full=whole)
    except ValueError as stop:
        raise Defect(f"the report could not be set ({stop}); the record is {folder / 'audit.jsonl'}") from stop


def _summarise(findings: Findings, folder: Path, *, err: bool, seconds: float, full: bool = False) -> None:
    """Print the unexpected first, then the counts, the paths and the next command to type."""
    from ..kernel.rows import DIED
    from ..kernel.words import case_sentence
    from ..messages.texts import labelled
    from .pages.causes import entries
    from .statement_run import defects

    def say(line: str) -> None:
        click.echo(line, err=err)

    record = findings.record
    say("")
    if findings.errors:
        say(f"BROKEN: {len(findings.errors)} of our own checks stopped with an exception")
        for row in findings.errors:
            what = row.get("case") or f"figure {row['number']}"
            say(f"  {row['id']} {what}: {row['error']['type']}: {row['error']['message']}")
    named = {(row["id"], message) for row in findings.errors if row["kind"] == "case" for message in defects([row])}
    lines = [(id_, message) for id_, messages in findings.unexpected.items() for message in messages]
    lines = [line for line in lines if line not in named]
    if lines:
        say("UNEXPECTED")
        for id_, message in lines:
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
    say(f"report  {folder / 'audit.pdf'}" + (f" and {folder / 'audit-full.pdf'}" if full else ""))
    say(f"pages   {folder / 'audit.html'}")
    if findings.interrupted or any(row["error"]["type"] == DIED for row in findings.errors):
        say(f"next    {resume_command(folder)}")
        return
    refuted = entries(record)
    if refuted and refuted[0].worst:
        say(labelled("worst", f"{refuted[0].id}. {case_sentence(refuted[0].worst)}", 8))
    pointed = next(iter(findings.unexpected), None) or (refuted[0].id if refuted else record.verdicts[0]["id"])
    say(f"next    pdp-verify show {pointed} --record {path}")
    if refuted:
        say(f"        pdp-verify errata {path} -o corrections.pdf")


def counts_line(findings: Findings) -> str:
    """Return how many statements were decided how, cases and mutants."""
    whole = [row for row in findings.record.verdicts if row["parent"] is None]
    words = [
        f"{sum(row['printed']['verdict'] == verdict for row in whole)} {word}"
        for verdict, word in (("SUPPORTED", "supported"), ("REFUTED", "refuted as printed"), ("UNDECIDED", "undecided"))
    ]
    unclear = sum(row["printed"]["verdict"] == "TEXT_UNCLEAR" for row in whole)
    words += [f"{unclear} of unclear text"] if unclear else []
    words.append(_count(sum(row["printed"]["verdict"] == "DEFINITION" for row in whole), "definition"))
    mutants = [row for row in findings.record.cases if row["standing"] == "MUTANT"]
    caught = sum(row["outcome"] == "FAILS" for row in mutants)
    refuted = f" {caught} of {_count(len(mutants), 'mutant')} caught," if mutants else ""
    stopped = sum(row["error"] is not None for row in findings.record.cases)
    undecided = f" {stopped} stopped undecided," if stopped else ""
    cases = _count(len(findings.record.cases) - len(mutants), "case")
    return f"{_count(len(whole), 'statement')}: {', '.join(words)}; {cases},{refuted}{undecided}"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"
