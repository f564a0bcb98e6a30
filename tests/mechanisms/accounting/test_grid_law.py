"""Laws on a grid: products, trimming and what is read off, against rational numbers, each on its own side."""

import math
from fractions import Fraction

import mpmath
import pytest
from flint import fmpz_poly
from hypothesis import given
from hypothesis import strategies as st
from oracles.mechanisms.finite_losses import convolved

from mechanisms.accounting.grid_ends import GridLaw

BITS = 20
ONE = 1 << BITS
masses_of = st.lists(st.integers(0, ONE // 8), min_size=1, max_size=7).filter(any)


def law(masses, upper, *, beyond=0, start=-3, step=0.25):
    return GridLaw(step, start, fmpz_poly(masses), beyond, BITS, upper)


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


@pytest.mark.parametrize("upper", [True, False])
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


@pytest.mark.parametrize("upper", [True, False])
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


@pytest.mark.parametrize("upper", [True, False])
def test_an_infinite_epsilon_leaves_what_is_infinite(upper):
    """On steps so small that the number of steps up to a large epsilon is no float either."""
    for step in (0.25, 2.0**-29):
        read = GridLaw(step, -3, fmpz_poly([5, 7]), ONE // 8, BITS, upper).losses()
        for epsilon in (1e300, math.inf):
            assert read.delta_at(epsilon) == pytest.approx(1 / 8, rel=1e-14)
        assert read.delta_at(-math.inf) == pytest.approx(1 / 8 + 12 / ONE, rel=1e-14)
