"""The command line: one group of commands, each imported only when it is used; every failure is one line.

Exit codes: 0 as expected, 1 not, 2 the input or the call is wrong, 3 undecided, 4 a defect of ours, 130 interrupted.
"""

from __future__ import annotations

import importlib
import os
import sys
import tempfile
import traceback
from collections.abc import Mapping
from pathlib import Path

import click

from .errors import Defect, UserError

#: Command -> the module that holds it, its function, and the line that ``--help`` shows without importing it.
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "run": ("cli_run", "run", "Decide the published statements, and write a record and a report."),
    "list": ("cli_show", "list_", "Every statement: id, kind, title, file, expected verdict."),
    "show": ("cli_show", "show", "One statement: formula, domain, file, reference; its verdict in a record."),
    "replay": ("cli_record", "replay", "Draw one recorded case again; it must give the same row."),
    "report": ("cli_record", "report", "Render a record as PDF; draws nothing."),
    "errata": ("cli_errata", "errata", "What the papers say and what is true, from a record."),
    "calibrate": ("cli_calibrate", "calibrate", "Measure the instrument itself: false alarms and power."),
    "init": ("cli_init", "init", "Draft the configuration of a certificate."),
    "certify": ("cli_certify", "certify", "Decide the claims of a deployment, and write its certificate."),
    "check": ("cli_check", "check", "Do the files of a certificate belong together?"),
    "my-loss": ("cli_my_loss", "my_loss", "Bound one's own loss from a published report."),
    "figures": ("cli_figures", "figures", "Make the papers' figures again, as pages of a PDF."),
    "sweep": ("cli_sweep", "sweep", "Decide one claim over a grid of parameters; resumes, and scales out."),
}


class LazyGroup(click.Group):
    """A group whose commands are imported when they are invoked."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        module, function, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(f".{module}", __package__), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, _, line) in COMMANDS.items()])


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"pdp-verify {version('pdp-verify')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def group() -> None:
    """Verify the published statements of per-instance differential privacy, each against what is true."""


def main(arguments: list[str] | None = None) -> None:
    """Run a command and exit with its code (the entry point of ``pdp-verify``)."""
    sys.exit(invoke(arguments))


def invoke(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code; whatever goes wrong is one line on stderr."""
    try:
        words = tuple(sys.argv[1:] if arguments is None else arguments)
        code = group.main(args=list(words), prog_name="pdp-verify", standalone_mode=False, obj=words)
        sys.stdout.flush()
        return int(code or 0)
    except click.exceptions.NoArgsIsHelpError as stop:
        click.echo(stop.format_message(), err=True)
        return 2
    except click.ClickException as stop:
        return _fail(stop.format_message(), 2)
    except UserError as stop:
        return _fail(str(stop), 2)
    except Defect as stop:
        return _fail(str(stop), 4)
    except (KeyboardInterrupt, click.Abort):
        return _fail("interrupted", 130)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # the reader of our output has gone: no error
        return 0
    except Exception as stop:
        return _fail(f"{type(stop).__name__}: {stop} (a defect of ours; details in {_keep_traceback()})", 4)


def _fail(message: str, code: int) -> int:
    line = " ".join(message.split())
    click.echo(f"error: {line}", err=True)
    return code


def _keep_traceback() -> Path:
    """Write the current traceback to a temporary file and return its path."""
    handle, name = tempfile.mkstemp(prefix="pdp-verify-", suffix=".traceback.txt")
    with os.fdopen(handle, "w", encoding="utf-8") as file:
        file.write(traceback.format_exc())
    return Path(name)
