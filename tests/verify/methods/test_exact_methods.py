"""Exact rationals, finite mechanisms, minimax risks, units of rates, and statements that are carried over."""

from fractions import Fraction

import pytest
from flint import fmpq_mat
from hypothesis import given
from hypothesis import strategies as st
from oracles.formula_cases import one
from rows import for_each

from audits import Budget, StreamKey
from mechanisms.laws.finite_laws import check_law, hockey_stick
from verify.kernel.box_search import Axis, Point
from verify.kernel.statement import Role
from verify.kernel.verdict import Outcome, judge
from verify.methods import finite_mechanisms, minimax, scaling
from verify.methods.carried import carry
from verify.methods.finite_mechanisms import (
    expectations,
    largest_delta,
    mechanism,
    pair_factor,
    population,
    random_law,
    rational,
    shifted,
    two_outputs,
    worst_ratio,
)
from verify.methods.rational import (
    SHAPES,
    at_most,
    between,
    design,
    eigenvalue_bounds,
    identity,
    matrix,
    negative_pivots,
    same,
)


# Rational linear algebra of the W19 statements: eigenvalues proved by inertia, comparisons decided exactly.
def test_eigenvalues_of_a_matrix_known_by_hand():
    # [[2, 1], [1, 2]] has 1 and 3; the identity has 1 twice
    for M, truth in ((matrix(2, 2, [2, 1, 1, 2]), (1, 3)), (identity(2), (1, 1))):
        for (low, high), value in zip(eigenvalue_bounds(M), truth, strict=True):
            assert low <= value <= high
            assert high - low < Fraction(1, 10**12)


@for_each("shape", SHAPES)
def test_eigenvalues_of_designs_sum_to_the_trace(shape):
    X = design(shape, 6, 3, 5)
    H = X.transpose() * X + identity(3)
    bounds = eigenvalue_bounds(H)
    trace = Fraction(int(sum(H[i, i] for i in range(3)).p), int(sum(H[i, i] for i in range(3)).q))
    assert sum(low for low, _ in bounds) <= trace <= sum(high for _, high in bounds)
    assert all(low > 0 for low, _ in bounds)


def test_inertia():
    assert negative_pivots(matrix(2, 2, [1, 2, 2, 1])) == 1
    assert negative_pivots(matrix(2, 2, [0, 1, 1, 0])) is None


def test_comparisons_are_exact():
    assert judge(at_most("x", Fraction(1, 3), Fraction(1, 3)))[0] is Outcome.HOLDS
    assert judge(at_most("x", Fraction(1, 3) + Fraction(1, 10**9), Fraction(1, 3)))[0] is Outcome.FAILS
    assert judge(at_most("x", Fraction(0), Fraction(0)))[0] is Outcome.HOLDS
    assert judge(at_most("x", Fraction(1, 10**9), Fraction(0)))[0] is Outcome.FAILS
    assert judge(same("A", identity(2), identity(2)))[0] is Outcome.HOLDS
    assert judge(same("A", identity(2), matrix(2, 2, [1, 0, 0, Fraction(1)])))[0] is Outcome.HOLDS
    assert judge(same("A", identity(2), matrix(2, 2, [10**9, 0, 0, 10**9 + 1], scale=10**9)))[0] is Outcome.FAILS


def test_a_number_between_two():
    """1/3 is in [0.3, 0.34], not in [0.34, 1]; an interval that reaches over the end is undecided."""
    outcomes = [between("q", Fraction(1, 3), 0.3, 0.34, 0.3), between("q", Fraction(1, 3), 0.34, 1.0, 0.3)]
    outcomes.append(between("q", Fraction(1, 3), 0.3, 0.34, 0.3, upper=Fraction(1, 2)))
    decided = [judge(evidence)[0] for evidence in outcomes]
    assert decided == [Outcome.HOLDS, Outcome.FAILS, Outcome.UNDECIDED]
    assert judge(between("q", Fraction(1), 0.0, 2.0, 1.0, in_domain=False))[0] is Outcome.OUT_OF_DOMAIN


# Finite mechanisms by hand, and a search that finds what is known.
def test_laws_by_hand() -> None:
    assert population("rare last", 3) == (Fraction(63, 128), Fraction(63, 128), Fraction(1, 64))
    assert shifted(population("uniform", 2)) == (Fraction(1, 64), Fraction(63, 64))
    assert mechanism("tells a record", 2, 2).law((0, 1)) == (Fraction(1, 2), Fraction(1, 2))
    assert mechanism("tells a record half of the time", 2, 1).law((1,)) == (Fraction(1, 4), Fraction(3, 4))
    assert mechanism("tells a record, else the first symbol", 2, 1).law(()) == (1, 0)


