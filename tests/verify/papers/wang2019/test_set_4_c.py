"""W19, section 4: condition (d) by hand and by scipy."""

from __future__ import annotations

import math
from fractions import Fraction

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.rational_floats import floats
from scipy.stats import binom, chi2

from verify.methods.rational import design
from verify.papers.wang2019.set_4_c import STATEMENT

SIGNS = {"law": "two signs", "dim": 2, "m": 1.0}


def test_matrix_of_d() -> None:
    """X X' has rank 1 for three records of one feature; X'X is the sum of squares."""
    X = floats(design("generic", 3, 1, 7))
    plain = {"shape": "generic", "n": 3, "dim": 1}
    assert exact_value(STATEMENT, "#d", "printed", plain) == 0.0
    assert exact_value(STATEMENT, "#d", "corrected", plain) == pytest.approx((X**2).sum(), rel=1e-9)
    assert exact_value(STATEMENT, "#d", "one column repeated", plain) == 0.0


def test_singular_rows_of_signs() -> None:
    """At n = 21 rows of two signs fail (d) with probability 2 sum_{k <= 5} C(21, k)/2^21 = 55792/2^21."""
    found = decide(STATEMENT, "#size", "printed", SIGNS)
    assert found.exact is not None
    assert found.notes["n"] == 21
    assert found.exact.value == pytest.approx(55792 / 2**21 * 21.0**10, rel=1e-12)


def test_normal_feature() -> None:
    """The smallest n above 10 log n is 36."""
    value = exact_value(STATEMENT, "#size", "printed", {"law": "normal", "dim": 1, "m": 1.0})
    assert value == pytest.approx(chi2.cdf(18, 36) * 36.0**10, rel=1e-9)


@pytest.mark.parametrize(("version", "scale"), [("corrected", 1.0), ("sample size cut by 10 %", 0.9)])
def test_corrected_sample_size(version: str, scale: float) -> None:
    m, n = 0.3, 100
    while n * m * (1 - math.log(2)) / 2 < scale * 10 * math.log(n):
        n += 1
    found = decide(STATEMENT, "#size", version, {"law": "rare ones", "dim": 1, "m": m})
    assert found.notes["n"] == n
    assert found.exact is not None
    assert found.exact.value == pytest.approx(binom.cdf(math.floor(n * Fraction(m) / 2), n, m) * float(n) ** 10)
