"""The three releases: laws, losses, exact profiles, order invariance, refusals, and their broken twins."""

import math

import numpy as np
import pytest
from oracles.mechanisms import joint_releases as oracle
from rows import for_each
from scipy.stats import norm

from mechanisms.base import ExactLaw
from mechanisms.broken.broken_releases import hessian_half_variance, hessian_plain_diagonal
from mechanisms.broken.misstated import understated
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.numerics.transcripts import pack_triangle
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from mechanisms.objective.perturbed_objective import QuadraticRegulariser
from mechanisms.releases.eigenvalue_release import EigenvalueRelease
from mechanisms.releases.gradient_release import GradientRelease
from mechanisms.releases.hessian_release import HessianRelease, analyze_gauss, record_hessian

THETA = np.array([0.4, -1.1, 0.3])
LOSS = LogisticLoss()
R = QuadraticRegulariser(np.diag([0.5, 0.0, 2.0]))


def dataset(seed=0, n=25):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 3))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    return Dataset(X, np.sign(rng.standard_normal(n)), 1.0, 1.0)


def pairs():
    D = dataset()
    return {
        "add": NeighbouringPair.add(D, [0.5, 0.5, -0.6], 1.0),
        "remove": NeighbouringPair.remove(D, 7),
        "replace": NeighbouringPair.replace(D, 3, [0.0, 0.9, 0.1], -1.0),
    }


MECHANISMS = {
    "hessian": HessianRelease(THETA, LOSS, 0.7, 0.2),
    "hessian with regulariser": HessianRelease(THETA, LOSS, 0.7, 0.2, R),
    "analyze gauss": analyze_gauss(THETA, LOSS, 0.7, 0.2),
    "squared": HessianRelease(THETA, SquaredLoss(), 0.7, 0.9),
    "gradient": GradientRelease(THETA, LOSS, 0.7, 0.3),
    "gradient with regulariser": GradientRelease(THETA, LOSS, 0.7, 0.3, R),
    "eigenvalue": EigenvalueRelease(THETA, LOSS, 0.7, 0.05),
}


@for_each("name", MECHANISMS)
@for_each("relation", ["add", "remove", "replace"])
def test_loss_is_the_difference_of_log_densities_and_flips_with_the_pair(name, relation):
    mechanism, pair = MECHANISMS[name], pairs()[relation]
    assert isinstance(mechanism, ExactLaw)
    outputs = mechanism.draw(pair.first, 50, rng=np.random.default_rng(5))
    loss = mechanism.privacy_loss(outputs, pair)
    direct = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    np.testing.assert_allclose(loss, direct, rtol=1e-9, atol=1e-11)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, rtol=1e-9, atol=1e-11)


@for_each("name", MECHANISMS)
def test_profile_is_the_law_of_the_loss(name):
    """Null: the loss is N(mu^2/2, mu^2) under D. Level 1e-7 (DKW), 20,000 draws a mechanism."""
    mechanism, pair = MECHANISMS[name], pairs()["add"]
    n_draws, mu = 20000, mechanism.profile(pair).mu
    rng = np.random.default_rng(len(name))
    loss = np.sort(mechanism.privacy_loss(mechanism.draw(pair.first, n_draws, rng=rng), pair))
    law = norm.cdf(loss, 0.5 * mu**2, mu)
    steps = np.arange(n_draws + 1) / n_draws
    distance = max(np.abs(law - steps[1:]).max(), np.abs(law - steps[:-1]).max())
    assert distance <= math.sqrt(math.log(2 / 1e-7) / (2 * n_draws))
    assert mechanism.profile(pair.swapped()).mu == pytest.approx(mu, rel=1e-9)


