"""The two ends of one step: on their sides everywhere, close to each other, and wrong as soon as they are moved."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from flint import fmpz_poly
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.mechanisms.profiles import FiniteLaw, FloatBrackets, convolved, exact_delta
from rows import for_each

from mechanisms import BOTH, Direction, GaussianProfile, LaplaceProfile, Relation
from mechanisms.accounting import SubsampledGaussianProfile
from mechanisms.accounting.grid_ends import SHARE, GridLaw, _groups, grid_tails, loss_range, optimistic, pessimistic
from mechanisms.laws import QuadraticProfile

F = Direction.FORWARD
BITS, CUT = 128, 1e-25
PROFILES = (
    GaussianProfile(1.0),
    GaussianProfile(0.05),
    LaplaceProfile(1.3),
    QuadraticProfile(0.4, 1.2),
    *(SubsampledGaussianProfile(0.05, 1.5, relation) for relation in Relation),
)
weights = st.lists(st.integers(0, 12), min_size=2, max_size=6)


def two_ends(profile, direction, step, bits=BITS, count=None):
    low, high = loss_range(profile, direction, CUT)
    grid = grid_tails(profile, direction, step, math.floor(low / step), math.ceil(high / step), bits, count)
    return optimistic(grid, bits), pessimistic(grid, bits)


def points(profile, direction, step):
    """Points of the grid, their middles and others, where there is anything to lose."""
    low, high = loss_range(profile, direction, 1e-9)
    grid = np.linspace(math.floor(low / step), math.ceil(high / step), 9).round() * step
    return np.concatenate([grid, grid + step / 2, np.linspace(low, high, 12)]).tolist()


def misses(ends, profile, direction, step):
    """Where either end is on the wrong side: (lower above the divergence, upper below it)."""
    low, high = (end.losses() for end in ends)
    exact = {e: profile.delta_bracket(e, direction) for e in points(profile, direction, step)}
    return (
        [e for e, delta in exact.items() if low.delta_at(e) > delta.high],
        [e for e, delta in exact.items() if high.delta_at(e) < delta.low],
    )


@pytest.mark.parametrize("direction", BOTH)
@pytest.mark.parametrize("profile", PROFILES, ids=str)
def test_both_ends_hold_everywhere_and_no_end_may_be_moved(profile, direction):
    for step in (2.0**-2, 2.0**-5):
        low, high = ends = two_ends(profile, direction, step)
        assert misses(ends, profile, direction, step) == ([], [])
        up, down = replace(low, start=low.start + 2), replace(high, start=high.start - 2)
        moved = misses((up, down), profile, direction, step)
        assert moved[0]
        assert moved[1]


@for_each("profile", [PROFILES[0], PROFILES[5]])
def test_the_ends_approach_with_the_square_of_the_step(profile):
    gaps = []
    for step in (2.0**-4, 2.0**-5, 2.0**-6):
        low, high = (end.losses() for end in two_ends(profile, F, step))
        gaps.append(max(high.delta_at(e) - low.delta_at(e) for e in np.linspace(0, 2, 9).tolist()))
    assert gaps[1] < gaps[0] / 3
    assert gaps[2] < gaps[1] / 3


def test_the_pessimistic_end_connects_the_dots():
    """Exact at the points of the grid, linear in e^epsilon in between."""
    profile, step = GaussianProfile(1.0), 0.25
    high = two_ends(profile, F, step)[1].losses()
    for i in (-4, 0, 1, 7):
        left, right = (profile.delta_at(j * step) for j in (i, i + 1))
        assert high.delta_at(i * step) == pytest.approx(left, rel=1e-12)
        share = (math.exp(0.3 * step) - 1) / (math.exp(step) - 1)
        assert high.delta_at((i + 0.3) * step) == pytest.approx((1 - share) * left + share * right, rel=1e-12)


@pytest.mark.parametrize("profile", [PROFILES[0], *PROFILES[4:]], ids=str)
def test_wide_cells_where_little_lies_hold_too(profile):
    for direction in BOTH:
        step = 2.0**-6
        low, high = loss_range(profile, direction, CUT)
        grid = grid_tails(profile, direction, step, math.floor(low / step), math.ceil(high / step), BITS, 10_000)
        widths = set(np.diff(grid.points).tolist())
        assert {1, 16} <= widths
        ends = two_ends(profile, direction, step, count=10_000)
        assert misses(ends, profile, direction, step) == ([], [])
        for end, fine in zip(ends, two_ends(profile, direction, step), strict=True):
            assert end.losses().delta_at(0.02) == pytest.approx(fine.losses().delta_at(0.02), abs=2e-5)


def test_masses_of_few_bits_are_rounded_to_their_sides():
    """In multiples of 2^-24 every mass is far off; both ends still hold."""
    for profile in PROFILES[:4]:
        assert misses(two_ends(profile, F, 2.0**-5, bits=24), profile, F, 2.0**-5) == ([], [])


def test_brackets_alone_serve_too():
    for direction in BOTH:
        profile = PROFILES[4]
        ends = two_ends(FloatBrackets(profile), direction, 2.0**-5)
        assert misses(ends, profile, direction, 2.0**-5) == ([], [])
        for end, sharp in zip(ends, two_ends(profile, direction, 2.0**-5), strict=True):
            assert end.losses().delta_at(0.01) == pytest.approx(sharp.losses().delta_at(0.01), rel=1e-3)


@settings(max_examples=40)
@given(weights, weights)
def test_finite_laws_with_all_their_atoms_and_infinite_losses(first, second):
    size = min(len(first), len(second))
    first, second = first[:size], second[:size]
    if not (sum(first) and sum(second)):
        first, second = [1] * size, [1] * size
    law = FiniteLaw(tuple(Fraction(w, sum(first)) for w in first), tuple(Fraction(w, sum(second)) for w in second))
    for direction in BOTH:
        low, high = (end.losses() for end in two_ends(law, direction, 2.0**-3))
        for epsilon in (-1.0, 0.0, 0.3, 0.5, 1.1):
            exact = exact_delta([law], epsilon, direction)
            assert low.delta_at(epsilon) <= exact <= high.delta_at(epsilon)
        impossible = sum(p for p, q in law.pairs(direction) if q == 0)
        assert high.beyond == pytest.approx(float(impossible), abs=1e-12)


def test_ranges_hold_the_losses():
    for profile in PROFILES:
        for direction in BOTH:
            low, high = loss_range(profile, direction, 1e-20)
            assert profile.tail_bracket(high, direction).low <= 1e-20
            assert 1 - profile.tail_bracket(low, direction).high <= 1e-15
            assert high - low < 60


@given(
    st.lists(st.tuples(st.integers(0, 2**90), st.integers(0, 2**90)), min_size=1, max_size=8),
    st.sampled_from([2.0**-10, 2.0**-4, 1.0, math.log(2)]),
)
@example([(2**80, 2**81), (2**80, 2**83)], 2.0**-4)
def test_no_share_is_negative_and_no_cell_is_given_twice_whatever_is_known_of_the_masses(masses, step):
    """Merging is post-processing only with such shares, also where bounds on P and Q are far apart."""
    given_away = dict.fromkeys(range(len(masses)), 0)
    middles = [i * step for i in range(len(masses))]
    for _, group in _groups([p for p, _ in masses], [q for _, q in masses], middles, step):
        for cell, share in group:
            assert share >= 0
            given_away[cell] += share
    assert max(given_away.values()) <= 1 << SHARE


LAW_BITS = 20
ONE = 1 << LAW_BITS
masses_of = st.lists(st.integers(0, ONE // 8), min_size=1, max_size=7).filter(any)


def law(masses, upper, *, beyond=0, start=-3, step=0.25):
    return GridLaw(step, start, fmpz_poly(masses), beyond, LAW_BITS, upper)


def by_position(found):
    """Masses as fractions, by twice their position; infinity under its own name."""
    whole = {found.start + 2 * i: Fraction(int(m), ONE) for i, m in enumerate(found.masses.coeffs())}
    return whole | {math.inf: Fraction(found.beyond, ONE)}


def at_or_above(found, threshold):
    return sum(mass for position, mass in by_position(found).items() if position >= threshold)


@given(masses_of, st.integers(1, 9))
def test_a_power_is_that_of_the_rational_law_rounded_to_its_side(masses, count):
    exact = convolved([Fraction(m, ONE) for m in masses], count)
    for upper in (True, False):
        found = by_position(law(masses, upper).power(count, 1))
        for i, mass in enumerate(exact):
            off = found.get(-3 * count + 2 * i, Fraction(0)) - mass
            # not exactly 0 in both: what is no whole multiple must move, and by no more than the roundings on the way
            assert 0 <= (off if upper else -off) <= Fraction(64 * count, ONE)
            assert off != 0 or mass * ONE == int(mass * ONE)


@for_each("upper", [True, False])
def test_products_rounded_to_the_other_side_are_seen(upper):
    """Null: the same law with the rule of the other end."""
    exact = convolved([Fraction(m, ONE) for m in (3, 70, 5)], 6)
    for rule in (True, False):
        found = by_position(law([3, 70, 5], rule).power(6, 1))
        off = [found.get(-18 + 2 * i, Fraction(0)) - mass for i, mass in enumerate(exact)]
        assert all(gap >= 0 if upper else gap <= 0 for gap in off) == (rule is upper)


@given(masses_of, st.integers(1, ONE // 4), st.integers(0, ONE // 16))
def test_trimming_moves_every_mass_to_its_side(masses, cut, beyond):
    for upper in (True, False):
        before = law(masses, upper, beyond=beyond)
        after = before.trimmed(cut)
        for threshold in [*by_position(before), -math.inf]:
            gain = at_or_above(after, threshold) - at_or_above(before, threshold)
            assert 0 <= gain < Fraction(cut, ONE) if upper else -Fraction(cut, ONE) < gain <= 0
        if upper:
            assert at_or_above(after, -math.inf) == at_or_above(before, -math.inf)


def test_trimming_cuts_what_it_may():
    cut = law([1, 1, 5, 90, 4, 2], True).trimmed(6)
    assert cut.masses.coeffs() == [7, 90, 4]
    assert (cut.start, cut.beyond) == (1, 2)
    cut = law([1, 1, 5, 90, 4, 2], False).trimmed(6)
    assert cut.masses.coeffs() == [5, 90, 6]
    assert (cut.start, cut.beyond) == (1, 0)


@for_each("upper", [True, False])
def test_either_of_two_losses_may_be_infinite(upper):
    both = law([ONE // 2], upper, beyond=ONE // 4).times(law([ONE // 2], upper, beyond=ONE // 8 + 1), 1)
    exact = 1 - (1 - Fraction(1, 4)) * (1 - Fraction(ONE // 8 + 1, ONE))
    off = Fraction(both.beyond, ONE) - exact
    assert 0 < (off if upper else -off) <= Fraction(1, ONE)


def delta_of(found, epsilon):
    with mpmath.workdps(50):
        total = mpmath.mpf(found.beyond) / ONE
        for i, mass in enumerate(found.masses.coeffs()):
            loss = mpmath.mpf(found.start + 2 * i) / 2 * found.step
            total += mpmath.mpf(int(mass)) / ONE * max(0, 1 - mpmath.exp(mpmath.mpf(epsilon) - loss))
        return total


@given(masses_of, st.integers(0, ONE // 16), st.floats(-3, 3), st.floats(1e-9, 0.9))
def test_what_is_read_off_lies_on_its_side_and_close(masses, beyond, epsilon, delta):
    for upper in (True, False):
        exact = law(masses, upper, beyond=beyond)
        read = exact.losses()
        for point in (epsilon, 0.0, -0.375):
            truth, found = delta_of(exact, point), read.delta_at(point)
            assert (truth <= found) if upper else (found <= truth)
            assert abs(found - truth) <= 1e-13 * truth
        root = read.epsilon_at(delta)
        if math.isinf(root):
            assert exact.beyond / ONE >= delta * (1 - 1e-12)
        elif upper:
            assert delta_of(exact, root) <= delta
            assert root == 0.0 or delta_of(exact, root - 1e-9) > delta * (1 - 1e-12)
        else:
            assert root == 0.0 or delta_of(exact, root) >= delta
            assert delta_of(exact, root + 1e-9) <= delta * (1 + 1e-12)


def test_an_empty_law_loses_nothing():
    read = law([], False).losses()
    assert read.delta_at(0.0) == 0.0
    assert read.epsilon_at(0.1) == 0.0


@for_each("upper", [True, False])
def test_an_infinite_epsilon_leaves_what_is_infinite(upper):
    """On steps so small that the number of steps up to a large epsilon is no float either."""
    for step in (0.25, 2.0**-29):
        read = GridLaw(step, -3, fmpz_poly([5, 7]), ONE // 8, LAW_BITS, upper).losses()
        for epsilon in (1e300, math.inf):
            assert read.delta_at(epsilon) == pytest.approx(1 / 8, rel=1e-14)
        assert read.delta_at(-math.inf) == pytest.approx(1 / 8 + 12 / ONE, rel=1e-14)
