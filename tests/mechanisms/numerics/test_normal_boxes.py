"""Boxes of standard normal noise: masses against ball arithmetic, draws against their conditional law."""

import math

import numpy as np
import pytest
from flint import arb, ctx
from oracles.false_alarm import LEVEL, misses_allowed
from scipy import stats
from scipy.special import chdtrc, ndtr

from mechanisms.envelopes.tail_envelopes import NormalBoxes, log_normal_mass, truncated_normal


def ball_log_mass(low, high):
    """log(Phi(high) - Phi(low)) with 2000 bits."""
    ctx.prec = 2000
    try:
        tails = [
            arb(0) if end == math.inf else arb(2) if end == -math.inf else (arb(end) / arb(2).sqrt()).erfc()
            for end in (low, high)
        ]
        return float(((tails[0] - tails[1]) / 2).log())
    finally:
        ctx.prec = 53


@pytest.mark.parametrize(
    ("low", "high"),
    [
        (-1.0, 2.0),
        (5.9, 6.0),
        (-6.0, -5.9),
        (30.0, 30.1),
        (-30.1, -30.0),
        (8.0, math.inf),
        (-math.inf, -8.0),
        (-0.1, 9.0),
    ],
)
def test_the_mass_of_an_interval_against_ball_arithmetic(low, high):
    assert float(log_normal_mass(low, high)) == pytest.approx(ball_log_mass(low, high), rel=1e-12)


def test_free_and_empty_intervals():
    assert log_normal_mass([-np.inf, 1.0], [np.inf, 1.0]).tolist() == [0.0, -np.inf]


@pytest.mark.parametrize(("low", "high"), [(-1, 2), (6, 6.1), (-6.1, -6), (9, math.inf), (-math.inf, math.inf)])
def test_an_interval_is_filled_at_its_shares_of_mass(low, high):
    """The value at share u has the mass u between it and the end nearer to the bulk, by ball arithmetic."""
    shares = np.array([0.01, 0.3, 0.9])
    whole = ball_log_mass(low, high)
    for share, value in zip(shares, truncated_normal(low, high, shares), strict=True):
        part = ball_log_mass(float(value), high) if -low > high else ball_log_mass(low, float(value))
        assert math.exp(part - whole) == pytest.approx(share, rel=1e-9)


#: Boxes of four dimensions that share ends: two cells of q, two shells, and everything below t = -1.
FOUR = NormalBoxes(
    4,
    np.array([0.5, 1.0, 2.0, 0.2, -np.inf]),
    np.array([np.inf, np.inf, np.inf, 3.0, -1.0]),
    np.array([-np.inf, -np.inf, 0.3, 0.3, -np.inf]),
    np.array([0.3, 0.3, np.inf, np.inf, np.inf]),
    np.array([1.0, 0.4, 1.0, 0.4, 1.0]),
    np.array([0.4, 0.0, 0.4, 0.0, 0.0]),
)


def box_of(boxes, noise):
    """Return the index of the box of each vector, -1 where there is none; no two boxes may share a vector."""
    tail = chdtrc(boxes.dim - 2, np.square(noise[:, 2:]).sum(axis=1))[:, None]
    t, q = noise[:, :1], noise[:, 1:2]
    within = (boxes.t_low < t) & (t < boxes.t_high) & (boxes.q_low < q) & (q < boxes.q_high)
    within &= (boxes.beyond_outer < tail) & (tail < boxes.beyond_inner)
    assert within.sum(axis=1).max() <= 1
    return np.where(within.any(axis=1), within.argmax(axis=1), -1)


def test_masses_are_products_and_agree_with_plain_draws():
    """Null: normal vectors fall into each box, and the draws inside into each box, as stated. Level 1e-7 a count."""
    q = ndtr(0.3)
    expected = [
        (1 - ndtr(0.5)) * q * 0.6,
        (1 - ndtr(1.0)) * q * 0.4,
        (1 - ndtr(2.0)) * (1 - q) * 0.6,
        (ndtr(3.0) - ndtr(0.2)) * (1 - q) * 0.4,
        ndtr(-1.0),
    ]
    assert np.exp(FOUR.log_masses) == pytest.approx(expected, rel=1e-12)
    assert math.exp(FOUR.log_mass) == pytest.approx(sum(expected), rel=1e-12)
    plain = box_of(FOUR, np.random.default_rng(91).standard_normal((100_000, 4)))
    inside = box_of(FOUR, FOUR.draw(50_000, np.random.default_rng(92)))
    assert (inside >= 0).all()
    for found, share in ((plain, np.array(expected)), (inside, np.array(expected) / sum(expected))):
        for k, chance in enumerate(share):
            assert (found == k).sum() <= misses_allowed(found.size, chance)
            assert (found != k).sum() <= misses_allowed(found.size, 1 - chance)


