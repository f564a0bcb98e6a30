"""DP-SGD: its draws follow the density that enumerates samples, and those of every planted error do not."""

from __future__ import annotations

import pickle
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.mechanisms import conformance, literal_training
from oracles.mechanisms.examples import linear_data, pairs
from oracles.mechanisms.literal_training import EnumeratedTraining
from rows import for_each

from mechanisms.broken.broken_training import TRAININGS, OwnCount
from mechanisms.capabilities import coefficients_of
from mechanisms.catalogue import Example
from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.reference import is_reference
from mechanisms.training import batched_steps
from mechanisms.training.batched_steps import ClippedRecords, bernoulli, passes
from mechanisms.training.dp_sgd import DPSGD, DPSGDParameters, FullBatchGD

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


@for_each("name", TRAININGS)
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


@for_each("count_sigma", [None, 2.0])
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


@for_each(
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


FULL_BATCH = {
    "fixed": DPSGD("squared", 3, 1.0, 1.5, 0.4, 2.0, normaliser=8.0, radius=0.7),
    "released": DPSGD("squared", 3, 1.0, 1.5, 0.4, 2.0, count_sigma=2.0),
    "logistic": DPSGD("logistic", 2, 1.0, 0.7, 0.6, 1.0, normaliser=3.0),
}


def data(name, dim=2):
    given = linear_data(8, dim)
    return Dataset(given.X, np.sign(given.y), 1.0, 1.0) if name == "logistic" else given


@for_each("name", FULL_BATCH)
def test_the_density_is_that_of_the_one_sample_of_everyone(name):
    training, dataset = FULL_BATCH[name], data(name, 3)
    outputs = training.draw(dataset, 20, rng=np.random.default_rng(1))
    stated = FullBatchGD(training).log_density(outputs, dataset)
    np.testing.assert_allclose(stated, EnumeratedTraining(training).log_density(outputs, dataset), rtol=1e-11)


@for_each("name", ["fixed", "released"])
@for_each("relation", ["add", "remove", "replace"])
def test_the_loss_is_the_difference_of_densities(name, relation):
    mechanism, pair = FullBatchGD(FULL_BATCH[name]), pairs(data(name))[relation]
    outputs = mechanism.draw(pair.first, 50, rng=np.random.default_rng(2))
    loss = mechanism.privacy_loss(outputs, pair)
    direct = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    np.testing.assert_allclose(loss, direct, atol=1e-11)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, atol=1e-11)
    assert np.abs(loss).max() > 0.1


def test_coefficients_are_those_of_the_training():
    training, dataset = FULL_BATCH["released"], data("released")
    outputs = FullBatchGD(training).draw(dataset, 5, rng=np.random.default_rng(3))
    found = FullBatchGD(training).coefficients(outputs, dataset)
    assert np.array_equal(found, training.coefficients(outputs, dataset))


@for_each(
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


SIZES = st.one_of(st.just(0.0), st.floats(-150, 150).map(lambda power: 10.0**power))


def records(loss, n, dim, seed):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n)
    return Dataset(rng.standard_normal((n, dim)), np.sign(y) if loss == "logistic" else y, np.inf, np.inf)


@for_each("loss", ["squared", "logistic"])
@for_each("dim", [1, 4])
def test_sums_equal_the_literal_twin_either_way(loss, dim):
    data, rng = records(loss, 40, dim, dim), np.random.default_rng(1)
    training = DPSGD(loss, 1, 0.5, 1.0, 0.8, 1.0, normaliser=1.0)
    theta, chosen = rng.standard_normal((7, dim)), rng.random((7, 40)) < 0.3
    chosen[2], chosen[5] = False, True
    made = training.records(data)
    expected = literal_training.sums(training, theta, data, chosen)
    np.testing.assert_allclose(made.sums_over(theta, chosen), expected, rtol=1e-11, atol=1e-13)
    np.testing.assert_allclose(made.sums_over(theta, chosen, sparse=True), expected, rtol=1e-11, atol=1e-13)
    everyone = literal_training.sums(training, theta, data, np.ones_like(chosen))
    np.testing.assert_allclose(made.full_sums(theta), everyone, rtol=1e-11, atol=1e-13)
    of = [literal_training.gradients(training, theta, data.X[i], data.y[i]) for i in range(40)]
    each = [np.linalg.norm(gradients, axis=1) for gradients in of]
    np.testing.assert_allclose(made.gradient_norms(theta), np.transpose(each), rtol=1e-11)
    assert np.max(each) == pytest.approx(0.8)  # some are clipped


