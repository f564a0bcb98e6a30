"""What is proved over all data sets, what the worst pair gives, and that wrong versions of either are found out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.verify.deployment import one_record_delta
from rows import for_each

from audits import Budget, StreamKey
from audits.white_box.tails import audit_tails
from mechanisms import (
    BOTH,
    Dataset,
    Direction,
    GaussianOutput,
    GaussianProfile,
    LogisticLoss,
    NeighbouringPair,
    ObjectivePerturbation,
    PoissonLoss,
    PosteriorSampling,
    PseudoHuberLoss,
    SmoothedHingeLoss,
    SquaredLoss,
)
from mechanisms.capabilities import Coefficients, Domain, stated_bound, worst_case_of, worst_pair_of
from mechanisms.laws.gaussian_profile import gaussian_log_delta
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018, PublishedRule2018
from mechanisms.linear.adassp import AdaSSP
from mechanisms.linear.noisy_sgd import NoisySGD
from mechanisms.linear.ops_calibrations import CorrectedOPSCalibration, largest_proved_gamma
from mechanisms.linear.ridge import RidgeMap
from mechanisms.linear.subsample_aggregate import SubsampleAggregate
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.objective.losses import ExactLoss, GlmLoss
from mechanisms.objective.objective_calibration import calibrate_t5
from mechanisms.objective.objective_worst_case import OneRecord, objective_domination, objective_tail, t5_domain

DOMAIN = Domain(3, 1.0, 1.0)
FAIR = Domain(9, 1.0, 1.0)
LOSSES: tuple[tuple[ExactLoss, float], ...] = (
    (LogisticLoss(), 1.0),
    (SmoothedHingeLoss(0.5), 1.0),
    (PseudoHuberLoss(0.7), -0.6),
    (SquaredLoss(), 0.8),
    (PoissonLoss(), 2.0),
)


@pytest.mark.parametrize("direction", BOTH)
@for_each(("loss", "y"), LOSSES)
@for_each(("sigma", "lam", "x_norm", "epsilon"), [(1.5, 1.0, 1.0, 0.3), (3.0, 0.4, 0.7, 0.05)])
def test_one_record_is_the_quadrature_of_its_densities(
    loss: GlmLoss, y: float, sigma: float, lam: float, x_norm: float, epsilon: float, direction: Direction
) -> None:
    """The quadrature is good to about 1e-9; the enclosure is SHARE times the scale wide."""
    found = OneRecord(loss, sigma, lam, x_norm, y)
    bracket = found.delta(epsilon, direction, scale=1e-3)
    truth = one_record_delta(loss, sigma, lam, x_norm, y, epsilon, direction)
    assert bracket.low - 1e-8 <= truth <= bracket.high + 1e-8
    assert bracket.high - bracket.low <= 1e-6
    assert found.delta_at(epsilon, direction) == pytest.approx(truth, rel=2e-3, abs=1e-7)


def test_a_wrong_density_would_be_seen_by_the_quadrature() -> None:
    """Mutant: 10 % less noise in the enclosed law lies outside the quadrature's error."""
    mutant = OneRecord(LogisticLoss(), 1.5 * 0.9, 1.0, 1.0, 1.0).delta(0.3, Direction.FORWARD, scale=1e-3)
    truth = one_record_delta(LogisticLoss(), 1.5, 1.0, 1.0, 1.0, 0.3, Direction.FORWARD)
    assert not mutant.low - 1e-8 <= truth <= mutant.high + 1e-8


def test_the_smallest_power_of_two_that_breaks_the_example_is_four() -> None:
    """(1, 1e-6), lambda 0.5: half of sigma 11 is proved to be enough, a quarter is exactly refuted."""
    for divisor, low, high in ((1, 0.0, 1e-20), (2, 9e-10, 5e-7), (4, 5.3e-4, 1e-2)):
        mechanism = ObjectivePerturbation(LogisticLoss(), 11.0 / divisor, 0.5)
        bound, worst = worst_case_of(mechanism, FAIR), worst_pair_of(mechanism, FAIR, 1.0, 1e-6)
        assert low <= worst.delta.low
        assert worst.delta.low <= bound.delta_at(1.0, 1e-6) <= high
    assert t5_domain(ObjectivePerturbation(LogisticLoss(), 11.0, 0.5), FAIR, 1.0, 1e-6)[0] == pytest.approx(
        10.9576, rel=1e-5
    )


