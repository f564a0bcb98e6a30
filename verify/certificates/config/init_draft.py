"""The draft of a configuration: column names filled in, every public bound that is not known left as REQUIRED."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ...messages.errors import UserError
from ...messages.texts import toml_key, toml_value
from ..claims.types import BY_TYPE
from ..reading.first_lines import comma_in_numbers, kind_of_cells
from ..reading.source import ReadSource, column_places, first_columns, not_there

_SECTIONS = """
# The deployed output: a file with its numbers, or draw = true to draw it once with noise from the operating system.
# [release]
# file = "theta.json"

# [report]
# rho = 1e-6                  # failure probability of each event behind the bound
# sigma2 = 5.0                # with sigma3: a data-dependent report too, whose cost is added to the dp claim
# sigma3 = 0.02

[budget]
profile = "standard"          # quick, standard or full
failure_prob = 1e-4
# pairs = 16                  # of an imported mechanism, each drawn from draws times on both sides
# draws = 20000
"""

_MECHANISM = """
[mechanism]
name = "objective-perturbation"   # or posterior-sampling, gaussian-output, ssp, adassp, adaops-2018, adaops-2019,
                                  # dp-sgd, filtered-dp-sgd, ... (docs/certify.md, docs/dp_sgd.md, docs/filters.md)
loss = "logistic"                 # labels -1 and +1
sigma = {sigma}                   # standard deviation of the noise as added
lam = {lam}
# Your own mechanism instead: import = "my_mechanism.py:factory", parameters = {{ sigma = 1.0 }}, and, for a PASS on
# somebody's word, vouched_by = {{ who = "...", proof = "a file, a DOI or a URL" }}
# In any language: command = ["Rscript", "release.R"], or url = "http://127.0.0.1:8080/release" (docs/doors.md)
"""

_EXAMPLE = """# pdp-verify certify: an example on embedded public data. Run it with: pdp-verify certify THIS_FILE

[data]
source = "fair"                   # an embedded data set; a file of your own: pdp-verify init data.csv --target y
"""


def _claims(**numbers: str) -> str:
    first, *others = (section.draft for section in BY_TYPE.values())
    more = "".join(f"# [[claims]]\n{draft}" for draft in others)
    return f"\n{first.format(**numbers)}\n# Further claims: remove the # in front of those you make.\n{more}{_SECTIONS}"


def example() -> str:
    """Return the example on ``fair``: objective perturbation that keeps its promise."""
    numbers = {"sigma": "11.0", "lam": "0.5", "epsilon": "1.0", "delta": "1e-6"}
    return _EXAMPLE + _MECHANISM.format(**numbers) + _claims(**numbers)


def draft(
    path: Path,
    target: str,
    *,
    delimiter: str = ",",
    encoding: str = "utf-8",
    header: bool | None = None,
    beside: Path | None = None,
) -> str:
    """Return a draft for a file: of its cells it says whether a column holds numbers, text or dates.

    ``header``: whether the first line names the columns; None where nobody has said so. ``beside`` is the folder that
    the configuration will stand in (the working directory by default).

    Raises UserError if the file cannot be read, has no such column, or begins with a record.
    """
    source = ReadSource(
        path,
        str(path),
        delimiter,
        encoding,
        header is not False,
        key="data",
        key_of_delimiter="--delimiter",
        key_of_encoding="--encoding",
        key_of_header="--no-header",
        told=header is not None,
    )
    places = column_places(source)
    if target not in places:
        names = list(places)
        meant = not_there(source, target, names) or f"; it has {', '.join(names[:12])}"
        raise UserError(f"--target must be a column of {path.name}, got --target {target}{meant}")
    lines = first_columns(source) if source.kind == "csv" else []
    below = [column[1:] if source.header else column for column in lines]
    kinds = {name: kind_of_cells(below[place]) if below else "numbers" for name, place in places.items()}
    features = [name for name in places if name != target and kinds[name] != "dates"]
    dates = ", ".join(_text(name) for name in places if name != target and kinds[name] == "dates")
    levels = "".join(f'{toml_key(name)} = ["REQUIRED"]\n' for name in features if kinds[name] == "text")
    required = {"sigma": '"REQUIRED"', "lam": '"REQUIRED"', "epsilon": '"REQUIRED"', "delta": '"REQUIRED"'}
    ranges = "".join(f'{toml_key(name)} = ["REQUIRED", "REQUIRED"]\n' for name in features if kinds[name] != "text")
    shown = path if beside is None else Path(os.path.relpath(path, beside))
    separator = "" if delimiter == "," else f"delimiter = {_text(delimiter)}\n"
    separator += "" if encoding == "utf-8" else f"encoding = {_text(encoding)}\n"
    separator += "header = false\n" if header is False else "header = true\n" if header else ""
    separator += 'decimal = ","\n' if delimiter != "," and comma_in_numbers(below) else ""
    if dates:
        separator += f"# Left out, for a date is no number: {dates}. Make a number of it, as an age in days.\n"
    if levels:
        levels = f"# Public levels of each column of text: one 0/1 column a level.\n[data.categories]\n{levels}\n"
    title = _text(path.name)[1:-1]
    return f"""\
