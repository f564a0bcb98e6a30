"""Which pairs an examination looks at: accepted ones, those a search finds, the edge of what is refused; until when.

Every pair has a share of the failure probability of its own, fixed before anything is drawn, so that leaving pairs out,
because of a cap on the draws or after the claim is refuted, never raises the probability of a false verdict. Pairs
count in the order in which they are given, so that what is found is the same for any number of processes. The value
that guides a search is an indication, never proof: what the search finds is examined like any other, on other draws.
"""

from __future__ import annotations

import math
from collections.abc import Generator, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from mechanisms import NeighbouringPair
from mechanisms.base import BOTH
from mechanisms.data.dataset import FloatArray

from ..black_box.claims import PrivacyClaim
from ..estimate import Budget, StreamKey
from ..harness.calls import open_calls
from ..harness.guarded_subject import PILOT, PROBE, Call, Subject, always_refused
from ..harness.outputs import Layout
from ..search.data_pairs import refusal_boundary
from ..search.design_search import PairSearch, search_designs
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from .examine_pair import MULTIPLES, PairExamination, PairWork, refused_pair, refutes_the_claim

#: Draws that lie that much further apart than what is stated says count for themselves; those of one law hardly do.
TELLS = 0.6
#: Decimals that are counted, and columns of which they are.
DECIMALS, ROUNDED = 9, 8


class PairValue:
    """The value of a pair: the sum of its deltas at 0 and at parts of the claimed epsilon, worse direction.

    Exact where the mechanism states a profile; by its density, at draws of both data sets; otherwise how far the draws
    lie apart. All pairs are drawn on one stream, so that pairs that are equally bad have equal values.

    ``claim``: its epsilon is looked at. ``n_draws``: draws of each data set. ``one_by_one``: whether every draw must be
    a call of its own.
    """

    def __init__(
        self, subject: Subject, claim: PrivacyClaim, n_draws: int, key: StreamKey, *, one_by_one: bool = False
    ) -> None:
        self.subject, self.key = subject, key
        self.calls = [Call(1, False)] * n_draws if one_by_one else [Call(n_draws, False)]
        self.epsilons = [part * claim.epsilon for part in (0.0, *MULTIPLES) if part <= 1]

    def __call__(self, named: NamedPair | NamedGroupPair) -> float:
        """Return the value: at least 0, infinite where one data set is refused and the other is not."""
        pair, inner = named.pair, self.subject.mechanism
        members = {"first": pair.first, "second": pair.second}
        parts = [self.subject.made(each, self.calls, self.key.child(name).rng()) for name, each in members.items()]
        refusals = [always_refused(part) for part in parts]
        if any(refusals):
            return 0.0 if refusals[0] == refusals[1] else math.inf
        layout = Layout.learn([outputs for part in parts for outputs in part], views=self.subject.views)
        first, second = (np.concatenate([layout.encode(outputs) for outputs in part]) for part in parts)
        states = any(callable(getattr(inner, name, None)) for name in ("log_density", "profile"))
        stated = max(self._exact(inner, pair), self._sampled(inner, pair, first, second) if layout.plain else 0.0)
        apart = _apart(first, second)
        return stated if states and apart <= stated + TELLS else max(stated, apart * len(self.epsilons))

    def _exact(self, inner: Any, pair: Any) -> float:
        if not (callable(getattr(inner, "profile", None)) and isinstance(pair, NeighbouringPair)):
            return 0.0
        try:
            profile = inner.profile(pair)
            return max(sum(float(profile.delta_at(epsilon, way)) for epsilon in self.epsilons) for way in BOTH)
        except Exception:
            return 0.0  # what an examined pair raises is reported

    def _sampled(self, inner: Any, pair: Any, first: FloatArray, second: FloatArray) -> float:
        """Return the value by the stated density, the mean over draws of either law; each term is bounded."""
        if not callable(getattr(inner, "log_density", None)):
            return 0.0
        rows = np.concatenate([first, second])
        try:
            with np.errstate(all="ignore"):
                losses = np.asarray(inner.log_density(rows, pair.first)) - np.asarray(
                    inner.log_density(rows, pair.second)
                )
                losses = np.nan_to_num(losses.astype(np.float64), nan=0.0)
                return max(sum(_delta(way * losses, epsilon) for epsilon in self.epsilons) for way in (1, -1))
        except Exception:
            return 0.0


def _delta(losses: FloatArray, epsilon: float) -> float:
    """Return ``integral of (p - e^epsilon q)_+`` from losses ``log p/q`` of as many draws of p as of q."""
    shares = 2 / (1 + np.exp(-losses))  # of p, in the even mixture of both
    return float(np.mean(np.maximum(shares - math.exp(min(epsilon, 700.0)) * (2 - shares), 0.0)))


