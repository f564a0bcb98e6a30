"""``pdp-verify diff``: what changed between two records."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli_typed import DOCUMENT
from ..messages.errors import UserError

RECORD = click.Path(path_type=Path)


@click.command()
@click.argument("old", type=RECORD)
@click.argument("new", type=RECORD)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object with every change.")
@click.option("--markdown", is_flag=True, help="Print Markdown, for a pull request.")
@click.option("-o", "--output", "file", type=DOCUMENT, help="A file to write too: .pdf, .md or .html.")
def diff(old: Path, new: Path, as_json: bool, markdown: bool, file: Path | None) -> int:
    """Say what changed from the record OLD to the record NEW, of two runs, certificates, sweeps or calibrations.

    Each is a file or the folder that holds it; of a sweep, the table that --export FILE.jsonl writes. Exits with 0 when
    nothing changed for the worse; 1 when a verdict did, a case, a claim or an id is gone, a mutant is not caught any
    more, or less was examined; 2 when the records cannot be compared. Numbers are compared under one seed.
    """
    if as_json and markdown:
        raise UserError("--json must come without --markdown, got both")
    from reports.formats import rendered, write_document

    from ..messages.faults import as_written
    from .page import difference_document, json_text, terminal_lines
    from .record_difference import compared_record, difference, file_of

    before, after = (compared_record(path) for path in (old, new))
    with as_written(Path(f"{file_of(old)} or {file_of(new)}")):
        found = difference(before, after)
    pages = difference_document(found)
    if as_json:
        click.echo(json_text(found))
    elif markdown:
        click.echo(rendered(pages, ".md").decode(), nl=False)
    else:
        click.echo("\n".join(terminal_lines(found)))
    if file is not None:
        try:
            write_document(pages, file, mode=0o600 if found.confidential else 0o666)
        except OSError as stop:
            raise UserError(f"output must be a file that can be written, got output={file} ({stop.strerror})") from stop
        click.echo(str(file), err=as_json or markdown)
    return found.exit_code
