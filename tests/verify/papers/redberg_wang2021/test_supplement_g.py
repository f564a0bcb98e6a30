"""RW21, supplement G: each typed formula on known answers and literal twins."""

import math
from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import prod

import numpy as np
import pytest
from oracles.formula_cases import claimed, decide, exact_value, one
from oracles.rational_floats import floats
from rows import for_each
from scipy.stats import norm

from verify.methods.finite_mechanisms import random_law
from verify.methods.rational import fraction, generator, random_matrix


# RW21, Lemma 24: the identity at one by one matrices, in fractions.
def sides(version: str, seed: int) -> tuple[Fraction, Fraction]:
    """Both sides at the numbers a, c, u, v of a case with dim = rank = 1."""
    a, c, u, v = (fraction(random_matrix(1, 1, seed, key)[0, 0]) for key in (11, 12, 13, 14))
    inner = (c if version == "C in place of its inverse" else 1 / c) + v * u / a
    correction = u * v / (a * a * inner)
    if version == "sign of the correction":
        correction = -correction
    if version == "correction scaled by 1.01":
        correction *= Fraction(101, 100)
    return 1 / (a + u * c * v), 1 / a - correction


@for_each("version", ["printed", "C in place of its inverse", "sign of the correction", "correction scaled by 1.01"])
@for_each("seed", [1, 2, 3])
def test_lem_24_deviation_of_both_sides(version: str, seed: int) -> None:
    left, right = sides(version, seed)
    deviation = abs(left - right) / max(abs(left), abs(right))
    assert (deviation == 0) is (version == "printed")
    found = exact_value("RW21-L24", "", version, dim=1, rank=1, U="any", seed=seed)
    assert found == pytest.approx(float(deviation), rel=1e-12)


def test_lem_24_larger_sizes_hold_exactly() -> None:
    for rank in (1, 4):
        assert exact_value("RW21-L24", "", "printed", dim=3, rank=rank, U="any", seed=8) == 0.0


# RW21, Lemma 25: determinants by Leibniz' sum over permutations.
def determinant(rows: list[list[Fraction]]) -> Fraction:
    """Return the sum over permutations, each with the sign of its inversions."""
    total = Fraction(0)
    for chosen in permutations(range(len(rows))):
        sign = (-1) ** sum(a > b for i, a in enumerate(chosen) for b in chosen[i + 1 :])
        total += sign * prod((rows[i][j] for i, j in enumerate(chosen)), start=Fraction(1))
    return total


def replaced(A: list[list[Fraction]], column: int, c: list[Fraction]) -> list[list[Fraction]]:
    """Return A with a column replaced: Cramer's rule for A^{-1} c."""
    return [[c[i] if j == column else v for j, v in enumerate(row)] for i, row in enumerate(A)]


@for_each("seed", [5, 7])
@for_each("version", ["printed", "inverse left out", "sign reversed", "perturbation scaled by 1.01"])
def test_lem_25_both_sides_in_three_dimensions(version: str, seed: int) -> None:
    raw, *vectors = (random_matrix(3, cols, seed, key) for cols, key in ((3, 1), (1, 2), (1, 3)))
    A = [[fraction(raw[i, j]) for j in range(3)] for i in range(3)]
    c, d = ([fraction(v[i, 0]) for i in range(3)] for v in vectors)
    of_A = determinant(A)
    inner = sum((d[j] * determinant(replaced(A, j, c)) / of_A for j in range(3)), Fraction(0))
    factor = {
        "printed": 1 + inner,
        "inverse left out": 1 + sum((a * b for a, b in zip(c, d, strict=True)), Fraction(0)),
        "sign reversed": 1 - inner,
        "perturbation scaled by 1.01": 1 + Fraction(101, 100) * inner,
    }[version]
    left = determinant([[A[i][j] + c[i] * d[j] for j in range(3)] for i in range(3)])
    right = of_A * factor
    deviation = abs(left - right) / max(abs(left), abs(right))
    assert (deviation == 0) is (version == "printed")
    found = exact_value("RW21-L25", "", version, dim=3, perturbation="any", seed=seed)
    assert found == pytest.approx(float(deviation), rel=1e-12)


