"""Laws that dominate each record's loss under AdaSSP: equal to the pair's own, bounds where there are many features."""

from __future__ import annotations

import numpy as np
import pytest

from mechanisms.base import Direction
from mechanisms.catalogue import example_data
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear import adassp
from mechanisms.linear.adassp import AdaSSP
from mechanisms.records.record_laws import GaussianRecordLaws, dominating_laws, record_laws
from mechanisms.reference import is_reference

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
