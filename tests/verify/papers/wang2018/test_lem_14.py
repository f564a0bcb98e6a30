"""W18, Lemma 14: both tails at the printed and at wrong coefficients, against scipy's chi-square."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy.stats import chi2

from verify.papers.wang2018.lem_14 import STATEMENT


@pytest.mark.parametrize("k", [1, 4, 300])
@pytest.mark.parametrize("t", [0.01, 0.7, 12.0])
def test_tails(k: int, t: float) -> None:
    at, root = {"k": k, "t": t}, math.sqrt(k * t)
    assert decide(STATEMENT, "#upper", "printed", at).claim.published == pytest.approx(math.exp(-t))
    for version, linear in (("printed", 2.0), ("coefficient of t 5 % smaller", 1.9), ("no linear term", 0.0)):
        want = chi2.sf(k + 2 * root + linear * t, k)
        assert exact_value(STATEMENT, "#upper", version, at) == pytest.approx(want, rel=1e-9)
    for version, cross in (("printed", 2.0), ("coefficient of the root 10 % smaller", 1.8)):
        want = chi2.cdf(k - cross * root, k)
        assert exact_value(STATEMENT, "#lower", version, at) == pytest.approx(want, rel=1e-9, abs=1e-300)


@pytest.mark.parametrize("part", ["#upper", "#lower"])
def test_proved_between(part: str) -> None:
    assert holds(STATEMENT, part, "printed", {"k": 3, "from": 0.05, "to": 4.0})
