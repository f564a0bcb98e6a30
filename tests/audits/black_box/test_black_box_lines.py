"""Betting, the label-blind test and the audit they are part of: twins, levels, power, and two traps."""

from __future__ import annotations

import math

import numpy as np
import pytest
from oracles.audits.black_box_bank import HARD, PAIR, PURE, TIGHT, Law, atom, claim
from oracles.audits.black_box_lines import best_gain, log_wealth, tail_with_bad
from oracles.false_alarm import reaches
from scipy import stats

from audits import Budget, StreamKey
from audits.black_box import black_box_bet, black_box_families
from audits.black_box.black_box_audit import audit_claim, black_box_audit
from audits.black_box.black_box_bet import Counted, Counts, Point, bet_against, label_test, log_evidence
from audits.black_box.black_box_events import FixedEvent, PointTradeOff, RankEvent, delta_lower, epsilon_lower
from audits.black_box.black_box_families import n_digits
from audits.black_box.black_box_lines import (
    BETTING_SHARE,
    BLIND_SHARE,
    RANK_SHARE,
    PointsLine,
    claim_level,
    visible_leak,
)
from audits.black_box.black_box_results import BlackBoxOutcome
from audits.black_box.black_box_samples import Choice, count_event
from audits.black_box.black_box_scores import raw_score


def budget(n_draws: int, *names: str, failure_prob: float = 1e-3) -> Budget:
    return Budget(n_draws, failure_prob, StreamKey(20241101, ("black box lines", *names)))


def most_allowed(runs: int, level: float) -> int:
    """Largest count of false alarms that has probability above 1e-7 when the rate is ``level`` at most."""
    return int(stats.binom.isf(1e-7, runs, level))


@pytest.mark.parametrize("seed", range(20))
def test_the_best_interval_is_that_of_brute_force(seed):
    rng = np.random.default_rng(seed)
    first, second = (rng.choice([-np.inf, *rng.normal(size=8), 1e150], 25) for _ in range(2))
    for gains in ((0.3, -0.8), (-0.5, 0.2)):
        interval = Counted.of(first, second).best(*gains)
        found = gains[0] * interval.holds(first).sum() + gains[1] * interval.holds(second).sum()
        assert found == pytest.approx(best_gain(first.tolist(), second.tolist(), *gains), abs=1e-12)


def test_growth_is_the_product_of_the_factors_pair_by_pair():
    rng = np.random.default_rng(5)
    x, y = rng.random(300) < 0.4, rng.random(300) < 0.2
    for epsilon, delta in ((1.0, 0.0), (0.0, 0.1), (2.0, 1e-3)):
        stake = 0.93 / (math.exp(epsilon) + delta)
        counts = Counts(int(x.sum()), int(y.sum()), int((x & y).sum()), 300)
        assert counts.growth(stake, epsilon, delta) == pytest.approx(log_wealth(x, y, stake, epsilon, delta))


@pytest.mark.parametrize(("hits", "n", "delta"), [(20, 20, 1e-3), (30, 33, 5e-3), (12, 40, 1e-2), (25, 30, 0.0)])
def test_evidence_of_a_repeated_value_against_a_sum_over_the_bad_draws(hits, n, delta):
    labels, total = np.arange(n) < hits, 400
    chance = 1 / (1 + math.exp(-1.0))
    theta = max(1 / chance, min(1e3, 1 + 0.1 / (total * delta / 2))) if delta else 1.0
    literal = tail_with_bad(hits, n, 1.0, delta, total, theta) if delta else stats.binom.sf(hits - 1, n, chance)
    assert math.exp(log_evidence(labels, True, 1.0, delta, total)) == pytest.approx(literal, rel=1e-9)


def test_a_run_without_a_miss_needs_23_hits_at_epsilon_1():
    def p_value(hits):
        return math.exp(log_evidence(np.ones(hits, dtype=bool), True, 1.0, 0.0, 1000))

    assert p_value(23) <= 1e-3 < p_value(22) < 1.1e-3


def test_the_hits_of_the_label_blind_line_are_of_the_coins_of_each_side():
    """An atom of one data set alone: half of the coins show it, which are not exactly half of them."""
    for seed, swapped in ((0, False), (1, True)):
        rng = np.random.default_rng(seed)
        pair = [np.full((200, 1), math.pi), rng.laplace(size=(200, 1))]
        line = PointsLine(
            tuple(label_test(*(pair[::-1] if swapped else pair), [Point(1.0, 0.0, 0.0)], rng)), "label-blind"
        )
        found = line.bounds(1e-3)
        hits = found.hits
        assert hits.of_first + hits.of_second == line.tests[0].n_labels
        assert (hits.first, hits.second) == ((0, hits.of_second) if swapped else (hits.of_first, 0))
        assert found.delta_value == 1.0


def ties_by_place(scores, ties):
    """Mutant: equal scores in the order in which they were drawn, the first data set's first."""
    return np.argsort(-scores, kind="stable")[:1000]


