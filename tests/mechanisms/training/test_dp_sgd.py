"""DP-SGD: its draws follow the density that enumerates samples, and those of every planted error do not."""

import pickle

import numpy as np
import pytest
from oracles.mechanisms import conformance, literal_training

from mechanisms.broken.broken_training import TRAININGS, OwnCount
from mechanisms.capabilities import coefficients_of
from mechanisms.catalogue import Example
from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.reference import is_reference
from mechanisms.training import batched_steps
from mechanisms.training.dp_sgd import DPSGD, DPSGDParameters

ROWS = np.array([[0.9, 0.1], [-0.3, 0.8], [0.04, -0.07]])
LABELS = Dataset(ROWS, np.array([1.0, -1.0, 1.0]), 1.0, 1.0)
LINEAR = Dataset(ROWS, np.array([0.9, -0.6, 1.0]), 1.0, 1.0)
TARGET = np.array([0.6, 0.7])
NUMBERS = {"sigma": 0.3, "clip": 0.5, "step_size": 2.0}
#: Rates on either side, both normalisers, a radius that acts, gradients longer and shorter than the clip.
RIGHT = {
    "logistic": (DPSGD("logistic", 2, 0.3, **NUMBERS, normaliser=1.0), LABELS),
    "squared": (DPSGD("squared", 2, 0.7, **NUMBERS, normaliser=2.0, radius=0.6), LINEAR),
    "released": (DPSGD("squared", 2, 0.4, **NUMBERS, count_sigma=1.0), LINEAR),
    "every record": (DPSGD("logistic", 2, 1.0, **NUMBERS, normaliser=4.0), LABELS),
}


def enumerated(training, data, drawn=None):
    pair = NeighbouringPair.add(data, TARGET, -1.0)
    return Example(literal_training.EnumeratedTraining(training, drawn), pair)


@pytest.mark.parametrize("name", RIGHT)
def test_draws_follow_the_density_that_enumerates_samples(name):
    """Level 1e-7 each (empirical Bernstein), 4,000 draws from each data set, seed 3."""
    assert list(conformance.complaints(enumerated(*RIGHT[name]), 4_000, 3)) == []


def test_computing_only_those_who_take_part_draws_the_same_law(monkeypatch):
    """As above with 2,000 draws, in passes of a few."""
    monkeypatch.setattr(batched_steps, "SPARSE_RATE", 1.0)
    monkeypatch.setattr(batched_steps, "SPARSE_CELLS", 200)
    assert list(conformance.density(enumerated(*RIGHT["squared"]), 2_000, 3)) == []


@pytest.mark.parametrize("name", TRAININGS)
def test_draws_of_a_planted_error_do_not(name):
    numbers = {"sigma": 0.3, "clip": 1.5, "step_size": 2.0, "normaliser": 0.7}
    if name == "training_unclipped":
        numbers["clip"] = 0.4
    planted = TRAININGS[name]("squared", 2, 0.4, **numbers)
    right = DPSGD("squared", 2, 0.4, **numbers)
    assert next(conformance.density(enumerated(right, LINEAR, planted), 6_000, 3), None) is not None


@pytest.mark.parametrize("name", TRAININGS)
def test_a_planted_error_has_the_interface_of_the_right_one_and_is_not_believed(name):
    planted = TRAININGS[name]("logistic", 3, 0.4, 2.0, 1.5, 1.0, normaliser=2.0)
    right = planted.but()
    assert type(right) is DPSGD
    assert is_reference(right)
    assert not is_reference(planted)
    assert pickle.loads(pickle.dumps(planted)) == planted
    outputs = planted.draw(LABELS, 4, rng=np.random.default_rng(0))
    assert outputs.shape == right.draw(LABELS, 4, rng=np.random.default_rng(0)).shape
    assert np.array_equal(planted.coefficients(outputs, LABELS), right.coefficients(outputs, LABELS))
    assert planted.name != right.name


def test_a_training_that_reads_its_size_has_none_to_release():
    broken = OwnCount("logistic", 3, 0.4, 2.0, 1.5, 1.0, count_sigma=2.0)
    with pytest.raises(ValueError, match="normaliser must be given"):
        broken.draw(LABELS, 1, rng=np.random.default_rng(0))


@pytest.mark.parametrize("count_sigma", [None, 2.0])
def test_the_last_iterate_is_that_of_the_transcript(count_sigma):
    """The two observers see the same trainings; the steps are the literal twin's."""
    numbers = {"normaliser": 2.0 if count_sigma is None else None, "count_sigma": count_sigma, "radius": 0.7}
    seen, last = (DPSGD("squared", 5, 0.5, 1.0, 0.6, 1.5, **numbers, observer=o) for o in ("transcript", "final"))
    outputs, final = (each.draw(LINEAR, 50, rng=np.random.default_rng(1)) for each in (seen, last))
    assert outputs.shape == (50, seen.width(2)) == (50, 10 + (count_sigma is not None))
    assert np.array_equal(coefficients_of(seen, outputs, LINEAR), final)
    assert np.array_equal(coefficients_of(last, final, LINEAR), final)
    released, sums = (None, outputs) if count_sigma is None else (outputs[:, :1], outputs[:, 1:])
    theta = np.zeros((50, 2))
    for t, (before, noisy) in enumerate(seen.iterates(outputs, 2)):
        np.testing.assert_allclose(before, theta, rtol=1e-13)
        assert np.array_equal(noisy, sums[:, 2 * t : 2 * t + 2])
        theta = literal_training.step(seen, theta, noisy, released)
    np.testing.assert_allclose(final, theta, rtol=1e-13)
    assert np.linalg.norm(final, axis=1).max() == pytest.approx(0.7)  # the ball's edge is reached


