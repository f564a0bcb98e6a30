"""Losses of all records in one pass equal those of one pair at a time."""

from __future__ import annotations

import numpy as np
import pytest
from oracles.verify.deployment import ex_post_losses as slow_losses
from oracles.verify.deployment import record_epsilons as slow_epsilons

from mechanisms import GaussianOutput, LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.catalogue import example_data
from mechanisms.linear import sufficient_statistics
from mechanisms.linear.ridge import RidgeMap
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from verify.certificates.claims import record_losses
from verify.certificates.config.mechanism_source import Imported

METRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
MECHANISMS = {
    "objective": (ObjectivePerturbation(LogisticLoss(), 1.5, 0.5), "labels"),
    "posterior": (PosteriorSampling(3.0, 1.0), "linear"),
    "posterior, no ridge": (PosteriorSampling(3.0, 0.0), "linear"),
    "Gaussian": (GaussianOutput(METRIC, 30.0, RidgeMap(1.0)), "linear"),
    "SSP": (SufficientStatistics(1.2, 0.9, lam=0.5), "linear"),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_ex_post_losses_of_all_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sufficient_statistics, "CHUNK", 7)
    mechanism, kind = MECHANISMS[name]
    data = example_data(kind=kind)
    output = mechanism.draw(data, 1, rng=np.random.default_rng(1))[0]
    found = record_losses.ex_post_losses(mechanism, output, data)
    np.testing.assert_allclose(found, slow_losses(mechanism, output, data), rtol=1e-9, atol=1e-11)
    one_by_one = record_losses.ex_post_losses(Imported(mechanism), output, data)
    np.testing.assert_allclose(one_by_one, found, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["posterior", "Gaussian", "SSP"])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_epsilons_of_all_records(name: str, delta: float) -> None:
    mechanism, kind = MECHANISMS[name]
    data = example_data(kind=kind)
    found = record_losses.record_epsilons(mechanism, data, delta)
    np.testing.assert_allclose(found, slow_epsilons(mechanism, data, delta), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(record_losses.record_epsilons(Imported(mechanism), data, delta), found, rtol=1e-9)


def test_what_has_no_law_has_no_epsilon() -> None:
    mechanism, kind = MECHANISMS["objective"]
    assert record_losses.record_epsilons(mechanism, example_data(kind=kind), 1e-6) is None
