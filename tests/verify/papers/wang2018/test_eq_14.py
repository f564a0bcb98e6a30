"""W18, (14): the last form of (13) as a function of the ridge, in the paper's units."""

from __future__ import annotations

from dataclasses import dataclass
from math import log10, sqrt

import pytest
from oracles.formula_cases import exact_value, holds

from verify.papers.wang2018.eq_14 import STATEMENT


@dataclass(frozen=True)
class Bound:
    """d ||X||^2 (||Y||^2 + ||X||^2 |theta*|^2) log log/((lambda + lambda_min) epsilon^2) + lambda |theta*|^2."""

    Y: float
    d: int = 5
    B: float = 3.0
    length: float = 0.7  # |theta*|
    logs: float = 60.0  # log(6/delta) log(2 d^2/rho)
    epsilon: float = 0.2

    @property
    def r(self) -> float:
        return self.Y / (self.B * self.length)

    @property
    def ridge(self) -> float:
        """(14) with constant 1."""
        return sqrt(self.d * self.logs) * (self.B * self.Y / self.length + self.B**2) / self.epsilon

    def first(self, total: float) -> float:
        noise = self.d * self.B**2 * (self.Y**2 + self.B**2 * self.length**2) * self.logs
        return noise / (total * self.epsilon**2)

    def __call__(self, lam: float, smallest: float) -> float:
        return self.first(lam + smallest) + lam * self.length**2


@pytest.mark.parametrize("Y", [1e-6, 0.5, 2.1, 40.0, 1e7])
def test_balance(Y: float) -> None:
    bound = Bound(Y)
    without = sqrt(bound.d * bound.logs) * bound.B**2 / bound.epsilon
    product = without * bound.r
    for version, lam in (("printed", bound.ridge), ("no responses in (14)", without)):
        want = bound.first(lam) / (lam * bound.length**2)
        assert exact_value(STATEMENT, "#balance", version, r=bound.r) == pytest.approx(want, rel=1e-9)
    want = bound.first(product) / (product * bound.length**2)
    assert exact_value(STATEMENT, "#balance", "product for the sum in (14)", r=bound.r) == pytest.approx(want, rel=1e-9)
    assert holds(STATEMENT, "#balance", "printed", r=bound.r)


@pytest.mark.parametrize(("Y", "m", "t"), [(2.1, 1.0, 0.5), (0.3, 0.8, 1e-3), (90.0, 5.0, 7.0)])
def test_price_of_a_ridge(Y: float, m: float, t: float) -> None:
    """(13) at lambda = t (14) minus (13) at 0, over t (14) |theta*|^2, times m (m + t), at lambda_min = m (14)."""
    bound = Bound(Y)
    loss = bound(t * bound.ridge, m * bound.ridge) - bound(0.0, m * bound.ridge)
    want = loss / (t * bound.ridge * bound.length**2) * m * (m + t)
    s = bound.r / (1 + bound.r)
    assert exact_value(STATEMENT, "#no ridge", "printed", s=s, m=m, t=t) == pytest.approx(want, rel=1e-9)
    lower = exact_value(STATEMENT, "#no ridge", "threshold 5 % lower", s=s, m=m / 0.95, t=t)
    assert lower == pytest.approx(want, rel=1e-9)


def test_price_at_the_threshold() -> None:
    """r tiny, lambda_min = (14): 0 up to m t; 5 % lower a small ridge pays."""
    edge = {"s": 2.0**-30, "m": 1.0, "t": 2.0**-10}
    assert holds(STATEMENT, "#no ridge", "printed", edge)
    assert not holds(STATEMENT, "#no ridge", "threshold 5 % lower", edge)


@pytest.mark.parametrize(
    ("version", "power"),
    [("printed", 1.0), ("bound of order 1/epsilon^2", 2.0), ("bound of order epsilon^(-0.8)", 0.8)],
)
def test_order(version: str, power: float) -> None:
    """From epsilon = 1 to 1e-8 the balanced bound times epsilon^power runs over |8 (1 - power)| decades."""
    values = [bound(bound.ridge, 0.0) * bound.epsilon**power for bound in (Bound(1.0, epsilon=e) for e in (1.0, 1e-8))]
    want = abs(log10(values[1] / values[0]))
    assert exact_value(STATEMENT, "#order", version, {}) == pytest.approx(want, abs=1e-9)
