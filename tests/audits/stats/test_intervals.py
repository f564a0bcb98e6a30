import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audits import intervals as literal
from oracles.false_alarm import misses_allowed
from rows import for_each
from scipy import stats
from statsmodels.stats.multitest import multipletests

from audits import Budget, StreamKey
from audits.stats.intervals import (
    MAX_STAKE,
    betting,
    clopper_pearson,
    clopper_pearson_band,
    clopper_pearson_lower,
    clopper_pearson_upper,
    dkw_radius,
    empirical_bernstein,
    even_share,
    hoeffding,
    holm_rejections,
    look_share,
)

BAD_PROBS = [0.0, 1.0, -0.1, float("nan"), float("inf"), True]


@for_each(
    ("count", "n", "failure_prob", "tolerance"),
    [(0, 7, 0.05, 1e-12), (7, 7, 0.05, 1e-12), (3, 10, 0.05, 1e-12), (1, 40, 1e-4, 1e-10), (17, 60, 1e-6, 1e-10)],
)
def test_clopper_pearson_equals_its_literal_twin(count, n, failure_prob, tolerance):
    fast, slow = clopper_pearson(count, n, failure_prob), literal.clopper_pearson(count, n, failure_prob)
    assert (fast.low, fast.high) == pytest.approx(slow, abs=tolerance)


@for_each("failure_prob", [0.05, 1e-4, 1e-9])
@for_each("p", [1e-5, 0.001, 0.03, 0.5, 0.97, 1 - 1e-5])
def test_clopper_pearson_covers_exactly_summed_over_all_counts(p, failure_prob):
    n = 400
    band = clopper_pearson_band(np.arange(n + 1), n, failure_prob)
    missed = (p < band.low) | (p > band.high)
    assert stats.binom.pmf(np.arange(n + 1), n, p)[missed].sum() <= failure_prob * (1 + 1e-9)


def test_the_summed_coverage_refutes_a_normal_approximation():
    # Wald at n = 400, p = 0.001: misses whenever the count is 0, probability 0.999^400 = 0.67
    counts = np.arange(401)
    centre = counts / 400
    radius = 1.96 * np.sqrt(centre * (1 - centre) / 400)
    missed = np.abs(centre - 0.001) > radius
    assert stats.binom.pmf(counts, 400, 0.001)[missed].sum() > 0.6


@for_each("count", [1, 5, 5000, 999_000])
def test_clopper_pearson_ends_solve_the_tail_equations_at_a_million(count):
    n, half = 1_000_000, 0.5e-10
    interval = clopper_pearson(count, n, 2 * half)
    assert stats.binom.sf(count - 1, n, interval.low) == pytest.approx(half, rel=1e-7)
    assert stats.binom.cdf(count, n, interval.high) == pytest.approx(half, rel=1e-4)  # 1 - high loses digits near 1


@pytest.mark.parametrize("failure_prob", [1e-20, 1e-50, 1e-100, 1e-200, 1e-300])
@pytest.mark.parametrize("n", [2, 10, 1000])
def test_clopper_pearson_holds_in_rational_arithmetic_at_any_level(n, failure_prob):
    """Root searches for the ends fail at such levels (nan, or far inside), which p-values of clear cases come from."""
    half = Fraction(failure_prob) / 2
    for count in sorted({0, 1, 2, 3, 5, 6, n - 6, n - 3, n - 2, n - 1, n}):
        if not 0 <= count <= n:
            continue
        interval = clopper_pearson(count, n, failure_prob)
        low, high = Fraction(interval.low), Fraction(interval.high)
        # the smaller of the two sums: count is near 0 or near n
        if count <= n // 2:
            above = 1 - sum(math.comb(n, i) * low**i * (1 - low) ** (n - i) for i in range(count))
            below = sum(math.comb(n, i) * high**i * (1 - high) ** (n - i) for i in range(count + 1))
        else:
            above = sum(math.comb(n, i) * low**i * (1 - low) ** (n - i) for i in range(count, n + 1))
            below = 1 - sum(math.comb(n, i) * high**i * (1 - high) ** (n - i) for i in range(count + 1, n + 1))
        assert above <= half * (1 + Fraction(1, 10**6)) or count == 0
        assert below <= half * (1 + Fraction(1, 10**6)) or count == n
        if 0 < count <= n // 2:
            assert above > half / 2  # and hardly wider than needed


