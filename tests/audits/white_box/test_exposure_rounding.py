"""The ends of exposure's intervals on ill-conditioned data, against rational linear algebra and 120 digits."""

import math
from dataclasses import replace

import numpy as np
import pytest
from oracles.audits import left_out

from audits import Budget, StreamKey
from audits.white_box.exposure import LEAST_EPSILON, ROUNDING, Exposure, RecordBounds, exposure
from mechanisms import Dataset, Direction, GaussianOutput, PosteriorSampling
from mechanisms.catalogue import example_data
from mechanisms.linear.ridge import RidgeMap
from mechanisms.records import leverage as ranges_module
from mechanisms.records.leverage import record_ranges
from mechanisms.records.record_laws import QuadraticRecordLaws, record_laws

DELTA = 1e-6
GAMMA = 2.0


def unit_rows(n: int, dim: int, seed: int = 3) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, dim))
    return Dataset(X / np.linalg.norm(X, axis=1)[:, None], rng.uniform(-1, 1, n), 1.0, 1.0)


def scaled(X: np.ndarray, seed: int = 4) -> Dataset:
    return Dataset(X, np.random.default_rng(seed).normal(size=len(X)), math.inf, math.inf)


def collinear(n: int, apart: float) -> Dataset:
    X = np.random.default_rng(5).normal(size=(n, 3))
    X[:, 2] = X[:, 0] - X[:, 1] + apart * X[:, 2]
    return scaled(X)


NORMAL = np.random.default_rng(6).normal
HARD = {
    **{f"n < d, lam={lam:g}": (unit_rows(8, 12), lam) for lam in (1e-4, 1e-6, 1e-8, 1e-10, 1e-12)},
    "X of 1e5, n < d": (scaled(1e5 * NORMAL(size=(5, 8))), 0.01),
    "columns of 1e6 to 1e-4": (scaled(NORMAL(size=(12, 6)) * np.logspace(6, -4, 6)), 0.0),
    "collinear to 1e-4": (collinear(8, 1e-4), 0.0),
    "collinear to 1e-6": (collinear(8, 1e-6), 1e-9),
    "one record more than columns": (scaled(NORMAL(size=(5, 4))), 0.0),
}
MODERATE = {"example": (example_data(), 1.0), "unit rows": (unit_rows(60, 4), 1.0)}


def metric(dim: int) -> np.ndarray:
    A = np.random.default_rng(9).integers(-2, 3, size=(dim, dim)).astype(float)
    return A @ A.T + np.eye(dim)


def seen(kind: str, dataset: Dataset, lam: float) -> Exposure:
    mechanism = PosteriorSampling(GAMMA, lam)
    if kind == "output":
        mechanism = GaussianOutput(metric(dataset.dim), GAMMA, RidgeMap(lam))
    return exposure(mechanism, dataset, Budget(1, 1e-6, StreamKey(1)), delta=DELTA)


def misses(found: Exposure, kind: str, dataset: Dataset, lam: float, records: range) -> int:
    """How many intervals of the records' three numbers lack the truth."""
    count = 0
    for i in records:
        leverage, residual, moved = left_out.fit_without(dataset, i, lam)

        def delta_at(epsilon: float, with_it: bool, parts=(leverage, residual, moved)) -> float:
            if kind == "output":
                return left_out.output_delta(parts[2], metric(dataset.dim), GAMMA, epsilon)
            return left_out.ops_delta(parts[0], parts[1], GAMMA, epsilon, with_it=with_it)

        count += not found.advantage.low[i] <= delta_at(0.0, True) <= found.advantage.high[i]
        for bounds, with_it in ((found.drawn_with, True), (found.drawn_without, False)):
            low, high = float(bounds.low[i]), float(bounds.high[i])
            count += not (low == 0 or delta_at(low, with_it) >= DELTA)
            count += not (high == math.inf or delta_at(high, with_it) <= DELTA)
    return count


def width(bounds: RecordBounds) -> float:
    return float(((bounds.high - bounds.low - 2 * LEAST_EPSILON) / bounds.value).max())


