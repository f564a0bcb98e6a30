"""A law from which something may be refuted has two proved ends: both beside the truth, computed apart to 50 digits.

Every mechanism of the catalogue with an exact law, on pairs of every relation that it knows; a record without features
and one replaced by itself are no change at all.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from oracles.mechanisms import pair_truth
from rows import for_each

from audits import Budget, StreamKey, exact_delta, exact_epsilon, exposure
from audits.white_box import exact_tail
from mechanisms.base import BOTH, Direction, ExactLaw
from mechanisms.capabilities import Domain, worst_case_of, worst_pair_of
from mechanisms.catalogue import reference_mechanisms
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation, UnsupportedRelation
from mechanisms.laws.profile_tools import proved_profile
from mechanisms.linear.adassp import AdaSSP
from mechanisms.objective.losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SmoothedHingeLoss, SquaredLoss
from mechanisms.objective.output_perturbation import GlmOutput
from mechanisms.releases.eigenvalue_release import EigenvalueRelease
from mechanisms.releases.gradient_release import GradientRelease
from mechanisms.releases.hessian_release import HessianRelease

THETA = np.array([0.4, -0.3])
REFERENCES = reference_mechanisms()
LAWS: dict[str, Any] = {
    name: example.mechanism for name, example in REFERENCES.items() if isinstance(example.mechanism, ExactLaw)
} | {
    # little noise: what a computed minimiser misses is most beside it
    "glm-output, little noise": GlmOutput(LogisticLoss(), 0.01, 0.001),
    "glm-output, hinge": GlmOutput(SmoothedHingeLoss(0.1), 0.05, 0.3),
    "glm-output, pseudo-Huber": GlmOutput(PseudoHuberLoss(0.5), 0.05, 0.3),
    "glm-output, squared": GlmOutput(SquaredLoss(), 0.05, 0.3),
    "glm-output, Poisson": GlmOutput(PoissonLoss(), 0.05, 0.3),
    "gradient, squared": GradientRelease(THETA, SquaredLoss(), 1.0, 0.6),
    "hessian, pseudo-Huber": HessianRelease(THETA, PseudoHuberLoss(0.5), 1.0, 0.2),
    "eigenvalue, little noise": EigenvalueRelease(THETA, LogisticLoss(), 1.0, 1e-4),
}
EPSILONS = (-0.7, 0.0, 1e-10, 0.01, 0.3, 1.5)


def pairs(seed: int, n_records: int = 8) -> Iterator[NeighbouringPair]:
    """Random data sets whose responses suit every loss; of each relation, and some whose members are alike."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.7, 0.7, (n_records, 2))
    data = Dataset(X, rng.choice([-1.0, 1.0], n_records), 1.0, 1.0, name="random", public=True)
    x, y, index = rng.uniform(-0.7, 0.7, 2), float(rng.choice([-1.0, 1.0])), int(rng.integers(n_records))
    zero = np.vstack([data.X, np.zeros(2)])
    yield NeighbouringPair.add(data, x, y)
    yield NeighbouringPair.add(data, 1e-3 * x, y)
    yield NeighbouringPair.remove(data, index)
    yield NeighbouringPair.replace(data, index, x, y)
    yield NeighbouringPair.add(data, np.zeros(2), y)
    yield NeighbouringPair.remove(Dataset(zero, np.append(data.y, y), 1.0, 1.0), n_records)
    yield NeighbouringPair.replace(data, index, data.X[index], float(data.y[index]))


def cases(name: str, seed: int) -> Iterator[tuple[Any, NeighbouringPair]]:
    mechanism = LAWS[name]
    for pair in pairs(seed):
        own = _counts(pair) if "Poisson" in name else pair
        try:
            mechanism.profile(own)
        except UnsupportedRelation:
            assert own.relation is Relation.REPLACE
            continue
        yield mechanism, own


def _counts(pair: NeighbouringPair) -> NeighbouringPair:
    """The same pair with responses 0 and 1."""
    data = pair.dataset
    counts = Dataset(data.X, 0.5 * (data.y + 1), data.x_bound, 1.0, name="counts", public=True)
    y = 0.5 * (pair.y + 1)
    match pair.relation:
        case Relation.ADD:
            return NeighbouringPair.add(counts, pair.x, y)
        case Relation.REMOVE:
            return NeighbouringPair.remove(counts, pair.index)
        case Relation.REPLACE:
            return NeighbouringPair.replace(counts, pair.index, pair.x, y)


def alike(pair: NeighbouringPair) -> bool:
    """Whether no mechanism can tell the two members apart."""
    if pair.relation is Relation.REPLACE:
        return bool((pair.x == pair.dataset.X[pair.index]).all() and pair.y == pair.dataset.y[pair.index])
    return not pair.x.any()


