"""``pdp-verify my-loss``: one person's own bound from a published report."""

from __future__ import annotations

import sys
from pathlib import Path

import click

from .errors import UserError

FILE = click.Path(path_type=Path)


@click.command(name="my-loss")
@click.argument("report", type=FILE)
@click.argument("record", type=FILE, required=False)
@click.option("--json", "as_json", is_flag=True, help="Print JSON.")
def my_loss(report: Path, record: Path | None, as_json: bool) -> None:
    """Bound one's own privacy loss from a published REPORT and one's own RECORD (a JSON file, or standard input)."""
    import json

    from .deployment.my_loss import my_loss as evaluate

    try:
        report_text = report.read_text(encoding="utf-8")
        record_text = sys.stdin.read() if record is None else record.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as stop:
        why = stop.strerror if isinstance(stop, OSError) else "not UTF-8 text"
        raise UserError(f"report and record must be readable files ({why})") from None
    found = evaluate(report_text, record_text)
    if as_json:
        click.echo(json.dumps(vars(found)))
        return
    click.echo(f"Your ex-post privacy loss is at most {found.epsilon1_bar:.6g} (natural log),")
    click.echo(f"except with probability {found.failure_prob:.2g} over the noise of the release.")
    if found.mu_releases:
        click.echo(f"The report itself cost you Gaussian privacy with mu = {found.mu_releases:.6g}.")
    click.echo("This number depends on your record: keep it to yourself.")
