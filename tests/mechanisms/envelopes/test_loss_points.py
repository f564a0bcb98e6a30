import math

import numpy as np
import pytest
from oracles.mechanisms.objective_perturbation import log_density as literal_log_density
from oracles.mechanisms.objective_perturbation import minimiser
from oracles.toy_mechanisms import GaussianSum, toy_pair

from mechanisms.base import Direction
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.envelopes.loss_points import noise_points, output_points
from mechanisms.linear.gaussian_output import GaussianOutput
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation


def regression_pair():
    rng = np.random.default_rng(7)
    X = rng.normal(size=(200, 5))
    X /= np.linalg.norm(X, axis=1)[:, None]
    y = np.clip(X @ rng.normal(size=5), -1.0, 1.0)
    return NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), np.ones(5) / math.sqrt(5), -1.0)


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()], ids=lambda loss: loss.name)
def test_noise_of_objective_perturbation_against_its_definition(loss, direction):
    rng = np.random.default_rng(2)
    features, y = rng.normal(size=(12, 2)) / 3, np.where(rng.random(12) < 0.5, 1.0, -1.0)
    pair = NeighbouringPair.remove(Dataset(features, y, 2.0, 1.0), 3)
    mechanism, z = ObjectivePerturbation(loss, 1.5, 0.4), rng.standard_normal((5, 2))
    source = noise_points(mechanism, pair, direction)
    drawn, other = (pair.first, pair.second) if direction is Direction.FORWARD else (pair.second, pair.first)
    for row, found in zip(z, source.losses(z), strict=True):
        theta = minimiser(1.5 * row, drawn, loss, 0.4)
        expected = [literal_log_density(theta, data, loss, 0.4, 1.5) for data in (drawn, other)]
        assert found == pytest.approx(expected[0] - expected[1], rel=1e-6, abs=1e-7)
    assert source.log_density(z) == pytest.approx(np.log(np.prod(np.exp(-(z**2) / 2) / math.sqrt(2 * math.pi), axis=1)))


@pytest.mark.parametrize("direction", list(Direction))
@pytest.mark.parametrize(
    "mechanism", [PosteriorSampling(3.0, 0.7), GaussianOutput(np.diag([1.0, 2, 3, 1, 2]), 4.0)], ids=["OPS", "Gaussian"]
)
def test_noise_leads_to_the_outputs_that_the_mechanism_draws(mechanism, direction):
    """The same generator, asked by the mechanism and by its noise, gives the same losses."""
    pair = regression_pair()
    source = noise_points(mechanism, pair, direction)
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    noise = source.draw(20, np.random.default_rng(4))
    kept = noise.copy()
    outputs = mechanism.draw(drawn, 20, rng=np.random.default_rng(4))
    sign = 1 if direction is Direction.FORWARD else -1
    assert source.losses(noise) == pytest.approx(sign * mechanism.privacy_loss(outputs, pair), rel=1e-9)
    assert np.array_equal(noise, kept)


@pytest.mark.parametrize("direction", list(Direction))
def test_outputs_are_those_of_the_mechanism(direction):
    mechanism, pair = PosteriorSampling(3.0, 0.7), regression_pair()
    source = output_points(mechanism, pair, direction)
    drawn = pair.first if direction is Direction.FORWARD else pair.second
    outputs = source.draw(20, np.random.default_rng(4))
    assert np.array_equal(outputs, mechanism.draw(drawn, 20, rng=np.random.default_rng(4)))
    assert np.array_equal(source.log_density(outputs), mechanism.log_density(outputs, drawn))
    difference = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    sign = 1 if direction is Direction.FORWARD else -1
    assert source.losses(outputs) == pytest.approx(sign * difference, rel=1e-9, abs=1e-9)


def test_a_mechanism_without_a_known_noise_is_refused():
    with pytest.raises(TypeError, match="known noise"):
        noise_points(GaussianSum(1.0), toy_pair(), Direction.FORWARD)