@pytest.mark.parametrize("name", LAWS)
def test_both_ends_of_every_law_hold_the_truth(name: str) -> None:
    for seed in (3, 4):
        for mechanism, pair in cases(name, seed):
            law, true = proved_profile(mechanism, pair), pair_truth.truth(mechanism, pair)
            for epsilon in EPSILONS:
                delta, tail = zip(*(true(epsilon, d) for d in BOTH), strict=True)
                for at, d in enumerate(BOTH):
                    one, other = law.delta_bracket(epsilon, d), law.tail_bracket(epsilon, d)
                    assert one.low <= delta[at] <= one.high, (pair.relation, epsilon, d)
                    assert other.low <= tail[at] <= other.high, (pair.relation, epsilon, d)
                worse = exact_delta(law, epsilon), exact_tail(law, epsilon)
                assert worse[0].low <= max(delta) <= worse[0].high
                assert worse[1].low <= max(tail) <= worse[1].high


@for_each("name", LAWS)
def test_members_that_are_alike_have_a_lower_end_of_0(name: str) -> None:
    seen = 0
    for mechanism, pair in cases(name, 5):
        if alike(pair):
            seen += 1
            for law in (mechanism.profile(pair), proved_profile(mechanism, pair)):
                assert exact_delta(law, 0.0).low == 0.0
                assert exact_tail(law, 0.0).low == 0.0
                assert exact_epsilon(law, 1e-30).low == 0.0
    assert seen >= 2


@pytest.mark.parametrize("name", LAWS)
def test_both_ends_of_epsilon_hold_the_truth(name: str) -> None:
    for mechanism, pair in cases(name, 6):
        law, true = proved_profile(mechanism, pair), pair_truth.truth(mechanism, pair)
        for delta in (1e-6, 0.02):
            found = exact_epsilon(law, delta)
            worse = lambda e, true=true: max(true(e, d)[0] for d in BOTH)  # noqa: E731
            assert pair_truth.epsilon_of(worse, delta, found.low, found.high) == (True, True)


@for_each("name", LAWS)
def test_an_enclosure_is_narrow(name: str) -> None:
    """Ends that say nothing would pass every other test here: a distance is known to 1e-9, or as its solver stops."""
    for mechanism, pair in cases(name, 7):
        law = proved_profile(mechanism, pair)
        solver = 2 * mechanism.residual / (mechanism.lam * mechanism.sigma) if isinstance(mechanism, GlmOutput) else 0.0
        for d in BOTH:
            bracket = law.delta_bracket(0.0, d)
            assert bracket.high - bracket.low <= 1e-9 + solver


@pytest.mark.parametrize("name", LAWS)
def test_both_ends_of_every_records_exposure_hold_the_truth(name: str) -> None:
    data = next(pairs(8, 5)).dataset
    data = _counts(NeighbouringPair.remove(data, 0)).dataset if "Poisson" in name else data
    data = Dataset(np.vstack([data.X, np.zeros(2)]), np.append(data.y, 1.0), 1.0, 1.0)
    seen = exposure(LAWS[name], data, Budget(1, 1e-6, StreamKey(1)), delta=1e-3)
    for i in range(data.n_records):
        true = pair_truth.truth(LAWS[name], NeighbouringPair.remove(data, i))
        assert seen.advantage.low[i] <= true(0.0, Direction.FORWARD)[0] <= seen.advantage.high[i]
        for direction, bounds in zip(BOTH, (seen.drawn_with, seen.drawn_without), strict=True):
            delta_at = lambda e, true=true, direction=direction: true(e, direction)[0]  # noqa: E731
            assert pair_truth.epsilon_of(delta_at, 1e-3, bounds.low[i], bounds.high[i]) == (True, True)


@for_each("name", [name for name in REFERENCES if name in LAWS])
def test_no_pair_exceeds_what_is_proved_over_all_data_sets_and_the_worst_pair_is_enclosed(name: str) -> None:
    mechanism, domain = LAWS[name], Domain(2, 1.0, 1.0, 9)
    bound, worst = worst_case_of(mechanism, domain), worst_pair_of(mechanism, domain, 0.3, 1e-6)
    if worst is not None:
        own = pair_truth.truth(mechanism, worst.pair)
        assert worst.delta.low <= max(own(0.3, d)[0] for d in BOTH) <= worst.delta.high
    stated = mechanism.worst_profile(1.0, 1.0) if hasattr(mechanism, "worst_profile") else None
    for _, pair in cases(name, 9):
        true = max(pair_truth.truth(mechanism, pair)(0.3, d)[0] for d in BOTH)
        if bound is not None and pair.relation is not Relation.REPLACE:
            assert true <= bound.delta_at(0.3, 1e-6)
        if stated is not None and pair.relation is not Relation.REPLACE:
            assert true <= max(stated.delta_bracket(0.3, d).high for d in BOTH)


def test_a_law_that_only_dominates_has_no_lower_end() -> None:
    law = AdaSSP(1.0, 1e-3).dominating_profile(next(pairs(3)))
    assert not isinstance(law, ExactLaw)
    assert not any(hasattr(law, name) for name in ("delta_bracket", "tail_bracket", "epsilon_bracket", "low"))
