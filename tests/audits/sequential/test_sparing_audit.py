"""Sparing audits: the wealth is that of the definition, its mean is at most 1, and what is false is refuted soon."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.audits.open_doors import OpenDoor, laplace
from oracles.audits.sequential import bet_on_odds, bet_on_sets, excess, expected_factor, log_growth

from audits import Budget, StreamKey, gaussian_dp_claim, point_claim
from audits.black_box.black_box_bet import Point, ScoreInterval
from audits.black_box.black_box_families import FAMILIES, column_score
from audits.black_box.black_box_scores import NamedScore
from audits.harness.calls import Deadline, NoAnswer
from audits.harness.open_subject import subject_of
from audits.search import NamedPair
from audits.sequential import audit_sparingly
from audits.sequential.sparing_audit import BLOCK, LEAST_DRAWS, LEAST_ROUND, SPREAD, drawn
from audits.sequential.sparing_bets import (
    BELIEVED,
    MOST,
    STAKES,
    LabelSets,
    Player,
    Scored,
    bets_on_ends,
    bets_on_learned,
    bets_on_odds,
)
from mechanisms import Dataset, NeighbouringPair, Relation
from mechanisms.data.neighbours import UnsupportedRelation

RELATIONS = (Relation.ADD, Relation.REMOVE)
ONE = Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 4.0, name="one", public=True)
CLAIM = point_claim(1.0, 0.0)
POINTS = (Point(1.0, 0.0, 0.0), Point(0.3, 0.1, 0.2))
LEVEL = 1e-4


def pairs(sizes):
    """Pairs of data sets whose sums differ by so much."""
    return [NamedPair(f"{size:g} more", NeighbouringPair.add(ONE, [1.0], size)) for size in sizes]


class Sum:
    """The sum of the responses with noise."""

    def __init__(self, scale=1.0, after=float):
        self.scale, self.after, self.asked = scale, after, 0

    def draw(self, dataset, n_draws, *, rng):
        self.asked += n_draws
        values = dataset.y.sum() + self.scale * rng.laplace(size=n_draws)
        return [self.after(value) for value in values]


class OwnGenerator(Sum):
    """The same with a generator of its own, which goes on from call to call."""

    def __init__(self, scale=1.0):
        super().__init__(scale)
        self.generator = np.random.default_rng(11)

    def draw(self, dataset, n_draws, *, rng):
        return super().draw(dataset, n_draws, rng=self.generator)


class CallNumber:
    """Which call of a dozen it is, from 0; a dozen calls are the first blocks."""

    def __init__(self):
        self.calls = 0

    def draw(self, dataset, n_draws, *, rng):
        self.calls += 1
        return np.full((n_draws, 1), (self.calls - 1.0) % BLOCK)


def sample(rng, n, gap):
    return gap + rng.laplace(size=(n, 1)), rng.laplace(size=(n, 1))


def test_the_growth_of_every_bet_is_that_of_the_definition():
    rng = np.random.default_rng(4)
    past, draws = sample(rng, 40, 1.5), (sample(rng, 7, 1.5)[0], sample(rng, 9, 1.5)[1])
    plain = (draws[0][:, 0].tolist(), draws[1][:, 0].tolist())
    for bets in (bets_on_ends(past, POINTS), bets_on_learned(past, POINTS)):
        for i, grown in list(enumerate(bets.growth(draws, POINTS)))[:: 1 + len(bets.place) // 60]:
            sets, point = bets.named(i, POINTS)
            if sets is None:
                assert grown == 0
                continue
            twin = bet_on_sets(sets, lambda x, s=sets: float(s.score(np.array([[x]]))[0]), bets.share[i], point)
            assert grown == pytest.approx(log_growth(plain, twin, point), rel=1e-9, abs=1e-9)
    odds = bets_on_odds(past, POINTS)
    (score,) = odds.scores
    expected = [
        log_growth(plain, bet_on_odds(lambda x: float(score(np.array([[x]]))[0]), believed, most, point), point)
        for believed in BELIEVED
        for most in MOST
        for point in POINTS
    ]
    np.testing.assert_allclose(odds.growth(draws, POINTS), expected, rtol=1e-9, atol=1e-9)


laws = st.lists(st.floats(0.0, 1.0), min_size=4, max_size=4).filter(lambda law: sum(law) > 0.1)


@given(laws, laws, st.floats(0.0, 3.0), st.integers(0, 2**32 - 1))
def test_no_bet_has_a_mean_above_one_where_the_claim_is_true_with_equality(one, two, epsilon, seed):
    """Finite laws, atoms and all; the claimed deltas are the exact ones of either direction."""
    first, second = (np.array(law) / sum(law) for law in (one, two))
    point = Point(epsilon, excess(first, second, epsilon), excess(second, first, epsilon))
    rng = np.random.default_rng(seed)
    past = tuple(rng.choice(4, size=(20, 1), p=law).astype(float) for law in (first, second))
    for bets in (bets_on_ends(past, [point]), bets_on_learned(past, [point])):
        for i in rng.choice(len(bets.place), size=min(8, len(bets.place)), replace=False):
            sets, _ = bets.named(int(i), [point])
            if sets is not None:
                twin = bet_on_sets(sets, lambda x, s=sets: float(s.score(np.array([[x]]))[0]), bets.share[i], point)
                assert expected_factor(first, second, twin, point) <= 1 + 1e-12
    (score,) = bets_on_odds(past, [point]).scores
    twin = bet_on_odds(lambda x: float(score(np.array([[float(x)]]))[0]), 1.0, MOST[-1], point)
    assert expected_factor(first, second, twin, point) <= 1 + 1e-12


def test_a_bet_on_a_claim_that_is_false_has_a_mean_above_one():
    first, second, point = (0.9, 0.1), (0.1, 0.9), Point(1.0, 0.0, 0.0)
    twin = bet_on_odds(lambda x: math.log(9) * (1 - 2 * x), 1.0, 0.95, point)
    assert expected_factor(first, second, twin, point) > 1.05


def test_the_wealth_of_a_player_is_a_mixture_decided_before_the_draws():
    rng = np.random.default_rng(8)
    player, twin = (Player(sample(np.random.default_rng(3), 12, 2.0), POINTS) for _ in range(2))
    draws = sample(rng, 6, 2.0)
    ends, learned = twin._ends, twin._learned()
    weights = twin._weights(learned)
    growth = np.concatenate([[0.0], *(bets.growth(draws, POINTS) for bets in (ends, *learned))])
    assert weights.sum() == pytest.approx(1.0)
    assert (weights >= 0).all()
    assert player.bet(draws) == pytest.approx(math.log(math.fsum(weights * np.exp(growth))))
    assert len(learned[0].share) == len(FAMILIES) * len(POINTS) * len(STAKES) * 3


def test_equal_outputs_have_equal_scores_whatever_their_label():
    """Sums of products differ in the last bit with the number of rows; atoms must not be told apart by that."""
    rng = np.random.default_rng(5)
    atoms, weights = rng.normal(size=(6, 40)), rng.normal(size=40)
    places = rng.integers(6, size=64)
    for n_first in (0, 1, 5, 63):
        draws = atoms[places[:n_first]], atoms[places[n_first:]]
        scores = np.concatenate(Scored(draws)(NamedScore("a sum of products", lambda rows: rows @ weights)))
        np.testing.assert_allclose(scores, atoms[places] @ weights, rtol=1e-12)
        assert len(np.unique(scores)) == 6
    assert [len(part) for part in Scored((atoms[:0], atoms[:0]))(column_score(0, 40))] == [0, 0]


def test_of_a_bet_both_ways_the_one_that_won_is_shown():
    above, below = ScoreInterval(3.0, math.inf), ScoreInterval(-math.inf, -3.0)
    both = LabelSets(column_score(0, 1), above, below)
    none, some = np.zeros(9), np.array([0.0, -4.0, -5.0, 0.0])
    for scores, shown, hits in (((none, some), below, "0 of 9 against 2 of 4"), ((-some, none), above, "2 of 4 ag")):
        way = both.better_way(scores, 0.5, POINTS[0])
        assert {way.forward, way.backward} == {shown, None}
        assert str(way.hits(scores)).startswith(hits)
    losing = np.array([4.0, 4.0, 4.0, 0.0])
    assert both.better_way((losing, np.append(losing, -4.0)), 0.95, POINTS[0]).forward is None
    assert LabelSets(column_score(0, 1), above, None).better_way((none, none), 0.5, POINTS[0]).forward is above


@pytest.mark.parametrize("rows", [np.full((6, 1), np.nan), np.full((6, 1), np.inf), np.full((6, 3), 2.0)])
def test_outputs_that_say_nothing_earn_nothing(rows):
    player = Player((rows, rows), POINTS)
    assert player.bet((rows, rows[:5])) <= 0


@pytest.mark.parametrize("after", [float, lambda x: f"about {x:.3f}", lambda x: {"value": x, "kind": "sum"}])
def test_a_quarter_of_the_noise_is_refuted_on_the_pair_that_shows_it(after):
    mechanism = Sum(0.25, after)
    audit = audit_sparingly(mechanism, pairs([0.01, 0.02, 1.0, 0.03]), CLAIM, Budget(1_500, LEVEL, StreamKey(2)))
    assert audit.refuted
    assert audit.pair == "1 more"
    assert audit.p_value <= LEVEL
    assert "data set: " in audit.event
    assert " against " in audit.hits
    assert audit.n_draws < 800
    assert [log for _, log in audit.wealth[:-1]] == [log for _, log in audit.wealth if log < -math.log(LEVEL)]


def test_the_least_epsilon_of_a_refuted_claim_is_larger_than_the_claimed_one_and_no_larger_than_the_true_one():
    """Null: the true epsilon is 1, of Laplace noise; of each audit the bound is larger with probability 1e-4."""
    audit = audit_sparingly(Sum(), pairs([1.0]), point_claim(0.2, 0.0), Budget(3_000, LEVEL, StreamKey(1)))
    assert audit.refuted
    assert 0.2 < audit.epsilon <= 1.0
    again = audit_sparingly(Sum(), pairs([1.0]), point_claim(audit.epsilon, 0.0), Budget(3_000, LEVEL, StreamKey(1)))
    assert again.refuted
    assert again.n_draws <= audit.n_draws


@pytest.mark.slow
def test_the_wealth_against_a_larger_epsilon_has_a_mean_of_one_at_most_where_that_is_the_true_one():
    """Null: the true epsilon is 1; 60 audits at level 0.2 exceed it 27 times at most, but with probability 1e-5."""
    level, over = 0.2, 0
    for seed in range(60):
        audit = audit_sparingly(Sum(), pairs([1.0]), point_claim(0.9, 0.0), Budget(150, level, StreamKey(seed)))
        over += audit.epsilon > 1
    assert over <= 27


@pytest.mark.parametrize("kind", [Sum, OwnGenerator])
def test_the_right_noise_is_not_refuted_and_no_draw_is_made_beyond_the_budget(kind):
    """Null: Laplace noise at exactly epsilon 1, from \\``rng\\`` or its own generator; level 1e-4, 2 audits each."""
    for seed in range(2):
        mechanism = kind(1.0)
        audit = audit_sparingly(mechanism, pairs([1.0, 0.5]), CLAIM, Budget(200, LEVEL, StreamKey(seed)))
        assert not audit.refuted
        assert audit.p_value > LEVEL
        assert audit.n_draws == audit.wealth[-1][0] == 200
        assert audit.wealth[0][0] <= 50
        assert "NOT_REFUTED" in repr(audit)


def test_too_little_noise_of_its_own_generator_is_refuted():
    audit = audit_sparingly(OwnGenerator(0.25), pairs([1.0]), CLAIM, Budget(800, LEVEL, StreamKey(2)))
    assert audit.refuted


def test_what_calls_share_is_no_label():
    """Null: the output says which call it was, and nothing of the data; level 1e-4, an audit of 200 draws."""
    audit = audit_sparingly(CallNumber(), pairs([1.0]), CLAIM, Budget(200, LEVEL, StreamKey(3)))
    assert not audit.refuted
    assert audit.n_draws == 200


@pytest.mark.parametrize("n_first", [0, 3, 10])
def test_calls_are_made_in_the_order_of_the_coins_and_as_many_on_fresh_objects(n_first):
    made = []

    class Seen(Sum):
        def __init__(self):
            made.append(self)
            super().__init__()

    shared = CallNumber()
    coins = np.random.default_rng(n_first).permutation(np.arange(10) < n_first)
    members = pairs([1.0])[0].pair.first, pairs([1.0])[0].pair.second
    numbers = drawn(subject_of(shared, fresh=lambda: shared), members, coins, StreamKey(1))
    assert [[float(x[0]) for x in (part.values if hasattr(part, "values") else part)] for part in numbers[0]] == [
        [float(i)] for i in np.flatnonzero(coins)
    ]
    assert len(numbers[1]) == 10 - n_first
    drawn(subject_of(Seen(), fresh=Seen), members, coins, StreamKey(1))
    assert len(made) == 4
    assert sum(one.asked for one in made) == 10


@pytest.mark.parametrize("leak", [False, True])
def test_outputs_without_numbers_are_one_output(leak):
    class Empty:
        def draw(self, dataset, n_draws, *, rng):
            if leak and dataset.y.sum() > 0.5:
                raise ArithmeticError
            return np.zeros((n_draws, 0))

    audit = audit_sparingly(Empty(), pairs([1.0]), CLAIM, Budget(150, LEVEL, StreamKey(1)))
    assert audit.refuted is leak
    assert audit.n_draws == 150 or leak


def test_a_curve_is_attacked_where_it_is_weak():
    claim = gaussian_dp_claim(0.5)
    audit = audit_sparingly(Sum(0.1), pairs([1.0]), claim, Budget(1_000, LEVEL, StreamKey(1)))
    assert audit.refuted
    assert audit.point.epsilon < 2


def test_a_refusal_is_an_output():
    def refuse(value):
        if value > 0.5:
            raise ArithmeticError
        return 0.0

    audit = audit_sparingly(Sum(0.0, refuse), pairs([1.0]), CLAIM, Budget(400, LEVEL, StreamKey(1)))
    assert audit.refuted
    assert audit.n_draws < 150


def test_where_everything_is_refused_nothing_is_bet():
    def refuse(value):
        raise ArithmeticError

    mechanism = Sum(1.0, refuse)
    audit = audit_sparingly(mechanism, pairs([1.0, 2.0]), CLAIM, Budget(2_000, LEVEL, StreamKey(1)))
    assert not audit.refuted
    assert audit.refused
    assert audit.unreached.startswith("the code raised ")
    assert " at every call" in audit.unreached
    assert audit.n_draws < 50


@pytest.mark.parametrize(("n_pairs", "n_draws"), [(1, LEAST_DRAWS), (2, 220), (5, 200)])
def test_the_pilot_has_a_quarter_of_the_draws_at_most(n_pairs, n_draws):
    named = pairs(np.linspace(0.1, 1.0, n_pairs))
    audit = audit_sparingly(Sum(), named, CLAIM, Budget(n_draws, LEVEL, StreamKey(3)))
    assert audit.wealth[0][0] <= n_draws / 4
    left_out = n_pairs - n_draws // (SPREAD * LEAST_ROUND)
    assert bool(audit.spared) == (left_out > 0)


def test_the_same_for_any_number_of_open_calls():
    found = []
    for concurrency in (1, 8):
        door = OpenDoor(laplace(0.5), concurrency=concurrency)
        found.append(audit_sparingly(door, pairs([1.0, 0.5]), CLAIM, Budget(600, LEVEL, StreamKey(7))))
        assert {n for _, n in door.log.calls} == {1}
    assert found[0].wealth == found[1].wealth
    assert found[0].refuted


def test_when_nobody_answers_the_audit_ends_with_what_it_has():
    def body(self, dataset, n, rng):
        if len(self.log.calls) > 150:
            raise NoAnswer("nobody answers")
        return laplace(1.0)(self, dataset, n, rng)

    audit = audit_sparingly(OpenDoor(body), pairs([1.0]), CLAIM, Budget(600, LEVEL, StreamKey(7)))
    assert audit.unreached == "nobody answers"
    assert not audit.refuted
    late = audit_sparingly(Sum(), pairs([1.0]), CLAIM, Budget(600, LEVEL, StreamKey(7)), deadline=Deadline(0.0))
    assert late.wealth == ()
    assert late.unreached


def test_what_is_refused():
    budget = Budget(600, LEVEL, StreamKey(7))
    with pytest.raises(ValueError, match="n_draws must be at least 100, got n_draws=99"):
        audit_sparingly(Sum(), pairs([1.0]), CLAIM, Budget(99, LEVEL, StreamKey(7)))
    with pytest.raises(ValueError, match="must not be empty"):
        audit_sparingly(Sum(), [], CLAIM, budget)
    with pytest.raises(ValueError, match="distinct names"):
        audit_sparingly(Sum(), pairs([1.0, 1.0]), CLAIM, budget)
    with pytest.raises(UnsupportedRelation, match="relation must be one of REPLACE"):
        audit_sparingly(Sum(), pairs([1.0]), point_claim(1.0, 0.0, (Relation.REPLACE,)), budget)
    unseen = audit_sparingly(Sum(), pairs([1.0]), point_claim(60.0, 0.0), budget)
    assert "no epsilon beyond 50" in unseen.unreached
