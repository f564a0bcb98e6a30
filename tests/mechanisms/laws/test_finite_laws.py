"""Finite mechanisms in rational arithmetic, against sums over sets and over ordered samples."""

from fractions import Fraction as F
from itertools import chain, combinations
from itertools import product as tuples

import pytest

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


@pytest.mark.parametrize("factor", [F(1), F(3, 2), F(4)])
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
