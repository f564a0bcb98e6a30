"""W19, section 2: each typed formula on known answers and literal twins."""

import math
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.formula_cases import claimed, decide, exact_value, holds
from oracles.mechanisms.profiles import gaussian_log_delta
from oracles.verify.w18_small import gaussian_epsilon
from rows import for_each
from scipy.optimize import brentq

from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.releases.composition import optimal_composition
from verify.figures.figure_page import stream
from verify.methods.finite_mechanisms import random_law
from verify.papers.wang2019.fig_1 import ID


# W19, Lemma 2.4, against its text and numbers worked out by hand.
def test_lem_2_4_printed_and_corrected_by_hand() -> None:
    """gamma = 0.01, Delta = 1, delta = 1.25/e: the root is 1, so epsilon is gamma as printed, sqrt(2 gamma) mended."""
    point = {"gamma": 0.01, "sensitivity": 1.0, "delta": 1.25 / math.e}
    assert claimed("W19-L2.4", "", "printed", point) == pytest.approx(0.01)
    assert claimed("W19-L2.4", "", "corrected", point) == pytest.approx(math.sqrt(0.02))
    assert claimed("W19-L2.4", "", "no 2 under the root", point) == pytest.approx(0.1)


@settings(max_examples=30)
@given(st.floats(1e-3, 1e3), st.floats(1e-3, 10.0), st.floats(1e-9, 0.9))
def test_lem_2_4_scaling(gamma: float, sensitivity: float, delta: float) -> None:
    """The printed epsilon is linear in gamma, the corrected one (squared) is; both are linear in Delta."""
    one = {"gamma": 1.0, "sensitivity": 1.0, "delta": delta}
    point = {"gamma": gamma, "sensitivity": sensitivity, "delta": delta}
    printed = claimed("W19-L2.4", "", "printed", point) / claimed("W19-L2.4", "", "printed", one)
    corrected = claimed("W19-L2.4", "", "corrected", point) / claimed("W19-L2.4", "", "corrected", one)
    assert printed == pytest.approx(gamma * sensitivity, rel=1e-12)
    assert corrected**2 == pytest.approx(gamma * sensitivity**2, rel=1e-12)


def test_lem_2_4_exact_delta_is_that_of_two_normal_laws() -> None:
    """Noise of variance 1/gamma on a shift of Delta: the two laws lie sqrt(gamma) Delta standard deviations apart."""
    point = {"gamma": 4.0, "sensitivity": 0.3, "delta": 1e-3}
    found = decide("W19-L2.4", "", "corrected", point)
    assert math.log(found.exact.value) == pytest.approx(gaussian_log_delta(found.claim.published, 0.6), rel=1e-9)


def test_lem_2_4_critical_constant() -> None:
    """The critical factor is 1/(mu sqrt(2 log(1.25e12))) with mu the exact Gaussian-DP parameter of (1, 1e-12)."""
    mu = brentq(lambda m: gaussian_log_delta(1.0, m) - math.log(1e-12), 0.05, 0.5, xtol=1e-14)
    critical = 1.0 / (mu * math.sqrt(2.0 * math.log(1.25e12)))
    point = {"gamma": 1.0, "sensitivity": 1.0, "delta": 1e-3}
    cut = claimed("W19-L2.4", "", "constant 2 % below the critical one", point) / claimed(
        "W19-L2.4", "", "corrected", point
    )
    assert cut == pytest.approx(0.98 * critical, rel=1e-9)


def test_lem_2_4_the_corrected_form_claims_nothing_above_1() -> None:
    assert not decide("W19-L2.4", "", "corrected", {"gamma": 1.0, "sensitivity": 1.0, "delta": 0.1}).claim.in_domain
    assert decide("W19-L2.4", "", "corrected", {"gamma": 1.0, "sensitivity": 0.1, "delta": 0.1}).claim.in_domain


