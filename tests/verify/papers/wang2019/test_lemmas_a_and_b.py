"""W19, the lemmas of appendices A and B: each typed formula on known answers and literal twins."""

import math
from itertools import product

import numpy as np
import pytest
from flint import arb
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.profiles import gaussian_log_delta
from oracles.rational_floats import floats
from rows import for_each
from scipy.optimize import brentq
from scipy.stats import norm

from verify.methods.rational import design, random_matrix
from verify.papers.wang2019.shared.tail_box import with_target, without_target


# The tail of the privacy loss of posterior sampling beyond the corrected (4.3), against draws-free scipy.
@for_each(("mu", "a", "log"), [(0.5, 1.0, 2.0), (3.0, 0.3, 1.0), (1.0, 3.0, 5.0)])
def test_tail_box_tail_without_the_target(mu: float, a: float, log: float) -> None:
    """H = 1/mu, x = 1, theta ~ N(0, mu): the loss is -log(1 + mu)/2 + ((a - theta)^2 - a^2/(1 + mu))/2."""
    epsilon = abs(a * a * mu / (1 + mu) - math.log(1 + mu)) / 2 + mu * log + math.sqrt(2 * mu * log) * a

    def loss(theta: float) -> float:
        return -math.log(1 + mu) / 2 + ((a - theta) ** 2 - a * a / (1 + mu)) / 2 - epsilon

    left = brentq(loss, a - 60, a)
    right = 2 * a - left
    tail = norm.cdf(left / math.sqrt(mu)) + norm.sf(right / math.sqrt(mu))
    balls = {"leverage": arb(mu), "residual": arb(a), "log(2/delta)": arb(log)}
    assert float(without_target(balls).mid()) == pytest.approx(1 - tail * math.exp(log) / 2, rel=1e-9)
    assert float(with_target(balls).mid()) >= 0


def test_tail_box_a_smaller_quantile_would_leave_more_than_delta() -> None:
    """At a tenth of log(2/delta) in the threshold the tail exceeds delta: the quantity is not idle."""
    balls = {"leverage": arb(1), "residual": arb(1), "log(2/delta)": arb("0.07")}
    assert float(without_target(balls).mid()) < float(without_target(balls | {"log(2/delta)": arb(7)}).mid())


# W19, Lemma A.1: the squared norm of the smoother times h over 2, by hand and by singular values in floats.
def test_lem_a_1_by_hand() -> None:
    """X = 1, lambda = 0: norm 1, h = 1, so 1/2 of the printed 2, and 1/0.95 of 0.95; the bound itself is sqrt(2)."""
    one = {"shape": "identity", "n": 1, "dim": 1, "lambda": 0.0, "seed": 0}
    assert exact_value("W19-LA.1", "", "printed", one) == pytest.approx(0.5)
    assert exact_value("W19-LA.1", "", "numerator 0.95", one) == pytest.approx(1 / 0.95)
    assert claimed("W19-LA.1", "", "printed", one) == pytest.approx(2**0.5)


@for_each("lam", [2.0**-10, 1.0, 1e3])
def test_lem_a_1_by_singular_values(lam: float) -> None:
    X = floats(design("generic", 8, 2, 1))
    s = np.linalg.svd(X, compute_uv=False)
    params = {"shape": "generic", "n": 8, "dim": 2, "lambda": lam, "seed": 1}
    expected = (s / (s**2 + lam)).max() ** 2 * (s.min() ** 2 + lam) / 2
    assert exact_value("W19-LA.1", "", "printed", params) == pytest.approx(expected, rel=1e-9)


# W19, Lemma B.1: both sides in floats.
PARAMS = {"shape": "generic", "n": 3, "dim": 3, "E1": "any", "seed": 3}


def test_lem_b_1_printed_form_by_hand() -> None:
    """X = [[1, 1], [0, 1]], y = (0, 1), no perturbation: X y moves the estimate from (-1, 1) to (1, 0), by 2 in 2."""
    assert exact_value("W19-LB.1", "", "printed", {"shape": "two by two"}) == 1.0
    assert exact_value("W19-LB.1", "", "corrected", {"shape": "two by two"}) == 0.0


