"""Adapters of OpenDP: its outputs as they are, its own claims, and audits of pipelines that claim too little."""

from __future__ import annotations

import numpy as np
import opendp.prelude as dp
import pytest

from audits import Budget, NamedPair, OpenDPMeasurement, StreamKey, examine, point_claim
from audits.adapters.opendp import OpenDPNoise, OpenDPTheilSen, zcdp_curve
from mechanisms import Dataset, GaussianProfile, NeighbouringPair

DATA = Dataset(np.array([[1.0], [0.1]]), np.array([1.0, 0.1]), 1.0, 1.0)

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::FutureWarning")


def total(scale=1.0):
    """A pipeline: responses clamped to [0, 1], summed, with Laplace noise."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    return space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=scale)


def counts():
    """A pipeline on text: its output is a mapping from those words that are frequent enough."""
    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=str)), dp.symmetric_distance()
    return space >> dp.t.then_count_by(TV=int) >> dp.m.then_laplace_threshold(scale=1.0, threshold=4)


@pytest.mark.parametrize(
    ("mechanism", "k"),
    [
        (OpenDPNoise("laplace", 1.0), 1),
        (OpenDPNoise("gaussian", 2.0), 1),
        (OpenDPNoise("geometric", 1.0), 1),
        (OpenDPNoise("canonical", epsilon=1.0, delta=1e-3), 1),
        (OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0), 2),
    ],
)
def test_outputs_have_one_row_per_draw(mechanism, k):
    outputs = mechanism.draw(DATA, 7, rng=np.random.default_rng(5))
    assert outputs.shape == (7, k)
    assert outputs.dtype == np.float64
    assert len(np.unique(outputs, axis=0)) > 1
    assert mechanism.name.startswith("OpenDP")


def test_a_pipeline_gives_its_output_and_its_claim():
    mechanism = OpenDPMeasurement(lambda: total(2.0))
    draws = mechanism.draw(DATA, 400, rng=np.random.default_rng(5))
    assert all(isinstance(draw, float) for draw in draws)
    assert np.mean(draws) == pytest.approx(1.1, abs=0.9)  # six standard errors
    assert [mechanism.claimed(d_in) for d_in in (1, 3)] == pytest.approx([0.5, 1.5])


def test_an_output_of_any_type_passes_through():
    mechanism = OpenDPMeasurement(counts, lambda dataset: ["a"] * 9 + ["b" if y > 0.5 else "c" for y in dataset.y])
    draws = mechanism.draw(DATA, 20, rng=np.random.default_rng(5))
    assert all(isinstance(draw, dict) and set(draw) <= {"a", "b", "c"} for draw in draws)
    assert mechanism.claimed()[0] == pytest.approx(1.0)


@pytest.mark.parametrize(("scale", "refuted"), [(0.5, True), (1.0, False)])
def test_a_pipeline_with_half_the_noise_is_refuted_and_one_with_all_of_it_is_not(scale, refuted):
    pair = NeighbouringPair.add(DATA, [0.5], 1.0)
    budget = Budget(1200, 1e-6, StreamKey(1, ("opendp",)))
    found = examine(OpenDPMeasurement(lambda: total(scale)), [NamedPair("pair", pair)], point_claim(1.0, 0.0), budget)
    assert bool(found.refutations) == refuted
    assert found.violations == ()


def test_opendp_s_own_curve_is_above_the_exact_one():
    claimed = zcdp_curve(2.0)
    for epsilon in (0.1, 0.5, 2.0):
        assert claimed.delta(epsilon) >= GaussianProfile(0.5).delta_at(epsilon)
    assert claimed.delta(claimed.epsilon(1e-5)) == pytest.approx(1e-5, rel=1e-2)
    assert OpenDPTheilSen((0.0, 1.0), (0.0, 1.0), 1.0).claimed_epsilon() == pytest.approx(2.0)


def test_an_unknown_kind_is_refused():
    with pytest.raises(ValueError, match="kind must be laplace, gaussian, geometric or canonical, got kind=cauchy"):
        OpenDPNoise("cauchy")
