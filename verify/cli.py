"""The command line: one group of commands, each imported only when it is used; every failure is one line.

Exit codes: 0 as expected, 1 not, 2 the input or the call is wrong, 3 undecided, 4 a defect of ours, 130 interrupted.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import os
import sys
import warnings
from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from typing import Any, NoReturn

import click

from .cli_child import in_child
from .cli_typed import goes_on
from .engine.worker import ROOM, start_one_thread
from .messages.errors import Defect, UserError, one_line
from .messages.faults import LITTLE, keep_traceback, of_own_code, of_the_system, short_of_memory

#: Command -> the module that holds it, its function, and the line that ``--help`` shows without importing it.
COMMANDS: Mapping[str, tuple[str, str, str]] = {
    "audit": ("certificates.cli_audit", "audit", "Is a function, an estimator or a command as private as it says?"),
    "sweep": ("sweeps.cli_sweep", "sweep", "Decide one claim over a grid of parameters; resumes, and scales out."),
    "compare": (
        "comparisons.cli_compare",
        "compare",
        "Which mechanism at which price: on your own data, an experiment.",
    ),
    "init": ("certificates.cli_certify", "init", "Draft the configuration of a certificate."),
    "certify": ("certificates.cli_certify", "certify", "Decide the claims of a deployment, and write its certificate."),
    "check": ("certificates.cli_certify", "check", "Do the files of a certificate belong together?"),
    "my-loss": ("certificates.cli_certify", "my_loss", "Bound one's own loss from a published report."),
    "run": ("runs.cli_run", "run", "Decide the published statements, and write a record and a report."),
    "list": ("runs.cli_show", "list_", "Every statement, or those that answer to words: id, kind, verdict, title."),
    "show": ("runs.cli_show", "show", "One statement: formula, domain, file, reference; its verdict in a record."),
    "errata": ("runs.cli_record", "errata", "What the papers say and what is true, from a record."),
    "figures": ("runs.cli_figures", "figures", "Make the papers' figures again, as pages of a PDF."),
    "replay": ("runs.cli_record", "replay", "Draw one recorded case again; it must give the same row."),
    "report": ("runs.cli_record", "report", "Render a record as PDF; draws nothing."),
    "diff": ("diffs.cli_diff", "diff", "What changed between two records, and what of it is for the worse."),
    "calibrate": ("calibration.cli_calibrate", "calibrate", "Measure the instrument itself: false alarms and power."),
}
#: Heading of ``--help`` -> its first command; it ends where the next one begins.
GROUPS = {"Audit": "audit", "Certify": "compare", "Papers": "run", "Records": "replay", "Instrument": "calibrate"}


class _Stopped(Exception):
    """What stopped a command, kept from click, which takes the end of a file for Ctrl-C and a full pipe for an exit."""

    def __init__(self, cause: BaseException, goes_on: str) -> None:
        self.cause, self.goes_on = cause, goes_on


class LazyGroup(click.Group):
    """A group whose commands are imported when they are invoked."""

    def invoke(self, ctx: click.Context) -> Any:
        """Run a command; whatever stops it is told apart by us."""
        try:
            return super().invoke(ctx)
        except (click.exceptions.Exit, click.ClickException, UserError, Defect):
            raise
        except BaseException as stop:
            raise _Stopped(stop, goes_on(ctx)) from stop

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Return the commands in the order of the table."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Import a command."""
        if cmd_name not in COMMANDS:
            return None
        from reports.files import require_room

        require_room(ROOM)
        module, function, _ = COMMANDS[cmd_name]
        command: click.Command = getattr(importlib.import_module(f".{module}", __package__), function)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the table of commands without importing them."""
        names = list(COMMANDS)
        starts = [*(names.index(first) for first in GROUPS.values()), len(names)]
        for heading, (start, end) in zip(GROUPS, pairwise(starts), strict=True):
            with formatter.section(heading):
                formatter.write_dl([(name, COMMANDS[name][2]) for name in names[start:end]], col_max=12)


def _version(ctx: click.Context, _: click.Parameter, wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        click.echo(f"pdp-verify {version('pdp-verify')}")
        ctx.exit()


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.option("--version", is_flag=True, callback=_version, expose_value=False, is_eager=True, help="Show the version.")
def group() -> None:
    """Test claims of differential privacy, certify private regression, and check the theorems behind both.

    \b
    pdp-verify audit release.py:mean --epsilon 1     a function of yours
    pdp-verify run W19-T4.1                          a theorem of a paper
    """


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run a command in a child process and exit with its code (the entry point of ``pdp-verify``)."""
    in_child(partial(run_alone, arguments))