@pytest.mark.parametrize("kind", ["posterior", "output"])
@pytest.mark.parametrize("name", [*HARD, *MODERATE])
def test_every_interval_holds_the_truth_and_is_narrow(name: str, kind: str) -> None:
    dataset, lam = (HARD | MODERATE)[name]
    found = seen(kind, dataset, lam)
    assert misses(found, kind, dataset, lam, range(5)) == 0
    assert width(found.drawn_with) < 1e-8
    assert width(found.drawn_without) < 1e-8
    assert width(found.advantage) < 1e-8


@pytest.mark.parametrize("kind", ["posterior", "output"])
@pytest.mark.parametrize("name", ["n < d, lam=1e-10", "X of 1e5, n < d"])
def test_the_float_laws_with_room_for_a_root_alone_miss(name: str, kind: str) -> None:
    dataset, lam = HARD[name]
    mechanism = PosteriorSampling(GAMMA, lam)
    if kind == "output":
        mechanism = GaussianOutput(metric(dataset.dim), GAMMA, RidgeMap(lam))
    laws, found = record_laws(mechanism, dataset), seen(kind, dataset, lam)
    assert laws is not None

    def around(values: np.ndarray) -> RecordBounds:
        return RecordBounds(values, values * (1 - ROUNDING), values * (1 + ROUNDING))

    wrong = replace(
        found,
        drawn_with=around(laws.epsilon_at(DELTA, Direction.FORWARD)),
        drawn_without=around(laws.epsilon_at(DELTA, Direction.BACKWARD)),
    )
    assert misses(wrong, kind, dataset, lam, range(dataset.n_records)) > dataset.n_records


#: So ill-conditioned that without ball arithmetic nothing useful can be stated.
REFUSED = ("n < d, lam=1e-12", "X of 1e5, n < d")


@pytest.fixture
def too_many_for_balls(monkeypatch: pytest.MonkeyPatch) -> None:
    """As if there were too many records for ball arithmetic."""
    monkeypatch.setattr(ranges_module, "LITTLE_WORK", 0)
    monkeypatch.setattr(ranges_module, "BALL_WORK", 0)


@pytest.mark.parametrize("kind", ["posterior", "output"])
@pytest.mark.parametrize("name", [name for name in (*HARD, *MODERATE) if name not in REFUSED])
def test_the_bounds_from_the_condition_number_hold(name: str, kind: str, too_many_for_balls: None) -> None:
    dataset, lam = (HARD | MODERATE)[name]
    found = seen(kind, dataset, lam)
    assert misses(found, kind, dataset, lam, range(4)) == 0
    if name in MODERATE:
        assert width(found.drawn_with) < 1e-8


@pytest.mark.parametrize("kind", ["posterior", "output"])
@pytest.mark.parametrize("name", REFUSED)
def test_a_condition_beyond_all_bounds_is_refused(name: str, kind: str, too_many_for_balls: None) -> None:
    rule = r"^lam must be large enough for a condition number of X\^T X \+ lam I, columns scaled, of at most \S+ "
    with pytest.raises(ValueError, match=rule + r"with so many records, got \S+ at lam=\S+$"):
        seen(kind, *HARD[name])


@pytest.mark.parametrize("name", HARD)
def test_both_ways_to_the_ends_agree_with_rational_arithmetic(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset, lam = HARD[name]
    proved = record_ranges(dataset, lam)
    for i in range(dataset.n_records):
        leverage, residual, _ = left_out.fit_without(dataset, i, lam)
        for (low, high), truth in zip(
            (proved.leverage_out, proved.residual_out), (leverage, abs(residual)), strict=True
        ):
            assert left_out.rational(low[i]) <= truth <= left_out.rational(high[i])
            assert high[i] - low[i] <= 1e-8 * high[i]


def test_divergence_grows_with_the_leverage_and_with_the_residual() -> None:
    """At one value of residual/sqrt(1 - h) in sample, and at one leverage: why the ends of both give ends of delta."""
    leverage = np.linspace(0.001, 0.999, 400)
    for scaled_residual in (0.0, 0.1, 1.0, 10.0):
        laws = QuadraticRecordLaws(leverage / (1 - leverage), scaled_residual / np.sqrt(1 - leverage))
        fixed = QuadraticRecordLaws(np.full(400, 0.7), np.linspace(0, 5, 400))
        for epsilon in (0.0, 0.1, 1.0):
            for direction in Direction:
                for each in (laws, fixed):
                    deltas = each.delta_at(epsilon, direction)
                    assert (np.diff(deltas) >= -1e-13 * deltas[1:]).all()
