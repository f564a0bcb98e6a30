"""A case is a sentence with one unit: its numbers are those of the row, and the measure says what they are."""

from __future__ import annotations

import shlex
from typing import Any

import pytest

from verify.kernel.measure import Measure, excess
from verify.messages.words import case_sentence, command_lines, times


def row(measure: Measure, quantity: str, low: float, high: float, published: float, **more: Any) -> dict[str, Any]:
    """A failing row as the record has it."""
    claim = {"measure": measure.name, "quantity": quantity, "low": low, "high": high, "published": published}
    about: dict[str, Any] = {"outcome": "FAILS", "standing": "PRINTED", "params": {}, "notes": {}, "error": None}
    return about | {"claim": claim, "exact": None, "sampled": None} | more


def exactly(value: float, low: float | None = None, high: float | None = None) -> dict[str, float]:
    return {"value": value, "low": value if low is None else low, "high": value if high is None else high}


INF = float("inf")
DELTA = row(Measure.DELTA, "hockey-stick delta", 0.0, 0.001, 0.0267037, exact=exactly(0.0283167))
SENTENCES = [
    (
        DELTA,
        "At epsilon 0.0267 (the printed formula) the true delta is 0.0283, where 0.001 was promised: 28 times as much.",
    ),
    (
        DELTA | {"params": {"epsilon": 0.0267037}},
        "At epsilon 0.0267 the true delta is 0.0283, where 0.001 was promised: 28 times as much.",
    ),
    (
        DELTA | {"outcome": "HOLDS", "standing": "CORRECTED", "exact": exactly(0.0009)},
        "At epsilon 0.0267 (the corrected formula) the true delta is 9e-4, where 0.001 is promised.",
    ),
    (
        DELTA | {"exact": exactly(0.5, 0.25, 1.0)},
        "At epsilon 0.0267 (the printed formula) the true delta is at least 0.25, where 0.001 was promised: at least "
        "250 times as much.",
    ),
    (
        row(Measure.COVERAGE, "probability that it holds", 0.97, INF, 0.97, sampled=exactly(0.612, 0.55, 0.67)),
        "The probability that it holds is 0.61 [0.55, 0.67], where at least 0.97 was promised.",
    ),
    (
        row(Measure.FAILURE, "probability that this fails: the bound", -INF, 0.01, 0.01, exact=exactly(0.0213)),
        "The probability that this fails (the bound) is 0.0213, where at most 0.01 was promised.",
    ),
    (
        row(Measure.BOUND, "norm: value over bound", 0.0, 1.0, 2.0, exact=exactly(2.0), notes={"value": 4, "bound": 2}),
        "Norm: 4, where at most 2 is promised.",
    ),
    (
        row(Measure.GROWTH, "decades by which A over its order grows, n from 1 to 1e5", -INF, 1.0, 0.0,
            exact=exactly(3.0)),
        "A over its order grows by a factor of 1000, n from 1 to 1e5, where at most 10 is allowed.",
    ),
    (
        row(Measure.IDENTITY, "relative deviation: both sides", 0.0, 0.0, 0.0, exact=exactly(0.5)),
        "The two sides differ by 50% (both sides), where they are said to be equal.",
    ),
    (row(Measure.NUMBER, "solutions", 1.0, 1.0, 1.0, exact=exactly(2.0)), "Solutions: 2, where 1 is stated."),
    (
        row(Measure.NUMBER, "ratio", 1.0, 1.0, 1.0, exact=exactly(1.0), outcome="HOLDS"),
        "Ratio: 1, where 1 is stated.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("case", "sentence"), SENTENCES)
def test_a_case_is_a_sentence_with_one_unit(case: dict[str, Any], sentence: str) -> None:
    assert case_sentence(case) == sentence


def test_a_number_is_never_rounded_to_what_it_must_not_be() -> None:
    """A failure by one part in ten thousand keeps the digits that show it."""
    case = row(Measure.DELTA, "delta", 0.0, 0.1, 2.0, exact=exactly(0.10004))
    assert "the true delta is 0.10004, where 0.1 was promised" in case_sentence(case)


def test_an_excess_is_in_the_unit_of_its_measure() -> None:
    """A coverage of 0.7 where 0.97 was promised fails ten times as often; an enclosure counts by its nearer end."""
    case = row(Measure.COVERAGE, "probability", 0.97, INF, 0.97, exact=exactly(0.7))
    assert excess(case) == pytest.approx(10.0)
    assert excess(DELTA | {"exact": exactly(0.5, 0.25, 1.0)}) == 250.0
    assert times(row(Measure.IDENTITY, "x", 0.0, 0.0, 0.0, exact=exactly(0.5))) == ""
    assert times(DELTA | {"exact": exactly(0.0005)}) == ""
    growth = row(Measure.GROWTH, "x", -0.5, 0.5, 0.0, exact=exactly(900.0))
    assert excess(growth) == INF


@pytest.mark.parametrize("case", ["printed", "a | b = 'c' \"d\" $HOME `x` \\", " ".join(["word=1e-06"] * 40)])
def test_a_command_on_a_page_is_short_lines_that_a_shell_reads_as_one(case: str) -> None:
    words = ["pdp-verify", "replay", "audit.jsonl", "W19-T4.1#4.3", "--case", case]
    lines = command_lines(words)
    assert all(len(line) <= 95 for line in lines.splitlines())
    assert shlex.split(lines.replace("\\\n", "")) == words
