"""The private upper bound on one's own ex-post loss: literal twins, the events that its proof uses, and coverage."""

import math

import numpy as np
import pytest
from oracles.mechanisms.reports import algorithm_2, algorithm_4
from rows import for_each
from scipy.stats import beta

from mechanisms.broken.broken_releases import one_sided_terms, short_quantile_form, smallest_lam, wrong_tau
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.losses import LogisticLoss, SquaredLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.releases.adaptive_report import AdaptiveReleases, corrected_adaptive_terms, printed_adaptive_terms
from mechanisms.releases.report_terms import (
    OwnRecord,
    Releases,
    ReportRequirement,
    ReportScales,
    corrected_terms,
    corrected_upper_bound,
    draw_releases,
    printed_terms,
)

RHO, DIM, SIGMA = 0.02, 3, 3.0
LOSS = LogisticLoss()
LEVEL = 1e-7


def dataset(n=60):
    rng = np.random.default_rng(11)
    X = rng.standard_normal((n, DIM))
    X /= np.maximum(1.0, np.linalg.norm(X, axis=1))[:, None]
    return Dataset(X, np.sign(X[:, 0] + 0.3 * rng.standard_normal(n)), 1.0, 1.0)


def scales(sigma2=1.0, sigma3=0.05, sigma=SIGMA, lam=None):
    return ReportScales(LOSS, sigma, lam or 2 * (sigma3 or 0) * goe_tau(DIM, RHO) + 1.0, RHO, sigma2, sigma3)


def case(name):
    D = dataset()
    return NeighbouringPair.remove(D, 0) if name == "remove" else NeighbouringPair.add(D, [0.0, 1.0, 0.0], -1.0)


def simulate(parameters, pair, n_draws, seed):
    """Releases with the exact terms of the loss, and which of the proof's three events held in each draw."""
    mechanism = ObjectivePerturbation(LOSS, parameters.sigma, parameters.lam)
    releases = draw_releases(mechanism, pair.first, parameters, n_draws, rng=np.random.default_rng(seed))
    exact = mechanism.loss_terms(releases.theta, pair)
    own = OwnRecord.at(parameters, releases, pair.x, pair.y)
    gradient = mechanism.objective(pair.first).gradient(releases.theta)
    z, slack = parameters.quantile, 1e-9
    on_b = np.abs(gradient @ pair.x) <= parameters.sigma * np.linalg.norm(pair.x) * z
    on_e = np.abs((releases.gradient - gradient) @ pair.x) <= parameters.sigma2 * np.linalg.norm(pair.x) * z
    noise = np.linalg.eigvalsh(releases.hessian - mechanism.hessian(releases.theta, pair.first))
    on_h = np.abs(noise).max(axis=1) <= parameters.sigma3 * goe_tau(DIM, RHO)
    return releases, exact, own, (on_b, on_e, on_h), slack


def clopper_pearson(count, n, level=LEVEL):
    low = beta.ppf(level / 2, count, n - count + 1) if count else 0.0
    return low, beta.ppf(1 - level / 2, count + 1, n - count) if count < n else 1.0


@for_each("relation", ["add", "remove"])
def test_terms_against_the_literal_algorithms(relation):
    pair, parameters = case(relation), scales()
    releases, *_ = simulate(parameters, pair, 40, 3)
    own = OwnRecord.at(parameters, releases, pair.x, pair.y)
    plain = {"sigma": SIGMA, "lam": parameters.lam, "rho": RHO}
    for form, corrected in ((printed_terms, False), (corrected_terms, True)):
        for data_dependent in (True, False):
            seen = releases if data_dependent else Releases(releases.theta)
            terms = form(parameters, seen, pair.x, pair.y)
            for i in range(40):
                given = {"sigma2": 1.0, "g_hat": releases.gradient[i], "H_hat": releases.hessian[i]}
                literal = algorithm_2(
                    pair.x,
                    own.first[i],
                    own.second[i],
                    **plain,
                    **(given if data_dependent else {}),
                    corrected=corrected,
                )
                found = (terms.g_bar[i], terms.mu_bar[i], terms.epsilon1_bar[i])
                assert found == pytest.approx(literal, rel=1e-11, abs=1e-13)


