"""W18, Table 2: units, the caption's traces on flat spectra, SSP's mean from below and by quadrature."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value
from oracles.unit_change import Sizes, Terms, assert_units
from scipy.integrate import quad
from scipy.stats import norm

from verify.papers.wang2018.tab_2 import STATEMENT


def error(s: Sizes) -> float:
    return s.theta**2


def number(s: Sizes) -> float:
    return 1.0


@pytest.mark.parametrize(
    ("part", "terms", "quantity"),
    [
        ("#OPS", lambda s: [s.X**2 * s.Theta**2 / s.eigenvalue], error),
        ("#OPS efficiency", lambda s: [s.X**2 * s.Theta**2 / s.Y**2], number),
        ("#SSP", lambda s: [s.X**4 * s.theta**2 / s.eigenvalue**2], error),
        ("#adaptive", lambda s: [s.X**2 * s.theta**2 / s.eigenvalue], error),
        ("#efficiency", lambda s: [s.X**2 * s.theta**2 / s.Y**2, 1.0], number),
    ],
)
def test_units(part: str, terms: Terms, quantity: Terms) -> None:
    """sigma has the unit of a response; traces of the inverse Gram matrix that of an inverse eigenvalue."""
    assert_units(STATEMENT, part, "printed", terms, quantity)  # type: ignore[arg-type]


@pytest.mark.parametrize("dim", [1, 8])
def test_caption_is_an_equality_on_flat_spectra(dim: int) -> None:
    """lambda_i = n/(4 d), alpha = 1/4: tr = 4 d^2/n and tr2 = 4 d/n tr."""
    at = {"dim": dim, "n": 1000, "spectrum": "flat"}
    assert exact_value(STATEMENT, "#caption", "printed", at) == pytest.approx(1.0)
    assert exact_value(STATEMENT, "#caption", "constants cut by 10 %", at) == pytest.approx(1 / 0.9)
    assert exact_value(STATEMENT, "#caption", "d for d^2", at) == pytest.approx(dim)
    assert exact_value(STATEMENT, "#caption", "no d in the second", at) == pytest.approx(dim)


def test_caption_on_one_small_eigenvalue() -> None:
    """n = 100, d = 2: eigenvalues 12.5 and 50, alpha = 1/4; the traces over their bounds."""
    values, alpha = (12.5, 50.0), 0.25
    first, second = sum(1 / v for v in values), sum(1 / v**2 for v in values)
    want = max(first / (4 / (alpha * 100)), second / (2 / (alpha * 100) * first))
    at = {"dim": 2, "n": 100, "spectrum": "one small"}
    assert exact_value(STATEMENT, "#caption", "printed", at) == pytest.approx(want)


@pytest.mark.parametrize("constant", [1.0, 1e3, 1e8])
def test_mean_of_ssp_is_above_every_constant(constant: float) -> None:
    evidence = decide(STATEMENT, "#SSP mean", "printed", {"epsilon": 1.0, "delta": 1e-6, "constant": constant})
    assert evidence.claim.high == pytest.approx(constant * math.log(1e6))
    assert evidence.exact is not None
    assert evidence.exact.low > 100 * evidence.claim.high


@pytest.mark.parametrize("eigenvalue", [3.0, 30.0, 200.0])
def test_mean_of_ssp_given_the_event(eigenvalue: float) -> None:
    """((E_2 - E_1)/(a + E_1))^2 for |E_1| <= a/2, both of scale 2 sqrt(log(4/delta)) at epsilon = 1, delta = 1e-3."""
    scale = 2 * math.sqrt(math.log(4000))

    def weight(e: float) -> float:
        return float(norm.pdf(e, scale=scale))

    half = eigenvalue / 2
    top = quad(lambda e: (scale**2 + e**2) / (eigenvalue + e) ** 2 * weight(e), -half, half)[0]
    want = top / quad(weight, -half, half)[0]
    evidence = decide(STATEMENT, "#SSP mean", "corrected", {"lambda_min": eigenvalue, "dim": 1})
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(want, rel=1e-8)
    assert evidence.claim.high == pytest.approx(96 * math.log(4000) / eigenvalue**2)