# RW21, Lemma 26: tails over their bounds by scipy's normal law; the bounds as printed in epsilon and delta.
@for_each("t", [1e-3, 0.5, 1.0, 3.0, 8.0])
def test_lem_26_tail_over_bound(t: float) -> None:
    """L26.1 at epsilon = t; L26.2 at the delta with sqrt(2 log(1/delta)) = t, L26.3 with sqrt(2 log(2/delta)) = t."""
    one, two = math.exp(-t * t / 2), 2.0 * math.exp(-t * t / 2)
    assert exact_value("RW21-L26", ".1", "printed", t=t) == pytest.approx(norm.sf(t) * t / one, rel=1e-12)
    assert exact_value("RW21-L26", ".2", "printed", t=t) == pytest.approx(norm.sf(t) / one, rel=1e-12)
    assert exact_value("RW21-L26", ".3", "printed", t=t) == pytest.approx(2.0 * norm.sf(t) / two, rel=1e-12)


@for_each(("part", "least"), [(".1", 1.0 / math.sqrt(2.0 * math.pi)), (".2", 0.5), (".3", 1.0)])
def test_lem_26_mutants_lie_below_the_least_coefficient(part: str, least: float) -> None:
    """What exp(t^2/2) times the tail comes to at most: at large t for L26.1 (Mills), at 0 for the others."""
    (mutant,) = {c.mutant for c in one("RW21-L26").cases if c.part == one("RW21-L26").id + part and c.mutant}
    found = decide("RW21-L26", part, mutant)
    assert found.exact.high < 0.0
    assert float(mutant.removeprefix("coefficient ")) < least < float(mutant.removeprefix("coefficient ")) * 1.07


# RW21, Lemma 27: two-point laws by hand, random laws by enumeration of all events.
def test_lem_27_two_point_laws_by_hand() -> None:
    """p = (1, 0), p' = (1/2, 1/2)."""
    # P(S) - 2 P'(S) is at most 0 for p, at most 1/2 for p': no event of L27.2 as printed, one of mass 1/2 corrected
    assert exact_value("RW21-L27", ".2", "printed", {"exp(epsilon)": 2.0}) == 0.5
    assert exact_value("RW21-L27", ".2", "corrected", {"exp(epsilon)": 2.0}) == 1.0
    # p' spread against p sure: delta = 1/2 = the tail, so the lemma is an equality; 5 % less is too little
    assert exact_value("RW21-L27", ".0", "printed", {"exp(epsilon)": 2.0, "p": "spread"}) == 1.0
    cut = exact_value("RW21-L27", ".0", "delta cut by 5 %", {"exp(epsilon)": 2.0, "p": "spread"})
    assert cut == pytest.approx(20 / 19)
    # both outputs are bad at exp(t) = 5/4: the worst sub-event gives 1 - 5/8, the complement is empty
    assert exact_value("RW21-L27", ".p", "printed", {"exp(epsilon)": 1.25}) == 0.375
    assert exact_value("RW21-L27", ".p", "corrected", {"exp(epsilon)": 1.25}) == 0.0


