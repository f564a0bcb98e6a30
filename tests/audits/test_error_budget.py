"""A failure probability that is split and spent: nothing is given out twice, and what was done is remembered."""

from __future__ import annotations

import pickle
from dataclasses import replace

import pytest

from audits import Budget, StreamKey
from audits.error_budget import Ledger


def whole(alpha: float = 0.1) -> Budget:
    return Budget(10, alpha, StreamKey(1), Ledger(alpha))


def test_parts_have_their_streams_and_shares() -> None:
    parts = whole().split({"a": 0.25, "b": 0.75})
    assert [part.failure_prob for part in parts.values()] == pytest.approx([0.025, 0.075])
    assert parts["a"].key == StreamKey(1).child("a")
    assert parts["a"].spend("first") == parts["a"].failure_prob
    assert [leaf.decided for leaf in parts["b"].ledger.leaves()] == ["first", ""]  # type: ignore[union-attr]


def test_more_than_the_whole_is_refused() -> None:
    with pytest.raises(ValueError, match=r"shares must add up to at most 1, got total=1\.1"):
        Budget(10, 0.1, StreamKey(1)).split({"a": 0.5, "b": 0.6})
    budget = whole()
    budget.part("a", share=0.6)
    with pytest.raises(ValueError, match=r"must add up to at most 0\.1"):
        budget.part("b", share=0.5)


def test_nothing_is_spent_or_named_twice() -> None:
    budget = whole()
    part = budget.part("a", share=0.5)
    with pytest.raises(ValueError, match="name must be that of a new part of the whole, got name=a"):
        budget.part("a", share=0.1)
    part.spend("once")
    with pytest.raises(ValueError, match="a must be spent once"):
        part.spend("twice")
    with pytest.raises(ValueError, match="a must not be spent before it is split"):
        part.part("b")
    with pytest.raises(ValueError, match="the whole must be spent once"):
        budget.spend("after it was split")
    with pytest.raises(ValueError, match="failure_prob must be"):
        replace(budget, failure_prob=0.2)


def test_what_another_process_spent_is_taken_over_once() -> None:
    budget = whole()
    part = budget.part("a", share=0.5, private=True)
    sent: Budget = pickle.loads(pickle.dumps(part.apart()))
    sent.part("inside", share=0.5).spend("there")
    part.adopt(sent.tree())
    assert [(p.place, p.decided, p.private) for p in budget.tree()[1:]] == [
        (("a",), "", True),
        (("a", "inside"), "there", True),
    ]
    with pytest.raises(ValueError, match="a must be unused"):
        part.adopt(sent.tree())
