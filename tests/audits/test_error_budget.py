"""A failure probability that is split and spent: nothing is given out twice, and what was done is remembered."""

from __future__ import annotations

import ast
import pickle
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.black_box.claims import point_claim
from audits.error_budget import Ledger, LedgerError
from audits.examination.examined_claim import Examination, examine
from audits.search.worst_case import NamedPair
from mechanisms import Dataset, GaussianProfile, NeighbouringPair, Relation


def whole(alpha: float = 0.1) -> Budget:
    return Budget(10, alpha, StreamKey(1), Ledger(alpha))


def test_parts_have_their_streams_and_shares() -> None:
    parts = whole().split({"a": 0.25, "b": 0.75})
    assert [part.failure_prob for part in parts.values()] == pytest.approx([0.025, 0.075])
    assert parts["a"].key == StreamKey(1).child("a")
    assert parts["a"].spend("first") == parts["a"].failure_prob
    assert [leaf.decided for leaf in parts["b"].ledger.leaves()] == ["first", ""]  # type: ignore[union-attr]


def test_an_exact_share_is_rounded_once() -> None:
    for n in range(1, 200):
        assert whole(1e-4).part("a", share=Fraction(1, n)).failure_prob == 1e-4 / n


def test_nobody_divides_a_budget_by_hand() -> None:
    """Its failure probability is a factor nowhere but in ``part``."""
    root, factors = Path(__file__).parents[2], []
    for path in (*root.glob("audits/**/*.py"), *root.glob("verify/**/*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Mult | ast.Div):
                sides = (ast.unparse(side) for side in (node.left, node.right))
                factors += [(path.name, side) for side in sides if side.endswith("budget.failure_prob")]
    assert factors == []


def test_more_than_the_whole_is_refused() -> None:
    with pytest.raises(LedgerError, match=r"shares must add up to at most 1, got total=1\.1"):
        Budget(10, 0.1, StreamKey(1)).split({"a": 0.5, "b": 0.6})
    budget = whole()
    budget.part("a", share=0.6)
    with pytest.raises(LedgerError, match=r"must add up to at most 0\.1"):
        budget.part("b", share=0.5)


def test_nothing_is_spent_or_named_twice() -> None:
    budget = whole()
    part = budget.part("a", share=0.5)
    with pytest.raises(LedgerError, match="name must be that of a new part of the whole, got name=a"):
        budget.part("a", share=0.1)
    part.spend("once")
    with pytest.raises(LedgerError, match="a must be spent once"):
        part.spend("twice")
    with pytest.raises(LedgerError, match="a must not be spent before it is split"):
        part.part("b")
    with pytest.raises(LedgerError, match="the whole must be spent once"):
        budget.spend("after it was split")
    with pytest.raises(LedgerError, match="failure_prob must be"):
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
    with pytest.raises(LedgerError, match="a must be unused"):
        part.adopt(sent.tree())


class Normal:
    """A sum with normal noise that states everything that is asked about."""

    name = "noisy sum"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs: Any, dataset: Dataset) -> Any:
        return -0.5 * np.square((outputs[:, 0] - dataset.y.sum()) / 5.0)

    def privacy_loss(self, outputs: Any, pair: NeighbouringPair) -> Any:
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        return GaussianProfile(abs(float(pair.first.y.sum() - pair.second.y.sum())) / 5.0)

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        return GaussianProfile(y_bound / 5.0)


def examined() -> Examination:
    one = Dataset(np.ones((1, 1)), np.ones(1), 1.0, 1.0)
    pair = NamedPair("the pair", NeighbouringPair.remove(one, 0))
    return examine(Normal(), [pair], point_claim(1.0, 1e-6, (Relation.REMOVE,)), whole_of(240))


def whole_of(n_draws: int) -> Budget:
    return replace(whole(1e-4), n_draws=n_draws)


def test_no_handler_of_what_a_mechanism_raises_takes_an_error_of_the_ledger(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever an examination splits off or spends a failure probability on is refused, each in its turn."""
    kept: dict[str, Callable[..., Any]] = {"take": Ledger.take, "spend": Ledger.spend}
    seen: list[tuple[str, str]] = []

    def spoiled(method: str, spoil: str) -> Callable[..., Any]:
        def call(ledger: Ledger, at: tuple[str, ...], words: str, *given: Any, **named: Any) -> Any:
            seen.append((method, " / ".join((*at[-1:], words))))
            if seen[-1] == (method, spoil):
                raise LedgerError("spent twice")
            return kept[method](ledger, at, words, *given, **named)

        return call

    for method in kept:
        monkeypatch.setattr(Ledger, method, spoiled(method, ""))
    assert examined().ruling(attested=True).words == "PASS (attested)"
    for method, place in dict.fromkeys(seen):
        with monkeypatch.context() as patch:
            patch.setattr(Ledger, method, spoiled(method, place))
            with pytest.raises(LedgerError, match="spent twice"):
                examined()
