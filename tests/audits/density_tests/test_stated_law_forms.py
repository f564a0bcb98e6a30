"""Outputs that differ in form, or are texts and frames, against a stated law: true ones vouch, false ones never do."""

from __future__ import annotations

import json
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from oracles.toy_mechanisms import toy_pair
from rows import for_each
from scipy.stats import laplace, norm

from audits import Budget, StreamKey
from audits.density_tests.stated_law import LawAudit, audit_law, audit_loss, n_learning
from audits.density_tests.stated_law_columns import MOST_READ, columns_read
from audits.density_tests.stated_law_masses import Places
from audits.density_tests.stated_law_moves import Exchange, Permutation, Refill, Together, Whole
from audits.examination.recorded import Recorded
from audits.harness.open_subject import subject_of
from mechanisms import Dataset, NeighbouringPair

LEVEL, DRAWS = 1e-6, 4_000
LENGTHS = np.array([0.1, 0.4, 0.3, 0.2])


@dataclass(frozen=True)
class Ragged:
    """A list of up to three normal numbers; the statement may err in the mass, or the scale, of one length."""

    length: int = 2
    mass: float = 1.0
    scale: float = 1.0
    form: str = "list"
    name = "ragged"

    def pack(self, values: list[float]) -> Any:
        named = {f"x{j}": value for j, value in enumerate(values)}
        return {"list": values, "pairs": [[j, v] for j, v in enumerate(values)], "dict": named}[self.form]

    def draw(self, dataset, n_draws, *, rng):
        lengths = rng.choice(4, size=n_draws, p=LENGTHS)
        return [self.pack(rng.normal(size=k).tolist()) for k in lengths]

    def log_density(self, outputs, dataset):
        found = []
        for output in outputs:
            values = {"list": list, "pairs": lambda o: [v for _, v in o], "dict": lambda o: list(o.values())}
            numbers = np.array(values[self.form](output))
            off = len(numbers) == self.length
            scale, mass = (self.scale, self.mass) if off else (1.0, 1.0)
            logs = -0.5 * (numbers / scale) ** 2 - math.log(scale * math.sqrt(2 * math.pi))
            found.append(math.log(LENGTHS[len(numbers)] * mass) + logs.sum())
        return np.array(found)


@dataclass(frozen=True)
class Letters:
    """One of five letters; the statement may err in the mass of the last one."""

    mass: float = 1.0
    name = "letters"

    def draw(self, dataset, n_draws, *, rng):
        return ["abcde"[j] for j in rng.choice(5, size=n_draws, p=[0.4, 0.3, 0.15, 0.1, 0.05])]

    def log_density(self, outputs, dataset):
        masses = dict(zip("abcde", (0.4, 0.3, 0.15, 0.1, 0.05 * self.mass), strict=True))
        return np.log([masses[output] for output in outputs])


@dataclass(frozen=True)
class Printed:
    """A Laplace number, rounded and clamped to [-3, 3], in a text; the statement may err in the scale, or at an end."""

    form: str = "text"
    scale: float = 1.0
    end: float = 1.0
    name = "printed"

    def draw(self, dataset, n_draws, *, rng):
        values = np.clip(np.round(rng.laplace(size=n_draws), 2), -3, 3) + 0.0
        shapes = {"text": lambda v: f"answer: {v:.2f}", "json": lambda v: json.dumps({"sum": v, "unit": "responses"})}
        return [shapes[self.form](float(v)) for v in values]

    def log_density(self, outputs, dataset):
        reads = {"text": lambda o: float(o.removeprefix("answer: ")), "json": lambda o: json.loads(o)["sum"]}
        values = np.abs([reads[self.form](output) for output in outputs])
        law = laplace(scale=self.scale)
        inside = law.sf(values - 0.005) - law.sf(values + 0.005)
        masses = np.where(values == 3, law.sf(2.995) * self.end, np.where(values < 3, inside, 0.0))
        on_grid = np.abs(100 * values - np.rint(100 * values)) < 1e-9
        with np.errstate(divide="ignore"):
            return np.log(np.where(on_grid, masses, 0.0))


@dataclass(frozen=True)
class Frame:
    """A normal number and its name in a data frame; the statement may err in the scale."""

    scale: float = 1.0
    name = "frame"

    def draw(self, dataset, n_draws, *, rng):
        return [pd.DataFrame({"of": ["sum"], "value": [v]}) for v in rng.normal(size=n_draws).tolist()]

    def log_density(self, outputs, dataset):
        return norm.logpdf([output["value"].iloc[0] for output in outputs], scale=self.scale)


