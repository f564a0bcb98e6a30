"""Steps on finite sets of answers: their moments, factors and divergences by hand."""

from fractions import Fraction as F

import pytest

from audits.games.finite_steps import FiniteStep, binary, randomised_response, reveal, together


def test_randomised_response_by_hand():
    step = randomised_response(2)
    assert (step.first, step.second) == ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)))
    assert step.factor == 2
    assert step.delta_at(F(1)) == F(1, 3)
    assert step.delta_at(F(2)) == 0
    # (2/3)^3/(1/3)^2 + (1/3)^3/(2/3)^2
    assert step.moment(3) == F(8, 3) + F(1, 12)


def test_what_reveals_has_no_moment_and_no_factor():
    step = reveal(F(2, 9))
    assert step.moment(2) is None
    assert step.factor is None
    assert step.delta_at(F(10**6)) == F(2, 9)


def test_the_larger_direction_counts():
    step = binary(F(1, 10), F(1, 100))
    forward = F(1, 10) ** 2 / F(1, 100) + F(9, 10) ** 2 / F(99, 100)
    backward = F(1, 100) ** 2 / F(1, 10) + F(99, 100) ** 2 / F(9, 10)
    assert forward > backward
    assert step.moment(2) == step.swapped.moment(2) == forward
    assert step.swapped.forward_moment(2) == backward


def test_together_is_the_product():
    first, second = together([randomised_response(2), randomised_response(2)])
    assert first == (F(4, 9), F(2, 9), F(2, 9), F(1, 9))
    assert second == first[::-1]


@pytest.mark.parametrize("order", [1, 1.5, 0, True])
def test_orders_that_are_refused(order):
    with pytest.raises(ValueError, match=f"order must be a whole number of at least 2, got order={order}"):
        randomised_response(2).moment(order)


def test_laws_that_are_refused():
    with pytest.raises(ValueError, match="law must be non-negative numbers that sum to 1"):
        FiniteStep("half", ("a", "b"), (F(1, 2), F(1, 3)), (F(1, 2), F(1, 2)))
    with pytest.raises(ValueError, match="answers must have one probability"):
        FiniteStep("two", ("a",), (F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)))
    with pytest.raises(ValueError, match="ratio must be at least 1"):
        randomised_response(F(1, 2))
    with pytest.raises(ValueError, match="chance must be in"):
        reveal(2)
