"""W18, section 3.2 and its tables: each typed formula on known answers and literal twins."""

import math
from math import e, log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.unit_change import Sizes, Terms, assert_units
from oracles.verify.w18_small import gaussian_delta
from rows import for_each
from scipy.integrate import quad
from scipy.optimize import brentq
from scipy.stats import norm


# W18, SSP: both statistics with the printed noise are one Gaussian mechanism; by the closed form of its divergence.
def _distance(epsilon: float, delta: float) -> float:
    """E_1 and E_2 of variance 4 log(4/delta)/epsilon^2 times the squared sensitivities: two releases."""
    return sqrt(2 / (4 * log(4 / delta) / epsilon**2))


@for_each(("epsilon", "delta"), [(2.0, 4 / e**2), (0.1, 0.25), (1.0, 0.1), (5.0, 1e-3), (9.0, 0.3)])
def test_alg_s1_exact_divergence(epsilon: float, delta: float) -> None:
    evidence = decide("W18-S1", "", "corrected", epsilon=epsilon, delta=delta)
    assert evidence.exact.value == pytest.approx(gaussian_delta(_distance(epsilon, delta), epsilon), rel=1e-6)
    assert evidence.claim.in_domain
    assert evidence.exact.high <= delta


def test_alg_s1_distance_by_hand() -> None:
    """epsilon = 2, delta = 4/e^2: variance 4 * 2/4 = 2, so two releases are at distance 1."""
    assert _distance(2.0, 4 / e**2) == pytest.approx(1.0)


def test_alg_s1_printed_noise_fails_from_an_epsilon_between_9_and_9_1() -> None:
    def excess(epsilon: float, delta: float) -> float:
        return float(gaussian_delta(_distance(epsilon, delta), epsilon)) - delta

    least = min(brentq(excess, 1.0, 200.0, args=(d,)) for d in np.linspace(0.1, 0.5, 81))
    assert 9.0 < least < 9.1
    point = {"epsilon": 10.0, "delta": 0.1}
    assert not holds("W18-S1", "", "printed", point)
    assert not decide("W18-S1", "", "corrected", point).claim.in_domain
    assert not holds("W18-S1", "", "epsilon up to 9.5", epsilon=9.5, delta=0.18)
    assert claimed("W18-S1", "", "epsilon cut by 5 %", epsilon=8.0, delta=0.1) == pytest.approx(7.6)


def test_alg_s1_small_data_are_less_than_the_worst_record() -> None:
    """On a pair with a record at both bounds the divergence is at most that of two full sensitivities."""
    evidence = decide("W18-S1", "", "corrected", {"records": 1, "dim": 3, "epsilon": 1.0, "delta": 0.1})
    assert 0 < evidence.exact.high <= float(gaussian_delta(_distance(1.0, 0.1), 1.0)) * (1 + 1e-9)
    assert evidence.sampled.low <= evidence.exact.high


# W18, Table 1: every entry evaluated before and after a change of unit.
def loss(s: Sizes) -> float:
    return s.Y**2


ENTRIES: dict[tuple[str, str], Terms] = {
    ("#NoisySGD", "printed"): lambda s: [s.X**2 * s.Theta**2],
    ("#NoisySGD convex", "printed"): lambda s: [s.Theta**2],
    ("#NoisySGD convex", "corrected"): lambda s: [s.X**2 * s.Theta**2],
    ("#ObjPert", "printed"): lambda s: [s.X**2 * s.Theta * s.theta],
    ("#ObjPert convex", "printed"): lambda s: [s.Theta**2],
    ("#ObjPert convex", "corrected"): lambda s: [s.X**2 * s.Theta**2],
    ("#OPS", "printed"): lambda s: [s.X**2 * s.Theta**2],
    ("#SSP", "printed"): lambda s: [s.X**2 * s.theta**2],
    ("#adaptive", "printed"): lambda s: [s.X**2 * s.theta**2, s.theta**2],
    ("#adaptive", "corrected"): lambda s: [s.X**2 * s.theta**2, s.X**2 * s.theta**2],
}


@for_each(("part", "version"), list(ENTRIES))
def test_tab_1_entries(part: str, version: str) -> None:
    assert_units("W18-T1", part, version, ENTRIES[part, version], loss)


def test_tab_1_requirement_of_ssp_is_a_number() -> None:
    assert_units("W18-T1", "#SSP n", "printed", lambda s: [1.0], lambda s: 1.0)


