"""``pdp-verify init``: the draft of a configuration."""

from __future__ import annotations

from pathlib import Path

import click

from ..messages.errors import UserError

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
