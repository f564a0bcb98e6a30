"""``pdp-verify compare``: which mechanism, at which price, on one's own data."""

from __future__ import annotations

import json
import os
import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..cli_typed import typed, will_go_on
from ..cli_work import DEFAULT_SEED, executor_of, prepare_folder, resume_command
from ..messages.errors import Defect, UserError

if TYPE_CHECKING:
    from mechanisms.capabilities import Domain

    from ..certificates.config.config import DataSection
    from ..engine.store import Store
    from ..kernel.rows import Row
    from .choice_table import ChoiceRecord
    from .experiment import Experiment

FILE = click.Path(path_type=Path)
#: Options that say how the experiment is done and not on what, and how many words follow: not in the next command.
_OF_THE_EXPERIMENT = dict.fromkeys(
    ("--epsilon", "--folds", "--draws", "--jobs", "--out", "--method", "--neighbours", "--way"), 1
)
_OF_THE_EXPERIMENT |= {"-o": 1, "--export": 1, "--resume": 0, "--json": 0, "--as-run": 0}
#: What a message calls a key of a configuration -> what it is on the command line; the first that fits.
_IN_OPTIONS = {
    r"data\.missing = 'drop'": "--missing drop",
    r"list its public levels in data\.categories": "list its public levels with --category",
    r"list its public levels in data\.labels": "the [data.labels] of a configuration make numbers of it",
    r"a threshold, or labels, make them": (
        "--threshold makes them of numbers (0.5 of 0 and 1), the [data.labels] of a configuration of text"
    ),
    r"data\.ranges\.?": "--range ",
    r"data\.categories": "--category",
    r"data\.([xy])_bound": r"--\1-bound",
    r"data\.n_public": "--n-public",
    r"data\.(target|threshold|rows|response|missing|delimiter)\b": r"--\1",
}


