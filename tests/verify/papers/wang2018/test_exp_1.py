"""W18, Tables 3 and 4: the counts behind the claims, row by row from the printed numbers."""

from __future__ import annotations

import csv
from collections import defaultdict
from importlib import resources

import pytest
from oracles.formula_cases import decide, exact_value, holds

from verify.papers.wang2018.exp_1 import STATEMENT


def _rows(number: int) -> list[dict[str, tuple[float, float]]]:
    text = resources.files("verify.papers.wang2018.shared").joinpath(f"table{number}.csv").read_text(encoding="utf-8")
    rows: dict[str, dict[str, tuple[float, float]]] = defaultdict(dict)
    for line in csv.reader(text.splitlines()[1:]):
        rows[line[0]][line[1]] = (float(line[2]), float(line[3]))
    return list(rows.values())


@pytest.mark.parametrize(("number", "best", "worse"), [(3, 27, 4), (4, 21, 1)])
def test_counts(number: int, best: int, worse: int) -> None:
    """Strictly best: the least of the five private means is that of one of the two; clearly worse: intervals apart."""
    strict = clear = 0
    for row in _rows(number):
        private = {name: row[name] for name in ("ObjPert", "OPS", "SSP", "AdaOPS", "AdaSSP")}
        least = min(mean for mean, _ in private.values())
        strict += {name for name, (mean, _) in private.items() if mean == least} <= {"AdaOPS", "AdaSSP"}
        floor = min(mean - half for mean, half in (row["AdaOPS"], row["AdaSSP"]))
        clear += any(sum(row[name]) < floor for name in ("ObjPert", "OPS", "SSP"))
    assert (strict, clear) == (best, worse)
    assert exact_value(STATEMENT, "#nearly all", "printed", table=number) == best
    assert exact_value(STATEMENT, "#as well", "printed", table=number) == worse


def test_versions() -> None:
    """'Nearly all' is 30 of 36; corrected 27 and 21, and at most 4 clearly worse; one more or fewer fails."""
    allowed = {
        ("#nearly all", "printed"): {3: (30, 36), 4: (30, 36)},
        ("#nearly all", "corrected"): {3: (27, 36), 4: (21, 36)},
        ("#nearly all", "one data set more"): {3: (28, 36), 4: (22, 36)},
        ("#as well", "printed"): {3: (0, 0), 4: (0, 0)},
        ("#as well", "corrected"): {3: (0, 4), 4: (0, 4)},
        ("#as well", "one data set fewer"): {3: (0, 3)},
    }
    for (part, version), tables in allowed.items():
        for number, ends in tables.items():
            claim = decide(STATEMENT, part, version, table=number).claim
            assert (claim.low, claim.high) == ends
            assert holds(STATEMENT, part, version, table=number) is (version == "corrected")


@pytest.mark.parametrize("part", ["#SSP", "#ObjPert", "#OPS", "#rerun"])
def test_what_the_printed_numbers_leave_open(part: str) -> None:
    evidence = decide(STATEMENT, part, "printed", table=3)
    assert evidence.exact is None
    assert evidence.reason.startswith(("data missing", "no finite test"))
