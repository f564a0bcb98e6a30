"""``pdp-verify certify``, in a folder that one run holds, and the commands beside it: init, check, my-loss."""

from __future__ import annotations

import contextlib
import os
import sys
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..cli_typed import typed
from ..messages.errors import UserError

if TYPE_CHECKING:
    from reports.row import Audience

    from ..engine.follow import Phases
    from ..kernel.rows import Row
    from .certificate import Certificate
    from .certify_call import StoredAnswers
    from .claims.finding import Deployment, Finding
    from .config.config import Loaded
    from .folder.check_folder import Checked
    from .folder.finished import Before, Request


#: What the text of a report takes, in figures.
PAGES = 2
FILE = click.Path(path_type=Path)


@contextlib.contextmanager
def certificate_folder(out: Path | None, *, wait: float = 0) -> Iterator[Path]:
    """Make the folder if it is not there, and hold it for as long as the block runs; ``wait`` seconds for another run.

    A block that stops before anything was written leaves no folder behind that was made here. UserError if it cannot be
    written, is in use, or holds a link or anything that is no part of a certificate.
    """
    from ..cli_work import prepare_folder
    from ..engine.held import held
    from .folder.certificate_files import foreign, refuse_links, shown

    wanted = _default_folder() if out is None else out
    if out is None:
        _forget_died(wanted)
    made = [path for path in (wanted, *wanted.parents) if not path.exists() and not path.is_symlink()]
    try:
        if out is not None and out.is_dir():
            refuse_links(out)
            for path in foreign(out):
                name = shown(path.relative_to(out.resolve()))
                raise UserError(f"out must be new, empty or hold a certificate alone, got out={shown(out)} with {name}")
        folder = prepare_folder(out, resume=out is not None, parent=wanted)
        made = made if out is not None else [folder, *made]
        with held(folder, f"out={shown(folder)}", wait=wait):
            try:
                yield folder
            except BaseException:
                _forget(folder)
                raise
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _default_folder() -> Path:
    """Return where certificates go without ``--out``: here, or beside the certificate in whose folder this is."""
    from ..cli_work import DEFAULT_FOLDER
    from .folder.certificate_files import LAST, PARTS

    out, here = Path(), Path.cwd()
    if (here / LAST).is_file():
        out, here = out / "..", here.parent if here.name in PARTS else here
    if any((here / part / LAST).is_file() for part in PARTS):
        out /= ".."
    return out / DEFAULT_FOLDER


def _forget_died(parent: Path) -> None:
    """Take away the folder that a run made which died in a call of its mechanism, and is done again here."""
    from audits.harness.call_note import process_before

    from ..engine.held import HOLDER, holder_pid

    before = process_before()
    for folder in [] if before is None else [path.parent for path in parent.glob(f"*/{HOLDER}")]:
        if holder_pid(folder) == before:
            (folder / HOLDER).unlink()
            _forget(folder)
            with contextlib.suppress(OSError):
                folder.rmdir()


def _forget(folder: Path) -> None:
    """Take away what a run left that wrote nothing: its own lock, and folders with nothing in them."""
    from ..engine.held import HOLDER, LOCK
    from .folder.certificate_files import PARTS, is_left_over, kind_of

    for part in (folder / name for name in PARTS if kind_of(folder / name) == "folder"):
        with contextlib.suppress(OSError):
            for path in part.iterdir():
                if is_left_over(path.name):
                    path.unlink()
            part.rmdir()
    with contextlib.suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {LOCK, HOLDER}:
            (folder / LOCK).unlink(missing_ok=True)