# pdp-verify certify: a draft for {title}. Fill in every REQUIRED with a public constant: what a codebook or common
# knowledge says, never what is found in these records. Of the records nothing was used for this draft but whether a
# column holds numbers, text or dates.

[data]
file = {_text(shown.as_posix())}
features = [{", ".join(map(_text, features))}]
target = {_text(target)}
{separator}public = false                    # true only if the records themselves may be published
x_bound = 1.0                     # public bound on the Euclidean norm of a prepared row, intercept included
y_bound = 1.0                     # public bound on the absolute prepared response
intercept = 1.0                   # a constant last column; remove the line for none
rows = "clip"                     # rows longer than x_bound are scaled down to it ("refuse" stops instead)
response = "refuse"               # or "clip"
missing = "refuse"                # or "drop": a record with a missing value is left out
# n_min = 8                       # least number of records: a public condition of every promise
# threshold = 0.0                 # a numeric response above it becomes +1, any other -1
# labels = {{ yes = 1.0, no = -1.0 }}   # a text response

{levels}# Public range of each column of numbers, mapped to [-1, 1]/sqrt(number of columns). A column of codes goes to
# [data.categories] instead, with its public levels: city = [1, 2, 3].
[data.ranges]
{ranges}
{_MECHANISM.format(**required)}{_claims(**required)}"""


def filled(
    data: Mapping[str, Any], mechanism: Mapping[str, Any], *, epsilon: float, delta: float, replaced: bool, title: str
) -> str:
    """Return a configuration whose data, mechanism and claim of differential privacy are known.

    ``REQUIRED`` in ``data`` or ``mechanism`` is what the user has to fill in; ``title`` is the comment at the top, its
    lines wrapped already.
    """
    plain = {name: value for name, value in data.items() if not isinstance(value, Mapping)}
    tables = {name: value for name, value in data.items() if isinstance(value, Mapping) and value}
    parts = ["".join(f"# {line}\n" for line in title.split("\n")), _table("data", plain)]
    parts += [_table(f"data.{name}", table) for name, table in tables.items()]
    parts.append(_table("mechanism", mechanism))
    claims = _claims(epsilon=repr(epsilon), delta=repr(delta))
    if replaced:
        claims = claims.replace("# relation", "relation", 1)
    return "\n".join(parts) + claims


def _table(name: str, values: Mapping[str, Any]) -> str:
    return f"[{name}]\n" + "".join(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in values.items())


def _text(value: str) -> str:
    if any("\ud800" <= letter <= "\udfff" for letter in value):
        raise UserError(f"data must have a name that can be written as UTF-8, got data={value!a}")
    return toml_value(value)
