"""``pdp-verify certify``: the certificate of one deployment."""

from __future__ import annotations

import time
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING

import click

from .cli_typed import typed
from .errors import UserError

if TYPE_CHECKING:
    from reports.row import Audience

    from .deployment.finding import Finding

FILE = click.Path(path_type=Path)


@click.command()
@click.argument("config", type=FILE)
@click.option("--audience", type=click.Choice(["curator", "release"]), help="Who reads what is printed and written.")
@click.option("--out", type=FILE, help="Folder of the certificate [default: pdp-verify-out/<n>].")
@click.option("--overwrite", is_flag=True, help="Replace a finished certificate in --out.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
@click.option("--dry-run", is_flag=True, help="Say what would run and how long; write nothing.")
@click.option("--require", type=click.Choice(["proved"]), help="Exit with 3 where a PASS rests on somebody's word.")
@click.option("--allow-undecided", is_flag=True, help="Exit with 0 on UNDECIDED, unless something was not examined.")
@click.option("--draw-again", is_flag=True, help="Draw the private releases once more; both draws count.")
def certify(
    config: Path,
    audience: str | None,
    out: Path | None,
    overwrite: bool,
    jobs: int | None,
    dry_run: bool,
    require: str | None,
    allow_undecided: bool,
    draw_again: bool,
) -> int:
    """Decide every claim of CONFIG and write the certificate.

    Exits with 0 for PASS, 1 for FAIL, 3 for UNDECIDED.

    \b
    PASS (proved)             a theorem or an exact law of a mechanism of ours
    PASS (vouched)            your mechanism: examined, nothing found, and
                              mechanism.vouched_by says on whose word it rests
    PASS (simulated)          a claim about how good the output is, by simulation
    FAIL                      a pair, an event and numbers that refute the claim
    UNDECIDED (examined)      nothing found, and nothing that supports the claim
    UNDECIDED (not examined)  too little was drawn; cannot be allowed
    UNDECIDED                 a mechanism of ours without a proof that covers it

    Private data: without --audience release there is a curator's
    folder alone. With it, what may be published is printed and written to a release folder beside the curator's, which
    stays inside.
    """
    from reports.row import Audience

    from .cli_run import default_jobs
    from .deployment.asked import Asked, exit_code, overall
    from .deployment.certificate import decide, read_deployment
    from .deployment.certify import reader_of
    from .deployment.config import load
    from .deployment.mechanism_source import code_of
    from .deployment.output import run_about, today, write_audience
    from .worker import one_blas_thread

    loaded = load(config)
    public = loaded.config.data.is_public
    reader = reader_of(loaded.config, audience)
    if line := code_of(loaded, views=public or reader is Audience.CURATOR):
        click.echo(line, err=True)
    jobs = jobs or loaded.config.budget.jobs or default_jobs()
    if dry_run:
        return _dry_run(config, jobs, reader)
    folder = prepare_certificate(out, overwrite=overwrite)
    started, clock, date = datetime.now(UTC), time.monotonic(), today()

    def tell(finding: Finding) -> None:
        shown = finding if reader is Audience.CURATOR or public else finding.without_private()
        if reader is Audience.CURATOR or public or not finding.private:
            click.echo(verdict_line(shown, names=public or reader is Audience.CURATOR))

    with one_blas_thread():
        deployment, digest = read_deployment(loaded, jobs=jobs, draw_again=draw_again)
        certificate = decide(deployment, digest, tell=tell)
        asked, found = Asked(require == "proved", allow_undecided), certificate.standings(reader)
        code = exit_code(found, asked)
        about = run_about(started, time.monotonic() - clock, typed(), jobs, code, loaded)
        wanted = [Audience.CURATOR] + ([Audience.RELEASE] if reader is Audience.RELEASE else [])
        for each in wanted:
            write_audience(
                certificate,
                loaded,
                each,
                folder / each.value,
                date=date,
                jobs=jobs,
                about=about if each is Audience.CURATOR else None,
                asked=asked,
            )
    click.echo("")
    click.echo(f"{overall(found)}: {len(found)} claim{'' if len(found) == 1 else 's'}")
    for each in wanted if public or reader is Audience.CURATOR else [reader]:
        click.echo(f"{each.value:<8} {folder / each.value / 'audit.pdf'}")
    click.echo(f"next     pdp-verify check {folder / reader.value}")
    return code


def verdict_line(finding: Finding, *, names: bool) -> str:
    """Return a claim's verdict for the terminal, with the way out below; ``names``: whether it may say who vouches."""
    ruling, line = finding.verdict, ""
    if ruling.decision.name != "PASS" and finding.advice:
        line = f"\n{'':<24} {finding.advice}"
    if ruling.vouched is not None:
        word = ruling.vouched.vouched
        line = f"; on the word of {word.who} ({word.proof})" if names else "; on somebody's word"
    return f"{finding.name:<24} {ruling.words:<24} {ruling.reason}{line}"


def _dry_run(config: Path, jobs: int, reader: Audience) -> int:
    from reports.row import Audience

    from .deployment.certificate import read_deployment
    from .deployment.config import load
    from .deployment.dry_run import plan
    from .worker import one_blas_thread

    loaded = load(config)
    start = time.perf_counter()
    with one_blas_thread():
        deployment, _ = read_deployment(loaded, jobs=jobs, dry=True)
        planned = plan(deployment, loaded, time.perf_counter() - start, reader)
    for claim, check in planned.checks:
        click.echo(f"{claim:<24} {check}")
    if reader is Audience.CURATOR or not deployment.private:
        click.echo(f"about {planned.seconds:.0f} s")
    return 0


def prepare_certificate(out: Path | None, *, overwrite: bool) -> Path:
    """Return a folder that exists and can be written: new, empty, or holding an unfinished certificate.

    Raises
    ------
    UserError
        If it holds anything else and ``overwrite`` was not asked for.
    """
    from .cli_run import prepare_folder

    if out is None or not out.is_dir() or not any(out.iterdir()):
        return prepare_folder(out, resume=False)
    own = {out / "curator", out / "release"}
    finished = [path for path in own if (path / "attestation.json").is_file()]
    foreign = [path for path in out.iterdir() if path not in own]
    if foreign or (finished and not overwrite):
        what = "other files" if foreign else "a finished certificate (--overwrite replaces it)"
        raise UserError(f"out must be new, empty or an unfinished certificate, got out={out} with {what}")
    for path in own:
        for left in path.glob(".*.tmp") if path.is_dir() else ():
            left.unlink()
    return prepare_folder(out, resume=True)