def _decimals(values: FloatArray) -> FloatArray:
    """Return the fewest decimals of each number; one more than the most that are looked at where it has more."""
    scaled = values[..., None] * 10.0 ** np.arange(DECIMALS)
    whole = np.abs(scaled - np.rint(scaled)) <= 1e-12 * np.maximum(1.0, np.abs(scaled))
    return np.where(whole.any(axis=-1), whole.argmax(axis=-1), DECIMALS).astype(np.float64)


def _apart(first: FloatArray, second: FloatArray) -> float:
    """Return the largest distance of two samples' distribution functions, or frequencies of a value, over columns.

    The numbers of decimals are further columns: a rounding that depends on the data moves no distribution function.
    """
    with np.errstate(all="ignore"):
        first, second = (np.column_stack([rows, _decimals(rows[:, :ROUNDED])]) for rows in (first, second))
    most = 0.0
    for a, b in zip(first.T, second.T, strict=True):
        _, values = np.unique(np.concatenate([a, b]), return_inverse=True)
        counts = [np.bincount(part, minlength=values.max() + 1) / a.size for part in np.split(values, [a.size])]
        gaps = counts[0] - counts[1]
        most = max(most, float(np.abs(np.cumsum(gaps)).max()), float(np.abs(gaps).max()))
    return most


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
            skipped.append(refused_pair(named.name, named.pair, words))
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
    subject: Subject, pairs: Sequence[Named], chosen: Sequence[Named], claim: PrivacyClaim | None, budget: Budget
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


def until_refuted(results: Iterable[PairExamination], *, complete: bool) -> tuple[PairExamination, ...]:
    """Return results up to the first that refutes the claim, in their order; all of them if ``complete``."""
    taken: list[PairExamination] = []
    for result in results:
        taken.append(result)
        if not complete and refutes_the_claim(*taken):
            break
    if isinstance(results, Generator):
        results.close()  # ends what other processes are doing
    return tuple(taken)


def passed_over(works: Sequence[PairWork], results: Sequence[PairExamination]) -> tuple[str, str]:
    """Return how many pairs were left out since the claim was refuted: of all, and of those that are not private."""
    of_all = len(results), len(works)
    public = sum(not item.private for item in results), sum(not item.private for item in works)
    return _left_out(*of_all), _left_out(*public)


def _left_out(done: int, n: int) -> str:
    return f"{n - done} of {n} pairs of data sets were not examined: the claim was refuted before" if done < n else ""


#: Evaluations of the contract checks, at most, and as a share of what the pairs are given.
CONTRACT_DRAWS, CONTRACT_SHARE = 6_000, 0.1
#: Evaluations by which the contract's facts are looked at, whatever its tests are given.
WATCHED = 18
#: Evaluations at most by which a pair is found to be accepted, and by which its outputs' layout is learned.
PROBED, LEARNED = 2 * PROBE, 2 * PROBE + 2 * PILOT
#: Draws of both data sets of a pair below which pairs are left out instead (fewer hardly refute anything), and the
#: pilot of each data set then.
LEAST, SMALL_PILOT = 400, 10


@dataclass(frozen=True)
class Cap:
    """What may be drawn."""

    n_draws: int  #: of a pair, both data sets together
    contract: int  #: of the contract checks
    n_pilot: int = PILOT  #: of each data set, to learn what outputs look like
    tight: bool = False  #: whether there is nothing left for a search, or for data sets that stand in for refused ones
    most: int | None = None  #: pairs at most; None for all
    spared: str = ""  #: what is left out, in words

    @classmethod
    def of(cls, max_draws: int | None, n_draws: int, n_pairs: int, slots: int) -> Cap:
        """Return the plan for ``slots`` pairs to be compared, ``n_pairs`` being at hand, of ``n_draws`` each."""
        if max_draws is not None:
            left = (1 - CONTRACT_SHARE) * max_draws - PROBED * n_pairs  # what the pairs may have beside the contract
            few = int(left / (slots + 2)) - LEARNED
            if few < min(LEAST, n_draws):
                return cls._tight(max_draws, n_draws, slots)
            n_draws = max(2, min(n_draws, few))
        contract = min(CONTRACT_DRAWS, max(40, int(CONTRACT_SHARE * n_draws * slots)))
        return cls(n_draws, contract)

    @classmethod
    def _tight(cls, max_draws: int, n_draws: int, slots: int) -> Cap:
        contract = max(1, int(CONTRACT_SHARE * max_draws) - WATCHED)
        room, beside = max_draws - contract - WATCHED, PROBED + 2 * PROBE + 2 * SMALL_PILOT
        n_draws = max(2, min(n_draws, LEAST, room - beside))  # all of it for one pair, where that is what there is
        most = min(slots, max(0, room) // (beside + n_draws))
        spared = f"{slots - most} of {slots} pairs of data sets were left out" if most < slots else ""
        return cls(n_draws, contract, SMALL_PILOT, True, most, spared)
