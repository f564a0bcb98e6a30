"""The numbers behind the papers' figures, against literal twins and hand computation; the page and the command."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from scipy.optimize import minimize_scalar
from scipy.special import ndtri
from scipy.stats import binom

from audits import Budget, StreamKey
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation
from mechanisms.report_terms import Releases, corrected_terms
from mechanisms.ridge import RidgeMap
from reports.document import pdf_bytes
from verify import cli
from verify.missing import data_missing, missing_statement
from verify.paper_figures import book, rw21_fig_1, rw21_fig_2, rw21_worst_case, w18_fig_3, w19_fig_1, w19_fig_2
from verify.paper_figures.cross_validation import cross_validated, folds, squared_errors
from verify.paper_figures.page import stream
from verify.paper_figures.regression_methods import TABLE_METHODS, Target, ball_minimiser, least_squares, trivial
from verify.redberg_wang2021.worst_cases import median_interval
from verify.statement import Formula
from verify.verdict import Outcome, Reason, judge


def small(n_records: int = 12, dim: int = 3) -> Dataset:
    return w19_fig_2.data(np.random.default_rng(5), n_records, dim)


# --- W19 --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_records", [2, 10, 100])
def test_bad_data_set_moves_the_estimate_that_far(n_records: int) -> None:
    """The closed form is attained: the data set is built and the record added."""
    t = np.geomspace(1e-4, n_records, 20_001)
    best = t[np.argmax((1 + np.sqrt(n_records * t) / (t + 1)) / (t + 2))]
    s = math.sqrt(best / n_records)
    side = math.sqrt(max(0.0, 1 - s**2)) * np.where(np.arange(n_records) % 2, 1.0, -1.0)
    dataset = Dataset(np.column_stack([side, np.full(n_records, s)]), np.ones(n_records), 1.0, 1.0)
    pair = NeighbouringPair.add(dataset, np.array([0.0, 1.0]), -1.0)
    moved = float(np.linalg.norm(RidgeMap(1.0).shift(pair)))
    assert moved == pytest.approx(w19_fig_1.dp_shift_attained(n_records), rel=1e-9)


def test_record_shifts_are_those_of_refits() -> None:
    dataset = small()
    literal = [
        np.linalg.norm(RidgeMap(0.7).shift(NeighbouringPair.remove(dataset, i))) for i in range(dataset.n_records)
    ]
    assert w19_fig_1.record_shifts(dataset, 0.7) == pytest.approx(literal, rel=1e-9)


def test_no_random_record_moves_further_than_the_search_found() -> None:
    dataset, rng = small(), np.random.default_rng(1)
    found = w19_fig_1.universe_shift(dataset, 1.0)
    X = rng.standard_normal((500, dataset.dim))
    X /= np.linalg.norm(X, axis=1)[:, None]
    moved = [
        float(np.linalg.norm(RidgeMap(1.0).shift(NeighbouringPair.add(dataset, x / max(1.0, np.linalg.norm(x)), y))))
        for x in X
        for y in (-1.0, 1.0)
    ]
    assert max(moved) <= found * (1 + 1e-9)
    assert max(moved) >= 0.9 * found


def test_excess_risk_by_hand() -> None:
    """X = (1, 1), y = (1, 0), ridge 1: best 1/2, estimate 1/3; bias (1/6)^2 2 = 1/18, variance term 2/(3 gamma)."""
    dataset = Dataset(np.ones((2, 1)), np.array([1.0, 0.0]), 1.0, 1.0)
    assert w19_fig_2.excess_risk(dataset, 4.0) == pytest.approx((1 / 18 + 1 / 6) / 2, rel=1e-12)


# --- RW21 -------------------------------------------------------------------------------------------------------------


def test_terms_are_the_loss_of_adding_the_record_again() -> None:
    dataset = rw21_fig_1.data(np.random.default_rng(2))
    theta = rw21_fig_1.rotated(rw21_fig_1.minimiser(dataset), 1.0)
    found = rw21_fig_1.terms(dataset, theta).loss(3.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=3.0, lam=1.0)
    for i in (0, 7, 500):
        pair = NeighbouringPair.add(dataset, dataset.X[i], float(dataset.y[i]))
        assert found[i] == pytest.approx(abs(mechanism.privacy_loss(theta[None], pair)[0]), rel=1e-9)


def test_least_lambda_is_the_papers() -> None:
    for epsilon in (0.1, 1.0, 10.0):
        assert rw21_fig_2.lambda_0(epsilon) == pytest.approx(1 / (2 * epsilon), rel=1e-12)


@pytest.mark.parametrize("dim", [1, 4])
def test_bounds_of_all_records_are_those_of_one_at_a_time(dim: int) -> None:
    scales = rw21_worst_case.scales(dim)
    mechanism, dataset, releases, _ = rw21_worst_case.run(40, dim, 1.0, 0.0, np.random.default_rng(3))
    assert mechanism.lam == scales.lam
    free, released = rw21_worst_case.bounds(scales, releases, dataset)
    alone, plain = replace(scales, sigma2=None, sigma3=None), Releases(releases.theta)
    for i in range(dataset.n_records):
        x, y = dataset.X[i], float(dataset.y[i])
        assert free[i] == pytest.approx(corrected_terms(alone, plain, x, y).epsilon1_bar[0], rel=1e-12)
        assert released[i] == pytest.approx(corrected_terms(scales, releases, x, y).epsilon1_bar[0], rel=1e-12)
    assert (released <= free * (1 + 1e-12)).all()


def test_ceiling_against_an_optimiser() -> None:
    scales = rw21_worst_case.scales(2, 0.5)
    z = -float(ndtri(5e-7))

    def minus(s: float) -> float:
        return -(-math.log1p(-s * (1 - s) / scales.lam) + s**2 / (2 * scales.sigma**2) + s * z / scales.sigma)

    best = -minimize_scalar(minus, bounds=(0.0, 1.0), method="bounded", options={"xatol": 1e-12}).fun
    assert rw21_worst_case.ceiling(scales) == pytest.approx(max(best, -minus(1.0)), rel=1e-8)


@pytest.mark.parametrize(("n", "failure_prob"), [(44, 1e-9), (100, 1e-6), (9, 0.1)])
def test_order_statistics_of_the_median(n: int, failure_prob: float) -> None:
    """The interval's ends are the order statistics whose binomial tail is at most half of the failure probability."""
    low, middle, high = median_interval(np.arange(n, dtype=float), failure_prob)
    assert binom.cdf(int(low), n, 0.5) <= failure_prob / 2 < binom.cdf(int(low) + 1, n, 0.5)
    assert (low + high, middle) == (n - 1.0, (n - 1) / 2)
    with pytest.raises(ValueError, match="must be more"):
        median_interval(np.arange(3.0), 1e-9)


