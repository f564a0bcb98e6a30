"""Claims about the records: all losses in one pass, all outputs, large data not copied."""

from __future__ import annotations

import hashlib
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.verify.deployment import ex_post_losses as slow_losses
from oracles.verify.deployment import record_epsilons as slow_epsilons
from toys.deployments import DATA, QUICK, claim, dp, mechanism, pdp, write_labelled, write_rows

from audits import Budget, StreamKey
from audits.verdict import CheckRole, Decision, Ground
from audits.white_box import exact, tails
from audits.white_box.exact import WORTH, sampled_delta
from audits.white_box.tails import FEWEST, LARGE, thinned
from mechanisms import (
    BOTH,
    DataError,
    Dataset,
    Direction,
    GaussianOutput,
    LogisticLoss,
    NeighbouringPair,
    ObjectivePerturbation,
    PosteriorSampling,
)
from mechanisms.catalogue import example_data
from mechanisms.data.dataset import FloatArray
from mechanisms.linear import sufficient_statistics
from mechanisms.linear.ridge import RidgeMap
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from mechanisms.records import leverage, record_laws
from mechanisms.records.record_laws import gaussian_epsilon, gaussian_epsilons, ops_epsilon, ops_epsilons
from verify.certificates.certificate import FINDINGS, decide, read_deployment
from verify.certificates.claims import record_losses
from verify.certificates.claims.finding import DRAWS, Deployment, Finding
from verify.certificates.claims.record_losses import ROC_DRAWS
from verify.certificates.config.config import load
from verify.certificates.config.mechanism_source import Imported

METRIC = np.array([[2.0, 0.5], [0.5, 1.0]])
MECHANISMS = {
    "objective": (ObjectivePerturbation(LogisticLoss(), 1.5, 0.5), "labels"),
    "posterior": (PosteriorSampling(3.0, 1.0), "linear"),
    "posterior, no ridge": (PosteriorSampling(3.0, 0.0), "linear"),
    "Gaussian": (GaussianOutput(METRIC, 30.0, RidgeMap(1.0)), "linear"),
    "SSP": (SufficientStatistics(1.2, 0.9, lam=0.5), "linear"),
}


