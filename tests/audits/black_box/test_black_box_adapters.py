"""Adapters of diffprivlib and OpenDP: outputs have our shape, audits of them find what is wrong with them."""

from __future__ import annotations

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.adapters.diffprivlib import DiffprivlibMechanism, DiffprivlibRegression, count_records, sum_responses
from audits.adapters.opendp import OpenDPNoise, OpenDPTheilSen, zcdp_curve
from audits.black_box.black_box_audit import audit_claim
from audits.black_box.black_box_events import FixedEvent, PointTradeOff, epsilon_lower
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from mechanisms import Dataset, GaussianProfile, NeighbouringPair, Relation

DATA = Dataset(np.array([[1.0], [0.1]]), np.array([1.0, 0.1]), 1.0, 1.0)
LAPLACE = DiffprivlibMechanism("Laplace", {"epsilon": 1.0, "sensitivity": 1.0})

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def rng():
    return np.random.default_rng(5)


@pytest.mark.parametrize(
    ("mechanism", "k"),
    [
        (LAPLACE, 1),
        (DiffprivlibMechanism("Geometric", {"epsilon": 1.0, "sensitivity": 1}, integer=True), 1),
        (DiffprivlibMechanism("Gaussian", {"epsilon": 1.0, "delta": 1e-5, "sensitivity": 1.0}, sum_responses), 1),
        (DiffprivlibRegression("LinearRegression", {"bounds_X": (-1.0, 1.0), "bounds_y": (-1.0, 1.0)}), 2),
        (OpenDPNoise("laplace", 1.0), 1),
        (OpenDPNoise("gaussian", 2.0), 1),
        (OpenDPNoise("geometric", 1.0), 1),
        (OpenDPNoise("canonical", epsilon=1.0, delta=1e-3), 1),
        (OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0), 2),
    ],
)
def test_outputs_have_one_row_per_draw(mechanism, k):
    outputs = mechanism.draw(DATA, 7, rng=rng())
    assert outputs.shape == (7, k)
    assert outputs.dtype == np.float64
    assert np.isfinite(outputs).all()
    assert len(np.unique(outputs, axis=0)) > 1
    assert mechanism.name.startswith(("diffprivlib", "OpenDP"))


def test_diffprivlib_repeats_exactly():
    np.testing.assert_array_equal(LAPLACE.draw(DATA, 5, rng=rng()), LAPLACE.draw(DATA, 5, rng=rng()))
    assert count_records(DATA) == 2.0
    assert sum_responses(DATA) == pytest.approx(1.1)


def test_linear_regression_with_a_lower_bound_of_zero_breaks_its_claim():
    """diffprivlib 0.6.6: no noise on sums of squares when bounds_X = (0, 1); far beyond level 1e-6 with 600 fits."""
    model = DiffprivlibRegression(
        "LinearRegression",
        {"epsilon": 1.0, "bounds_X": (0.0, 1.0), "bounds_y": (-1.0, 1.0), "fit_intercept": False},
    )
    pair = NeighbouringPair.replace(DATA, 0, [0.0], 0.0)
    claim = BlackBoxClaim(1.0, 0.0, (Relation.REPLACE,), source="diffprivlib 0.6.6, LinearRegression")
    test = audit_claim(model, pair, claim, Budget(600, 1e-6, StreamKey(1, ("linear regression",))))
    assert test.outcome is BlackBoxOutcome.REFUTED


@pytest.mark.slow
def test_logistic_regression_with_a_large_data_norm_breaks_its_claim():
    """diffprivlib 0.6.6: the curvature bound grows with data_norm, not with its square. Level 1e-6, 3000 fits a side.

    A record of norm B = 100 against one of norm 0, epsilon 1: the noise has density exp(-|b| / (4 B)), alpha + n Delta
    is 25/(e^(1/4) - 1) = 88, so at coefficient 0 the densities are in ratio (1 + 2500/88) exp(-1/8) = e^3.26. The event
    is that the coefficient is within 3/B of 0, where that record's predicted probability is not yet 0 or 1.
    """
    model = DiffprivlibRegression("LogisticRegression", {"epsilon": 1.0, "data_norm": 100.0, "fit_intercept": False})
    n, counts = 3000, []
    for x, seed in ((100.0, 6), (0.0, 7)):
        dataset = Dataset(np.array([[x], [0.0]]), np.array([1.0, 0.0]), 100.0, 1.0)
        outputs = model.draw(dataset, n, rng=np.random.default_rng(seed))
        counts.append(int((np.abs(outputs) < 0.03).sum()))
    event = FixedEvent(counts[0], n, counts[1], n)
    assert event.evidence(PointTradeOff(1.0, 0.0), 1e-6) > 0
    assert epsilon_lower(event, 0.0, 1e-6) > 1.2


def test_opendp_s_own_curve_is_above_the_exact_one():
    claimed = zcdp_curve(2.0)
    for epsilon in (0.1, 0.5, 2.0):
        assert claimed.delta(epsilon) >= GaussianProfile(0.5).delta_at(epsilon)
    assert claimed.delta(claimed.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-2)
    assert OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0).claimed_epsilon() == pytest.approx(2.0)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: DiffprivlibRegression("KMeans"), "kind must be LinearRegression or LogisticRegression"),
        (lambda: DiffprivlibRegression("LogisticRegression"), "parameters must contain data_norm"),
        (lambda: OpenDPNoise("cauchy"), "kind must be laplace, gaussian, geometric or canonical, got kind=cauchy"),
    ],
)
def test_impossible_adapters_are_refused(build, message):
    with pytest.raises(ValueError, match=message):
        build()
