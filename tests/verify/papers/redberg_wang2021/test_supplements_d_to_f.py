"""RW21, supplements D, E and F: each typed formula on known answers and literal twins."""

import math
from fractions import Fraction

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value
from oracles.mechanisms.goe import sf_one, sf_two
from oracles.verify.w18_small import gaussian_delta
from rows import for_each
from scipy.optimize import brentq
from scipy.stats import norm


# RW21, Theorem 17: costs by hand, coverage by scipy's normal law, norms of named matrices.
@for_each("part", [".1", ".3"])
def test_thm_17_cost_by_hand(part: str) -> None:
    """||H||_F = 2, sigma_3 = 1, delta = e^-2: 1 + 2 * 2/sqrt 2; mu = sqrt 2."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    epsilon = 1 + 2 * math.sqrt(2.0)
    assert claimed("RW21-T17", part, "printed", at) == pytest.approx(epsilon)
    assert claimed("RW21-T17", part, "epsilon cut by 5 %", at) == pytest.approx(0.95 * epsilon)
    assert claimed("RW21-T17", part, "norm of the strict upper triangle", at) == pytest.approx(0.5 + 2.0)
    truth = gaussian_delta(math.sqrt(2.0), epsilon)
    assert exact_value("RW21-T17", part, "printed", at) == pytest.approx(truth, rel=1e-9)


def test_thm_17_classical_release_by_hand() -> None:
    """beta = 2, sigma = 1, delta = e^-2: 2 + 2 * 2; its noise over sqrt 2 halves nothing on the diagonal."""
    at = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    assert claimed("RW21-T17", ".4", "printed", at) == pytest.approx(6.0)
    assert claimed("RW21-T17", ".4", "epsilon cut by 5 %", at) == pytest.approx(5.7)
    assert claimed("RW21-T17", ".4", "the formula of the GOE release", at) == pytest.approx(1 + 2 * math.sqrt(2.0))
    for what, ratio in (("diagonal variance", 1.0), ("off-diagonal variance", 0.5), ("epsilon", 1.0)):
        assert exact_value("RW21-T17", ".4", "printed", at | {"compare": what}) == pytest.approx(ratio, abs=1e-12)


@for_each("delta", [0.5, 1e-3])
def test_thm_17_ex_post_coverage(delta: float) -> None:
    """mu = 1: P(|L| <= 1/2 + sqrt(2 log(1/delta))), L ~ N(1/2, 1)."""
    full = 0.5 + math.sqrt(2 * math.log(1 / delta))
    for version, epsilon, level in (
        ("printed", full, 1 - 2 * delta),
        ("failure at most 0.9 delta", full, 1 - 0.9 * delta),
        ("epsilon cut by 10 %", 0.9 * full, 1 - 2 * delta),
    ):
        found = decide("RW21-T17", ".2", version, {"norm": math.sqrt(2.0), "sigma": 1.0, "delta": delta})
        assert found.exact.value == pytest.approx(norm.cdf(epsilon - 0.5) - norm.cdf(-epsilon - 0.5), abs=1e-12)
        assert found.claim.low == pytest.approx(level)


@for_each("shape", ["full", "diagonal", "rank one"])
@for_each("dim", [1, 3])
def test_thm_17_norms_of_triangles(shape: str, dim: int) -> None:
    raw = np.random.Generator(np.random.PCG64DXSM(dim)).integers(-64, 65, size=(dim, dim)).astype(float)
    H = np.triu(raw) + np.triu(raw, 1).T
    H = np.diag(np.diag(H)) if shape == "diagonal" else np.outer(raw[0], raw[0]) if shape == "rank one" else H
    scaled = np.concatenate([np.diag(H) / math.sqrt(2.0), H[np.triu_indices(dim, 1)]])
    at, whole = {"dim": dim, "shape": shape}, np.linalg.norm(H) ** 2
    assert scaled @ scaled / whole == pytest.approx(0.5)
    assert exact_value("RW21-T17", ".5", "printed", at) == 0.5
    plain = H[np.triu_indices(dim)]
    for part, version, more in ((".5", "diagonal not divided", {}), (".4", "printed", {"compare": "sensitivity"})):
        assert exact_value("RW21-T17", part, version, at | more) == pytest.approx(plain @ plain / whole)


# RW21, Lemma 18: the second display put into the first, by logarithms.
@for_each(("version", "power"), [("printed", 2 / 3), ("power 3/2", 1.5), ("power 0.66", 0.66)])
@for_each(("dim", "delta"), [(1, 0.5), (10, 1e-3)])
def test_lem_18_ratio_of_the_two_displays(version: str, power: float, dim: int, delta: float) -> None:
    """log of C exp(-c d t^{3/2})/delta with t = (log(C/delta)/(c d))^power: C = 2, c = 1/2."""
    deep = math.log(2.0 / delta)
    t = (deep / (0.5 * dim)) ** power
    value = exact_value("RW21-L18", "#inversion", version, C=2.0, c=0.5, dim=dim, delta=delta)
    assert math.log(value) == pytest.approx(deep - 0.5 * dim * t**1.5, abs=1e-9)


def test_lem_18_all_powers_agree_where_t_is_one() -> None:
    """C/delta = e^(c d): log(C/delta)/(c d) = 1, so t = 1 whatever its power."""
    for version in ("printed", "power 3/2"):
        found = decide("RW21-L18", "#inversion", version, C=math.exp(5.0) * 0.25, c=0.5, dim=10, delta=0.25)
        assert found.exact.value == pytest.approx(1.0, abs=1e-12)


# RW21, Lemma 19: the bound at C = 2, c = 1 and the exact tail, in one and two dimensions.
@for_each(("version", "leading"), [("printed", math.sqrt(2.0)), ("no root 2", 1.0)])
@for_each("delta", ["1/2", "1/1000"])
@for_each("dim", [1, 2])
def test_lem_19_tail_over_delta(version: str, leading: float, delta: str, dim: int) -> None:
    """A is N(0, 2) for d = 1, and G +- R (normal, Rayleigh) for d = 2."""
    share = 0.5 if delta == "1/2" else 1e-3
    bound = leading * (2.0 + (math.log(2.0 / share) / dim) ** (2 / 3)) * math.sqrt(dim)
    found = decide("RW21-L19", "", version, dim=dim, delta=delta)
    assert found.notes["bound over sigma"] == pytest.approx(bound, rel=1e-12)
    assert found.exact.value == pytest.approx((sf_one, sf_two)[dim - 1](bound)[1] / share, rel=1e-6)
    assert (found.claim.low, found.claim.high) == (0.0, 1.0)


# RW21, Lemma 20: quantile and coverage in one and two dimensions, from closed forms.
@for_each("rho", [0.5, 0.1, 1e-6])
def test_lem_20_one_normal_variable(rho: float) -> None:
    """d = 1: A is N(0, 2), so the bound is sqrt(2) z: it covers exactly 1 - rho, and the lemma leaves out rho."""
    for version, probability, low, high in (("printed", rho, 0.0, 0.0), ("corrected", 1.0 - rho, 1.0 - rho, math.inf)):
        found = decide("RW21-L20", "", version, dim=1, rho=rho)
        assert found.notes["tau"] == pytest.approx(math.sqrt(2.0) * norm.isf(rho / 2), rel=1e-8)
        assert found.exact.value == pytest.approx(probability, abs=1e-7 * rho)
        assert (found.claim.low, found.claim.high) == pytest.approx((low, high), rel=1e-15)


@for_each(
    ("version", "factor", "share"),
    [
        ("corrected", 1.0, 0.5),
        ("quantile at 1 - rho", 1.0, 1.0),
        ("other normalisation", math.sqrt(0.5), 0.5),
        ("quantile 1 % lower", 0.99, 0.5),
    ],
)
def test_lem_20_two_dimensions(version: str, factor: float, share: float) -> None:
    """The quantile of the largest eigenvalue by root finding, and the two-sided tail by quadrature."""
    tau = factor * brentq(lambda t: sf_two(t)[0] - share * 0.1, 0.0, 10.0, xtol=1e-13)
    found = decide("RW21-L20", "", version, dim=2, rho=0.1)
    assert found.notes["tau"] == pytest.approx(tau, rel=1e-8)
    assert found.exact.value == pytest.approx(1.0 - sf_two(tau)[1], abs=1e-7)


# RW21, supplement D.1: the quantile of GOE(50) against the Tracy-Widom tail at the edge.
def edge_quantile(dim: int, tail: float) -> float:
    """2 sqrt(d) + d^(-1/6) s with the leading tail of Tracy and Widom, exp(-2 s^1.5/3)/(4 sqrt(pi) s^0.75) = tail."""

    def gap(s: float) -> float:
        return -2 * s**1.5 / 3 - math.log(4 * math.sqrt(math.pi) * s**0.75) - math.log(tail)

    return 2 * math.sqrt(dim) + dim ** (-1 / 6) * brentq(gap, 1.0, 20.0)


def test_num_1_quantile() -> None:
    """The edge scaling is right to about one per cent at d = 50: near 16.97, far from 12; 12 is 16.97/sqrt(2)."""
    found = decide("RW21-N1", "", "corrected")
    assert found.exact.value == pytest.approx(edge_quantile(50, 8.465e-6 / 2), rel=0.015)
    assert found.exact.value / math.sqrt(2.0) == pytest.approx(12.0, abs=0.005)
    assert found.claim.published == 16.97
    printed = decide("RW21-N1", "", "printed")
    assert printed.claim.published == 12.0
    assert printed.exact == found.exact


def test_num_1_coverage_by_two_tails() -> None:
    """At 16.97 both ends have rho/2; 12 is s = -4.1 at the edge 2 sqrt(50), Tracy-Widom below 0.01 (tables)."""
    found = decide("RW21-N1", "", "corrected", {"what": "coverage", "tau": 16.97}, draws=50)
    assert 1.0 - found.exact.value == pytest.approx(8.465e-6, rel=0.05)
    assert found.claim.low == pytest.approx(1.0 - 8.465e-6, abs=1e-15)
    short = decide("RW21-N1", "", "printed", {"what": "coverage", "tau": 12.0}, draws=50)
    assert short.exact.high < 0.01**2


# RW21, Proposition 21: in one dimension the sandwich is an interval of one normal variable.
@for_each("rho", [0.3, 1e-4])
@for_each(
    ("version", "factor"),
    [
        ("printed", 1.0),
        ("smallest eigenvalue 5 % below the condition", 0.95),
        ("tau of the other normalisation", math.sqrt(0.5)),
    ],
)
def test_prop_21_exact_coverage(version: str, factor: float, rho: float) -> None:
    """lambda_min = 2 tau and H_hat = H + N(0, 2): H_hat/H in [1/2, 3/2] is |N| <= z."""
    found = decide("RW21-P21", "", version, {"dim": 1, "rho": rho, "H": "identity"})
    z = factor * norm.isf(rho / 2)
    assert 1.0 - found.exact.value == pytest.approx(2 * norm.sf(z), rel=1e-4)
    assert found.notes["lambda_min"] == pytest.approx(2 * math.sqrt(2.0) * z, rel=2e-6)
    assert found.claim.low == pytest.approx(1.0 - rho)


@for_each(
    ("version", "low", "high"), [("printed", -1, 1), ("upper factor 1.4", -1, 0.8), ("lower factor 0.6", -0.8, 1)]
)
def test_prop_21_simulated_coverage(version: str, low: float, high: float) -> None:
    """1/2 <= H_hat/H <= 1.4 is -z <= N <= 0.8 z; with 0.6 it is -0.8 z <= N."""
    found = decide("RW21-P21", "", version, {"dim": 1, "rho": 0.3, "H": "identity"}, draws=20_000)
    z = norm.isf(0.15)
    assert found.sampled.low <= norm.cdf(high * z) - norm.cdf(low * z) <= found.sampled.high
    assert found.sampled.high - found.sampled.low < 0.06


# RW21, Theorem 22: the loss at an outcome from normal log densities; the printed bound by hand.
def test_thm_22_smallest_counterexample() -> None:
    """Nothing changes, the bound is 1, o = Q(D), sigma = 1: the loss is 0 and the formula gives 1/2."""
    assert claimed("RW21-T22", "", "printed", {}) == 0.5
    assert exact_value("RW21-T22", "", "printed", {}) == 0.5
    assert exact_value("RW21-T22", "", "corrected", {}) == 0.0


@for_each(("dim", "seed", "variance"), [(1, 2, 9), (3, 9, 4)])
def test_thm_22_against_normal_densities(dim: int, seed: int, variance: int) -> None:
    rng = np.random.Generator(np.random.PCG64DXSM([dim, seed]))
    q, change, outcome = (rng.integers(-40, 41, dim) / 8 for _ in range(3))
    at = {"dim": dim, "seed": seed, "sigma^2": variance}
    scale = variance**0.5
    ratio = (norm.logpdf(outcome, q, scale) - norm.logpdf(outcome, q + change, scale)).sum()
    square, inner = change @ change / (2 * variance), change @ (outcome - q) / variance
    longer = np.abs(change) + 1
    for version, expected in {
        "corrected": abs(ratio),
        "change taken backwards": abs(square + inner),
        "no half": abs(2 * square - inner),
        "scaled by 1.01": 1.01 * abs(ratio),
        "printed": abs(longer @ longer / (2 * variance) - longer @ (outcome - q) / variance),
    }.items():
        found = decide("RW21-T22", "", version, at)
        assert found.notes["loss"] == pytest.approx(abs(ratio), rel=1e-10)
        assert found.claim.published == pytest.approx(expected, rel=1e-10)
        assert found.exact.value == pytest.approx(expected - abs(ratio), abs=1e-10)
    assert Fraction(exact_value("RW21-T22", "", "corrected", at)) == 0


# RW21, Corollary 23: epsilon and coverage from scipy's normal law.
def covered(mu: float, epsilon: float) -> float:
    """P(|L| <= epsilon) for L ~ N(mu^2/2, mu^2)."""
    return norm.cdf((epsilon - mu**2 / 2) / mu) - norm.cdf((-epsilon - mu**2 / 2) / mu)


@for_each("delta", [0.4, 1e-3, 1e-12])
def test_cor_23_per_instance_epsilon(delta: float) -> None:
    """||Delta|| = 3, sigma = 2: 9/8 + 3 z/2 with z the quantile at 1 - delta."""
    at = {"norm": 3.0, "sigma": 2.0, "delta": delta}
    z, doubled = norm.isf(delta), norm.isf(2 * delta)
    assert claimed("RW21-C23", ".1", "printed", at) == pytest.approx(1.125 + 1.5 * z, rel=1e-12)
    assert claimed("RW21-C23", ".1", "epsilon cut by 5 %", at) == pytest.approx(0.95 * (1.125 + 1.5 * z), rel=1e-12)
    assert claimed("RW21-C23", ".1", "quantile at 1 - 2 delta", at) == pytest.approx(1.125 + 1.5 * doubled, rel=1e-12)


@for_each("rho", [0.5, 0.1, 1e-3])
def test_cor_23_ex_post_coverage(rho: float) -> None:
    """At ||Delta||/sigma = 1/2: the loss is N(1/8, 1/4)."""
    at = {"norm": 1.0, "sigma": 2.0, "delta": rho}
    epsilons = {
        (".2", "printed"): (0.125 + 0.5 * norm.isf(rho / 2), 1 - rho),
        (".2", "one-sided quantile"): (0.125 + 0.5 * norm.isf(rho), 1 - rho),
        (".2", "failure at most 0.95 rho"): (0.125 + 0.5 * norm.isf(rho / 2), 1 - 0.95 * rho),
        ("#weaker", "printed"): (0.125 + 0.5 * math.sqrt(2 * math.log(2 / rho)), 1 - rho),
        ("#weaker", "epsilon cut by 10 %"): (0.9 * (0.125 + 0.5 * math.sqrt(2 * math.log(2 / rho))), 1 - rho),
    }
    for (part, version), (epsilon, level) in epsilons.items():
        found = decide("RW21-C23", part, version, at)
        assert found.exact.value == pytest.approx(covered(0.5, epsilon), abs=1e-12)
        assert found.claim.low == pytest.approx(level, abs=1e-15)
