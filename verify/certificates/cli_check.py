"""The commands beside ``certify``: ``init`` drafts a configuration, ``check`` compares, ``my-loss`` bounds a loss."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..messages.errors import UserError

if TYPE_CHECKING:
    from .folder.check_folder import Checked


FILE = click.Path(path_type=Path)


@click.command()
@click.argument("data", type=FILE, required=False)
@click.option("--target", help="The response column of DATA.")
@click.option("--delimiter", default=",", help="Of a CSV file.")
@click.option("--encoding", default="utf-8", help="Of a CSV file.")
@click.option("-o", "--output", type=FILE, help="Write the draft here instead of to standard output.")
def init(data: Path | None, target: str | None, delimiter: str, encoding: str, output: Path | None) -> None:
    """Draft a configuration for DATA (its header alone is read); without arguments, an example on embedded data.

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
        text = draft(data, target, delimiter=delimiter, encoding=encoding, beside=beside)
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


FILE = click.Path(path_type=Path)
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


FILE = click.Path(path_type=Path)
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