@for_each("epsilon", [0.2, 1.0, 3.0])
@for_each("delta", [1e-9, 1e-5, 1e-2])
@for_each("loss", [LogisticLoss(), SmoothedHingeLoss(0.5), PseudoHuberLoss(0.7)])
def test_theorem_5_corrected_is_inside_the_proved_bound(loss: GlmLoss, epsilon: float, delta: float) -> None:
    calibration = calibrate_t5(loss, epsilon, delta, x_bound=1.0, y_bound=1.0)
    mechanism = ObjectivePerturbation(loss, calibration.sigma_corrected, calibration.lam)
    bound = worst_case_of(mechanism, DOMAIN)
    assert bound.delta_at(epsilon, delta) <= delta


@pytest.mark.parametrize("loss", [LogisticLoss(), SmoothedHingeLoss(0.3), PseudoHuberLoss(0.7)], ids=lambda x: x.name)
@for_each(("sigma", "lam"), [(0.8, 0.2), (2.0, 1.0), (5.0, 0.05)])
def test_no_one_record_pair_exceeds_the_proved_bound(loss: GlmLoss, sigma: float, lam: float) -> None:
    mechanism = ObjectivePerturbation(loss, sigma, lam)
    bound = worst_case_of(mechanism, DOMAIN)
    for epsilon in (0.1, 0.5, 1.0, 2.0):
        for x_norm in (0.3, 0.8, 1.0):
            for direction in BOTH:
                one = OneRecord(loss, sigma, lam, x_norm, 1.0).delta(epsilon, direction, scale=1e-6)
                assert one.low <= bound.delta_at(epsilon, 1e-6)


def test_the_bound_holds_on_data_and_a_halved_noise_breaks_it() -> None:
    """Null: delta at most the bound on 40 records, both directions; 60,000 draws, failure probability 1e-8.

    Mutant: drawn with a third of the stated noise, the same interval lies above the stated bound.
    """
    index = np.arange(40)
    X = np.column_stack([np.cos(index), np.sin(index)]) * 0.9
    y = np.where(X @ np.array([1.0, -0.5]) > 0, 1.0, -1.0)
    pair = NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), [-0.8, 0.6], 1.0)
    stated = ObjectivePerturbation(LogisticLoss(), 2.0, 0.5)
    bound = worst_case_of(stated, Domain(2, 1.0, 1.0))
    high = bound.delta_at(0.8, 1e-3)
    budget = Budget(60_000, 1e-8, StreamKey(5, ("bounds",)))
    assert audit_tails(stated, pair, [0.8], budget).delta(0.8).low <= high
    assert audit_tails(replace(stated, sigma=2.0 / 3), pair, [0.8], budget).delta(0.8).low > high


@for_each(("mu", "mu_report"), [(0.3, 0.0), (1.0, 0.0), (0.3, 0.4), (1.0, 0.2)])
@for_each("epsilon", [0.1, 0.4, 0.7, 1.5])
def test_domination_covers_every_slope_by_quadrature(mu: float, mu_report: float, epsilon: float) -> None:
    """The worst slope for each noise, integrated over a fine grid of the noise, with the curvature at its largest."""
    shift = 0.4
    z = np.linspace(-9, 9, 4001)
    slopes = np.linspace(0.0, mu, 201)[:, None]
    loss = shift + (slopes**2 / 2 + slopes * z).max(axis=0)
    later = np.exp(gaussian_log_delta(epsilon - loss, mu_report))
    truth = float((later * np.exp(-0.5 * z**2)).sum() * (z[1] - z[0]) / math.sqrt(2 * math.pi))
    assert truth <= objective_domination(mu, shift, epsilon, mu_report) * (1 + 2e-5)  # of the quadrature
    if epsilon < shift or (
        mu_report == 0.4 and epsilon < 1
    ):  # mutant: without the part below -mu/2 the bound would be too small
        assert truth > GaussianProfile(math.hypot(mu, mu_report)).delta_at(epsilon - shift) * (1 + 2e-5)


def test_tail_without_curvature_is_the_gaussian_one() -> None:
    """With a huge ridge the loss of the longest record is F a Z + F^2 a^2/2: the tail of a normal variable."""
    mechanism = ObjectivePerturbation(LogisticLoss(), 2.0, 1e12)
    assert float(objective_tail(mechanism, DOMAIN, 1.0)) == pytest.approx(GaussianProfile(0.5).tail_at(1.0), rel=1e-3)