def test_lem_b_1_every_version_in_floats() -> None:
    X, E1 = (floats(M) for M in (design("generic", 3, 3, 3), random_matrix(3, 3, 3, 7)))
    y, E2 = (floats(random_matrix(3, 1, 3, k)).ravel() for k in (11, 13))
    gram, solve = X.T @ X, np.linalg.solve
    plain = solve(gram, X.T @ y)
    moved = solve(gram + E1, X.T @ y + E2)
    pairs = {
        "printed": (solve(gram + E1, X @ y + E2) - plain, solve(gram + E1, E2 - E1 @ plain)),
        "E1 applied to the moved estimate": (moved - plain, solve(gram + E1, E2 - E1 @ moved)),
        "perturbation left out of the inverse": (moved - plain, solve(gram, E2 - E1 @ plain)),
        "E1 scaled by 1.01": (moved - plain, solve(gram + E1, E2 - 1.01 * E1 @ plain)),
    }
    for name, (left, right) in pairs.items():
        gap = np.abs(left - right).max() / np.abs([left, right]).max()
        assert exact_value("W19-LB.1", "", name, PARAMS) == pytest.approx(gap, rel=1e-7)
    assert exact_value("W19-LB.1", "", "corrected", PARAMS) == 0.0


# W19, Lemma B.2, on A = U = C = 1, V = 2: the inverse is 1/3.
ONE = {"dim": 1, "rank": 1, "seed": 0}


def test_lem_b_2_by_hand() -> None:
    """Without V: 1 - 1/3 = 2/3. With it 1/3. Correction times 1.01: 1 - 2.02/3, a deviation of 0.02/3."""
    assert exact_value("W19-LB.2", "", "printed", ONE) == 0.5
    assert exact_value("W19-LB.2", "", "corrected", ONE) == 0.0
    assert exact_value("W19-LB.2", "", "correction scaled by 1.01", ONE) == pytest.approx(0.02)


def test_lem_b_2_thin_factors() -> None:
    assert exact_value("W19-LB.2", "", "corrected", {"dim": 5, "rank": 2, "seed": 11}) == 0.0
    assert exact_value("W19-LB.2", "", "C in place of its inverse", {"dim": 5, "rank": 2, "seed": 11}) > 0.0


# W19, Lemma B.3: the determinant and its mutants in floats.
RANK_ONE = {"dim": 3, "perturbation": "any", "seed": 1}


def test_lem_b_3_in_floats() -> None:
    A, c, d = (floats(random_matrix(3, k, 1, i)) for i, k in ((1, 3), (2, 1), (3, 1)))
    inner, left = (d.T @ np.linalg.solve(A, c)).item(), np.linalg.det(A + c @ d.T)
    wrong = {
        "inverse left out": 1 + (d.T @ c).item(),
        "sign reversed": 1 - inner,
        "perturbation scaled by 1.01": 1 + 1.01 * inner,
    }
    for name, factor in wrong.items():
        right = np.linalg.det(A) * factor
        assert exact_value("W19-LB.3", "", name, RANK_ONE) == pytest.approx(
            abs(left - right) / max(abs(left), abs(right)), rel=1e-9
        )
    assert left == pytest.approx(np.linalg.det(A) * (1 + inner), rel=1e-12)
    assert exact_value("W19-LB.3", "", "printed", RANK_ONE) == 0.0


# W19, Lemma B.4: moves of singular values, by hand and by numpy.
def test_lem_b_4_equality_by_hand() -> None:
    """diag(3, 6) less 2 I: both move by 2, which is the norm of E."""
    equal = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value("W19-LB.4", "", "printed", equal) == 1.0
    assert claimed("W19-LB.4", "", "printed", equal) == 2.0
    assert exact_value("W19-LB.4", "", "bound cut by 5 %", equal) == pytest.approx(1 / 0.95)


@for_each("seed", [1, 7])
def test_lem_b_4_by_numpy(seed: int) -> None:
    X, E = (floats(random_matrix(5, 4, seed, k)) for k in (1, 2))
    before, after = (np.linalg.svd(M, compute_uv=False) for M in (X, X - E))
    params = {"m": 5, "n": 4, "E": "any", "seed": seed}
    norm = np.linalg.norm(E, 2)
    assert exact_value("W19-LB.4", "", "printed", params) == pytest.approx(
        np.abs(before - after).max() / norm, rel=1e-9
    )
    assert exact_value("W19-LB.4", "", "paired in opposite order", params) == pytest.approx(
        np.abs(before - after[::-1]).max() / norm, rel=1e-9
    )


# W19, Lemma B.5: the tail over its bound by scipy.
@for_each("epsilon", [1e-9, 0.5, 1.0, 3.0, 20.0])
def test_lem_b_5_ratio(epsilon: float) -> None:
    ratio = 2 * math.exp(norm.logsf(epsilon) + epsilon**2 / 2) * epsilon / 2
    assert exact_value("W19-LB.5", "", "printed", {"epsilon": epsilon}) == pytest.approx(ratio, rel=1e-9)
    steeper = ratio * math.exp(0.025 * epsilon**2)
    assert exact_value("W19-LB.5", "", "exponent -0.525 t^2", {"epsilon": epsilon}) == pytest.approx(steeper, rel=1e-9)


