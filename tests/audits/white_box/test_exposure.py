"""Every record attacked at once: exact laws against one profile a record, sampled intervals against exact laws."""

import math
import sys
from dataclasses import dataclass, replace

import numpy as np
import pytest
from oracles.audits import exposure as literal
from oracles.audits import left_out
from oracles.false_alarm import misses_allowed
from rows import for_each

from audits import Budget, StreamKey
from audits import exposure as module_or_function
from audits.white_box import likelihood_ratio_attack
from audits.white_box.attack import rank_grid
from audits.white_box.exposure import LEAST_EPSILON, ROUNDING, Exposure, RecordBounds, exposure, sampled_exposure
from mechanisms import (
    Dataset,
    Direction,
    ExactLaw,
    GaussianOutput,
    GaussianProfile,
    LogisticLoss,
    NeighbouringPair,
    ObjectivePerturbation,
    PosteriorSampling,
)
from mechanisms.catalogue import example_data, reference_mechanisms
from mechanisms.data.dataset import DataError
from mechanisms.linear.ridge import RidgeMap
from mechanisms.records import leverage as ranges_module
from mechanisms.records.leverage import record_ranges
from mechanisms.records.record_laws import QuadraticRecordLaws, record_laws, record_losses

NUMBERS = ("advantage", "drawn_with", "drawn_without")
REFERENCE = reference_mechanisms()


def budget(n_draws: int = 2000, failure_prob: float = 1e-7, seed: int = 1) -> Budget:
    return Budget(n_draws, failure_prob, StreamKey(seed, ("test",)))


@dataclass(frozen=True)
class OwnCoordinate:
    """``X^T y`` plus normal noise; with rows on the axes each record moves a coordinate of its own.

    ``weak`` names a coordinate whose noise is divided by ``factor``, ``claimed`` whether the loss knows about it.
    """

    sigma: float
    weak: int | None = None
    factor: float = 2.0

    @property
    def name(self) -> str:
        return "own coordinate"

    def _scale(self, dim: int) -> np.ndarray:
        scale = np.full(dim, self.sigma)
        if self.weak is not None:
            scale[self.weak] /= self.factor
        return scale

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        return dataset.X.T @ dataset.y + self._scale(dataset.dim) * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs: np.ndarray, dataset: Dataset) -> np.ndarray:
        scale = self._scale(dataset.dim)
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / scale).sum(axis=1) - np.log(scale).sum()

    def privacy_loss(self, outputs: np.ndarray, pair: NeighbouringPair) -> np.ndarray:
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def exact(self, dataset: Dataset, delta: float) -> np.ndarray:
        profiles = [GaussianProfile(abs(y) / s) for y, s in zip(dataset.y, self._scale(dataset.dim), strict=True)]
        advantage = [profile.delta_at(0.0) for profile in profiles]
        epsilon = [profile.epsilon_at(delta) for profile in profiles]
        return np.array([advantage, epsilon, epsilon])


def on_axes(y: list[float]) -> Dataset:
    return Dataset(np.eye(len(y)), np.array(y), 1.0, 2.0)


def holds(found: Exposure, truth: np.ndarray) -> bool:
    bounds = [getattr(found, name) for name in NUMBERS]
    return all((b.low <= t).all() and (t <= b.high).all() for b, t in zip(bounds, truth, strict=True))


def test_the_room_exports_the_function() -> None:
    assert module_or_function is exposure


# --- exact ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [n for n, e in REFERENCE.items() if isinstance(e.mechanism, ExactLaw)])
@pytest.mark.parametrize("delta", [1e-8, pytest.param(0.01, marks=pytest.mark.slow)])
def test_exact_numbers_equal_one_profile_a_record(name: str, delta: float) -> None:
    mechanism, dataset = REFERENCE[name].mechanism, REFERENCE[name].pair.second
    found, expected = (
        exposure(mechanism, dataset, budget(), delta=delta),
        literal.exact_numbers(mechanism, dataset, delta),
    )
    for name_, row in zip(NUMBERS, expected, strict=True):
        np.testing.assert_allclose(getattr(found, name_).value, row, rtol=1e-9, atol=1e-13)
    assert holds(found, expected)
    assert (found.failure_prob, found.n_draws) == (0.0, 0)
    worse = expected[1:].max(axis=0)
    assert found.epsilon.candidates[0] == found.epsilon.ranking[0]
    assert worse[found.epsilon.ranking[0]] >= worse.max() * (1 - ROUNDING)


