"""The one routine behind every verdict on an imported mechanism: what do its draws, and its own law, say about a claim?

``certify``, the pytest fixture, sweeps and notebooks all ask here; the same budget gives them the same intervals.
Nothing that a mechanism says about itself is believed: its density is held against its draws on both data sets of every
pair, and the black box, which believes nothing, always runs too. A mechanism may still deceive such an audit (a magic
record, a leak rarer than can be seen, a law that is right on every pair tried): that is why no examination alone is a
PASS. Derivations: ``docs/derivations/black_box.md``, ``stated_law.md`` and ``contract.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from mechanisms import NeighbouringPair
from mechanisms.base import ExactLaw, Mechanism, WhiteBox
from mechanisms.data.neighbours import Relation, UnsupportedRelation
from mechanisms.laws.profile_tools import proved_profile
from mechanisms.reference import is_reference

from ..black_box.claims import PrivacyClaim, implied_by
from ..density_tests.stated_worst import stated_worst
from ..estimate import Budget, Estimate, Result
from ..harness.call_apart import forkable
from ..harness.calls import Deadline, OutOfTime, open_calls
from ..harness.contract import Conduct, ContractFinding, ContractOutcome, contract_findings
from ..harness.fresh_process import ProcessServer
from ..harness.guarded_subject import Subject
from ..harness.open_subject import subject_of
from ..harness.output_leaves import at_every_call
from ..search.design_search import PairSearch
from ..verdict import CheckResult, CheckRole, Ruling, Stated, Terms, decide, misstatements, sound
from ..white_box.exact import exact_delta, sampled_delta
from .examine_choose import SEARCHED, Cap, Named, accepted, boundary, passed_over, places, searched, until_refuted
from .examine_fresh import fresh_finding, fresh_pairs
from .examine_pair import STILL, PairExamination, PairWork, examine_pair, has_miscounted
from .examined import Demand, DrawnPair, Enough, shortfall
from .witnesses import BROKEN, Violation, Witness, claimed_words, least_epsilon, outputs_said, spaced

#: Share of the failure probability that the contract checks may spend; the pairs share the rest evenly.
CONTRACT = 0.05
#: Why nothing supports a claim about a mechanism whose density was not compared with its draws.
DRAWS_ALONE = "draws alone can refute and never support"
#: What is said where answers and draws cannot be told to belong together.
MISCOUNTED = "some answers had more or fewer lines than draws were asked for"
Run = Callable[[Callable[[PairWork], PairExamination], Sequence[PairWork]], Iterable[PairExamination]]


@dataclass(frozen=True, repr=False)
class Examination(Result):
    """Everything that was found about a claim on some pairs of data sets.

    Attributes
    ----------
    pairs : tuple of PairExamination
        In the order in which they were given; a pair that the mechanism refuses has no witnesses.
    contract : tuple of ContractFinding, empty for a reference mechanism
    demand : Demand, what must have been drawn before anything may rest on this
    failure_prob : float, of everything together
    unreached, spared : str
        What was not looked at because of the deadline, and because of ``max_draws``; empty where that is nothing.
    stopped : str
        Why the mechanism gave no answer, part of ``unreached`` then; empty where it did not come to that.
    cut_in_public : (str, str)
        ``unreached`` and ``stopped`` of the pairs that do not depend on private records.
    left_out : (str, str)
        How many pairs were not examined since the claim was refuted before: of all, and of those that do not depend on
        private records; empty where that is none.
    reference : bool
        Whether the proved law of a reference mechanism was asked; nothing need be drawn, and there is no ``enough``.
    conduct : Conduct
        How the mechanism behaves: whether it repeats under one seed, and whether rows of one call are independent.
    miscounted : bool
        Whether a door's answers had another number of lines than draws before any pair was compared.
    """

    mechanism: str
    claim: PrivacyClaim | None
    pairs: tuple[PairExamination, ...]
    contract: tuple[ContractFinding, ...]
    demand: Demand
    failure_prob: float
    conduct: Conduct
    reference: bool = False
    unreached: str = ""
    spared: str = ""
    stopped: str = ""
    cut_in_public: tuple[str, str] = ("", "")
    left_out: tuple[str, str] = ("", "")
    miscounted: bool = False

    @cached_property
    def results(self) -> tuple[CheckResult, ...]:
        """Every witness of every pair as the verdict sees it."""
        return tuple(witness.result(pair.name) for pair in self.pairs for witness in pair.witnesses)

    @cached_property
    def misstated(self) -> tuple[Stated, ...]:
        """What the mechanism states about itself and its draws refute: numbers that rest on it are void."""
        return misstatements(self.results)

    @property
    def refutations(self) -> tuple[tuple[PairExamination, Witness], ...]:
        """Every sound witness that refutes the claim, with its pair."""
        return self._failed((CheckRole.DECIDES, CheckRole.REFUTES))

    @property
    def misstatements(self) -> tuple[tuple[PairExamination, Witness], ...]:
        """Every sound witness that refutes what the mechanism states about itself, with its pair."""
        return self._failed((CheckRole.STATES,))

    def _failed(self, roles: tuple[CheckRole, ...]) -> tuple[tuple[PairExamination, Witness], ...]:
        both = ((pair, witness) for pair in self.pairs for witness in pair.witnesses)
        return tuple(
            (pair, witness)
            for pair, witness in both
            if witness.role in roles and witness.refutes and sound(witness.result(pair.name), self.misstated)
        )

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
    def whole(self) -> bool:
        """Whether the outputs of every pair compared were read whole, so that of them nothing was left unseen."""
        return all(pair.whole for pair in self.pairs if not pair.skipped)

    @property
    def missing(self) -> str:
        """What was not examined, and why; empty when the demand is met."""
        if self.reference:
            return ""
        if self.refused_everywhere:
            return self.refused_everywhere
        cut, lacks = self.left_out[0] or self.unreached or self.spared, shortfall(self.demand, self.drawn, self.visible)
        if cut:
            return f"{cut}; {lacks}" if lacks else cut
        if self.miscounted or any(pair.miscounted for pair in self.pairs):
            return MISCOUNTED
        if not lacks:
            return "too few draws to see whether they are independent" if self.untried else ""
        refusals = {reason.partition(": ")[0]: reason for pair in self.skipped for reason in pair.refused}
        why = f"; {len(self.skipped)} pairs were refused ({'; '.join(sorted(refusals.values()))})" if refusals else ""
        return f"{lacks}{why}"

    @property
    def refused_everywhere(self) -> str:
        """How every call ended, in words, where none gave an output; empty otherwise."""
        if self.drawn or self.unreached or not self.skipped:
            return ""
        return at_every_call([reason for pair in self.skipped for reason in pair.refused])

    @property
    def small_refused(self) -> bool:
        """Whether data sets are refused, and every one of them has fewer records than every one that is accepted."""
        sides = [side for pair in self.pairs for side in zip(pair.sizes, pair.refused, strict=True)]
        refused, accepted = (
            [size for size, why in sides if size is not None and bool(why) is is_so] for is_so in (True, False)
        )
        return bool(refused) and max(refused) < min(accepted, default=math.inf)

    @property
    def enough(self) -> Enough | None:
        """The draws that met the demand; None where they did not."""
        return None if self.missing or self.reference else Enough(self.demand, self.drawn, self.visible)

    @property
    def violations(self) -> tuple[ContractFinding, ...]:
        """What the mechanism does that no output of it may be certified under."""
        return tuple(finding for finding in self.contract if finding.violated)

    @property
    def broken(self) -> str:
        """The part of the contract that is broken, the first of several; empty where none is."""
        return self.violations[0].name if self.violations else ""

    @property
    def types(self) -> str:
        """Which types the numbers of two data sets have, in words, where only these differ; empty where they do not."""
        return next((pair.types for pair in self.pairs if pair.types), "")

    @property
    def silent(self) -> str:
        """Why the outputs of every pair compared can tell nothing; empty where those of one may."""
        reasons = {pair.silent for pair in self.pairs if not pair.skipped}
        return reasons.pop() if len(reasons) == 1 else ""

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
    def obstacle(self) -> str:
        """What keeps the claim open although nothing refutes it; empty where nothing does."""
        if self.violations:
            return f"{self.violations[0].name}: {self.violations[0].words}"
        return f"{self.law}: {DRAWS_ALONE}" if self.law else ""

    def terms(self, *, attested: bool, obstacle: str = "") -> Terms:
        """Return what is demanded of a PASS; ``attested``: whether somebody vouches for the stated law."""
        return Terms(
            external=not self.reference,
            missing=self.missing,
            obstacle=self.obstacle or obstacle,
            enough=self.enough,
            attested=attested,
        )

    def ruling(self, *, attested: bool = False) -> Ruling:
        """Return the verdict on the claim on these pairs alone; it speaks about no other data set."""
        return decide(self.results, self.terms(attested=attested))

    def public(self) -> Examination:
        """Return the part that does not depend on private records."""
        unreached, stopped = self.cut_in_public
        pairs = tuple(pair for pair in self.pairs if not pair.private)
        left_out = self.left_out[1], self.left_out[1]
        return replace(self, pairs=pairs, unreached=unreached, stopped=stopped, left_out=left_out)

    @cached_property
    def violation(self) -> Violation | None:
        """The refuted claim in numbers, on the pair that shows the largest epsilon; None where it is not refuted."""
        if not self.refutations or self.claim is None:
            return None
        claim = self.claim
        bounds = [(pair, least_epsilon(self._sound(pair), claim)) for pair, _ in self.refutations]
        pair, least = max(bounds, key=lambda each: -math.inf if math.isnan(each[1]) else each[1])
        known = (BROKEN[finding.name] for finding in self.violations if finding.name in BROKEN)
        cause = next(known, "") if self.violations else pair.cause
        name = pair.name.removeprefix(SEARCHED)
        tests = [witness for witness in self._sound(pair) if witness.refutes and "hits" in witness.notes]
        event, hits = (outputs_said(tests[0].words), spaced(str(tests[0].notes["hits"]))) if tests else ("", "")
        return Violation(
            claimed_words(claim), least, claim.delta, self.failure_prob, name, cause, event, hits, pair.members
        )

    def _sound(self, pair: PairExamination) -> list[Witness]:
        return [witness for witness in pair.witnesses if sound(witness.result(pair.name), self.misstated)]

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "verdict": self.ruling().words,
            "mechanism": self.mechanism,
            "claim": "" if self.claim is None else self.claim.sentence,
            "pairs compared": len(self.drawn),
            "refutations": len(self.refutations),
            "missing": self.missing or "nothing",
            "failure_prob": self.failure_prob,
        }


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
    search: PairSearch | None = None,
    max_draws: int | None = None,
    deadline: Deadline | None = None,
    complete: bool = False,
    run: Run = map,
) -> Examination:
    """Return what is known about a claim on some pairs of data sets.

    Parameters
    ----------
    mechanism : object
        With ``draw``; optionally ``log_density``, ``privacy_loss``, ``profile``, ``worst_profile``. A reference
        mechanism (of ``mechanisms``) is asked for its own law, which is proved; any other one is examined.
    pairs : sequence of NamedPair, distinct names
    claim : PrivacyClaim or None, None asks about the stated law alone
    budget : Budget
        ``n_draws`` counts the evaluations of one pair, both data sets together.
    wanted : int, optional
        Pairs to be compared, all by default; the others stand in for pairs of which the mechanism refuses both sides.
    own : sequence of NamedPair
        Pairs that are examined in any case (a user's own data); ``own_slots`` of them share the failure probability, so
        that nothing about the other pairs depends on how many there are.
    private : bool, whether ``own`` depends on records that may not be published
    demand : Demand, optional, by default ``wanted`` pairs, with the draws of the budget
    believe : bool
        Whether a reference mechanism is asked for its own law; otherwise it is examined like any other.
    make : callable, optional
        Gives a pristine mechanism, picklable where ``run`` uses processes; by default copies are made of ``mechanism``.
        Not asked for one whose calls may be open together.
    views : tuple of callable
        See ``Subject``: what is read from an output that shows nothing of itself.
    search : PairSearch, optional
        Where further pairs are searched (not behind a door; none goes with ``max_draws``). They are examined first, on
        draws of their own, and take the places of the last of ``pairs``; see ``docs/derivations/pair_search.md``.
    max_draws : int, optional
        The most evaluations of all pairs, probes and contract together, calls made again apart; the draws of a pair
        shrink to fit, then the pilots, then the number of pairs, and nothing is searched.
    deadline : Deadline, optional
        No call is begun after it. What was found on pairs that were done by then is kept; the rest was not reached.
    complete : bool
        Whether the pairs after the first one that refutes the claim are examined, too.
    run : callable
        ``run(function, works)`` yields results in order; replaced to use several processes.

    Returns
    -------
    Examination
        Its ``ruling`` speaks about these pairs, never about all data sets.

    Raises
    ------
    ValueError
        If there is no pair, two have one name, or a pair is not of a relation that the claim covers.
    """
    wanted = len(pairs) if wanted is None else min(wanted, len(pairs))
    _check([*pairs, *own], claim)
    slots = max(1, wanted + (len(own) if own_slots is None else own_slots))
    cap = Cap.of(max_draws, budget.n_draws, len(pairs), slots)
    budget = replace(budget, n_draws=cap.n_draws)
    demand = demand or Demand(max(1, wanted), max(1, budget.n_draws // 2))
    if believe and is_reference(mechanism) and claim is not None:
        known = _all_known(mechanism, [*pairs[:wanted], *own], claim, budget)
        return Examination(mechanism.name, claim, known, (), demand, budget.failure_prob, Conduct(), reference=True)
    data = [*pairs, *own][0].pair.first
    relation = Relation.ADD if claim is None else claim.relations[0]
    group = 1 if claim is None else claim.group
    worst, _ = stated_worst(mechanism, data.x_bound, data.y_bound, relation, group, claim=claim)
    make = make if open_calls(mechanism) is None else None  # another object of it would be the same one elsewhere
    subject = subject_of(mechanism, fresh=make, views=views, deadline=deadline)
    blank = Examination(subject.name, claim, (), (), demand, budget.failure_prob, Conduct(), spared=cap.spared)
    if cap.most == 0:
        return blank
    if cap.most is not None:
        pairs = pairs[: cap.most]
        own, wanted = own[: cap.most - len(pairs)], min(wanted, len(pairs))
    why_not = _why_not_fresh(mechanism, max_draws)
    forks = not why_not and make is None and forkable()
    with ProcessServer((mechanism, views)) if forks else nullcontext() as server:  # before anything is drawn
        try:
            contract, conduct, chosen, skipped, edge = _chosen(subject, pairs, own, wanted, claim, budget, cap, search)
        except OutOfTime as stop:
            cut = _unreached("no pair of data sets was reached", str(stop)), str(stop)
            return replace(blank, unreached=cut[0], stopped=cut[1], cut_in_public=cut)
        # copies may share the state of a generator that the object holds: then the object itself is looked at
        shared = make is None and contract[0].violated
        apart = set[str]() if why_not else fresh_pairs(chosen)
        share = (1 - CONTRACT) / (slots + places(search) + 1)  # one more: the edge of what is refused

        def work(named: Named, *, private: bool = False) -> PairWork:
            part = budget.part(f"pair: {named.name}", share=share, private=private)
            part = replace(part, key=budget.key.child("pair", named.name))
            given, alone = (mechanism if make is None else None), conduct.one_by_one
            return PairWork(
                given,
                named.name,
                named.pair,
                claim,
                part,
                private,
                worst,
                alone,
                views,
                make,
                shared,
                deadline,
                cap.n_pilot,
                named.name in apart,
                None if shared else server,
            )

        works = [work(named) for named in [*chosen, *edge]]
        works += [work(named, private=private) for named in own]
        results = _run(run, works, complete=complete)
    reached = [item for item in results if item.reached]
    unreached, stopped = _cut(results)
    return replace(
        blank,
        pairs=(*reached, *skipped),
        contract=(*contract, fresh_finding([item.fresh for item in reached if item.fresh is not None], why_not)),
        conduct=conduct,
        unreached=unreached,
        stopped=stopped,
        cut_in_public=_cut([item for item in results if not item.private]),
        left_out=passed_over(works, results),
        miscounted=has_miscounted(subject),
    )


def _chosen(
    subject: Subject,
    pairs: Sequence[Named],
    own: Sequence[Named],
    wanted: int,
    claim: PrivacyClaim | None,
    budget: Budget,
    cap: Cap,
    search: PairSearch | None,
) -> tuple[tuple[ContractFinding, ...], Conduct, list[Named], tuple[PairExamination, ...], list[Named]]:
    """Return what is known of the contract, the pairs to be compared, those refused on the way, and the edge."""
    # before any other call: a module may count them
    contract, conduct = _contract(subject, pairs or own, budget, cap.contract, "contract")
    chosen, skipped = accepted(subject, pairs, wanted, budget)
    if chosen and untried(contract) and not cap.tight:  # the first data sets are refused
        contract, conduct = _contract(subject, chosen, budget, cap.contract, "contract again")
    tried = list(pairs[: len(chosen) + len(skipped)])
    found = searched(subject, search, claim, budget, chosen, one_by_one=conduct.one_by_one)
    edge = [] if cap.tight else boundary(subject, tried, chosen, claim, budget)
    return contract, conduct, found, skipped, edge


def _why_not_fresh(mechanism: Any, max_draws: int | None) -> str:
    """Return why nothing is to be drawn in fresh processes, wherever this is asked; empty where something is."""
    if open_calls(mechanism) is not None:
        return "it is outside of this process"
    return "the number of draws is bounded" if max_draws is not None else ""


def _run(run: Run, works: Sequence[PairWork], *, complete: bool) -> tuple[PairExamination, ...]:
    """Return what was found, in order; what was spent on it, maybe in other processes, is written down here."""
    found = run(examine_pair, [replace(work, budget=work.budget.apart()) for work in works])
    results = until_refuted(found, complete=complete)
    for work, result in zip(works, results, strict=False):  # there is none after the pair that refutes the claim
        work.budget.adopt(result.spent)
    return results


def _cut(results: Sequence[PairExamination]) -> tuple[str, str]:
    """Return how many pairs were not reached, in words, and why nobody answered; both empty where all were reached."""
    late = sum(not item.reached for item in results)
    stopped = next((item.stopped for item in results if item.stopped), "")
    what = f"{late} of {len(results)} pairs of data sets were not reached"
    return (_unreached(what, stopped), stopped) if late else ("", "")


def _unreached(what: str, why: str) -> str:
    return f"{what}: {why}" if why else what


def _contract(
    subject: Subject, pairs: Sequence[Named], budget: Budget, total: int, name: str
) -> tuple[tuple[ContractFinding, ...], Conduct]:
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
            covered = ", ".join(relation.name for relation in claim.relations)
            raise UnsupportedRelation(
                f"relation must be one of {covered} as in the claim, got {named.pair.relation.name}"
            )


def _all_known(
    mechanism: Mechanism, pairs: Sequence[Named], claim: PrivacyClaim, budget: Budget
) -> tuple[PairExamination, ...]:
    parts = budget.split({named.name: 1 / len(pairs) for named in pairs})
    return tuple(_known(mechanism, named, claim, replace(parts[named.name], key=budget.key)) for named in pairs)


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
        CheckRole.DECIDES,
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
    witness = Witness("own law", CheckRole.DECIDES, quantity, 0.0, 0.0, exact, words="the law of a reference mechanism")
    return PairExamination(named.name, False, (witness,), DrawnPair(named.name, 0, 0), visible=0.0)