@pytest.mark.parametrize("relation", ["add", "remove"])
@pytest.mark.parametrize("sigma2", [0.1, 1.0, 3.0, 300.0])
def test_both_corrected_inequalities_hold_on_the_events_of_the_proof(relation, sigma2):
    """Without exception: the lower one on all three events, the upper one on those of the gradient and the Hessian."""
    pair, parameters = case(relation), scales(sigma2=sigma2)
    releases, exact, _, (on_b, on_e, on_h), slack = simulate(parameters, pair, 4000, 5)
    bound = corrected_terms(parameters, releases, pair.x, pair.y).epsilon1_bar
    assert (np.abs(exact.total) <= bound * (1 + slack))[on_b & on_e & on_h].all()
    upper = corrected_upper_bound(parameters, releases, pair.x, pair.y, exact)
    assert (bound <= upper * (1 + slack))[on_e & on_h].all()
    assert min(on_b.mean(), on_e.mean(), on_h.mean()) > 0.9  # the events are the rule


@pytest.mark.parametrize("relation", ["add", "remove"])
def test_coverage_of_the_corrected_report_and_failure_of_the_printed_one(relation):
    """Nulls: corrected, P(epsilon1 > bound) <= 3 rho = 0.06; printed (and its broken twin), the same. Level 1e-7 an
    interval (Clopper-Pearson), 4000 draws. The first is not refuted, the other two are."""
    pair, parameters = case(relation), scales(sigma2=1.0)
    releases, exact, *_ = simulate(parameters, pair, 4000, 7)

    def failures(form):
        bound = form(parameters, releases, pair.x, pair.y).epsilon1_bar
        return clopper_pearson(int(np.sum(~(np.abs(exact.total) <= bound))), 4000)

    assert failures(corrected_terms)[1] <= 3 * RHO
    assert failures(printed_terms)[0] > 3 * RHO
    assert failures(one_sided_terms)[0] > 3 * RHO
    assert failures(short_quantile_form(3.0))[0] > 3 * RHO


def test_report_without_releases_covers_with_probability_one_minus_rho():
    """Nulls: P(epsilon1 > bound) <= rho, for the report without releases and for its bound on |g| divided by 1.1. Level
    1e-7 an interval (Clopper-Pearson), 20,000 draws. lam is large, so that the first term leaves no slack and the claim
    becomes false at a factor of about 1.04; 1.1 is refuted, the true report is not."""
    pair, n_draws = case("remove"), 20000
    parameters = scales(sigma2=None, sigma3=None, lam=400.0)
    mechanism = ObjectivePerturbation(LOSS, SIGMA, 400.0)
    releases = draw_releases(mechanism, pair.first, parameters, n_draws, rng=np.random.default_rng(17))
    loss = np.abs(mechanism.privacy_loss(releases.theta, pair))

    def failures(form):
        bound = form(parameters, releases, pair.x, pair.y).epsilon1_bar
        return clopper_pearson(int(np.sum(~(loss <= bound))), n_draws)

    assert failures(corrected_terms)[0] <= RHO
    assert failures(printed_terms)[0] <= RHO
    assert failures(short_quantile_form(1.1))[0] > RHO
    on_b = np.abs(mechanism.objective(pair.first).gradient(releases.theta) @ pair.x) <= (
        SIGMA * np.linalg.norm(pair.x) * parameters.quantile
    )
    bound = corrected_terms(parameters, releases, pair.x, pair.y).epsilon1_bar
    assert (loss <= bound * (1 + 1e-9))[on_b].all()  # without exception on the event of the proof


