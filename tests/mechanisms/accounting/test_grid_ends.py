"""The two ends of one step: on their sides everywhere, close to each other, and wrong as soon as they are moved."""

import math
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from oracles.mechanisms.finite_losses import FiniteLaw, FloatBrackets, exact_delta

from mechanisms import (
    BOTH,
    Direction,
    GaussianProfile,
    LaplaceProfile,
    QuadraticProfile,
    Relation,
    SubsampledGaussianProfile,
)
from mechanisms.accounting.grid_ends import SHARE, _groups, grid_tails, loss_range, optimistic, pessimistic

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


@pytest.mark.parametrize("profile", [PROFILES[0], PROFILES[5]], ids=str)
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