def test_lem_b_5_on_the_whole_box() -> None:
    """The largest ratio tends to sqrt(2/pi)/2 = 0.399, so that 0.77 is too small a coefficient and 2 is enough."""
    assert holds("W19-LB.5", "", "printed", {})
    assert not holds("W19-LB.5", "", "coefficient 0.77", {})


# W19, Lemma B.6, by hand on two outputs and on two normal laws.
def test_lem_b_6_by_hand() -> None:
    """p = (1/4, 3/4), p' = (0, 1): divergence and tail are both 1/4 at exp(t) = 2; under p' the tail is 0."""
    sharp = {"laws": "one output impossible", "exp(t)": 2.0}
    found = decide("W19-LB.6", "", "printed", sharp)
    assert (found.notes["value"], found.notes["bound"]) == (0.25, 0.25)
    assert exact_value("W19-LB.6", "", "delta cut by 5 %", sharp) == pytest.approx(1 / 0.95)
    assert decide("W19-LB.6", "", "tail under p'", sharp).notes["bound"] == 0.0
    # p = 2 p' on the first output: the loss does not exceed log 2 there
    edge = decide("W19-LB.6", "", "printed", {"laws": "ratio equal to exp(t)", "exp(t)": 2.0})
    assert (edge.notes["value"], edge.notes["bound"]) == (0.0, 0.0)


@for_each(("mu", "t"), [(0.5, 0.5), (3.0, 0.0), (0.25, 1.0)])
def test_lem_b_6_normal_laws(mu: float, t: float) -> None:
    """The loss is N(mu^2/2, mu^2)."""
    found = decide("W19-LB.6", "", "printed", {"mu": mu, "t": t})
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(t, mu), rel=1e-9)
    assert found.claim.published == pytest.approx(norm.sf((t - mu * mu / 2) / mu), rel=1e-9)


# W19, Lemma B.7, by hand on sums of signs and by brute force on matrices.
def ratio(version: str, **params: float | str) -> float:
    return exact_value("W19-LB.7", "", version, {"sum": "scalar", "share": 1.0, **params})


def test_lem_b_7_sums_of_signs_by_hand() -> None:
    """One sign: 1/2 over exp(-1/2), exp(-2) for sigma^2 = 1/4. Three signs are 3 with 1/8, at least 1 with 1/2."""
    assert ratio("printed", dim=1, n=1, t=1.0, share=0.25) == pytest.approx(0.5 * math.exp(2.0), rel=1e-12)
    assert ratio("corrected", dim=1, n=1, t=1.0) == pytest.approx(0.5 * math.exp(0.5), rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=3.0) == pytest.approx(math.exp(1.5) / 8, rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=0.5) == pytest.approx(math.exp(0.25 / 6) / 2, rel=1e-12)
    assert ratio("corrected", dim=1, n=3, t=4.0) == 0.0
    five = 1 - (7 / 8) ** 5
    assert ratio("corrected", dim=5, n=3, t=3.0) == pytest.approx(five * math.exp(1.5) / 5, rel=1e-12)
    assert ratio("no factor d", dim=5, n=3, t=3.0) == pytest.approx(five * math.exp(1.5), rel=1e-12)
    assert ratio("sigma^2 cut by 10 %", dim=1, n=3, t=3.0, share=0.9) == pytest.approx(math.exp(1.5 / 0.9) / 8)


def test_lem_b_7_matrices_by_brute_force() -> None:
    raw = [floats(random_matrix(2, 2, 1, i, scale=1)) for i in range(5)]
    terms = [M + M.T for M in raw]
    norm = np.linalg.norm(sum(A @ A for A in terms), 2)
    t = round(1.5 * math.sqrt(norm) * 64) / 64
    sums = [sum(s * A for s, A in zip(signs, terms, strict=True)) for signs in product((-1, 1), repeat=5)]
    probability = np.mean([np.linalg.eigvalsh(S)[-1] >= t for S in sums])
    params = {"sum": "signs", "dim": 2, "n": 5, "seed": 1, "t over sigma": 1.5, "share": 1.0}
    expected = probability / (2 * math.exp(-t * t / (2 * norm)))
    assert exact_value("W19-LB.7", "", "corrected", params) == pytest.approx(expected, rel=1e-9)