@dataclass(frozen=True)
class Sometimes:
    """A normal number, or nothing where it is below 0; the statement may err in the mass of nothing."""

    mass: float = 1.0
    unique: float = 0.0
    name = "sometimes"

    def draw(self, dataset, n_draws, *, rng):
        values = [None if v < 0 else v for v in rng.normal(size=n_draws).tolist()]
        return [rng.bytes(6) if rng.random() < self.unique else v for v in values]

    def log_density(self, outputs, dataset):
        numbers = np.array([o if isinstance(o, float) else np.nan for o in outputs])
        return np.where(np.isnan(numbers), math.log(0.5 * self.mass), norm.logpdf(numbers))


def recorded_of(mechanism: Any, n_draws: int) -> Recorded:
    """Draws as an examination makes them."""
    pair, key = toy_pair(), StreamKey(1, (mechanism.name,))
    source = subject_of(mechanism).encoded(pair.first, pair.second, key.child("pilot"))
    assert source.plain
    return Recorded(source, pair, n_draws, key.child("sample"))


def audited(mechanism: Any, n_draws: int = DRAWS) -> LawAudit:
    """The test of the law on one data set."""
    n_draws = 500 if isinstance(mechanism, Frame) else n_draws
    recorded = recorded_of(mechanism, n_draws)
    assert not recorded.symbols
    return audit_law(recorded.view(mechanism), recorded.pair.first, Budget(n_draws, LEVEL, StreamKey(1)))


HONEST = [
    *(Ragged(form=form) for form in ("list", "pairs", "dict")),
    Letters(),
    *(Printed(form) for form in ("text", "json")),
    Frame(),
    Sometimes(),
]
BROKEN = [
    *(Ragged(form=form, mass=1.3) for form in ("list", "pairs")),
    Ragged(length=0, mass=1.6),
    *(Ragged(form=form, length=3, scale=1.3) for form in ("list", "dict")),
    Ragged(length=1, scale=0.75),
    Letters(mass=1.6),
    *(Printed(form, scale=1.25) for form in ("text", "json")),
    Frame(scale=2.0),
    Sometimes(mass=1.3),
]


@pytest.mark.parametrize("mechanism", HONEST, ids=repr)
def test_a_true_law_vouches(mechanism: Any) -> None:
    """Null: the law is true; refuted with 1e-6 at most, at 4,000 draws, or 500 frames."""
    audit = audited(mechanism)
    assert not audit.refuted
    assert not audit.untold
    assert audit.examined > 0.9


@pytest.mark.parametrize("mechanism", BROKEN, ids=repr)
def test_a_false_law_is_refuted(mechanism: Any) -> None:
    """The same draws and level; every statement is off by a factor, somewhere or everywhere."""
    assert audited(mechanism).refuted


@pytest.mark.parametrize("form", ["text", "json"])
def test_a_law_that_is_false_at_the_ends_of_a_grid_vouches_for_nothing(form: str) -> None:
    """A printed number may stand for its cell, so that nobody is accused."""
    audit = audited(Printed(form, end=3.0))
    assert audit.refuted or audit.untold


def test_a_law_with_forms_that_never_repeat_vouches_for_nothing() -> None:
    """A tenth of the outputs never repeats: some 400 of 2,000 from either data set, then some 800 of 4,000."""
    assert "forms that are too rare" in audited(Sometimes(unique=0.1), 2_000).untold
    assert recorded_of(Sometimes(unique=0.1), 4_000).symbols == "outputs differ in form too often"


def test_an_exchange_is_a_bijection_with_what_is_left_behind() -> None:
    """Both ways the Jacobian is the density of what is left for that of what is drawn, and numbers fit the form."""
    rng = np.random.default_rng(3)
    of_two = Places.of(rng.normal(size=40))
    forms = (Refill(5.0, {0: Places.of(rng.normal(size=40)), 1: of_two}), Refill(7.0, {1: of_two}), Refill(9.0, {}))
    rows = np.array([[0.1, 0.2, 5.0], [np.inf, 0.3, 7.0], [np.inf, np.inf, 9.0], [99.0, 0.2, 5.0], [0.0, 0.0, 6.0]])
    for back, after in ((False, [7.0, 9.0, 5.0]), (True, [9.0, 5.0, 7.0])):
        moved = Exchange("", 2, forms, 1, np.random.default_rng(4))(rows, back=back)
        assert moved.movable.tolist() == [True, True, True, False, False]
        assert moved.points[:3, 2].tolist() == after
        assert (moved.points[3:] == rows[3:]).all()
        by_symbol = {form.symbol: form for form in forms}
        for row, image, jacobian in zip(rows[:3], moved.points[:3], moved.log_jacobian[:3], strict=True):
            left, drawn = (by_symbol[each[2]].log_density(each[None])[0] for each in (row, image))
            assert jacobian == pytest.approx((drawn - left) if back else (left - drawn))
            assert set(np.flatnonzero(np.isfinite(image[:2]))) == set(by_symbol[image[2]].laws)


