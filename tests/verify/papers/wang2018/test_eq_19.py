"""W18, (19): where step 6's released constant leaves its two bounds, solved for the normal variable."""

from __future__ import annotations

from math import exp, log, sqrt

import pytest
from oracles.formula_cases import decide, exact_value, holds
from scipy.optimize import brentq
from scipy.stats import norm

from verify.papers.wang2018.eq_19 import STATEMENT

#: Shift of Delta and exponent of the upper bound, over C_2.
VERSIONS = {
    "printed": (1.0, 1.0),
    "corrected": (sqrt(2), 2 * sqrt(2)),
    "lower threshold cut by 10 %": (0.9 * sqrt(2), 1.9 * sqrt(2)),
    "exponent C_2 only": (sqrt(2), sqrt(2)),
    "no factor 2 under the root": (1.0, 2.0),
}


def _outside(delta: float, shift: float, exponent: float) -> float:
    """P(not L <= B exp(Delta) <= L (1 + B^2/total)^(exponent C_2)), at L = 3, B = 2, total = 5, epsilon 0.3."""
    B, L, total, epsilon = 2.0, 3.0, 5.0, 0.3
    step, c2 = log(1 + B**2 / total), log(2 / delta) / epsilon

    def excess(z: float, bound: float) -> float:
        released = log(L / B) + step / (epsilon / sqrt(log(2 / delta))) * z + shift * step * c2
        return released + log(B) - bound

    ends = [brentq(excess, -100.0, 100.0, args=(b,)) for b in (log(L), log(L) + exponent * c2 * step)]
    return float(norm.cdf(ends[0]) + norm.sf(ends[1]))


@pytest.mark.parametrize("version", VERSIONS)
@pytest.mark.parametrize("delta", [0.9, 0.1, 1e-3, 1e-9])
def test_failure_probability(version: str, delta: float) -> None:
    evidence = decide(STATEMENT, "", version, delta=delta)
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(_outside(delta, *VERSIONS[version]), rel=1e-9)
    assert evidence.claim.high == delta


def test_printed_claim_fails_half_of_the_time() -> None:
    """delta = 0.1: Phi(-sqrt(log 20)) + 1/2 = 0.5417."""
    assert exact_value(STATEMENT, "", "printed", delta=0.1) == pytest.approx(0.5417, abs=1e-4)
    sampled = decide(STATEMENT, "", "printed", draws=20_000, delta=0.1).sampled
    assert sampled is not None
    assert sampled.low < 0.5417 < sampled.high


def test_corrected_claim_on_the_whole_box() -> None:
    """Twice Phi(-sqrt(2 log(2/delta))) is at most exp(-log(2/delta)) = delta/2, up to the Gaussian tail bound."""
    assert holds(STATEMENT, "", "corrected", {})
    for delta in (0.9, 1e-100):
        assert exact_value(STATEMENT, "", "corrected", delta=delta) <= exp(log(delta / 2))
