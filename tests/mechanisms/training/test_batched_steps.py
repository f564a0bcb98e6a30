"""Clipped gradients against a literal twin, no gradient longer than the clip, and events of exactly their rate."""

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.mechanisms import literal_training

from mechanisms.data.dataset import DataError, Dataset
from mechanisms.training.batched_steps import ClippedRecords, bernoulli, passes
from mechanisms.training.dp_sgd import DPSGD

SIZES = st.one_of(st.just(0.0), st.floats(-150, 150).map(lambda power: 10.0**power))


def records(loss, n, dim, seed):
    rng = np.random.default_rng(seed)
    y = rng.standard_normal(n)
    return Dataset(rng.standard_normal((n, dim)), np.sign(y) if loss == "logistic" else y, np.inf, np.inf)


@pytest.mark.parametrize("loss", ["squared", "logistic"])
@pytest.mark.parametrize("dim", [1, 4])
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


@pytest.mark.parametrize("count", [1, 255, 256, 257, 40_000, 65_535])
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


@pytest.mark.parametrize(("n", "dim", "rate"), [(1, 1, 0.5), (1000, 10, 0.01), (10**5, 1000, 0.001), (10**7, 3, 1.0)])
def test_passes_cover_all_draws_in_bounded_memory(n, dim, rate):
    parts = list(passes(5_000, n, dim, rate))
    assert np.array_equal(np.concatenate([np.arange(p.start, p.stop) for p in parts]), np.arange(5_000))
    most = max(p.stop - p.start for p in parts)
    assert most == 1 or most * n * max(1.0, rate * dim) <= 2**18
