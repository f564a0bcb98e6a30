"""Formulas of the W18 statements D1 to REM3 as typed, against numbers worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction
from types import ModuleType

import numpy as np
import pytest
from flint import fmpq_mat
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm

from audits import Budget, StreamKey
from mechanisms import BOTH
from mechanisms.profiles import GaussianProfile
from verify.statement import Case
from verify.wang2018 import (
    adaptive_ssp,
    alg_s1,
    eq_6b,
    minimax,
    scaling,
    tab_2,
    thm_2i,
    thm_2ii,
    thm_2iii,
    thm_3i,
    thm_3ii,
    thm_3iii,
    truncated,
)


def _case(module: ModuleType, part: str, standing: str, number: int = 0) -> Case:
    cases = [c for c in module.STATEMENT.cases if c.part == part and c.standing.name == standing]
    return cases[number]


def test_degrees_of_products() -> None:
    """||X||^2 ||theta||^2 has the unit of a squared response; without ||X||^2 it lacks two powers of the features."""
    assert scaling.degree(scaling.powers("X^2 theta^2 d^1/2 epsilon^-1")) == (0, 2)
    assert scaling.degree(scaling.powers("theta^2")) == (-2, 2)
    assert scaling.degree(scaling.powers("X^4 theta^2 trace1")) == scaling.LOSS
    with pytest.raises(ValueError, match="symbol must be one of"):
        scaling.powers("X^2 phi")


def test_minimax_risks_of_one_and_two_records() -> None:
    """X = (1, 1)^T: rank 1, G = 2; sigma = 2: prediction risk 2, estimation risk 4/2."""
    X = fmpq_mat(2, 1, [1, 1])
    low, high = minimax.prediction_risk(X, Fraction(2))
    assert high == 2
    assert 0 < float(high - low) < 1e-20
    low, high = minimax.estimation_risk(X, Fraction(2))
    assert high == 2
    assert low < high


def test_thresholds_of_privacy_for_free() -> None:
    """Case 1, n = 16, d = 1, Y = 1, alpha = 1: (4) is min{2, 4} = 2, (5) gives 1, (6) gives 4/(16 * 2)."""
    assert eq_6b._actual(Fraction(4), Fraction(1), Fraction(1), Fraction(1), Fraction(1)) == Fraction(1, 8)
    assert eq_6b._printed(eq_6b.FIRST, Fraction(4), Fraction(1), Fraction(1)) == Fraction(1, 16)


def test_distances_of_the_releases() -> None:
    """SSP epsilon/sqrt(2 log(4/delta)), three releases epsilon/sqrt(3 log(6/delta)), one epsilon/(3 sqrt(...))."""
    assert alg_s1.distance({"epsilon": 2.0, "delta": 4 / math.e**2}) == pytest.approx(1.0)
    assert adaptive_ssp.together({"epsilon": 3.0, "delta": 6 / math.e**3}) == pytest.approx(1.0)
    point = {"epsilon": 3.0, "delta": 6 / math.e**4}
    assert thm_3i.distance(point, twice=False) == pytest.approx(0.5)


@pytest.mark.parametrize(("module", "largest", "root"), [(alg_s1, 9.0, 9.1), (adaptive_ssp, 15.5, 15.9)])
def test_largest_epsilon_of_the_printed_noise(module: ModuleType, largest: float, root: float) -> None:
    """The printed noise first fails, over all delta, between the stated epsilon and the one said to be too much."""
    claim, parts, budget = (alg_s1.CLAIM, 2, 4.0) if module is alg_s1 else (adaptive_ssp.RELEASES, 3, 6.0)

    def excess(epsilon: float, delta: float) -> float:
        mu = epsilon / math.sqrt(parts * math.log(budget / delta))
        return max(GaussianProfile(mu).log_delta_at(epsilon, d) for d in BOTH) - math.log(delta)

    deltas = np.geomspace(1e-12, 0.99, 120)
    least = min(brentq(lambda e, d=d: excess(e, d), 0.1, 200.0) for d in deltas)
    assert largest < least < root
    assert claim.versions["corrected"].domain({"epsilon": largest}, largest)


def test_conditional_error_against_quadrature() -> None:
    """One dimension, spectrum 20, noise 5: the ball quadrature is that of scipy."""
    setting = truncated.Setting([20.0], 5.0, 2.0, 1.5, sigma=3.0)

    def weight(u: float) -> float:
        return float(norm.pdf(u * 4.0) * 4.0)

    top = quad(lambda u: (0.01 + 9 / 20 + (1.5 * u) ** 2) / (1 + u) ** 2 * weight(u), -0.5, 0.5)[0]
    assert truncated.exact_error(setting).value == pytest.approx(top / quad(weight, -0.5, 0.5)[0], rel=1e-9)


def test_conditional_error_drawn_agrees_with_quadrature() -> None:
    """Null: same mean in one dimension; betting interval at level 1e-9, 4,000 draws."""
    setting = truncated.Setting([20.0], 5.0, 2.0, 1.5, sigma=3.0)
    drawn = truncated.sampled_error(setting, Budget(4_000, 1e-9, StreamKey(3)))
    exact = truncated.exact_error(setting)
    assert drawn.low <= exact.low <= exact.high <= drawn.high


def test_mean_of_ssp_is_bounded_below_by_every_nearness() -> None:
    """The share of an event grows without bound as the denominator's range shrinks: constants of four decades fail."""
    for number in range(8):
        evidence = tab_2.check(_case(tab_2, tab_2.MEAN, "PRINTED", number), Budget(1, 1e-9, StreamKey(1)))
        assert evidence.exact is not None
        assert evidence.exact.low > 100 * evidence.claim.high