@pytest.mark.parametrize("name", MECHANISMS)
def test_ex_post_losses_of_all_records(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sufficient_statistics, "CHUNK", 7)
    mechanism, kind = MECHANISMS[name]
    data = example_data(kind=kind)
    output = mechanism.draw(data, 1, rng=np.random.default_rng(1))[0]
    found = record_losses.ex_post_losses(mechanism, output, data)
    np.testing.assert_allclose(found, slow_losses(mechanism, output, data), rtol=1e-9, atol=1e-11)
    one_by_one = record_losses.ex_post_losses(Imported(mechanism), output, data)
    np.testing.assert_allclose(one_by_one, found, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("name", ["posterior", "Gaussian", "SSP"])
@pytest.mark.parametrize("delta", [1e-2, 1e-6])
def test_epsilons_of_all_records(name: str, delta: float) -> None:
    mechanism, kind = MECHANISMS[name]
    data = example_data(kind=kind)
    found = record_losses.record_epsilons(mechanism, data, delta)
    np.testing.assert_allclose(found, slow_epsilons(mechanism, data, delta), rtol=1e-9, atol=1e-12)
    np.testing.assert_allclose(record_losses.record_epsilons(Imported(mechanism), data, delta), found, rtol=1e-9)


def finding_of(deployment: Deployment, claim: Any) -> Finding:
    return FINDINGS[type(claim)](deployment, claim)


def test_what_has_no_law_has_no_epsilon() -> None:
    mechanism, kind = MECHANISMS["objective"]
    assert record_losses.record_epsilons(mechanism, example_data(kind=kind), 1e-6) is None


MECHANISM = mechanism("gaussian-output", lam=1.0, sigma=2.0)
MINE = """
import numpy as np
from dataclasses import dataclass
from mechanisms import GaussianProfile
@dataclass(frozen=True)
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + 8.0 * rng.standard_normal((n_draws, dataset.dim))
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / 8.0).sum(axis=1)
    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / 8.0)
"""
VOUCHED = """[mechanism]
import = "mine.py:Mine"
vouched_by = { who = "we", proof = "https://doi.org/10.1561/0400000042" }
"""


def read(folder: Path, text: str) -> Deployment:
    write_labelled(folder)
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    (folder / "d.toml").write_text(DATA + text + QUICK + "pairs = 2\ndraws = 2000\n", encoding="utf-8")
    return read_deployment(load(folder / "d.toml"), jobs=1)[0]


@pytest.mark.parametrize("scope", ["records", "everyone"])
def test_exact_laws_are_composed(tmp_path: Path, scope: str) -> None:
    deployment = read(tmp_path, MECHANISM + claim("pdp", scope=scope, epsilon=1.0, delta=1e-5))
    section = deployment.config.claims[0]
    assert finding_of(deployment, section).verdict.decision is Decision.PASS
    checks = [finding_of(replace(deployment, n_outputs=n), section).checks[0].evidence.exact for n in (1, 2)]
    one, two = (check for check in checks if check is not None)
    assert two.high > max(2 * one.high, one.low)
    ends = [
        (0.5 * one.low, Decision.FAIL),
        (0.5 * (one.high + two.high), Decision.UNDECIDED),
        (1.0001 * two.high, Decision.PASS),
    ]
    for delta, verdict in ends:
        found = finding_of(replace(deployment, n_outputs=2), section.model_copy(update={"delta": delta}))
        assert found.verdict.decision is verdict, delta


def test_an_imported_mechanism_is_examined_for_one_output(tmp_path: Path) -> None:
    deployment = read(tmp_path, VOUCHED + dp(1.0) + pdp(1.0))
    for each in deployment.config.claims:
        assert finding_of(deployment, each).verdict.ground is Ground.ATTESTED
        found = finding_of(replace(deployment, n_outputs=2), each)
        assert found.verdict.decision is Decision.UNDECIDED
        assert "2 outputs were drawn" in found.verdict.why


@pytest.mark.parametrize(
    ("asked", "records", "made"),
    [
        (2_000, 10, 2_000),
        (2_000, LARGE, 2_000),
        (2_000, 2 * LARGE, 1_000),
        (2_000, 20 * LARGE, 100),
        (2_000, 1_000_000_000, FEWEST),
        (30, 1_000_000_000, 30),
        (100_000, 1_000_000, 5_000),
    ],
)
def test_the_rule(asked: int, records: int, made: int) -> None:
    assert thinned(asked, records) == made


def test_draws_never_grow_with_the_records() -> None:
    made = [thinned(10_000, n) for n in range(LARGE - 5, 40 * LARGE, 997)]
    assert all(one >= other for one, other in pairwise(made))


def found(work: Path, epsilon: float) -> Finding:
    text = DATA + mechanism("objective-perturbation", loss="logistic", sigma=11.0, lam=2.0) + pdp(epsilon) + QUICK
    (work / "d.toml").write_text(text, encoding="utf-8")
    return decide(*read_deployment(load(work / "d.toml"), jobs=1)).findings[0]


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with 400 records, which are many here."""
    rng = np.random.default_rng(1)
    table = np.column_stack([rng.uniform(-0.6, 0.6, (400, 2)), rng.choice([-1.0, 1.0], 400)])
    write_rows(tmp_path, table)
    monkeypatch.setattr(tails, "LARGE", 40)
    return tmp_path


def simulated(finding: Finding) -> tuple[int, str]:
    """Return the draws of the simulated check, and its words."""
    (check,) = [each for each in finding.checks if each.role is CheckRole.REFUTES]
    assert check.evidence.sampled is not None
    return check.evidence.sampled.n_draws, check.words


def test_beside_a_bound_that_holds_draws_are_fewer_and_the_record_says_so(work: Path) -> None:
    finding = found(work, epsilon=2.0)
    assert finding.verdict.decision is Decision.PASS
    assert finding.verdict.why == "proved bound for records of this length"
    n_draws, words = simulated(finding)
    assert n_draws == DRAWS["quick"] // 10
    assert words.startswith("200 instead of 2,000 draws")
    assert "they accompany the proved bound, which decides" in words
    (figure,) = [figure for _, figure in finding.figures if figure.name.startswith("roc")]
    assert f"; {ROC_DRAWS // 10} draws" in figure.caption
    assert "fewer draws" in figure.caption


def test_where_nothing_is_proved_every_draw_is_made(work: Path) -> None:
    finding = found(work, epsilon=0.01)
    assert finding.verdict.decision is not Decision.PASS
    assert simulated(finding) == (DRAWS["quick"], "")


def test_a_decision_is_the_same_with_all_draws(work: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    few = found(work, epsilon=2.0)
    monkeypatch.setattr(tails, "LARGE", LARGE)
    many = found(work, epsilon=2.0)
    assert few.verdict == many.verdict
    assert few.checks[0] == many.checks[0]
    assert simulated(many) == (DRAWS["quick"], "")


def test_a_rare_event_is_formed_only_where_its_cost_is_shared_by_many_draws(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    data = Dataset(rng.uniform(-0.5, 0.5, (60, 2)), rng.choice([-1.0, 1.0], 60), 1.0, 1.0)
    mechanism, pair = ObjectivePerturbation(LogisticLoss(), 4.0, 1.0), NeighbouringPair.remove(data, 3)
    formed: list[int] = []
    envelope = ObjectivePerturbation.envelope
    monkeypatch.setattr(ObjectivePerturbation, "envelope", lambda *a: formed.append(1) or envelope(*a))

    def sampled(n_draws: int) -> float:
        return sampled_delta(mechanism, pair, 1.0, Budget(n_draws, 1e-4, StreamKey(1))).high

    sharp = sampled(200)
    assert formed == [1, 1]
    monkeypatch.setattr(exact, "LARGE", 50)
    blunt = sampled(200)
    assert formed == [1, 1]
    assert sharp < blunt  # both are upper ends of the same delta
    sampled(WORTH)
    assert formed == [1, 1, 1, 1]


MECHANISMS_SIZE = [
    GaussianOutput.isotropic(1.0, 3, RidgeMap(4.0)),
    PosteriorSampling(0.05, 4.0),
    SufficientStatistics(8.0, 8.0, 1.0),
]


def rows(n: int, seed: int = 1) -> Dataset:
    """Return linear records in the unit ball."""
    rng = np.random.default_rng(seed)
    X = rng.uniform(-0.5, 0.5, (n, 3))
    y = np.clip(X @ [1.0, 0.5, -1.0] + 0.1 * rng.normal(size=n), -1, 1)
    return Dataset(X, y, 1.0, 1.0)


# --- data sets and their neighbours -----------------------------------------------------------------------------------


@pytest.mark.parametrize("index", [0, 7, 19])
def test_a_record_less_is_what_it_was(index: int) -> None:
    data = rows(20)
    _ = data.digest
    smaller = data.without_record(index)
    np.testing.assert_array_equal(smaller.X, np.delete(data.X, index, axis=0))
    np.testing.assert_array_equal(smaller.y, np.delete(data.y, index))
    assert (smaller.x_bound, smaller.y_bound, smaller.name, smaller.steps) == (1.0, 1.0, "data", ())
    assert not smaller.X.flags.writeable
    assert smaller.X.flags.c_contiguous
    assert smaller.digest == replace(data, X=smaller.X, y=smaller.y).digest != data.digest
    with pytest.raises(DataError, match="index must be in"):
        data.without_record(20)


def test_a_digest_is_made_of_the_records_and_bounds_when_it_is_asked_for() -> None:
    data = rows(20)
    assert "digest" not in vars(data)
    hashed = hashlib.sha256(repr((data.X.shape, 1.0, 1.0)).encode())
    hashed.update(data.X.tobytes())
    hashed.update(data.y.tobytes())
    assert data.digest == hashed.hexdigest()


def test_only_an_array_that_nobody_can_write_to_is_taken_as_it_is() -> None:
    X, y = np.ones((4, 2)) / 2, np.zeros(4)
    assert Dataset(X, y, 1.0, 1.0).X is not X
    view = X[:]
    view.setflags(write=False)
    assert Dataset(view, y, 1.0, 1.0).X is not view  # whoever holds X writes to it
    X.setflags(write=False)
    assert Dataset(X, y, 1.0, 1.0).X is X
    turned = np.asfortranarray(np.ones((4, 2)) / 2)
    turned.setflags(write=False)
    assert Dataset(turned, y, 1.0, 1.0).X.flags.c_contiguous


@pytest.mark.parametrize("mechanism", MECHANISMS_SIZE)
def test_a_pair_makes_its_second_data_set_once(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[int] = []
    without = Dataset.without_record
    monkeypatch.setattr(Dataset, "without_record", lambda data, i: made.append(i) or without(data, i))
    pair = NeighbouringPair.remove(rows(50), 7)
    outputs = mechanism.draw(pair.first, 5, rng=np.random.default_rng(1))
    mechanism.privacy_loss(outputs, pair)
    mechanism.profile(pair).epsilon_at(1e-6, Direction.FORWARD)
    mechanism.draw(pair.second, 5, rng=np.random.default_rng(1))
    assert len(made) <= 1


# --- laws of all records ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("mechanism", MECHANISMS_SIZE)
def test_blocks_give_what_one_pass_gives(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    data = rows(1_500)
    whole = record_laws.batched_laws(mechanism, data)
    assert whole is not None
    literal = np.maximum(*(whole.epsilon_at(1e-6, direction) for direction in BOTH))
    monkeypatch.setattr(record_laws, "BLOCK", 256)
    monkeypatch.setattr(leverage, "_SHIFTS", 256)
    parts = record_laws.batched_laws(mechanism, data)
    assert parts is not None
    found = parts.worse_epsilon_at(1e-6)
    assert np.argmax(found) == np.argmax(literal)
    assert found.max() == literal.max()
    np.testing.assert_allclose(found, literal, rtol=0, atol=1e-3 * literal.max())


@pytest.mark.parametrize("delta", [1e-12, 1e-6, 0.1])
@pytest.mark.parametrize("close", [record_laws.CLOSE, 0.0])
def test_the_largest_of_very_many_is_the_largest(delta: float, close: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Leverages over twelve decades, records without one, such as are told apart; and a spline never close enough."""
    monkeypatch.setattr(record_laws, "CLOSE", close)
    rng = np.random.default_rng(2)
    leverage, residual = 10 ** rng.uniform(-9, 3, 4_000), 3 * rng.normal(size=4_000)
    leverage[:3], residual[3] = [0.0, math.inf, 1e-300], 0.0
    literal = np.maximum(*(ops_epsilon(leverage, residual, delta, direction) for direction in BOTH))
    found = ops_epsilons(leverage, residual, delta, 512)
    assert np.isinf(found[1])
    ends = np.isfinite(literal)
    assert np.argmax(found[ends]) == np.argmax(literal[ends])
    assert found[ends].max() == literal[ends].max()
    np.testing.assert_allclose(found[ends], literal[ends], rtol=0, atol=1e-3 * literal[ends].max())


def test_a_wrong_surface_cannot_hide_the_largest(monkeypatch: pytest.MonkeyPatch) -> None:
    """Interpolated values that are far off at records that were not tried: the largest is found all the same."""
    rng = np.random.default_rng(4)
    leverage, residual = rng.uniform(0.01, 0.02, 4_000), rng.uniform(0.1, 1.0, 4_000)
    literal = np.maximum(*(ops_epsilon(leverage, residual, 1e-6, direction) for direction in BOTH))
    lone = np.flatnonzero(literal >= 0.2 * literal.max())[:1]
    monkeypatch.setattr(
        record_laws, "_surface", lambda mu, a, delta: lambda m, r: np.where(r == residual[lone], 1.0, 1e-3)
    )
    found = ops_epsilons(leverage, residual, 1e-6, 512)
    assert found.max() == literal.max()
    assert np.argmax(found) == np.argmax(literal)


@pytest.mark.parametrize("mu", [np.full(20, 0.3), np.zeros(20), np.linspace(0, 1e-9, 20), np.geomspace(1e-9, 50, 900)])
def test_distances_of_normal_laws(mu: FloatArray) -> None:
    literal = gaussian_epsilon(mu, 1e-6)
    found = gaussian_epsilons(mu, 1e-6, 64)
    assert found.max() == literal.max()
    np.testing.assert_allclose(found, literal, rtol=0, atol=1e-3 * literal.max())


@pytest.mark.parametrize("leverage", [np.zeros(20), np.full(20, 0.3), np.full(20, math.inf)])
def test_nothing_to_tabulate_is_no_obstacle(leverage: FloatArray) -> None:
    literal = np.maximum(*(ops_epsilon(leverage, np.ones(20), 1e-6, direction) for direction in BOTH))
    np.testing.assert_allclose(ops_epsilons(leverage, np.ones(20), 1e-6, 8), literal, rtol=1e-10)


@pytest.mark.parametrize("mechanism", MECHANISMS_SIZE)
def test_the_same_question_about_the_same_records_is_answered_once(
    mechanism: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []
    batched = record_laws.batched_laws
    monkeypatch.setattr(record_losses, "batched_laws", lambda m, d: asked.append(1) or batched(m, d))
    data = rows(40)
    first = record_losses.record_epsilons(mechanism, data, 1e-6)
    again = record_losses.record_epsilons(mechanism, data, 1e-6)
    assert first is again
    assert first is not None
    assert not first.flags.writeable
    other = record_losses.record_epsilons(mechanism, data, 1e-5)
    assert other is not None
    assert not np.array_equal(first, other)
    record_losses.record_epsilons(mechanism, rows(40), 1e-6)  # equal records, another data set
    assert len(asked) == 3


def peak(work: Callable[[], object]) -> int:
    """Return the bytes that a computation held at its height, beyond what was there before."""
    tracemalloc.start()
    try:
        before = tracemalloc.get_traced_memory()[0]
        tracemalloc.reset_peak()
        work()
        return tracemalloc.get_traced_memory()[1] - before
    finally:
        tracemalloc.stop()


@pytest.mark.parametrize("mechanism", MECHANISMS_SIZE)
def test_temporary_arrays_do_not_grow_with_the_data(mechanism: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice as many records take a few numbers a record more, however many a block's temporaries are."""
    monkeypatch.setattr(record_laws, "BLOCK", 1_024)
    monkeypatch.setattr(leverage, "_SHIFTS", 1_024)
    small, large = rows(10_000), rows(20_000)
    record_losses.record_epsilons(mechanism, rows(3_000), 1e-6)  # what is made once for all
    used = [peak(partial(record_losses.record_epsilons, mechanism, data, 1e-6)) for data in (small, large)]
    numbers = (used[1] - used[0]) / 8 / 10_000
    assert numbers <= 3 * (small.dim + 1)


def test_a_pass_over_records_of_many_features_makes_no_matrix_for_each_of_many() -> None:
    rng = np.random.default_rng(3)
    X = rng.uniform(-1, 1, (20_000, 60)) / 60
    data = Dataset(X, rng.uniform(-1, 1, 20_000), 1.0, 1.0)
    mechanism = SufficientStatistics(8.0, 8.0, 1.0)
    output = mechanism.mean(data)
    used = peak(lambda: record_losses.ex_post_losses(mechanism, output, data))
    assert used <= 16 * sufficient_statistics.FLOATS * 8 / 4 + 8 * X.size
