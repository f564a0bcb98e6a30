"""What may, and what may not, be concluded from a sequence of exact ratios."""

import math
from fractions import Fraction

import pytest
from rows import for_each

from audits.stats.rates import audit_rate
from mechanisms.base import Bracket
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation
from mechanisms.numerics.goe_brackets import isf_bracket

SIZES = tuple(10.0 ** (k / 2) for k in range(13))  # six decades


def point(value: float) -> Bracket:
    return Bracket(math.nextafter(value, 0.0), math.nextafter(value, math.inf))


def power(p: float):
    return lambda n: point(n**p)


def test_a_lost_root_is_seen_over_six_decades():
    """n against sqrt(n): the ratio is n^(1/2), three decades over six."""
    audit = audit_rate(power(1.0), power(0.5), SIZES, derivation="n / sqrt(n) = sqrt(n)")
    assert audit.growth.low <= 3.0 <= audit.growth.high < 3.0 + 1e-12
    assert [round(step.mid, 9) for step in audit.steps] == [round(math.sqrt(10), 9)] * 6
    assert audit.diverges()
    assert audit.constant.low <= 1e3 <= audit.constant.high


def test_nothing_diverges_without_a_reason_or_over_three_decades():
    assert not audit_rate(power(1.0), power(0.5), SIZES).diverges()
    assert not audit_rate(power(1.0), power(0.5), SIZES[:7], derivation="sqrt(n)").diverges()


def test_a_constant_approached_from_below_does_not_diverge():
    """(1 + n)/n falls, n/(1 + n) rises to 1: neither is a divergence, although one grows for ever."""
    for quantity in (lambda n: point(n / (1 + n)), lambda n: point((1 + n) / n)):
        assert not audit_rate(quantity, power(0.0), SIZES, derivation="tends to 1").diverges()


def test_a_slow_divergence_needs_its_own_factor():
    """log n grows by less than 5 % a decade only beyond 10^20; from 10 to 10^7 each decade has at least 7/6."""
    audit = audit_rate(lambda n: point(math.log(n)), power(0.0), [10.0**k for k in range(1, 8)], derivation="log n")
    assert audit.diverges()
    assert audit.diverges(7 / 6 - 1e-9)
    assert not audit.diverges(7 / 6 + 1e-9)


def test_a_wide_enclosure_proves_no_growth():
    audit = audit_rate(lambda n: Bracket(0.3 * n, 3.0 * n), power(0.5), SIZES, derivation="sqrt(n)")
    assert not audit.diverges()
    assert audit.growth.low < 3.0 < audit.growth.high


def test_the_quantile_of_the_goe_grows_like_the_root_of_the_dimension():
    """tau / sqrt(d) stays below its limit 2 plus an edge term: support reads "at most c up to d"."""

    def quantile(d: float) -> Bracket:
        law = GoeLaw(int(d), Extreme.LARGEST_EIGENVALUE, Normalisation.UNIT_OFF_DIAGONAL)
        return isf_bracket(law, Fraction(1, 10))

    audit = audit_rate(quantile, power(0.5), [1, 2, 4, 8, 16])
    assert audit.constant.high < 2.3
    assert "up to 16" in audit.constant.method
    assert not audit.diverges()


@for_each("sizes", [[1.0], [2.0, 1.0], [0.0, 1.0], [1.0, math.inf], [1.0, math.nan]])
def test_sizes_are_refused_in_one_line(sizes):
    with pytest.raises(ValueError, match="sizes must be at least two positive numbers that rise"):
        audit_rate(power(1.0), power(1.0), sizes)


def test_values_and_factors_are_refused_in_one_line():
    with pytest.raises(ValueError, match="quantity and order must be finite and positive"):
        audit_rate(lambda n: Bracket(-1.0, 1.0), power(1.0), SIZES)
    with pytest.raises(ValueError, match="factor must be above 1"):
        audit_rate(power(1.0), power(1.0), SIZES).diverges(1.0)
