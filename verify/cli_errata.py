"""``pdp-verify errata``: what the papers say and what is true, from a record."""

from __future__ import annotations

from pathlib import Path

import click

from .errors import UserError


@click.command()
@click.argument("record", type=click.Path(path_type=Path), required=False)
@click.option(
    "-o", "--output", "file", type=click.Path(path_type=Path), required=True, help="PDF (.pdf) or Markdown (.md)."
)
def errata(record: Path | None, file: Path) -> None:
    """Write the errata of RECORD [default: the newest run in pdp-verify-out] as PDF or Markdown; draws nothing."""
    from reports.document import render_markdown, render_pdf
    from reports.files import write_atomic

    from . import ledger
    from .damaged import as_written
    from .errata import errata_document
    from .record import read, read_run, record_file

    if file.suffix not in (".pdf", ".md"):
        raise UserError(f"output must end in .pdf or .md, got output={file}")
    record = record or newest()
    try:
        with as_written(record_file(record)):
            pages = errata_document(read(record), ledger.default(), date=str(read_run(record).get("finished", ""))[:10])
            if file.suffix == ".md":
                write_atomic(file, render_markdown(pages).encode())
            else:
                render_pdf(pages, file)
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got output={file} ({stop.strerror})") from stop
    click.echo(str(file))


def newest() -> Path:
    """Return the record of the newest run in ``pdp-verify-out``."""
    found = sorted(Path("pdp-verify-out").glob("*/audit.jsonl"), key=lambda path: path.stat().st_mtime)
    if not found:
        raise UserError("record must be given where pdp-verify-out holds no run; `pdp-verify run` makes one")
    return found[-1]
