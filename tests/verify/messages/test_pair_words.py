"""The words for a pair of data sets are true of its records: all pairs of the fixed list, and those of a search."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pytest

from audits.search.design_search import PairSearch, search_designs
from audits.search.pairs import PublicDomain, examination_pairs
from audits.search.worst_case import NamedPair
from mechanisms import Relation
from mechanisms.data.dataset import FloatArray
from verify.messages.pair_words import pair_said

DOMAINS = (PublicDomain(2, 1.0, 1.0), PublicDomain(1, 2.0, 3.0), PublicDomain(3, 0.5, 1.0))
LABEL = "of every response its sign as a label (-1 for 0)"


def pairs_of(domain: PublicDomain, relation: Relation, *, labels: bool) -> Iterator[NamedPair]:
    """Yield the pairs of the fixed list, and all that a search looks at whose value is that of a coin."""
    yield from examination_pairs(domain, relation, count=150, labels=labels)
    rng, seen = np.random.default_rng(5), []

    def value(named: NamedPair) -> float:
        seen.append(named)
        return float(rng.random())

    search_designs(value, PairSearch(domain, relation, labels=labels, units=1_500), np.random.default_rng(6))
    yield from seen


Checked = Iterator[tuple[str, bool]]


@dataclass(frozen=True)
class Seen:
    """A pair in units of its domain: the records that both data sets share, and the target; and its words."""

    words: str
    X: FloatArray
    y: FloatArray
    x: FloatArray
    response: float
    label: bool

    @property
    def target(self) -> str:
        return self.words.split("; ")[1]

    @property
    def plain(self) -> int:
        """How many records come before the few that are otherwise."""
        few = re.search(r"(?:the last (\d+)|all) with", self.words)
        return len(self.y) - (0 if few is None else int(few[1] or len(self.y)))


def seen_of(named: NamedPair, domain: PublicDomain) -> Seen:
    pair, words = named.pair, pair_said(named.name)
    X, y, at = pair.first.X, pair.first.y, pair.index
    if at is not None:
        X, y = np.delete(X, at, axis=0), np.delete(y, at)
    x, response = pair.x / domain.x_bound, pair.y / domain.y_bound
    return Seen(words, X / domain.x_bound, y / domain.y_bound, x, response, LABEL in words)


def of_the_pair(named: NamedPair, seen: Seen) -> Checked:
    done = {Relation.ADD: "; added", Relation.REMOVE: "; removed", Relation.REPLACE: "; put in the place of another"}
    yield "what is done", seen.words.endswith(done[named.pair.relation])
    counted, n = re.search(r"(\d+) of them", seen.words), len(seen.y)
    yield "how many", n == (int(counted[1]) if counted else 0)
    yield "no other record", ("no other record" in seen.words) is (n == 0)
    yield "a first record", n > 0 or "first record" not in seen.words
    if seen.label:
        both = np.concatenate([named.pair.first.y, named.pair.second.y])
        yield "labels", bool((np.abs(both) == 1).all())


def of_the_shared(seen: Seen, dim: int) -> Checked:
    X, y, words, plain = seen.X, seen.y, seen.words, seen.plain
    few = plain < len(y)
    if few and "with a response of zero" in words and not seen.label:
        yield "a response of zero", not y[plain:].any()
    if few and "with a row of zeros" in words:
        yield "a row of zeros", not X[plain:].any()
    if "rows zero" in words:
        yield "rows zero", not X.any()
    if re.match(r"rows [^,]*, responses zero", words) and not seen.label:
        yield "responses zero", not y[:plain].any()
    zeros = re.search(r"the first (\d+) responses zero", words)
    if zeros and not seen.label:
        at = int(zeros[1])
        yield "the first responses zero", not y[: min(plain, at)].any() and bool(y[at:plain].all())
    yield "shares are counted", "% of the responses" not in words
    if "the first row across" in words and len(y) > 1 and not few:
        across = float(X[0] @ X[1])
        yield "across", across == 0 if dim > 1 else across < 0


def of_the_target(seen: Seen, *, replaced: bool) -> Checked:
    target, length = seen.target, float(np.linalg.norm(seen.x))
    unit = seen.x / length if length else seen.x
    first, last = np.eye(len(unit))[0], np.eye(len(unit))[-1]
    for said, end in (("on the first axis", first), ("against the first axis", -first), ("on the last axis", last)):
        if f"a row {said}" in target:
            yield said, bool(np.allclose(unit, end))
    if made := re.search(r"its length made (1/sqrt\(n\)|[\d.e-]+)", target):
        wanted = max(1, len(seen.y)) ** -0.5 if "n" in made[1] else float(made[1])
        yield "its length", bool(np.isclose(length, wanted, rtol=1e-5))
    if (made := re.search(r"its response made ([\d.e+-]+)", target)) and not seen.label:
        yield "its response", bool(np.isclose(seen.response, float(made[1])))
    if target.startswith("the zero record"):
        yield "the zero record", length == 0 and (seen.label or seen.response == 0)
    if target.startswith("one more copy of the first") and "made" not in target:
        yield "a copy", np.array_equal(seen.x, seen.X[0]) and seen.response == seen.y[0]
    if target.startswith("a row against that of the first record"):
        size = np.linalg.norm(seen.X[0])
        yield "against", bool(np.isclose(unit @ seen.X[0], -size, rtol=1e-6))
        if "response made" not in target and not seen.label:
            yield "the other sign", seen.response == (-1.0 if seen.y[0] >= 0 else 1.0)
    assert replaced or "that of the old one" not in target


def checked(pairs: Iterator[NamedPair], domain: PublicDomain) -> set[str]:
    """Check each word of each pair, and return which words were looked up."""
    known: set[str] = set()
    for named in pairs:
        seen, replaced = seen_of(named, domain), named.pair.relation is Relation.REPLACE
        words = [*of_the_pair(named, seen), *of_the_shared(seen, domain.dim), *of_the_target(seen, replaced=replaced)]
        wrong = [word for word, true in words if not true]
        assert not wrong, (wrong, seen.words, named.name)
        known |= {word for word, _ in words}
    return known


def test_each_word_of_the_fixed_list_is_true_of_the_records() -> None:
    for domain in DOMAINS:
        assert len(checked(iter(examination_pairs(domain, Relation.ADD, count=80)), domain)) > 10


@pytest.mark.slow
@pytest.mark.parametrize("relation", [Relation.ADD, Relation.REPLACE])
@pytest.mark.parametrize("labels", [False, True])
@pytest.mark.parametrize("domain", DOMAINS)
def test_each_word_is_true_of_the_records(domain: PublicDomain, relation: Relation, *, labels: bool) -> None:
    assert len(checked(pairs_of(domain, relation, labels=labels), domain)) > 12


def test_the_names_of_other_pairs_stay_as_they_are() -> None:
    for name in ("your data, its record of largest response removed", "pair 1", "one against two"):
        assert pair_said(name) == name