@for_each("relation", ["add", "remove"])
def test_printed_upper_inequality_fails_when_sigma2_is_large(relation):
    """Null: T10.3's second inequality fails with probability at most 3 rho. Level 1e-7, 4000 draws: refuted, because
    the three terms of epsilon_1 cancel while the bound adds their absolute values."""
    pair, parameters = case(relation), scales(sigma2=300.0)
    releases, exact, own, *_ = simulate(parameters, pair, 4000, 9)
    bound = printed_terms(parameters, releases, pair.x, pair.y).epsilon1_bar
    additive = own.gradient_norm / parameters.sigma2 * math.sqrt(2 * math.log(2 / RHO))
    count = int(np.sum(bound > 12 * np.abs(exact.total) + additive))
    assert clopper_pearson(count, 4000)[0] > 3 * RHO


def test_constants_of_the_upper_bound():
    """C(1/2) = log 2 / log(7/6) for an added record, log 2 / log(6/5) for a removed one; both far below 12."""
    t = np.linspace(1e-6, 0.5, 200001)
    bound = -np.log1p(-np.minimum(3 * t, 0.5))
    assert (bound / np.log1p(t)).max() == pytest.approx(math.log(2) / math.log(7 / 6), rel=1e-4)
    assert (bound / -np.log1p(-t)).max() == pytest.approx(math.log(2) / math.log(6 / 5), rel=1e-4)
    assert math.log(2) / math.log(7 / 6) == pytest.approx(4.4966, abs=1e-4)


def test_printed_form_takes_the_logarithm_of_a_negative_number():
    """lam = 2.4 > 2 beta = 2 and a released Hessian of lam/2, which the requirement allows: 3/2 x^T H^{-1} x = 1.25."""
    parameters = ReportScales(SquaredLoss(), 1.0, 2.4, 0.5, 1.0, 2.4 / (2 * goe_tau(1, 0.5)) * (1 - 1e-12))
    parameters.require(1)
    releases = Releases(np.zeros((1, 1)), np.ones((1, 1)), np.array([[[1.2]]]))
    x = np.array([1.0])
    assert math.isnan(printed_terms(parameters, releases, x, 0.5).epsilon1_bar[0])
    corrected = corrected_terms(parameters, releases, x, 0.5)
    assert corrected.mu_bar[0] == pytest.approx(1 / 2.4)
    assert corrected.log_det_term[0] == pytest.approx(-math.log(1 - 1 / 2.4))
    loose = ReportScales(SquaredLoss(), 1.0, 0.5, 0.5)
    assert corrected_terms(loose, Releases(np.zeros((1, 1))), x, 0.5).epsilon1_bar[0] == math.inf


def test_a_release_that_is_not_positive_falls_back_to_the_bound_without_release():
    parameters = scales()
    releases = Releases(np.zeros((1, DIM)), np.zeros((1, DIM)), -np.eye(DIM)[None])
    x = np.array([0.0, 0.6, 0.8])
    assert corrected_terms(parameters, releases, x, 1.0).mu_bar[0] == pytest.approx(1 / parameters.lam)


