"""Finite mechanisms in rational arithmetic, against sums over sets and over ordered samples."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import chain, combinations
from itertools import product as tuples

import numpy as np
import pytest
from rows import for_each

from mechanisms.laws.divergences import (
    FiniteMechanism,
    approximate_max_ratio,
    events,
    max_ratio,
    probability,
    renyi_divergence,
)
from mechanisms.laws.finite_laws import (
    SymbolMechanism,
    check_law,
    cross_domain_gap,
    data_sets,
    generalisation_gap,
    hockey_stick,
    processed,
    product,
    smallest_delta,
    worst_gap,
)

P, Q = (F(1, 2), F(1, 3), F(1, 6)), (F(1, 4), F(1, 4), F(1, 2))
TELLS = SymbolMechanism({(): (F(1, 2), F(1, 2)), (0,): (F(1), F(0)), (1,): (F(0), F(1)), (0, 1): (F(1, 2), F(1, 2))})


@for_each("factor", [F(1), F(3, 2), F(4)])
def test_hockey_stick_is_the_worst_event(factor):
    events = chain.from_iterable(combinations(range(3), k) for k in range(4))
    worst = max(sum((P[i] - factor * Q[i] for i in event), F(0)) for event in events)
    assert hockey_stick(P, Q, factor) == worst
    assert smallest_delta(P, Q, factor) == smallest_delta(Q, P, factor) >= worst


def test_joint_and_processed_laws():
    assert product(P, Q)[5] == P[1] * Q[2]
    assert processed(P, ((F(1), F(0)), (F(0), F(1)), (F(1, 2), F(1, 2)))) == (F(7, 12), F(5, 12))


def test_delta_of_a_pair_and_of_all_pairs():
    # without a record a fair coin, with it the record: total variation 1/2 at epsilon = 0, none at exp(epsilon) = 2
    # one way, still (1/2)(1) the other way: P(other symbol) is 1/2 against 0
    assert TELLS.delta((), 0, F(1)) == F(1, 2)
    assert TELLS.delta((), 0, F(2)) == F(1, 2)
    assert TELLS.worst_delta(F(2)) == F(1, 2)


def test_generalisation_by_sums_over_ordered_samples():
    population, target, n = (F(3, 4), F(1, 4)), (F(1, 3), F(2, 3)), 2
    mechanism = SymbolMechanism({(0, 0): (F(1), F(0)), (0, 1): (F(1, 3), F(2, 3)), (1, 1): (F(0), F(1))})
    loss = ((F(0), F(1)), (F(1, 2), F(1, 5)))

    def literal(goal):
        total = F(0)
        for sample in tuples(range(2), repeat=n):
            weight = population[sample[0]] * population[sample[1]]
            for output, p in enumerate(mechanism.law(sample)):
                inside = sum((goal[z] / population[z] * loss[z][output] for z in sample), F(0)) / n
                outside = sum((goal[z] * loss[z][output] for z in range(2)), F(0))
                total += weight * p * (inside - outside)
        return abs(total)

    assert generalisation_gap(mechanism, population, n, loss) == literal(population)
    assert cross_domain_gap(mechanism, population, target, n, loss) == literal(target)
    corners = [((F(a), F(b)), (F(c), F(d))) for a, b, c, d in tuples((0, 1), repeat=4)]
    worst = max(generalisation_gap(mechanism, population, n, corner) for corner in corners)
    assert worst_gap(mechanism, population, n) == worst


def test_telling_the_record_generalises_by_half():
    """One record of a fair coin, told as it is: the loss 1{output = z} is 1 inside and 1/2 outside."""
    assert worst_gap(TELLS, (F(1, 2), F(1, 2)), 1) == F(1, 2)


def test_samples_have_probability_one():
    assert sum(weight for _, weight in data_sets((F(1, 5), F(4, 5), F(0)), 3)) == 1


def test_what_is_no_law_is_refused():
    with pytest.raises(ValueError, match="law must be"):
        check_law((F(1, 2), F(1, 3)))
    with pytest.raises(ValueError, match="absolutely continuous"):
        worst_gap(TELLS, (F(1), F(0)), 1, (F(0), F(1)))
    with pytest.raises(ValueError, match="same outputs"):
        SymbolMechanism({(): (F(1),), (0,): (F(1, 2), F(1, 2))})


EMPTY, ANN, BOB, BOTH = frozenset[str](), frozenset({"ann"}), frozenset({"bob"}), frozenset({"ann", "bob"})
DELTAS = (F(0), F(1, 20), F(1, 4), F(1, 2), F(1))
RATIOS = (F(1), F(3, 2), F(3), F(20))


def random_laws(n: int, n_outcomes: int) -> list[tuple[F, ...]]:
    rng = np.random.Generator(np.random.PCG64DXSM(17))
    counts = rng.integers(0, 6, size=(n, n_outcomes)) + np.eye(n_outcomes, dtype=int)[rng.integers(0, n_outcomes, n)]
    return [tuple(F(int(c), int(row.sum())) for c in row) for row in counts]


@pytest.mark.parametrize("delta", DELTAS)
def test_approximate_divergence_is_the_definition(delta: F) -> None:
    """D_inf^delta(P||Q) <= eps as printed, P(S) <= e^eps Q(S) + delta for all S, and the hockey stick say the same."""
    laws = random_laws(12, 4)
    verdicts = set()
    for p, q, ratio in tuples(laws, laws, RATIOS):
        literal = all(probability(p, s) <= ratio * probability(q, s) + delta for s in events(4))
        assert (approximate_max_ratio(p, q, delta) <= ratio) is literal
        assert (hockey_stick(p, q, ratio) <= delta) is literal
        verdicts.add(literal)
    assert verdicts == ({True} if delta == 1 else {True, False})


def test_max_divergence_is_the_pointwise_one() -> None:
    """Over events the largest ratio is attained at a single outcome."""
    for p, q in tuples(random_laws(10, 4), repeat=2):
        assert max_ratio(p, q) == max((a / b if b else math.inf) for a, b in zip(p, q, strict=True) if a)
        assert max_ratio(p, q) == approximate_max_ratio(p, q, F(0))


def test_renyi_by_hand() -> None:
    """P = (1/2, 1/2), Q = (1/4, 3/4), order 2: E_Q[(p/q)^2] = 1 + 1/3."""
    assert renyi_divergence((F(1, 2), F(1, 2)), (F(1, 4), F(3, 4)), 2.0) == pytest.approx(math.log(4 / 3))
    assert renyi_divergence((F(1), F(0)), (F(0), F(1)), 2.0) == math.inf
    with pytest.raises(ValueError, match="order must exceed 1"):
        renyi_divergence((F(1),), (F(1),), 1.0)


@pytest.fixture
def mechanism() -> FiniteMechanism:
    """Randomised response on "is ann there?" with truth probability 3/4; bob changes nothing but in ann's presence."""
    return FiniteMechanism(
        {EMPTY: (F(3, 4), F(1, 4)), ANN: (F(1, 4), F(3, 4)), BOB: (F(3, 4), F(1, 4)), BOTH: (F(1, 5), F(4, 5))}
    )