def test_a_mutant_law_one_in_a_million_off_is_outside_the_rounding_allowance() -> None:
    dataset = example_data()
    wrong = literal.exact_numbers(PosteriorSampling(3.0 * (1 + 1e-6), 1.0), dataset, 1e-6)
    assert not holds(exposure(PosteriorSampling(3.0, 1.0), dataset, budget(), delta=1e-6), wrong)


@for_each("mechanism", [PosteriorSampling(1.0, 0.0), GaussianOutput(np.eye(2), 1.0, RidgeMap(0.0))])
def test_a_record_that_alone_determines_a_coordinate_is_told_apart_for_sure(mechanism) -> None:
    """Without it the estimate does not exist, so the two laws have nothing in common: advantage 1, epsilon infinite."""
    dataset = Dataset(np.array([[0.5, 0.0], [0.7, 0.0], [0.0, 0.9]]), np.array([0.3, -0.2, 0.5]), 1.0, 1.0)
    found = exposure(mechanism, dataset, budget(), delta=1e-6)
    assert found.epsilon.value[2] == math.inf
    assert found.advantage.value[2] == 1.0
    assert found.epsilon.candidates.tolist() == found.advantage.candidates.tolist() == [2]
    assert np.isfinite(found.epsilon.value[:2]).all()


def test_equally_exposed_records_are_all_candidates() -> None:
    dataset = Dataset(np.tile([[0.6, 0.1]], (5, 1)), np.full(5, 0.4), 1.0, 1.0)
    found = exposure(PosteriorSampling(1.0, 1.0), dataset, budget(), delta=1e-6)
    assert sorted(found.epsilon.candidates.tolist()) == [0, 1, 2, 3, 4]


def test_target_inside_and_outside_the_data_in_both_directions() -> None:
    """Removing a record, and adding it to the others, are one pair with its members swapped.

    Random part: the attack's lower bound is at most the exact epsilon for a target inside and one outside; its level is
    the audits' own 1e-7, 4000 draws each.
    """
    mechanism, dataset, delta = PosteriorSampling(3.0, 1.0), example_data(), 1e-3
    found = exposure(mechanism, dataset, budget(), delta=delta)
    index = int(found.epsilon.ranking[0])
    inside = NeighbouringPair.remove(dataset, index)
    outside = NeighbouringPair.add(dataset.without_record(index), dataset.X[index], float(dataset.y[index]))
    for with_it, without_it, pair in (
        (Direction.FORWARD, Direction.BACKWARD, inside),
        (Direction.BACKWARD, Direction.FORWARD, outside),
    ):
        profile = mechanism.profile(pair)
        assert found.drawn_with.value[index] == pytest.approx(profile.epsilon_at(delta, with_it), rel=1e-9)
        assert found.drawn_without.value[index] == pytest.approx(profile.epsilon_at(delta, without_it), rel=1e-9)
    assert found.drawn_with.value[index] != pytest.approx(found.drawn_without.value[index], rel=1e-3)
    new = NeighbouringPair.add(dataset, [0.8, -0.5], -0.9)
    for pair in (inside, new):
        audit, profile = likelihood_ratio_attack(mechanism, pair, budget(4000)), mechanism.profile(pair)
        truth = max(profile.epsilon_at(delta, d) for d in Direction)
        assert audit.epsilon_lower(delta).low <= truth
        assert audit.advantage.low <= profile.delta_at(0.0, Direction.FORWARD) <= audit.advantage.high


# --- losses of all records at the same draws --------------------------------------------------------------------------


@pytest.mark.parametrize("name", REFERENCE)
def test_losses_of_all_records_equal_one_pair_at_a_time(name: str) -> None:
    mechanism, dataset = REFERENCE[name].mechanism, REFERENCE[name].pair.second
    outputs = mechanism.draw(dataset, 9, rng=np.random.default_rng(3))
    expected = literal.losses(mechanism, outputs, dataset)
    np.testing.assert_allclose(
        record_losses(mechanism, outputs, dataset, range(dataset.n_records)), expected, rtol=1e-10, atol=1e-12
    )
    np.testing.assert_allclose(
        record_losses(mechanism, outputs, dataset, range(5, 8)), expected[:, 5:8], rtol=1e-10, atol=1e-12
    )


