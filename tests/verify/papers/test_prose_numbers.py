"""Numbers that prose states, held against the code that measures them: at the digits that are printed.

One entry a sentence: the words around its numbers, and what they are made from. Bounds of a domain, and parts of
formulas, are not here.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from decimal import Decimal

import pytest
from flint import arb
from scipy import optimize, stats

from audits import Budget, StreamKey
from mechanisms.releases.composition import advanced_composition, optimal_composition
from verify.kernel.statement import Statement
from verify.papers.redberg_wang2021 import cor_16, thm_5
from verify.papers.registry import statements
from verify.papers.wang2019 import fact_2_6_2, lem_2_4, rem_u1

Values = Callable[[], tuple[float, ...]]
NUMBER = r"([\d.]+(?:e-?\d+)?)"


def agrees(printed: str, value: float) -> bool:
    """Return whether a value, rounded to the digits that are printed, is the printed number."""
    step = Decimal(1).scaleb(int(Decimal(printed).as_tuple().exponent))
    return Decimal(repr(value)).quantize(step) == Decimal(printed)


def prose(statement: Statement) -> str:
    """Return all that a statement says in words about what was found."""
    return " ".join([statement.summary, *(part.what_went_wrong for part in statement.parts)])


def notes(id_: str, part: str) -> dict[str, float]:
    """Return the notes of the first printed case of a part, worked out afresh."""
    (statement,) = statements(id_)
    found = next(each for each in statement.parts if each.id == part)
    case = next(case for case in statement.cases if case.part == part)
    assert found.printed
    evidence = statement.check(case, Budget(10, 1e-4, StreamKey(20210527)))
    return {key: float(value) for key, value in evidence.notes.items() if isinstance(value, (int, float))}


def composed() -> tuple[float, ...]:
    """Return by how many percent the explicit form of W19-F2.6.2 exceeds the exact one at its tightest."""
    at = fact_2_6_2.TIGHT
    epsilon, k, slack = float(at["epsilon"]), int(at["k"]), float(at["slack"])
    stated = advanced_composition(epsilon, 0.0, k, slack).epsilon
    exact = optimize.brentq(lambda t: optimal_composition(epsilon, 0.0, k, t) - slack, 0.0, k * epsilon * (1 - 1e-9))
    return (100.0 * (stated / exact - 1.0),)


def event_widths() -> tuple[float, ...]:
    """Return the width of W19-EA.4's event over the needed one, at two deltas."""
    return tuple(math.sqrt(math.log(4 / d)) / 2 / float(stats.norm.isf(d / 4)) for d in (0.1, 1e-12))


def universe() -> dict[str, float]:
    """Return the gains that W19-FIG1 shows."""
    return notes("W19-FIG1", "W19-FIG1#in the universe")


def rotated() -> tuple[float, ...]:
    """Return the shares of the first term at a small rotation that RW21-F1 shows."""
    shares = notes("RW21-F1", "RW21-F1#small rotations")
    return shares["share at sigma=1.25"], shares["share at sigma=108"]


MEASURED: dict[str, tuple[str, Values]] = {
    "W19-L2.4": (f"Loose by {NUMBER} % at epsilon = 1, delta = 1e-12", lambda: (100 * (1 - lem_2_4.CRITICAL),)),
    "W19-E3.3": (f"Loose by {NUMBER} % at epsilon = 1, delta = 1e-12", lambda: (100 * (1 - lem_2_4.CRITICAL),)),
    "W19-F2.6.2": (f"explicit form is {NUMBER} % above", composed),
    "W19-EA.4": (f"{NUMBER} of the needed width at delta = 0.1 and {NUMBER} at 1e-12", event_widths),
    "W19-FIG1": (f"gain is {NUMBER} at n = 100, d = 20", lambda: (universe()["gain at n=100, d=20"],)),
    "RW21-C16": (f"loose by {NUMBER} % at least", lambda: (100 * (1 - cor_16.CRITICAL),)),
    "RW21-T10": (r"log 2/log\(7/6\) = " + NUMBER, lambda: (math.log(2) / math.log(7 / 6),)),
    "RW21-I1": (f"{NUMBER} % and {NUMBER} %", lambda: tuple(100 / (1 + math.exp(-e)) for e in (2, 5))),
    "RW21-F1": (f"{NUMBER} at sigma = 1.25 and {NUMBER} at 108", rotated),
    "W19-LB.5": (rf"sqrt\(2 pi\) = {NUMBER}.*= {NUMBER}", lambda: (math.sqrt(2 * math.pi), math.sqrt(2 / math.pi))),
}


@pytest.mark.parametrize("id_", MEASURED)
def test_a_number_in_prose_is_the_one_that_is_measured(id_: str) -> None:
    """Every number of the sentence is the measured one, rounded as it is printed."""
    words, values = MEASURED[id_]
    (statement,) = statements(id_)
    found = re.search(words, prose(statement))
    assert found, f"{id_} must say {words}"
    for printed, value in zip(found.groups(), values(), strict=True):
        assert agrees(printed, value), (id_, printed, value)


def test_bounds_in_prose_hold() -> None:
    """Where a sentence says 'at most' or 'less than', the measured number is, and not by far."""
    (loss,) = statements("W19-U1")
    (most,) = re.findall(f"ratio at most {NUMBER}", prose(loss))
    n = 1e4
    ratios = (float(rem_u1.loss_bound(arb(n), a / 100).mid()) / n ** (a / 200 - 0.25) for a in range(1, 51))
    assert 0.95 * float(most) < max(ratios) < float(most)
    assert "less than half its noise" in prose(statements("RW21-T5")[0])
    assert 0.4 < thm_5.CRITICAL < 0.5


def test_a_wrong_number_is_found() -> None:
    """The numbers that stood here before, and were wrong, do not agree."""
    assert agrees("12", 12.14)
    assert agrees("0.49", 0.48997)
    for printed, value in (("13", composed()[0]), ("0.25", event_widths()[1]), ("0.02", 0.0138), ("10.1", 5.2)):
        assert not agrees(printed, value)
