"""SSP, AdaSSP, both AdaOPS and NoisySGD: densities against literal twins, losses, order, edge cases, refusals."""

import dataclasses
import math
import pickle

import numpy as np
import pytest
from oracles.mechanisms import joint_releases as oracle
from oracles.mechanisms.examples import awkward_data, linear_data, pairs
from rows import for_each

from mechanisms import GaussianProfile
from mechanisms.base import BOTH, ExactLaw, WhiteBox
from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018, best_total
from mechanisms.linear.adaops_wang2019 import AdaOPS2019, CorrectedRule2019, PublishedRule2019
from mechanisms.linear.adassp import AdaSSP, AdaSSPPublished
from mechanisms.linear.noisy_sgd import NoisySGD
from mechanisms.linear.sufficient_statistics import SufficientStatistics

BUDGET = (1.5, 1e-3)
MECHANISMS = {
    "ssp": SufficientStatistics(2.0, 1.5, lam=0.5),
    "adassp": AdaSSP(*BUDGET),
    "adassp calibrated": AdaSSP(*BUDGET, calibrated=True),
    "adassp published": AdaSSPPublished(*BUDGET),
    "adaops 2018 published": AdaOPS2018(PublishedRule2018(*BUDGET)),
    "adaops 2018 corrected": AdaOPS2018(CorrectedRule2018(*BUDGET)),
    "adaops 2019 published": AdaOPS2019(PublishedRule2019(*BUDGET, kappa=0.4)),
    "adaops 2019 corrected": AdaOPS2019(CorrectedRule2019(*BUDGET, kappa=0.4, n_public=40)),
    "noisy sgd": NoisySGD(3, 25.0, 0.02, clip=0.8, radius=0.6, n_public=40),
    "noisy sgd, own n": NoisySGD(2, 25.0, 0.02, clip=0.8),
}


