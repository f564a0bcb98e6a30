"""Training on all records: density and loss against literal twins, and what is refused."""

import numpy as np
import pytest
from oracles.mechanisms.examples import linear_data, pairs
from oracles.mechanisms.literal_training import EnumeratedTraining

from mechanisms.data.dataset import Dataset
from mechanisms.training.dp_sgd import DPSGD, FullBatchGD

TRAININGS = {
    "fixed": DPSGD("squared", 3, 1.0, 1.5, 0.4, 2.0, normaliser=8.0, radius=0.7),
    "released": DPSGD("squared", 3, 1.0, 1.5, 0.4, 2.0, count_sigma=2.0),
    "logistic": DPSGD("logistic", 2, 1.0, 0.7, 0.6, 1.0, normaliser=3.0),
}


def data(name, dim=2):
    given = linear_data(8, dim)
    return Dataset(given.X, np.sign(given.y), 1.0, 1.0) if name == "logistic" else given


@pytest.mark.parametrize("name", TRAININGS)
def test_the_density_is_that_of_the_one_sample_of_everyone(name):
    training, dataset = TRAININGS[name], data(name, 3)
    outputs = training.draw(dataset, 20, rng=np.random.default_rng(1))
    stated = FullBatchGD(training).log_density(outputs, dataset)
    np.testing.assert_allclose(stated, EnumeratedTraining(training).log_density(outputs, dataset), rtol=1e-11)


@pytest.mark.parametrize("name", ["fixed", "released"])
@pytest.mark.parametrize("relation", ["add", "remove", "replace"])
def test_the_loss_is_the_difference_of_densities(name, relation):
    mechanism, pair = FullBatchGD(TRAININGS[name]), pairs(data(name))[relation]
    outputs = mechanism.draw(pair.first, 50, rng=np.random.default_rng(2))
    loss = mechanism.privacy_loss(outputs, pair)
    direct = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    np.testing.assert_allclose(loss, direct, atol=1e-11)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, atol=1e-11)
    assert np.abs(loss).max() > 0.1


def test_coefficients_are_those_of_the_training():
    training, dataset = TRAININGS["released"], data("released")
    outputs = FullBatchGD(training).draw(dataset, 5, rng=np.random.default_rng(3))
    found = FullBatchGD(training).coefficients(outputs, dataset)
    assert np.array_equal(found, training.coefficients(outputs, dataset))


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"rate": 0.5}, "rate must be 1.0 for a density, got rate=0.5"),
        ({"observer": "final"}, "observer must be transcript for a density, got observer=final"),
    ],
)
def test_what_has_no_density_is_refused(wrong, words):
    numbers = {"loss": "squared", "n_steps": 2, "rate": 1.0, "sigma": 1.0, "clip": 1.0, "step_size": 1.0}
    with pytest.raises(ValueError, match=words):
        FullBatchGD(DPSGD(**(numbers | {"normaliser": 1.0} | wrong)))
