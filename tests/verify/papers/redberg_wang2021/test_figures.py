"""RW21, its figures: synthetic data, and what they are on the data of the papers."""

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pytest
from oracles.formula_cases import decide, exact_value, one
from oracles.mechanisms.objective_perturbation import gradient, hessian, minimiser
from oracles.mechanisms.reports import algorithm_2
from rows import for_each
from scipy.optimize import minimize, minimize_scalar
from scipy.stats import binom, norm, spearmanr

from audits import Budget, StreamKey
from audits.stats.coverage import proportion
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation, SquaredLoss
from mechanisms.data.synthetic import sphere_labels
from mechanisms.objective.losses import GlmLoss
from mechanisms.releases.report_terms import Releases, corrected_terms, draw_releases, printed_terms
from verify.figures.figure_page import stream
from verify.kernel.statement import Statement
from verify.kernel.verdict import Outcome, Reason, judge
from verify.papers.redberg_wang2021 import fig_3, fig_6, fig_7, fig_8, fig_9, fig_10
from verify.papers.redberg_wang2021.figures import rw21_fig_1 as drawn
from verify.papers.redberg_wang2021.figures.rw21_fig_2 import data, lambda_0
from verify.papers.redberg_wang2021.figures.rw21_worst_case import bounds, ceiling, run, scales
from verify.papers.redberg_wang2021.shared.credit_and_uci import (
    ReportRun,
    RunCount,
    Shares,
    VariantCount,
    closer_for_small,
    comparable,
    decided,
    one_run,
    prepared,
    runs,
    seen_again,
)
from verify.papers.redberg_wang2021.shared.credit_and_uci import scales as run_scales
from verify.papers.redberg_wang2021.shared.worst_cases import median_interval


# RW21, Figure 1: shares of the terms of Corollary 7, record by record with a literal twin.
@for_each(("part", "omega", "angle"), [("#no rotation", "0", 0.0), ("#large rotations", "pi/2", math.pi / 2)])
def test_fig_1_share_of_the_first_term(part: str, omega: str, angle: float) -> None:
    dataset, loss = drawn.data(stream(1, "RW21-F1")), LogisticLoss()
    theta = minimiser(np.zeros(2), dataset, loss, 1.0)
    theta = np.array([[math.cos(angle), -math.sin(angle)], [math.sin(angle), math.cos(angle)]]) @ theta
    inverse, whole = np.linalg.inv(hessian(theta, dataset, loss, 1.0)), gradient(theta, dataset, loss, 1.0)
    sigma = math.sqrt(8 * math.log(2e6) + 4)  # Theorem 5 at epsilon = 1
    first, others = [], []
    for x, y in zip(dataset.X, dataset.y, strict=True):
        slope = -y / (1 + math.exp(y * (x @ theta)))
        first.append(-math.log(1 + abs(slope) * (1 - abs(slope)) * (x @ inverse @ x)))
        others.append((slope**2 * (x @ x) / 2 + slope * (x @ whole)) / sigma**2)
    sizes = np.abs(first).sum(), np.abs(others).sum()
    at = {"omega": omega, "epsilon": 1.0, "data": 1}
    assert exact_value("RW21-F1", part, "printed", at) == pytest.approx(sizes[0] / sum(sizes), rel=1e-5)
    found = decide("RW21-F1", part, "printed", at)
    assert (found.claim.low, found.claim.high) == ((0.5, 1.0) if angle == 0 else (0.0, 0.5))
    assert found.notes["sigma"] == pytest.approx(sigma)
    if angle:
        losses = np.abs(np.array(first) + others)
        order = spearmanr(losses, -dataset.y * (dataset.X @ theta)).statistic
        assert exact_value("RW21-F1", "#order", "printed", at) == pytest.approx(order, rel=1e-6)


def test_fig_1_what_is_not_stated_is_undecided() -> None:
    found = decide("RW21-F1", "#small rotations", "printed")
    assert found.exact is None
    assert found.reason.startswith("data missing")