@for_each("regulariser", [None, R])
def test_statistics_against_loops_over_records(regulariser):
    D, extra = dataset(), np.zeros((3, 3)) if regulariser is None else R.matrix
    H = oracle.hessian(THETA, LOSS, 0.7, D) + extra
    np.testing.assert_allclose(HessianRelease(THETA, LOSS, 0.7, 1.0, regulariser).matrix(D), H, rtol=1e-13, atol=1e-15)
    g = oracle.gradient(THETA, LOSS, 0.7, D) + extra @ THETA
    np.testing.assert_allclose(GradientRelease(THETA, LOSS, 0.7, 1.0, regulariser).gradient(D), g, rtol=1e-12)
    lowest = EigenvalueRelease(THETA, LOSS, 0.7, 1.0, regulariser).eigenvalue(D)
    assert lowest == pytest.approx(min(np.roots(np.poly(H)).real), rel=1e-9)


def test_hessian_density_entry_by_entry():
    D, mechanism = dataset(), MECHANISMS["hessian"]
    H = oracle.hessian(THETA, LOSS, 0.7, D)
    outputs = mechanism.draw(D, 5, rng=np.random.default_rng(8))
    literal = [oracle.hessian_log_density(K, H, 0.2) for K in mechanism.full_matrices(outputs)]
    np.testing.assert_allclose(mechanism.log_density(outputs, D), literal, rtol=1e-12)


def test_drawn_matrices_have_the_law_of_algorithm_6():
    """Null: each entry of draw and of the literal Algorithm 6 is normal with the stated scale. Level 1e-7 an entry
    (DKW), 20,000 draws, 6 entries, two ways of drawing; the law with a plain diagonal is refuted."""
    D, mechanism, n_draws = dataset(), MECHANISMS["hessian"], 20000
    H = mechanism.matrix(D)
    fast = mechanism.draw(D, n_draws, rng=np.random.default_rng(21))
    slow = pack_triangle(oracle.algorithm_6(H, 0.2, n_draws, np.random.default_rng(22)))
    radius = math.sqrt(math.log(2 / 1e-7) / (2 * n_draws))
    steps = np.arange(1, n_draws + 1)[:, None] / n_draws

    def distance(sample, scale):
        sample = np.sort(sample, axis=0)
        return np.abs(norm.cdf(sample, pack_triangle(H), scale) - steps + 0.5 / n_draws).max() + 0.5 / n_draws

    for sample in (fast, slow):
        assert distance(sample, mechanism.noise_scale) <= radius
        assert distance(sample, MECHANISMS["analyze gauss"].noise_scale) > radius


