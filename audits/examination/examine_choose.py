"""Which pairs an examination looks at: accepted ones, one that a search finds, the edge of what is refused."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from ..black_box.claims import PrivacyClaim
from ..estimate import Budget
from ..search.data_pairs import refusal_boundary
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from ..subject.guarded_subject import Subject
from .examine_pair import PairExamination, no_density
from .examined import DrawnPair
from .recorded import Recorded

#: Draws of each data set by which a search ranks the pairs that are left over.
GLIMPSE = 200
#: A pair under a name: one record apart, or several.
Named = NamedPair | NamedGroupPair


def accepted(
    subject: Subject, pairs: Sequence[Named], wanted: int, budget: Budget
) -> tuple[list[Named], tuple[PairExamination, ...], list[Named]]:
    """Return the first ``wanted`` pairs of which one data set is accepted, those refused on the way, and the rest."""
    chosen: list[Named] = []
    skipped: list[PairExamination] = []
    for place, named in enumerate(pairs):
        if len(chosen) == wanted:
            return chosen, tuple(skipped), list(pairs[place:])
        key = budget.key.child("probe", named.name)
        refusals = subject.refusals((named.pair.first, named.pair.second), key)
        if refusals[0] is not None and refusals[0] == refusals[1]:
            words = (str(refusals[0]), str(refusals[1]))
            skipped.append(PairExamination(named.name, False, (), DrawnPair(named.name, 0, 0), words, skipped=True))
        else:
            chosen.append(named)
    return chosen, tuple(skipped), []


def searched(subject: Subject, spare: Sequence[Named], budget: Budget) -> Named | None:
    """Return the pair, of those left over, on which the stated law is worst by a few draws; None without one."""
    inner = subject.mechanism
    if not spare or not callable(getattr(inner, "log_density", None)):
        return None
    losses = [_glimpse(subject, named, budget) for named in spare]
    best = max(range(len(spare)), key=lambda i: losses[i])
    return replace(spare[best], name=f"found by a search: {spare[best].name}") if losses[best] > 0 else None


def _glimpse(subject: Subject, named: Named, budget: Budget) -> float:
    """Return the largest mean loss of a few draws of either data set, 0 where there is none; it decides nothing."""
    key = budget.key.child("search", named.name)
    try:
        encoded = subject.encoded(named.pair.first, named.pair.second, key.child("pilot"))
        if no_density(subject.mechanism, encoded, named.pair) or any(encoded.refusals):
            return 0.0
        view = Recorded(encoded, named.pair, GLIMPSE, key).view(subject.mechanism)
        rng = key.child("unused").rng()
        forward = view.privacy_loss(view.draw(named.pair.first, GLIMPSE, rng=rng), named.pair)
        backward = -view.privacy_loss(view.draw(named.pair.second, GLIMPSE, rng=rng), named.pair)
        return float(np.nan_to_num(max(forward.mean(), backward.mean()), nan=0.0, posinf=1e300, neginf=0.0))
    except Exception:
        return 0.0  # an indication only; what an examined pair raises is reported


def boundary(
    subject: Subject,
    pairs: Sequence[Named],
    chosen: Sequence[Named],
    claim: PrivacyClaim | None,
    budget: Budget,
) -> Named | None:
    """Return neighbours of which one is accepted and one refused, where some pair was refused on both sides."""
    taken = {named.name for named in chosen}
    refused = next((named.pair.first for named in pairs if named.name not in taken), None)
    if refused is None or not chosen or claim is None or claim.group > 1:
        return None
    key = budget.key.child("boundary")

    def accepts(dataset: Any) -> bool:
        return subject.refusal(dataset, key) is None

    members = (dataset for named in chosen for dataset in (named.pair.first, named.pair.second))
    accepted = next((dataset for dataset in members if accepts(dataset)), None)
    edge = None if accepted is None else refusal_boundary(accepts, refused, accepted)
    return edge if edge is not None and edge.pair.relation in claim.relations else None