def test_the_released_number_of_records_is_noisy_and_makes_the_normaliser():
    """A training that is told of far too few records divides by rate times 1."""
    training = DPSGD("squared", 1, 0.5, 1e-6, 1.0, 1.0, count_sigma=5.0)
    outputs = training.draw(LINEAR, 4_000, rng=np.random.default_rng(2))
    released, sums = training.split(outputs, 2)
    assert released.mean() == pytest.approx(3, abs=0.5)
    assert released.std() == pytest.approx(5, rel=0.1)
    expected = -sums[:, 0] / (0.5 * np.maximum(released, 1.0))[:, None]
    np.testing.assert_allclose(training.coefficients(outputs, LINEAR), expected, rtol=1e-12)


def test_no_records_leave_the_noise():
    nobody = Dataset(np.empty((0, 2)), np.empty(0), 1.0, 1.0)
    for rate in (0.01, 0.5, 1.0):
        outputs = DPSGD("logistic", 3, rate, 2.0, 1.0, 1.0, normaliser=1.0).draw(
            nobody, 2_000, rng=np.random.default_rng(4)
        )
        assert outputs.std() == pytest.approx(2.0, rel=0.05)


@pytest.mark.parametrize(
    ("wrong", "words"),
    [
        ({"loss": "hinge"}, "loss must be squared or logistic, got loss=hinge"),
        ({"observer": "all"}, "observer must be transcript or final, got observer=all"),
        ({"n_steps": 0}, "n_steps must be a whole number of at least 1, got n_steps=0"),
        ({"rate": 0.0}, "rate must be finite and positive, got rate=0.0"),
        ({"rate": 1.5}, r"rate must be in \(0, 1\], got rate=1.5"),
        ({"sigma": -1.0}, "sigma must be finite and positive, got sigma=-1.0"),
        ({"clip": np.inf}, "clip must be finite and positive, got clip=inf"),
        ({"step_size": 1e13}, r"step_size must be between 1e-12 and 1e\+12, got step_size=1e\+?13"),
        ({"normaliser": None}, "normaliser must be given, or else count_sigma, got normaliser=None, count_sigma=None"),
        ({"count_sigma": 1.0}, "normaliser must be given, or else count_sigma, got normaliser=1.0, count_sigma=1.0"),
        ({"radius": 0.0}, r"radius must be positive \(infinity allowed\), got radius=0.0"),
    ],
)
def test_parameters_are_refused_in_one_line(wrong, words):
    right = {"loss": "logistic", "n_steps": 2, "rate": 0.5, "sigma": 1.0, "clip": 1.0, "step_size": 1.0}
    with pytest.raises(ValueError, match=f"^{words.split(', got step')[0]}"):
        DPSGD(**(right | {"normaliser": 1.0} | wrong))


def test_data_that_do_not_fit_are_refused():
    training = DPSGD("logistic", 2, 0.5, 1.0, 1.0, 1.0, normaliser=1.0)
    with pytest.raises(DataError, match="y must be -1 or"):
        training.draw(LINEAR, 1, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="n_draws must be"):
        training.draw(LABELS, 0, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match=r"outputs must have shape \(n_draws, 4\)"):
        training.coefficients(np.zeros((1, 5)), LABELS)
    last = DPSGD("logistic", 2, 0.5, 1.0, 1.0, 1.0, normaliser=1.0, observer="final")
    with pytest.raises(ValueError, match="observer must be transcript"):
        last.split(np.zeros((1, 2)), 2)


def test_a_configuration_builds_it():
    words = {
        "name": "dp-sgd",
        "loss": "squared",
        "n_steps": 3,
        "rate": 0.2,
        "sigma": 2.0,
        "clip": 1.0,
        "step_size": 0.5,
    }
    built = DPSGDParameters.model_validate(words | {"count_sigma": 4.0, "observer": "final"}).build(2)
    assert built == DPSGD("squared", 3, 0.2, 2.0, 1.0, 0.5, count_sigma=4.0, observer="final")
    assert built.noise_multiplier == 2.0
    with pytest.raises(ValueError, match="normaliser must be given"):
        DPSGDParameters.model_validate(words).build(2)
    with pytest.raises(DataError):
        DPSGDParameters.model_validate(words | {"loss": "logistic"}).check(LINEAR, everywhere=True)
