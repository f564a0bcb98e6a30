"""The printed numbers of Tables 3 and 4: cross-validated errors of seven methods on 36 data sets."""

import csv
from functools import cache
from importlib import resources

#: Existing private methods, and the paper's two.
EXISTING = ("ObjPert", "OPS", "SSP")
OURS = ("AdaOPS", "AdaSSP")

#: Mean and half width of the printed 95 % interval, by method.
Row = dict[str, tuple[float, float]]


@cache
def table(number: int) -> dict[str, Row]:
    """Return Table 3 (epsilon = 0.1) or 4 (epsilon = 1), by data set and method."""
    text = resources.files(__package__).joinpath(f"table{number}.csv").read_text(encoding="utf-8")
    rows: dict[str, Row] = {}
    for line in csv.DictReader(text.splitlines()):
        rows.setdefault(line["dataset"], {})[line["method"]] = (float(line["mean"]), float(line["half_width"]))
    return rows


def beaten(row: Row) -> bool:
    """Return whether the better of the two has a smaller printed mean than every existing method."""
    return min(row[m][0] for m in OURS) < min(row[m][0] for m in EXISTING)


def clearly_worse(row: Row) -> bool:
    """Return whether an existing method's whole interval lies below those of both."""
    return any(all(row[e][0] + row[e][1] < row[o][0] - row[o][1] for o in OURS) for e in EXISTING)


def unstable(row: Row) -> bool:
    """Return whether the interval of SSP reaches below 0."""
    return row["SSP"][1] > row["SSP"][0]


def far_from_best(row: Row) -> bool:
    """Return whether the interval of ObjPert lies above that of the non-private solution."""
    return row["ObjPert"][0] - row["ObjPert"][1] > row["non-private"][0] + row["non-private"][1]


def worse_than_trivial(row: Row) -> bool:
    """Return whether both have a larger printed mean than the constant prediction."""
    return min(row[m][0] for m in OURS) > row["Trivial"][0]


def count(number: int, what: str) -> int:
    """Return on how many data sets of a table one of the properties above holds."""
    test = {
        "beaten": beaten,
        "clearly worse": clearly_worse,
        "unstable": unstable,
        "far": far_from_best,
        "worse than trivial": worse_than_trivial,
    }[what]
    return sum(test(row) for row in table(number).values())
