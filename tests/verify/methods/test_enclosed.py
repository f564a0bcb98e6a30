"""A number in balls against the interval it is allowed."""

from __future__ import annotations

import math

import pytest
from flint import arb

from mechanisms import Relation
from verify.kernel.statement import Observer
from verify.kernel.verdict import Outcome, judge
from verify.methods.enclosed import enclosed


def test_what_is_enclosed_holds_the_number_tightly() -> None:
    found = enclosed("root of 2", lambda: arb(2).sqrt(), 1.0, 2.0, 1.5)
    assert found.exact is not None
    assert found.exact.low <= math.sqrt(2) <= found.exact.high
    assert found.exact.high - found.exact.low < 1e-12
    assert (found.claim.published, found.claim.observer) == (1.5, Observer.OUTPUT)
    assert judge(found)[0] is Outcome.HOLDS


@pytest.mark.parametrize(("low", "high"), [(1.5, 2.0), (0.0, 1.4)])
def test_a_number_outside_the_allowed_interval_fails(low: float, high: float) -> None:
    assert judge(enclosed("root of 2", lambda: arb(2).sqrt(), low, high, 1.5))[0] is Outcome.FAILS


def test_a_probability_is_cut_to_0_and_1_and_the_words_of_the_claim_are_passed_on() -> None:
    found = enclosed(
        "one",
        lambda: arb(1, 1e-9),
        0.0,
        1.0,
        1.0,
        probability=True,
        in_domain=False,
        relation=Relation.ADD,
        observer=Observer.TRANSCRIPT,
        conditioned_on="the data",
        notes={"n": 3},
    )
    assert found.exact is not None
    assert found.exact.high == 1.0
    claim = found.claim
    assert (claim.in_domain, claim.relation, claim.observer) == (False, Relation.ADD, Observer.TRANSCRIPT)
    assert claim.conditioned_on == "the data"
    assert found.notes == {"n": 3}
