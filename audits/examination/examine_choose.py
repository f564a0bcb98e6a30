"""Which pairs an examination looks at: accepted ones, those that a search finds, the edge of what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ..black_box.claims import PrivacyClaim
from ..estimate import Budget
from ..search.data_pairs import refusal_boundary
from ..search.design_search import PairSearch, search_designs
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from ..subject.guarded_subject import Subject
from ..subject.open_calls import open_calls
from .examine_pair import PairExamination
from .examined import DrawnPair
from .pair_values import PairValue

#: How the name of a pair begins that a search found.
SEARCHED = "found by a search: "
#: A pair under a name: one record apart, or several.
Named = NamedPair | NamedGroupPair


def accepted(
    subject: Subject, pairs: Sequence[Named], wanted: int, budget: Budget
) -> tuple[list[Named], tuple[PairExamination, ...]]:
    """Return the first ``wanted`` pairs of which one data set is accepted, and those refused on the way."""
    chosen: list[Named] = []
    skipped: list[PairExamination] = []
    for named in pairs:
        if len(chosen) == wanted:
            break
        key = budget.key.child("probe", named.name)
        refusals = subject.refusals((named.pair.first, named.pair.second), key)
        if refusals[0] is not None and refusals[0] == refusals[1]:
            words = (str(refusals[0]), str(refusals[1]))
            skipped.append(PairExamination(named.name, False, (), DrawnPair(named.name, 0, 0), words, skipped=True))
        else:
            chosen.append(named)
    return chosen, tuple(skipped)


def places(search: PairSearch | None) -> int:
    """Return how many pairs share the failure probability beside those asked for, whatever a search finds."""
    return 1 if search is None else max(1, search.winners - search.winners // 2)


def searched(
    subject: Subject,
    search: PairSearch | None,
    claim: PrivacyClaim | None,
    budget: Budget,
    chosen: Sequence[Named],
    *,
    one_by_one: bool = False,
) -> list[Named]:
    """Return the pairs that a search of the public domain finds, the worst first, then chosen ones in what is left.

    Behind a door nothing is searched. The number of places is that of ``chosen`` and ``places`` together.
    """
    if search is None or claim is None or open_calls(subject.mechanism) is not None:
        return list(chosen)
    key = budget.key.child("search")
    value = PairValue(subject, claim, search.n_draws, key.child("draws"), one_by_one=one_by_one)
    found = search_designs(value, search, key.child("designs").rng())
    new = [replace(each.named, name=SEARCHED + each.named.name) for each in found]
    return [*new, *chosen[: max(0, len(chosen) + places(search) - len(new))]]


def boundary(
    subject: Subject,
    pairs: Sequence[Named],
    chosen: Sequence[Named],
    claim: PrivacyClaim | None,
    budget: Budget,
) -> list[Named]:
    """Return neighbours of which one is accepted and one refused, where some pair was refused on both sides."""
    taken = {named.name for named in chosen}
    refused = next((named.pair.first for named in pairs if named.name not in taken), None)
    if refused is None or not chosen or claim is None or claim.group > 1:
        return []
    key = budget.key.child("boundary")

    def accepts(dataset: Any) -> bool:
        return subject.refusal(dataset, key) is None

    members = (dataset for named in chosen for dataset in (named.pair.first, named.pair.second))
    accepted = next((dataset for dataset in members if accepts(dataset)), None)
    edge = None if accepted is None else refusal_boundary(accepts, refused, accepted)
    return [edge] if edge is not None and edge.pair.relation in claim.relations else []
