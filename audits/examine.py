"""The one routine behind every verdict on an imported mechanism: what do its draws, and its own law, say about a claim?

``certify``, the pytest fixture, sweeps and notebooks all ask here; the same budget gives them the same intervals.
Nothing that a mechanism says about itself is believed: its density is held against its draws on both data sets of every
pair, and the black box, which believes nothing, always runs too. A mechanism may still deceive such an audit (a magic
record, a leak rarer than can be seen, a law that is right on every pair tried): that is why no examination alone is a
PASS. Derivations: ``docs/derivations/black_box.md``, ``stated_law.md`` and ``contract.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from typing import Any

import numpy as np

from mechanisms import NeighbouringPair
from mechanisms.base import ExactLaw, Mechanism, WhiteBox
from mechanisms.neighbours import Relation, UnsupportedRelation
from mechanisms.proved_profile import proved_profile

from .base import Budget, Estimate
from .claims import PrivacyClaim, implied_by
from .contract import Conduct, ContractFinding, ContractOutcome, contract_findings
from .data_pairs import refusal_boundary
from .exact import exact_delta
from .examine_pair import STILL, PairExamination, PairWork, examine_pair, no_density
from .examined import Demand, DrawnPair, Enough, shortfall
from .pair_delta import sampled_delta
from .pairs import NamedGroupPair
from .recorded import Recorded
from .reference import is_reference
from .stated_worst import stated_worst
from .subject import Subject
from .witnesses import Weight, Witness
from .worst_case import NamedPair

#: Share of the failure probability that the contract checks may spend; the pairs share the rest evenly.
CONTRACT = 0.05
#: Evaluations of the contract checks, at most, and as a share of what the pairs are given.
CONTRACT_DRAWS, CONTRACT_SHARE = 6_000, 0.1
#: Draws of each data set by which a search ranks the pairs that are left over.
GLIMPSE = 200

#: Evaluations at most by which a pair is found to be accepted, and by which its outputs' layout is learned.
PROBED, LEARNED = 24, 104
#: A pair under a name: one record apart, or several.
Named = NamedPair | NamedGroupPair
Run = Callable[[Callable[[PairWork], PairExamination], Sequence[PairWork]], Iterable[PairExamination]]


class Outcome(Enum):
    """What an examination says about a claim. It never says that the claim holds over all data sets."""

    REFUTED = "refuted: the numbers that refute are beside it"
    SUPPORTED = "supported on the pairs examined, by a law that their draws were held against"
    EXAMINED = "examined: nothing was found, and nothing can support the claim"
    NOT_EXAMINED = "not examined: too little could be looked at"


@dataclass(frozen=True)
class Examination:
    """Everything that was found about a claim on some pairs of data sets.

    Attributes
    ----------
    pairs : tuple of PairExamination
        In the order in which they were given; a pair that the mechanism refuses has no witnesses.
    contract : tuple of ContractFinding
        Empty for a reference mechanism.
    demand : Demand
        What must have been drawn before anything may rest on this.
    failure_prob : float
        Of everything together.
    reference : bool
        Whether the proved law of a reference mechanism was asked; nothing need be drawn, and there is no ``enough``.
    conduct : Conduct
        How the mechanism behaves: whether it repeats under one seed, and whether rows of one call are independent.
    """

    mechanism: str
    claim: PrivacyClaim | None
    pairs: tuple[PairExamination, ...]
    contract: tuple[ContractFinding, ...]
    demand: Demand
    failure_prob: float
    conduct: Conduct
    reference: bool = False

    @property
    def refutations(self) -> tuple[tuple[PairExamination, Witness], ...]:
        """Every witness that refutes, with its pair."""
        return tuple((pair, witness) for pair in self.pairs for witness in pair.witnesses if witness.refutes)

    @property
    def skipped(self) -> tuple[PairExamination, ...]:
        """The pairs of which the mechanism refused both data sets."""
        return tuple(pair for pair in self.pairs if pair.skipped)

    @property
    def drawn(self) -> tuple[DrawnPair, ...]:
        """How often each pair that was compared was drawn from."""
        return tuple(pair.drawn for pair in self.pairs if not pair.skipped)

    @property
    def visible(self) -> float:
        """The smallest probability of an event on one side that would have been found on every pair compared."""
        return max((pair.visible for pair in self.pairs if not pair.skipped), default=1.0)

    @property
    def missing(self) -> str:
        """What was not examined, and why; empty when the demand is met."""
        if self.reference:
            return ""
        lacks = shortfall(self.demand, self.drawn, self.visible)
        if not lacks:
            return "too few draws to see whether they are independent" if self.untried else ""
        refusals = sorted({reason for pair in self.skipped for reason in pair.refused})
        why = f"; {len(self.skipped)} pairs were refused ({'; '.join(refusals)})" if refusals else ""
        return f"{lacks}{why}"

    @property
    def enough(self) -> Enough | None:
        """The draws that met the demand; None where they did not."""
        return None if self.missing or self.reference else Enough(self.demand, self.drawn, self.visible)

    @property
    def violations(self) -> tuple[ContractFinding, ...]:
        """What the mechanism does that no output of it may be certified under."""
        return tuple(finding for finding in self.contract if finding.violated)

    @property
    def untried(self) -> bool:
        """Whether none of the contract checks had enough draws."""
        return untried(self.contract)

    @property
    def law(self) -> str:
        """Empty when a stated density was held against the draws of every pair compared; otherwise why not."""
        reasons = [pair.law for pair in self.pairs if not pair.skipped]
        if not reasons:
            return "nothing was compared"
        telling = [reason for reason in reasons if reason != STILL]
        return next((reason for reason in telling if reason), "") if telling else STILL

    @property
    def outcome(self) -> Outcome:
        """What all of it says about the claim on these pairs."""
        if self.refutations:
            return Outcome.REFUTED
        if self.missing:
            return Outcome.NOT_EXAMINED
        compared = [pair for pair in self.pairs if not pair.skipped]
        decided = all(
            any(w.weight is Weight.DECIDES for w in pair.witnesses)
            and all(w.holds for w in pair.witnesses if w.weight is Weight.DECIDES)
            for pair in compared
        )
        return Outcome.SUPPORTED if decided and not self.law and not self.violations else Outcome.EXAMINED

    def public(self) -> Examination:
        """Return the part that does not depend on private records."""
        return replace(self, pairs=tuple(pair for pair in self.pairs if not pair.private))


def untried(contract: Sequence[ContractFinding]) -> bool:
    """Return whether every contract check that is a test had too few draws, or no data set that is accepted."""
    tests = [finding for finding in contract if finding.failure_prob > 0]
    return bool(tests) and all(finding.outcome is ContractOutcome.NOT_TRIED for finding in tests)


def examine(
    mechanism: Any,
    pairs: Sequence[Named],
    claim: PrivacyClaim | None,
    budget: Budget,
    *,
    wanted: int | None = None,
    own: Sequence[Named] = (),
    own_slots: int | None = None,
    private: bool = False,
    demand: Demand | None = None,
    believe: bool = True,
    make: Callable[[], Any] | None = None,
    views: tuple[Callable[[Any], Any], ...] = (),
    max_draws: int | None = None,
    run: Run = map,
) -> Examination:
    """Return what is known about a claim on some pairs of data sets.

    Parameters
    ----------
    mechanism : object
        With ``draw``; optionally ``log_density``, ``privacy_loss``, ``profile``, ``worst_profile``. A reference
        mechanism (of ``mechanisms``) is asked for its own law, which is proved; any other one is examined.
    pairs : sequence of NamedPair
        Distinct names.
    claim : PrivacyClaim or None
        None asks about the stated law alone.
    budget : Budget
        ``n_draws`` counts the evaluations of one pair, both data sets together.
    wanted : int, optional
        Pairs to be compared, all by default; the others stand in for pairs of which the mechanism refuses both sides.
    own : sequence of NamedPair
        Pairs that are examined in any case (a user's own data); ``own_slots`` of them share the failure probability, so
        that nothing about the other pairs depends on how many there are.
    private : bool
        Whether ``own`` depends on records that may not be published.
    demand : Demand, optional
        By default ``wanted`` pairs, with the draws of the budget.
    believe : bool
        Whether a reference mechanism is asked for its own law; otherwise it is examined like any other.
    make : callable, optional
        Gives a pristine mechanism, picklable where ``run`` uses processes; by default copies are made of ``mechanism``.
    max_draws : int, optional
        The most evaluations of all pairs, probes and contract together, calls made again apart; the draws of a pair
        shrink to fit, and nothing is searched.
    run : callable
        ``run(function, works)`` yields results in order; replaced to use several processes.

    Raises
    ------
    ValueError
        If there is no pair, two have one name, or a pair is not of a relation that the claim covers.
    """
    wanted = len(pairs) if wanted is None else min(wanted, len(pairs))
    _check([*pairs, *own], claim)
    slots = max(1, wanted + (len(own) if own_slots is None else own_slots))
    if max_draws is not None:
        left = (1 - CONTRACT_SHARE) * max_draws - PROBED * len(pairs)  # what the pairs may have beside the contract
        budget = replace(budget, n_draws=max(2, min(budget.n_draws, int(left / (slots + 2)) - LEARNED)))
    demand = demand or Demand(max(1, wanted), max(1, budget.n_draws // 2))
    if believe and is_reference(mechanism) and claim is not None:
        known = tuple(_known(mechanism, named, claim, budget) for named in [*pairs[:wanted], *own])
        return Examination(mechanism.name, claim, known, (), demand, budget.failure_prob, Conduct(), reference=True)
    data = [*pairs, *own][0].pair.first
    relation = Relation.ADD if claim is None else claim.relations[0]
    group = 1 if claim is None else claim.group
    worst, _ = stated_worst(mechanism, data.x_bound, data.y_bound, relation, group)
    subject = Subject(mechanism, fresh=make, views=views)
    # before any other call: a module may count them
    contract, conduct = _contract(subject, pairs or own, budget, slots, "contract")
    chosen, skipped, spare = _accepted(subject, pairs, wanted, budget)
    if chosen and untried(contract):  # the first data sets are refused
        contract, conduct = _contract(subject, chosen, budget, slots, "contract again")
    # copies may share the state of a generator that the object holds: then the object itself is looked at
    shared = make is None and contract[0].violated
    share = (1 - CONTRACT) / (slots + 2)  # two more: the worst pair of a search, and the edge of what is refused

    def work(named: Named, *, private: bool = False) -> PairWork:
        part = Budget(budget.n_draws, budget.failure_prob * share, budget.key.child("pair", named.name))
        given = mechanism if make is None else None
        return PairWork(
            given, named.name, named.pair, claim, part, private, worst, conduct.one_by_one, views, make, shared
        )

    tried = list(pairs[: len(chosen) + len(skipped)])
    more = [
        _searched(subject, spare if max_draws is None else [], budget),
        _boundary(subject, tried, chosen, claim, budget),
    ]
    works = [work(named) for named in [*chosen, *(each for each in more if each is not None)]]
    found = tuple(run(examine_pair, [*works, *(work(named, private=private) for named in own)]))
    return Examination(subject.name, claim, (*found, *skipped), contract, demand, budget.failure_prob, conduct)


def _contract(
    subject: Subject, pairs: Sequence[Named], budget: Budget, slots: int, name: str
) -> tuple[tuple[ContractFinding, ...], Conduct]:
    """Return what is known of the contract from draws in proportion to those of the examination."""
    total = min(CONTRACT_DRAWS, max(40, int(CONTRACT_SHARE * budget.n_draws * slots)))
    return contract_findings(
        subject, [named.pair for named in pairs], budget.part(name, share=CONTRACT / 2, n_draws=total)
    )


def _check(pairs: Sequence[Named], claim: PrivacyClaim | None) -> None:
    if not pairs:
        raise ValueError("pairs must not be empty, got pairs=()")
    if len({named.name for named in pairs}) != len(pairs):
        raise ValueError("pairs must have distinct names, got a name twice")
    for named in pairs if claim is not None else ():
        assert claim is not None
        if named.pair.relation not in claim.relations:
            covered = ", ".join(each.name for each in claim.relations)
            raise UnsupportedRelation(
                f"relation must be one of {covered} as in the claim, got {named.pair.relation.name}"
            )


def _accepted(
    subject: Subject, pairs: Sequence[Named], wanted: int, budget: Budget
) -> tuple[list[Named], tuple[PairExamination, ...], list[Named]]:
    """Return the first ``wanted`` pairs of which one data set is accepted, those refused on the way, and the rest."""
    chosen: list[Named] = []
    skipped: list[PairExamination] = []
    for place, named in enumerate(pairs):
        if len(chosen) == wanted:
            return chosen, tuple(skipped), list(pairs[place:])
        key = budget.key.child("probe", named.name)
        refusals = [subject.refusal(each, key) for each in (named.pair.first, named.pair.second)]
        if refusals[0] is not None and refusals[0] == refusals[1]:
            words = (str(refusals[0]), str(refusals[1]))
            skipped.append(PairExamination(named.name, False, (), DrawnPair(named.name, 0, 0), words, skipped=True))
        else:
            chosen.append(named)
    return chosen, tuple(skipped), []


def _searched(subject: Subject, spare: Sequence[Named], budget: Budget) -> Named | None:
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


def _known(mechanism: Mechanism, named: Named, claim: PrivacyClaim, budget: Budget) -> PairExamination:
    """Return the witness of a reference mechanism: its proved law beside draws, or draws inside a proved event."""
    pair = named.pair
    assert isinstance(pair, NeighbouringPair)
    if claim.curve is not None:
        return _known_curve(mechanism, named, claim, pair)
    exact: Estimate | None = None
    sampled: Estimate | None = None
    if isinstance(mechanism, ExactLaw):
        exact = exact_delta(proved_profile(mechanism, pair), claim.epsilon)
    if isinstance(mechanism, WhiteBox) and budget.n_draws > 1:
        sampled = sampled_delta(mechanism, pair, claim.epsilon, budget)
    witness = Witness(
        "own law",
        Weight.DECIDES,
        "delta at the claimed epsilon, worse direction",
        0.0,
        claim.delta,
        exact,
        sampled,
        "the law of a reference mechanism, beside draws of it",
    )
    n_each = 0 if sampled is None else budget.n_draws // 2
    return PairExamination(named.name, False, (witness,), DrawnPair(named.name, n_each, n_each), visible=0.0)


def _known_curve(mechanism: Mechanism, named: Named, claim: PrivacyClaim, pair: NeighbouringPair) -> PairExamination:
    """Return whether the exact law of a reference mechanism lies inside a whole claimed curve."""
    profile = mechanism.profile(pair) if isinstance(mechanism, ExactLaw) else None
    inside = None if profile is None else implied_by(profile, claim)
    low, high = {True: (0.0, 0.0), False: (1.0, 1.0), None: (0.0, 1.0)}[inside]
    exact = Estimate.proved(low, high, "closed form")
    quantity = "whether the law exceeds the claimed curve (0 no, 1 yes)"
    witness = Witness("own law", Weight.DECIDES, quantity, 0.0, 0.0, exact, words="the law of a reference mechanism")
    return PairExamination(named.name, False, (witness,), DrawnPair(named.name, 0, 0), visible=0.0)


def _boundary(
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

    members = (each for named in chosen for each in (named.pair.first, named.pair.second))
    accepted = next((each for each in members if accepts(each)), None)
    edge = None if accepted is None else refusal_boundary(accepts, refused, accepted)
    return edge if edge is not None and edge.pair.relation in claim.relations else None
