"""Printed numbers: fixed forms by table, and containment of the computed interval in the printed one by search."""

import doctest
import math
from decimal import Decimal

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import reports.junit
import reports.layout
import reports.numbers
import reports.text
from reports.numbers import digits_that_differ, format_interval, format_number, format_probability

finite = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize("module", [reports.numbers, reports.junit, reports.text, reports.layout])
def test_examples_in_docstrings(module):
    result = doctest.testmod(module)
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.parametrize(
    ("value", "digits", "ascii_form", "typographic_form"),
    [
        (0.0, 4, "0", "0"),
        (-0.0, 4, "0", "0"),
        (1.0, 4, "1", "1"),
        (-0.5, 4, "-0.5", "−0.5"),
        (0.001, 3, "0.001", "0.001"),
        (0.000999, 3, "9.99e-4", "9.99×10⁻⁴"),
        (0.0009999, 2, "0.001", "0.001"),  # rounding carries into the next decade
        (999999.0, 6, "999999", "999999"),
        (999999.5, 6, "1e6", "1×10⁶"),
        (5e-324, 2, "5e-324", "5×10⁻³²⁴"),
        (1.7976931348623157e308, 3, "1.8e308", "1.8×10³⁰⁸"),
        (math.inf, 4, "inf", "∞"),
        (-math.inf, 4, "-inf", "−∞"),
        (math.nan, 4, "-", "–"),
    ],
)
def test_number(value, digits, ascii_form, typographic_form):
    assert format_number(value, digits) == ascii_form
    assert format_number(value, digits, typographic=True) == typographic_form


@pytest.mark.parametrize(
    ("value", "low", "high", "printed"),
    [
        (0.5, 0.5, 0.5, "0.5"),
        (15.2, 14.9, 15.9, "15.2 [14.9, 15.9]"),
        (100.0, 90.0, 120.0, "100 [90, 120]"),
        (1234567.0, 1200000.0, 1300000.0, "1.23e6 [1.20e6, 1.30e6]"),
        (0.5, 0.0001, 0.9, "0.500 [1.00e-4, 0.900]"),
        (-0.5, -0.75, 0.24, "-0.50 [-0.75, 0.24]"),
        (-0.5, -0.75, 0.25, "-0.5 [-0.8, 0.3]"),
        (0.5, 0.5, math.inf, "0.500 [0.500, inf]"),
        (0.5, -math.inf, math.inf, "0.500 [-inf, inf]"),
        (0.05, 0.0, 0.01, "0.050 [0, 0.010]"),  # a value beside its interval is shown, not refused
        (0.5, 0.25, 0.25, "0.500 [0.250, 0.250]"),
        (math.nan, 0.0, 1.0, "- [0, 1.0]"),
        (math.nan, math.nan, math.nan, "-"),
    ],
)
def test_interval(value, low, high, printed):
    assert format_interval(value, low, high) == printed


@pytest.mark.parametrize("typographic", [False, True])
@given(numbers=st.lists(finite, min_size=3, max_size=3))
def test_printed_interval_contains_the_computed_one(typographic, numbers):
    low, value, high = sorted(numbers)
    assume(low < high)
    printed = format_interval(value, low, high, typographic=typographic)
    shown_value, shown_low, shown_high = (parsed(text) for text in printed.replace("[", " ").strip("]").split())
    assert float(shown_low) <= low
    assert high <= float(shown_high)
    assert shown_low <= shown_value <= shown_high


@given(value=finite, digits=st.integers(1, 17))
def test_directed_rounding_is_on_its_side(value, digits):
    down = parsed(format_number(value, digits, rounding="down"))
    up = parsed(format_number(value, digits, rounding="up"))
    assert float(down) <= value <= float(up)
    assert down <= parsed(format_number(value, digits)) <= up


@given(value=finite.filter(lambda value: value != 0))
def test_seventeen_digits_give_the_float_back(value):
    assert float(format_number(value, 17)) == value
    assert parsed(format_number(value, 17, typographic=True)) == Decimal(format_number(value, 17))


@given(probability=st.floats(0, 1, exclude_max=True))
def test_probability_below_one_is_never_printed_as_one(probability):
    printed = format_probability(probability)
    assert printed != "1"
    if printed.startswith("1 - "):
        assert 0 < Decimal(printed.removeprefix("1 - ")) <= Decimal("0.01")
    else:
        assert 0 <= Decimal(printed) <= Decimal("0.99")


def test_refusals():
    with pytest.raises(ValueError, match=r"low <= high, got low=3\.0, high=0\.0"):
        format_interval(1.0, 3.0, 0.0)
    with pytest.raises(ValueError, match="digits must be at least 1, got digits=0"):
        format_number(1.0, 0)
    with pytest.raises(ValueError, match="rounding must be nearest, down or up"):
        format_number(1.0, rounding="even")


def parsed(text: str) -> Decimal:
    """Read a printed number back, in either form."""
    plain = text.strip(",").replace("−", "-").replace("×10", "e")
    return Decimal(plain.translate(str.maketrans("⁻⁰¹²³⁴⁵⁶⁷⁸⁹", "-0123456789")))


@given(st.floats(1e-12, 1.0), st.integers(0, 15))
def test_two_numbers_are_told_apart_by_their_digits(value, place):
    other = value * (1 + 10.0**-place)
    first, second = digits_that_differ(value, other)
    assert (first == second) is (value == other)
    assert digits_that_differ(value, value) == (format_number(value, 17),) * 2