@for_each("seed", [1, 4])
@for_each("factor", [Fraction(5, 4), Fraction(2)])
def test_lem_27_random_laws_over_all_events(seed: int, factor: Fraction) -> None:
    p, q = random_law(6, seed, 3), random_law(6, seed, 4)
    numbers = {"outputs": 6, "seed": seed, "exp(epsilon)": float(factor)}
    events = [[k for k in range(6) if flags[k]] for flags in product((0, 1), repeat=6)]

    def excess(a: tuple[Fraction, ...], b: tuple[Fraction, ...], event: list[int]) -> Fraction:
        return sum((a[k] - factor * b[k] for k in event), Fraction(0))

    forward = sum((a for a, b in zip(p, q, strict=True) if a > factor * b), Fraction(0))
    backward = sum((b for a, b in zip(p, q, strict=True) if b > factor * a), Fraction(0))
    delta = max(excess(p, q, e) for e in events)
    both = max(delta, *(excess(q, p, e) for e in events))
    for part, version, value, promised in (
        (".0", "printed", delta, forward),
        (".1", "printed", both, max(forward, backward)),
        (".2", "corrected", both, max(forward, backward)),
        (".1", "tail of one law only", both, forward),
    ):
        expected = value / promised if promised else value - promised
        assert exact_value("RW21-L27", part, version, numbers) == pytest.approx(float(expected), rel=1e-12)
    good = [k for k in range(6) if not (p[k] > factor * q[k] or q[k] > factor * p[k])]
    worst = max(excess(p, q, e) for e in events if set(e) <= set(good))
    assert exact_value("RW21-L27", ".p", "corrected", numbers) == pytest.approx(float(worst))


# RW21, Lemma 28: the probability of a large maximum by the complement of all being small.
COEFFICIENTS = {
    "printed": (2.0, 2.0),
    "no log n": (0.0, 2.0),
    "t counted 10 % less": (2.0, 1.8),
    "log n counted 10 % less": (1.8, 2.0),
}


@for_each(("version", "coefficients"), COEFFICIENTS.items())
@for_each(("n", "t"), [(1, 0.4), (10, 1.0), (10, 5.0)])
def test_lem_28_normal_variables(version: str, coefficients: tuple[float, float], n: int, t: float) -> None:
    threshold = math.sqrt(coefficients[0] * math.log(n) + coefficients[1] * t)
    above = 1.0 - norm.cdf(threshold) ** n if n > 1 else norm.sf(threshold)
    found = exact_value("RW21-L28", "", version, n=n, t=t, law="normal")
    assert found == pytest.approx(above * math.exp(t), rel=1e-7)


def test_lem_28_two_valued_variables_by_hand() -> None:
    """X = +-1: the maximum is 1 with probability 1 - 2^-n, and never above 1."""
    # sqrt(0.8) < 1 < sqrt(2): probability 1/2, then 0; n = 2 at t = 0.2: threshold sqrt(2 log 2 + 0.4) > 1
    assert exact_value("RW21-L28", "", "printed", n=1, t=0.4, law="two-valued") == pytest.approx(0.5 * math.exp(0.4))
    assert exact_value("RW21-L28", "", "printed", n=1, t=1.0, law="two-valued") == 0.0
    assert exact_value("RW21-L28", "", "printed", n=2, t=0.2, law="two-valued") == 0.0
    # without log n the threshold stays below 1: 1 - 1/4
    found = exact_value("RW21-L28", "", "no log n", n=2, t=0.2, law="two-valued")
    assert found == pytest.approx(0.75 * math.exp(0.2))


# RW21, Lemma 29: moves of singular values by LAPACK, and a diagonal instance by hand.
def test_lem_29_diagonal_by_hand() -> None:
    """A = diag(3, 6) moved by 2 along itself: both singular values move by 2 = ||E||."""
    equal = {"m": 3, "n": 2, "E": "diagonal, equality", "seed": 0}
    assert exact_value("RW21-L29", "", "printed", equal) == 1.0
    assert exact_value("RW21-L29", "", "bound cut by 5 %", equal) == pytest.approx(20 / 19)
    assert claimed("RW21-L29", "", "printed", equal) == 2.0


@for_each("seed", [11, 12])
@for_each("version", ["printed", "paired in opposite order"])
def test_lem_29_random_matrices(version: str, seed: int) -> None:
    A, E = (floats(random_matrix(4, 3, seed, k)) for k in (1, 2))
    first, second = (np.linalg.svd(M, compute_uv=False) for M in (A, A - E))
    order = -1 if version == "paired in opposite order" else 1
    ratio = np.abs(first - second[::order]).max() / np.linalg.norm(E, 2)
    found = exact_value("RW21-L29", "", version, m=4, n=3, E="any", seed=seed)
    assert found == pytest.approx(ratio, rel=1e-9)


