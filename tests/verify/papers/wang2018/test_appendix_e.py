"""W18, appendix E: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from oracles.formula_cases import decide, exact_value, holds
from oracles.rational_floats import floats
from rows import for_each
from scipy.stats import chi2, norm

from verify.methods.rational import random_matrix


# W18, Lemma 13: the ratio of both sides against scipy's normal tail.
@for_each("epsilon", [1e-6, 0.3, 2.0, 9.0, 30.0])
def test_lem_13_ratio_of_both_sides(epsilon: float) -> None:
    """P(|X| > e) over 2 exp(-e^2/2)/e."""
    want = math.exp(norm.logsf(epsilon) + epsilon**2 / 2) * epsilon
    assert exact_value("W18-L13", "", "printed", {"epsilon": epsilon}) == pytest.approx(want, rel=1e-11)
    assert exact_value("W18-L13", "", "coefficient 0.77", {"epsilon": epsilon}) == pytest.approx(2 / 0.77 * want)


def test_lem_13_least_coefficient_is_the_root_of_2_over_pi() -> None:
    """epsilon exp(epsilon^2/2) P(|X| > epsilon) rises to sqrt(2/pi) = 0.798."""
    limit = 2 * exact_value("W18-L13", "", "printed", {"epsilon": 1e4})
    assert limit == pytest.approx(math.sqrt(2 / math.pi), rel=1e-7)
    assert limit < math.sqrt(2 / math.pi)
    assert holds("W18-L13", "", "printed", {})


# W18, Lemma 14: both tails at the printed and at wrong coefficients, against scipy's chi-square.
@for_each("k", [1, 4, 300])
@for_each("t", [0.01, 0.7, 12.0])
def test_lem_14_tails(k: int, t: float) -> None:
    at, root = {"k": k, "t": t}, math.sqrt(k * t)
    assert decide("W18-L14", "#upper", "printed", at).claim.published == pytest.approx(math.exp(-t))
    for version, linear in (("printed", 2.0), ("coefficient of t 5 % smaller", 1.9), ("no linear term", 0.0)):
        want = chi2.sf(k + 2 * root + linear * t, k)
        assert exact_value("W18-L14", "#upper", version, at) == pytest.approx(want, rel=1e-9)
    for version, cross in (("printed", 2.0), ("coefficient of the root 10 % smaller", 1.8)):
        want = chi2.cdf(k - cross * root, k)
        assert exact_value("W18-L14", "#lower", version, at) == pytest.approx(want, rel=1e-9, abs=1e-300)


@for_each("part", ["#upper", "#lower"])
def test_lem_14_proved_between(part: str) -> None:
    assert holds("W18-L14", part, "printed", {"k": 3, "from": 0.05, "to": 4.0})


# W18, Lemma 15: finite laws by hand, and every event of all small laws by plain loops.
Law = tuple[Fraction, ...]


def worst_event(p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the largest P(S) - factor Q(S) over every subset S of the points."""
    subsets = product((0, 1), repeat=len(p))
    return max(sum((s * (a - factor * b) for s, a, b in zip(S, p, q, strict=True)), Fraction(0)) for S in subsets)


def tail(law: Law, p: Law, q: Law, factor: Fraction) -> Fraction:
    """Return the mass of |log p/q| > log(factor) under ``law``."""
    return sum((m for m, a, b in zip(law, p, q, strict=True) if not (b <= factor * a and a <= factor * b)), Fraction(0))


def test_lem_15_two_coins() -> None:
    """p = (1/64, 63/64), q = (1/2, 1/2), factor 2: tails 1/64 and 1/2; divergences 0 and 1/2 - 2/64 = 15/32."""
    at = {"laws": "small", "exp(t)": 2.0}
    assert exact_value("W18-L15", "@a", "printed", at) == pytest.approx(15 / 32 * 64)
    assert exact_value("W18-L15", "@a", "corrected", at) <= 1
    assert exact_value("W18-L15", "@b", "smaller of the two tails", at) == pytest.approx(15 / 32 * 64)


def test_lem_15_equality_where_the_other_law_vanishes() -> None:
    """p = (1/4, 3/4) against (0, 1): divergence 1/4, the tail under p."""
    at = {"laws": "impossible", "exp(t)": 2.0}
    assert exact_value("W18-L15", "@b", "printed", at) == 1.0
    assert exact_value("W18-L15", "@b", "delta cut by 5 %", at) == pytest.approx(1 / 0.95)