def test_fig_1_terms_are_the_loss_of_adding_the_record_again() -> None:
    dataset = drawn.data(np.random.default_rng(2))
    theta = drawn.rotated(drawn.minimiser(dataset), 1.0)
    losses = drawn.terms(dataset, theta).loss(3.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=3.0, lam=1.0)
    for i in (0, 7, 500):
        pair = NeighbouringPair.add(dataset, dataset.X[i], float(dataset.y[i]))
        assert losses[i] == pytest.approx(abs(mechanism.privacy_loss(theta[None], pair)[0]), rel=1e-9)


# RW21, Figure 2: the 0-1 loss at a few draws of the noise by another minimiser.
def test_fig_2_mean_change_of_the_loss() -> None:
    """epsilon = 1, c = 100: lambda = 50 against 1/2, the same five draws of the noise."""
    found = decide("RW21-F2", "", "printed", {"epsilon": 1.0, "other epsilon": 1.0, "c": 100.0, "data": 1}, draws=5)
    dataset = data(stream(1, "RW21-F2"))
    sigma = math.sqrt(8 * math.log(2e6) + 4)
    noise = sigma * StreamKey(1).child("noise").rng().standard_normal((5, 50))

    def zero_one(lam: float, b: np.ndarray) -> float:
        def objective(theta: np.ndarray) -> tuple[float, np.ndarray]:
            margin = dataset.y * (dataset.X @ theta)
            value = np.logaddexp(0, -margin).sum() + lam * theta @ theta / 2 + b @ theta
            return value, -dataset.X.T @ (dataset.y / (1 + np.exp(margin))) + lam * theta + b

        theta = minimize(objective, np.zeros(50), jac=True, method="L-BFGS-B", options={"gtol": 1e-7, "ftol": 0}).x
        return float((dataset.y * (dataset.X @ theta) <= 0).mean())

    moved = np.array([zero_one(50.0, b) - zero_one(0.5, b) for b in noise])
    assert found.notes["mean change"] == pytest.approx(moved.mean(), abs=1e-3)
    assert found.notes["largest"] == pytest.approx(np.abs(moved).max(), abs=2e-3)
    assert found.sampled.value == (np.abs(moved) <= 0.05).mean()
    assert found.claim.low == 0.8


def test_fig_2_least_lambda_is_the_papers() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        assert lambda_0(epsilon) == pytest.approx(1 / (2 * epsilon), rel=1e-12)


# RW21, Figure 4: both bounds record by record with the literal twin, and the factor of two medians.
def test_fig_4_bounds_of_every_record() -> None:
    rng = np.random.default_rng(4)
    dataset, chosen = sphere_labels(12, 3, temperature=1.0, rng=rng).dataset, scales(3)
    theta, noise = rng.standard_normal(3), rng.standard_normal((3, 3))
    H = chosen.lam * np.eye(3) + 0.1 * (noise + noise.T)
    released = Releases(theta[None], 5.0 * rng.standard_normal((1, 3)), H[None])
    both = bounds(chosen, released, dataset)
    given = {"sigma": chosen.sigma, "lam": chosen.lam, "rho": chosen.failure_prob, "sigma2": chosen.sigma2}
    for i, (x, y) in enumerate(zip(dataset.X, dataset.y, strict=True)):
        slope = -y / (1 + math.exp(y * (x @ theta)))
        second = abs(slope) * (1 - abs(slope))
        free = algorithm_2(x, slope, second, **given)[2]
        tight = algorithm_2(x, slope, second, **given, g_hat=released.gradient[0], H_hat=H, corrected=True)[2]
        assert (both[0][i], both[1][i]) == pytest.approx((free, tight), rel=1e-12)


def test_fig_4_factor_of_two_medians() -> None:
    """Noise that grows as sqrt(n) divides the bounds at n = 100 by (1/10)^(1/2): the same draws, sqrt(10) larger."""
    at = {"n": 100, "temperature": 0.0}
    flat, grown = (
        decide("RW21-F4", "", version, at | more, draws=44)
        for version, more in (("printed", {}), ("noise that grows as sqrt(n)", {"power": 0.5}))
    )
    root, factor = math.sqrt(10.0), flat.sampled.value  # of the worse bound, in either direction
    assert 1.0 < factor < 2.0
    assert root / factor <= grown.sampled.value * (1 + 1e-9)
    assert grown.sampled.value <= root * factor * (1 + 1e-9)
    assert (flat.claim.low, flat.claim.high) == (1.0, 2.0)