def test_norm_identity_of_theorem_17():
    """RW21-T17.5: ||[diag(H_x)/sqrt 2, strict upper(H_x)]|| = ||H_x||_F / sqrt 2, which gives mu."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        x = rng.standard_normal(3) / 4
        H_x = record_hessian(THETA, LOSS, x, 1.0)
        pair = NeighbouringPair.add(dataset(), x, 1.0)
        expected = np.linalg.norm(H_x) / (math.sqrt(2) * 0.2)
        assert MECHANISMS["hessian"].profile(pair).mu == pytest.approx(expected, rel=1e-14)
        upper = np.linalg.norm(H_x[np.triu_indices(3)])
        assert MECHANISMS["analyze gauss"].profile(pair).mu == pytest.approx(upper / 0.2, rel=1e-14)
        assert upper <= np.linalg.norm(H_x)  # T17.4


@for_each("name", MECHANISMS)
def test_order_of_records_does_not_matter(name):
    mechanism, D = MECHANISMS[name], dataset()
    turned = Dataset(D.X[::-1], D.y[::-1], 1.0, 1.0)
    outputs = mechanism.draw(D, 4, rng=np.random.default_rng(1))
    np.testing.assert_allclose(mechanism.log_density(outputs, D), mechanism.log_density(outputs, turned), rtol=1e-10)


def test_the_worst_profile_bounds_every_pair_and_is_reached():
    axis = NeighbouringPair.add(dataset(), [0.0, 0.0, 1.0], 1.0)
    flat = ("hessian", "analyze gauss")  # at theta = 0, where the slope's derivative is 1/4 = beta
    for name in flat:
        original = MECHANISMS[name]
        mechanism = HessianRelease(np.zeros(3), LOSS, 0.7, 0.2, diagonal_factor=original.diagonal_factor)
        assert mechanism.profile(axis).mu == pytest.approx(mechanism.worst_profile(1.0, 1.0).mu, rel=1e-14)
    for pair in (pairs()["add"], pairs()["remove"], axis):
        for name in ("hessian", "analyze gauss", "eigenvalue"):
            assert MECHANISMS[name].profile(pair).mu <= MECHANISMS[name].worst_profile(1.0, 1.0).mu
        assert MECHANISMS["gradient"].profile(pair).mu <= MECHANISMS["gradient"].worst_profile(1.0, 1.0).mu


def test_inner_products_are_private_versions_of_g():
    """RW21, Algorithm 5: g^P(z) = (J^P)^T grad l(theta; z)."""
    mechanism, D = MECHANISMS["gradient"], dataset()
    outputs = mechanism.draw(D, 3, rng=np.random.default_rng(2))
    x, y = D.X[4], float(D.y[4])
    slope = -y / (1 + math.exp(y * (x @ THETA)))
    np.testing.assert_allclose(mechanism.inner_products(outputs, x, y), outputs @ (slope * x), rtol=1e-13)


def test_broken_twins_spend_more_than_they_claim():
    pair, axis = pairs()["add"], NeighbouringPair.add(dataset(), [0.0, 0.0, 1.0], 1.0)
    honest = HessianRelease(THETA, LOSS, 0.7, 0.2)

    def ratio(broken, claimed, at):
        return broken.profile(at).mu / claimed.profile(at).mu

    assert ratio(hessian_half_variance(honest), honest, pair) == pytest.approx(math.sqrt(2))
    assert 1 < ratio(hessian_plain_diagonal(honest), honest, pair) < math.sqrt(2)
    assert ratio(hessian_plain_diagonal(honest), honest, axis) == pytest.approx(math.sqrt(2))
    for factor in (1.02, 1.1):
        broken = understated(honest, "sigma3", factor=factor)
        assert ratio(broken, honest, pair) == pytest.approx(factor)
        broken = understated(MECHANISMS["gradient"], "sigma2", factor=factor)
        assert ratio(broken, MECHANISMS["gradient"], pair) == pytest.approx(factor)
        broken = understated(MECHANISMS["eigenvalue"], "sigma4", factor=factor)
        assert ratio(broken, MECHANISMS["eigenvalue"], pair) == pytest.approx(factor)


@for_each("bad", [0.0, -1.0, math.nan, math.inf, True])
def test_noise_scales_are_validated(bad):
    for mechanism, name in ((HessianRelease, "sigma3"), (GradientRelease, "sigma2"), (EigenvalueRelease, "sigma4")):
        with pytest.raises(ValueError, match=f"{name} must be"):
            mechanism(THETA, LOSS, 0.7, bad)


@for_each(
    ("action", "message"),
    [
        (lambda: HessianRelease(THETA, LOSS, -1.0, 1.0), "lam must be"),
        (lambda: HessianRelease(np.array([np.nan]), LOSS, 1.0, 1.0), "theta must be"),
        (lambda: HessianRelease(np.eye(2), LOSS, 1.0, 1.0), "theta must be"),
        (lambda: HessianRelease(THETA, LOSS, 1.0, 1.0, diagonal_factor=2.0), "diagonal_factor must be"),
        (lambda: HessianRelease(THETA[:2], LOSS, 1.0, 1.0).matrix(dataset()), "dataset must have dim=2"),
        (lambda: MECHANISMS["hessian"].log_density(np.zeros((4, 3)), dataset()), "outputs must have shape"),
        (lambda: MECHANISMS["gradient"].log_density(np.full((1, 3), np.nan), dataset()), "outputs must be"),
        (lambda: MECHANISMS["gradient"].draw(dataset(), 0, rng=np.random.default_rng(0)), "n_draws must be"),
    ],
)
def test_refusals(action, message):
    with pytest.raises(ValueError, match=message):
        action()
