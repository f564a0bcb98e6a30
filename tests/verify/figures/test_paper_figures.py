"""The numbers behind the papers' figures, against literal twins and hand computation; the page and the command."""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner

from mechanisms import Dataset, NeighbouringPair
from mechanisms.data.dataset import FloatArray
from mechanisms.linear.ridge import RidgeMap
from mechanisms.objective.ball_perturbation import ball_minimiser
from reports.document import pdf_bytes
from verify import cli
from verify.figures import figure_page as book
from verify.figures.figure_page import stream
from verify.figures.regression_methods import (
    TABLE_METHODS,
    Wanted,
    cross_validated,
    folds,
    least_squares,
    minimum_norm,
    misclassified,
    squared_errors,
    trivial,
)
from verify.kernel.evidence import data_missing
from verify.kernel.verdict import Outcome, Reason, judge
from verify.papers.wang2018.figures import w18_fig_3
from verify.papers.wang2019.figures import w19_fig_1, w19_fig_2


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
    found = cross_validated(dataset, least_squares, Wanted(1.0, 1e-6), parts, n_draws=1, rng=np.random.default_rng(2))
    assert found.mean == pytest.approx(np.mean(errors), rel=1e-9)
    # Student's t at 0.975 with 4 degrees of freedom is 2.776445 (tables)
    assert found.half_width == pytest.approx(2.776445 * np.std(errors, ddof=1) / math.sqrt(5), rel=1e-6)
    assert squared_errors(dataset, trivial(dataset, Wanted(1.0, 1e-6), 1, np.random.default_rng(0))) == pytest.approx(
        [(dataset.y**2).mean()]
    )
    with pytest.raises(ValueError, match="n_folds"):
        folds(3, 4, np.random.default_rng(0))


def test_the_non_private_line_is_sensible_on_nearly_collinear_columns() -> None:
    """The last two columns differ in one record by 1e-4 and elsewhere by 1e-9: the plain solution explodes there."""
    rng, n = np.random.default_rng(8), 60
    X = rng.uniform(-0.5, 0.5, (n, 3))
    X[:, 2] = X[:, 1] + 1e-9 * rng.standard_normal(n)
    X[0, 2] += 1e-4
    y = np.clip(0.8 * X[:, 0] + 0.1 * rng.standard_normal(n), -1, 1)
    y[0] = 1.0
    dataset, parts = Dataset(X, y, 1.0, 1.0), folds(n, 5, rng)
    mended = cross_validated(dataset, least_squares, Wanted(1.0, 1e-6), parts, n_draws=1, rng=rng)

    def plain(data: Dataset, *_: object) -> FloatArray:
        return np.asarray(np.linalg.lstsq(data.X, data.y, rcond=None)[0][None], dtype=np.float64)

    exploded = cross_validated(dataset, plain, Wanted(1.0, 1e-6), parts, n_draws=1, rng=rng)
    assert mended.mean < (y**2).mean() < exploded.mean
    small_ridge = np.linalg.solve(X.T @ X + 1e-6 * np.eye(3), X.T @ y)
    assert minimum_norm(dataset)[0] == pytest.approx(small_ridge[0], abs=0.02)
    whole = small(40)
    assert minimum_norm(whole) == pytest.approx(np.linalg.lstsq(whole.X, whole.y, rcond=None)[0], rel=1e-12)
    assert minimum_norm(Dataset(np.zeros((4, 2)), np.ones(4), 1.0, 1.0)).tolist() == [0.0, 0.0]


def test_misclassified_counts_by_hand() -> None:
    """Predictions 1, -1, 0 of labels 1, 1, -1: right, wrong and half a mistake."""
    dataset = Dataset(np.array([[1.0], [-1.0], [0.0]]), np.array([1.0, 1.0, -1.0]), 1.0, 1.0)
    assert misclassified(dataset, np.array([[1.0], [-1.0], [0.0]])) == pytest.approx([0.5, 0.5, 0.5])
    assert misclassified(dataset, np.array([[2.0]])) == pytest.approx([(0 + 1 + 0.5) / 3])


def test_every_method_draws_and_more_budget_helps() -> None:
    """Median error of 200 draws at epsilon = 10000 is below that at 0.05, seeded; a sanity check, not an inference."""
    dataset, rng = small(400, 2), np.random.default_rng(6)
    for name, method in TABLE_METHODS.items():
        tight, wide = (squared_errors(dataset, method(dataset, Wanted(e, 1e-6), 200, rng)) for e in (0.05, 1e4))
        assert np.median(wide) <= np.median(tight) * (1 + 1e-9), name


def test_public_bounds_of_the_gaussian_model_are_hardly_ever_met() -> None:
    found = w18_fig_3.errors(100, 1.0, 1, n_sets=1, n_draws=2)
    assert set(found.methods) == set(w18_fig_3.METHODS)
    from mechanisms.data.synthetic import linear_gaussian

    planted = linear_gaussian(1000, 10, rng=np.random.default_rng(1))
    assert np.array_equal(w18_fig_3.bounded(planted).X, planted.dataset.X)


# --- pages and statements ---------------------------------------------------------------------------------------------


def test_a_page_is_the_same_for_the_same_seed_and_can_be_set() -> None:
    first, second = (book.draw(("papers.redberg_wang2021.figures.rw21_fig_1", 3)) for _ in range(2))
    assert first == second
    assert first != book.draw(("papers.redberg_wang2021.figures.rw21_fig_1", 4))
    assert pdf_bytes(book.document([first], seed=3)).startswith(b"%PDF")


def test_every_module_of_the_book_exists() -> None:
    papers = Path(book.__file__).parents[1] / "papers"
    pages = {f"{name.rpartition('.')[2]}.py" for name in book.MODULES}
    assert pages == {path.name for path in papers.glob("*/figures/*_fig_*.py")}


def test_the_command_refuses_a_folder_that_is_not_there(tmp_path: Path) -> None:
    assert cli.invoke(["figures", "-o", str(tmp_path / "none" / "figures.pdf")]) == 2
    shown = CliRunner().invoke(cli.group, ["figures", "--help"])
    assert "same seed gives the same numbers" in shown.output


def test_missing_data_are_undecided_with_their_reason() -> None:
    assert judge(data_missing("a number", "the file")) == (Outcome.UNDECIDED, Reason.DATA_MISSING)
    assert stream(1, "a").random() == stream(1, "a").random()
