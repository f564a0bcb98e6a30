"""The audit of a mechanism whose draws are dear: a pilot chooses one pair, and bets on it go on until they refute.

``budget.n_draws`` counts every draw. A quarter of them at most is a pilot of all pairs; it chooses the pair whose two
data sets are told apart best and is never bet on. The rest is drawn from that pair in small blocks, by fair coins; each
block is bet on by what was seen before it. The claim is refuted as soon as the wealth is 1 / ``failure_prob`` (Ville's
inequality), whatever the outputs are. Derivation: ``docs/derivations/sparing.md``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mechanisms.data.dataset import FloatArray
from mechanisms.data.neighbours import UnsupportedRelation

from ..black_box.black_box_bet import MAX_EPSILON, Pair, Point
from ..black_box.black_box_lines import bet_points
from ..black_box.black_box_results import BlackBoxOutcome
from ..black_box.claims import PrivacyClaim
from ..estimate import Budget, Result, StreamKey
from ..harness.calls import Deadline, Handed, OpenCall, OutOfTime, guarded
from ..harness.guarded_subject import Subject, always_refused, call_plan
from ..harness.open_subject import OpenSubject, subject_of
from ..harness.output_leaves import at_every_call
from ..harness.outputs import WHOLE, Layout
from ..harness.returned import Outputs
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from .sparing_bets import Player

Sides = tuple[list[Outputs], list[Outputs]]


def drawn(subject: Subject, members: Sequence[Any], coins: NDArray[np.bool_], key: StreamKey) -> Sides:
    """Return a draw of the first data set for each coin that says so, and one of the second for each other coin.

    Calls are made, or begin where they may be open together, in the order of the coins: load, and what calls share with
    each other, falls on both data sets alike. How many of them are on fresh objects does not depend on the coins.
    """
    seeds = key.child("calls").rng().integers(2**63, size=len(coins)).tolist()
    places = [0 if coin else 1 for coin in coins]
    if isinstance(subject, OpenSubject):
        wanted = [OpenCall(members[place], 1, False, seed) for place, seed in zip(places, seeds, strict=True)]
        parts = subject.ask(wanted, None).parts
    else:
        parts = _in_turn(subject, members, places, seeds)
    first, second = ([part for part, at in zip(parts, places, strict=True) if at == place] for place in (0, 1))
    return list(chain(*first)), list(chain(*second))


def _in_turn(
    subject: Subject, members: Sequence[Any], places: Sequence[int], seeds: Sequence[int]
) -> list[list[Outputs]]:
    """Return the outputs of calls that are made one after the other, on one used object but for a few."""
    plan = call_plan(len(places), one_by_one=True)
    with guarded():
        used, handed = subject.new(), [Handed(member) for member in members]
        return [
            subject.call(subject.new() if planned.fresh else used, handed[place], 1, seed)
            for planned, place, seed in zip(plan, places, seeds, strict=True)
        ]


@dataclass(frozen=True)
class PilotPair:
    """A pair with what its pilot gave: outputs that are learned from and never bet on."""

    named: NamedPair | NamedGroupPair
    first: list[Outputs]
    second: list[Outputs]

    @property
    def members(self) -> tuple[Any, Any]:
        """The two data sets."""
        return self.named.pair.first, self.named.pair.second

    @property
    def refused(self) -> bool:
        """Whether both data sets were refused at every draw, in the same way."""
        why = always_refused(self.first)
        return why is not None and why == always_refused(self.second)

    def more(self, subject: Subject, n_each: int, key: StreamKey) -> PilotPair:
        """Return the pair with ``n_each`` further draws of each data set."""
        coins = key.child("coins").rng().permutation(np.arange(2 * n_each) < n_each)
        first, second = drawn(subject, self.members, coins, key)
        return PilotPair(self.named, self.first + first, self.second + second)

    def layout(self, subject: Subject) -> Layout:
        """Return the columns of outputs, learned from the pilot alone; at least one, outputs without numbers too."""
        layout = Layout.learn([*self.first, *self.second], views=subject.views)
        if layout.structure is None or layout.n_numbers:
            return layout
        return replace(layout, structure=None, columns=(WHOLE,))

    def rows(self, layout: Layout) -> Pair:
        """Return the pilot as float rows."""
        return encoded(self.first, layout), encoded(self.second, layout)


def encoded(parts: Sequence[Outputs], layout: Layout) -> FloatArray:
    """Return outputs as float rows."""
    if not parts:
        return np.empty((0, layout.width))
    return np.concatenate([layout.encode(part) for part in parts])


#: Draws of each data set of every pair in the first round of the pilot, and fewest; how many times that in the second.
ROUND, LEAST_ROUND, SECOND_ROUND = 6, 3, 3
#: In the second round of the pilot one of so many pairs is left, and so many at least.
KEPT_PAIRS, LEAST_PAIRS = 3, 2
#: Draws of all for each pair and each draw of the first round: the pilot then has a quarter of them at most.
SPREAD = 32
#: Fewest draws of an audit.
LEAST_DRAWS = 100
#: Fewest draws of a block, and its share of the draws of the pair so far.
BLOCK, BLOCK_SHARE = 12, 0.12
#: A claimed curve is bet against where its delta first falls to these.
SPARING_DELTAS = (0.3, 0.2, 0.1, 0.01, 1e-3, 1e-6)

#: Larger epsilons are bet against in turn, each so many times the one before and at least so much larger, so many.
LARGER, LARGER_BY, MOST_LARGER = 1.02, 0.002, 80

#: The claim that outputs say nothing.
ALIKE = Point(0.0, 0.0, 0.0)

Named = NamedPair | NamedGroupPair


@dataclass(frozen=True, repr=False)
class SparingAudit(Result):
    """How far the wealth of bets against a claim grew; it refutes or says nothing.

    Attributes
    ----------
    mechanism : str
    claim : PrivacyClaim
    pair : str, the pair that was bet on; empty where none was
    event : str
        On what the best bet is, in words.
    hits : str, how often that happened in the draws of either data set that were bet on
    epsilon : float
        The largest epsilon, at the claimed delta, that the same draws refute with ``failure_prob`` of all: the true one
        is larger. nan where none beyond the claimed one is refuted, and of a curve.
    point : Point or None, the claimed point that this bet is against
    wealth : tuple of (int, float)
        Draws so far, the pilot included, and the log of the wealth after them; begins with the pilot and 0.
    failure_prob : float, of the whole audit
    n_draws : int, draws asked for, all together
    unreached, spared : str
        Why it stopped before its draws were spent, and what was left out of the pilot; empty where nothing was.
    refused : bool, whether no call gave an output
    cut : bool
        Whether it was time, or an answer that did not come, that stopped it: gone on with, it may say more.
    """

    mechanism: str
    claim: PrivacyClaim
    pair: str
    event: str
    point: Point | None
    wealth: tuple[tuple[int, float], ...]
    failure_prob: float
    n_draws: int
    unreached: str = ""
    spared: str = ""
    cut: bool = False
    refused: bool = False
    hits: str = ""
    epsilon: float = math.nan

    @property
    def log_wealth(self) -> float:
        """The largest log of the wealth."""
        return max((log for _, log in self.wealth), default=0.0)

    @property
    def refuted(self) -> bool:
        """Whether the claim is refuted."""
        return self.log_wealth >= -math.log(self.failure_prob)

    @property
    def p_value(self) -> float:
        """Of the claim, at most ``failure_prob`` exactly when it is refuted."""
        p_value = math.exp(-max(self.log_wealth, 0.0))
        return min(p_value, self.failure_prob) if self.refuted else max(p_value, math.nextafter(self.failure_prob, 1))

    @property
    def outcome(self) -> BlackBoxOutcome:
        """Refuted, or not."""
        return BlackBoxOutcome.REFUTED if self.refuted else BlackBoxOutcome.NOT_REFUTED

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "outcome": self.outcome,
            "mechanism": self.mechanism,
            "claim": self.claim.sentence,
            "p_value": self.p_value,
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
            "pair": self.pair,
            "event": self.event,
            "unreached": self.unreached,
        }


def audit_sparingly(
    mechanism: Any,
    pairs: Sequence[Named],
    claim: PrivacyClaim,
    budget: Budget,
    *,
    views: Sequence[Callable[[Any], Any]] = (),
    make: Callable[[], Any] | None = None,
    deadline: Deadline | None = None,
) -> SparingAudit:
    """Return whether draws refute a claim, from as few of ``budget.n_draws`` as that takes.

    Every draw is a call of its own, and calls are made in the order of the coins. What a call remembers of how many
    came before it then falls on both data sets alike; a mechanism that remembers data of calls before, or their
    outputs, is outside of the claim, and nothing here looks for it.

    Parameters
    ----------
    mechanism : object, with ``draw(dataset, n_draws, *, rng)``; outputs of any type
    pairs : sequence of NamedPair, of relations that the claim covers, with distinct names
    claim : PrivacyClaim
        A point, or a curve, which is bet against at a few of its points.
    budget : Budget
        All draws (at least 100), failure probability and random stream; the result is a function of it where the
        mechanism takes its noise from ``rng``.
    views : sequence of callables
        See ``Subject``: what is read from an output that shows nothing of itself.
    make : callable, optional
        Gives a pristine mechanism, for each block of draws and some calls of it. By default every call is made on
        ``mechanism`` itself and nothing is copied: copies would repeat the noise of a generator that it holds.
    deadline : Deadline, optional, no call is begun after it; what was bet on by then counts

    Returns
    -------
    SparingAudit
        Its ``outcome`` never says that the claim holds.

    Raises
    ------
    ValueError
        If there is no pair, two have one name, a pair is not of a relation that the claim covers, or the draws are too
        few.

    References
    ----------
    Ville 1939; Gonzalez et al. 2025.

    Examples
    --------
    >>> import numpy as np
    >>> from audits import Budget, StreamKey, point_claim
    >>> from audits.search import NamedPair
    >>> from audits.sequential import audit_sparingly
    >>> from mechanisms import Dataset, NeighbouringPair
    >>> class HalfTheNoise:
    ...     def draw(self, dataset, n_draws, *, rng):
    ...         return dataset.n_records + rng.laplace(scale=0.5, size=n_draws)
    >>> one = Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0, name="one", public=True)
    >>> pairs = [NamedPair("one against two", NeighbouringPair.add(one, [1.0], 0.0))]
    >>> seen = audit_sparingly(HalfTheNoise(), pairs, point_claim(1.0, 0.0), Budget(2_000, 1e-4, StreamKey(1)))
    >>> seen.refuted, seen.n_draws < 1_000
    (True, True)
    """
    _check(pairs, claim, budget)
    subject = subject_of(mechanism, fresh=make or (lambda: mechanism), views=views, deadline=deadline)
    audit = _Audit(subject, claim, budget)
    try:
        audit.run(pairs)
    except OutOfTime as stop:
        audit.cut = True
        audit.unreached = str(stop) or "the time was up before the draws were spent"
    return audit.result()


def _check(pairs: Sequence[Named], claim: PrivacyClaim, budget: Budget) -> None:
    if not pairs:
        raise ValueError("pairs must not be empty, got pairs=()")
    if len({named.name for named in pairs}) != len(pairs):
        raise ValueError("pairs must have distinct names, got a name twice")
    if budget.n_draws < LEAST_DRAWS:
        raise ValueError(f"n_draws must be at least {LEAST_DRAWS}, got n_draws={budget.n_draws}")
    for named in pairs:
        if named.pair.relation not in claim.relations:
            covered = ", ".join(relation.name for relation in claim.relations)
            raise UnsupportedRelation(
                f"relation must be one of {covered} as in the claim, got {named.pair.relation.name}"
            )


class _Audit:
    """One audit under way: what is left when the time is up is what was known by then."""

    def __init__(self, subject: Subject, claim: PrivacyClaim, budget: Budget) -> None:
        self._subject, self._claim, self._budget = subject, claim, budget
        box = claim.black_box()
        self._points = [p for p in bet_points(box, box.points(), SPARING_DELTAS) if p.epsilon <= MAX_EPSILON]
        self._pair = ""
        self._player: Player | None = None
        self._pilot: Pair | None = None
        self._blocks: list[Pair] = []
        self._wealth: list[tuple[int, float]] = []
        self.unreached = self.spared = ""
        self.cut = self.refused = False

    @property
    def _used(self) -> int:
        return self._subject.ledger.evaluations

    def run(self, pairs: Sequence[Named]) -> None:
        if not self._points:
            self.unreached = f"no epsilon beyond {MAX_EPSILON:g} can be refuted by counting"
            return
        chosen = self._chosen(pairs)
        if chosen is None:
            self.refused = True
            return
        pilot, self._pair = chosen, chosen.named.name
        layout = pilot.layout(self._subject)
        self._pilot = pilot.rows(layout)
        player = self._player = Player(self._pilot, self._points)
        self._wealth.append((self._used, 0.0))
        key, of_pair = self._budget.key.child("bets"), sum(len(part) for part in (*pilot.first, *pilot.second))
        enough = -math.log(self._budget.spend("the claim"))
        while (left := self._budget.n_draws - self._used) > 0 and self._wealth[-1][1] < enough:
            size = min(left, max(BLOCK, math.ceil(BLOCK_SHARE * of_pair)))
            block = key.child(str(len(self._wealth)))
            coins = block.child("coins").rng().random(size) < 0.5
            first, second = drawn(self._subject, pilot.members, coins, block)
            self._blocks.append((encoded(first, layout), encoded(second, layout)))
            self._wealth.append((self._used, self._wealth[-1][1] + player.bet(self._blocks[-1])))
            of_pair += size

    def _chosen(self, pairs: Sequence[Named]) -> PilotPair | None:
        """Return the pair that is told apart best after two rounds of the pilot; None where all are refused."""
        most = max(1, self._budget.n_draws // (SPREAD * LEAST_ROUND))
        if len(pairs) > most:
            self.spared = f"{len(pairs) - most} of {len(pairs)} pairs of data sets were left out of the pilot"
            pairs = pairs[:most]
        n_each = min(ROUND, self._budget.n_draws // (SPREAD * len(pairs)))
        key = self._budget.key.child("pilot")
        once = [PilotPair(named, [], []).more(self._subject, n_each, key.child(named.name)) for named in pairs]
        why = [str(always_refused(pilot.first)) for pilot in once if pilot.refused]
        once = [pilot for pilot in once if not pilot.refused]
        if not once:
            self.unreached = at_every_call(why)
        if len(once) < 2:
            return once[0] if once else None
        best = sorted(once, key=self._promise, reverse=True)[: max(LEAST_PAIRS, math.ceil(len(once) / KEPT_PAIRS))]
        twice = [p.more(self._subject, SECOND_ROUND * n_each, key.child(p.named.name, "again")) for p in best]
        return max(twice, key=self._promise)

    def _promise(self, pilot: PilotPair) -> float:
        """Return how well the two data sets are told apart; few draws say hardly more than that of any claim."""
        return Player(pilot.rows(pilot.layout(self._subject)), [ALIKE]).promise

    def _least_epsilon(self, enough: float) -> float:
        """Return the last of a fixed sequence of larger epsilons each of which the same draws refute; nan for none.

        Whatever the true epsilon is, it is called too small only if the first of the sequence that is not below it is
        refuted, which has the failure probability of one bet: none is spent twice.
        """
        least, epsilon = math.nan, self._claim.epsilon
        for _ in range(MOST_LARGER):
            epsilon = max(LARGER * epsilon, epsilon + LARGER_BY)
            points = [replace(point, epsilon=epsilon) for point in self._points]
            if self._claim.curve is not None or epsilon > MAX_EPSILON or not self._refuted(points, enough):
                break
            least = epsilon
        return least

    def _refuted(self, points: Sequence[Point], enough: float) -> bool:
        """Return whether bets on the same draws refute other points."""
        assert self._pilot is not None
        player, wealth = Player(self._pilot, points), 0.0
        for block in self._blocks:
            wealth += player.bet(block)
            if wealth >= enough:
                return True
        return False

    def result(self) -> SparingAudit:
        event, point, seen = "", None, ""
        if self._player is not None and len(self._wealth) > 1:
            sets, point, hits = self._player.best()
            event, seen = ("", "") if sets is None else (sets.event, str(hits))
        found = SparingAudit(
            self._subject.name,
            self._claim,
            self._pair,
            event,
            point,
            tuple(self._wealth),
            self._budget.failure_prob,
            self._used,
            self.unreached,
            self.spared,
            self.cut,
            self.refused,
            seen,
        )
        return replace(found, epsilon=self._least_epsilon(-math.log(found.failure_prob))) if found.refuted else found
