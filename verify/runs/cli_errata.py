"""``pdp-verify errata``: what the papers say and what is true, from a record."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli_typed import DOCUMENT
from ..messages.errors import UserError


@click.command()
@click.argument("record", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", "file", type=DOCUMENT, required=True, help="The file to write: .pdf, .md or .html.")
@click.option("--paper", default="", help="Of one paper alone: its folder, or the prefix of its ids (W18).")
@click.option("--contact", default="", help="Where answers go [default: the project's issue tracker, if it has one].")
def errata(record: Path | None, file: Path, paper: str, contact: str) -> None:
    """Write proposed corrections to the papers of RECORD [default: the newest run in pdp-verify-out]; draws nothing."""
    from reports.formats import write_document

    from ..engine.record import read, read_run, record_file
    from ..messages.damaged import as_written
    from .errata import errata_document

    record = record or newest()
    try:
        with as_written(record_file(record)):
            date = str(read_run(record).get("finished", ""))[:10]
            pages = errata_document(read(record), date=date, paper=paper, contact=contact.strip())
            write_document(pages, file)
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got output={file} ({stop.strerror})") from stop
    click.echo(str(file))


def newest() -> Path:
    """Return the record of the newest run in ``pdp-verify-out``."""
    found = sorted(Path("pdp-verify-out").glob("*/audit.jsonl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError("record must be given where pdp-verify-out holds no run; `pdp-verify run` makes one")
    return found[-1]