AT_THE_EDGES = [
    (1000, 10**9, 0.05),  # scipy's quantile is a wrong root at these three
    (999, 10**6, 0.05),
    (10**6 - 999, 10**6, 0.05),
    (2, 10**15, 1e-100),  # the union bound's logarithms cancelled at these
    (5, 10**12, 1e-100),
    (4, 10**11, 1e-100),
    (11_383_453_073_462, 544_914_974_808_146, 0.1),
    (999, 1000, 0.05),
]


def solves(count: int, n: int, failure_prob: float, low: float, high: float) -> tuple[bool, bool, bool, bool]:
    """Whether each end is safe, and within a millionth of its equation's root (of both the root and 1 less it)."""
    half = 0.5 * failure_prob * (1 + 2e-7)
    room_low, room_high = (max(1e-6 * min(end, 1 - end), 4 * math.ulp(end)) for end in (low, high))
    above, below = literal.proved_tails(count, n, low)[0], literal.proved_tails(count, n, high)[1]
    above_inside = literal.proved_tails(count, n, low + room_low)[0]
    below_inside = literal.proved_tails(count, n, high - room_high)[1]
    return bool(above <= half), bool(above_inside > half), bool(below <= half), bool(below_inside > half)


@pytest.mark.parametrize(("count", "n", "failure_prob"), AT_THE_EDGES)
def test_clopper_pearson_is_tight_and_safe_where_root_searches_fail(count, n, failure_prob):
    interval = clopper_pearson(count, n, failure_prob)
    assert solves(count, n, failure_prob, interval.low, interval.high) == (True,) * 4


@for_each(("count", "n", "failure_prob"), [(999, 10**6, 0.05), (2, 10**15, 1e-100)])
def test_the_same_check_refutes_ends_a_hundred_thousandth_off(count, n, failure_prob):
    interval = clopper_pearson(count, n, failure_prob)
    low, high = interval.low, interval.high
    assert solves(count, n, failure_prob, low * (1 - 1e-5), high * (1 + 1e-5)) == (True, False, True, False)
    assert solves(count, n, failure_prob, low * (1 + 1e-5), high * (1 - 1e-5)) == (False, True, False, True)


def test_one_entry_that_is_solved_again_leaves_the_others_alone():
    counts = np.array([17, 1000, 40_000, 1_000_000])
    band = clopper_pearson_band(counts, 10**9, 0.05)
    plain = [stats.beta.ppf(0.025, k, 10**9 - k + 1) for k in counts]
    assert (band.low == plain)[[0, 2, 3]].all()  # the second is several times too low in some releases of scipy
    assert band.low[1] == pytest.approx(9.39e-7, rel=1e-3)  # 1000 - 1.96 sqrt(1000) and a little, of 1e9


@for_each(
    ("count", "n", "message"),
    [
        (1.5, 3, r"counts must be whole numbers of at most 2\^53, got counts=1.5"),
        (1, 3.5, r"n must be whole numbers of at most 2\^53, got n=3.5"),
        (math.nan, 3, "counts must be whole numbers"),
        (1, math.inf, "n must be whole numbers"),
        (1, 2**53 + 2, r"n must be whole numbers of at most 2\^53, got n=9007199254740994"),
    ],
)
def test_clopper_pearson_refuses_what_is_not_whole(count, n, message):
    for call in (
        lambda: clopper_pearson(count, n, 0.1),
        lambda: clopper_pearson_band([1, count], n, 0.1),
        lambda: clopper_pearson_upper(count, n, 0.1),
    ):
        with pytest.raises(ValueError, match=message):
            call()


def test_whole_floats_are_counts():
    assert clopper_pearson(3.0, 10.0, 0.1) == clopper_pearson(3, 10, 0.1)