@for_each(("part", "version"), [("@a", "printed"), ("@a", "corrected"), ("@b", "printed")])
def test_lem_15_all_laws_with_denominator_4(part: str, version: str) -> None:
    """The worst pair and both its events, from the definition: supremum over events, tails by their law."""
    factor = Fraction(5, 4)
    laws = [tuple(Fraction(v, 4) for v in w) for w in product(range(5), repeat=3) if sum(w) == 4]
    pairs = []
    for p, q in product(laws, repeat=2):
        first, second = tail(p, p, q, factor), tail(q, p, q, factor)
        if (part, version) == ("@a", "printed"):
            second = first
        pairs += [(worst_event(p, q, factor), first), (worst_event(q, p, factor), second)]
    value, bound = max(pairs, key=lambda pair: (pair[0] - pair[1], pair[0]))
    evidence = decide("W18-L15", part, version, {"denominator": 4, "exp(t)": 1.25})
    assert evidence.notes["value"] == float(value)
    assert evidence.notes["bound"] == float(bound)


# W18, Lemma 16: Weyl's bound against numpy's singular values.
@for_each("seed", [6, 7])
def test_lem_16_largest_move_over_the_norm(seed: int) -> None:
    X, E = (floats(random_matrix(5, 3, seed, i)) for i in (1, 2))
    moves = np.abs(np.linalg.svd(X, compute_uv=False) - np.linalg.svd(X - E, compute_uv=False))
    norm = np.linalg.norm(E, 2)
    evidence = decide("W18-L16", "", "printed", {"m": 5, "n": 3, "E": "any", "seed": seed})
    assert evidence.exact.value == pytest.approx(moves.max() / norm, rel=1e-9)
    assert evidence.claim.published == pytest.approx(norm)


def test_lem_16_equality_on_diagonal_matrices() -> None:
    """diag(3, 6) moved by 2 I: every singular value moves by 2, the norm."""
    at = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value("W18-L16", "", "printed", at) == 1.0
    assert exact_value("W18-L16", "", "bound cut by 5 %", at) == pytest.approx(1 / 0.95)


# W18, Lemma 17: stationary points of the squared loss and of smooth losses; the sign by hand.
SMALLEST = {"loss": "squared", "n": 0, "dim": 1, "seed": 0}


def test_lem_17_sign_by_hand() -> None:
    """No data, x = y = lambda = 1: theta = 0, theta' = 1/2 (its gradient is theta - 1 + theta), grad l(theta') = -1/2.

    With the printed sign the right side is 1/2, off by twice the size.
    """
    assert exact_value("W18-L17", "#second", "printed", SMALLEST) == 2.0
    assert exact_value("W18-L17", "#second", "corrected", SMALLEST) == 0.0
    assert exact_value("W18-L17", "#first", "printed", SMALLEST) == 0.0


def test_lem_17_nothing_moves_where_the_residual_is_zero() -> None:
    at = {"loss": "squared", "n": 0, "dim": 1, "seed": 1278}
    assert holds("W18-L17", "#second", "printed", at)
    assert exact_value("W18-L17", "#first", "1 % larger", at) == 0.0


@given(seed=st.integers(1, 10_000), n=st.integers(0, 5), dim=st.integers(1, 3))
def test_lem_17_squared_loss(seed: int, n: int, dim: int) -> None:
    """Where x = 0 or its residual is 0 nothing moves: then 0 = 0 with any factor, and even with the printed sign."""
    at = {"loss": "squared", "n": n, "dim": dim, "seed": seed}
    assert holds("W18-L17", "#first", "printed", at)
    assert holds("W18-L17", "#second", "corrected", at)
    assume(not holds("W18-L17", "#second", "printed", at))
    for part in ("#first", "#second"):
        assert exact_value("W18-L17", part, "1 % larger", at) == pytest.approx(0.01 / 1.01)
        assert not holds("W18-L17", part, "Hessian of the other data", at)


@for_each("loss", ["logistic", "Huber"])
def test_lem_17_smooth_losses(loss: str) -> None:
    at = {"loss": loss, "n": 5, "dim": 2, "seed": 3}
    assert holds("W18-L17", "#first", "printed", at)
    assert holds("W18-L17", "#second", "corrected", at)
    assert exact_value("W18-L17", "#second", "printed", at) == pytest.approx(2.0, abs=0.01)
