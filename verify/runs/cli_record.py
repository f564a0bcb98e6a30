"""What can be done with a record: ``pdp-verify replay``, ``report`` and ``errata``; the last two draw nothing."""

from __future__ import annotations

from pathlib import Path

import click

from ..cli_typed import DOCUMENT, RECORD_OUTPUT
from ..messages.errors import UserError

RECORD = click.Path(path_type=Path)


@click.command()
@click.argument("record", type=RECORD)
@click.argument("id_", metavar="ID")
@click.option("--case", help="A case by name [default: the counterexample, or the smallest margin].")
@click.option("--data", type=RECORD, help="Folder of the published data that decided it, where RECORD says so.")
def replay(record: Path, id_: str, case: str | None, data: Path | None) -> int:
    """Draw one case of ID again as RECORD says; exits with 0 if it gives the same row, 1 if not."""
    from ..engine.record import read, record_file
    from ..engine.versions import library_versions, platform_tag, source_digest
    from ..engine.worker import RunSettings
    from ..kernel.words import case_sentence, case_title
    from ..messages.faults import as_written
    from ..papers import registry
    from .case_run import CaseWork, compare_rows, decisive, perform
    from .given_data import given_again

    with as_written(record_file(record)):
        recorded = read(record)
        header = recorded.header
        row = decisive(recorded, id_, case)
        source = registry.default().find(row["id"])
        title = case_title(row)
    given = given_again(source, header["data"], data)
    if header["sources"] != source_digest():
        click.echo("note: our sources are not those of the record", err=True)
    same = header["platform"] == platform_tag() and header["versions"] == library_versions()
    if not same:
        click.echo("note: another platform or other versions; numbers are compared to 1e-9", err=True)
    settings = RunSettings(header["seed"], header["profile"], header["failure_prob"])
    known = {known_case.name for known_case in source.load().cases}
    if row["case"] not in known:
        click.echo(f"{id_} {row['case']}: this case is no longer part of {row['id']}")
        return 1
    again = perform(CaseWork(source.module, row["case"], settings, given))[0]
    with as_written(record_file(record)):
        different = compare_rows(row, again, same_platform=same)
    click.echo(title)
    click.echo(f"  {again['outcome']}: {case_sentence(again)}")
    if not different:
        click.echo("  reproduced " + ("to the byte" if same else "to 1e-9"))
        return 0
    click.echo("  NOT reproduced")
    for line in different:
        click.echo(f"    {line}")
    return 1


@click.command()
@click.argument("record", type=RECORD)
@click.option("-o", "--output", "file", type=RECORD_OUTPUT, required=True, help="The file to write.")
@click.option("--source", type=RECORD, help="For .sarif: the configuration as the repository has it.")
@click.option("--full", is_flag=True, help="Of a run: all the evidence, a section a statement (.html always has it).")
def report(record: Path, file: Path, source: Path | None, full: bool) -> None:
    """Render RECORD, of a run, a certificate, a calibration or a comparison; draws nothing.

    The end of the file's name chooses: .pdf, .md or .html; .sarif for code scanning (a run or a certificate); .cdx.json
    (CycloneDX 1.6) and .registry.json (Deployments Registry) of a certificate. The date is that of run.json beside it.
    """
    from ..calibration.calibration_pages import render
    from ..calibration.calibration_record import read as read_calibration
    from ..certificates.folder.output import render_again
    from ..cli_work import default_jobs
    from ..comparisons.choice_table import read as read_comparison
    from ..comparisons.pages.choice_pages import write_pages
    from ..engine.record import read, read_run, record_file, record_of
    from ..export.interchange_formats import hand_over, interchange_of
    from ..messages.faults import as_written
    from .publish import publish

    if source is not None and not file.name.endswith(".sarif"):
        raise UserError(f"source must be given for a .sarif file alone, got output={file}")
    if full and (record_of(record) or interchange_of(file)):
        raise UserError(f"full must be given for the pages of a run's record alone, got record={record}, output={file}")
    run, jobs, of, path = read_run(record), default_jobs(), record_of(record), record_file(record)
    try:
        with as_written(path):
            if interchange_of(file):
                hand_over(record, run, file, source=source)
            elif of == "certificate":
                render_again(path, run, file, jobs=jobs)
            elif of == "calibration":
                render(read_calibration(path), run, file)
            elif of == "comparison":
                write_pages(read_comparison(path), run, file)
            else:
                whole, short = ((file,), ()) if full else ((), (file,))
                publish(read(record), run, *short, jobs=jobs, full=whole)
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got output={file} ({stop.strerror})") from stop
    click.echo(str(file))


@click.command()
@click.argument("record", type=click.Path(path_type=Path), required=False)
@click.option("-o", "--output", "file", type=DOCUMENT, required=True, help="The file to write: .pdf, .md or .html.")
@click.option("--paper", default="", help="Of one paper alone: its folder, or the prefix of its ids (W18).")
@click.option("--contact", default="", help="Where answers go [default: the project's issue tracker, if it has one].")
def errata(record: Path | None, file: Path, paper: str, contact: str) -> None:
    """Write proposed corrections to the papers of RECORD [default: the newest run in pdp-verify-out]; draws nothing."""
    from reports.formats import write_document

    from ..engine.record import read, read_run, record_file
    from ..messages.faults import as_written
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
