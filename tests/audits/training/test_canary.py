"""Gradient canaries: the score is what it says, any score gives a valid bound, planted errors are refuted."""

from __future__ import annotations

import doctest
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from oracles.audits.training_scores import relation_pairs, transcript_score
from oracles.false_alarm import misses_allowed
from rows import for_each

from audits import Budget, StreamKey, audit_epsilon, point_claim
from audits.black_box.black_box_results import ClaimTest
from audits.training.canary import GradientCanary, audit_canary, claim_from_scores, epsilon_from_scores, gradient_canary
from audits.training.final_model import audit_final_model
from audits.training.many_canaries import _scores, audit_canaries
from audits.training.planned_event import FIRST_ROWS, LEAST_RUNS, ScoredMechanism
from mechanisms import DPSGD, Dataset, Direction, GaussianProfile, NeighbouringPair, Relation, UnsupportedRelation
from mechanisms.broken.broken_training import (
    HalfNoise,
    OwnBatch,
    OwnCount,
    TwiceTheRate,
    UnclippedTraining,
    UnscaledNoise,
)
from mechanisms.training.dp_sgd import FullBatchGD
from verify.calibration.series.training_series import (
    CANARY,
    DELTA,
    FEW,
    MANY,
    NOBODY_WIDE,
    SHOWN,
    STEPS,
    Diverging,
    stated_epsilon,
    training_series,
)

KEY = StreamKey(20261122, ("canary",))
RNG = np.random.default_rng(7)
DATA = Dataset(RNG.uniform(-0.6, 0.6, (4, 2)), np.array([1.0, -1.0, 1.0, -1.0]), 1.0, 1.0, name="four", public=True)
PAIRS = relation_pairs(DATA, np.array([0.5, -0.7]), -1.0)


def canary_steps(**changed: object) -> DPSGD:
    return replace(DPSGD("logistic", 3, 0.3, 0.8, 0.4, 2.0, normaliser=1.5), **changed)


@for_each("pair", PAIRS)
@for_each("others", ["nothing", "expected"])
@for_each("training", [canary_steps(), canary_steps(loss="squared", normaliser=None, count_sigma=2.0)])
def test_the_score_is_that_of_the_literal_twin(pair: NeighbouringPair, others: str, training: DPSGD) -> None:
    outputs = training.draw(pair.first, 5, rng=np.random.default_rng(1))
    slow = [transcript_score(training, pair, output, expected=others == "expected") for output in outputs]
    np.testing.assert_allclose(GradientCanary(training, pair, others)(outputs), slow, rtol=1e-10, atol=1e-12)


@for_each("pair", PAIRS)
def test_at_rate_1_the_score_with_the_others_is_the_privacy_loss(pair: NeighbouringPair) -> None:
    training = canary_steps(rate=1.0)
    outputs = training.draw(pair.second, 50, rng=np.random.default_rng(2))
    loss = FullBatchGD(training).privacy_loss(outputs, pair)
    np.testing.assert_allclose(GradientCanary(training, pair, "expected")(outputs), loss, rtol=1e-9, atol=1e-9)


def test_of_a_record_without_a_gradient_the_score_says_nothing() -> None:
    pair = NeighbouringPair.add(DATA, np.zeros(2), 1.0)
    for others in ("nothing", "expected"):
        outputs = canary_steps().draw(DATA, 5, rng=np.random.default_rng(3))
        np.testing.assert_allclose(GradientCanary(canary_steps(), pair, others)(outputs), 0.0, atol=1e-15)
    with pytest.raises(ValueError, match=r"^others must be nothing or expected, got others=some$"):
        GradientCanary(canary_steps(), pair, "some")