@for_each("relation", ["add", "remove"])
@for_each(("sigma3", "branch"), [(0.05, "standard"), (1.5, "regularised")])
def test_adaptive_report(relation, sigma3, branch):
    """Literal twin of Algorithm 4, and no failure of the corrected bound on the events of its proof."""
    pair, n_draws, sigma4 = case(relation), 1500, 0.2
    parameters = scales(sigma3=sigma3, lam=1.5)
    releases, exact, own, (_, on_e, on_h), slack = simulate(parameters, pair, n_draws, 13)
    mechanism = ObjectivePerturbation(LOSS, SIGMA, parameters.lam)
    lowest = np.linalg.eigvalsh(mechanism.hessian(releases.theta, pair.first))[:, 0]
    noise = sigma4 * np.random.default_rng(14).standard_normal(n_draws)
    adaptive = AdaptiveReleases(releases, lowest + noise, sigma4)
    tau = goe_tau(DIM, RHO)
    assert (lowest.min() >= 2 * tau * sigma3) == (branch == "standard")
    for form, corrected in ((printed_adaptive_terms, False), (corrected_adaptive_terms, True)):
        terms = form(parameters, adaptive, pair.x, pair.y)
        for i in range(30):
            literal = algorithm_4(
                pair.x,
                own.first[i],
                own.second[i],
                sigma=SIGMA,
                lam=parameters.lam,
                rho=RHO,
                tau=tau,
                corrected=corrected,
                sigma2=1.0,
                sigma3=sigma3,
                sigma4=sigma4,
                eigenvalue=adaptive.eigenvalue[i],
                g_hat=releases.gradient[i],
                H_hat=releases.hessian[i],
            )
            found = (terms.g_bar[i], terms.mu_bar[i], terms.epsilon1_bar[i])
            assert found == pytest.approx(literal, rel=1e-10)
    bound = corrected_adaptive_terms(parameters, adaptive, pair.x, pair.y)
    event = on_e & on_h & (noise <= sigma4 * parameters.quantile)
    assert event.mean() > 0.9
    assert (np.abs(exact.total) <= bound.epsilon1_bar * (1 + slack))[event].all()
    printed = printed_adaptive_terms(parameters, adaptive, pair.x, pair.y).epsilon1_bar
    count = int(np.sum(~(np.abs(exact.total) <= printed)))
    assert clopper_pearson(count, n_draws)[0] > 3 * RHO  # Clopper-Pearson, level 1e-7: the printed form is refuted


def test_wrong_tau_admits_too_small_a_lam():
    assert wrong_tau(DIM, RHO) == pytest.approx(goe_tau(DIM, RHO) / math.sqrt(2))
    parameters = scales(sigma3=0.5, lam=smallest_lam(DIM, 0.5, RHO))
    with pytest.raises(ReportRequirement, match="lam must be at least"):
        parameters.require(DIM)


@for_each(
    ("action", "message"),
    [
        (lambda: ReportScales(LOSS, 0.0, 1.0, 0.1), "sigma must be"),
        (lambda: ReportScales(LOSS, 1.0, 0.0, 0.1), "lam must be"),
        (lambda: ReportScales(LOSS, 1.0, 1.0, math.nan), "failure_prob must be"),
        (lambda: ReportScales(LOSS, 1.0, 1.0, 0.1, sigma2=-1.0), "sigma2 must be"),
        (lambda: ReportScales(LOSS, 1.0, 1.0, 0.1, sigma3=math.inf), "sigma3 must be"),
        (lambda: Releases(np.zeros(3)), "theta must have shape"),
        (lambda: Releases(np.zeros((2, 3)), np.zeros((1, 3))), "gradient must have shape"),
        (lambda: Releases(np.zeros((2, 3)), None, np.zeros((2, 3, 2))), "hessian must have shape"),
        (lambda: Releases(np.full((2, 3), np.nan)), "theta must be finite"),
        (lambda: printed_terms(scales(), Releases(np.zeros((1, 3))), np.zeros(2), 1.0), "x must have shape"),
        (lambda: printed_terms(scales(), Releases(np.zeros((1, 3))), np.zeros(3), 0.0), "y must be -1 or"),
        (lambda: printed_terms(scales(), Releases(np.zeros((1, 3))), np.zeros(3), math.nan), "y must be finite"),
        (
            lambda: printed_terms(scales(sigma2=None), Releases(np.zeros((1, 3)), np.ones((1, 3))), np.ones(3), 1.0),
            "sigma2 must be given",
        ),
        (
            lambda: draw_releases(
                ObjectivePerturbation(LOSS, 9.0, 1.0), dataset(), scales(), 1, rng=np.random.default_rng(0)
            ),
            "sigma must be that of the mechanism",
        ),
        (lambda: AdaptiveReleases(Releases(np.zeros((1, 3))), np.zeros(1), 1.0), "releases must hold"),
    ],
)
def test_refusals(action, message):
    with pytest.raises(ValueError, match=message):
        action()