def uniform_distance(values):
    """Kolmogorov distance of values to the uniform law on (0, 1)."""
    ordered, n = np.sort(values), len(values)
    return max((np.arange(1, n + 1) / n - ordered).max(), (ordered - np.arange(n) / n).max())


def shares_in(boxes, noise):
    """Return every coordinate's share of its law in its box: uniform and independent if the draws are right."""
    box = box_of(boxes, noise)
    t, q = (
        (ndtr(value) - ndtr(low)) / (ndtr(high) - ndtr(low))
        for value, low, high in (
            (noise[:, 0], boxes.t_low[box], boxes.t_high[box]),
            (noise[:, 1], boxes.q_low[box], boxes.q_high[box]),
        )
    )
    tail = chdtrc(boxes.dim - 2, np.square(noise[:, 2:]).sum(axis=1))
    norm = (tail - boxes.beyond_outer[box]) / (boxes.beyond_inner[box] - boxes.beyond_outer[box])
    angle = np.arctan2(noise[:, 2], noise[:, 3]) / (2 * math.pi) + 0.5
    return np.stack([t, q, norm, angle])


def test_draws_have_the_conditional_law():
    """Null: each coordinate's share is uniform (DKW), and each pair falls into quadrants evenly. Level 1e-7 each."""
    n = 50_000
    shares = shares_in(FOUR, FOUR.draw(n, np.random.default_rng(93)))
    limit = math.sqrt(math.log(2 / LEVEL) / (2 * n))
    assert all(uniform_distance(share) < limit for share in shares)
    for i in range(4):
        for j in range(i):
            both = ((shares[i] < 0.5) == (shares[j] < 0.5)).sum()
            assert max(both, n - both) <= misses_allowed(n, 0.5)


def test_the_same_check_refutes_draws_that_are_not_conditional():
    """Norms of a chi law of one dimension more, and t a tenth too large."""
    n = 50_000
    noise = FOUR.draw(n, np.random.default_rng(93))
    limit = math.sqrt(math.log(2 / LEVEL) / (2 * n))
    rng = np.random.default_rng(94)
    kept = box_of(FOUR, noise * [1.1, 1, 1, 1])
    moved = (noise * [1.1, 1, 1, 1])[kept >= 0]
    assert uniform_distance(shares_in(FOUR, moved)[0]) > limit
    wide = noise.copy()
    wide[:, 2:] *= (np.sqrt(rng.chisquare(3, n)) / np.sqrt(np.square(wide[:, 2:]).sum(axis=1)))[:, None]
    assert uniform_distance(shares_in(FOUR, wide[box_of(FOUR, wide) >= 0])[2]) > limit


@pytest.mark.parametrize("dim", [1, 2, 3, 7])
def test_a_half_line_cut_into_boxes_keeps_its_mass(dim):
    """P(t > 6) = the sum over cells of q and shells of the norm."""
    q_ends = np.array([-np.inf, -9.0, -1.0, 0.2, 5.0, np.inf]) if dim > 1 else np.array([-np.inf, np.inf])
    beyond = np.array([1.0, 0.9, 0.1, 1e-12, 0.0]) if dim > 2 else np.array([1.0, 0.0])
    cell, shell = (index.ravel() for index in np.indices((q_ends.size - 1, beyond.size - 1)))
    six, end = np.full(cell.size, 6.0), np.full(cell.size, np.inf)
    boxes = NormalBoxes(dim, six, end, q_ends[cell], q_ends[cell + 1], beyond[shell], beyond[shell + 1])
    assert boxes.log_mass == pytest.approx(stats.norm.logsf(6.0), rel=1e-14)
    noise = boxes.draw(1000, np.random.default_rng(95))
    assert noise.shape == (1000, dim)
    assert (noise[:, 0] > 6).all()
    assert dim == 1 or abs(noise[:, 1:].mean()) < 5 / math.sqrt(1000)


def test_deep_draws_stay_inside():
    one = np.ones(1)
    boxes = NormalBoxes(5, 35 * one, np.inf * one, -20.1 * one, -20 * one, 1e-200 * one, 1e-201 * one)
    noise = boxes.draw(2000, np.random.default_rng(96))
    assert noise[:, 0].min() >= 35 - 1e-9
    assert ((noise[:, 1] > -20.1 - 1e-9) & (noise[:, 1] < -20 + 1e-9)).all()
    tail = stats.chi2.logsf(np.square(noise[:, 2:]).sum(axis=1), 3) / math.log(10)
    assert tail.min() > -201 - 1e-6
    assert tail.max() < -200 + 1e-6