def test_a_scored_mechanism_draws_what_the_mechanism_draws() -> None:
    inner = canary_steps()
    scored = ScoredMechanism(inner, lambda outputs: outputs[:, 0], "the first number")
    assert scored.name.endswith(": the first number")
    few = scored.draw(DATA, 20, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(few[:, 0], inner.draw(DATA, 20, rng=np.random.default_rng(4))[:, 0])
    rng = np.random.default_rng(4)
    parts = [inner.draw(DATA, n, rng=rng)[:, 0] for n in (FIRST_ROWS, 44)]
    many = scored.draw(DATA, FIRST_ROWS + 44, rng=np.random.default_rng(4))
    np.testing.assert_array_equal(many[:, 0], np.concatenate(parts))


@for_each("relation", list(Relation))
def test_bounds_reach_far_and_not_above_the_truth(relation: Relation) -> None:
    """At rate 1 the truth is known in closed form; a replaced record counts twice."""
    training = replace(STEPS, rate=1.0, sigma=4.0)
    one = CANARY.second
    pair = {
        Relation.ADD: CANARY,
        Relation.REMOVE: CANARY.swapped(),
        Relation.REPLACE: NeighbouringPair.replace(one, 0, [1.0], -100.0),
    }[relation]
    truth = GaussianProfile(1.0 if relation is not Relation.REPLACE else 2.0).epsilon_at(1e-3)
    found = audit_canary(training, pair, Budget(20_000, 0.01, KEY), delta=1e-3)
    assert 0.5 * truth < found.estimate.low <= truth
    assert found.estimate.n_draws == 20_000
    assert found.estimate.failure_prob == 0.01


def test_the_planned_bound_belongs_to_the_direction_that_tells_more() -> None:
    """Who takes part in few steps is told by what adding him makes likely."""
    for pair, direction in ((CANARY, Direction.BACKWARD), (CANARY.swapped(), Direction.FORWARD)):
        found = audit_canary(replace(STEPS, rate=0.1), pair, Budget(20_000, 0.05, KEY), delta=0.01)
        assert found.direction is direction


def test_a_stated_law_is_not_believed() -> None:
    """Twice as much noise is drawn as is stated: the bound lies below what is true of it, far below what is stated."""
    noisy = replace(STEPS, sigma=2 * STEPS.sigma)
    low = audit_canary(STEPS, CANARY, Budget(20_000, 1e-3, KEY), delta=DELTA, drawn=noisy).estimate.low
    assert low <= stated_epsilon(noisy, DELTA) < stated_epsilon(STEPS, DELTA)


@for_each("kind", [HalfNoise, TwiceTheRate, UnclippedTraining, UnscaledNoise])
def test_planted_errors_are_refuted_by_the_canary(kind: type[DPSGD]) -> None:
    broken, budget, stated = kind(**vars(STEPS)), Budget(20_000, 1e-4, KEY), stated_epsilon(STEPS, DELTA)
    assert audit_canary(STEPS, CANARY, budget, delta=DELTA, drawn=broken).estimate.low > stated
    assert audit_canary(STEPS, CANARY, budget, delta=DELTA).estimate.low < stated


def test_normalisers_that_read_the_data_are_refuted_by_the_final_model_of_few_records() -> None:
    stated, budget = stated_epsilon(SHOWN, DELTA), Budget(8_000, 1e-4, KEY)
    lows = [
        audit_epsilon(kind(**vars(SHOWN)), FEW, budget, delta=DELTA).estimate.low
        for kind in (OwnCount, OwnBatch, DPSGD)
    ]
    assert [low > stated for low in lows] == [True, True, False]


def test_a_replaced_record_does_not_show_a_normaliser_that_counts() -> None:
    """The number of records is the same: the outputs are those of the right training, draw by draw."""
    pair = NeighbouringPair.replace(FEW.first, 0, [0.0, 0.0, 1.0, 0.0], 4.0)
    own = OwnCount(**vars(SHOWN))
    right = replace(SHOWN, normaliser=SHOWN.rate * 2)
    for dataset in (pair.first, pair.second):
        draws = [m.draw(dataset, 5, rng=np.random.default_rng(5)) for m in (own, right)]
        np.testing.assert_array_equal(*draws)


@pytest.mark.parametrize("series", list(training_series()), ids=lambda series: series.name)
def test_no_series_misses_more_often_than_its_level(series) -> None:
    """Null: the rate of misses is at most the level; 16 repetitions at .1, refused below 1e-7."""
    assert series.misses(16, 0.1, KEY.child(series.name))[:, 0].sum() <= misses_allowed(16, 0.1)


def scores(n: int, mu: float) -> tuple[np.ndarray, np.ndarray]:
    noise = KEY.child("scores").rng().standard_normal((2, n))
    return mu + noise[0], noise[1]


def test_scores_made_elsewhere_give_a_bound_whatever_their_order() -> None:
    with_canary, without_canary = scores(20_000, 2.0)
    truth = GaussianProfile(2.0).epsilon_at(1e-3)
    given = [(with_canary, without_canary), (np.sort(with_canary), np.sort(without_canary)[::-1])]
    for one, other in given:
        found = epsilon_from_scores(one, other, delta=1e-3, failure_prob=0.01, key=KEY)
        assert 0.5 * truth < found.estimate.low < truth
        assert found.estimate.n_draws == 40_000
    same = epsilon_from_scores(with_canary[:10_000], with_canary[10_000:], delta=1e-3, failure_prob=0.01, key=KEY)
    assert same.estimate.low < 0.5


def test_scores_may_have_columns_and_differ_in_number() -> None:
    with_canary, without_canary = scores(6000, 2.0)
    noise = KEY.child("column").rng().standard_normal((2, 6000))
    columns = np.column_stack([noise[0], with_canary]), np.column_stack([noise[1], without_canary])
    found = epsilon_from_scores(columns[0], columns[1][:5000], delta=1e-3, failure_prob=0.05, key=KEY)
    assert found.estimate.n_draws == 10_000
    assert found.estimate.low > 1.0
    turned = epsilon_from_scores(-with_canary, -without_canary, delta=1e-3, failure_prob=0.05, key=KEY)
    assert turned.estimate.low > 1.0


def test_claims_are_tested_by_scores_made_elsewhere() -> None:
    with_canary, without_canary = scores(6000, 2.0)

    def test(epsilon: float) -> ClaimTest:
        claim = point_claim(epsilon, 1e-3).black_box()
        return claim_from_scores(with_canary, without_canary, claim, failure_prob=0.01, key=KEY)

    assert test(1.0).refuted
    assert not test(GaussianProfile(2.0).epsilon_at(1e-3)).refuted
    claim = point_claim(1.0, 1e-3, [Relation.REPLACE]).black_box()
    with pytest.raises(UnsupportedRelation, match="REPLACE"):
        claim_from_scores(with_canary, without_canary, claim, failure_prob=0.01, key=KEY)


def test_infinite_and_missing_scores_are_scores() -> None:
    with_canary, without_canary = scores(5000, 0.0)
    with_canary[:2500] = np.nan
    without_canary[:50] = np.inf
    found = epsilon_from_scores(with_canary, without_canary, delta=0.5, failure_prob=0.05, key=KEY)
    assert np.isfinite(found.estimate.low)


def test_bad_input_is_refused_in_one_line() -> None:
    good = np.zeros(100)
    for one, other, words in (
        (
            np.zeros((2, 2, 2)),
            good,
            r"with_canary must have shape \(n,\) or \(n, k\), got with_canary.shape=\(2, 2, 2\)",
        ),
        (good, np.zeros((100, 2)), "with_canary and without_canary must have as many columns, got 1 and 2"),
        (good, np.zeros(10), "n_draws must be at least 100 for a black-box audit, got n_draws=20"),
        (good, np.zeros(0), "n_draws must be at least 100 for a black-box audit, got n_draws=1"),
    ):
        with pytest.raises(ValueError, match=f"^{words}$"):
            epsilon_from_scores(one, other, delta=1e-3, failure_prob=0.05, key=KEY)
    with pytest.raises(ValueError, match=f"^n_draws must be at least {LEAST_RUNS} for a training, got n_draws=50$"):
        audit_canary(STEPS, CANARY, Budget(50, 0.05, KEY), delta=1e-3)
    with pytest.raises(ValueError, match=r"^delta must be in"):
        audit_canary(STEPS, CANARY, Budget(500, 0.05, KEY), delta=2.0)
    with pytest.raises(ValueError, match=r"^key must be a StreamKey, got key of type int$"):
        epsilon_from_scores(good, good, delta=1e-3, failure_prob=0.05, key=1)
    with pytest.raises(ValueError, match=r"^observer must be transcript"):
        audit_canary(replace(STEPS, observer="final"), CANARY, Budget(500, 0.05, KEY), delta=0.1)


def test_the_view_serves_every_audit_of_draws() -> None:
    found = audit_epsilon(gradient_canary(STEPS, CANARY), CANARY, Budget(8000, 0.05, KEY), delta=DELTA)
    assert 0.3 < found.estimate.low < stated_epsilon(STEPS, DELTA)


@for_each(
    ("changed", "words"),
    [
        ({"pair": (1, 2)}, "pair must be a NeighbouringPair, got pair of type tuple"),
        ({"budget": 1000}, "budget must be a Budget, got budget of type int"),
        ({"drawn": HalfNoise}, "drawn must be an object with a method draw, got drawn of type ABCMeta"),
        ({"drawn": len}, "drawn must be an object with a method draw, got drawn of type builtin_function_or_method"),
        ({"training": GaussianProfile(1.0)}, "training must be an object with a method .*, got .* GaussianProfile"),
    ],
)
def test_an_argument_of_another_kind_is_named(changed: dict[str, object], words: str) -> None:
    given = {"training": STEPS, "pair": CANARY, "budget": Budget(500, 0.05, KEY), "delta": DELTA} | changed
    for audit in (audit_canary, audit_final_model):
        with pytest.raises(ValueError, match=f"^{words}$"):
            audit(**given)


def test_the_examples_of_the_page_run() -> None:
    page = Path(__file__).parents[3] / "docs" / "dp_sgd.md"
    test = doctest.DocTestParser().get_doctest(page.read_text(encoding="utf-8"), {}, page.name, str(page), 0)
    assert len(test.examples) > 20
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


KEY_many = StreamKey(20261122, ("many canaries",))
ROWS, FAR = np.eye(MANY), np.full(MANY, 100.0)


def low(training: DPSGD, n_runs: int, delta: float, rows: np.ndarray = ROWS, **more: object) -> float:
    found = audit_canaries(
        training, NOBODY_WIDE, rows, FAR[: len(rows)], Budget(n_runs, 1e-3, KEY_many), delta=delta, **more
    )
    assert found.direction is Direction.BACKWARD
    assert found.estimate.n_draws == n_runs
    return found.estimate.low


def test_the_score_of_a_run_is_the_largest_or_minus_infinity() -> None:
    """Run by run: with a canary its own score where it is the largest, without one the largest."""
    pairs = [NeighbouringPair.add(NOBODY_WIDE, row, 100.0) for row in ROWS]
    for canary in (None, 2):
        found = _scores(STEPS, STEPS, pairs, canary, 40, np.random.default_rng(1))
        dataset = NOBODY_WIDE if canary is None else pairs[canary].second
        outputs = STEPS.draw(dataset, 40, rng=np.random.default_rng(1))
        for i in range(40):
            each = [-float(GradientCanary(STEPS, pair)(outputs[i : i + 1])[0]) for pair in pairs]
            best = max(each)
            expected = best if canary is None or each.index(best) == canary else -np.inf
            assert found[i] == pytest.approx(expected)


def test_at_rate_1_the_bound_is_below_the_truth_and_above_that_of_one_canary() -> None:
    training, truth = replace(STEPS, rate=1.0), GaussianProfile(2.0).epsilon_at(1e-3)
    one = audit_canary(training, CANARY, Budget(10_000, 1e-3, KEY_many), delta=1e-3).estimate.low
    assert one < low(training, 10_000, 1e-3) <= truth


def test_one_canary_alone_and_canaries_that_are_alike_give_valid_bounds() -> None:
    stated = stated_epsilon(STEPS, DELTA)
    assert 0.7 * stated < low(STEPS, 10_000, DELTA, ROWS[:1]) <= stated
    assert low(STEPS, 10_000, DELTA, np.tile(ROWS[0], (MANY, 1))) <= stated


def test_half_the_noise_is_refuted_and_more_noise_is_not() -> None:
    stated = stated_epsilon(STEPS, DELTA)
    assert low(STEPS, 10_000, DELTA, drawn=HalfNoise(**vars(STEPS))) > stated
    noisy = replace(STEPS, sigma=2 * STEPS.sigma)
    assert low(STEPS, 10_000, DELTA, drawn=noisy) <= stated_epsilon(noisy, DELTA)


def test_other_records_cost_power_and_not_validity() -> None:
    data = Dataset(np.tile(ROWS[0], (20, 1)), np.tile([100.0, -100.0], 10), 1.0, 100.0, name="along", public=True)
    found = audit_canaries(STEPS, data, ROWS, FAR, Budget(4_000, 1e-3, KEY_many), delta=DELTA)
    assert found.estimate.low <= stated_epsilon(STEPS, DELTA)


@for_each("value", [np.inf, -np.inf])
@for_each("share", [0.1, 0.9])
def test_a_pipeline_that_does_not_read_the_data_gives_no_bound(share: float, value: float) -> None:
    """Runs that diverge, all of whose scores are missing or infinite, are no sign of a canary."""
    wide = Dataset(np.empty((0, 50)), np.empty(0), 1.0, 100.0, name="nobody", public=True)
    stated = DPSGD("squared", 5, 0.2, 0.25, 1.0, 0.01, normaliser=1.0)
    for seed in (1, 2):
        budget = Budget(1000, 1e-3, KEY_many.child(str(seed)))
        drawn = Diverging(stated, share, value)
        found = audit_canaries(stated, wide, np.eye(50), np.full(50, 100.0), budget, delta=1e-3, drawn=drawn)
        assert found.estimate.low == 0


def test_bad_input_is_refused_in_one_line_many() -> None:
    for rows, labels in ((np.empty((0, MANY)), np.empty(0)), (ROWS[0], FAR[:1]), (ROWS, FAR[:1])):
        with pytest.raises(
            ValueError, match=r"^X and y must have shapes \(K, dim\) and \(K,\) with K at least 1, got X"
        ):
            audit_canaries(STEPS, NOBODY_WIDE, rows, labels, Budget(1000, 0.05, KEY_many), delta=DELTA)
    with pytest.raises(ValueError, match=r"^n_draws must be at least 100"):
        audit_canaries(STEPS, NOBODY_WIDE, ROWS, FAR, Budget(99, 0.05, KEY_many), delta=DELTA)