def test_sufficient_statistics_are_decided_exactly() -> None:
    """The bound and the worst pair are one number: (1, 1e-6) at the calibrated scale, and just beyond it."""
    good = SufficientStatistics.calibrated(1.0, 1e-6, x_bound=1.0, y_bound=1.0)
    for factor, allowed in ((1 + 1e-6, True), (1 - 1e-6, False)):
        mechanism = SufficientStatistics(good.sigma_gram * factor, good.sigma_moment * factor)
        bound, worst = worst_case_of(mechanism, DOMAIN), worst_pair_of(mechanism, DOMAIN, 1.0, 1e-6)
        assert worst.delta.low == pytest.approx(bound.delta_at(1.0, 1e-6), rel=1e-9)
        assert (bound.delta_at(1.0, 1e-6) <= 1e-6) is allowed
        assert (worst.delta.low > 1e-6) is not allowed
        assert worst.pair.second.n_records == 1
        assert mechanism.profile(worst.pair).mu == pytest.approx(worst.numbers["mu"], rel=1e-12)


@for_each("lam", [0.5, 3.0, 40.0])
@for_each("n_public", [1, 5, 200])
def test_ridge_mechanisms_stay_below_their_bounds(lam: float, n_public: int) -> None:
    domain = Domain(3, 1.0, 1.0, n_public)
    noisy = GaussianOutput.isotropic(0.7, 3, RidgeMap(lam))
    bound, worst = worst_case_of(noisy, domain), worst_pair_of(noisy, domain, 0.5, 1e-6)
    assert worst.delta.low <= bound.delta_at(0.5, 1e-6)
    assert worst.pair.second.n_records <= n_public
    exact = noisy.delta_bracket(worst.pair, 0.5, worst.direction)
    assert exact.low == pytest.approx(worst.delta.low, rel=1e-9)


def test_posterior_sampling_passes_only_with_a_public_size() -> None:
    calibration = CorrectedOPSCalibration(1.0, 1e-5, 100, 3, 1.0, 1.0)
    lam = 2 * calibration.diffuse_lam
    gamma = float(largest_proved_gamma(1 / lam, calibration.residual(lam), 1.0, 1e-5))
    assert gamma > 1.3 * calibration.gamma_at(lam)
    for factor, allowed in ((0.999, True), (1.001, False)):
        mechanism = PosteriorSampling(gamma * factor, lam)
        bound = worst_case_of(mechanism, Domain(3, 1.0, 1.0, 100))
        assert (bound.delta_at(1.0, 1e-5) <= 1e-5) is allowed
        assert worst_case_of(mechanism, DOMAIN) is None
        worst = worst_pair_of(mechanism, Domain(3, 1.0, 1.0, 100), 1.0, 1e-5)
        assert worst.delta.low <= 1e-5


def test_adassp_lies_between_its_two_statistics_and_its_three_releases() -> None:
    mechanism = AdaSSP(1.0, 1e-5, calibrated=True)
    bound, worst = worst_case_of(mechanism, DOMAIN), worst_pair_of(mechanism, DOMAIN, 1.0, 1e-5)
    assert bound.delta_at(1.0, 1e-5) == pytest.approx(1e-5, rel=1e-6)
    assert worst.delta.low < bound.delta_at(1.0, 1e-5)


def test_stated_guarantees_hold_at_their_own_epsilon_and_not_below() -> None:
    corrected = worst_case_of(AdaOPS2018(CorrectedRule2018(1.0, 1e-5)), DOMAIN)
    assert corrected.delta_at(1.0, 1e-5) == 1e-5
    # what is left of randomised response, which is extremal: it tells the truth but for (1 - delta)/(1 + e)
    left = 1e-5 + (1 - 1e-5) * (math.exp(1.0) - math.exp(0.99)) / (1 + math.exp(1.0))
    assert left <= corrected.delta_at(0.99, 1e-5) == pytest.approx(left, rel=1e-12)
    assert worst_case_of(AdaOPS2018(PublishedRule2018(1.0, 1e-5)), DOMAIN) is None
    pure = worst_case_of(SubsampleAggregate(10, 1.0, 1.0), DOMAIN)
    assert pure.delta_at(1.0, 1e-9) == 0.0
    assert 0.1 < pure.delta_at(0.5, 1e-9) < -math.expm1(-0.5)  # noise is independent in every coordinate
    alone = worst_case_of(SubsampleAggregate(10, 1.0, 1.0), replace(DOMAIN, dim=1))
    assert alone.delta_at(0.99, 1e-9) == pytest.approx(-math.expm1(-0.005), rel=0.01)  # one coordinate's own law