# RW21, Lemma 30: the factor by hand, as |dx/dy| = 1/|dy/dx| at the inverse.
#: Map, x, y = g(x), g'(x); the cubic map is x^3/2 + 3 x/2.
POINTS = [
    ("exp", math.log(3.0), 3.0, 3.0),
    ("exp(-x)", math.log(4.0), 0.25, -0.25),
    ("cubic", 1.0, 2.0, 3.0),
    ("cubic", 2.0, 7.0, 7.5),
]


@for_each(("name", "x", "y", "slope"), POINTS)
def test_lem_30_monotone_maps(name: str, x: float, y: float, slope: float) -> None:
    """The true density is phi(x)/|g'(x)|; a wrong factor is off by what it was multiplied with."""
    at = {"map": name, "y": y}
    assert exact_value("RW21-L30", "", "printed", at) == pytest.approx(1.0, abs=1e-13)
    assert exact_value("RW21-L30", "", "inverse of the factor", at) == pytest.approx(slope**2, rel=1e-12)
    assert exact_value("RW21-L30", "", "no absolute value", at) == pytest.approx(math.copysign(1.0, slope), rel=1e-12)
    assert exact_value("RW21-L30", "", "scaled by 1.01", at) == pytest.approx(1.01, rel=1e-12)


@for_each("seed", [1, 5])
def test_lem_30_linear_maps(seed: int) -> None:
    """A = [[1 + seed, 1/2], [-2, 1]] has determinant 2 + seed."""
    at = {"map": "linear", "seed": seed, "y": 1.5}
    assert exact_value("RW21-L30", "", "printed", at) == pytest.approx(1.0, abs=1e-13)
    assert exact_value("RW21-L30", "", "inverse of the factor", at) == pytest.approx((2.0 + seed) ** 2, rel=1e-12)


# RW21, Lemma 31: two people counted once more, output by output.
BOTH = [(a, b) for a in (0, 1) for b in (0, 1)]


def excess(p: Counter, q: Counter, factor: Fraction) -> Fraction:
    """Return the mass by which p exceeds factor q."""
    return sum((max(mass - factor * q[o], Fraction(0)) for o, mass in p.items()), Fraction(0))


@for_each("version", ["printed", "own output included", "half the delta"])
@for_each("factor", [Fraction(5, 4), Fraction(4)])
@for_each("seed", [1, 2])
def test_lem_31_two_people(version: str, factor: Fraction, seed: int) -> None:
    """A count plus an offset of 0 to 3; a person sees whether it exceeds twice her bit, and its parity with her bit."""
    weights = [int(w) for w in generator(2, seed, 31).integers(1, 9, 4)]

    def count(total: int) -> Counter:
        return Counter({total + k: Fraction(w, sum(weights)) for k, w in enumerate(weights)})

    def view(bits: tuple[int, int], eyes: list[int]) -> Counter:
        law: Counter = Counter()
        for number, mass in count(sum(bits)).items():
            law[tuple((number > 2 * bits[k], (number + bits[k]) % 2) for k in eyes)] += mass
        return law

    released = max(
        excess(p, q, factor) for t in (0, 1) for p, q in ((count(t), count(t + 1)), (count(t + 1), count(t)))
    )
    joint = Fraction(0)
    for bits in BOTH:
        for person in (0, 1):
            other = tuple(1 - b if k == person else b for k, b in enumerate(bits))
            eyes = [0, 1] if version == "own output included" else [1 - person]
            joint = max(joint, excess(view(bits, eyes), view(other, eyes), factor))
    found = decide("RW21-L31", "", version, {"n": 2, "seed": seed, "exp(epsilon)": float(factor)})
    bound = released / 2 if version == "half the delta" else released
    assert found.notes["value"] == pytest.approx(float(joint))
    assert found.notes["bound"] == pytest.approx(float(bound))