class _SeveralNumbers(click.Command):
    """A command whose ``--epsilon`` takes as many numbers as follow it."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Repeat the option before every further number."""
        return super().parse_args(ctx, _repeated(args))

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options in groups."""
        options = [param for param in self.get_params(ctx) if isinstance(param, click.Option)]
        rest = {option.name: record for option in options if (record := option.get_help_record(ctx))}
        for title, names in _GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([rest.pop(name) for name in names if name in rest])
        with formatter.section("Output"):
            formatter.write_dl(list(rest.values()))


#: The options by what they are about; those not named here are about the output.
_GROUPS = {
    "Promise": ("epsilon", "delta", "neighbours", "loss", "method"),
    "Data": (
        *("target", "drop", "log_response", "log1p_response", "threshold", "category", "ranges", "x_bound", "y_bound"),
        *("rows", "response", "delimiter", "missing", "n_public", "public", "synthetic", "recipe", "folder", "as_run"),
    ),
    "Experiment": ("folds", "draws", "seed", "jobs"),
    "Configuration of certify": ("draft", "way"),
}


def _repeated(words: Sequence[str]) -> list[str]:
    """Return words with ``--epsilon`` before every number that follows it."""
    repeated: list[str] = []
    several = False
    for word in words:
        if several and _is_number(word) and repeated[-1] != "--epsilon":
            repeated.append("--epsilon")
        several = word == "--epsilon" or (several and _is_number(word))
        repeated.append(word)
    return repeated


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


@click.command(cls=_SeveralNumbers)
@click.argument("data", required=False)
@click.option("--epsilon", type=float, multiple=True, help="One or more promised epsilons: 0.1 1 3.")
@click.option("--delta", type=float, help="Promised delta [default: the smaller of 1e-6 and 1/n^2].")
@click.option(
    "--neighbours",
    type=click.Choice(["add-remove", "replace"]),
    multiple=True,
    default=("add-remove",),
    help="What a neighbour is; repeat it for both.",
)
@click.option("--loss", type=click.Choice(["squared", "logistic"]), default="squared", show_default=True)
@click.option("--method", multiple=True, help="A mechanism of the table, as OPS; repeat it [default: all].")
@click.option("--target", help="The response column.")
@click.option("--drop", multiple=True, metavar="COLUMN", help="A column that is no feature; repeat it.")
@click.option("--log-response", is_flag=True, help="Take the logarithm of the response.")
@click.option("--log1p-response", is_flag=True, help="Take the logarithm of the response and 1.")
@click.option("--threshold", type=float, help="A response above it becomes +1, any other -1.")
@click.option("--category", multiple=True, metavar="COL=A,B", help="Public levels of a text column.")
@click.option("--range", "ranges", multiple=True, metavar="COL=LOW,HIGH", help="Public range of a column.")
@click.option("--x-bound", type=float, help="Public bound on the norm of a row.")
@click.option("--y-bound", type=float, help="Public bound on the absolute response.")
@click.option("--rows", type=click.Choice(["refuse", "clip", "unit"]), help="Rows longer than --x-bound.")
@click.option("--response", type=click.Choice(["refuse", "clip"]), help="Responses beyond --y-bound.")
@click.option("--delimiter", help="Of a CSV file.")
@click.option("--missing", type=click.Choice(["refuse", "drop"]), help="Records with a missing value.")
@click.option("--n-public", type=click.IntRange(min=1), metavar="N", help="Public bound on the number of records.")
@click.option("--public", type=FILE, help="A public set like DATA, which is not read: a choice made from it is free.")
@click.option("--synthetic", type=int, metavar="N", help="N records from the public domain instead of DATA: as free.")
@click.option("--recipe", metavar="NAME", help="A published set, as w18/airfoil, from --folder.")
@click.option("--folder", type=FILE, help="Where the file of --recipe is.")
@click.option("--as-run", is_flag=True, help="Also as the code of the published experiments has them.")
@click.option("--folds", type=click.IntRange(min=2), default=10, show_default=True, help="Parts of the data.")
@click.option("--draws", type=click.IntRange(min=1), default=20, show_default=True, help="Outputs a fold.")
@click.option("--seed", type=click.IntRange(min=0), default=DEFAULT_SEED, show_default=True, help="The one root seed.")
@click.option("--jobs", type=click.IntRange(min=1), help="Worker processes [default: one a processor].")
@click.option("--draft", metavar="METHOD", help="Write a configuration that names METHOD, at one epsilon; try nothing.")
@click.option(
    "--way",
    type=click.Choice(["exact", "published"]),
    default="exact",
    show_default=True,
    help="The calibration of --draft.",
)
@click.option("--out", type=FILE, help="Folder of record and pages [default: pdp-verify-out/<n>].")
@click.option("--resume", is_flag=True, help="Use an existing --out: keep what was tried there, replace its record.")
@click.option(
    "-o", "--export", type=FILE, help="Also write the table, .csv or .parquet, to a new file; with --draft the draft."
)
@click.option("--json", "as_json", is_flag=True, help="Print the rows as JSON.")
def compare(**given: Any) -> int:
    """Cross-validate every mechanism that fits the loss, at equal promises, on DATA.

    DATA is a file of records with --target, a configuration of certify, whose [data] is used, or an embedded set (fair,
    randhie, anes96). Without public bounds the columns are scaled by what is read off the data. Every mechanism is
    calibrated as published, and exactly: with the least noise for which its promise is proved here. Beside the error
    stands what each record loses.

    It is an experiment on the data, not a release: what it prints depends on every record. --public and --synthetic
    look at no private record. Exits with 0 when every mechanism was tried, 4 when a worker process died every time at
    one of them, 130 when interrupted.
    """
    export, name = given["export"], "output" if given["draft"] else "table"
    if export is not None and (export.exists() or export.is_symlink()):  # it may be the records themselves
        raise UserError(f"{name} must be a new file, got {name}={export}")
    if not given["draft"]:
        return _compare(given)
    if len(given["epsilon"]) != 1 or len(given["neighbours"]) != 1:
        raise UserError("draft must come with one --epsilon and one of --neighbours, got several")
    if given["recipe"] is not None:
        raise UserError("draft must be for a file that certify reads, got --recipe")
    return _draft(given)


def _options(given: Mapping[str, Any]) -> dict[str, Any]:
    """Return what the options say of the data, as the keys of ``[data]``, and what is dropped."""
    names = ("target", "threshold", "x_bound", "y_bound", "rows", "response", "missing", "n_public")
    options: dict[str, Any] = {name: given[name] for name in names if given[name] is not None}
    if given["log_response"] and given["log1p_response"]:
        raise UserError("--log-response must come without --log1p-response, got both")
    if given["log_response"] or given["log1p_response"]:
        options["log"] = "log" if given["log_response"] else "log1p"
    if given["delimiter"] is not None:
        options["delimiter"] = "\t" if given["delimiter"] == "\\t" else given["delimiter"]
    if given["drop"]:
        options["drops"] = tuple(given["drop"])
    if given["category"]:
        options["categories"] = {
            column: levels.split(",") for column, levels in map(_parted("category"), given["category"])
        }
    if given["ranges"]:
        options["ranges"] = {column: _ends(column, ends) for column, ends in map(_parted("range"), given["ranges"])}
    return options


def _parted(name: str) -> Callable[[str], tuple[str, str]]:
    def parted(text: str) -> tuple[str, str]:
        column, sign, values = text.rpartition("=")
        if not (column and sign and values):
            raise UserError(f"--{name} must be a column, = and values with commas between, got --{name} {text}")
        return column, values

    return parted


def _ends(column: str, text: str) -> tuple[float, float]:
    words = text.split(",")
    if len(words) != 2 or not all(map(_is_number, words)):
        raise UserError(
            f"--range must be a column, = and two numbers with a comma between, got --range {column}={text}"
        )
    return float(words[0]), float(words[1])


def _experiment(given: Mapping[str, Any]) -> Experiment:
    """Read the data, or draw them, and return what is compared on them."""
    from mechanisms.data.embedded import SOURCES

    from ..messages.faults import withheld
    from .compare_call import gathered, promises
    from .experiment import Experiment

    if not given["epsilon"]:
        raise UserError("--epsilon must be given: one or more numbers, got none")
    if given["public"] is not None and given["data"] in SOURCES:
        raise UserError(f"public must come without an embedded data set, which is public, got DATA={given['data']}")
    names = ("public", "synthetic", "recipe", "folder", "seed", "loss")
    options = _options(given)
    with withheld(True), _in_options(given["data"]):  # whether the records are public is not known yet
        data = gathered(given["data"], options=options, **{name: given[name] for name in names})
    wanted = promises(data, given["epsilon"], given["delta"], given["neighbours"])
    loss, *rest = (given[name] for name in ("loss", "method", "folds", "draws", "seed", "as_run"))
    return Experiment(data, loss, wanted, *rest)


@contextmanager
def _in_options(data: str | None) -> Iterator[None]:
    """Let a message name options in place of the keys of a configuration, unless one was given."""
    try:
        yield
    except UserError as stop:
        line = str(stop)
        if not _is_configuration(data):
            for key, words in _IN_OPTIONS.items():
                line = re.sub(key, words, line)
        raise UserError(line) from None


def _is_configuration(data: str | None) -> bool:
    return data is not None and Path(data).suffix.lower() == ".toml"


def _section(given: Mapping[str, Any]) -> tuple[DataSection, Path]:
    """Return the ``[data]`` of a draft, and the folder of its file: with a public set its columns, of DATA the name.

    DATA is not read beside a public set, and need not be there.
    """
    from .choice_data import section_of

    data, public = given["data"], given["public"]
    if public is None or _is_configuration(data):
        return section_of(data, given["loss"], _options(given))
    section, folder = section_of(public, given["loss"], _options(given))
    return section if data is None else section.model_copy(update={"file": data}), folder


def _compare(given: Mapping[str, Any]) -> int:
    """Make the comparison, leave its files, print its table, and return the exit code."""
    from ..engine.follow import Follower
    from ..engine.store import Store
    from ..engine.versions import Clock
    from ..engine.worker import one_blas_thread
    from ..messages.faults import withheld
    from .choice_draft import compared, domain_of
    from .experiment import DIED, Course
    from .pages.choice_pages import LEAVES, names_of
    from .pages.choice_words import first_line

    _check_table(given["export"])
    experiment = _experiment(given)
    private = experiment.data.private
    data, drafted = experiment.data, given["recipe"] is None
    domain = domain_of(data, compared(_section(given)[0], data)) if drafted else None
    folder = _folder(given["out"], LEAVES, resume=given["resume"])
    will_go_on(resume_command(folder))
    clock, store_of = Clock(), Store(folder / "store.sqlite", private=private)
    with withheld(private), one_blas_thread(), store_of as store:
        _check_store(store)
        follower = Follower("rows of the table", left=True)
        executor = executor_of(given["jobs"], None, follower.say)
        click.echo(first_line(experiment.header(0)), err=True)
        with follower:
            course = Course(experiment, store, follower)
            comparison = course.run(executor)
        died = any(row["reason"] == DIED for row in comparison.rows)
        code = 130 if course.interrupted else 4 if died else 0
        seconds = names_of(comparison)
        about = clock.about(typed(), jobs=executor.slots, exit_code=code, seconds_of=seconds, reused_rows=course.reused)
        _leave(comparison, about, folder, given["export"] if code == 0 else None)
        _say(given, comparison, seconds, folder, domain, done=code == 0)
    return code


def _check_table(export: Path | None) -> None:
    """Refuse a table that could not be written in the end."""
    from .choice_table import check_table

    if export is not None:
        check_table(export)
        if not os.access(export.absolute().parent, os.W_OK):
            raise UserError(f"table must be in a folder that can be written, got table={export}")


def _leave(comparison: ChoiceRecord, about: Row, folder: Path, export: Path | None) -> None:
    """Write the files of a comparison; ``export`` is None before all is done, or what goes on would find it there."""
    from ..engine.versions import write_run
    from .choice_table import write, write_tables
    from .pages.choice_pages import is_private, write_pages

    private = is_private(comparison.header)
    write(comparison, folder / "comparison.jsonl", private=private)
    write_tables(comparison, [folder / "comparison.csv"], private=private)
    write_run(folder, about)
    try:
        write_pages(comparison, about, folder / "comparison.pdf", folder / "comparison.html")
    except ValueError as stop:
        raise Defect(f"the pages could not be set ({stop}); the record is {folder / 'comparison.jsonl'}") from stop
    if export is not None:
        write_tables(comparison, [export], private=private)


def _check_store(store: Store) -> None:
    """Refuse a store that is damaged, or that another command filled, before anything is said."""
    for key in sorted(store.keys()):
        rows = store.get(key)
        if rows and set(rows[0]) != {"row", "seconds"}:
            raise UserError(f"store must be that of a comparison, got store={store.path}")


def _folder(out: Path | None, leaves: Sequence[str], *, resume: bool) -> Path:
    """Return the folder of a comparison; one of anything else is refused."""
    from ..engine.record import CALIBRATION, COMPARISON, holds_certificate

    if resume and out is not None and out.is_dir() and any(out.iterdir()):
        if any((out / name).exists() for name in ("audit.jsonl", CALIBRATION)) or holds_certificate(out):
            raise UserError(f"out must not be the folder of a run, a calibration or a certificate, got out={out}")
        if not any((out / name).exists() for name in ("store.sqlite", COMPARISON)):
            raise UserError(f"out must be the folder of a comparison, or a new one, with --resume, got out={out}")
    return prepare_folder(out, resume=resume, leaves=leaves)


def _say(
    given: Mapping[str, Any],
    comparison: ChoiceRecord,
    seconds: Mapping[str, float],
    folder: Path,
    domain: Domain | None,
    *,
    done: bool,
) -> None:
    """Print the table, or the rows as JSON, then the paths and the next command to type."""
    from .choice_draft import can_be_drafted
    from .pages.choice_words import lines, worthwhile

    as_json, rows = given["as_json"], comparison.rows
    if as_json:
        click.echo(json.dumps({"header": comparison.header, "rows": list(rows)}))
    else:
        for line in lines(comparison.header, rows, seconds):
            click.echo(line)
    for name, path in (("record", "comparison.jsonl"), ("table", "comparison.csv"), ("pages", "comparison.pdf")):
        click.echo(f"{name:<8}{folder / path}", err=as_json)
    if not done:
        click.echo(f"next    {resume_command(folder)}", err=as_json)
        return
    if domain is None:
        return
    best = next((row for group in worthwhile(rows).values() for row in group if can_be_drafted(row, domain)), None)
    if best is not None:
        click.echo(f"next    {_draft_command(best)}", err=as_json)


def _draft_command(best: Row) -> str:
    """Return the command that drafts the configuration of a row's mechanism, on the data that were typed."""
    words = iter(_repeated(typed()))
    kept = []
    for word in words:
        name, sign, _ = word.partition("=")
        if name in _OF_THE_EXPERIMENT:
            if _OF_THE_EXPERIMENT[name] and not sign:
                next(words, None)
        else:
            kept.append(word)
    end = kept.index("--") if "--" in kept else len(kept)  # no option is read after it
    way = [] if best["way"] == "exact" else ["--way", best["way"]]
    short = f"{best['epsilon']:g}"
    promise = ["--epsilon", short if float(short) == best["epsilon"] else repr(best["epsilon"])]
    promise += ["--neighbours", best["neighbours"]]
    own = [*promise, "--draft", best["method"], *way, "-o", _new_draft()]
    return shlex.join(["pdp-verify", *kept[:end], *own, *kept[end:]])