def test_one_sided_bounds_spend_everything_on_one_side():
    two_sided = clopper_pearson(3, 50, 0.02)
    assert clopper_pearson_lower(3, 50, 0.01) == two_sided.low
    assert clopper_pearson_upper(3, 50, 0.01) == two_sided.high
    # 0 of n: upper = 1 - failure_prob^(1/n)
    assert clopper_pearson_upper(0, 50, 0.01) == pytest.approx(1 - 0.01 ** (1 / 50), rel=1e-12)


@for_each("failure_prob", BAD_PROBS)
def test_failure_prob_is_validated_everywhere(failure_prob):
    for call in (
        lambda: clopper_pearson(1, 2, failure_prob),
        lambda: clopper_pearson_lower(1, 2, failure_prob),
        lambda: hoeffding(0.5, 3, failure_prob),
        lambda: empirical_bernstein(0.5, 0.1, 3, failure_prob),
        lambda: betting([0.5], failure_prob),
        lambda: dkw_radius(3, failure_prob),
    ):
        with pytest.raises(ValueError, match="failure_prob must be in"):
            call()


@for_each("values", [[0.1, np.nan], [1.1], [-0.1], [], [[0.5]]])
def test_betting_refuses_values_out_of_range(values):
    with pytest.raises(ValueError, match="values must"):
        betting(values, 0.01)


@for_each(("count", "n"), [(-1, 5), (6, 5), (0, 0)])
def test_clopper_pearson_refuses_impossible_counts(count, n):
    with pytest.raises(ValueError, match="must be"):
        clopper_pearson(count, n, 0.1)


@for_each("law", ["uniform", "bernoulli", "constant", "zeros", "ones"])
def test_betting_ends_are_where_the_literal_gambler_starts_to_reject(law):
    rng = np.random.default_rng(11)
    n = 300
    values = {
        "uniform": rng.random(n),
        "bernoulli": (rng.random(n) < 0.1).astype(float),
        "constant": np.full(n, 0.3),
        "zeros": np.zeros(n),
        "ones": np.ones(n),
    }[law]
    interval = betting(values, 0.01)
    for inside in np.linspace(max(interval.low, 1e-9) + 1e-7, min(interval.high, 1 - 1e-9) - 1e-7, 5):
        assert not literal.betting_rejects(list(values), inside, 0.01, MAX_STAKE)
    for outside in (interval.low - 1e-7, interval.high + 1e-7):
        if 0 < outside < 1:
            assert literal.betting_rejects(list(values), outside, 0.01, MAX_STAKE)


def test_betting_scales_with_the_range():
    values = np.random.default_rng(12).random(500)
    unit, wide = betting(values, 0.01), betting(8 * values - 3, 0.01, low=-3, high=5)
    assert (wide.low, wide.high) == pytest.approx((8 * unit.low - 3, 8 * unit.high - 3), abs=1e-9)


LAWS = {  # name -> (sampler, mean)
    "uniform": (lambda rng, shape: rng.random(shape), 0.5),
    "rare": (lambda rng, shape: (rng.random(shape) < 0.02) * rng.random(shape), 0.01),
    "bernoulli": (lambda rng, shape: (rng.random(shape) < 0.5).astype(float), 0.5),
}


@pytest.mark.parametrize("law", LAWS)
@for_each("method", ["betting", "empirical_bernstein", "hoeffding"])
def test_mean_intervals_cover(law, method):
    """Null: each interval misses with probability at most 0.1. Level 1e-7, 1000 repeats of 200 draws."""
    draw, mean = LAWS[law]
    rows = draw(np.random.default_rng(21), (1000, 200))
    if method == "betting":
        intervals = [betting(row, 0.1) for row in rows]
    elif method == "empirical_bernstein":
        intervals = [empirical_bernstein(row.mean(), row.var(ddof=1), row.size, 0.1) for row in rows]
    else:
        intervals = [hoeffding(row.mean(), row.size, 0.1) for row in rows]
    misses = sum(mean not in interval for interval in intervals)
    assert misses <= misses_allowed(1000, 0.1)


