"""An examination that searches: mistakes that no fixed list shows are refuted, and what is honest is not."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy.special import ndtr

from audits import Budget, StreamKey
from audits.black_box.claims import point_claim
from audits.examination.examine_choose import PairValue, places, searched
from audits.examination.examined_claim import examine
from audits.harness.guarded_subject import Subject
from audits.search.design_search import PairSearch
from audits.search.pairs import PublicDomain, examination_pairs
from audits.search.worst_case import NamedPair
from audits.verdict import Decision
from mechanisms import Dataset, GaussianProfile, NeighbouringPair, Relation

DOMAIN = PublicDomain(2, 1.0, 1.0)
CLAIM = point_claim(1.0, 1e-6)
PAIRS = examination_pairs(DOMAIN, Relation.ADD, count=24)
QUICK = PairSearch(DOMAIN, Relation.ADD, units=400, winners=3, n_draws=24)


class Moment:
    """The sum of x*y with normal noise of 5: mu = .2, delta(1) = 2e-8. Each mistake below has another centre."""

    name = "moment"
    sigma = 5.0

    def centre(self, data: Dataset) -> Any:
        return data.X.T @ data.y

    def scale(self, data: Dataset) -> float:
        return self.sigma

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        centre = np.atleast_1d(self.centre(dataset))
        return centre + self.scale(dataset) * rng.standard_normal((n_draws, centre.size))

    def log_density(self, outputs: Any, dataset: Dataset) -> Any:
        scale = self.scale(dataset)
        squares = np.square((outputs - self.centre(dataset)) / scale).sum(axis=1)
        return -0.5 * squares - outputs.shape[1] * math.log(scale)

    def worst_profile(self, x_bound: float, y_bound: float) -> GaussianProfile:
        return GaussianProfile(0.2)


class Ridge(Moment):
    """Coefficients at lambda 1, which are said to move by at most x_bound*y_bound/lambda = 1."""

    def centre(self, data: Dataset) -> Any:
        return np.linalg.solve(data.X.T @ data.X + np.eye(data.dim), data.X.T @ data.y)


class Typed(Moment):
    """Whole statistic where every response is a label, half of it otherwise: the type is read off the data."""

    def centre(self, data: Dataset) -> Any:
        labels = data.n_records >= 4 and bool(np.isin(data.y, (-1, 1)).all())
        return data.X.T @ data.y * (1.0 if labels else 0.5)


class Blocks(Moment):
    """The average of the medians of five blocks by place, which is said to move by at most 2/5."""

    sigma = 2.0

    def centre(self, data: Dataset) -> Any:
        if data.n_records < 15:
            return np.zeros(1)
        return np.array([np.mean([np.median(block) for block in np.array_split(data.y, 5)])])


class Leverage(Moment):
    """Records of leverage above .9 are dropped first."""

    def centre(self, data: Dataset) -> Any:
        X, y = data.X, data.y
        if data.n_records >= 8:
            kept = np.einsum("ij,jk,ik->i", X, np.linalg.pinv(X.T @ X), X) <= 0.9
            X, y = X[kept], y[kept]
        return X.T @ y


class SmallCount(Moment):
    """Positive responses, counted in eight bits."""

    def centre(self, data: Dataset) -> Any:
        return np.array([float((data.y > 0).sum() % 256)])


class Large(Moment):
    """A tenth of the noise from 2,000 records on."""

    def scale(self, data: Dataset) -> float:
        return 0.5 if data.n_records >= 2_000 else 5.0


class Batches(Moment):
    """The sum of the means of batches of 32, each times 32: the last one is short."""

    def centre(self, data: Dataset) -> Any:
        rows = data.X * data.y[:, None]
        return sum((rows[i : i + 32].mean(axis=0) * 32 for i in range(0, data.n_records, 32)), np.zeros(data.dim))


class Trimmed(Moment):
    """Responses beyond two standard deviations are left out."""

    def centre(self, data: Dataset) -> Any:
        kept = np.abs(data.y - data.y.mean()) <= 2 * data.y.std() if data.n_records >= 5 else data.y <= 1
        return data.X[kept].T @ data.y[kept]


MISTAKES = (Ridge, Typed, Blocks, Leverage, SmallCount, Large, Batches, Trimmed)


def true_delta(mechanism: Moment, pair: Any, epsilon: float = 1.0) -> float:
    """Delta of two normal laws of one scale, exactly; of two scales, of an event: near the centre of the narrow one."""
    first, second = (np.atleast_1d(mechanism.centre(each)) for each in (pair.first, pair.second))
    narrow, wide = sorted((mechanism.scale(pair.first), mechanism.scale(pair.second)))
    if narrow < wide:
        return float(2 * ndtr(3) - 1 - math.exp(epsilon) * (2 * ndtr(3 * narrow / wide) - 1))
    mu = float(np.linalg.norm(first - second)) / mechanism.scale(pair.first)
    if mu == 0:
        return 0.0
    return float(ndtr(mu / 2 - epsilon / mu) - math.exp(epsilon) * ndtr(-mu / 2 - epsilon / mu))


def budget(n_draws: int = 8_000, seed: int = 1) -> Budget:
    return Budget(n_draws, 1e-4, StreamKey(seed))


@pytest.mark.parametrize("kind", MISTAKES)
def test_the_search_finds_a_pair_that_breaks_the_claim_and_the_fixed_list_does_not(kind: type[Moment]) -> None:
    """In the standard profile; how bad the pair is, is known exactly."""
    mechanism = kind()
    first = searched(Subject(mechanism), PairSearch(DOMAIN, Relation.ADD), CLAIM, budget(), [])[0]
    assert true_delta(mechanism, first.pair) > 1e-3
    if kind in (Ridge, Typed, Leverage, SmallCount, Large):  # on these the list is blind
        assert max(true_delta(mechanism, named.pair) for named in PAIRS[:16]) < 1e-6


@pytest.mark.parametrize("kind", [Typed, SmallCount, Large, Batches])
def test_what_the_quick_search_finds_is_refuted_on_fresh_draws(kind: type[Moment]) -> None:
    found = examine(kind(), PAIRS, CLAIM, budget(), wanted=4, search=QUICK)
    assert found.ruling().decision is Decision.FAIL
    assert found.pairs[0].name.startswith("found by a search: ")
    assert any(pair is found.pairs[0] for pair, _ in found.refutations)


def test_a_small_violation_needs_more_draws() -> None:
    """mu = .4: delta(1) = 1.3e-3, some 200 of 20,000 draws of either law have a loss above 1."""
    found = examine(Leverage(), PAIRS, CLAIM, budget(40_000), wanted=2, search=QUICK)
    assert found.ruling().decision is Decision.FAIL


def test_an_honest_mechanism_is_not_refuted_and_its_largest_delta_is_what_the_search_finds() -> None:
    """Level 1e-4 for everything together."""
    found = examine(Moment(), PAIRS, CLAIM, budget(), wanted=4, search=QUICK)
    assert not found.refutations
    assert found.missing == ""
    names = [pair.name for pair in found.pairs]
    assert [name.startswith("found") for name in names] == [True] * 3 + [False] * 3  # 4 and 2 places
    worst = searched(Subject(Moment()), QUICK, CLAIM, budget(), [])
    assert max(true_delta(Moment(), named.pair) for named in worst) == pytest.approx(1.85e-8, rel=0.2)  # mu within 1 %


def test_places_are_fixed_before_anything_is_found() -> None:
    assert (places(None), places(QUICK), places(PairSearch(DOMAIN, Relation.ADD))) == (1, 2, 2)

    class Refusing(Moment):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            raise ValueError("no")

    chosen = list(PAIRS[:4])
    assert searched(Subject(Refusing()), QUICK, CLAIM, budget(), chosen) == chosen
    assert len(searched(Subject(Moment()), QUICK, CLAIM, budget(), chosen)) == 4 + 2
    assert searched(Subject(Moment()), None, CLAIM, budget(), chosen) == chosen


def test_the_same_seed_finds_the_same_pairs() -> None:
    one, again = (searched(Subject(Trimmed()), QUICK, CLAIM, budget(seed=3), []) for _ in range(2))
    assert [named.name for named in one] == [named.name for named in again]


# --- the value of a pair ----------------------------------------------------------------------------------------------


def value(mechanism: Any, pair: Any, n_draws: int = 4_000, **more: Any) -> float:
    return PairValue(Subject(mechanism), CLAIM, n_draws, StreamKey(1), **more)(NamedPair("pair", pair))


def pair_of(x: float, n: int = 3) -> NeighbouringPair:
    rows = np.tile([0.5, 0.0], (n, 1))
    return NeighbouringPair.add(Dataset(rows, np.ones(n), 1.0, 1.0, public=True), [x, 0.0], 1.0)


@pytest.mark.parametrize("sigma", [0.2, 0.5, 1.0, 3.0])
def test_the_value_is_the_sum_of_deltas(sigma: float) -> None:
    """Of 4,000 draws of each law: every term is a mean of numbers in [0, 2], so six of its errors are below .1."""

    class Sized(Moment):
        pass

    Sized.sigma = sigma
    expected = sum(true_delta(Sized(), pair_of(1.0), epsilon) for epsilon in (0.0, 0.25, 0.5, 1.0))
    assert value(Sized(), pair_of(1.0)) == pytest.approx(expected, abs=0.1)

    class Profiled(Sized):
        def profile(self, pair: NeighbouringPair) -> GaussianProfile:
            return GaussianProfile(1.0 / sigma)

        log_density = None

    assert value(Profiled(), pair_of(1.0), 40) >= expected * (1 - 1e-9)
    if sigma >= 1:  # the draws are not far apart: nothing but the profile speaks
        assert value(Profiled(), pair_of(1.0), 400) == pytest.approx(expected, rel=1e-6)


def test_pairs_that_are_equally_bad_have_equal_values() -> None:
    assert value(Moment(), pair_of(1.0, 3), 24) == pytest.approx(value(Moment(), pair_of(1.0, 300), 24), rel=1e-9)


def test_a_refusal_of_one_side_is_infinite_and_of_both_is_nothing() -> None:
    class Refusing(Moment):
        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            if dataset.n_records <= 3:
                raise ValueError("too few")
            return super().draw(dataset, n_draws, rng=rng)

    assert value(Refusing(), pair_of(1.0, 3), 24) == math.inf
    assert value(Refusing(), pair_of(1.0, 2), 24) == 0.0
    assert value(Refusing(), pair_of(0.0, 4), 24) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.quick
def test_without_a_density_the_draws_speak() -> None:
    class Counts:
        name = "counts"

        def __init__(self, noise: float) -> None:
            self.noise = noise

        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            return [{"n": dataset.n_records + self.noise * rng.standard_normal()} for _ in range(n_draws)]

    assert value(Counts(0.0), pair_of(1.0), 24) == 4.0  # one value on each side, another one: 1 for each epsilon
    assert value(Counts(0.1), pair_of(1.0), 24, one_by_one=True) == pytest.approx(4.0)
    assert 0 < value(Counts(100.0), pair_of(1.0), 400) < 0.6


def test_a_density_that_is_silent_or_raises_does_not_hide_draws_that_lie_apart() -> None:
    class Silent(Moment):
        sigma = 0.1

        def log_density(self, outputs: Any, dataset: Dataset) -> Any:
            return np.zeros(len(outputs))

    class Raising(Silent):
        def log_density(self, outputs: Any, dataset: Dataset) -> Any:
            raise RuntimeError("no law")

    class Nowhere(Silent):
        def log_density(self, outputs: Any, dataset: Dataset) -> Any:
            return np.full(len(outputs), -np.inf)

    for kind in (Silent, Raising, Nowhere):
        assert value(kind(), pair_of(1.0), 24) > 3.0
        assert value(kind(), pair_of(0.0), 24) == pytest.approx(0.0, abs=1e-12)


def test_a_rounding_that_depends_on_the_number_of_records_counts_beside_a_density() -> None:
    class Rounded(Moment):
        sigma = 3.0

        def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
            return np.round(super().draw(dataset, n_draws, rng=rng), len(str(dataset.n_records)))

    assert value(Rounded(), pair_of(1.0, 9), 400) > 2
    assert value(Rounded(), pair_of(1.0, 8), 400) < 1
