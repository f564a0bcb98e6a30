"""What an audit is given and returns refuses what is none, and adds up."""

from __future__ import annotations

import dataclasses
import importlib
import inspect
import math
from html.parser import HTMLParser
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from packages import public_packages

from audits import Budget, Estimate, Result, StreamKey
from audits.estimate import LONGEST_REPR
from audits.white_box.tails import worse
from mechanisms import Dataset, NeighbouringPair, PosteriorSampling, Relation

NUMBERS = st.floats(-1e6, 1e6)
PARTS = [importlib.import_module(name) for name in public_packages("audits")]
#: Every public name of audits and its parts.
PUBLIC = SimpleNamespace(**{name: getattr(part, name) for part in PARTS for name in part.__all__})


@st.composite
def estimates(draw):
    low, value, high = sorted(draw(st.tuples(NUMBERS, NUMBERS, NUMBERS)))
    return Estimate(value, low, high, draw(st.floats(1e-9, 0.01)), draw(st.integers(0, 100)), "drawn")


@given(st.lists(estimates(), min_size=1, max_size=8))
def test_the_worse_of_estimates_is_at_least_each_and_spends_the_sum(several):
    whole = worse(several)
    assert all(e.low <= whole.low and e.value <= whole.value and e.high <= whole.high for e in several)
    assert whole.low in {e.low for e in several}
    assert whole.failure_prob == pytest.approx(math.fsum(e.failure_prob for e in several))
    assert whole.n_draws == sum(e.n_draws for e in several)


@given(NUMBERS, NUMBERS)
def test_a_proved_enclosure_is_exact_and_holds_its_middle(first, second):
    low, high = sorted((first, second))
    estimate = Estimate.proved(low, high, "by hand")
    assert estimate.exact
    assert low <= estimate.value <= high


@pytest.mark.parametrize(
    ("value", "low", "high", "failure_prob"),
    [
        (0.5, 0.6, 0.4, 0.1),
        (0.5, math.nan, 1.0, 0.1),
        (0.5, 0.6, 0.7, 0.1),
        (0.5, 0.0, 1.0, 1.0),
        (0.5, 0.0, 1.0, -0.1),
    ],
)
def test_what_is_no_estimate_is_refused(value, low, high, failure_prob):
    with pytest.raises(ValueError, match="must"):
        Estimate(value, low, high, failure_prob, 1, "wrong")


@pytest.mark.parametrize(("n_draws", "failure_prob"), [(0, 0.1), (True, 0.1), (1.5, 0.1), (1, 0.0), (1, 1.0)])
def test_what_is_no_budget_is_refused(n_draws, failure_prob):
    with pytest.raises(ValueError, match="must be"):
        Budget(n_draws, failure_prob, StreamKey(1))


#: What a caller gives; everything else that is public and holds fields is a result.
GIVEN = {
    *("BlackBoxClaim", "Budget", "NamedPair", "PrivacyClaim", "PublicDomain", "StreamKey"),
    *("AdaptiveGame", "FiniteStep", "MomentFilter", "NaturalFilter"),  # a game, and who plays it
    "ScoredMechanism",  # a mechanism of its own
    *("CommandMechanism", "ServiceMechanism"),  # mechanisms behind a line of JSON
    *("DiffprivlibModel", "DiffprivlibTool", "OpenDPMeasurement", "SklearnEstimator", "SmartNoiseSQL"),
}
#: A cell that no result may show.
CELL = 0.123456
DATA = Dataset(np.array([[CELL, 0.2], [0.3, -CELL], [0.1, 0.4]]), np.array([CELL, 0.5, -0.7]), 1.0, 1.0)
PAIR = NeighbouringPair.remove(DATA, 0)
MECHANISM = PosteriorSampling(1.0, 1.0)
CLAIM = PUBLIC.BlackBoxClaim(50.0, 0.0, (Relation.REMOVE,))


def budget(n_draws: int = 400) -> Budget:
    return Budget(n_draws, 0.01, StreamKey(5))


RESULTS: dict[str, Any] = {
    "likelihood_ratio_attack": lambda: PUBLIC.likelihood_ratio_attack(MECHANISM, PAIR, budget()),
    "audit_tails": lambda: PUBLIC.audit_tails(MECHANISM, PAIR, [0.1, 1.0], budget()),
    "audit_curves": lambda: next(iter(PUBLIC.audit_curves(MECHANISM, PAIR, budget()).values())),
    "audit_claim": lambda: PUBLIC.audit_claim(MECHANISM, PAIR, CLAIM, budget()),
    "audit_epsilon": lambda: PUBLIC.audit_epsilon(MECHANISM, PAIR, budget(), delta=0.01),
    "black_box_audit": lambda: PUBLIC.black_box_audit(MECHANISM, PAIR, CLAIM, budget()),
    "sequential_claim": lambda: PUBLIC.sequential_claim(MECHANISM, PAIR, CLAIM, budget()),
    "sequential_delta": lambda: PUBLIC.sequential_delta(MECHANISM, PAIR, budget(), epsilon=1.0, delta=0.5),
    "audit_coverage": lambda: PUBLIC.audit_coverage(lambda n, rng: rng.random((n, 2)) < 0.5, budget()),
    "exposure": lambda: PUBLIC.exposure(MECHANISM, DATA, budget(), delta=1e-6),
    "worst_pair": lambda: PUBLIC.worst_pair(MECHANISM, [PUBLIC.NamedPair("one", PAIR)], budget(), epsilon=1.0),
    "audit_law": lambda: PUBLIC.audit_law(MECHANISM, DATA, budget()),
    "exact_delta": lambda: PUBLIC.exact_delta(MECHANISM.profile(PAIR), 1.0),
}


class Cells(HTMLParser):
    """Collects the text of table cells and refuses any other tag."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def handle_starttag(self, tag: str, attrs: object) -> None:
        assert tag in {"table", "caption", "tr", "th", "td"}

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_reads_in_a_line_and_in_a_few_lines(name: str) -> None:
    result = RESULTS[name]()
    assert isinstance(result, Result)
    line, text, table = repr(result), result.summary(), result._repr_html_()
    assert line.startswith(type(result).__name__)
    assert len(line) <= LONGEST_REPR + 40
    assert "\n" not in line
    assert 2 <= len(text.splitlines()) <= 15
    assert max(len(row) for row in text.splitlines()) < 200
    reader = Cells()
    reader.feed(table)
    assert reader.texts[0] == type(result).__name__
    assert len(reader.texts) == 1 + 2 * table.count("<tr>")
    for shown in (line, text, table):
        assert str(CELL)[:6] not in shown


def test_markup_in_a_value_stays_text() -> None:
    table = Estimate(0.5, 0.0, 1.0, 0.1, 10, "<script>alert(1)</script> & more")._repr_html_()
    assert "<script>" not in table
    reader = Cells()
    reader.feed(table)
    assert "<script>alert(1)</script> & more" in reader.texts


def test_an_estimate_is_told_with_its_interval() -> None:
    assert Estimate(0.25, 0.2, 0.3, 0.1, 10, "by hand").brief() == "0.25 [0.2, 0.3]"
    assert Estimate(1.0, 1.0, math.inf, 0.1, 10, "by hand").brief() == "1 [1, inf]"


def test_every_public_class_that_is_returned_is_a_result() -> None:
    """A class that prints its arrays would be found here, too."""
    held = vars(PUBLIC)
    classes = {
        name: value for name, value in held.items() if inspect.isclass(value) and dataclasses.is_dataclass(value)
    }
    assert set(classes) > GIVEN
    assert {name for name, value in classes.items() if not issubclass(value, Result)} == GIVEN
