"""SmartNoise SQL's adapter against a stand-in with its three calls; the library itself needs an environment of its own.

The stand-in answers one query as the library does (a header, then rows; nothing of a row that was censored). That the
adapter works with smartnoise-sql 1.0.6 was run by hand: ``docs/doors.md`` says what was seen.
"""

from __future__ import annotations

import sys
import types

import numpy as np
import pytest

from audits import Budget, SmartNoiseSQL, StreamKey, examine, point_claim
from audits.search import NamedPair
from mechanisms import Dataset, NeighbouringPair

TABLE = {"": {"": {"records": {"row_privacy": True, "y": {"type": "float", "lower": 0.0, "upper": 1.0}}}}}
QUERY = "SELECT SUM(y) AS total FROM records"
PAIR = NeighbouringPair.add(Dataset([[0.0, 1.0]], [1.0], 1.0, 1.0), [0.0, 1.0], 1.0)


class Reader:
    def __init__(self, frame, privacy, metadata):
        assert metadata == TABLE
        assert len(frame.columns)  # the library makes a table of it
        self.frame, self.privacy = frame, privacy

    def execute(self, query):
        assert query == QUERY
        assert list(self.frame.columns) == ["x1", "x2", "y"]
        total = self.frame["y"].sum() + np.random.laplace(scale=1 / self.privacy.epsilon)  # noqa: NPY002
        return [("total",), [total]] if total > -3 else [("total",)]

    def get_privacy_cost(self, query):
        return np.float64(self.privacy.epsilon), np.float64(self.privacy.delta)


@pytest.fixture
def _snsql(monkeypatch):
    module = types.ModuleType("snsql")
    module.Privacy = lambda *, epsilon, delta: types.SimpleNamespace(epsilon=epsilon, delta=delta)
    module.from_df = lambda frame, *, privacy, metadata: Reader(frame, privacy, metadata)
    monkeypatch.setitem(sys.modules, "snsql", module)


@pytest.mark.usefixtures("_snsql")
def test_rows_without_the_header_are_the_output():
    mechanism = SmartNoiseSQL(QUERY, TABLE, 1.0, 1e-6)
    draws = mechanism.draw(PAIR.second, 200, rng=np.random.default_rng(1))
    assert {len(draw) for draw in draws} <= {0, 1}
    assert all(isinstance(row, tuple) and len(row) == 1 for draw in draws for row in draw)
    assert mechanism.cost() == (1.0, 1e-6)
    assert mechanism.name == "SmartNoise SQL SELECT SUM(y) AS total FROM records"


@pytest.mark.usefixtures("_snsql")
@pytest.mark.parametrize(("epsilon", "refuted"), [(4.0, True), (1.0, False)])
def test_a_query_that_spends_more_than_is_claimed_is_refuted(epsilon, refuted):
    mechanism = SmartNoiseSQL(QUERY, TABLE, epsilon, 1e-6)
    found = examine(mechanism, [NamedPair("pair", PAIR)], point_claim(1.0, 1e-6), Budget(1200, 1e-6, StreamKey(1)))
    assert bool(found.refutations) == refuted