@given(st.integers(1, 9), st.integers(0, 1000))
def test_random_laws_are_laws(n_outputs: int, seed: int) -> None:
    law = random_law(n_outputs, seed)
    assert sum(law) == 1
    assert len(law) == n_outputs
    assert all(p >= 0 for p in law)
    assert all(random_law(n_outputs, seed, zeros=False))


def test_factors_and_means_by_hand() -> None:
    """A coin told half of the time: (1/2, 1/2) without a record, (1/4, 3/4) with one."""
    made = mechanism("tells a record half of the time", 2, 1)
    assert pair_factor(made, (), 0, "pure") == 2
    assert pair_factor(made, (), 0, "5/4") == Fraction(5, 4)
    law = check_law([Fraction(1, 2), Fraction(1, 2)])
    assert list(expectations(made, law, law, 0, "1")) == [(1, 1, 1, Fraction(1, 4))]
    assert largest_delta(made, law, 0, "1") == Fraction(1, 4)


@for_each(("slope", "outcome"), [(Fraction(1, 2), Outcome.HOLDS), (Fraction(3), Outcome.FAILS)])
def test_search_of_a_box(slope: Fraction, outcome: Outcome) -> None:
    """value slope p against the bound p: the ratio is the slope everywhere, the point is on the grid of 1/4096."""

    def sides(point: Point) -> tuple[Fraction, Fraction]:
        p = rational(point["p"])
        return slope * p / 4, p / 4

    budget = Budget(1, 1e-9, StreamKey(1))
    found = worst_ratio("a share", {"p": Axis(0.25, 1.0, log=False)}, sides, budget)
    assert judge(found)[0] is outcome
    assert 0.25 <= found.found["p"] <= 1.0


def test_searched_mechanisms_are_those_of_the_point() -> None:
    point = dict.fromkeys(finite_mechanisms.SEARCH_BOX, 0.25)
    made, law, rule = finite_mechanisms.searched_mechanism(point)
    assert made.law((0, 1)) == (Fraction(3, 4), Fraction(1, 4))
    assert law == (Fraction(3, 4), Fraction(1, 4))
    assert Fraction(rule) == Fraction(5, 4)
    assert hockey_stick(two_outputs(Fraction(1, 2)), two_outputs(Fraction(1, 4)), Fraction(1)) == Fraction(1, 4)


# Minimax risks of small designs by hand.
def test_minimax_risks_of_one_and_two_records() -> None:
    """X = (1, 1)^T: rank 1, G = 2; sigma = 2: prediction risk 2, estimation risk 4/2."""
    X = fmpq_mat(2, 1, [1, 1])
    low, high = minimax.prediction_risk(X, Fraction(2))
    assert high == 2
    assert 0 < float(high - low) < 1e-20
    low, high = minimax.estimation_risk(X, Fraction(2))
    assert high == 2
    assert low < high


# Degrees of products of powers.
def test_degrees_of_products() -> None:
    """||X||^2 ||theta||^2 has the unit of a squared response; without ||X||^2 it lacks two powers of the features."""
    assert scaling.degree(scaling.powers("X^2 theta^2 d^1/2 epsilon^-1")) == (0, 2)
    assert scaling.degree(scaling.powers("theta^2")) == (-2, 2)
    assert scaling.degree(scaling.powers("X^4 theta^2 trace1")) == scaling.LOSS
    with pytest.raises(ValueError, match="symbol must be one of"):
        scaling.powers("X^2 phi")


# A quoted statement is its source under another id.
QUOTED, RENUMBERED, SOURCE = (one(id_) for id_ in ("W18-L13", "W18-TH10", "W19-LB.5"))


def test_cases_and_words_of_the_source_under_the_own_id() -> None:
    assert [case.params for case in QUOTED.cases] == [case.params for case in SOURCE.cases]
    assert [case.name.replace("W18-L13", "W19-LB.5") for case in QUOTED.cases] == [case.name for case in SOURCE.cases]
    assert [part.printed for part in QUOTED.parts] == [part.printed for part in SOURCE.parts]
    assert (QUOTED.paper, QUOTED.title) == ("wang2018", "Two-sided normal tail")


def test_its_check_is_the_sources() -> None:
    budget = Budget(1, 1e-9, StreamKey(3))
    for own, other in zip(QUOTED.cases, SOURCE.cases, strict=True):
        assert QUOTED.check(own, budget) == SOURCE.check(other, budget)


def test_numbers_of_equations_are_the_own_papers_and_searches_are_left_to_the_source() -> None:
    assert RENUMBERED.parts[0].title.endswith("(16)")
    assert "(4.3)" not in "".join(part.printed.typst + part.title for part in RENUMBERED.parts)
    assert not any(case.quick for case in RENUMBERED.cases if case.role is Role.ADVERSARIAL)
    assert carry(SOURCE, "W18-L13", domain="d", summary="s").domain == "d"
