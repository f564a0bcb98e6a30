"""Many steps together: against the closed form, sums over all outcomes, an independent accountant, and mutants."""

import math
import pickle
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from dp_accounting.pld import privacy_loss_distribution as pld
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.mechanisms.profiles import FiniteLaw, exact_delta
from rows import for_each

from mechanisms import BOTH, GaussianProfile, LaplaceProfile, Relation
from mechanisms.accounting import SubsampledGaussianProfile, composed_law
from mechanisms.accounting.composed_law import compose
from mechanisms.accounting.grid_ends import GridLaw
from mechanisms.reference import is_reference

F, B = BOTH
weights = st.lists(st.integers(1, 9), min_size=2, max_size=4)


@pytest.mark.parametrize(("mu", "n_steps"), [(0.1, 100), (0.02, 2_500)])
def test_very_many_normal_releases_are_one(mu, n_steps):
    """``mu sqrt(n)``; epsilon to 1e-3 at every delta of interest, and delta from 0.6 to 1e-12."""
    law, whole = compose([(GaussianProfile(mu), n_steps)]), GaussianProfile(mu * math.sqrt(n_steps))
    for delta in (0.1, 1e-3, 1e-5, 1e-8, 1e-12):
        found = law.epsilon_bracket(delta, F)
        exact = whole.epsilon_at(delta)
        assert found.low <= exact <= found.high < found.low + 1e-3
        assert law.epsilon_at(delta, B) == found.high
        at, truth = law.delta_bracket(exact, F), whole.delta_bracket(exact)
        assert at.low <= truth.low <= truth.high <= at.high < at.low * 1.02
    for epsilon in (-1.0, 0.0, 1.0, 3.0):
        tail, truth = law.tail_bracket(epsilon, F), whole.tail_at(epsilon)
        assert tail.low <= truth <= tail.high < tail.low + 0.1
        assert law.tail_at(epsilon) == tail.high
        assert math.exp(law.log_delta_at(epsilon)) == pytest.approx(law.delta_at(epsilon))


def test_different_parts_are_taken_together():
    parts = [(GaussianProfile(0.3), 4), (GaussianProfile(0.1), 30), (GaussianProfile(0.3), 5)]
    law, exact = compose(parts), GaussianProfile(math.sqrt(9 * 0.09 + 30 * 0.01)).epsilon_at(1e-6)
    found = law.epsilon_bracket(1e-6)
    assert [count for _, count in law.parts] == [9, 30]
    assert found.low <= exact <= found.high < found.low + 1e-3


@settings(deadline=None, max_examples=25)
@given(st.lists(st.tuples(weights, weights, st.integers(1, 2)), min_size=1, max_size=2), st.sampled_from(BOTH))
def test_finite_laws_against_all_their_outcomes(drawn, direction):
    parts = []
    for first, second, count in drawn:
        size = min(len(first), len(second))
        laws = ([Fraction(w, sum(column[:size])) for w in column[:size]] for column in (first, second))
        parts.append((FiniteLaw(*map(tuple, laws)), count))
    law = compose(parts, step=2.0**-4, directions=[direction])
    alone = [part for part, count in parts for _ in range(count)]
    for epsilon in (-0.7, 0.0, 0.25, 0.6, 1.3):
        exact, found = exact_delta(alone, epsilon, direction), law.delta_bracket(epsilon, direction)
        assert found.low <= exact <= found.high
        assert found.high - found.low < 0.4
        tail = law.tail_bracket(epsilon, direction)
        assert tail.low - 1e-12 <= sum_above(alone, epsilon, direction) <= tail.high + 1e-12
    other = BOTH[direction is F]
    with pytest.raises(ValueError, match="direction must be one of those composed"):
        law.delta_at(0.0, other)


