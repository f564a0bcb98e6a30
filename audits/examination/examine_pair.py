"""Everything that is asked about one pair of data sets of an imported mechanism, from one sample of its draws.

The failure probability of the pair is split once: where the mechanism states a density, three tenths test it against
the draws, two tenths bound delta by it, and half goes to the black box, which believes nothing. Without a density the
black box has all of it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from mechanisms import Dataset, NeighbouringPair
from mechanisms.base import BOTH

from ..black_box.black_box_audit import black_box_audit
from ..black_box.black_box_lines import visible_leak
from ..black_box.black_box_results import BlackBoxResult, LowerBound
from ..black_box.claims import PrivacyClaim
from ..density_tests.stated_law import LawAudit, audit_law, audit_loss, audit_loss_agrees, audit_profile
from ..density_tests.stated_law_masses import one_sided
from ..density_tests.stated_law_range import audit_range
from ..density_tests.stated_worst import inside, stated_delta
from ..error_budget import LedgerError, Part
from ..estimate import Budget, Estimate
from ..harness.calls import Deadline, OutOfTime, open_calls
from ..harness.fresh_process import ProcessServer
from ..harness.guarded_subject import PILOT, EncodedSubject, Subject
from ..harness.open_subject import subject_of
from ..verdict import CheckRole, Decision, Stated, Terms, decide
from ..white_box.exact import exact_delta
from ..white_box.tails import audit_tails
from .examine_fresh import FRESH, FreshAudits, fresh_audits
from .examined import DrawnPair
from .recorded import Recorded, RecordedView
from .witnesses import BY_FRESH_LAW, Note, StatedProfile, Witness, likely_cause, of_test, symbols

#: Draws of each data set without which the black box is not asked: it could refute nothing.
BLACK_BOX = 50
#: Draws of each data set that are asked about first, with half of the pair's failure probability, where they are dear.
FEW = 100
#: Most numbers that a sample of one data set holds, and most numbers of it that a stated law is held against where
#: outputs have more columns than these; wider outputs are drawn less often, and at least so many times.
NUMBERS, LAW_NUMBERS, WIDE, LEAST_OF_WIDE = 20_000_000, 600_000, 64, 400
#: Most data frames of one data set that a stated law is held against: one takes as long to make as a hundred numbers.
FRAMES = 2_000
#: Shares of a pair's failure probability where the mechanism states a density.
LAW, DELTA = 0.3, 0.2
#: Why draws that were compared with a density do not vouch for it: no lie about privacy where the ends are public.
STOPS = "the draws stop where the stated density goes on"
#: Why draws do not vouch for a density where a value repeats and the density does not say whether it is an atom.
UNTOLD = "outputs repeat, and by the stated density nobody can tell whether as often as they should"
#: Why a density was not compared where every draw is the same; other pairs may tell.
STILL = "the stated density could not be compared with the draws, which do not vary"
#: What tests of the stated law are about, and what else of it they rest on, where that is not the density alone.
TESTED = {"stated loss": (Stated.LOSS,), "stated profile": (Stated.PROFILE, Stated.DENSITY)}
#: The stated worst case is compared with the draws at these multiples of the claimed epsilon.
MULTIPLES = (0.25, 0.5, 1.0, 2.0)
#: Multiples of the claimed epsilon at which delta by the stated law is looked at too, to say how large epsilon is.
BEYOND = (1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)


@dataclass(frozen=True)
class PairWork:
    """One pair to be examined; picklable where ``make`` is."""

    mechanism: Any  #: None where ``make`` gives it
    name: str  #: the pair in words, unique within an examination
    pair: Any  #: anything with ``first``, ``second`` and ``relation``
    claim: PrivacyClaim | None  #: None asks about the stated law alone
    budget: Budget
    private: bool = False  #: whether the pair depends on records that may not be published
    worst: StatedProfile | None = None  #: what the mechanism states about every pair, to be held against this one
    #: whether every draw must be a call of its own, since rows of one call are not known to be independent
    one_by_one: bool = False
    views: tuple[Callable[[Any], Any], ...] = ()
    make: Callable[[], Any] | None = None  #: gives pristine mechanisms; None to copy ``mechanism``
    shared: bool = False  #: whether ``mechanism`` itself is to be called throughout, since its copies repeat each other
    deadline: Deadline | None = None  #: a pair that is not done by then was not reached: nothing of it counts
    n_pilot: int = PILOT  #: draws of each data set that show what outputs look like
    #: whether it is drawn in processes of their own too; they are forked from ``server`` where ``make`` is None
    fresh: bool = False
    server: ProcessServer | None = None


@dataclass(frozen=True)
class PairExamination:
    """What was found about one pair."""

    name: str
    private: bool
    witnesses: tuple[Witness, ...]
    drawn: DrawnPair
    #: for each data set why it was refused at every draw; empty where it was accepted
    refused: tuple[str, str] = ("", "")
    #: how many records each data set has; None where a data set has no such number
    sizes: tuple[int | None, int | None] = (None, None)
    #: empty when the draws were compared with a stated density and reach as far; otherwise why they were not, or that
    #: they stop where it goes on
    law: str = ""
    visible: float = 1.0  #: the smallest probability of an event on one side that this examination would have found
    skipped: bool = False  #: whether both data sets were refused in the same way, so that nothing could be compared
    reached: bool = True  #: whether the pair was examined before the deadline; otherwise nothing is known of it
    stopped: str = ""  #: why nobody answered, where it was that and not the deadline; empty otherwise
    #: whether answers of a door had more or fewer lines than draws: whose line is whose then nobody knows
    miscounted: bool = False
    cause: str = ""  #: the likely cause where the claim is refuted, read off the draws; empty where they tell none
    #: which types the numbers of each data set have, in words, where only these differ; empty otherwise
    types: str = ""
    whole: bool = True  #: whether its rows are all of the outputs: numbers of one shape, or objects rebuilt from them
    silent: str = ""  #: why outputs can tell nothing, in words; empty where they may
    fresh: FreshAudits | None = None  #: what its draws in fresh processes say; None where none were asked for
    #: the pair itself where it refutes the claim; None elsewhere, as results are sent between processes
    members: Any = field(default=None, repr=False, compare=False)
    #: what the failure probability of the pair was split into and spent on; empty where nobody writes it down
    spent: tuple[Part, ...] = ()


def refutes_the_claim(*found: PairExamination) -> bool:
    """Return whether the claim is refuted on some pair, by draws alone or by a statement that no draws refute."""
    results = [witness.result(pair.name) for pair in found for witness in pair.witnesses]
    return decide(results, Terms(external=True)).decision is Decision.FAIL


def examine_pair(work: PairWork) -> PairExamination:
    """Return what was found about one pair; a pure function of ``work`` for a mechanism that repeats under one seed.

    With a deadline it depends on the clock whether the pair is reached, and nothing else does.
    """
    try:
        if work.deadline is None or not work.deadline.reached():
            return replace(_examined(work), spent=work.budget.tree())
        stopped = ""
    except OutOfTime as stop:
        stopped = str(stop)
    return PairExamination(work.name, work.private, (), DrawnPair(work.name, 0, 0), reached=False, stopped=stopped)


def _examined(work: PairWork) -> PairExamination:
    inner = work.mechanism if work.make is None else work.make()
    fresh = (lambda: inner) if work.shared else work.make
    subject = subject_of(inner, fresh=fresh, views=work.views, deadline=work.deadline)
    key = work.budget.key
    encoded = subject.encoded(
        work.pair.first, work.pair.second, key.child("pilot"), one_by_one=work.one_by_one, n_pilot=work.n_pilot
    )
    first, second = encoded.refusals
    if first is not None and first == second:
        whys = (str(first), str(second))
        return refused_pair(work.name, work.pair, whys, private=work.private)
    if encoded.few_first and work.budget.n_draws > 2 * FEW:
        halves = work.budget.split({"few": 0.5, "many": 0.5})
        few = _questioned(replace(work, fresh=False, budget=replace(halves["few"], n_draws=2 * FEW)), encoded)
        if refutes_the_claim(few):
            return few
        work = replace(work, budget=replace(halves["many"], key=key))
    return _questioned(work, encoded)


def refused_pair(name: str, pair: Any, refused: tuple[str, str], *, private: bool = False) -> PairExamination:
    """Return what is known of a pair of which both data sets are refused in the same way: nothing can be compared."""
    return PairExamination(name, private, (), DrawnPair(name, 0, 0), refused, _sizes(pair), skipped=True)


def _sizes(pair: Any) -> tuple[int | None, int | None]:
    return getattr(pair.first, "n_records", None), getattr(pair.second, "n_records", None)


def _questioned(work: PairWork, encoded: EncodedSubject) -> PairExamination:
    """Return what one sample of the pair says; its layout is known, and it is not refused on both sides."""
    refused = ["" if refusal is None else str(refusal) for refusal in encoded.refusals]
    n_each, width = work.budget.n_draws // 2, max(1, encoded.layout.width)
    width = width if encoded.rebuilt is None else max(width, encoded.rebuilt.width)
    most = max(LEAST_OF_WIDE, NUMBERS // width)
    cut = most if most < n_each else None
    if cut is not None:
        n_each, work = cut, replace(work, budget=replace(work.budget, n_draws=2 * cut))
    recorded = Recorded(encoded, work.pair, n_each, work.budget.key.child("sample"))
    if recorded.share < 1:
        sample = work.budget.part("this sample", share=recorded.share)
        work = replace(work, budget=replace(sample, key=work.budget.key))
    why = _no_density(encoded.subject.mechanism, encoded, work.pair) or recorded.symbols
    parts = work.budget.split(_shares(work, encoded, why))
    law, why = _believed(work, recorded, encoded, parts, why)
    witnesses: tuple[Witness, ...] = ()
    visible = 1.0
    if work.claim is not None and n_each >= BLACK_BOX:
        budget = parts["black box"]
        witnesses = tuple(_black_box(work.pair, work.claim, recorded.view(), budget))
        visible = visible_leak(work.claim.black_box(), n_each, budget.failure_prob)
    fresh = None
    if work.fresh and n_each >= BLACK_BOX:
        points = [] if work.claim is None else [(e, work.claim.delta_at(e)) for e in _claimed_epsilons(work.claim)]
        fresh = fresh_audits(
            replace(work, budget=parts["fresh process"]), recorded, encoded, points, BEYOND, dense=not why
        )
        law += _fresh_witnesses(fresh, work.claim)
    drawn = DrawnPair(work.name, *encoded.drawn, cut)  # what was really asked of it
    found = PairExamination(
        work.name,
        work.private,
        (*witnesses, *law),
        drawn,
        (refused[0], refused[1]),
        _sizes(work.pair),
        why,
        visible,
        miscounted=has_miscounted(encoded.subject),
        types=encoded.types,
        whole=encoded.plain,
        silent=_silent(recorded),
        fresh=fresh,
    )
    if work.claim is None or not refutes_the_claim(found):
        return found
    cause = likely_cause((recorded.first, recorded.second), work.pair, refused, work.claim)
    return replace(found, cause=cause, members=work.pair)


def _silent(recorded: Recorded) -> str:
    """Return why the outputs of a pair can tell its data sets apart by nothing; empty where they may."""
    rows = np.concatenate([recorded.first, recorded.second])
    if len(rows) and (rows == rows[0]).all():
        return "all outputs of a pair are equal"
    never = [
        j + 1 for j, column in enumerate(rows.T) if symbols(column).all() and len(np.unique(column)) == len(column)
    ]
    return f"column {never[0]} holds a text, or another thing that is no number, which never repeats" if never else ""


def _fresh_witnesses(fresh: FreshAudits, claim: PrivacyClaim | None) -> Iterator[Witness]:
    """Yield what draws in fresh processes say: they can refute the claim and the stated law, and never support."""
    apart = "each data set in a fresh process"
    for audit, words in ((fresh.own, apart), (fresh.second_first, "second data set first")):
        if audit is not None:
            yield replace(_claim_witness(audit), about=f"{words}: the claim")
    if fresh.ratio is not None:
        yield _law_witness(f"{apart}: stated ratio", fresh.ratio, Stated.APART, Stated.DENSITY)
    if fresh.delta is not None:
        test, level = fresh.delta, fresh.delta_level
        refuted, about = test.p_value <= level, f"{apart}: delta by the stated law"
        # draws of one law, there and here, follow no density there that those here refute
        n_draws, rests_on = 2 * fresh.n_draws, (Stated.APART,) if fresh.differs else (Stated.DENSITY, Stated.APART)
        yield of_test(about, test.p_value, level, n_draws, refuted=refuted, words=test.words, rests_on=rests_on)
        if claim is not None and fresh.epsilon > 0:
            bound = Estimate(fresh.epsilon, fresh.epsilon, math.inf, level, n_draws, "bets on the mean")
            yield replace(_epsilon_by_law(fresh.epsilon, claim.delta, bound), about=BY_FRESH_LAW, rests_on=rests_on)


def has_miscounted(subject: Subject) -> bool:
    """Return whether answers of a door had another number of lines than draws."""
    return open_calls(subject.mechanism) is not None and subject.ledger.wrong_rows > 0


def _shares(work: PairWork, encoded: EncodedSubject, why: str) -> dict[str, float]:
    """Return what the failure probability of a sample is split into; ``why`` nothing is compared with a density."""
    shares = {"black box": 1.0}
    if not why:
        shares = {"law": LAW, "delta": DELTA, "black box": 1 - LAW - DELTA}
    elif (
        callable(getattr(encoded.subject.mechanism, "privacy_loss", None))
        and encoded.plain
        and isinstance(work.pair, NeighbouringPair)
    ):
        shares = {"law": LAW, "black box": 1 - LAW}
    if not work.fresh:
        return shares
    return {name: (1 - FRESH) * share for name, share in shares.items()} | {"fresh process": FRESH}


def _believed(
    work: PairWork, recorded: Recorded, encoded: EncodedSubject, parts: Mapping[str, Budget], why: str
) -> tuple[list[Witness], str]:
    """Return what the stated law gives, and why it was not compared with the draws (or nothing)."""
    inner = encoded.subject.mechanism
    witnesses: list[Witness] = []
    repeats = False
    try:
        if not why:
            delta = [] if work.claim is None else [_delta(work, work.claim, recorded, inner, parts["delta"])]
            for found in (*delta, _law(work, recorded, inner, parts["law"])):
                witnesses += found
            view = recorded.view(inner)
            repeats = one_sided(*recorded.asked, lambda rows: view.privacy_loss(rows, work.pair))
        elif "law" in parts:
            witnesses += _loss(work, recorded, inner, parts["law"])
    except LedgerError:  # a defect of ours
        raise
    except Exception as stop:  # the mechanism's own functions: what refutes so far still refutes
        why = f"the stated law raised {type(stop).__name__}"
    sides = [
        witness
        for witness in witnesses
        if witness.about in ("stated law: first data set", "stated law: second data set")
    ]
    if not why and sides and all(witness.notes["compared"] == 0.0 for witness in sides):
        why = STILL
    if not why and (repeats or any("untold" in witness.notes for witness in sides)):
        why = UNTOLD
    if not why and any(witness.about.startswith("stated range") and not witness.holds for witness in witnesses):
        why = STOPS
    return witnesses, why


def _no_density(inner: Any, encoded: EncodedSubject, pair: Any) -> str:
    """Return why the draws cannot be compared with a stated density; empty when they can."""
    if not callable(getattr(inner, "log_density", None)):
        return "the mechanism states no log_density"
    if not encoded.plain:
        return "the outputs are not rows of numbers of one width"
    if not isinstance(pair.first, Dataset):
        return "the data sets hold what a density cannot be asked about"
    return ""


def _law(work: PairWork, recorded: Recorded, inner: Any, budget: Budget) -> Iterator[Witness]:
    """Yield the tests of the stated law against the draws: each data set, its range, their ratio, what else is stated.

    A range that is refuted decides nothing (public bounds give nobody away), yet keeps the stated law from vouching.
    """
    pair = work.pair
    audits: dict[str, Callable[[Budget], LawAudit]] = {
        "first data set": lambda b: audit_law(recorded.view(inner), pair.first, b),
        "second data set": lambda b: audit_law(recorded.view(inner), pair.second, b),
        "ratio of the two": lambda b: audit_loss(recorded.view(inner), pair, b),
        "range: first data set": lambda b: audit_range(recorded.view(inner), pair.first, b),
        "range: second data set": lambda b: audit_range(recorded.view(inner), pair.second, b),
    }
    neighbours = isinstance(pair, NeighbouringPair)
    if neighbours and callable(getattr(inner, "privacy_loss", None)):
        audits["stated loss"] = lambda b: audit_loss_agrees(_Stated(recorded.view(inner)), pair, b)
    if neighbours and callable(getattr(inner, "profile", None)):
        audits["stated profile"] = lambda b: audit_profile(recorded.view(inner), pair, b)
    parts = budget.split(dict.fromkeys(audits, 1 / len(audits)))
    for words, audit in audits.items():
        part = replace(parts[words], n_draws=_n_for(words, work, recorded))
        if words.startswith("range"):
            yield _law_witness(f"stated {words}", audit(part), None)
        else:
            yield _law_witness(f"stated law: {words}", audit(part), *TESTED.get(words, (Stated.DENSITY,)))


def _n_for(words: str, work: PairWork, recorded: Recorded) -> int:
    """Return how many draws a test of the stated law reads, of one data set or of both, fewer of wide outputs."""
    n_each, width = max(1, work.budget.n_draws // 2), recorded.asked[0].shape[1]
    if recorded.rebuilt is not None and recorded.rebuilt.frames:
        n_each = min(n_each, FRAMES)
    if width > WIDE:
        n_each = min(n_each, max(LEAST_OF_WIDE, LAW_NUMBERS // width))
    return n_each if words.endswith("data set") or work.budget.n_draws == 1 else 2 * n_each


class _Stated:
    """A view whose loss is the one that the mechanism states, whatever its densities say."""

    def __init__(self, view: RecordedView) -> None:
        self.name, self.draw, self.log_density = view.name, view.draw, view.log_density
        self.privacy_loss = view.stated_loss


def _loss(work: PairWork, recorded: Recorded, inner: Any, budget: Budget) -> Iterator[Witness]:
    """Yield the test of a stated loss without a density: it can refute the loss, and never vouch for it."""
    audit = audit_loss(_Stated(recorded.view(inner)), work.pair, budget)
    yield _law_witness("stated loss: ratio of the two", audit, Stated.LOSS)


def _law_witness(about: str, audit: LawAudit, tests: Stated | None, *rests_on: Stated) -> Witness:
    """Return the witness of a test of a stated law: the sharpest of its tests; it decides nothing without ``tests``."""
    worst = audit.worst
    notes: dict[str, Note] = {"event": worst.event}
    if tests is not None:
        notes["compared"] = float(audit.examined)
    if audit.untold:
        notes["untold"] = audit.untold
    return of_test(
        about,
        worst.p_value,
        worst.level or audit.failure_prob,
        audit.n_draws,
        refuted=audit.refuted,
        words=worst.words,
        notes=notes,
        role=CheckRole.REPORTS if tests is None else CheckRole.STATES,
        tests=tests,
        rests_on=rests_on,
    )


def _delta(work: PairWork, claim: PrivacyClaim, recorded: Recorded, inner: Any, budget: Budget) -> Iterator[Witness]:
    """Yield delta by the stated law, at the claimed points and where the stated worst case may be exceeded.

    A stated worst case inside the claim decides; otherwise the sampled or exact delta of this pair does.
    """
    covered = inside(work.worst, claim) is True
    if covered:
        assert work.worst is not None
        yield _covered(work.worst, claim)
    claimed = [(e, claim.delta_at(e), "the claim") for e in _claimed_epsilons(claim)]
    stated = []
    if work.worst is not None:
        top = max(claim.epsilon, 1e-3)
        stated = [(m * top, max(work.worst.delta_at(m * top, d) for d in BOTH)) for m in MULTIPLES]
    asked = claimed + [(e, d, "worst_profile") for e, d in stated if math.isfinite(d) and d < 1]
    beyond = [m * claim.epsilon for m in BEYOND] if claim.curve is None else []
    view = recorded.view(inner)
    audit = audit_tails(view, work.pair, [*(e for e, _, _ in asked), *beyond], budget)
    exceeded = [e for e in (claim.epsilon, *beyond) if claim.curve is None and audit.delta(e).low > claim.delta]
    if exceeded:
        yield _epsilon_by_law(max(exceeded), claim.delta, audit.delta(max(exceeded)))
    knows = isinstance(work.pair, NeighbouringPair) and callable(getattr(inner, "profile", None))
    profile = view.profile(work.pair) if knows else None
    for epsilon, allowed, whose in asked:
        exact = exact_delta(profile, epsilon) if profile is not None and whose == "the claim" else None
        sampled = audit.delta(epsilon)
        if exact is not None and (exact.high < sampled.low or exact.low > sampled.high):
            yield _contradicted(epsilon, exact, sampled)
            continue
        claimed_here = whose == "the claim"
        decides = claimed_here and (exact is not None or not covered)
        yield Witness(
            "exact law, as stated" if exact is not None else "delta by the stated law",
            CheckRole.DECIDES if decides else CheckRole.REFUTES if claimed_here else CheckRole.STATES,
            f"delta at epsilon {epsilon:.4g} against {whose}, worse direction",
            0.0,
            allowed * (1 + 1e-9),
            exact,
            sampled,
            "delta by the stated law, which the draws of both data sets were held against",
            tests=None if claimed_here else Stated.WORST_CASE,
            rests_on=(Stated.DENSITY,) if exact is None else (Stated.DENSITY, Stated.PROFILE),
        )


def _epsilon_by_law(least: float, delta: float, sampled: Estimate) -> Witness:
    """Return the largest epsilon tried at which delta by the stated law exceeds the claimed one."""
    bound = Estimate(least, least, math.inf, sampled.failure_prob, sampled.n_draws, sampled.method)
    quantity = f"epsilon at delta {delta:.3g}, from below"
    rests_on = (Stated.DENSITY,)
    return Witness(
        "epsilon by the stated law", CheckRole.REPORTS, quantity, 0.0, math.inf, None, bound, rests_on=rests_on
    )


def _contradicted(epsilon: float, exact: Estimate, sampled: Estimate) -> Witness:
    """Return the witness of a stated profile that the draws contradict: a false word, and no defect of ours."""
    gap = Estimate(0.0, 0.0, 0.0, sampled.failure_prob, sampled.n_draws, sampled.method)
    words = f"the stated profile says {exact.value:.4g}, the draws say {sampled.low:.4g} to {sampled.high:.4g}"
    quantity = f"whether the stated profile agrees with the draws at epsilon {epsilon:.4g} (0 no, 1 yes)"
    return Witness(
        "stated profile",
        CheckRole.STATES,
        quantity,
        1.0,
        1.0,
        sampled=gap,
        words=words,
        tests=Stated.PROFILE,
        rests_on=(Stated.DENSITY,),
    )


def _covered(worst: StatedProfile, claim: PrivacyClaim) -> Witness:
    words = "worst_profile, which is somebody's word; it was held against the draws of this pair"
    if claim.curve is not None:
        exact = Estimate.proved(0.0, 0.0, "closed form, as stated")
        quantity = "whether worst_profile exceeds the claimed curve (0 no, 1 yes)"
        return _stated_worst(quantity, 0.0, exact, words)
    exact = Estimate.proved(0.0, stated_delta(worst, claim.epsilon, claim.delta), "worst_profile, as stated")
    quantity = f"delta at epsilon {claim.epsilon:.4g} against the claim, worse direction"
    return _stated_worst(quantity, claim.delta, exact, words)


def _stated_worst(quantity: str, allowed: float, exact: Estimate, words: str) -> Witness:
    rests_on = (Stated.WORST_CASE,)
    return Witness(
        "stated worst case", CheckRole.DECIDES, quantity, 0.0, allowed, exact, words=words, rests_on=rests_on
    )


def _claimed_epsilons(claim: PrivacyClaim) -> list[float]:
    if claim.curve is None:
        return [claim.epsilon]
    return sorted({claim.epsilon, *(m * claim.epsilon for m in (0.0, *MULTIPLES))})


def _black_box(pair: Any, claim: PrivacyClaim, view: RecordedView, budget: Budget) -> Iterator[Witness]:
    """Yield what outputs alone say: the test of the claim, the epsilon it certifies, and what the bits give away."""
    audit = black_box_audit(view, pair, claim.black_box(), budget)
    yield _claim_witness(audit)
    allowed = claim.epsilon if claim.curve is None else math.inf
    yield _bound_witness("black box: epsilon", CheckRole.REFUTES, audit.epsilon, allowed)
    if audit.floating_point is not None:
        yield _bound_witness("black box: floating-point grid", CheckRole.REPORTS, audit.floating_point, math.inf)


def _claim_witness(audit: BlackBoxResult) -> Witness:
    test = audit.claim_test
    notes: dict[str, Note] = {"direction": test.direction.name, "line": test.line, "epsilon": test.epsilon}
    notes |= {"delta claimed": test.claimed_delta}
    if test.hits is not None:
        notes["hits"] = str(test.hits)
    return of_test(
        "black box: the claim",
        test.p_value,
        test.failure_prob,
        audit.n_draws,
        refuted=test.refuted,
        words=test.event,
        notes=notes,
    )


def _bound_witness(about: str, role: CheckRole, bound: LowerBound, allowed: float) -> Witness:
    estimate = bound.estimate
    value = replace(estimate, value=max(estimate.value, estimate.low))
    words = bound.event
    return Witness(about, role, f"epsilon at delta {bound.delta:.3g}, from below", 0.0, allowed, None, value, words)