def _new_draft() -> str:
    """Return the name of a draft that is not there yet."""
    names = ("deployment.toml", *(f"deployment-{number}.toml" for number in range(2, 1000)))
    return next((name for name in names if not Path(name).exists()), names[-1])


def _draft(given: Mapping[str, Any]) -> int:
    """Write the configuration of one mechanism at one promise."""
    from reports.files import write_atomic

    from .choice_draft import REQUIRED, compared, data_keys, domain_of, draft

    output: Path | None = given["export"]
    experiment = _experiment(given)
    promise = experiment.promises[0]
    asked, folder = _section(given)
    section = compared(asked, experiment.data)
    keys = data_keys(section, folder, beside=None if output is None else output.parent)
    if given["data"] is None:
        keys["file"] = REQUIRED  # the public set alone was named
    text = draft(
        given["draft"],
        given["way"],
        experiment.loss,
        domain_of(experiment.data, section),
        promise,
        data=keys,
        origin=experiment.data.origin,
        read_off=experiment.data.read_off,
        features_chosen=section != asked,
    )
    if output is None:
        click.echo(text, nl=False)
        return 0
    try:
        write_atomic(output, text.encode())
    except OSError as stop:
        raise UserError(f"output must be a file that can be written, got output={output} ({stop.strerror})") from stop
    first = f"fill in every REQUIRED in {output}, then " if "REQUIRED" in text else ""
    click.echo(f"next: {first}pdp-verify certify {output}", err=True)
    return 0