def test_the_coverage_check_refutes_an_interval_that_spends_too_much():
    """A betting interval built for 0.5 and sold as 0.01 must be caught by the same count (1000 repeats of 200)."""
    rows = LAWS["bernoulli"][0](np.random.default_rng(22), (1000, 200))
    misses = sum(0.5 not in betting(row, 0.5) for row in rows)
    assert misses > misses_allowed(1000, 0.01)


def test_betting_is_never_much_wider_than_the_others_and_far_tighter_on_rare_values():
    values = LAWS["rare"][0](np.random.default_rng(23), 20_000)
    bernstein = empirical_bernstein(values.mean(), values.var(ddof=1), values.size, 1e-6)
    assert betting(values, 1e-6).width < 0.8 * bernstein.width < hoeffding(values.mean(), values.size, 1e-6).width


def _furthest(sample):
    """Largest distance between the empirical distribution function of uniforms and the truth."""
    n = sample.size
    ordered, steps = np.sort(sample), np.arange(n + 1) / n
    return max(np.max(steps[1:] - ordered), np.max(ordered - steps[:-1]))


def test_dkw_band_covers_the_whole_distribution_function():
    """Null: the band misses anywhere with probability at most 0.1. Level 1e-7, 2000 repeats of 100 draws."""
    rng = np.random.default_rng(24)
    misses = sum(_furthest(rng.random(100)) > dkw_radius(100, 0.1) for _ in range(2000))
    assert misses <= misses_allowed(2000, 0.1)


def test_the_same_check_refutes_a_band_for_single_points_sold_as_simultaneous():
    """A Hoeffding-by-normal radius of one point (1.64 / (2 sqrt n)) misses far more often than 0.1 somewhere."""
    rng = np.random.default_rng(25)
    misses = sum(_furthest(rng.random(100)) > 0.5 * 1.6449 / 10 for _ in range(2000))
    assert misses > misses_allowed(2000, 0.1)


def test_the_radius_of_the_band():
    assert dkw_radius(1000, 1e-6) == pytest.approx(np.sqrt(np.log(2e6) / 2000))


COUNTS = st.integers(1, 3000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n)))
LEVELS = st.floats(1e-12, 0.4)


@given(COUNTS, LEVELS)
def test_clopper_pearson_holds_the_share_and_mirrors(counted, failure_prob):
    count, n = counted
    interval, other = clopper_pearson(count, n, failure_prob), clopper_pearson(n - count, n, failure_prob)
    assert 0 <= interval.low <= count / n <= interval.high <= 1
    assert (interval.low, interval.high) == pytest.approx((1 - other.high, 1 - other.low), abs=1e-9)


@given(COUNTS, LEVELS, st.floats(0.05, 0.95))
def test_clopper_pearson_rises_with_the_count_and_widens_with_confidence(counted, failure_prob, part):
    count, n = counted
    interval, sure = clopper_pearson(count, n, failure_prob), clopper_pearson(count, n, failure_prob * part)
    assert sure.low <= interval.low * (1 + 1e-9)
    assert interval.high <= sure.high * (1 + 1e-9)
    if count < n:
        more = clopper_pearson(count + 1, n, failure_prob)
        assert interval.low <= more.low * (1 + 1e-9)
        assert interval.high <= more.high * (1 + 1e-9)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=60), LEVELS, st.floats(-5, 5), st.floats(0.1, 7))
def test_betting_moves_with_its_values(values, failure_prob, shift, width):
    """An affine map of the values maps the interval; one of [0, 1] is inside Hoeffding's range."""
    plain = betting(values, failure_prob)
    moved = betting(
        np.clip(shift + width * np.array(values), shift, shift + width), failure_prob, low=shift, high=shift + width
    )
    assert 0 <= plain.low <= plain.high <= 1
    assert moved.low == pytest.approx(shift + width * plain.low, abs=1e-6 * width)
    assert moved.high == pytest.approx(shift + width * plain.high, abs=1e-6 * width)


