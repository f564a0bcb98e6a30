"""The definitions of privacy on finite spaces: equivalences by enumeration, and numbers worked out by hand."""

from __future__ import annotations

import math
from fractions import Fraction as F
from itertools import product

import numpy as np
import pytest

from mechanisms.laws.divergences import (
    FiniteMechanism,
    approximate_max_ratio,
    events,
    max_ratio,
    probability,
    renyi_divergence,
)
from mechanisms.laws.finite_laws import hockey_stick

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
    for p, q, ratio in product(laws, laws, RATIOS):
        literal = all(probability(p, s) <= ratio * probability(q, s) + delta for s in events(4))
        assert (approximate_max_ratio(p, q, delta) <= ratio) is literal
        assert (hockey_stick(p, q, ratio) <= delta) is literal
        verdicts.add(literal)
    assert verdicts == ({True} if delta == 1 else {True, False})


def test_max_divergence_is_the_pointwise_one() -> None:
    """Over events the largest ratio is attained at a single outcome."""
    for p, q in product(random_laws(10, 4), repeat=2):
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
    for ratio, delta in product((*RATIOS, F(15, 4), F(14, 4)), DELTAS):
        assert mechanism.is_dp(ratio, delta) is bool(mechanism.approximate(delta) <= ratio)
        assert mechanism.is_pdp(EMPTY, "ann", ratio, delta) is bool(
            mechanism.per_instance(EMPTY, "ann", delta) <= ratio
        )


def test_a_law_that_is_none_is_refused() -> None:
    with pytest.raises(ValueError, match="law must be non-negative and sum to 1"):
        FiniteMechanism({EMPTY: (F(1, 2), F(1, 3))})