# --- W18 --------------------------------------------------------------------------------------------------------------


def test_minimiser_over_the_ball() -> None:
    """Inside the ball it is the perturbed ridge estimate; everywhere the same as projected gradient descent."""
    dataset, rng = small(), np.random.default_rng(4)
    noise = np.vstack([0.1 * rng.standard_normal((5, 3)), 20 * rng.standard_normal((5, 3))])
    found = ball_minimiser(dataset, 2.0, noise, 1.0)
    H, moment = dataset.X.T @ dataset.X + 2 * np.eye(3), dataset.X.T @ dataset.y
    assert found[:5] == pytest.approx(np.linalg.solve(H, (moment - noise[:5]).T).T, rel=1e-9)
    step = 1 / np.linalg.eigvalsh(H)[-1]
    for b, theta in zip(noise, found, strict=True):
        twin = np.zeros(3)
        for _ in range(2000):
            twin = twin - step * (H @ twin - moment + b)
            twin = twin / max(1.0, float(np.linalg.norm(twin)))
        assert theta == pytest.approx(twin, abs=1e-8)


def test_cross_validation_against_the_literal_loop() -> None:
    dataset = small(23, 2)
    parts = folds(23, 5, np.random.default_rng(1))
    assert np.array_equal(np.sort(np.concatenate(parts)), np.arange(23))
    errors = []
    for part in parts:
        rest = np.setdiff1d(np.arange(23), part)
        theta = np.linalg.lstsq(dataset.X[rest], dataset.y[rest], rcond=None)[0]
        errors.append(((dataset.y[part] - dataset.X[part] @ theta) ** 2).mean())
    found = cross_validated(dataset, least_squares, Target(1.0, 1e-6), parts, n_draws=1, rng=np.random.default_rng(2))
    assert found.mean == pytest.approx(np.mean(errors), rel=1e-9)
    # Student's t at 0.975 with 4 degrees of freedom is 2.776445 (tables)
    assert found.half_width == pytest.approx(2.776445 * np.std(errors, ddof=1) / math.sqrt(5), rel=1e-6)
    assert squared_errors(dataset, trivial(dataset, Target(1.0, 1e-6), 1, np.random.default_rng(0))) == pytest.approx(
        [(dataset.y**2).mean()]
    )
    with pytest.raises(ValueError, match="n_folds"):
        folds(3, 4, np.random.default_rng(0))