@click.command()
@click.argument("config", type=FILE)
@click.option("--audience", type=click.Choice(["curator", "release"]), help="Who reads what is printed and written.")
@click.option(
    "--out",
    type=FILE,
    help="Folder of the certificate [default: pdp-verify-out/<n>; a finished one of the same inputs is found there].",
)
@click.option("--overwrite", is_flag=True, help="Replace a finished certificate in --out.")
@click.option("--previous", type=FILE, help="Folder of an earlier certificate: page 1 says what changed since.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
@click.option("--dry-run", is_flag=True, help="Say what would run and how long; write nothing.")
@click.option("--require", type=click.Choice(["proved"]), help="Exit with 3 where a PASS rests on somebody's word.")
@click.option("--allow-undecided", is_flag=True, help="Exit with 0 on UNDECIDED, unless something was not tested.")
@click.option("--draw-again", is_flag=True, help="Draw the private releases once more; both draws count.")
@click.option("--complete", is_flag=True, help="Examine every pair of data sets, also after one refutes the claim.")
def certify(
    config: Path,
    audience: str | None,
    out: Path | None,
    overwrite: bool,
    previous: Path | None,
    jobs: int | None,
    dry_run: bool,
    require: str | None,
    allow_undecided: bool,
    draw_again: bool,
    complete: bool,
) -> int:
    """Decide every claim of CONFIG and write the certificate.

    Exits with 0 for PASS, 1 for FAIL, 3 for UNDECIDED.

    \b
    PASS (proved)             a theorem or an exact law of a mechanism of ours
    PASS (attested)           your mechanism: nothing was found in its draws, and
                              mechanism.vouched_by says on whose word it rests
    PASS (simulated)          a claim about how good the output is, by simulation
    FAIL                      a pair, an event and numbers that refute the claim
    UNDECIDED (its own statement is refuted)
                              what it says of its law is not what it draws;
                              the claim is not refuted; cannot be allowed
    UNDECIDED (no violation found)
                              and nothing that supports the claim
    UNDECIDED (not tested)    too little was drawn; cannot be allowed
    UNDECIDED                 a mechanism of ours without a proof that covers it

    Private data: without --audience release there is a curator's
    folder alone. With it, what may be published is printed and written to a release folder beside the curator's, which
    stays inside.
    """
    from audits.harness.call_note import may_be_done_again
    from reports.row import Audience

    from ..cli_work import default_jobs
    from ..engine.follow import progress
    from ..engine.worker import one_blas_thread
    from ..messages.faults import silenced, withheld
    from .asked import NOTHING_BEFORE, Asked, previous_of
    from .certify_call import kept_answers, reader_of
    from .config.config import load
    from .config.mechanism_source import code_of
    from .folder.finished import Before, Request, finished_before, finished_in
    from .release.release_state import WAIT_SECONDS

    loaded = load(config)
    public = loaded.config.data.is_public
    reader = reader_of(loaded.config, audience)
    inside = public or reader is Audience.CURATOR
    if line := code_of(loaded, views=inside):
        click.echo(line, err=True)
    click.get_current_context().with_resource(silenced(not inside))
    jobs = jobs or loaded.config.budget.jobs or default_jobs()
    following = progress(inside, lambda line: click.echo(line, err=True))
    if dry_run:
        with withheld(not public), following as phases:
            return _dry_run(loaded, jobs, reader, phases)
    wanted = (Audience.CURATOR, Audience.RELEASE) if reader is Audience.RELEASE else (reader,)
    earlier = NOTHING_BEFORE if previous is None else previous_of(previous, wanted)
    request = Request(loaded, wanted, Asked(require == "proved", allow_undecided, earlier), draw_again, complete)
    with withheld(not public), contextlib.ExitStack() as stack:
        phases = stack.enter_context(following)
        found = None if out is not None or overwrite or draw_again else finished_in(_default_folder(), request, phases)
        folder = stack.enter_context(certificate_folder(out or found, wait=0 if found is None else WAIT_SECONDS))
        stack.enter_context(one_blas_thread())
        before = Before({}) if overwrite else finished_before(folder, request, phases)
        if before.holds(request):
            code = _say_before(before, request)
        else:
            may_be_done_again(unless=draw_again)  # which counts each time
            with kept_answers(loaded, lambda line: click.echo(line, err=True) if inside else None) as answers:
                code = _decide_and_write(request, before, folder, jobs, phases, answers)
    _say_where(folder, [each.value for each in (wanted if inside else [reader])])
    return code


def _say_where(folder: Path, parts: list[str]) -> None:
    """Say where the reports are, and the commands that go on from there."""
    from .folder.certificate_files import COUNTEREXAMPLE

    for part in parts:
        click.echo(f"{part:<8} {folder / part / 'audit.pdf'}")
        if (folder / part / COUNTEREXAMPLE).is_file():
            click.echo(f"redo     pdp-verify certify {folder / part / COUNTEREXAMPLE}")
    click.echo(f"next     pdp-verify check {folder / parts[-1]}")


def _told_too_long(deployment: Deployment, name: str, left: float) -> None:
    """Say early in a phase that there is too little time for the rest of it, and what there would be time for."""
    from .dry_run import Plan, too_long

    deadline, most = deployment.deadline, deployment.config.budget.max_seconds
    if deadline is not None and most is not None and deadline.reached(left):
        seconds = most - (deadline.at - deadline.clock()) + left
        words = too_long(deployment, Plan((), seconds, ()))
        click.echo(f"note: {name}: about {seconds:.0f} s by the pace so far; {words}", err=True)


def _decide_and_write(
    request: Request, before: Before, folder: Path, jobs: int, phases: Phases, answers: StoredAnswers | None
) -> int:
    """Decide every claim, tell it, write what is not there yet, and return the exit code."""
    from reports.row import Audience

    from ..engine.versions import Clock
    from .asked import exit_code, overall
    from .certificate import claim_row, decide, read_deployment
    from .folder.certificate_files import RECORD
    from .folder.output import audience_record, contents, inside_about, today, write_all

    loaded, reader, inside = request.loaded, request.wanted[-1], request.inside
    clock, date, public = Clock(), today(), loaded.config.data.is_public

    def tell(finding: Finding) -> None:
        if inside or not finding.private:
            shown = finding if inside else finding.without_private()
            _told(claim_row(shown, inside=inside, public=public), names=inside)

    draw_again = request.draw_again and not before.drew

    def note(line: str) -> None:
        if inside:
            click.echo(f"note: {line}", err=True)

    deployment, digest = read_deployment(
        loaded, jobs=jobs, draw_again=draw_again, progress=phases, answers=answers, complete=request.complete, note=note
    )
    if inside:
        phases.forecast = partial(_told_too_long, deployment)
    certificate = decide(deployment, digest, asked=request.asked, tell=tell)
    verdicts = certificate.standings(reader)
    code = exit_code(verdicts, request.asked)
    about = clock.about(typed(), jobs=jobs, exit_code=code, **inside_about(loaded, request.words))
    spared = []
    for audience in before.rows:
        again = audience_record(certificate, loaded, audience, request.asked)[1]
        if before.spares(request, audience, again, (folder / audience.value / RECORD).read_bytes()):
            spared.append(audience)
    made = [each for each in request.wanted if each not in spared]
    with phases.phase("setting the pages", len(made) * (PAGES + certificate.n_figures)):
        inner = {Audience.CURATOR: about}
        parts = [
            contents(certificate, loaded, each, date=date, jobs=jobs, about=inner.get(each), asked=request.asked)
            for each in made
        ]
    write_all(parts, folder, spared=spared)
    if answers is not None:
        answers.finish(cut=certificate.cut)
    for part in parts:
        if part.audience is reader and "previous" in part.rows[0]:
            click.echo(f"\nsince the previous certificate: {part.rows[0]['previous']['headline']}")
    click.echo("")
    click.echo(f"{overall(verdicts)}: {len(verdicts)} claim{'' if len(verdicts) == 1 else 's'}")
    for line in _draws_said(certificate, loaded):
        click.echo(line)
    return code


def _draws_said(certificate: Certificate, loaded: Loaded) -> list[str]:
    """Return what was drawn in this run and where it lies, or that nothing was and why; nothing where none was due."""
    from .release.release_state import SPENT
    from .release.releases import folder_of

    released, folder = certificate.deployment.releases, Path(os.path.relpath(folder_of(loaded)))
    if released is None:
        return []
    if released.pending:
        return [
            "release  nothing was drawn or counted: a claim over all data sets did not pass "
            "(--allow-undecided lets what was examined be open)"
        ]
    return [f"release  {folder / what}.json was drawn now and counts ({folder / SPENT})" for what in released.made]


def _say_before(before: Before, request: Request) -> int:
    """Say what a certificate says that was finished before, and return its exit code; nothing is drawn or written."""
    from ..engine.versions import source_digest
    from .asked import exit_code, overall, standings

    reader = request.wanted[-1]
    rows = before.rows[reader]
    for row in rows:
        if row["kind"] == "claim":
            _told(row, names=request.inside)
    found, header = standings(rows), rows[0]
    ours = header["sources"] == source_digest()
    by = "these sources" if ours else f"pdp-verify {header['versions']['pdp-verify']}, sources {header['sources'][:12]}"
    click.echo("")
    unseen = "; whether the records are still those it was made from is not looked at here (the curator's run says it)"
    line = f"finished before: of the same inputs, by {by}; nothing was drawn or written"
    click.echo(line + ("" if request.inside else unseen))
    click.echo(f"{overall(found)}: {len(found)} claim{'' if len(found) == 1 else 's'}")
    return exit_code(found, request.asked)


def _told(row: Row, *, names: bool) -> None:
    """Print a verdict, with the way out below; ``names``: whether it may say who vouches."""
    from audits.verdict import Ground

    from ..messages.verdict_words import verdict_said

    said, line = verdict_said(row), f"\n{'':<24} {row['advice']}" if row["advice"] else ""
    if row["ground"] == Ground.ATTESTED.value:
        said, word = said.removesuffix("."), row["vouched"]
        line = f"; on the word of {word['who']} ({word['proof']})" if names else "; on somebody's word"
    click.echo(f"{row['claim']:<24} {row['words']:<30} {said}{line}")


def _dry_run(loaded: Loaded, jobs: int, reader: Audience, phases: Phases) -> int:
    from reports.row import Audience

    from ..engine.worker import one_blas_thread
    from ..messages.pair_words import pair_said
    from .certificate import read_deployment
    from .certificate_pages import tree_lines
    from .dry_run import plan, too_long

    start = time.perf_counter()
    with one_blas_thread():
        deployment, _ = read_deployment(loaded, jobs=jobs, dry=True, progress=phases)
        planned = plan(deployment, loaded, time.perf_counter() - start, reader)
    for claim, check in planned.checks:
        click.echo(f"{claim:<24} {pair_said(check)}")
    for line in tree_lines(planned.parts):
        click.echo(line)
    if reader is Audience.CURATOR or not deployment.private:
        click.echo(f"about {planned.seconds:.0f} s")
        if words := too_long(deployment, planned):
            click.echo(words)
    return 0


@click.command()
@click.argument("data", type=FILE, required=False)
@click.option("--target", help="The response column of DATA.")
@click.option("--delimiter", default=",", help="Of a CSV file.")
@click.option("--encoding", default="utf-8", help="Of a CSV file.")
@click.option("--header/--no-header", default=None, help="Whether the first line names the columns.")
@click.option("-o", "--output", type=FILE, help="Write the draft here instead of to standard output.")
def init(
    data: Path | None, target: str | None, delimiter: str, encoding: str, header: bool | None, output: Path | None
) -> None:
    """Draft a configuration for DATA; without arguments, an example on embedded data.

    Of DATA the draft has the names of the columns, and whether each holds numbers, text or dates; never a cell.

    \b
    The mechanism of a configuration is one of ours (name = ...), or your own:
    import = "my_mechanism.py:factory"          a Python file
    command = ["Rscript", "release.R"]          a program in any language
    url = "http://127.0.0.1:8080/release"       a service
    """
    from .config.init_draft import draft, example

    if (data is None) != (target is None):
        raise UserError("DATA and --target must be given together, got one of them")
    beside = None if output is None else output.parent
    if data is None or target is None:
        text = example()
    else:
        delimiter = "\t" if delimiter == "\\t" else delimiter  # as a shell passes it on
        text = draft(data, target, delimiter=delimiter, encoding=encoding, header=header, beside=beside)
    if output is None:
        click.echo(text, nl=False)
        return
    if output.exists():
        raise UserError(f"output must be a new file, got output={output}")
    from reports.files import write_atomic

    try:
        write_atomic(output, text.encode())
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got output={output} ({stop.strerror})") from stop
    first = "" if data is None else f"fill in every REQUIRED in {output}, then "
    click.echo(f"next: {first}pdp-verify certify {output}", err=True)


COMPARED = "every file is the one that was attested, and what the record makes was made again: they belong together"
BUT_PAGES = "every file is the one that was attested, and what the record makes, PDF and HTML aside, was made again"


@click.command()
@click.argument("folder", type=FILE)
@click.option("--artefact", type=FILE, help="The file that was shipped: is it the one that was attested?")
def check(folder: Path, artefact: Path | None) -> int:
    """Say whether the files of FOLDER belong together: each is compared (signatures are not).

    Exits with 0 when they do, 1 when one does not, 3 when that cannot be decided here.
    """
    from .folder.attestation import digest_of
    from .folder.certificate_files import PARTS, kind_of
    from .folder.check_folder import check_folder, compare_parts, is_certificate, misplaced

    if not folder.is_dir():
        raise UserError(f"folder must be a folder, got folder={folder}")
    digest = None if artefact is None else digest_of(artefact, "--artefact", str(artefact))
    parts = [folder / name for name in PARTS if kind_of(folder / name) != "nothing"]
    if not parts:
        if not is_certificate(folder):
            raise UserError(f"folder must be that of a certificate, got folder={folder}")
        parts = [folder]
    checked = {}
    for part in parts:
        if part is not folder and kind_of(part) != "folder":
            click.echo(f"{part.name}: it is no folder")
            return 1
        checked[part] = check_folder(part)
        checked[part].wrong += misplaced(part.resolve(), checked[part])
    if len(parts) == len(PARTS) and not any(each.wrong for each in checked.values()):
        checked[parts[-1]].wrong += compare_parts(*(checked[part] for part in parts))
    for part, found in checked.items():
        if artefact is not None and digest is not None and not found.wrong:
            _compare_artefact(found, artefact, digest)
        _say(part.resolve().name, found)
    return 1 if any(each.wrong for each in checked.values()) else 3 if any(e.undecided for e in checked.values()) else 0


def _compare_artefact(found: Checked, artefact: Path, digest: str) -> None:
    from .folder.certificate_files import shown
    from .folder.check_folder import artefact_of_folder

    attested = artefact_of_folder(found.rows)
    if attested is None:
        found.wrong.append(f"no artefact was attested, {shown(artefact)} is not known here")
    elif attested[1] != digest:
        found.wrong.append(f"{shown(artefact)} is not the artefact that was attested ({shown(attested[0])})")
    else:
        found.notes.append(f"{shown(artefact)} is the artefact that was attested; it was named, not examined")


def _say(name: str, found: Checked) -> None:
    for line in found.wrong:
        click.echo(f"{name}: {line}")
    if found.wrong:
        return
    for line in found.undecided:
        click.echo(f"{name}: {line}")
    if not found.undecided:
        click.echo(f"{name}: {COMPARED if found.pages_made_again else BUT_PAGES}")
    for line in found.notes:
        click.echo(f"{name}: {line}")
    if found.signatures:
        click.echo(f"{name}: {', '.join(found.signatures)} lies beside the attestation; signatures are not checked")
    else:
        click.echo(f"{name}: not signed: whoever rewrites the files and their digests is not noticed")


#: Most bytes that are read of a report and of a record: the largest report has 500 x 500 numbers.
REPORT_BYTES, RECORD_BYTES = 64 << 20, 1 << 20


@click.command(name="my-loss")
@click.argument("report", type=FILE)
@click.argument("record", type=FILE, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def my_loss(report: Path, record: Path | None, as_json: bool) -> None:
    """Bound one's own privacy loss from a published REPORT and one's own RECORD (a JSON file, or standard input)."""
    import json

    from .release.published import my_loss as evaluate

    report_text = _text_of("report", report, REPORT_BYTES)
    evaluated = evaluate(report_text, _text_of("record", record, RECORD_BYTES))
    if as_json:
        click.echo(json.dumps(vars(evaluated), allow_nan=False))
        return
    if evaluated.epsilon1_bar is None:
        click.echo("The report gives no finite bound on your ex-post privacy loss.")
    else:
        click.echo(f"Your ex-post privacy loss is at most {evaluated.epsilon1_bar:.6g} (natural log),")
        click.echo(f"except with probability {evaluated.failure_prob:.2g} over the noise of the release.")
    if evaluated.mu_releases:
        click.echo(f"The report itself cost you Gaussian privacy with mu = {evaluated.mu_releases:.6g}.")
    click.echo("This number depends on your record: keep it to yourself.")


def _text_of(name: str, path: Path | None, most: int) -> str:
    """Return the text of a file, or of standard input, which may be a stranger's or without end; pipes go there."""
    try:
        if path is None:
            text = sys.stdin.read(most + 1) if sys.stdin is not None else ""
            size = len(text)
        elif path.exists() and not path.is_file():
            raise UserError(f"{name} must be a regular file, got {'a folder' if path.is_dir() else 'another kind'}")
        else:
            with path.open("rb") as file:
                data = file.read(most + 1)
            size, text = len(data), data.decode("utf-8-sig")
    except (OSError, UnicodeDecodeError) as stop:
        why = stop.strerror or "input or output error" if isinstance(stop, OSError) else "not UTF-8 text"
        raise UserError(f"report and record must be readable files, got an unreadable {name} ({why})") from None
    if size > most:
        raise UserError(f"{name} must be a file of at most {most >> 20} MiB, got a larger one")
    return text