def test_reports_are_composed_with_the_output() -> None:
    """With a huge mu of the report the whole is at least the report alone; with a tiny one it is the output."""
    mechanism = ObjectivePerturbation(LogisticLoss(), 11.0, 0.5)
    alone, tiny, large = (worst_case_of(mechanism, FAIR, mu) for mu in (0.0, 1e-9, 1.0))
    assert tiny.delta_at(1.0, 1e-6) == pytest.approx(alone.delta_at(1.0, 1e-6), abs=1e-12)
    assert large.delta_at(2.0, 1e-6) >= GaussianProfile(1.0).delta_at(2.0)
    assert large.delta_at(2.0, 1e-6) <= GaussianProfile(1.0).delta_at(1.3) * 1.5


def test_an_unbounded_loss_has_no_bound_and_a_counterexample() -> None:
    mechanism = ObjectivePerturbation(SquaredLoss(), 2.0, 0.5)
    assert worst_case_of(mechanism, DOMAIN) is None
    worst = worst_pair_of(mechanism, DOMAIN, 1.0, 1e-6)
    assert worst.delta.low > 1e-3


@for_each("name", ["ssp", "adassp", "noisy-sgd"])
def test_coefficients_follow_from_a_transcript_that_is_more_than_these(name: str) -> None:
    """A literal twin of each last step; the last numbers of the transcript are something else."""
    from mechanisms.catalogue import reference_mechanisms

    example = reference_mechanisms()[name]
    mechanism, data = example.mechanism, example.pair.first
    assert isinstance(mechanism, Coefficients)
    (row,) = outputs = mechanism.draw(data, 1, rng=np.random.default_rng(2))
    if name == "noisy-sgd":
        assert isinstance(mechanism, NoisySGD)
        theta = np.zeros(2)
        for t, noisy in enumerate((row[:2], row[2:]), start=1):
            theta = theta - mechanism.step_size / math.sqrt(t) * noisy
            theta = theta * min(1.0, mechanism.radius / float(np.linalg.norm(theta)))
    else:
        eigenvalue, (a, b, c), moment = row[0], row[-5:-2], row[-2:]
        lam = mechanism.lam if isinstance(mechanism, SufficientStatistics) else None
        if isinstance(mechanism, AdaSSP):
            lam = max(0.0, mechanism.scales(data).total - eigenvalue)
        assert lam is not None
        theta = np.linalg.solve(np.array([[a + lam, b], [b, c + lam]]), moment)
    np.testing.assert_allclose(mechanism.coefficients(outputs, data)[0], theta, rtol=1e-12)
    assert not np.allclose(row[-2:], theta, rtol=1e-3)


def test_everyones_worst_case_covers_the_targets_at_the_edge() -> None:
    """On 30 records: the bound over all targets is at least the exact delta of each that is tried, and below 1."""
    from mechanisms.catalogue import example_data

    data, domain = example_data(), Domain(2, 1.0, 1.0)
    for mechanism in (GaussianOutput.isotropic(0.3, 2, RidgeMap(1.0)), PosteriorSampling(2.0, 1.0)):
        bound = mechanism.worst_target(data, domain)
        for angle in np.linspace(0, 2 * math.pi, 9):
            pair = NeighbouringPair.add(data, [0.999 * math.cos(angle), 0.999 * math.sin(angle)], -1.0)
            for epsilon in (0.5, 3.0):
                exact = max(mechanism.profile(pair).delta_at(epsilon, d) for d in BOTH)
                assert exact <= bound.delta_at(epsilon, 1e-3)
        assert bound.delta_at(30.0, 1e-3) < 1


@for_each("delta", [0.0, 0.1])
def test_a_stated_guarantee_below_its_epsilon_is_what_randomised_response_reaches(delta: float) -> None:
    """Two outcomes that give the member away with probability ``delta``, and two that are randomised response."""
    epsilon, stay = 0.7, 1 - delta
    true, false = stay * math.exp(epsilon) / (1 + math.exp(epsilon)), stay / (1 + math.exp(epsilon))
    first, second = (delta, 0.0, true, false), (0.0, delta, false, true)
    bound = stated_bound(epsilon, delta, "", "")
    for at in (-1.5, -0.7, -0.2, 0.0, 0.3, 0.69, 0.7):
        reached = sum(max(0.0, p - math.exp(at) * q) for p, q in zip(first, second, strict=True))
        assert reached - 1e-15 <= bound.delta_at(at, delta) == pytest.approx(reached, rel=1e-12, abs=1e-13)