def test_every_method_draws_and_more_budget_helps() -> None:
    """Median error of 200 draws at epsilon = 10000 is below that at 0.05, seeded; a sanity check, not an inference."""
    dataset, rng = small(400, 2), np.random.default_rng(6)
    for name, method in TABLE_METHODS.items():
        tight, wide = (squared_errors(dataset, method(dataset, Target(e, 1e-6), 200, rng)) for e in (0.05, 1e4))
        assert np.median(wide) <= np.median(tight) * (1 + 1e-9), name


def test_public_bounds_of_the_gaussian_model_are_hardly_ever_met() -> None:
    found = w18_fig_3.errors(100, 1.0, 1, n_sets=1, n_draws=2)
    assert set(found.methods) == set(w18_fig_3.METHODS)
    from mechanisms.synthetic import linear_gaussian

    planted = linear_gaussian(1000, 10, rng=np.random.default_rng(1))
    assert np.array_equal(w18_fig_3.bounded(planted).X, planted.dataset.X)


# --- pages and statements ---------------------------------------------------------------------------------------------


def test_a_page_is_the_same_for_the_same_seed_and_can_be_set() -> None:
    first, second = (book.draw(("rw21_fig_1", 3)) for _ in range(2))
    assert first == second
    assert first != book.draw(("rw21_fig_1", 4))
    assert pdf_bytes(book.document([first], seed=3)).startswith(b"%PDF")


def test_every_module_of_the_book_exists() -> None:
    folder = Path(book.__file__).parent
    assert {f"{name}.py" for name in book.MODULES} == {path.name for path in folder.glob("*_fig_*.py")}


def test_the_command_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert cli.invoke(["figures", "-o", str(tmp_path / "none" / "figures.pdf")]) == 2
    shown = CliRunner().invoke(cli.group, ["figures", "--help"])
    assert "same seed gives the same numbers" in shown.output


def test_missing_data_are_undecided_with_their_reason() -> None:
    assert judge(data_missing("a number", "the file")) == (Outcome.UNDECIDED, Reason.DATA_MISSING)
    statement = missing_statement(
        "X",
        paper="p",
        kind="figure",
        title="t",
        locator="l",
        domain="d",
        formula=Formula("a", "a"),
        data="a file is",
        command="look",
    )
    evidence = statement.check(statement.cases[0], Budget(1, 0.1, StreamKey(1)))
    assert judge(evidence)[1] is Reason.DATA_MISSING
    assert stream(1, "a").random() == stream(1, "a").random()
