"""The four OPS calibrations of W18, appendix F, the bound behind the corrected ones, and where the printed fail."""

from __future__ import annotations

import math

import numpy as np
import pytest
from rows import for_each
from scipy.special import ndtr
from scipy.stats import chi2

from mechanisms.base import BOTH
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair
from mechanisms.laws.quadratic_profile import quadratic_log_delta, quadratic_log_tail
from mechanisms.linear.ops_calibrations import (
    CorrectedOPSCalibration,
    PublishedOPSCalibration,
    largest_gamma,
    largest_leverage,
    largest_proved_gamma,
    leverage_part,
    loss_bound,
    proposition_18,
    proved_delta,
    ridge_norm_bound,
    two_sided_quantile,
)
from mechanisms.linear.posterior_sampling import PosteriorSampling

GRID = [(e, d, n) for e in (0.1, 1.0, 3.0) for d in (1e-9, 1e-5, 1e-2) for n in (0, 1, 1000)]
RULES = ("diffuse", "concentrated", "balanced", "conservative")


@for_each("delta", [1e-12, 1e-5, 1e-2, 0.3])
def test_the_loss_bound_holds_in_both_directions_and_grows(delta):
    """P(L > bound) <= delta exactly (closed form of the tail), on a grid of leverages, residuals, temperatures."""
    for leverage in np.geomspace(1e-4, 30, 12):
        for scaled in (0.0, 0.01, 0.3, 1.0, 4.0, 30.0):
            bound = float(loss_bound(leverage, scaled, 1.0, delta))
            for direction in BOTH:
                assert math.exp(quadratic_log_tail(bound, leverage, scaled, direction)) <= delta * (1 + 1e-9)
            assert loss_bound(1.01 * leverage, scaled, 1.0, delta) >= bound
            assert loss_bound(leverage, 1.01 * scaled, 1.0, delta) >= bound


def test_largest_gamma_and_leverage_solve_the_bound():
    for epsilon, delta in ((0.2, 1e-6), (1.0, 1e-3), (5.0, 0.1)):
        end = largest_leverage(epsilon, delta)
        assert leverage_part(end, two_sided_quantile(delta)) == pytest.approx(epsilon, rel=1e-9)
        for share in (1e-6, 0.01, 0.5, 0.99):
            gamma = largest_gamma(share * end, 2.0, epsilon, delta)
            assert loss_bound(share * end, 2.0, gamma, delta) == pytest.approx(epsilon, rel=1e-9)
        assert largest_gamma(1.01 * end, 2.0, epsilon, delta) == 0.0
    assert ndtr(-two_sided_quantile(0.01)) == pytest.approx(0.005, rel=1e-12)
    with pytest.raises(ValueError, match=r"delta must be at most 0\.317"):
        two_sided_quantile(0.5)


def test_ridge_norm_bound_holds_on_random_data():
    rng = np.random.default_rng(0)
    for n in (1, 3, 20):
        for _ in range(50):
            X = rng.standard_normal((n, 4))
            X /= np.linalg.norm(X, axis=1)[:, None]
            y, lam = np.sign(rng.standard_normal(n)), 10 ** rng.uniform(-2, 2)
            H = X.T @ X + lam * np.eye(4)
            theta = np.linalg.norm(np.linalg.solve(H, X.T @ y))
            assert theta <= ridge_norm_bound(n, 1.0, 1.0, np.linalg.eigvalsh(H)[0]) * (1 + 1e-12)
            # with lam itself half of the first term serves: s/(s^2 + lam) <= 1/(2 sqrt(lam))
            assert theta <= min(math.sqrt(n / lam) / 2, n / lam) * (1 + 1e-12)


@for_each(("epsilon", "delta", "n"), GRID)
@for_each("build", [PublishedOPSCalibration, CorrectedOPSCalibration])
@for_each("rule", RULES)
def test_every_rule_spends_exactly_its_budget(build, epsilon, delta, n, rule):
    calibration = build(epsilon, delta, n, 5, 1.3, 0.7)
    found = getattr(calibration, rule)()
    assert found.lam > 0
    assert found.gamma > 0
    assert calibration.epsilon_bound(found.lam, found.gamma) == pytest.approx(epsilon, rel=1e-8)
    if rule == "concentrated":
        assert found.gamma == 1.0
    else:
        assert found.lam >= calibration.diffuse_lam * (1 - 1e-12)


def test_published_formulas_at_a_point():
    """W18, appendix F, at epsilon 1, delta 1e-2, n 4, d 2, B = Y = 1, lam 20, gamma 0.1, term by term."""
    c = PublishedOPSCalibration(1.0, 1e-2, 4, 2, 1.0, 1.0)
    lipschitz = math.sqrt(4) / math.sqrt(40) + 1
    assert c.lipschitz(20.0) == pytest.approx(lipschitz, rel=1e-14)
    log2 = math.log(200)
    terms = math.sqrt(0.1 * lipschitz**2 * log2 / 20), 0.1 * lipschitz**2 / (2 * 21), (1 + log2) / 40
    assert c.epsilon_bound(20.0, 0.1) == pytest.approx(sum(terms), rel=1e-14)
    assert c.diffuse().lam == pytest.approx(1 + log2, rel=1e-14)
    p18 = proposition_18(c)
    c1 = (1 + math.sqrt(2 * math.log(20)) + math.log(20)) * log2
    assert p18.lam == pytest.approx((4 * c1) ** (1 / 3), rel=1e-12)
    assert p18.gamma == pytest.approx(p18.lam / (4 * log2 * float(c.lipschitz(p18.lam)) ** 2), rel=1e-12)