@for_each("name", MECHANISMS)
@for_each("relation", ["add", "remove", "replace"])
def test_loss_is_the_difference_of_log_densities_and_flips_with_the_pair(name, relation):
    mechanism, pair = MECHANISMS[name], pairs(linear_data())[relation]
    assert isinstance(mechanism, WhiteBox)
    outputs = mechanism.draw(pair.first, 60, rng=np.random.default_rng(5))
    loss = mechanism.privacy_loss(outputs, pair)
    assert loss.shape == (60,)
    direct = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    np.testing.assert_allclose(loss, direct, rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(mechanism.privacy_loss(outputs, pair.swapped()), -loss, rtol=1e-9, atol=1e-10)


TWINS = {
    "ssp": lambda o, d: oracle.ssp(o, d, 2.0, 1.5),
    "adassp": lambda o, d: oracle.adassp(o, d, *BUDGET, 0.05),
    "adassp published": lambda o, d: oracle.adassp_published(o, d, *BUDGET, 0.05),
    "adaops 2018 published": lambda o, d: oracle.adaops2018_published(o, d, *BUDGET, 0.05),
    "adaops 2019 published": lambda o, d: oracle.adaops2019_published(o, d, *BUDGET, 0.4),
    "noisy sgd": lambda o, d: oracle.noisy_sgd(o, d, MECHANISMS["noisy sgd"]),
    "noisy sgd, own n": lambda o, d: oracle.noisy_sgd(o, d, MECHANISMS["noisy sgd, own n"]),
}
#: (records, dim, tolerance): the search in the AdaOPS twin is good to about 1e-6 in lam.
CASES = [(30, 1, 1e-6), (25, 2, 1e-6), (40, 3, 1e-6)]


@pytest.mark.parametrize("name", TWINS)
@for_each(("n", "dim", "tolerance"), CASES)
def test_log_density_equals_the_literal_twin(name, n, dim, tolerance):
    dataset = linear_data(n, dim, seed=dim)
    outputs = MECHANISMS[name].draw(dataset, 12, rng=np.random.default_rng(dim))
    np.testing.assert_allclose(
        MECHANISMS[name].log_density(outputs, dataset), TWINS[name](outputs, dataset), rtol=1e-9, atol=tolerance
    )


@for_each("name", MECHANISMS)
def test_record_order_changes_nothing_but_rounding(name):
    mechanism, dataset = MECHANISMS[name], linear_data()
    order = np.random.default_rng(3).permutation(dataset.n_records)
    other = Dataset(dataset.X[order], dataset.y[order], dataset.x_bound, dataset.y_bound)
    outputs = mechanism.draw(dataset, 40, rng=np.random.default_rng(4))
    np.testing.assert_allclose(
        mechanism.log_density(outputs, other), mechanism.log_density(outputs, dataset), rtol=1e-9, atol=1e-9
    )
    if not isinstance(mechanism, NoisySGD):  # which record a step draws is random: the same law, other draws
        again = mechanism.draw(other, 40, rng=np.random.default_rng(4))
        np.testing.assert_allclose(again, outputs, rtol=1e-8, atol=1e-8)


@for_each("name", MECHANISMS)
@for_each("case", awkward_data())
def test_legitimate_edge_cases_work(name, case):
    mechanism, dataset = MECHANISMS[name], awkward_data()[case]
    outputs = mechanism.draw(dataset, 7, rng=np.random.default_rng(0))
    assert not np.isnan(outputs).any()
    assert (mechanism.log_density(outputs, dataset) > -np.inf).all()
    pair = NeighbouringPair.add(dataset, [0.6, 0.0], 0.5)
    assert not np.isnan(mechanism.privacy_loss(outputs, pair)).any()
    joined = mechanism.draw(pair.second, 7, rng=np.random.default_rng(1))
    assert not np.isnan(mechanism.privacy_loss(joined, pair)).any()


@for_each("name", MECHANISMS)
def test_bad_outputs_and_counts_are_refused(name):
    mechanism, dataset = MECHANISMS[name], linear_data()
    outputs = mechanism.draw(dataset, 3, rng=np.random.default_rng(0))
    spoilt = outputs.copy()
    spoilt[1, 0] = np.nan
    with pytest.raises(ValueError, match="outputs must be numbers"):
        mechanism.log_density(spoilt, dataset)
    with pytest.raises(ValueError, match=r"outputs must have shape"):
        mechanism.log_density(outputs[:, :-1], dataset)
    with pytest.raises(ValueError, match="n_draws must be"):
        mechanism.draw(dataset, 0, rng=np.random.default_rng(0))
    assert pickle.loads(pickle.dumps(mechanism)) == mechanism


@for_each("name", [n for n in MECHANISMS if n.startswith("ada") and n != "adaops 2019 published"])
def test_infinite_bounds_are_refused_where_a_sensitivity_needs_them(name):
    X, y = linear_data().X, linear_data().y
    for bounds, which in (((math.inf, 1.0), "x_bound"), ((1.0, math.inf), "y_bound")):
        with pytest.raises(ValueError, match=f"{which} must be finite"):
            MECHANISMS[name].draw(Dataset(X, y, *bounds), 2, rng=np.random.default_rng(0))
    with pytest.raises(DataError, match="Euclidean norm"):
        Dataset(2 * X, y, 1.0, 1.0)


@for_each(
    "build",
    [AdaSSP, AdaSSPPublished, PublishedRule2018, CorrectedRule2018]
    + [lambda e, d, rule=rule, more=more: rule(e, d, 0.3, *more) for rule, more in
       ((PublishedRule2019, ()), (CorrectedRule2019, (30,)))],
)  # fmt: skip
@for_each(
    ("epsilon", "delta", "rule"),
    [(bad, 1e-3, "epsilon") for bad in (-1.0, 0.0, math.nan, math.inf)]
    + [(1.0, bad, "delta") for bad in (-1e-3, 0.0, 1.0, math.nan)],
)
def test_bad_budgets_are_refused(build, epsilon, delta, rule):
    with pytest.raises(ValueError, match=f"{rule} must be"):
        build(epsilon, delta)


def test_bad_hyper_parameters_are_refused():
    for call, rule in (
        (lambda: SufficientStatistics(0.0, 1.0), "sigma_gram"),
        (lambda: SufficientStatistics(1.0, math.nan), "sigma_moment"),
        (lambda: SufficientStatistics(1.0, 1.0, -1.0), "lam"),
        (lambda: SufficientStatistics.published(1.0, 1e-3, x_bound=math.inf, y_bound=1.0), "x_bound"),
        (lambda: AdaSSP(1.0, 1e-3, rho=1.0), "rho"),
        (lambda: PublishedRule2018(1.0, 1e-3, rho=0.0), "rho"),
        (lambda: PublishedRule2019(1.0, 1e-3, kappa=-1.0), "kappa"),
        (lambda: PublishedRule2019(1.0, 1e-3, kappa=1.0, n_public=0), "n_public"),
        (lambda: CorrectedRule2018(1.0, 0.0 + 1e-3, rho=math.nan), "rho"),
        (lambda: NoisySGD(0, 1.0, 1.0), "n_steps"),
        (lambda: NoisySGD(1, -1.0, 1.0), "sigma"),
        (lambda: NoisySGD(1, 1.0, 1.0, clip=0.0), "clip"),
        (lambda: NoisySGD(1, 1.0, 1.0, radius=math.nan), "radius"),
        (lambda: NoisySGD(1, 1.0, 1.0, n_public=True), "n_public"),
    ):
        with pytest.raises(ValueError, match=f"{rule} must be"):
            call()


def test_more_records_than_public_and_too_large_a_kappa_are_refused():
    dataset = linear_data(30)
    for mechanism in (AdaOPS2019(CorrectedRule2019(1.0, 1e-3, 0.3, 20)), NoisySGD(1, 1.0, 1.0, n_public=20)):
        with pytest.raises(ValueError, match="n_records must be at most n_public=20"):
            mechanism.draw(dataset, 2, rng=np.random.default_rng(0))
    with pytest.raises(ValueError, match="kappa must be below"):
        AdaOPS2019(CorrectedRule2019(1.0, 1e-3, 3.0, 40)).draw(dataset, 2, rng=np.random.default_rng(0))


def test_the_printed_w19_rule_never_adds_regularisation_and_can_have_no_output():
    """W19-ALG1 prints min{0, .}: on singular data there is nothing to sample, which the loss then shows."""
    mechanism = MECHANISMS["adaops 2019 published"]
    singular = Dataset(np.array([[1.0, 0.0], [0.5, 0.0]]), np.array([0.5, 0.2]), 1.0, 1.0)
    outputs = mechanism.draw(singular, 50, rng=np.random.default_rng(0))
    assert np.isinf(mechanism.output(outputs, 2)).all()
    pair = NeighbouringPair.add(singular, [0.0, 1.0], 0.0)
    rule = mechanism.rule.settings(linear_data(200))
    assert (rule.lam(np.linspace(-50, 200, 100)) <= 0).all()
    assert rule.lam(np.array([1e4]))[0] < 0
    drawn = mechanism.draw(pair.second, 50, rng=np.random.default_rng(1))
    mixed = np.isfinite(mechanism.output(drawn, 2)).all(axis=1)
    assert (mechanism.privacy_loss(drawn[mixed], pair) == -np.inf).all()
    assert (mechanism.privacy_loss(outputs, pair) > 1).any()


def test_impossible_outputs_are_refused_by_the_loss():
    mechanism, pair = MECHANISMS["adassp"], pairs(linear_data())["add"]
    outputs = mechanism.draw(pair.first, 3, rng=np.random.default_rng(0))
    outputs[0, 0] = -1.0
    assert mechanism.log_density(outputs, pair.first)[0] == -np.inf
    with pytest.raises(ValueError, match="possible under one of the two"):
        mechanism.privacy_loss(outputs, pair)


def test_outputs_follow_from_transcripts():
    dataset, rng = linear_data(dim=3), np.random.default_rng(0)
    for name in ("ssp", "adassp"):
        mechanism = MECHANISMS[name]
        outputs = mechanism.draw(dataset, 4, rng=rng)
        parts = mechanism.split(outputs, 3)
        lam = 0.5 if name == "ssp" else mechanism.scales(dataset).lam(parts.eigenvalue)
        theta = mechanism.output(outputs, 3 if name == "ssp" else dataset)
        for i in range(4):
            damping = lam if name == "ssp" else lam[i]
            np.testing.assert_array_equal(parts.gram[i], parts.gram[i].T)
            np.testing.assert_allclose((parts.gram[i] + damping * np.eye(3)) @ theta[i], parts.moment[i], rtol=1e-9)
    published = MECHANISMS["adassp published"]
    outputs = published.draw(dataset, 4, rng=rng)
    np.testing.assert_array_equal(published.output(outputs, dataset), outputs[:, -3:])
    sgd = MECHANISMS["noisy sgd"]
    outputs = sgd.draw(dataset, 4, rng=rng)
    assert (np.linalg.norm(sgd.output(outputs, 3), axis=1) <= 0.6 * (1 + 1e-12)).all()


@for_each("relation", ["add", "remove", "replace"])
def test_ssp_profile_is_the_mahalanobis_distance(relation):
    """From its definition: the distance of the two noiseless transcripts in standard deviations."""
    mechanism, pair = MECHANISMS["ssp"], pairs(linear_data())[relation]
    assert isinstance(mechanism, ExactLaw)
    step = (mechanism.mean(pair.second) - mechanism.mean(pair.first)) / mechanism.sigmas(2)
    assert mechanism.profile(pair).mu == pytest.approx(np.linalg.norm(step), rel=1e-12)


def test_worst_profiles_are_reached_and_not_exceeded():
    """The record (B e_1, Y) reaches SSP's; in one dimension it reaches AdaSSP's; 200 random records stay below."""
    rng = np.random.default_rng(7)
    for dim in (1, 3):
        dataset = linear_data(20, dim, x_bound=1.7, y_bound=0.6)
        axis = NeighbouringPair.add(dataset, 1.7 * np.eye(dim)[0], 0.6)
        ssp, ada = MECHANISMS["ssp"], MECHANISMS["adassp"]
        worst = ssp.worst_profile(1.7, 0.6).mu
        assert ssp.profile(axis).mu == pytest.approx(worst, rel=1e-12)
        if dim == 1:
            assert ada.dominating_profile(axis).law.mu == pytest.approx(ada.worst_profile().mu, rel=1e-12)
        for _ in range(100):
            x = rng.standard_normal(dim)
            pair = NeighbouringPair.add(dataset, 1.7 * x / np.linalg.norm(x), rng.uniform(-0.6, 0.6))
            assert ssp.profile(pair).mu <= worst * (1 + 1e-12)
            assert ada.dominating_profile(pair).law.mu <= ada.worst_profile().mu * (1 + 1e-12)


@for_each("epsilon", [0.1, 1.0, 5.0])
@for_each("delta", [1e-9, 1e-5, 1e-2])
def test_calibrated_forms_meet_their_budget_exactly(epsilon, delta):
    ssp = SufficientStatistics.calibrated(epsilon, delta, x_bound=1.7, y_bound=0.6)
    assert ssp.worst_profile(1.7, 0.6).delta_at(epsilon) == pytest.approx(delta, rel=1e-9)
    assert AdaSSP(epsilon, delta, calibrated=True).delta_at(epsilon) == pytest.approx(delta, rel=1e-9)
    assert AdaSSP(epsilon, delta).delta_at(epsilon) < delta


def test_adassp_keeps_its_budget_though_a_release_alone_breaks_its_third():
    """W18-TH3i at epsilon 1, delta 1e-9: each release fails (epsilon/3, delta/3), the three together keep (1, 1e-9)."""
    printed = AdaSSP(1.0, 1e-9)
    assert GaussianProfile(1 / printed.unit_sigma).delta_at(1 / 3) > 3e-9 / 3
    assert printed.delta_at(1.0) < 1e-9


def test_the_ridge_of_w18_is_the_minimiser_of_7():
    """Table of (epsilon, delta, dim, B, released eigenvalue): the closed form against a search over t."""
    for epsilon, delta, dim, x_bound, released in (
        (1.0, 1e-3, 1, 1.0, 0.0),
        (1.0, 1e-6, 5, 1.0, 3.0),
        (0.1, 1e-6, 2, 1.0, 50.0),
        (2.0, 1e-2, 4, 2.5, 400.0),
        (4.0, 1e-3, 3, 0.5, 2.0),
        (1.0, 1e-3, 2, 1.0, 1e4),
    ):
        data = Dataset(np.zeros((1, dim)), np.zeros(1), x_bound, 1.0)
        settings = PublishedRule2018(epsilon, delta).settings(data)
        searched = oracle.adaops2018_lam(released, epsilon, delta, 0.05, dim, x_bound)
        assert settings.lam(np.array([released]))[0] == pytest.approx(searched, rel=2e-5, abs=1e-4 * x_bound**2)
    assert best_total(2.0, 30.0, 5.0) == pytest.approx(4 * best_total(1.0, 30.0, 5.0), rel=1e-12)


def test_hidden_equations_of_the_printed_adassp():
    """moment - lam theta = X^T X theta: the printed last line, its moment and its eigenvalue reveal the Gram matrix."""
    dataset = linear_data(dim=3)
    mechanism = MECHANISMS["adassp published"]
    outputs = mechanism.draw(dataset, 5, rng=np.random.default_rng(2))
    eigenvalue, _, theta = mechanism.split(outputs, 3)
    # the moment that the same stream gave, from the same noise
    rng = np.random.default_rng(2)
    rng.standard_normal(5)
    scales = mechanism.scales(dataset)
    moment = SufficientStatistics(scales.gram, scales.moment).draw(dataset, 5, rng=rng)[:, -3:]
    lam = scales.lam(eigenvalue)
    np.testing.assert_allclose(moment - lam[:, None] * theta, theta @ (dataset.X.T @ dataset.X), rtol=1e-9, atol=1e-9)


def test_guarantees_are_stated_as_data():
    assert AdaSSP(1.0, 1e-5).guarantee.source == "W18-TH3i"
    assert dataclasses.astuple(AdaOPS2018(PublishedRule2018(1.0, 1e-5)).guarantee)[:2] == (1.0, 1e-5)
    assert AdaOPS2019(PublishedRule2019(1.0, 1e-5, 0.1)).guarantee.source == "W19-P4.4.1"


def test_noisy_sgd_accountant():
    """More noise, fewer steps and a larger delta give a smaller epsilon; no clip or no public n, no guarantee."""
    base = NoisySGD(5, 60.0, 0.1, clip=1.0, n_public=30)
    epsilon = base.guarantee_at(1e-5).epsilon
    assert 0 < dataclasses.replace(base, sigma=120.0).guarantee_at(1e-5).epsilon < epsilon
    assert dataclasses.replace(base, n_steps=2).guarantee_at(1e-5).epsilon < epsilon
    assert base.guarantee_at(1e-3).epsilon < epsilon
    for spoilt in (dataclasses.replace(base, clip=math.inf), dataclasses.replace(base, n_public=None)):
        with pytest.raises(ValueError, match="clip must be finite and n_public given"):
            spoilt.guarantee_at(1e-5)


def test_noisy_sgd_accountant_bounds_the_simulated_divergence():
    """Null: delta(epsilon) is at most the accountant's. Hoeffding at 1e-7 each way, 40,000 draws."""
    mechanism = NoisySGD(4, 30.0, 0.01, clip=1.0, radius=2.0, n_public=20)
    dataset = linear_data(19, 2)
    pair = NeighbouringPair.add(dataset, [1.0, 0.0], -1.0)
    delta, n = 1e-2, 40000
    epsilon = mechanism.guarantee_at(delta).epsilon
    radius = math.sqrt(math.log(1e7) / (2 * n))
    for direction, data in zip(BOTH, (pair.first, pair.second), strict=True):
        outputs = mechanism.draw(data, n, rng=np.random.default_rng(11))
        loss = mechanism.privacy_loss(outputs, pair) * (1 if direction is BOTH[0] else -1)
        assert np.maximum(0.0, -np.expm1(epsilon - loss)).mean() <= delta + radius
    assert epsilon < 10


def test_published_noisy_sgd_constants():
    """Bassily, Smith and Thakurta 2014, algorithm 1, at n = 10, epsilon = 1, delta = 1e-4: computed by hand."""
    m = NoisySGD.published(1.0, 1e-4, n_records=10, dim=2, x_bound=1.0, y_bound=1.0, radius=1.0)
    assert (m.n_steps, m.clip, m.radius, m.n_public) == (99, 2.0, 1.0, 10)
    assert m.sigma**2 == pytest.approx(32 * 4 * 100 * math.log(1e5) * math.log(1e4), rel=1e-12)
    assert m.step_size == pytest.approx(2 / math.sqrt(400 + 2 * m.sigma**2), rel=1e-12)
