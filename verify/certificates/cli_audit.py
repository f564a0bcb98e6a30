"""``pdp-verify audit``: one claim about a function, an estimator, a command or a service, without a configuration."""

from __future__ import annotations

import os
import re
import sys
import textwrap
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..cli_work import DEFAULT_SEED
from ..messages.errors import UserError
from .cli_certify import FILE

if TYPE_CHECKING:
    from .audit_call import AuditResult
    from .audit_options import Options
    from .config.config import Loaded

#: Columns of the terminal that the screen takes.
WIDTH = 80
SIZE = click.IntRange(min=1)


@click.command()
@click.argument("target")
@click.option("--epsilon", type=float, required=True, help="The claimed epsilon (natural logarithm).")
@click.option("--delta", type=float, default=0.0, show_default=True, help="The claimed delta.")
@click.option(
    "--relation",
    type=click.Choice(["add-remove", "replace"]),
    default="add-remove",
    show_default=True,
    help="Neighbouring data sets: one record added or removed, or one replaced.",
)
@click.option("--data", type=FILE, help="CSV of numbers; pairs around its records are tested too; with --response.")
@click.option("--response", help="The response column of --data.")
@click.option("--dim", type=SIZE, default=2, show_default=True, help="Columns of X, without --data.")
@click.option(
    "--records",
    "described",
    metavar="TOML",
    help="What a function or an estimator takes in place of rows of numbers: '{ age = { low = 17, high = 90 }, sex = "
    '["f", "m"] }\', a data frame; one range or list alone, its values.',
)
@click.option(
    "--bounds",
    type=(float, float),
    metavar="X Y",
    help="Public bounds on the norm of a row and on |y|; what is longer in --data is clipped [default: what a "
    "diffprivlib estimator states, else 1 1].",
)
@click.option("--n-min", type=click.IntRange(min=0), help="Least number of records [default: the least that works].")
@click.option("--pairs", type=SIZE, help="Pairs of data sets [default: 8].")
@click.option("--draws", type=SIZE, help="Draws of each data set [default: 4000, or 1500 where they are slow].")
@click.option("--max-seconds", type=float, help="Leave open what is not decided by then.")
@click.option("--failure-prob", type=float, default=1e-4, show_default=True, help="Probability of a wrong FAIL.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True)
@click.option("--jobs", type=SIZE, help="Worker processes [default: one a processor].")
@click.option("--out", type=FILE, help="Also write the folder that certify writes: record, PDF, HTML.")
@click.option("--write-config", type=FILE, help="Also write the configuration that asks certify the same: a new file.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def audit(
    target: str,
    data: Path | None,
    response: str | None,
    described: str | None,
    jobs: int | None,
    out: Path | None,
    write_config: Path | None,
    as_json: bool,
    **options: object,
) -> int:
    """Test whether TARGET is (epsilon, delta)-differentially private.

    \b
    TARGET is one of
    release.py:mean             a function f(X, y, rng) of one release, an
                                estimator with fit, or what makes one of these
                                or an object with draw
    "Rscript release.R"         a command that answers lines of JSON
    http://127.0.0.1:8080/r     a service that does

    Exits with 0 for PASS, 1 for FAIL, 3 where nothing was found that refutes the claim and nothing that supports it, 2
    for a wrong call.
    """
    from ..cli_work import default_jobs
    from .audit_options import Options, checked, target_line
    from .config.config import Loaded
    from .config.mechanism_source import Imported, build_mechanism, code_of

    if write_config is not None and write_config.exists():
        raise UserError(f"write-config must be a new file, got write-config={write_config}")
    if out is not None and out.is_dir() and any(out.iterdir()):
        raise UserError(f"out must be new or empty, got out={out}")
    place = Path("audit.toml") if write_config is None else write_config
    asked = _with_records(Options(**options), described)  # type: ignore[arg-type]
    asked, lines = _with_data(asked, data, response, place.parent)
    line = target_line(_beside(target, place.parent))

    def loaded(asked: Options) -> Loaded:
        text = asked.text(line, lines)
        return Loaded(checked(text), place, text)

    def tell(words: str) -> None:
        click.echo(words, err=True)

    jobs = jobs or default_jobs()
    try:
        first = loaded(asked)
        if words := code_of(first, views=True):
            tell(words)
        mechanism = build_mechanism(first, asked.dim)[0]
        last = loaded(asked.filled(mechanism.inner if isinstance(mechanism, Imported) else mechanism))
        if write_config is not None:
            _write(write_config, last.text)
        found = _decided(last, jobs, tell)
    except UserError as stop:
        raise UserError(re.sub(r"\b(?:mechanism\.)?(?:import|command|url)(?=[ =])", "TARGET", str(stop))) from None
    _print(found, as_json=as_json)
    if out is not None:
        folder = found.save(out, jobs=jobs)
        click.echo(f"Folder: {folder}", err=as_json)
    return found.exit_code


def _with_records(asked: Options, described: str | None) -> Options:
    from audits.adapters.records import PublicRecords

    from ..messages.texts import read_toml

    if described is None:
        return asked
    try:
        public = PublicRecords.of(read_toml(f"records = {described}", "records", "--records")["records"])
    except ValueError as stop:
        raise UserError(str(stop)) from None
    return replace(asked, dim=public.dim, records=public)


def _decided(loaded: Loaded, jobs: int, tell: Callable[[str], None]) -> AuditResult:
    """Return what was found; answers of a command or a url are kept until then, as ``certify`` keeps them."""
    from audits.harness.call_note import may_be_done_again

    from ..engine.follow import progress
    from ..engine.worker import one_blas_thread
    from ..messages.faults import withheld
    from .audit_call import result
    from .certificate import decide, read_deployment
    from .certify_call import kept_answers

    private = not loaded.config.data.is_public
    may_be_done_again()
    with withheld(private), one_blas_thread(), progress(True, tell) as phases, kept_answers(loaded, tell) as answers:
        deployment, digest = read_deployment(loaded, jobs=jobs, progress=phases, answers=answers, note=tell)
        found = result(decide(deployment, digest), loaded)
        if answers is not None:
            answers.finish(cut=found.certificate.cut)
        return found


def _print(found: AuditResult, *, as_json: bool) -> None:
    """Print an answer: in a box where somebody reads it, as plain lines in a file or a pipe."""
    if not as_json and sys.stdout.isatty():
        from rich.console import Console

        from .audit_screen import screen

        console = Console()
        console.print(screen(found, console))
        return
    lines = (
        textwrap.fill(line, WIDTH, subsequent_indent="  ", break_on_hyphens=False, break_long_words=False)
        for line in found.summary().splitlines()
    )
    click.echo(found.to_json() if as_json else "\n".join(lines))


def _write(path: Path, text: str) -> None:
    from reports.files import write_atomic

    try:
        write_atomic(path, text.encode())
    except OSError as stop:
        raise UserError(f"write-config must be a file that can be written, got {path} ({stop.strerror})") from None


def _with_data(asked: Options, data: Path | None, response: str | None, folder: Path) -> tuple[Options, list[str]]:
    """Return the options for the features of a file, and the lines of ``[data]`` about it; none without a file."""
    from ..messages.texts import toml_value
    from .reading.source import ReadSource, column_names, not_there

    if (data is None) != (response is None):
        raise UserError("--data and --response must be given together, got one of them")
    if data is None or response is None:
        return asked, []
    source = ReadSource(data, str(data), key="--data")
    names = column_names(source)
    if response not in names:
        meant = not_there(source, response, names)
        raise UserError(f"--response must be a column of {data.name}, got --response {response}{meant}")
    features = [name for name in names if name != response]
    given = {"file": os.path.relpath(data, folder), "features": features, "target": response}
    given |= {"rows": "clip", "response": "clip"}
    return replace(asked, dim=len(features)), [f"{key} = {toml_value(value)}" for key, value in given.items()]


def _beside(target: str, folder: Path) -> str:
    """Return a target as the configuration in a folder names it."""
    file, colon, name = target.partition(":")
    if colon and file.endswith(".py"):
        return f"{os.path.relpath(file, folder)}:{name}"
    if " " in target and folder.resolve() != Path.cwd():
        raise UserError("write-config must be in this folder for a command, which runs there, got another one")
    return target