@given(st.floats(0, 1), st.integers(2, 10**6), LEVELS, st.floats(0.05, 0.95))
def test_hoeffding_and_dkw_narrow_with_draws_and_widen_with_confidence(mean, n, failure_prob, part):
    interval, sure, longer = (
        hoeffding(mean, n, failure_prob),
        hoeffding(mean, n, failure_prob * part),
        hoeffding(mean, 2 * n, failure_prob),
    )
    assert sure.low <= interval.low <= longer.low <= mean <= longer.high <= interval.high <= sure.high
    assert dkw_radius(2 * n, failure_prob) <= dkw_radius(n, failure_prob) <= dkw_radius(n, failure_prob * part)


def test_shares_add_up_to_the_whole():
    assert sum(even_share(1e-4, 7) for _ in range(7)) == pytest.approx(1e-4)
    assert sum(look_share(k) for k in range(1, 2000)) == 1 - Fraction(1, 2000)


@for_each("seed", range(5))
def test_holm_equals_its_literal_twin_and_that_of_statsmodels(seed):
    p_values = np.random.default_rng(seed).random(20) ** 4
    rejected = holm_rejections(p_values, 0.1).tolist()
    assert rejected == literal.holm(list(p_values), 0.1)
    assert rejected == multipletests(p_values, alpha=0.1, method="holm")[0].tolist()


def test_holm_rejects_more_than_bonferroni_and_never_fewer():
    p_values = [0.001, 0.012, 0.016, 0.02]  # Bonferroni at 0.05: only those below 0.0125
    assert holm_rejections(p_values, 0.05).all()


@for_each("p_values", [[], [1.2], [np.nan], [[0.1]]])
def test_holm_refuses_what_is_not_a_vector_of_probabilities(p_values):
    with pytest.raises(ValueError, match="p_values must be"):
        holm_rejections(p_values, 0.1)


def test_a_part_of_a_budget_without_draws_is_refused_and_not_given_all():
    whole = Budget(100, 0.1, StreamKey(1))
    assert whole.part("half", share=0.5) == Budget(100, 0.05, StreamKey(1, ("half",)))
    assert whole.part("few", n_draws=3).n_draws == 3
    with pytest.raises(ValueError, match="n_draws must be a whole number of at least 1"):
        whole.part("none", n_draws=0)


@settings(max_examples=5)  # statsmodels collects garbage at each call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30), st.floats(1e-9, 0.5))
def test_holm_is_monotone_and_knows_no_order(p_values, failure_prob):
    """Smaller p-values and larger levels reject at least as much; the order of the hypotheses is nothing."""
    rejected = holm_rejections(p_values, failure_prob)
    assert (rejected <= holm_rejections([p / 2 for p in p_values], failure_prob)).all()
    assert (rejected <= holm_rejections(p_values, min(1.5 * failure_prob, 0.9))).all()
    assert (rejected >= (np.array(p_values) <= failure_prob / len(p_values) * (1 - 1e-12))).all()
    assert (rejected == holm_rejections(p_values[::-1], failure_prob)[::-1]).all()


@given(st.floats(1e-9, 0.5), st.lists(st.floats(0.01, 1), min_size=1, max_size=6), st.lists(st.text(max_size=5)))
def test_parts_of_a_budget_multiply_their_shares_and_add_their_names(failure_prob, shares, names):
    budget = Budget(100, failure_prob, StreamKey(1))
    for share in shares:
        budget = budget.part("part", share=share)
    assert budget.failure_prob == pytest.approx(failure_prob * np.prod(shares))
    assert budget.key.path == ("part",) * len(shares)
    one_by_one = StreamKey(1)
    for name in names:
        one_by_one = one_by_one.child(name)
    assert one_by_one == StreamKey(1).child(*names)


@given(st.lists(st.text(min_size=1, max_size=4), min_size=1, max_size=4, unique=True))
def test_keys_of_other_names_draw_other_numbers(names):
    draws = [StreamKey(1).child(name).rng().integers(2**63) for name in names]
    assert len(set(draws)) == len(names)