N = 150
RNG = np.random.default_rng(7)
DATA = Dataset(np.full((N, 1), 0.5), RNG.choice((-1.0, 1.0), N), 1.0, 1.0)
PAIR = NeighbouringPair.replace(DATA, 60, [0.5], -float(DATA.y[60]))


class Labels:
    """Randomised response of every label; the density states ``flipped`` for all, the draws know ``really``."""

    name = "labels"

    def __init__(self, flipped=0.27, really=0.27, at=slice(None)):
        self.flipped, self.really = flipped, np.full(N, flipped)
        self.really[at] = really

    def draw(self, dataset, n_draws, *, rng):
        return np.where(rng.random((n_draws, N)) < self.really, -dataset.y, dataset.y)

    def log_density(self, outputs, dataset):
        kept = (outputs == dataset.y).sum(axis=1)
        return kept * np.log1p(-self.flipped) + (N - kept) * np.log(self.flipped)


class Noisy:
    """Laplace noise of scale ``really`` on every response; the density states ``scale``."""

    name = "noisy"

    def __init__(self, scale=2.0, really=2.0, at=slice(None)):
        self.scale, self.really = scale, np.full(N, scale)
        self.really[at] = really

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y + self.really * rng.laplace(size=(n_draws, N))

    def log_density(self, outputs, dataset):
        return -np.abs(outputs - dataset.y).sum(axis=1) / self.scale - N * np.log(2 * self.scale)


def budget(seed, n_draws=2_000, failure_prob=1e-4):
    return Budget(n_draws, failure_prob, StreamKey(seed))


@pytest.mark.parametrize("kind", [Labels, Noisy])
def test_true_laws_of_many_columns_stand(kind):
    """Null: the draws follow the density; level 1e-4 each."""
    for seed in range(3):
        assert not audit_law(kind(), DATA, budget(seed)).refuted
        assert not audit_loss(kind(), PAIR, budget(seed, 4_000)).refuted


@pytest.mark.parametrize("lie", [Labels(0.27, 0.2), Noisy(2.0, 1.8)])
def test_noise_below_the_stated_in_every_column_is_found(lie):
    assert audit_law(lie, DATA, budget(1)).refuted


@for_each("lie", [Labels(0.27, 0.1, 60), Noisy(2.0, 0.5, 60)])
def test_noise_below_the_stated_in_the_one_column_that_differs_is_found(lie):
    assert audit_loss(lie, PAIR, budget(1, 8_000)).refuted


def test_groups_of_columns_move_there_and_back():
    rng = np.random.default_rng(2)
    values = np.array([-2.0, 0.0, 1.5])
    points = np.column_stack([rng.choice([*values, 9.0], 200), rng.integers(0, 6, 200), rng.standard_normal(200)])
    points[:, 1] += 0.5 * (rng.random(200) < 0.3)
    move = Together("both", (Permutation("", 0, tuple(values), 1), Whole("", 1, 0.0, 5.0, 2.0)))
    ahead = move(points)
    back = move(ahead.points, back=True)
    assert np.array_equal(back.points, points)
    assert np.array_equal(back.movable, ahead.movable)
    assert np.array_equal(ahead.movable, np.isin(points[:, 0], values) | (points[:, 1] == np.rint(points[:, 1])))
    assert np.array_equal(ahead.points[:, 2], points[:, 2])
    assert not (ahead.points[ahead.movable] == points[ahead.movable]).all(axis=1).any()


def test_fewer_draws_are_learned_from_where_outputs_are_wide():
    assert n_learning(20_000) == n_learning(20_000, 10) == 5_000
    assert n_learning(20_000, 60) == 1_000
    assert n_learning(20_000, 10_000) == 500
    assert n_learning(400, 10_000) == 100


def test_some_columns_are_read_of_very_many():
    assert columns_read(7) == list(range(7))
    assert columns_read(MOST_READ) == list(range(MOST_READ))
    read = columns_read(10_000)
    assert len(read) == MOST_READ
    assert (read[0], read[-1]) == (0, 9_999)