@given(
    st.sampled_from(["squared", "logistic"]),
    st.floats(-12, 12).map(lambda power: 10.0**power),
    st.lists(st.tuples(SIZES, SIZES, st.sampled_from([-1.0, 1.0]), SIZES), min_size=1, max_size=4),
    SIZES,
)
def test_no_gradient_is_longer_than_the_clip(loss, clip, rows, far):
    """In rational arithmetic: weight times row; rows from 1e-150 to 1e150 and 0, iterates as far as 1e150."""
    norms = [max(np.hypot(a, b), 1.0) for a, b, _, _ in rows]
    X = np.array([[a, b] for a, b, _, _ in rows]) * np.minimum(1.0, 1e150 / np.array(norms))[:, None] * (1 - 1e-15)
    y = np.array([sign * (1.0 if loss == "logistic" else size) for _, _, sign, size in rows])
    weights = ClippedRecords.of(loss, Dataset(X, y, np.inf, np.inf), clip).weights(far * np.array([[0.6, -0.8]]))[0]
    assert np.isfinite(weights).all()
    for weight, row in zip(weights.tolist(), X.tolist(), strict=True):
        length = sum((Fraction(weight) * Fraction(entry)) ** 2 for entry in row)
        assert length <= Fraction(clip) ** 2


def test_a_row_beyond_floating_point_is_refused():
    data = Dataset(np.array([[1e200, 1e200]]), np.array([1.0]), np.inf, np.inf)
    with pytest.raises(DataError, match="rows of X must have Euclidean norm at most 1e"):
        ClippedRecords.of("squared", data, 1.0)


class Digits:
    """Hands out given bytes, or the ones of a rate half of the time, and remembers them."""

    def __init__(self, make):
        self.make, self.given = make, []

    def integers(self, low, high, size, dtype):
        assert (low, high, dtype) == (0, 2**64, np.uint64)
        self.given.append(np.asarray(self.make(len(self.given), size * 8), np.uint8))
        return self.given[-1].view("<u8")


@for_each("count", [1, 255, 256, 257, 40_000, 65_535])
def test_of_all_pairs_of_bytes_so_many_are_chosen_as_the_rate_says(count):
    """Every pair occurs once: a rate of count/65536 chooses exactly count of them."""
    digits = Digits(lambda place, size: np.repeat(np.arange(256), 256) if place == 0 else np.arange(256))
    assert bernoulli(65_536, count / 65_536, rng=digits).sum() == count


@given(st.floats(1e-12, 1.0, exclude_max=True), st.integers(0, 2**32))
def test_events_are_those_of_an_exact_comparison(rate, seed):
    """Against fractions: bytes that agree with the rate's own half of the time, so that ties go on to its last bit."""
    rng = np.random.default_rng(seed)

    def make(place, size):
        own = int(Fraction(rate) * 256 ** (place + 1)) % 256
        return np.where(rng.random(size) < 0.8, own, rng.integers(0, 256, size))

    digits, size = Digits(make), 64
    chosen = bernoulli(size, rate, rng=digits)
    left = list(range(size))
    low, width = [Fraction(0)] * size, Fraction(1)
    for drawn in digits.given:
        width /= 256
        for event, digit in zip(left, drawn[: len(left)].tolist(), strict=True):
            low[event] += digit * width
        for event in left:  # decided where all that can follow lies on one side
            if low[event] + width <= rate or low[event] >= rate:
                assert chosen[event] == (low[event] < rate)
        left = [event for event in left if low[event] < rate < low[event] + width or low[event] == rate]
    assert all(low[event] == rate and not chosen[event] for event in left)


def test_rare_events_happen_at_their_rate():
    """The real generator: 4e6 events of probability 3e-4, six standard deviations either way."""
    n, rate = 4_000_000, 3e-4
    found = bernoulli(n, rate, rng=np.random.default_rng(6)).sum()
    assert abs(found - n * rate) < 6 * np.sqrt(n * rate)


@for_each(("n", "dim", "rate"), [(1, 1, 0.5), (1000, 10, 0.01), (10**5, 1000, 0.001), (10**7, 3, 1.0)])
def test_passes_cover_all_draws_in_bounded_memory(n, dim, rate):
    parts = list(passes(5_000, n, dim, rate))
    assert np.array_equal(np.concatenate([np.arange(p.start, p.stop) for p in parts]), np.arange(5_000))
    most = max(p.stop - p.start for p in parts)
    assert most == 1 or most * n * max(1.0, rate * dim) <= 2**18