# W19, Fact 2.5, by hand on two outputs.
def test_fact_2_5_one_half_and_one_twentieth() -> None:
    """exp(epsilon) = 3, delta = 1/2 - 3/20: 1/2 log 3 exceeds delta, 1/20 log 3 does not; the other event is 19/10."""
    params = {"laws": "one half and one twentieth", "exp(epsilon)": 3.0}
    assert decide("W19-F2.5", "", "printed", params).notes["delta"] == pytest.approx(0.35)
    assert exact_value("W19-F2.5", "", "printed", params) == pytest.approx(math.log(10) / math.log(3))
    assert exact_value("W19-F2.5", "", "corrected", params) == pytest.approx(math.log(1.9) / math.log(3))
    assert exact_value("W19-F2.5", "", "no condition", params) == pytest.approx(math.log(10) / math.log(3))


@for_each("factor", [1.0625, 3.0])
def test_fact_2_5_sharpest_laws(factor: float) -> None:
    """P(S) just below (exp(epsilon) + epsilon) P'(S)."""
    found = exact_value("W19-F2.5", "", "corrected", {"laws": "sharpest", "exp(epsilon)": factor})
    limit = math.log(factor + math.log(factor)) / math.log(factor)
    assert found == pytest.approx(limit, rel=1e-4)
    assert found < limit < 2


def test_fact_2_5_on_the_whole_box() -> None:
    """exp(2 e) - exp(e) - e is positive; exp(1.8 e) - exp(e) - e is not for small e."""
    assert holds("W19-F2.5", "", "corrected", {})
    assert not holds("W19-F2.5", "", "1.8 epsilon", {})


# W19, Fact 2.6 (1): randomised response by hand, random laws by brute force over events.
def sharpest(version: str, delta: float, one: float, two: float) -> float:
    params = {"laws": "randomised response", "delta": delta, "exp(epsilon_1)": one, "exp(epsilon_2)": two}
    return exact_value("W19-F2.6.1", "", version, params)


def test_fact_2_6_1_randomised_response_by_hand() -> None:
    """The data are told unless both keep silent: delta_1 + delta_2 - delta_1 delta_2 over the sum."""
    assert sharpest("printed", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.25)
    assert sharpest("larger delta only", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.125)
    assert sharpest("delta cut by 5 %", 0.125, 1.5, 2.0) == pytest.approx((0.25 - 0.125**2) / 0.2375)
    # both tell the truth with odds 1.5 and 2, so with probability 3/7.5 against 1/7.5; at exp(epsilon) = 2: 1/7.5
    assert sharpest("one epsilon", 0.0, 1.5, 2.0) == pytest.approx((3 - 2) / 7.5)
    assert sharpest("exp(epsilon) cut by 5 %", 0.0, 1.5, 2.0) == pytest.approx(3 * 0.05 / 7.5)


def test_fact_2_6_1_random_laws_by_brute_force() -> None:
    """The smallest deltas over all events, in both directions."""
    from verify.methods.finite_mechanisms import random_law

    one, two = 1.5, 2.0
    first, second = (
        (tuple(map(float, random_law(2, 3, k))) for k in (1, 2)),
        (tuple(map(float, random_law(2, 3, k))) for k in (3, 4)),
    )

    def smallest(p: list[float], q: list[float], factor: float) -> float:
        events = list(product((0, 1), repeat=len(p)))
        mass = [tuple(sum(v for v, c in zip(law, e, strict=True) if c) for law in (p, q)) for e in events]
        return max(max(a - factor * b, b - factor * a) for a, b in mass)

    (p1, q1), (p2, q2) = first, second
    total = smallest(p1, q1, one) + smallest(p2, q2, two)
    joint = smallest([a * b for a in p1 for b in p2], [a * b for a in q1 for b in q2], one * two)
    params = {"laws": "random", "outputs": 2, "seed": 3, "exp(epsilon_1)": one, "exp(epsilon_2)": two}
    notes = decide("W19-F2.6.1", "", "printed", params).notes
    assert notes["bound"] == pytest.approx(total)
    assert notes["value"] == pytest.approx(joint)


