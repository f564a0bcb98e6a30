"""Do the corrected AdaOPS keep their budget, and where do the printed ones break it? By quadrature."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.mechanisms import joint_releases as oracle
from rows import for_each

from mechanisms.base import BOTH, Direction
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear import adassp
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018
from mechanisms.linear.adaops_wang2019 import AdaOPS2019, CorrectedRule2019, PublishedRule2019
from mechanisms.linear.adassp import AdaSSP
from mechanisms.records.record_laws import GaussianRecordLaws, dominating_laws, record_laws
from mechanisms.reference import is_reference


def extreme_pairs(dim, n, x_bound=1.0, y_bound=1.0):
    """Data of all sizes along one axis (flat, half-filled, none), and targets on the bounds, along it and across."""
    for scale in (0.0, 0.3, 1.0):
        X = np.zeros((n, dim))
        X[:, 0] = scale * x_bound
        if dim > 1:
            X[: n // 2, 1] = X[: n // 2, 0]
            X[: n // 2, 0] = 0.0
        data = Dataset(X, np.full(n, y_bound), x_bound, y_bound)
        for axis in range(dim):
            for y in (-y_bound, y_bound):
                yield NeighbouringPair.add(data, x_bound * np.eye(dim)[axis], y)


@pytest.mark.parametrize("budget", [(0.5, 1e-4), (1.0, 1e-2), (4.0, 0.1)])
@pytest.mark.parametrize("dim", [1, 2])
def test_corrected_w18_keeps_its_budget_at_any_scale(budget, dim):
    mechanism = AdaOPS2018(CorrectedRule2018(*budget))
    for bounds in ((1.0, 1.0), (5.0, 0.3)):
        for n in (0, 400):
            for pair in extreme_pairs(dim, n, *bounds):
                for direction in BOTH:
                    assert oracle.adaops2018(mechanism, pair, budget[0], direction) <= budget[1]


@pytest.mark.parametrize("budget", [(0.5, 1e-4), (1.0, 1e-2), (4.0, 0.1)])
@for_each("dim", [1, 2])
def test_corrected_w19_keeps_its_budget(budget, dim):
    for n in (6, 400):
        rule = CorrectedRule2019(*budget, kappa=1.0, n_public=n + 1)
        rule = CorrectedRule2019(*budget, kappa=0.5 * rule.largest_kappa(dim), n_public=n + 1)
        for pair in extreme_pairs(dim, n):
            for direction in BOTH:
                assert oracle.adaops2019(AdaOPS2019(rule), pair, budget[0], direction) <= budget[1]


def test_quadrature_agrees_with_simulation():
    """Null: the oracle's delta is right. Hoeffding at 1e-8 for each of 8 comparisons, 200,000 draws each."""
    n = 200_000
    radius = np.sqrt(np.log(2e8) / (2 * n))
    pair = next(iter(extreme_pairs(1, 20)))
    for mechanism, slow in (
        (AdaOPS2018(PublishedRule2018(8.0, 0.1)), oracle.adaops2018),
        (AdaOPS2019(PublishedRule2019(8.0, 0.1, 2.0, n_public=20)), oracle.adaops2019),
    ):
        for pair in (next(iter(extreme_pairs(1, 20))), list(extreme_pairs(1, 20))[-2]):
            for direction, data in zip(BOTH, (pair.first, pair.second), strict=True):
                outputs = mechanism.draw(data, n, rng=np.random.default_rng(8))
                loss = mechanism.privacy_loss(outputs, pair) * (1 if direction is BOTH[0] else -1)
                sampled = np.maximum(0.0, -np.expm1(0.1 - loss)).mean()
                assert slow(mechanism, pair, 0.1, direction) == pytest.approx(sampled, abs=radius)


def test_printed_w18_breaks_where_the_bound_on_rows_is_not_one():
    """B = 4, epsilon = 1, delta = 1e-5: the eigenvalue's noise does not scale (docs/derivations/wang2018_adaops.md)."""
    data = Dataset(np.full((30, 1), 4.0), np.zeros(30), 4.0, 1.0)
    pair = NeighbouringPair.add(data, [4.0], 0.0)
    mechanism = AdaOPS2018(PublishedRule2018(1.0, 1e-5))
    assert max(oracle.adaops2018(mechanism, pair, 1.0, d) for d in BOTH) > 1e3 * 1e-5


def test_printed_w19_breaks_on_singular_data():
    """min{0, .}: empty data of public size 20 has no posterior, its neighbour has one: the transcript tells."""
    rule = PublishedRule2019(1.0, 1e-3, kappa=0.1, n_public=20)
    assert rule.kappa <= rule.largest_kappa(20, 1)
    pair = NeighbouringPair.add(Dataset(np.zeros((0, 1)), np.zeros(0), 1.0, 1.0), [1.0], 1.0)
    assert max(oracle.adaops2019(AdaOPS2019(rule), pair, 1.0, d) for d in BOTH) > 0.9


DATA, MECHANISM = example_data(), AdaSSP(2.0, 1e-4)


def _distances() -> GaussianRecordLaws:
    laws = dominating_laws(MECHANISM, DATA)
    assert isinstance(laws, GaussianRecordLaws)
    return laws


def test_they_are_the_laws_before_the_cut() -> None:
    literal = [MECHANISM.dominating_profile(NeighbouringPair.remove(DATA, i)).law.mu for i in range(DATA.n_records)]
    np.testing.assert_allclose(_distances().mu, literal, rtol=1e-9)
    assert (_distances().mu <= MECHANISM.worst_profile().mu).all()


def test_where_eigenvalues_are_not_computed_they_are_larger(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = _distances().mu
    monkeypatch.setattr(adassp, "EIGENVALUE_WORK", 0)
    larger = _distances().mu
    assert (larger >= exact).all()
    assert (larger <= MECHANISM.worst_profile().mu).all()
    assert larger.sum() > 1.02 * exact.sum()


def test_no_record_loses_more_in_simulation() -> None:
    """The whole transcript's losses, drawn with and without the record that loses most."""
    worst = int(np.argmax(_distances().mu))
    pair = NeighbouringPair.remove(DATA, worst)
    losses = MECHANISM.privacy_loss(MECHANISM.draw(DATA, 4000, rng=np.random.default_rng(1)), pair)
    for epsilon in (0.1, 0.5):
        seen = float(np.maximum(-np.expm1(epsilon - losses), 0.0).mean())
        assert seen <= _distances().delta_at(epsilon, Direction.FORWARD)[worst] + 0.01
    assert record_laws(MECHANISM, DATA) is None  # and they are not called exact


def test_a_strangers_are_not_believed() -> None:
    class Own(AdaSSP):
        pass

    assert not is_reference(Own(1.0, 1e-4))
    assert dominating_laws(Own(1.0, 1e-4), DATA) is None