@for_each("dim", [1, 4])
def test_fig_4_bounds_of_all_records_are_those_of_one_at_a_time(dim: int) -> None:
    chosen = scales(dim)
    mechanism, dataset, releases, _ = run(40, dim, 1.0, 0.0, np.random.default_rng(3))
    assert mechanism.lam == chosen.lam
    free, released = bounds(chosen, releases, dataset)
    alone, plain = replace(chosen, sigma2=None, sigma3=None), Releases(releases.theta)
    for i in range(dataset.n_records):
        x, y = dataset.X[i], float(dataset.y[i])
        assert free[i] == pytest.approx(corrected_terms(alone, plain, x, y).epsilon1_bar[0], rel=1e-12)
        assert released[i] == pytest.approx(corrected_terms(chosen, releases, x, y).epsilon1_bar[0], rel=1e-12)
    assert (released <= free * (1 + 1e-12)).all()


@for_each(("n", "failure_prob"), [(44, 1e-9), (100, 1e-6), (9, 0.1)])
def test_fig_4_order_statistics_of_the_median(n: int, failure_prob: float) -> None:
    """The interval's ends are the order statistics whose binomial tail is at most half of the failure probability."""
    low, middle, high = median_interval(np.arange(n, dtype=float), failure_prob)
    assert binom.cdf(int(low), n, 0.5) <= failure_prob / 2 < binom.cdf(int(low) + 1, n, 0.5)
    assert (low + high, middle) == (n - 1.0, (n - 1) / 2)
    with pytest.raises(ValueError, match="must be more"):
        median_interval(np.arange(3.0), 1e-9)


# RW21, Figure 5: the ceiling of both bounds by maximising over one record's prediction.
def bound(margin: float, sigma: float, lam: float) -> float:
    """Algorithm 2 without releases for a unit record at y x^T theta = -margin."""
    s = 1 / (1 + math.exp(-margin))
    return -math.log(1 - s * (1 - s) / lam) + s**2 / (2 * sigma**2) + s * norm.isf(5e-7) / sigma


@for_each("lam", [0.5, 27.9])
def test_fig_5_one_record_at_its_worst_prediction(lam: float) -> None:
    sigma = math.sqrt(8 * math.log(2e6) + 4)
    ceiling = -minimize_scalar(lambda m: -bound(m, sigma, lam), bounds=(-5, 40), method="bounded").fun
    ceiling = max(ceiling, bound(700.0, sigma, lam))
    grid = max(bound(0.1 * i, sigma, lam) for i in range(301))
    at = {"what": "one record", "d": 2, "lambda": lam, "data": 1, "n": 1}
    assert exact_value("RW21-F5", "#ceiling", "printed", at) == pytest.approx(grid / ceiling, rel=1e-5)
    lowered = exact_value("RW21-F5", "#ceiling", "ceiling 5 % lower", at | {"share": 0.95})
    assert lowered == pytest.approx(grid / ceiling / 0.95, rel=1e-5)


def test_fig_5_what_is_not_stated_is_undecided() -> None:
    assert decide("RW21-F5", "#ceiling", "printed").claim.high == 1.0 + 1e-6
    (plotted,) = [c for c in one("RW21-F5").cases if c.part.endswith("#plotted")]
    assert plotted.regime == "labels and budgets not stated"


def test_fig_5_ceiling_against_an_optimiser() -> None:
    chosen = scales(2, 0.5)
    z = norm.isf(5e-7)

    def minus(s: float) -> float:
        return -(-math.log1p(-s * (1 - s) / chosen.lam) + s**2 / (2 * chosen.sigma**2) + s * z / chosen.sigma)

    best = -minimize_scalar(minus, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}).fun
    assert ceiling(chosen) == pytest.approx(max(best, -minus(1.0)), rel=1e-8)


# RW21's figures on data: all records' bounds against the literal report, what decides a claim, and all claims run.
FIGURES = (fig_3, fig_6, fig_7, fig_8, fig_9, fig_10)


