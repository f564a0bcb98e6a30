"""``pdp-verify my-loss``: one person's own bound from a published report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from ..messages.errors import UserError

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

    from .release.my_loss import my_loss as evaluate

    report_text = _text("report", report, REPORT_BYTES)
    evaluated = evaluate(report_text, _text("record", record, RECORD_BYTES))
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


def _text(name: str, path: Path | None, most: int) -> str:
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