def test_a_leverage_near_one_does_not_cancel() -> None:
    dataset = Dataset(np.array([[0.5, 0.0], [0.7, 0.0], [0.0, 0.9]]), np.array([1.0, -1.0, 1.0]), 1.0, 1.0)
    mechanism = ObjectivePerturbation(LogisticLoss(), 1.0, 1e-9)
    outputs = np.random.default_rng(4).normal(size=(6, 2))
    expected = literal.losses(mechanism, outputs, dataset)
    np.testing.assert_allclose(record_losses(mechanism, outputs, dataset, range(3)), expected, rtol=1e-9)


# --- sampled ----------------------------------------------------------------------------------------------------------


@for_each("delta", [0.02, 0.05, 0.3])
def test_sampled_numbers_equal_their_literal_twins(delta: float) -> None:
    mechanism, dataset, n = OwnCoordinate(1.0), on_axes([1.0, -2.0]), 60
    found = sampled_exposure(mechanism, dataset, budget(n, 0.1), delta=delta)
    outputs = mechanism.draw(dataset, n, rng=budget().key.child("exposure").rng())
    for i, column in enumerate(literal.losses(mechanism, outputs, dataset).T):
        expected = literal.sampled_numbers(column, rank_grid(n).tolist(), 0.05, delta)
        bounds = [getattr(found, name) for name in NUMBERS]
        seen = [end[i] for b in bounds for end in (b.value, b.low, b.high)][:8]
        np.testing.assert_allclose(seen, expected, rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("delta", [0.01, 0.1])
def test_intervals_hold_the_exact_numbers(delta: float) -> None:
    """Null: all intervals of all records hold. Level 1e-7, 2e4 draws; one-posterior sampling, 30 records."""
    mechanism, dataset = PosteriorSampling(20.0, 1.0), example_data()
    found = sampled_exposure(mechanism, dataset, budget(20_000), delta=delta)
    truth = literal.exact_numbers(mechanism, dataset, delta)
    assert holds(found, truth)
    top = int(truth[1].argmax())
    assert top in found.drawn_with.candidates
    assert found.drawn_with.candidates.size < dataset.n_records
    assert found.drawn_with.high[top] < 2 * truth[1, top]
    assert found.drawn_without.low[top] > 0
    assert (found.drawn_without.high == math.inf).all()
    assert (found.failure_prob, found.n_draws) == (1e-7, 20_000)


def test_delta_zero_asks_for_the_largest_loss() -> None:
    mechanism, dataset = OwnCoordinate(1.0), on_axes([1.0, -2.0])
    found = sampled_exposure(mechanism, dataset, budget(60, 0.1), delta=0.0)
    outputs = mechanism.draw(dataset, 60, rng=budget().key.child("exposure").rng())
    largest = literal.losses(mechanism, outputs, dataset).max(axis=0)
    np.testing.assert_allclose(found.drawn_with.value, largest, rtol=1e-12)
    assert (found.drawn_with.high == math.inf).all()


def test_infinite_losses_and_atoms() -> None:
    """A loss of +inf for some outputs: its probability counts whole, and epsilon is infinite below it."""

    @dataclass(frozen=True)
    class Telltale(OwnCoordinate):
        def privacy_loss(self, outputs, pair):
            loss = super().privacy_loss(outputs, pair)
            return np.where(outputs[:, 0] > 1.0, math.inf, np.zeros_like(loss))

    found = sampled_exposure(Telltale(1.0), on_axes([1.0]), budget(5000), delta=0.1)  # P(inf) = 1/2
    assert found.advantage.low[0] <= 0.5 <= found.advantage.high[0] < 0.6
    assert found.drawn_with.value[0] == found.drawn_with.high[0] == math.inf
    assert found.drawn_with.low[0] > 100


REPEATS = 200


def count_misses(n_records: int) -> int:
    mechanism, dataset = OwnCoordinate(1.0), on_axes([1.0] * n_records)
    truth = mechanism.exact(dataset, 0.2)
    return sum(
        not holds(sampled_exposure(mechanism, dataset, budget(150, 0.2, seed), delta=0.2), truth)
        for seed in range(REPEATS)
    )


def test_intervals_of_all_records_hold_at_once() -> None:
    """Null: some interval of some record misses with probability at most 0.2. Level 1e-7, 200 audits, 30 records."""
    assert count_misses(30) <= misses_allowed(REPEATS, 0.2)


def test_the_same_count_catches_an_auditor_that_forgets_to_split(monkeypatch: pytest.MonkeyPatch) -> None:
    # mutant: every record is given nearly the whole
    monkeypatch.setattr(sys.modules["audits.white_box.exposure"], "even_share", lambda failure_prob, n: 0.99)
    assert count_misses(30) > misses_allowed(REPEATS, 0.2)


def test_the_most_exposed_record_is_among_the_candidates() -> None:
    """Null: the candidates lack the most exposed record with probability at most 0.2. Level 1e-7, 100 audits."""
    dataset, misses = on_axes([1.0, 1.05, 0.9, 1.1, 1.0, 0.5]), 0
    for seed in range(100):
        found = sampled_exposure(OwnCoordinate(1.0), dataset, budget(300, 0.2, seed), delta=0.2)
        misses += 3 not in found.advantage.candidates or 3 not in found.drawn_with.candidates
    assert misses <= misses_allowed(100, 0.2)


def test_a_mutant_that_protects_one_record_less_is_singled_out() -> None:
    """Half the noise on the coordinate of record 4: it is the only candidate, by every number. 5000 draws."""
    dataset = on_axes([1.0] * 8)
    sound = sampled_exposure(OwnCoordinate(1.0), dataset, budget(5000), delta=0.05)
    assert sound.advantage.candidates.size == 8
    broken = sampled_exposure(OwnCoordinate(1.0, weak=4), dataset, budget(5000), delta=0.05)
    assert broken.advantage.candidates.tolist() == broken.drawn_with.candidates.tolist() == [4]
    assert broken.drawn_without.ranking[0] == 4


def test_objective_perturbation_is_ranked_from_draws() -> None:
    """A record at five times the norm of the others is the only candidate."""
    data = example_data(40, kind="labels")
    X = 0.2 * data.X
    X[11] = [0.7, -0.7]
    dataset = replace(data, X=X)
    found = exposure(ObjectivePerturbation(LogisticLoss(), 1.0, 1.0), dataset, budget(3000), delta=0.02)
    assert found.advantage.candidates.tolist() == [11]
    assert found.n_draws == 3000


def test_blocks_change_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    mechanism, dataset = PosteriorSampling(20.0, 1.0), example_data()
    whole = sampled_exposure(mechanism, dataset, budget(500), delta=0.1)
    monkeypatch.setattr(sys.modules["audits.white_box.exposure"], "BLOCK_FLOATS", 3500)
    again = sampled_exposure(mechanism, dataset, budget(500), delta=0.1)
    for name in NUMBERS:
        np.testing.assert_array_equal(getattr(whole, name).low, getattr(again, name).low)
        np.testing.assert_array_equal(getattr(whole, name).high, getattr(again, name).high)


def test_what_cannot_be_ranked_is_refused() -> None:
    empty = Dataset(np.empty((0, 2)), np.empty(0), 1.0, 1.0)
    with pytest.raises(DataError, match="n_records must be at least 1"):
        exposure(PosteriorSampling(1.0, 1.0), empty, budget(), delta=0.1)
    with pytest.raises(ValueError, match="delta must be in"):
        exposure(PosteriorSampling(1.0, 1.0), example_data(), budget(), delta=1.5)

    class Draws:
        name = "draws alone"

        def draw(self, dataset, n_draws, *, rng):
            return np.zeros((n_draws, 1))

    with pytest.raises(TypeError, match="mechanism must have an exact law or a privacy_loss"):
        exposure(Draws(), example_data(), budget(), delta=0.1)

    @dataclass(frozen=True)
    class Broken(OwnCoordinate):
        def privacy_loss(self, outputs, pair):
            return np.full(len(outputs), math.nan)

    with pytest.raises(ValueError, match="must be a number at every output"):
        sampled_exposure(Broken(1.0), on_axes([1.0]), budget(10), delta=0.1)


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
@for_each("name", [*HARD, *MODERATE])
def test_every_interval_holds_the_truth_and_is_narrow(name: str, kind: str) -> None:
    dataset, lam = (HARD | MODERATE)[name]
    found = seen(kind, dataset, lam)
    assert misses(found, kind, dataset, lam, range(5)) == 0
    assert width(found.drawn_with) < 1e-8
    assert width(found.drawn_without) < 1e-8
    assert width(found.advantage) < 1e-8


@for_each("kind", ["posterior", "output"])
@for_each("name", ["n < d, lam=1e-10", "X of 1e5, n < d"])
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