# W19, Fact 2.6 (2): the explicit form by hand, its exact worst case by an independent formula.
def test_fact_2_6_2_explicit_form_by_hand() -> None:
    """k = 8, slack = 1/e: sqrt(16) epsilon + 8 epsilon (exp(epsilon) - 1)."""
    point = {"epsilon": 0.5, "delta": 0.01, "k": 8, "slack": math.exp(-1)}
    second = 4.0 * math.expm1(0.5)
    assert claimed("W19-F2.6.2", "", "corrected", point) == pytest.approx(2.0 + second)
    assert claimed("W19-F2.6.2", "", "no second term", point) == pytest.approx(2.0)
    assert claimed("W19-F2.6.2", "", "no 2 under the root", point) == pytest.approx(math.sqrt(2.0) + second)
    assert claimed("W19-F2.6.2", "", "epsilon cut by 17 %", point) == pytest.approx(0.83 * (2.0 + second))
    assert decide("W19-F2.6.2", "", "corrected", point).claim.high == pytest.approx(0.08 + math.exp(-1), rel=1e-12)


@for_each(("epsilon", "delta", "k"), [(0.3, 1e-4, 7), (1.0, 0.0, 20), (2.0, 0.01, 1)])
def test_fact_2_6_2_worst_case_against_an_independent_formula(epsilon: float, delta: float, k: int) -> None:
    """The mutant without its second term claims less than all of the loss, so that the worst delta is positive."""
    found = decide("W19-F2.6.2", "", "no second term", {"epsilon": epsilon, "delta": delta, "k": k, "slack": 0.5})
    expected = optimal_composition(epsilon, delta, k, found.claim.published)
    assert found.exact.value == pytest.approx(expected, rel=1e-8, abs=1e-12)


def test_fact_2_6_2_two_responses_by_hand() -> None:
    """k = 2, odds 3: at total t both truths weigh 9/16 - exp(t)/16, one of each 6/16 (1 - exp(t)) < 0."""
    params = {"epsilon": math.log(3.0), "delta": 0.0, "k": 2, "slack": 0.9}
    found = decide("W19-F2.6.2", "", "no second term", params)
    t = math.sqrt(4 * math.log(1 / 0.9)) * math.log(3.0)
    assert found.exact.value == pytest.approx((9 - math.exp(t)) / 16, rel=1e-9)


def test_fact_2_6_2_sequence() -> None:
    """Required k over stated sqrt(k log k): 12 decades less 6 less half a factor 7; nothing for order k."""
    assert exact_value("W19-F2.6.2", "", "printed", {"epsilon": 1.0}) == pytest.approx(6 - math.log10(7) / 2)
    assert exact_value("W19-F2.6.2", "", "corrected", {"epsilon": 1.0}) == pytest.approx(0.0, abs=1e-12)


# W19, Fact 2.6 (3): processing by hand-made functions of random laws.
PARAMS = {"outputs": 4, "seed": 1, "exp(epsilon)": 1.5}


def test_fact_2_6_3_identity_and_constant() -> None:
    assert exact_value("W19-F2.6.3", "", "printed", PARAMS | {"function": "identity"}) == 1.0
    assert exact_value("W19-F2.6.3", "", "printed", PARAMS | {"function": "constant"}) == 0.0
    cut = exact_value("W19-F2.6.3", "", "delta cut by 5 %", PARAMS | {"function": "identity"})
    assert cut == pytest.approx(1 / 0.95)


