"""Per-instance sensitivity of smooth problems (W19-L3.1) against refits, for five losses with and without a ridge."""

import math

import numpy as np
import pytest
from oracles.mechanisms.examples import linear_data
from oracles.verify import w18_small as oracle
from rows import for_each

from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, UnsupportedRelation
from mechanisms.objective.losses import LogisticLoss, PoissonLoss, PseudoHuberLoss, SquaredLoss
from mechanisms.objective.sensitivity import HuberLoss, SmoothProblem, squared_sensitivities

LOSSES = {
    "squared": SquaredLoss(),
    "logistic": LogisticLoss(),
    "poisson": PoissonLoss(),
    "huber": HuberLoss(0.3),
    "pseudo-huber": PseudoHuberLoss(0.5),
}


def problem_data(name, n=40, dim=3):
    base = linear_data(n, dim, seed=4)
    if name == "logistic":
        return Dataset(base.X, np.where(np.arange(n) % 3 == 0, 1.0, -1.0), 1.0, 1.0)
    if name == "poisson":
        return Dataset(base.X, np.random.default_rng(0).poisson(1.0, n).astype(float), 1.0, 10.0)
    return base


@pytest.mark.parametrize("name", LOSSES)
@for_each("lam", [0.0, 0.7])
def test_minimisers_and_both_sides_of_the_identity(name, lam):
    dataset, problem = problem_data(name), SmoothProblem(LOSSES[name], lam)
    theta = problem.fit(dataset).theta
    np.testing.assert_allclose(theta, oracle.refit(dataset, LOSSES[name], lam), atol=2e-6)
    for pair in (NeighbouringPair.add(dataset, [0.6, -0.7, 0.1], 1.0), NeighbouringPair.remove(dataset, 2)):
        change = problem.change(pair)
        sides = problem.stability(pair)
        np.testing.assert_allclose(sides.with_target, change, rtol=1e-7, atol=1e-10)
        np.testing.assert_allclose(sides.without_target, change, rtol=1e-7, atol=1e-10)
        # the second display as printed has the wrong sign, not a wrong size
        assert np.linalg.norm(sides.without_target_published - change) > 1.99 * np.linalg.norm(change)
        A = np.diag([1.0, 2.0, 0.5])
        assert problem.sensitivity(pair) == pytest.approx(np.linalg.norm(change), rel=1e-12)
        assert problem.sensitivity(pair, A) == pytest.approx(math.sqrt(change @ A @ change), rel=1e-12)
        np.testing.assert_allclose(problem.change(pair.swapped()), -change, rtol=1e-6, atol=1e-10)


def test_replacement_is_the_sum_of_a_removal_and_an_addition():
    dataset, problem = problem_data("squared"), SmoothProblem(SquaredLoss(), 0.5)
    pair = NeighbouringPair.replace(dataset, 3, [0.1, 0.2, 0.3], 0.4)
    remove = NeighbouringPair.remove(dataset, 3)
    add = NeighbouringPair.add(remove.second, [0.1, 0.2, 0.3], 0.4)
    np.testing.assert_allclose(problem.change(pair), problem.change(remove) + problem.change(add), atol=1e-11)
    with pytest.raises(UnsupportedRelation, match="REPLACE"):
        problem.stability(pair)


@for_each("lam", [0.0, 0.4])
def test_all_records_at_once_equal_one_refit_each(lam):
    dataset = linear_data(25, 3, seed=9)
    A = np.array([[2.0, 0.3, 0.0], [0.3, 1.0, 0.1], [0.0, 0.1, 0.5]])
    problem = SmoothProblem(SquaredLoss(), lam)
    for metric in (None, A):
        slow = [problem.sensitivity(NeighbouringPair.remove(dataset, i), metric) for i in range(25)]
        np.testing.assert_allclose(squared_sensitivities(dataset, lam, metric), slow, rtol=1e-7, atol=1e-12)


def test_edge_cases():
    lonely = Dataset(np.array([[1.0, 0.0]]), np.array([0.5]), 1.0, 1.0)
    empty = Dataset(np.zeros((0, 2)), np.zeros(0), 1.0, 1.0)
    assert np.isfinite(squared_sensitivities(lonely, 0.1)).all()
    assert squared_sensitivities(empty, 0.1).shape == (0,)
    assert SmoothProblem(LogisticLoss(), 0.1).fit(empty).theta.tolist() == [0.0, 0.0]
    # without a ridge the only record of a one-dimensional data set has leverage 1: it decides the answer alone
    only = Dataset(np.array([[1.0]]), np.array([0.5]), 1.0, 1.0)
    assert squared_sensitivities(only, 0.0).tolist() == [np.inf]


def test_bad_input_is_refused():
    lonely = Dataset(np.array([[1.0, 0.0]]), np.array([1.0]), 1.0, 1.0)
    for call, rule in (
        (lambda: SmoothProblem(SquaredLoss(), -1.0), "lam must"),
        (lambda: SmoothProblem(SquaredLoss(), 0.0, 0.0), "residual must"),
        (lambda: HuberLoss(0.0), "width must"),
        (lambda: SmoothProblem(SquaredLoss()).fit(lonely), "must be positive definite; add a ridge"),
        (lambda: squared_sensitivities(lonely, 0.0), "must be positive definite; add a ridge"),
        (lambda: SmoothProblem(LogisticLoss()).fit(Dataset(np.ones((2, 1)), np.ones(2), 1.0, 1.0)), "must"),
        (lambda: SmoothProblem(SquaredLoss(), 1.0).stability(NeighbouringPair.remove(lonely, 0), n_nodes=0), "n_nodes"),
    ):
        with pytest.raises(ValueError, match=rule):
            call()