def run_alone(arguments: list[str] | None = None) -> int:
    """Run a command in a process that is its own, and return its exit code."""
    if not sys.warnoptions:  # a warning of a library is not for the user, here and in the workers; -W shows them
        warnings.simplefilter("ignore")
        os.environ.setdefault("PYTHONWARNINGS", "ignore")
    start_one_thread()
    for name in ("stdout", "stderr"):
        if isinstance(stream := getattr(sys, name), io.TextIOWrapper):
            setattr(sys, name, _Outlet(stream))
    return invoke(arguments)


class _Outlet:
    """A stream that drops what it is given once its reader has gone: a command ends its work and says its verdict."""

    def __init__(self, stream: io.TextIOWrapper) -> None:
        stream.reconfigure(errors="backslashreplace")  # a terminal that cannot write a letter gets its number
        self._stream = stream

    def __getattr__(self, name: str) -> Any:
        return getattr(self._stream, name)

    def write(self, text: str) -> int:
        """Write text, or nothing where nobody reads any more."""
        with self._survived():
            self._stream.write(text)
        return len(text)

    def flush(self) -> None:
        """Write what waits, or nothing where nobody reads any more."""
        with self._survived():
            self._stream.flush()

    @contextlib.contextmanager
    def _survived(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            os.dup2(os.open(os.devnull, os.O_WRONLY), self._stream.fileno())


def invoke(arguments: list[str] | None = None) -> int:
    """Run a command and return its exit code; whatever goes wrong is one line on stderr."""
    words = tuple(sys.argv[1:] if arguments is None else arguments)
    try:
        _read_environment()
        code = group.main(args=list(words), prog_name="pdp-verify", standalone_mode=False, obj=words)
        if sys.stdout is not None:
            sys.stdout.flush()
        return int(code or 0)
    except _Stopped as stop:
        return _failed(stop.cause, stop.goes_on)
    except SystemExit as stop:  # click's own, after it completed a word for a shell
        return int(stop.code or 0)
    except (Exception, KeyboardInterrupt) as stop:
        return _failed(stop, "")


def _read_environment() -> None:
    """Refuse a date that is none, and let no library stumble over a size of the terminal, or a window for figures."""
    if "SOURCE_DATE_EPOCH" in os.environ:
        from .messages.texts import source_date

        source_date()
    for name in ("COLUMNS", "LINES"):
        if not os.environ.get(name, "0").isdecimal():
            del os.environ[name]
    if "MPLBACKEND" in os.environ:
        os.environ["MPLBACKEND"] = "agg"


def _failed(stop: BaseException, goes_on: str) -> int:
    """Say in one line what stopped a command, and return its exit code; ``goes_on``: the command that continues."""
    match stop:
        case click.exceptions.NoArgsIsHelpError():
            click.echo(stop.format_message(), err=True)
            return 2
        case click.UsageError():
            command = stop.ctx.command_path if stop.ctx else "pdp-verify"
            return _fail(f"{stop.format_message().rstrip('.')}; see {command} --help", 2)
        case click.ClickException():
            return _fail(stop.format_message(), 2)
        case UserError():
            return _fail(str(stop), 2)
        case BrokenPipeError():
            _silence()  # the reader of our output has gone: no error
            return 0
        case SystemExit():
            return _fail("the code of a configuration must not end the program, got one that does", 2)
    if (own := of_own_code(stop)) is not None:
        return _fail(own, 2)
    if isinstance(stop, KeyboardInterrupt | click.Abort):
        code = _fail("interrupted", 130)
        if goes_on:
            _say(f"next    {goes_on}\n")
        return code
    return _broken(stop, goes_on)


def _broken(stop: BaseException, goes_on: str) -> int:
    """Say what the machine refused, or what of ours broke."""
    refused = of_the_system(stop)
    if isinstance(stop, OSError) and stop.filename is None:
        _silence()  # what could not be printed would be tried again at the end
    if refused is None and short_of_memory():
        refused = f"{LITTLE} ({keep_traceback(stop)})"
    if refused is not None:
        anew = goes_on and not isinstance(stop, RuntimeError)  # the input itself stops it again
        return _fail(refused + (f"; {goes_on} goes on from here" if anew else ""), 2)
    if isinstance(stop, Defect):
        return _fail(str(stop), 4)
    return _fail(f"{type(stop).__name__}: {stop} (a defect of ours; {keep_traceback(stop)})", 4)


def _silence() -> None:
    """Let nothing more be written to a standard output that cannot be written."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


def _fail(message: str, code: int) -> int:
    _say(one_line(message))
    return code


def _say(line: str) -> None:
    with contextlib.suppress(OSError):
        click.echo(line, err=True, nl=False)