def test_rows_of_the_table(mechanism: FiniteMechanism) -> None:
    assert mechanism.pure() == F(15, 4)
    assert mechanism.per_instance(EMPTY, "ann", F(0)) == 3
    assert mechanism.per_instance(EMPTY, "bob", F(0)) == 1
    assert mechanism.personalised("bob", F(0)) == F(5, 4)
    assert mechanism.personalised("ann", F(0)) == F(15, 4)
    assert mechanism.approximate(F(11, 20)) == 1
    assert mechanism.ex_post(0, EMPTY, "ann") == 3
    assert mechanism.ex_post(1, BOTH, "bob") == F(16, 15)
    assert mechanism.data_dependent(EMPTY, 50.0) <= mechanism.renyi(50.0) <= math.log(15 / 4)


def test_definitions_agree_with_the_table(mechanism: FiniteMechanism) -> None:
    for ratio, delta in tuples((*RATIOS, F(15, 4), F(14, 4)), DELTAS):
        assert mechanism.is_dp(ratio, delta) is bool(mechanism.approximate(delta) <= ratio)
        assert mechanism.is_pdp(EMPTY, "ann", ratio, delta) is bool(
            mechanism.per_instance(EMPTY, "ann", delta) <= ratio
        )


def test_a_law_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="law must be non-negative and sum to 1"):
        FiniteMechanism({EMPTY: (F(1, 2), F(1, 3))})