def sum_above(laws, epsilon, direction) -> float:
    """P(L > epsilon) of the sum."""
    losses, masses = np.zeros(1), np.ones(1)
    for law in laws:
        pairs = law.pairs(direction)
        losses = np.add.outer(losses, [math.log(p / q) for p, q in pairs]).ravel()
        masses = np.multiply.outer(masses, [float(p) for p, _ in pairs]).ravel()
    return float(masses[losses > epsilon].sum())


def test_sampled_steps_beside_dp_accounting():
    """Its pessimistic end on a fine grid lies between ours; its optimistic one below."""
    law = compose([(SubsampledGaussianProfile(0.05, 1.0, Relation.REMOVE), 60)])
    for direction, theirs in ((F, "_pmf_remove"), (B, "_pmf_add")):
        upper = pld.from_gaussian_mechanism(1.0, sampling_prob=0.05, value_discretization_interval=1e-3)
        pmf = getattr(upper.self_compose(60), theirs)
        for delta in (1e-4, 1e-8):
            found, seen = law.epsilon_bracket(delta, direction), pmf.get_epsilon_for_delta(delta)
            assert found.low <= seen <= found.high + 1e-3
            assert found.high - found.low < 1e-3
    assert law.epsilon_at(1e-8, F) > law.epsilon_at(1e-8, B) + 0.1


def test_the_worse_direction_is_meant_unless_one_is_named():
    """An epsilon of 1.97 where the other direction has 2.77 would be a promise that is not kept."""
    steps = [(SubsampledGaussianProfile(0.02, 1.0, Relation.ADD), 500)]
    law = compose(steps, step=2.0**-7)
    assert law.epsilon_at(1e-5, F) < 2.0 < 2.77 < law.epsilon_at(1e-5, B) == law.epsilon_at(1e-5)
    for name, value in (("delta_bracket", 1.0), ("epsilon_bracket", 1e-5), ("tail_bracket", 0.3)):
        found, forward, backward = (getattr(law, name)(value, *each) for each in ((), (F,), (B,)))
        assert (found.low, found.high) == (max(forward.low, backward.low), max(forward.high, backward.high))
        assert found != forward
    assert law.delta_at(1.0) == law.delta_at(1.0, B) > law.delta_at(1.0, F)
    assert law.log_delta_at(1.0) == law.log_delta_at(1.0, B)
    assert law.tail_at(0.3) == max(law.tail_at(0.3, F), law.tail_at(0.3, B))
    assert law.step_of() == 2.0**-7
    alone = compose(steps, step=2.0**-7, directions=[F])
    assert alone.epsilon_at(1e-5) == law.epsilon_at(1e-5, F)


def test_pure_steps_end_at_their_sum():
    law = compose([(LaplaceProfile(0.5), 3)])
    assert law.epsilon_bracket(0.0).high == 1.5
    assert law.delta_bracket(1.49).low > 0


def test_the_pessimistic_end_alone():
    parts = [(SubsampledGaussianProfile(0.1, 1.0, Relation.ADD), 5)]
    both, alone = compose(parts), compose(parts, upper_only=True)
    for direction in BOTH:
        found = both.epsilon_bracket(1e-7, direction)
        assert alone.epsilon_bracket(1e-7, direction).low == 0.0
        assert found.low <= alone.epsilon_at(1e-7, direction) <= found.low + 2e-3
        assert alone.tail_at(0.5, direction) >= both.tail_bracket(0.5, direction).low


def test_a_smaller_delta_is_asked_for():
    law = compose([(GaussianProfile(0.5), 4)], least_delta=1e-40)
    exact = GaussianProfile(1.0).epsilon_at(1e-38)
    found = law.epsilon_bracket(1e-38)
    assert found.low <= exact <= found.high < found.low + 1e-3


def test_the_ends_are_close_between_the_least_delta_and_1_too():
    """At 1e-5 they were 2.2e-3 apart where they were compared at the least delta and two of its roots alone."""
    law = compose([(SubsampledGaussianProfile(1e-3, 1.0, Relation.REMOVE), 1)])
    for delta in (0.01, 1e-4, 1e-5, 1e-7, 1e-10):
        for direction in BOTH:
            found = law.epsilon_bracket(delta, direction)
            assert found.high - found.low < 1e-3