def test_balanced_minimises_its_objective():
    c = PublishedOPSCalibration(1.0, 1e-6, 5000, 5, 1.0, 1.0)
    best = c.balanced().lam
    lam = np.geomspace(c.diffuse_lam, 1e5, 20001)
    values = c.c1(1.0, 0.05) * c.lipschitz(lam) ** 2 / lam + lam
    assert best == pytest.approx(lam[values.argmin()], rel=1e-3)
    assert best > c.diffuse_lam * 1.01


@for_each("rule", RULES)
def test_corrected_rules_keep_their_budget_on_extreme_data(rule):
    """Exact hockey sticks, both directions, over one-directional data sets and targets on the bounds."""
    for epsilon, delta, n in ((0.3, 1e-5, 3), (1.0, 1e-2, 1), (2.0, 0.1, 30)):
        found = getattr(CorrectedOPSCalibration(epsilon, delta, n + 1, 1, 1.0, 1.0), rule)()
        mechanism = PosteriorSampling(found.gamma, found.lam)
        for scale in (0.0, 0.1, 0.5, 1.0):
            dataset = Dataset(np.full((n, 1), scale), np.ones(n), 1.0, 1.0)
            for target in ((1.0, -1.0), (1.0, 1.0), (0.3, -1.0)):
                profile = mechanism.profile(NeighbouringPair.add(dataset, [target[0]], target[1]))
                for direction in BOTH:
                    assert profile.delta_at(epsilon, direction) <= delta


def test_published_rule_fails_when_each_set_takes_its_own_n():
    """W18-F1 at n = 0 and 1, epsilon 1, delta 1e-3, d = 400: gamma changes with n, and d coordinates show it.

    Along the coordinates that the record does not touch the two laws are N(0, 1/(gamma lam)) with different gammas; the
    hockey stick between them alone is a pair of chi-square probabilities.
    """
    epsilon, delta, dim = 1.0, 1e-3, 400
    first, second = (PublishedOPSCalibration(epsilon, delta, n, dim, 1.0, 1.0).diffuse() for n in (0, 1))
    assert first.lam == second.lam
    assert first.gamma > second.gamma
    k = dim - 1
    # p/q > e^epsilon where |theta|^2 lam < edge
    edge = (k * math.log(first.gamma / second.gamma) - 2 * epsilon) / (first.gamma - second.gamma)
    delta_true = chi2.cdf(first.gamma * edge, k) - math.exp(epsilon) * chi2.cdf(second.gamma * edge, k)
    assert delta_true > 100 * delta


def test_bad_input_is_refused():
    for build in (PublishedOPSCalibration, CorrectedOPSCalibration):
        for args, rule in (
            ((-1.0, 1e-5, 3, 2, 1.0, 1.0), "epsilon"),
            ((1.0, 0.0, 3, 2, 1.0, 1.0), "delta"),
            ((1.0, 1e-5, -1, 2, 1.0, 1.0), "n_records"),
            ((1.0, 1e-5, 3, 0, 1.0, 1.0), "dim"),
            ((1.0, 1e-5, 3, 2, math.inf, 1.0), "x_bound"),
            ((1.0, 1e-5, 3, 2, 1.0, math.nan), "y_bound"),
        ):
            with pytest.raises(ValueError, match=f"{rule} must be"):
                build(*args)
        with pytest.raises(ValueError, match="lam must be above"):
            build(1.0, 1e-5, 3, 2, 1.0, 1.0).gamma_at(1e-3)
        with pytest.raises(ValueError, match="gamma must be"):
            build(1.0, 1e-5, 3, 2, 1.0, 1.0).concentrated(0.0)


@for_each("leverage", [0.003, 0.05, 1.0, 20.0])
@for_each("scaled", [0.0, 0.3, 4.0])
def test_no_target_exceeds_it(leverage: float, scaled: float) -> None:
    shares = np.concatenate([np.geomspace(1e-4, 1, 40), [0.9999]])
    m, a = (grid.ravel() for grid in np.meshgrid(leverage * shares, scaled * shares, indexing="ij"))
    for epsilon in (0.0, 0.05, 0.5, 2.0):
        bound = proved_delta(leverage, scaled, epsilon)
        for direction in BOTH:
            assert float(np.exp(quadratic_log_delta(epsilon, m, a, direction)).max()) <= bound * (1 + 1e-9)


def test_it_is_nearly_reached_at_a_small_leverage() -> None:
    worst = max(float(quadratic_log_delta(1.0, 0.02, 2.0, direction)) for direction in BOTH)
    assert math.exp(worst) <= proved_delta(0.02, 2.0, 1.0) < 1.4 * math.exp(worst)


@for_each("delta", [1e-6, 1e-3, 0.5])
def test_the_largest_gamma(delta: float) -> None:
    m, r = np.array([1e-4, 0.01, 0.05, 0.3]), np.array([1.0, 3.0, 0.2, 1.0])
    gammas = largest_proved_gamma(m, r, 1.0, delta)
    for leverage, residual, gamma in zip(m, r, gammas, strict=True):
        if gamma == 0:  # the leverage alone is too much
            assert proved_delta(float(leverage), 1e-9, 1.0) > delta
            continue
        assert proved_delta(float(leverage), float(residual * np.sqrt(gamma)) * (1 - 1e-6), 1.0) <= delta
        assert proved_delta(float(leverage), float(residual * np.sqrt(gamma)) * (1 + 1e-6), 1.0) > delta
    if delta < 0.3:
        assert (gammas >= largest_gamma(m, r, 1.0, delta)).all()
    assert gammas[0] > 0