def drawn_data(n: int = 40, dim: int = 3, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim)) * (1.0, 10.0, 0.1)[:dim]
    return Dataset(X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, 0.0), math.inf, math.inf)


@for_each("loss", [LogisticLoss(), SquaredLoss()])
def test_credit_and_uci_bounds_of_all_records_are_those_of_the_literal_report(loss: GlmLoss) -> None:
    chosen = run_scales(loss, 3, Shares(0.5, 0.4, 0.1), required=True)
    chosen.require(3)
    for _, prepared_data in prepared(drawn_data(12), loss):
        mechanism = ObjectivePerturbation(loss, chosen.sigma, chosen.lam)
        releases = draw_releases(mechanism, prepared_data, chosen, 1, rng=np.random.default_rng(2))
        found = one_run(mechanism, prepared_data, chosen, releases)
        free = replace(chosen, sigma2=None, sigma3=None)
        for i, (x, y) in enumerate(zip(prepared_data.X, prepared_data.y, strict=True)):
            printed, corrected = (form(chosen, releases, x, y) for form in (printed_terms, corrected_terms))
            independent = corrected_terms(free, replace(releases, gradient=None, hessian=None), x, y)
            assert found.dependent["printed"][i] == pytest.approx(printed.epsilon1_bar[0], rel=1e-12)
            assert found.dependent["corrected"][i] == pytest.approx(corrected.epsilon1_bar[0], rel=1e-12)
            assert found.independent[i] == pytest.approx(independent.epsilon1_bar[0], rel=1e-12)
            loss_of = mechanism.privacy_loss(releases.theta, NeighbouringPair.remove(prepared_data, i))
            assert found.loss[i] == pytest.approx(abs(loss_of[0]), rel=1e-9, abs=1e-12)


def test_credit_and_uci_preparations_are_public_domains_of_bound_1() -> None:
    for loss in (LogisticLoss(), SquaredLoss()):
        for _, each in prepared(drawn_data(), loss):
            assert np.linalg.norm(each.X, axis=1).max() == pytest.approx(1.0)
            assert np.abs(each.y).max() == pytest.approx(1.0)
    constant = Dataset(np.ones((4, 2)), np.array([0.0, 1.0, 0.0, 1.0]), math.inf, math.inf)
    assert all(np.isfinite(each.X).all() for _, each in prepared(constant, LogisticLoss()))


def variant(words: str, count: RunCount, n_runs: int = 40) -> VariantCount:
    return VariantCount(words, count, count.probability(n_runs, 1e-4))


@for_each(
    ("counts", "outcome"),
    [
        ((40, 39), (Outcome.HOLDS, Reason.NONE)),
        ((0, 1), (Outcome.FAILS, Reason.NONE)),
        ((0, 22), (Outcome.UNDECIDED, Reason.READING)),
        ((40, 24), (Outcome.UNDECIDED, Reason.BUDGET)),
        ((15, 26), (Outcome.UNDECIDED, Reason.BUDGET)),
    ],
)
def test_credit_and_uci_a_claim_is_decided_where_all_preparations_agree(
    counts: tuple[int, int], outcome: tuple[Outcome, Reason]
) -> None:
    counted = [variant(f"preparation {i}", RunCount(count)) for i, count in enumerate(counts)]
    evidence = decided(fig_9.STATEMENT.cases[0], "a claim", counted, {})
    assert judge(evidence) == outcome
    assert {name: evidence.notes[name] for name in evidence.notes} == {
        f"seen with preparation {i}": count for i, count in enumerate(counts)
    }