def test_fact_2_6_3_a_function_that_sees_the_data() -> None:
    """Constant without the target, the identity with it: (1, 0, 0, 0) against q."""
    p, q = ([float(v) for v in random_law(4, 1, k)] for k in (1, 2))
    before = max(sum(max(0.0, a - 1.5 * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))
    after = max(max(0.0, 1 - 1.5 * q[0]), max(0.0, q[0] - 1.5) + sum(q[1:]))
    found = exact_value("W19-F2.6.3", "", "a function that sees the data", PARAMS | {"function": "constant"})
    assert found == pytest.approx(after / before)


# W19, Fact 2.6 (4): the chain with steps (0, 1/8) and (log 4, 0), by hand.
BACK, OUT = {"chain": "tell, then scale", "k": 2}, {"chain": "scale, then tell", "k": 2}


def test_fact_2_6_4_steps_by_hand() -> None:
    """1/8 alone where the factor 4 comes later, 1/8 times 4 where it comes before; the end tells the data with 1/2."""
    assert claimed("W19-F2.6.4", "#out", "printed", BACK) == 0.125
    assert claimed("W19-F2.6.4", "#back", "printed", BACK) == 0.125
    assert claimed("W19-F2.6.4", "#back", "corrected", BACK) == 0.5
    assert exact_value("W19-F2.6.4", "#back", "printed", BACK) == 4.0
    assert exact_value("W19-F2.6.4", "#back", "corrected", BACK) == 1.0
    assert claimed("W19-F2.6.4", "#out", "printed", OUT) == 0.5
    assert exact_value("W19-F2.6.4", "#out", "printed", OUT) == 1.0
    assert exact_value("W19-F2.6.4", "#out", "deltas added without factors", OUT) == 4.0
    assert exact_value("W19-F2.6.4", "#back", "delta cut by 5 %", BACK) == pytest.approx(1 / 0.95)


@for_each(("part", "version"), [("#out", "printed"), ("#back", "printed"), ("#back", "corrected")])
def test_fact_2_6_4_random_chain_in_floats(part: str, version: str) -> None:
    """The sum retyped: over j < i on the way out (and as printed), over j > i on the way back."""
    from verify.methods.finite_mechanisms import random_law

    k, seed = 3, 3
    laws = [[float(v) for v in random_law(4, seed, 20 + i)] for i in range(k + 1)]
    factors = [1 + (i * seed % 5) / 4 for i in (1, 2, 3)]

    def over(p: list[float], q: list[float], f: float) -> float:
        return sum(max(0.0, a - f * b) for a, b in zip(p, q, strict=True))

    deltas = [max(over(laws[i], laws[i + 1], factors[i]), over(laws[i + 1], laws[i], factors[i])) for i in range(k)]
    if version == "printed":
        total = deltas[0] + deltas[1] * factors[0] + deltas[2] * factors[0] * factors[1]
    else:
        total = deltas[0] * factors[1] * factors[2] + deltas[1] * factors[2] + deltas[2]
    ends = (laws[0], laws[-1]) if part == "#out" else (laws[-1], laws[0])
    notes = decide("W19-F2.6.4", part, version, {"chain": "random", "k": k, "seed": seed}).notes
    assert notes["bound"] == pytest.approx(total)
    assert notes["value"] == pytest.approx(over(*ends, factors[0] * factors[1] * factors[2]), abs=1e-15)


# W19, Proposition 2.9: a told coin by hand, and the bound in plain loops over ordered samples.
COIN = {"mechanism": "tells a record", "symbols": 2, "n": 1, "population": "uniform", "rule": "1"}


def told(records: tuple[int, ...]) -> list[float]:
    """Half of the time a record drawn from the data is told, else a fair coin (always, without data)."""
    shares = [records.count(z) / len(records) if records else 0.5 for z in (0, 1)]
    return [(share + 0.5) / 2 for share in shares]


def smallest_delta(p: list[float], q: list[float], factor: float) -> float:
    over = [sum(max(0.0, a - factor * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p))]
    return max(over)


def test_prop_2_9_by_hand() -> None:
    """epsilon = 0; from one record delta is 1/2 on half of the targets: 1/4 + 1/4. From none it is 1/2 on all."""
    text, proof = (decide("W19-P2.9", reading, "printed", COIN).notes for reading in ("@a", "@b"))
    assert (text["value"], text["bound"]) == (0.5, 0.5)
    assert proof["bound"] == 1.0
    assert decide("W19-P2.9", "@a", "no cross term", COIN).notes["bound"] == 0.25
    assert decide("W19-P2.9", "@a", "one factor exp(epsilon)", COIN).notes["bound"] == 0.25
    assert exact_value("W19-P2.9", "@a", "bound cut by 5 %", COIN) == pytest.approx(1 / 0.95)


@for_each(("reading", "base"), [("@a", 2), ("@b", 1)])
def test_prop_2_9_in_plain_loops(reading: str, base: int) -> None:
    """exp(epsilon) = 5/4 for every pair, symbol 1 with probability 1/64, n = 2."""
    law, factor, n = [63 / 64, 1 / 64], 1.25, 2
    squares = deltas = cross = 0.0
    for records in product((0, 1), repeat=base):
        weight = 1.0
        for z in records:
            weight *= law[z]
        mean = sum(law[z] * smallest_delta(told(records), told((*records, z)), factor) for z in (0, 1))
        squares, deltas, cross = squares + weight * factor**2, deltas + weight * mean, cross + weight * factor * mean
    # the error of the worst loss: positive parts of E[1/n sum 1{z_i = z} - law(z)] times each output
    gap = [[0.0, 0.0], [0.0, 0.0]]
    for records in product((0, 1), repeat=n):
        weight = law[records[0]] * law[records[1]]
        for z in (0, 1):
            for output in (0, 1):
                gap[z][output] += weight * (records.count(z) / n - law[z]) * told(records)[output]
    worst = max(sum(max(0.0, sign * g) for row in gap for g in row) for sign in (1, -1))
    params = {"mechanism": "tells a record half of the time", "symbols": 2, "n": n, "population": "rare last"}
    notes = decide("W19-P2.9", reading, "printed", params | {"rule": "5/4"}).notes
    assert notes["bound"] == pytest.approx(squares - 1 + deltas + cross)
    assert notes["value"] == pytest.approx(worst)


# W19, Proposition 2.11: a told coin by hand, and the bound in plain loops.
MOVED = {
    "mechanism": "tells a record", "symbols": 2, "n": 1, "population": "uniform", "target": "the population",
    "rule": "1",
}  # fmt: skip


def test_prop_2_11_by_hand() -> None:
    """From no record delta is 1/2 on both symbols, epsilon = 0: printed 1/2 + 0, corrected 1/2 + 1/2; error 1/2."""
    assert decide("W19-P2.11", "", "printed", MOVED).notes["bound"] == 0.5
    assert decide("W19-P2.11", "", "corrected", MOVED).notes["bound"] == 1.0
    assert decide("W19-P2.11", "", "corrected", MOVED).notes["value"] == 0.5
    assert decide("W19-P2.11", "", "delta of the target left out", MOVED).notes["bound"] == 0.5


@for_each("version", ["printed", "corrected"])
def test_prop_2_11_in_plain_loops(version: str) -> None:
    """n = 2: Z is one record; exp(epsilon) = 5/4; the second symbol has 1/64 under D and 63/64 under D'."""
    law, target, factor = [63 / 64, 1 / 64], [1 / 64, 63 / 64], 1.25
    epsilon = math.log(factor)

    def told(records: tuple[int, ...]) -> list[float]:
        return [(records.count(z) / len(records) + 0.5) / 2 for z in (0, 1)]

    def delta(z: int, other: int) -> float:
        p, q = told((z,)), told((z, other))
        return max(sum(max(0.0, a - factor * b) for a, b in zip(x, y, strict=True)) for x, y in ((p, q), (q, p)))

    total = 0.0
    for z in (0, 1):
        for first in (0, 1):
            for second in (0, 1):
                last = (epsilon if version == "printed" else factor) * delta(z, second)
                inner = factor + epsilon - 1 + delta(z, first) + last
                total += law[z] * law[first] * target[second] * inner
    params = {
        "mechanism": "tells a record half of the time", "symbols": 2, "n": 2, "population": "rare last",
        "target": "mostly the last symbol", "rule": "5/4",
    }  # fmt: skip
    assert decide("W19-P2.11", "", version, params).notes["bound"] == pytest.approx(total)


# W19, Corollary 2.12: its three displays by hand.
def test_cor_2_12_bound_by_hand() -> None:
    """One record, half the time told, epsilon = 0, delta = 1/4 from no record: 2 delta = 1/2, cut 0.95 times that."""
    params = {
        "mechanism": "tells a record half of the time", "symbols": 2, "n": 1, "base": 0, "population": "rare last",
        "rule": "1",
    }  # fmt: skip
    assert decide("W19-C2.12", "#bound", "printed", params).notes["bound"] == 0.5
    assert decide("W19-C2.12", "#bound", "2 delta cut by 5 %", params).notes["bound"] == pytest.approx(0.475)
    # exp(epsilon) = 5/4 for every pair: both second moments are 25/16, delta = max(3/4 - 5/4 1/2, 1/2 - 5/4 1/4)
    wide = decide("W19-C2.12", "#bound", "printed", params | {"rule": "5/4"})
    assert wide.notes["bound"] == pytest.approx(25 / 16 - 1 + 2 * 3 / 16)
    assert not wide.claim.in_domain


@for_each(("here", "there", "p"), [(0.0, 0.5, 1.0), (0.25, 0.25, 1.0), (0.25, 0.75, 0.25)])
def test_cor_2_12_expansion_by_hand(here: float, there: float, p: float) -> None:
    """sum 2^i/i! x^i is exp(2 x) - 1; without the weights the sum is x/(1 - x); from i = 0 both gain a 1."""
    params = {"epsilon under D": here, "epsilon under D'": there, "probability": p}
    right = p * (math.exp(2 * here) - 1 + there / (1 - there)) / 2
    left = p * (math.exp(2 * here) + math.exp(2 * there) - 2) / 2
    assert exact_value("W19-C2.12", ".p", "printed", params) == pytest.approx(right - left, abs=1e-12)
    assert exact_value("W19-C2.12", ".p", "corrected", params) == pytest.approx(0.0, abs=1e-12)
    assert exact_value("W19-C2.12", ".p", "sum from i = 0", params) == pytest.approx(p, abs=1e-12)
    half = -p * (math.exp(2 * there) - 1) / 4
    assert exact_value("W19-C2.12", ".p", "half of the target's part", params) == pytest.approx(half, abs=1e-12)


def test_cor_2_12_proof_by_hand() -> None:
    """exp(epsilon) is 1 or f under D, g or h under D': sqrt of the product of means less the mean of products."""
    f, g, h, delta = 2.0, 1.5, 8.0, 0.25
    params = {"exp(epsilon) under D": f, "first under D'": g, "second under D'": h, "delta": delta}
    right = math.sqrt((1 + f**2) / 2 * (g**2 + h**2) / 2) - 1 + 2 * delta
    left = (g + f * h) / 2 - 1 + delta * (1 + (1 + f) / 2)
    assert exact_value("W19-C2.12", "#proof", "printed", params) == pytest.approx(right - left)
    assert exact_value("W19-C2.12", "#proof", "1.9 delta", params) == pytest.approx(right - 0.1 * delta - left)
    assert not decide("W19-C2.12", "#proof", "printed", params).claim.in_domain
    assert decide("W19-C2.12", "#proof", "hypothesis dropped", params).claim.in_domain


# W19, Figure 1: both gains again from refits and the two-normal formula.
def test_fig_1_gain_of_every_record() -> None:
    """The worst record by leaving each out; the bad data set by its two-dimensional geometry, on a grid of s."""
    n, d = 100, 5
    data = linear_unit_rows(n, d, noise_sd=0.3, rng=stream(1, ID, f"{n} {d}")).dataset
    X, y = data.X, data.y

    def ridge(X: np.ndarray, y: np.ndarray) -> np.ndarray:
        return np.linalg.solve(X.T @ X + np.eye(d), X.T @ y)

    moves = [np.linalg.norm(ridge(X, y) - ridge(np.delete(X, i, 0), np.delete(y, i))) for i in range(n)]
    s = np.sqrt(np.geomspace(1e-4, n, 20_001) / n)
    bad = max((1 + n * s / (n * s**2 + 1)) / (n * s**2 + 2))
    found = exact_value("W19-FIG1", "#in the data set", "printed", {"n": n, "d": d, "data": 1})
    assert found == pytest.approx(gaussian_epsilon(bad / 4) / gaussian_epsilon(max(moves) / 4), rel=1e-6)


def test_fig_1_gain_of_all_is_shown_and_not_decided() -> None:
    found = decide("W19-FIG1", "#in the universe", "printed")
    assert found.exact is None
    assert "n and d of the figure are not stated" in found.reason
    assert found.notes["gain at n=1000, d=20"] > 2 * found.notes["gain at n=100, d=20"]