@pytest.mark.parametrize("mutant", [False, True])
def test_ties_are_broken_before_an_order_is_cut_off(monkeypatch, mutant):
    """Null: randomised response with equality, 200 label-blind tests at level .05; exact bound 1e-7."""
    if mutant:
        monkeypatch.setattr(black_box_bet, "_top", ties_by_place)
    alarms, outputs = 0, TIGHT["randomised response"][0]
    for run in range(200):
        rng = np.random.default_rng([17, run])
        first, second = (outputs(e, 1500, rng)[:, None] * 1.0 for e in (0, 1))
        tests = label_test(first, second, [Point(1.0, 0.0, 0.0)], rng)
        alarms += any(test.p_value() <= 0.05 for test in tests)
    assert (alarms > most_allowed(200, 0.05)) is mutant


def test_ranks_of_a_discrete_score_have_a_binomial_law_whatever_its_atoms():
    """The exact law at equality: P = Q uniform on three values; ranks broken by position would give other counts."""
    rng, counts = np.random.default_rng(8), []
    choice = Choice(raw_score(), True, True, 0.0, 0.25, 0.25)
    for _ in range(4000):
        p, q = rng.integers(0, 3, (2, 40)).astype(float)
        counts.append(count_event(choice, p, q, rng.random(40), rng.random(40)).count)
    expected = stats.betabinom(40, 10, 31).pmf(np.arange(41))  # a beta mass of 10 of 40 draws, 40 draws counted
    seen = np.bincount(counts, minlength=41)
    usual = expected * 4000 > 20
    assert (
        stats.chisquare(
            np.r_[seen[usual], seen[~usual].sum()], 4000 * np.r_[expected[usual], expected[~usual].sum()]
        ).pvalue
        > 1e-6
    )


def test_binary_digits_are_read_to_a_depth_where_noise_has_no_grid(monkeypatch):
    """Deeper digits tell 1 + Laplace from 0 + Laplace by the grid of floating-point numbers, whatever the noise is."""
    noise = np.random.default_rng(4).laplace(size=(2, 20_000))
    capped = [(n_digits(e + noise[e], 2) < 40).mean() for e in (0, 1)]
    assert max(capped) < 1e-3
    monkeypatch.setattr(black_box_families, "BINARY_DIGITS", 53)
    monkeypatch.setattr(black_box_families, "MANY_DIGITS", 99.0)
    monkeypatch.setattr(black_box_families, "DIGIT_TOLERANCE", math.inf)
    exact = [np.mean([float(x * 2.0**52).is_integer() for x in (e + noise[e]).tolist()]) for e in (0, 1)]
    assert abs(exact[1] - exact[0]) > 0.1


def test_digits_of_numbers_that_have_few():
    values = np.array([3.0, 0.5, 0.125, 1e-3, math.pi, 1e300, np.nan, np.inf])
    assert n_digits(values, 10).tolist() == [0, 1, 3, 3, 40, 40, -1, -1]
    assert n_digits(values, 2).tolist() == [0, 1, 3, 40, 40, 40, -1, -1]


def response(epsilon: float):
    def outputs(extra, n, rng):
        return rng.random(n) < 1 / (1 + math.exp(epsilon * (1 - 2 * extra)))

    return outputs


def test_a_refuted_claim_always_has_a_bound_above_it():
    """Randomised response at 1.5 against a claim of 1, 40 seeds: the evidence is linear in delta."""
    refuted = 0
    for seed in range(40):
        test = audit_claim(Law(response(1.5)), PAIR, PURE, budget(480, "response", str(seed), failure_prob=0.05))
        assert test.refuted is (test.delta.low > test.claimed_delta)
        refuted += test.refuted
    assert refuted >= 30
    for x in range(700, 780):
        event = FixedEvent(x, 1000, 1000 - x, 1000)
        rejected = event.evidence(PointTradeOff(1.0, 0.0), 1e-3) > 0
        assert (delta_lower(event, 1.0, 1e-3) > 0) is rejected
        assert (epsilon_lower(event, 0.0, 1e-3) > 1.0) is rejected
        rank = RankEvent(x, 1000, 1000 - x, 1000)
        assert (delta_lower(rank, 1.0, 1e-3, 0.01) > 0.01) is (rank.evidence(PointTradeOff(1.0, 0.01), 1e-3) > 0)


FAST = ("3-way XOR", "parity of the 3rd decimal", "pool of 10^4 noises", "seed from the data")


@pytest.mark.parametrize("name", FAST)
def test_structure_that_no_half_line_shows_is_found(name):
    outputs, stated, n_draws = HARD[name]
    found = black_box_audit(Law(outputs), PAIR, stated, budget(n_draws, name))
    assert found.outcome is BlackBoxOutcome.REFUTED
    assert found.claim_test.line == "betting"
    assert found.claim_test.delta.low > stated.delta
    assert found.epsilon.estimate.low > stated.epsilon
    assert found.p_value <= 1e-3
    hits = found.claim_test.hits
    assert hits.of_first == hits.of_second > 0
    assert hits.first != hits.second