def test_the_smallest_delta_of_all():
    """Masses in multiples of 2^-800 are still floats, on a fine grid too."""
    for mu, count, step in ((0.5, 4, 2.0**-5), (1e-3, 100, 2.0**-11)):
        law = compose([(GaussianProfile(mu), count)], least_delta=1e-200, step=step, directions=[F])
        exact = GaussianProfile(mu * math.sqrt(count)).epsilon_at(1e-198)
        found = law.epsilon_bracket(1e-198, F)
        assert found.low <= exact <= found.high < found.low + 0.3
        assert law.epsilon_bracket(1e-300, F).high == math.inf


def test_it_is_data_and_remembered():
    law = compose([(GaussianProfile(0.5), 3)])
    assert law is compose([(GaussianProfile(0.5), 1), (GaussianProfile(0.5), 2)])
    assert is_reference(law)
    copy = pickle.loads(pickle.dumps(law))
    assert copy.epsilon_bracket(1e-5, B) == law.epsilon_bracket(1e-5, B)
    assert law.step_of(F) == 2.0 ** round(math.log2(law.step_of(F)))
    nothing = compose([(GaussianProfile(0.0), 7)])
    assert nothing.epsilon_at(0.0) == pytest.approx(0.0, abs=1e-5)
    assert nothing.delta_at(1e-4) <= 1e-15


@pytest.mark.parametrize("wrong", ["trimmed", "shifted"])
@pytest.mark.parametrize("upper", [True, False])
def test_an_end_that_goes_to_the_wrong_side_crosses_the_truth(wrong, upper, monkeypatch):
    """Planted: trimming by the other end's rule, one step the wrong way."""
    profile, whole = GaussianProfile(0.25), GaussianProfile(1.0)
    monkeypatch.setattr(composed_law, "ROUNDING_BITS", 0)
    monkeypatch.setattr(composed_law, "CUT_BITS", -6)
    points = np.linspace(-1.0, 4.0, 11).tolist()

    def crosses() -> bool:
        law = composed_law._compose(((profile, 16),), 1e-3, 1e-6, (F,), False, 2.0**-9)
        end = (law.upper if upper else law.lower)[0]
        exact = {e: whole.delta_bracket(e) for e in points}
        return any(end.delta_at(e) < at.low if upper else end.delta_at(e) > at.high for e, at in exact.items())

    assert not crosses()
    trim = GridLaw.trimmed

    def other(law: GridLaw) -> GridLaw:
        return replace(law, upper=not law.upper) if law.upper is upper else law

    if wrong == "trimmed":
        monkeypatch.setattr(GridLaw, "trimmed", lambda law, cut: replace(trim(other(law), cut), upper=law.upper))
    else:
        name = "pessimistic" if upper else "optimistic"
        end, by = getattr(composed_law, name), -2 if upper else 2
        monkeypatch.setattr(
            composed_law, name, lambda *given: (lambda law: replace(law, start=law.start + by))(end(*given))
        )
    assert crosses()


@for_each(
    ("given", "message"),
    [
        ({"parts": []}, "parts must not be empty"),
        ({"parts": [(GaussianProfile(1.0), 0)]}, "count must be a whole number, at least 1, got count=0"),
        ({"least_delta": 0.0}, r"least_delta must be in \[1e-200, 1\), got least_delta=0.0"),
        ({"least_delta": 1e-250}, r"least_delta must be in \[1e-200, 1\), got least_delta=1e-250"),
        ({"width": -1.0}, "width must be finite and positive"),
        ({"step": 0.0}, "step must be finite and positive"),
    ],
)
def test_bad_input_is_refused(given, message):
    with pytest.raises(ValueError, match=message):
        compose(**({"parts": [(GaussianProfile(1.0), 1)]} | given))