@for_each(
    ("counts", "outcome"),
    [
        (((0, 40), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((40, 0), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((0, 0), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((40, 0), (0, 0)), (Outcome.UNDECIDED, Reason.READING)),  # the preparations differ, all speak
        (((30, 10), (40, 0)), (Outcome.UNDECIDED, Reason.BUDGET)),
        (((39, 1), (40, 0)), (Outcome.HOLDS, Reason.NONE)),
        (((0, 2), (1, 0)), (Outcome.FAILS, Reason.NONE)),
    ],
)
def test_credit_and_uci_a_run_that_says_nothing_refutes_nothing_and_supports_nothing(
    counts: tuple[tuple[int, int], ...], outcome: tuple[Outcome, Reason]
) -> None:
    """It counts as seen for the upper end of the interval, and as not seen for the lower one."""
    for seen, silent in counts:
        interval = RunCount(seen, silent).probability(40, 1e-4)
        assert interval.low == proportion(seen, 40, 1e-4).low
        assert interval.high == proportion(seen + silent, 40, 1e-4).high
    counted = [variant(f"preparation {i}", RunCount(*count)) for i, count in enumerate(counts)]
    evidence = decided(fig_9.STATEMENT.cases[0], "a claim", counted, {})
    assert judge(evidence) == outcome
    assert [evidence.notes.get(f"silent with preparation {i}", 0) for i in (0, 1)] == [count[1] for count in counts]


def test_credit_and_uci_records_with_a_small_loss_are_compared_where_both_runs_have_some() -> None:
    def run(loss: list[float], independent: list[float], dependent: list[float]) -> ReportRun:
        return ReportRun(np.array(loss), np.array(independent), {"printed": np.array(dependent)}, np.zeros(len(loss)))

    tight = run([0.05, 0.1, 1.0], [0.2, 0.2, 1.0], [0.1, 0.1, 9.0])
    loose = run([0.05, 0.1, 1.0], [0.1, 0.1, 9.0], [0.2, 0.2, 1.0])
    silent = run([0.11, 1.0], [0.2, 1.0], [0.1, 1.0])
    said = [closer_for_small(a, b, "printed", largest=0.1) for a in (tight, silent) for b in (tight, loose, silent)]
    assert said == [True, False, None, None, None, None]
    assert RunCount.of(said) == RunCount(1, 4)


@for_each("statement", [fig_7.STATEMENT, fig_8.STATEMENT])
def test_credit_and_uci_no_small_loss_at_all_decides_nothing(statement: Statement) -> None:
    case = replace(statement.cases[0], given={name: drawn_data(seed=i) for i, name in enumerate(statement.needs)})
    never = partial(closer_for_small, largest=-1.0)
    evidence = seen_again(case, Budget(12, 1e-2, StreamKey(1)), "a claim", never)
    assert judge(evidence) == (Outcome.UNDECIDED, Reason.READING)
    assert "12 of 12 runs" in evidence.reason


def test_credit_and_uci_ratios_where_the_loss_underflows_and_what_is_comparable() -> None:
    zero = np.zeros(1)
    run = ReportRun(np.array([0.0, 0.0, 2.0]), np.ones(3), {"printed": np.ones(3)}, np.zeros(3))
    assert run.ratio(np.array([0.0, 1.0, 1.0])).tolist() == [1.0, math.inf, 0.5]
    reports = [
        ReportRun(zero, np.ones(1), {"printed": np.full(1, size)}, np.full(1, 0.2)) for size in (0.31, 0.29, 1.79, 1.81)
    ]
    assert [comparable(reports[0], each, "printed") for each in reports] == [True, False, True, False]


@pytest.mark.parametrize("statement", [each.STATEMENT for each in FIGURES], ids=lambda each: each.id)
def test_credit_and_uci_every_claim_is_decided_on_given_data(statement: Statement) -> None:
    """No check stops; what it finds has a witness or the reading that decides."""
    given: Mapping[str, Dataset] = {name: drawn_data(seed=i) for i, name in enumerate(statement.needs)}
    for case in statement.cases:
        evidence = statement.check(replace(case, given=given), Budget(12, 1e-2, StreamKey(1)))
        assert evidence.sampled or evidence.reason.startswith("reading: ")
        assert any(name.startswith("seen with ") for name in evidence.notes)


def test_credit_and_uci_runs_are_those_of_their_own_noise() -> None:
    loss = LogisticLoss()
    (_, each), *_ = prepared(drawn_data(), loss)
    chosen = run_scales(loss, 3, Shares(1.0, 1.0, 1.0), required=True)
    first, again = (runs(each, chosen, 3, np.random.default_rng(1)) for _ in range(2))
    assert [run.loss.tolist() for run in first] == [run.loss.tolist() for run in again]
    assert len({run.loss[0] for run in first}) == 3
