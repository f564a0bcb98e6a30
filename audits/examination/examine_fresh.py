"""A pair once more, each data set in a process of its own: what is remembered of one does not reach the other there.

Draws of one process may agree with a claim only because something is kept between calls: the statistic of the data set
that came first, say. Derivation: ``docs/derivations/contract.md``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass, replace
from itertools import takewhile
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import special

from mechanisms.data.dataset import FloatArray

from ..black_box.black_box_audit import black_box_audit
from ..black_box.black_box_results import BlackBoxResult
from ..density_tests.stated_law import LawAudit, audit_loss
from ..error_budget import LedgerError
from ..estimate import Budget, StreamKey
from ..harness.contract import ContractFinding, ContractOutcome, Exact, same_law
from ..harness.fresh_process import Apart, FreshProcess, NoProcess, ProcessServer, own_server
from ..harness.guarded_subject import EncodedSubject
from ..stats.intervals import even_capital
from ..white_box.tails import payoff, slack
from .recorded import Recorded

if TYPE_CHECKING:
    from .examine_choose import Named
    from .examine_pair import PairWork

#: Share of a pair's failure probability that its draws in fresh processes may spend, and how it is split.
FRESH = 0.1
SHARES = {"ratio": 0.2, "delta": 0.25, "black box": 0.25, "second first": 0.15, "same law": 0.1, "again": 0.05}
#: Shares of a capital that are staked, and the smallest mean that is bet against.
STAKES, SMALLEST = np.geomspace(1e-4, 0.5, 12), 1e-5
#: A claimed epsilon and delta.
Point = tuple[float, float]
#: Pairs of an examination that are drawn in fresh processes too.
FRESH_PAIRS = 4
#: Draws of each data set there: this part of those in this process, and no fewer than these where there are as many.
PART, FEWEST_FRESH = 4, 500


@dataclass(frozen=True)
class FreshAudits:
    """What the draws in fresh processes say; nothing where there are none."""

    why: str = ""  #: why nothing was drawn there, or why not everything could be asked; empty otherwise
    ratio: LawAudit | None = None  #: the stated densities held against the draws
    #: whether delta by these densities is at most the claimed one; None where they are refuted, too
    delta: Exact | None = None
    #: the claim by draws alone: each data set in a process of its own, and both in one, the second one first
    own: BlackBoxResult | None = None
    second_first: BlackBoxResult | None = None
    #: whether the draws have the law of those in a process that has seen other data sets, and whether two processes
    #: that draw from one data set first, with other seeds, do not give the same outputs
    same: Exact | None = None
    again: Exact | None = None
    #: the largest epsilon tried at which the claimed delta is exceeded by these densities; 0 where none is
    epsilon: float = 0.0
    #: of the tests
    delta_level: float = 0.0
    same_level: float = 0.0
    again_level: float = 0.0
    n_draws: int = 0  #: of each data set in each sample

    @property
    def differs(self) -> bool:
        """Whether the draws are shown to have another law than those in a process that has seen other data sets."""
        return self.same is not None and self.same.p_value <= self.same_level


def n_fresh(n_each: int) -> int:
    """Return how many draws of each data set are made in fresh processes, where ``n_each`` are made in this one."""
    return min(n_each, max(FEWEST_FRESH, n_each // PART))


def fresh_pairs(pairs: Sequence[Named]) -> set[str]:
    """Return the names of the pairs that are drawn in fresh processes too: the smallest ones."""

    def size(named: Named) -> int:
        return sum(int(getattr(member, "n_records", 0)) for member in (named.pair.first, named.pair.second))

    return {named.name for named in sorted(pairs, key=size)[:FRESH_PAIRS]}


def fresh_finding(found: Sequence[FreshAudits], why: str) -> ContractFinding:
    """Return the check of the contract that the draws of some pairs in fresh processes give.

    ``why`` says why none was drawn so; it is empty where some were meant to be.
    """
    name, tested = "outputs do not depend on what was called before", [each for each in found if each.same is not None]
    both = [pair for each in tested for pair in ((each.same, each.same_level), (each.again, each.again_level))]
    tests = [(test, level) for test, level in both if test is not None and test.smallest <= level]
    n_draws, level = sum(2 * each.n_draws for each in tested), sum(level for _, level in tests)
    if not tests:
        reasons = [why, *(each.why for each in found), "" if tested else "no pair was compared", "too few draws"]
        words = "not drawn in a fresh process: " + next(reason for reason in reasons if reason)
        return ContractFinding(name, ContractOutcome.NOT_TRIED, words, 1.0, level, n_draws)
    worst, at = min(tests, key=lambda test: test[0].p_value / test[1])
    broken = worst.p_value <= at
    seen = (
        f"draws in fresh processes have another law: {worst.words}" if broken else f"{len(tested)} pairs were compared"
    )
    missed = next((f"; not everything was asked there: {each.why}" for each in found if each.why), "")
    outcome = ContractOutcome.VIOLATED if broken else ContractOutcome.OK
    return ContractFinding(name, outcome, seen + missed, worst.p_value, level, n_draws)


def fresh_audits(
    work: PairWork,
    recorded: Recorded,
    encoded: EncodedSubject,
    points: Sequence[Point],
    beyond: Sequence[float],
    *,
    dense: bool,
) -> FreshAudits:
    """Return what the draws of a pair in fresh processes say.

    ``work``: ``budget`` is that of this part. ``recorded``: the sample that was drawn in this process. ``points``: the
    claimed ones, at which delta by the stated law is asked. ``beyond``: multiples of the claimed epsilon, ascending, at
    which it is asked once a single claimed point is exceeded. ``dense``: whether the draws may be held against a stated
    density.
    """
    n_each = n_fresh(len(recorded.first))
    budget = replace(work.budget, n_draws=2 * n_each)
    apart = Apart(work.make, encoded.subject.views, work.deadline, encoded.layout, encoded.one_by_one)
    found, parts = FreshAudits(), budget.split(SHARES)
    try:
        server = _server(work)
        with ExitStack() as processes:
            first, second = (processes.enter_context(FreshProcess(server, apart)) for _ in range(2))
            source = ApartPair(encoded, work.pair, first, second)
            fresh = Recorded(source, work.pair, n_each, budget.key.child("sample"))
            found = FreshAudits(
                n_draws=n_each, same=_same(fresh, recorded), same_level=parts["same law"].spend("same law")
            )
            found = replace(found, own=_claim(work, fresh, parts["black box"]))
            if dense and recorded.rebuilt is not None:
                found = replace(found, why="the stated density is not asked there about outputs that are objects")
            elif dense and not fresh.symbols:
                found = _held(found, fresh, source, (points, beyond), parts)
        with FreshProcess(server, apart) as both:
            swapped = Recorded(
                SecondFirst(encoded, work.pair, both, both), work.pair, n_each, budget.key.child("swapped")
            )
            again = _again(fresh.second, swapped.second)
            found = replace(found, again=again, again_level=parts["again"].spend("again"))
            return replace(found, second_first=_claim(work, swapped, parts["second first"]))
    except NoProcess as stop:
        return replace(found, why=str(stop))


def _server(work: PairWork) -> ProcessServer:
    if work.make is not None:
        return own_server()
    if work.server is None:
        raise NoProcess("there is an object and no way to make it anew")
    return work.server


def _same(fresh: Recorded, recorded: Recorded) -> Exact:
    """Return the test of "rows of fresh processes and of this one have one law", on both data sets."""
    tests = []
    for words, one, other in (
        ("first data set", fresh.first, recorded.first),
        ("second data set", fresh.second, recorded.second),
    ):
        chosen = np.arange(len(one) + len(other)) < len(one)
        found = same_law(np.concatenate([one, other]), chosen)
        tests += [(p, f"{words}, {event}", least) for p, event, least in found]
    return Exact.of(tests)


def _again(one: FloatArray, other: FloatArray) -> Exact:
    """Return the test of "two processes with other seeds do not give the same outputs" on one data set.

    Given the first sample, with counts ``c`` of its ``n`` rows, independent draws of any law give the same rows again
    with probability at most ``n! / prod(c!) prod((c / n)^c)``, that of the law which makes it likeliest.
    """
    (values, counts), (others, repeats) = (np.unique(rows, axis=0, return_counts=True) for rows in (one, other))
    n = len(one)
    log_p = special.gammaln(n + 1) - special.gammaln(counts + 1).sum() + (counts * np.log(counts / n)).sum()
    alike = values.shape == others.shape and np.array_equal(values, others) and np.array_equal(counts, repeats)
    least = float(np.exp(min(0.0, log_p)))
    return Exact.of([(least if alike else 1.0, "the same outputs in two processes with other seeds", least)])


def _claim(work: PairWork, sample: Recorded, budget: Budget) -> BlackBoxResult | None:
    if work.claim is None:
        return None
    return black_box_audit(sample.view(), work.pair, work.claim.black_box(), budget, lines=())


def _held(
    found: FreshAudits,
    fresh: Recorded,
    source: ApartPair,
    asked: tuple[Sequence[Point], Sequence[float]],
    parts: Mapping[str, Budget],
) -> FreshAudits:
    """Return it with the stated densities, each asked in the process of its data set."""
    (points, beyond), level = asked, parts["delta"].spend("delta by the stated law")
    try:
        view = fresh.view(source)
        ratio = audit_loss(view, fresh.pair, parts["ratio"])
        found = replace(found, ratio=ratio, delta_level=level)
        if ratio.refuted or not points:
            return found
        view = fresh.view(source)
        losses = {"first": view.privacy_loss(fresh.first, fresh.pair)}
        losses["second"] = -view.privacy_loss(fresh.second, fresh.pair)
    except LedgerError:  # a defect of ours
        raise
    except Exception as stop:  # the mechanism's own function: what its draws say stays
        raised = str(stop) if isinstance(stop, NoProcess) else f"it raised {type(stop).__name__}"
        return replace(found, why=f"the stated density was not asked: {raised}")
    exceeded = 0.0
    if len(points) == 1:  # in a fixed order, up to the first that is not exceeded: each at the whole level
        ((epsilon, delta),) = points
        tried = (m * epsilon for m in (1.0, *beyond))
        exceeded = max(takewhile(lambda e: _exceeds(losses, [(e, delta)]).p_value <= level, tried), default=0.0)
    return replace(found, delta=_exceeds(losses, points), epsilon=exceeded)


def _exceeds(losses: Mapping[str, FloatArray], points: Sequence[Point]) -> Exact:
    """Return the test of "delta by the stated densities is at most the claimed one", at every point both ways."""
    tests = []
    for words, sample in losses.items():
        for epsilon, delta in points:
            gains = np.maximum(payoff(sample, epsilon) - slack(epsilon), 0.0)
            seen = f"{gains.mean():.3g} by {len(gains)} draws of the {words} data set"
            tests.append((more_than(gains, delta), f"delta at epsilon {epsilon:.4g} against {delta:.3g}: {seen}", 0.0))
    return Exact.of(tests)


def more_than(gains: FloatArray, allowed: float) -> float:
    """Return a valid p-value of "the mean of these independent values in [0, 1] is at most ``allowed``".

    At least ``SMALLEST`` is allowed: densities are computed in floats, and in single precision where an author does so.

    A gambler at mixed stakes multiplies a capital of 1 by ``1 + stake (gain / allowed - 1)``, never below 0; under the
    hypothesis that is a non-negative supermartingale (Ville).
    """
    if allowed >= 1:
        return 1.0
    over = gains / max(allowed, SMALLEST) - 1.0
    return float(np.exp(-even_capital([np.cumsum(np.log1p(stake * over)) for stake in STAKES.tolist()])))


class ApartPair:
    """A mechanism whose data sets are drawn from, and whose density is asked, in a process each."""

    def __init__(self, encoded: EncodedSubject, pair: Any, first: FreshProcess, second: FreshProcess) -> None:
        self.name, self._pair, self._processes = encoded.name, pair, (first, second)
        self._refusals = encoded.refusals

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return rows of one of the data sets.

        Raises ``NoProcess`` if it is always refused there and is not here: there, it begins in an empty folder.
        """
        place = self._place(dataset)
        rows, refusal = self._processes[place].draw(dataset, n_draws, rng)
        if refusal is not None and self._refusals[place] is None:
            raise NoProcess(f"it answers nothing in an empty folder ({refusal.kind})")
        return rows

    def log_density(self, outputs: FloatArray, dataset: Any) -> Any:
        """Return the log density that is stated in the process of this data set."""
        return self._processes[self._place(dataset)].log_density(outputs, dataset)

    def _place(self, dataset: Any) -> int:
        return 0 if dataset is self._pair.first else 1


class SecondFirst(ApartPair):
    """A mechanism whose data sets are drawn from in one process, the second one first."""

    def draw_both(self, n_each: int, key: StreamKey) -> tuple[FloatArray, FloatArray, float]:
        """Return rows of either data set, and the share of the failure probability that they may be asked for."""
        second = self.draw(self._pair.second, n_each, rng=key.child("second").rng())
        return self.draw(self._pair.first, n_each, rng=key.child("first").rng()), second, 1.0
