"""W18, Algorithm 2: sensitivities by hand, the joint divergence of the three releases, the line that leaks X^T X."""

from __future__ import annotations

from math import log, sqrt

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.verify.w18_small import gaussian_delta
from scipy.optimize import brentq

from verify.papers.wang2018.alg_2 import STATEMENT


def _distance(epsilon: float, delta: float) -> float:
    """Three releases at noise sqrt(log(6/delta))/(epsilon/3) times their sensitivity: 1/noise^2 adds up."""
    noise = sqrt(log(6 / delta)) / (epsilon / 3)
    return sqrt(3 / noise**2)


def test_sensitivities_in_one_dimension() -> None:
    """A row x in d = 1 moves the eigenvalue and the triangle by x^2, the moment by |x y|: all three sensitivities."""
    one = {"n": 6, "dim": 1, "X": "generic", "row": "generic"}
    assert exact_value(STATEMENT, "#sensitivity", "printed", one) == pytest.approx(1.0, abs=1e-9)
    cut = exact_value(STATEMENT, "#sensitivity", "sensitivities cut by 10 %", one)
    assert cut == pytest.approx(1 / 0.9, abs=1e-9)
    assert exact_value(STATEMENT, "#sensitivity", "eigenvalue moves by the norm, not its square", one) == pytest.approx(
        10
    )


def test_sensitivities_are_upper_bounds() -> None:
    """No random row changes a statistic by more; the triangle of x x^T has norm |x|^2 exactly on an axis."""
    rng = np.random.Generator(np.random.PCG64DXSM(3))
    for _ in range(50):
        X, x = rng.standard_normal((5, 3)), rng.standard_normal(3)
        before, after = (np.linalg.eigvalsh(A.T @ A)[0] for A in (X, np.vstack([X, x])))
        assert 0 <= after - before <= x @ x + 1e-12
        assert np.linalg.norm(np.triu(np.outer(x, x))) <= x @ x + 1e-12
    axis = {"n": 20, "dim": 4, "X": "generic", "row": "on an axis"}
    assert exact_value(STATEMENT, "#sensitivity", "printed", axis) == pytest.approx(1.0, abs=1e-9)


@pytest.mark.parametrize("part", ["#releases", "#output@raw"])
@pytest.mark.parametrize(("epsilon", "delta"), [(0.1, 0.25), (1.0, 0.1), (5.0, 1e-3), (15.5, 0.3)])
def test_three_releases_are_one_gaussian_mechanism(part: str, epsilon: float, delta: float) -> None:
    evidence = decide(STATEMENT, part, "corrected", epsilon=epsilon, delta=delta)
    assert evidence.claim.published == epsilon
    assert evidence.exact is not None
    assert evidence.exact.value == pytest.approx(gaussian_delta(_distance(epsilon, delta), epsilon), rel=1e-6)
    assert evidence.claim.in_domain
    assert evidence.exact.high <= delta == evidence.claim.high


def test_printed_noise_fails_from_an_epsilon_between_15_5_and_15_8() -> None:
    """Over a grid of delta, the smallest epsilon at which delta(epsilon) = delta; the corrected claim stops before."""

    def excess(epsilon: float, delta: float) -> float:
        return float(gaussian_delta(_distance(epsilon, delta), epsilon)) - delta

    least = min(brentq(excess, 1.0, 200.0, args=(d,)) for d in np.linspace(0.2, 0.6, 81))
    assert 15.5 < least < 15.8
    point = {"epsilon": 17.0, "delta": 0.5}
    assert not holds(STATEMENT, "#releases", "printed", point)
    assert not decide(STATEMENT, "#releases", "corrected", point).claim.in_domain
    assert not holds(STATEMENT, "#releases", "epsilon up to 16.5", epsilon=16.5, delta=0.35)
    assert claimed(STATEMENT, "#output@raw", "epsilon cut by 5 %", epsilon=10.0, delta=0.1) == 9.5


def test_raw_gram_matrix_is_given_away() -> None:
    """theta = (G + lambda I)^-1 m gives m - lambda theta = G theta for the raw G alone: delta is 1 at every epsilon."""
    case = {"dim": 2, "n": 3, "epsilon": 20.0, "delta": 0.5}
    evidence = decide(STATEMENT, "#output@raw", "printed", case)
    assert evidence.exact is not None
    assert evidence.exact.low == 1.0
    assert evidence.notes["recognised under D'"] == 0
    assert not holds(STATEMENT, "#output@raw", "printed", case)


def test_the_released_matrix_adds_nothing_to_the_releases() -> None:
    for dim, n in ((1, 1), (2, 3), (3, 4)):
        case = {"dim": dim, "n": n}
        assert holds(STATEMENT, "#output@hat", "printed", case)
        assert not holds(STATEMENT, "#output@hat", "a hundredth of the raw matrix", case)
        assert not holds(STATEMENT, "#output@hat", "lambda from the data", case)


def test_a_lost_hat_is_not_refuted_as_printed() -> None:
    """Both readings rest on one damaged line of our copy."""
    output = [part for part in STATEMENT.parts if part.display == "W18-A2#output"]
    assert [part.reading for part in output] == ["hat", "raw"]
    assert all(part.damaged for part in output)