@pytest.mark.slow
@pytest.mark.parametrize("name", HARD)
def test_every_hard_violation_is_found_in_19_of_20_seeds(name):
    outputs, stated, n_draws = HARD[name]
    found = (
        black_box_audit(Law(outputs), PAIR, stated, budget(n_draws, name, str(seed))).outcome for seed in range(20)
    )
    assert reaches(19, (outcome is BlackBoxOutcome.REFUTED for outcome in found))


@pytest.mark.slow
@pytest.mark.parametrize("name", TIGHT)
def test_tight_laws_are_refuted_at_most_at_the_level(name):
    """Null: each law reaches its claim with equality. 300 audits at .05, each line alone as well; exact bound 1e-7."""
    outputs, stated = TIGHT[name]
    shares = {"rank events": RANK_SHARE, "betting": BETTING_SHARE, "label-blind": BLIND_SHARE}
    alarms, allowed = dict.fromkeys(["audit", *shares], 0), most_allowed(300, 0.05)
    for run in range(300):
        if max(alarms.values()) + 300 - run <= allowed:
            break  # those that are left could not change the answer
        found = black_box_audit(Law(outputs), PAIR, stated, budget(4000, name, str(run), failure_prob=0.05))
        alarms["audit"] += found.outcome is BlackBoxOutcome.REFUTED
        for line, p_value in found.claim_test.p_values:
            alarms[line] += p_value * shares[line] <= 0.05
    assert max(alarms.values()) <= allowed


@pytest.mark.parametrize("stated", [PURE, claim(1.0, 1e-6), claim(1.0, 1e-3)])
def test_the_visible_leak_is_found_with_the_power_that_is_printed(stated):
    """100 label-blind tests of a leak of that probability at 4,000 draws a side; false with probability 1e-6."""
    level, point = BLIND_SHARE * claim_level(1e-3), Point(stated.epsilon, stated.delta, stated.delta)
    p, found = visible_leak(stated, 4000, 1e-3, 0.9), {}
    for share in (1.0, 0.5):
        found[share] = 0
        for run in range(100):
            rng = np.random.default_rng([3, run])
            first, second = (atom(p * share)(e, 4000, rng)[:, None] for e in (0, 1))
            found[share] += any(test.p_value() <= level for test in label_test(first, second, [point], rng))
    assert found[1.0] >= stats.binom.isf(1 - 1e-6, 100, 0.9)
    assert found[0.5] < 50  # and the number is not idle: half of it would hardly be seen


def test_the_visible_leak_falls_with_the_draws_and_grows_with_the_claim():
    sizes = [visible_leak(PURE, n, 1e-3) for n in (1000, 10_000, 100_000)]
    assert sizes == sorted(sizes, reverse=True)
    assert 0.0035 < sizes[1] < 0.006
    assert visible_leak(claim(1.0, 0.05), 10_000, 1e-3) > 0.05
    assert visible_leak(PURE, 10_000, 1e-3) < visible_leak(claim(2.0, 0.0), 10_000, 1e-3)
    assert visible_leak(PURE, 10, 1e-3) == 1.0
    with pytest.raises(ValueError, match="power must be in"):
        visible_leak(PURE, 10, 1e-3, 1.0)


def pattern(extra, n, rng):
    """Which of twelve columns is missing depends on the record; every number is noise."""
    noise = rng.normal(size=(n, 12))
    noise[np.arange(n), rng.integers(0, 6, n) + 6 * (extra * (rng.random(n) < 0.9))] = np.nan
    return noise


def test_missing_entries_are_values_and_many_columns_are_no_obstacle():
    found = black_box_audit(Law(pattern), PAIR, PURE, budget(4000, "pattern"))
    assert found.outcome is BlackBoxOutcome.REFUTED
    same = black_box_audit(
        Law(lambda e, n, rng: pattern(0, n, rng)), PAIR, PURE, budget(4000, "same", failure_prob=1e-7)
    )
    assert same.outcome is BlackBoxOutcome.NOT_REFUTED


@pytest.mark.slow
def test_trees_find_what_no_other_family_foresees():
    """A checkerboard of the plane; scikit-learn is a dependency of the tests."""

    def outputs(extra, n, rng):
        x = rng.uniform(-3, 3, (n, 2))
        black = np.floor(x).sum(axis=1) % 2 == 0
        x[black != bool(extra), 0] -= 1.0  # one column further the colour changes
        return x

    rng = np.random.default_rng(6)
    first, second = outputs(0, 3000, rng), outputs(1, 3000, rng)
    assert bet_against(first, second, [Point(1.0, 0.0, 0.0)], trees=True)[0].p_value() < 1e-6


def test_shares_add_up_and_unknown_lines_are_refused():
    assert pytest.approx(1.0) == RANK_SHARE + BETTING_SHARE + BLIND_SHARE
    assert claim_level(0.01) >= 0.9 * 0.01
    assert claim_level(0.01, ()) == 0.01
    with pytest.raises(ValueError, match="lines must be among"):
        claim_level(0.01, ("gaussian",))