@for_each("part", sorted({part for part, _ in ENTRIES}))
def test_tab_1_mutants_are_off_by_eight_tenths_of_a_decade(part: str) -> None:
    """A tenth of a power of X too much, eight decades."""
    good = next(v for v in ("corrected", "printed") if (part, v) in ENTRIES)

    def slipped(s: Sizes) -> list[float]:
        first, *rest = ENTRIES[part, good](s)
        return [first * s.X**0.1, *rest]

    assert_units("W18-T1", part, "a tenth of a power of the features' bound too much", slipped, loss)


# W18, Table 2: units, the caption's traces on flat spectra, SSP's mean from below and by quadrature.
def error(s: Sizes) -> float:
    return s.theta**2


def number(s: Sizes) -> float:
    return 1.0


@for_each(
    ("part", "terms", "quantity"),
    [
        ("#OPS", lambda s: [s.X**2 * s.Theta**2 / s.eigenvalue], error),
        ("#OPS efficiency", lambda s: [s.X**2 * s.Theta**2 / s.Y**2], number),
        ("#SSP", lambda s: [s.X**4 * s.theta**2 / s.eigenvalue**2], error),
        ("#adaptive", lambda s: [s.X**2 * s.theta**2 / s.eigenvalue], error),
        ("#efficiency", lambda s: [s.X**2 * s.theta**2 / s.Y**2, 1.0], number),
    ],
)
def test_tab_2_units(part: str, terms: Terms, quantity: Terms) -> None:
    """sigma has the unit of a response; traces of the inverse Gram matrix that of an inverse eigenvalue."""
    assert_units("W18-T2", part, "printed", terms, quantity)  # type: ignore[arg-type]


@for_each("dim", [1, 8])
def test_tab_2_caption_is_an_equality_on_flat_spectra(dim: int) -> None:
    """lambda_i = n/(4 d), alpha = 1/4: tr = 4 d^2/n and tr2 = 4 d/n tr."""
    at = {"dim": dim, "n": 1000, "spectrum": "flat"}
    assert exact_value("W18-T2", "#caption", "printed", at) == pytest.approx(1.0)
    assert exact_value("W18-T2", "#caption", "constants cut by 10 %", at) == pytest.approx(1 / 0.9)
    assert exact_value("W18-T2", "#caption", "d for d^2", at) == pytest.approx(dim)
    assert exact_value("W18-T2", "#caption", "no d in the second", at) == pytest.approx(dim)


def test_tab_2_caption_on_one_small_eigenvalue() -> None:
    """n = 100, d = 2: eigenvalues 12.5 and 50, alpha = 1/4; the traces over their bounds."""
    values, alpha = (12.5, 50.0), 0.25
    first, second = sum(1 / v for v in values), sum(1 / v**2 for v in values)
    want = max(first / (4 / (alpha * 100)), second / (2 / (alpha * 100) * first))
    at = {"dim": 2, "n": 100, "spectrum": "one small"}
    assert exact_value("W18-T2", "#caption", "printed", at) == pytest.approx(want)


@for_each("constant", [1.0, 1e3, 1e8])
def test_tab_2_mean_of_ssp_is_above_every_constant(constant: float) -> None:
    evidence = decide("W18-T2", "#SSP mean", "printed", {"epsilon": 1.0, "delta": 1e-6, "constant": constant})
    assert evidence.claim.high == pytest.approx(constant * math.log(1e6))
    assert evidence.exact.low > 100 * evidence.claim.high


@for_each("eigenvalue", [3.0, 30.0, 200.0])
def test_tab_2_mean_of_ssp_given_the_event(eigenvalue: float) -> None:
    """((E_2 - E_1)/(a + E_1))^2 for |E_1| <= a/2, both of scale 2 sqrt(log(4/delta)) at epsilon = 1, delta = 1e-3."""
    scale = 2 * math.sqrt(math.log(4000))

    def weight(e: float) -> float:
        return float(norm.pdf(e, scale=scale))

    half = eigenvalue / 2
    top = quad(lambda e: (scale**2 + e**2) / (eigenvalue + e) ** 2 * weight(e), -half, half)[0]
    want = top / quad(weight, -half, half)[0]
    evidence = decide("W18-T2", "#SSP mean", "corrected", {"lambda_min": eigenvalue, "dim": 1})
    assert evidence.exact.value == pytest.approx(want, rel=1e-8)
    assert evidence.claim.high == pytest.approx(96 * math.log(4000) / eigenvalue**2)