def test_events_of_the_proof_of_theorem_2_hold_half_of_the_time() -> None:
    """delta = 6/e^4: P(|Z - 2| > 2) = 1 - P(0 < Z < 4); the second event is -2 < Z < 0."""
    log, delta = 4.0, 6 * math.exp(-4.0)
    assert thm_2i.settings(thm_2i.PublishedRule2018(4.0, delta)).shift == pytest.approx(log)
    case = _case(thm_2i, thm_2i.TAIL, "PRINTED")
    evidence = thm_2i.check(case, Budget(1, 1e-9, StreamKey(1)))
    assert evidence.exact is not None
    assert 0.5 < evidence.exact.low < 0.51


def test_bias_of_theorem_2_ii_by_hand() -> None:
    """log(6/delta) = 100: n = 100, ridge 50.5, error 50 (50.5/150.5)^2, rate (1 + log 10)(100 - log 6)/100."""
    evidence = thm_2ii.check(_case(thm_2ii, thm_2ii.RATE, "PRINTED"), Budget(1, 1e-9, StreamKey(1)))
    assert evidence.notes["error at least"] == pytest.approx(50 * (50.5 / 150.5) ** 2)
    assert evidence.notes["printed rate"] == pytest.approx((1 + math.log(10)) * (100 - math.log(6)) / 100)


def test_thresholds_of_theorems_2_iii_and_3_iii() -> None:
    """Both put the released eigenvalue, at its lowest on E, at the least total; delta/3 is the share outside E."""
    constants = thm_2iii.settings(thm_2iii.CorrectedRule2018(1.0, 0.1))
    least, quantile = thm_2iii.threshold(constants, 0.1)
    assert norm.sf(quantile) == pytest.approx(0.1 / 3)
    assert least - constants.shift - constants.sigma * quantile >= constants.total
    log = math.log(60.0)
    want = 3 * math.sqrt(log) * (math.sqrt(log) + norm.isf(0.1 / 3) + math.sqrt(math.log(40.0)))
    assert thm_3iii.threshold(1, 0.1) == pytest.approx(want)


def test_spiked_spectrum_by_hand() -> None:
    """d = 10, delta = 1e-6, rho = 0.1: total/16 against the printed second term; their ratio is above 9 d/32."""
    evidence = thm_3ii.check(_case(thm_3ii, thm_3ii.ID, "PRINTED"), Budget(1, 1e-9, StreamKey(1)))
    ratio = float(evidence.notes["error at least"]) / float(evidence.notes["printed rate"])
    assert 90 / 32 / 1.01 < ratio < 90 / 32 * 1.2
