"""The same question has one answer at every door, and the parts of the failure probability add up."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import (
    DATA,
    DRAWN,
    MOMENT,
    OBJECTIVE,
    QUICK,
    REPORT,
    SCALES,
    SSP,
    claim,
    dp,
    imported,
    mechanism,
    pdp,
    section,
    write_labelled,
)

from audits import Budget, Estimate, StreamKey
from audits.black_box.claims import point_claim
from audits.examination.examined_claim import examine
from audits.examination.witnesses import Witness
from audits.search.worst_case import NamedPair
from audits.verdict import CheckRole
from audits.white_box.tails import audit_tails
from mechanisms import (
    Dataset,
    ExactLaw,
    GaussianProfile,
    LogisticLoss,
    NeighbouringPair,
    ObjectivePerturbation,
    WhiteBox,
)
from mechanisms.data.dataset import FloatArray
from reports.row import Audience
from verify.certificates.certificate import Certificate
from verify.certificates.certify_call import Certification, certify
from verify.certificates.claims.pairs import PairTask, run_task
from verify.cli import invoke
from verify.kernel.pair_evidence import pair_evidence
from verify.plugin.pytest_audit import Auditor
from verify.sweeps.cell import Shared, cell_name, check_cell, decide_cell, pair_of
from verify.sweeps.grid import read_grid
from verify.sweeps.mechanism_axis import RECIPES

WHOLE = Budget(4000, 2e-4, StreamKey(11))
#: What certify gives to its first look.
LOOK = WHOLE.part("look", share=0.5)
SHARED = Shared(1, 4000, 1e-4, {})
EPSILON, DELTA = 1.0, 1e-3


@dataclass(frozen=True)
class Moment:
    """X^T y with normal noise, as somebody else would write it."""

    sigma: float = 2.0
    name = "noisy moment"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return dataset.X.T @ dataset.y + self.sigma * rng.standard_normal((n_draws, dataset.dim))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        z = (outputs - dataset.X.T @ dataset.y) / self.sigma
        return np.asarray(-0.5 * np.square(z).sum(axis=1) - dataset.dim * math.log(self.sigma * math.sqrt(math.tau)))


def records(n: int = 6) -> Dataset:
    i = np.arange(n)
    X = 0.8 * np.column_stack([np.cos(i), np.sin(i)])
    return Dataset(X, np.where(i % 2 == 0, 1.0, -1.0), 1.0, 1.0, name="toy", public=True)


PAIR = NeighbouringPair.add(records(), np.array([1.0, 0.0]), -1.0)


def ends(estimate: Estimate | None) -> tuple[float, float, float, float, int] | None:
    if estimate is None:
        return None
    return estimate.low, estimate.value, estimate.high, estimate.failure_prob, estimate.n_draws


def notebook(mechanism: Any, pair: NeighbouringPair, budget: Budget) -> list[Witness]:
    """Return the witnesses that decide, as a user of ``examine`` gets them."""
    claim = point_claim(EPSILON, DELTA, (pair.relation,))
    found = examine(mechanism, [NamedPair("the pair", pair)], claim, budget)
    return [witness for witness in found.pairs[0].witnesses if witness.role is CheckRole.DECIDES]


def row_ends(row: Any, name: str) -> tuple[float, float, float]:
    return row[name]["low"], row[name]["value"], row[name]["high"]


@pytest.mark.parametrize(
    ("name", "loss"), [("ops-per-instance-corrected", "squared"), ("objective-perturbation-corrected", "logistic")]
)
def test_a_reference_mechanism_has_one_interval(name: str, loss: str) -> None:
    """An exact law beside draws of it, and a simulation inside a proved rare event: equal to the last bit."""
    cell = {"mechanism": name, "loss": loss, "n": 12, "dim": 2, "conditioning": 10.0, "seed": 3, "target": "member"}
    cell |= {"delta": DELTA, "epsilon": EPSILON}
    pair = pair_of(cell, SHARED)
    mechanism = RECIPES[name].build(loss, pair, EPSILON, DELTA).mechanism
    assert mechanism is not None
    assert isinstance(mechanism, WhiteBox)
    certified = run_task(PairTask("one", mechanism, pair, EPSILON, DELTA, WHOLE, False))[0].evidence
    fixture, swept = pair_evidence(mechanism, pair, EPSILON, DELTA, LOOK), check_cell(cell, SHARED, LOOK)
    (witness,) = notebook(mechanism, pair, LOOK)
    assert certified.sampled is not None
    assert len({ends(each.sampled) for each in (certified, fixture, swept, witness)}) == 1
    assert len({ends(each.exact) for each in (certified, fixture, swept, witness)}) == 1
    assert (witness.exact is not None) is isinstance(mechanism, ExactLaw)


def test_an_imported_mechanism_has_one_interval(tmp_path: Path) -> None:
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["mine"]\nloss = ["squared"]\nn = [12]\ndim = [2]\nconditioning = [10.0]\nseed = [3]\n'
        f'target = ["lonely"]\ndelta = [{DELTA}]\nepsilon = [{EPSILON}]\n[imported.mine]\nimport = "mine.py:make"\n'
        'vouched_by = { who = "A. Author", proof = "10.1000/1" }\n'
    )
    (tmp_path / "mine.py").write_text(f"from {__name__} import Moment\n\ndef make():\n    return Moment()\n")
    grid = read_grid(tmp_path / "grid.toml")
    cell, shared = grid.cell(0), grid.shared({})
    pair = pair_of(cell, shared)
    budget = replace(LOOK, n_draws=6_000)
    (witness,) = notebook(Moment(), pair, budget)
    for evidence in (
        pair_evidence(Moment(), pair, EPSILON, DELTA, budget, vouched=True),
        check_cell(cell, shared, budget),
    ):
        assert ends(evidence.sampled) == ends(witness.sampled)
        assert evidence.sampled is not None
    shift = pair.first.X.T @ pair.first.y - pair.second.X.T @ pair.second.y
    truth = GaussianProfile(float(np.linalg.norm(shift)) / 2).delta_at(EPSILON)
    assert witness.sampled is not None
    assert witness.sampled.low <= truth <= witness.sampled.high


def test_a_row_of_a_sweep_is_its_evidence() -> None:
    cell = {"mechanism": "objective-perturbation-corrected", "loss": "logistic", "n": 12, "dim": 2, "seed": 3}
    cell |= {"conditioning": 10.0, "target": "lonely", "delta": DELTA, "epsilon": EPSILON}
    key = StreamKey(SHARED.seed).child("sweep", cell_name(cell), "decide")
    sampled = check_cell(cell, SHARED, Budget(SHARED.n_draws, 0.5 * SHARED.failure_prob, key)).sampled
    assert sampled is not None
    assert row_ends(decide_cell(cell, SHARED), "sampled") == (sampled.low, sampled.value, sampled.high)


def test_the_fixture_passes_objective_perturbation_where_certify_does() -> None:
    """At 4,000 draws the plain simulation cannot decide delta = 1e-6; inside the proved rare event it is decided."""
    mechanism, delta = ObjectivePerturbation(LogisticLoss(), 5.0, 1.0), 1e-6
    auditor = Auditor(test="one", statement="", seed=7, n_draws=4000, failure_prob=1e-3)
    row = auditor(mechanism, PAIR, (EPSILON, delta))
    assert row["outcome"] == "HOLDS"
    share = auditor.rows[0]["failure_prob"] / 2
    budget = Budget(4000, share, StreamKey(7).child("pytest", "one", "1", "decide"))
    same = pair_evidence(mechanism, PAIR, EPSILON, delta, budget).sampled
    assert same is not None
    assert row_ends(row, "sampled") == (same.low, same.value, same.high)
    assert 0 < same.low < same.high < 0.2 * delta
    certified = run_task(PairTask("one", mechanism, PAIR, EPSILON, delta, WHOLE, False))[0].evidence.sampled
    assert ends(certified) == ends(pair_evidence(mechanism, PAIR, EPSILON, delta, LOOK).sampled)
    plain = audit_tails(mechanism, PAIR, [EPSILON], budget).delta(EPSILON)
    assert plain.low == 0 < 1000 * delta < plain.high


def test_the_fixture_still_fails_where_noise_is_too_small() -> None:
    """The true thing passes above; the same mechanism with less noise does not."""
    mechanism = ObjectivePerturbation(LogisticLoss(), 4.0, 1.0)
    row = Auditor(test="one", statement="", seed=7, n_draws=4000, failure_prob=1e-3)(
        mechanism, PAIR, (EPSILON, 1e-6), expect="fail"
    )
    assert row["outcome"] == "FAILS"


TRAINING = mechanism(
    "dp-sgd",
    loss="squared",
    n_steps=10,
    rate=0.1,
    sigma=0.5,
    clip=0.25,
    step_size=0.5,
    normaliser=2.5,
    radius=0.6,
)
FILTERED = TRAINING.replace('"dp-sgd"', '"filtered-dp-sgd"') + 'filter = "renyi"\norder = 8\nbudget = 0.5\n'
STATED = MOMENT.replace(
    "def make",
    """    def log_density(self, outputs, dataset):
        squares = ((outputs - dataset.X.T @ dataset.y) ** 2).sum(axis=1)
        return -squares / 128 - dataset.dim * np.log(8 * np.sqrt(2 * np.pi))
def make""",
)
SMALL = section("[budget]", profile="quick", jobs=1, pairs=2, draws=400)
ONE, THREE = dp(1.0), dp(1.0) + dp(2.0) + pdp(1.0)
SEVEN = THREE + dp(3.0) + pdp(2.0) + dp(4.0) + pdp(3.0)
COVERAGE = claim("report-coverage", level=0.2)
CASES = {
    "one claim": SSP + ONE + QUICK,
    "three claims": SSP + THREE + QUICK,
    "seven claims": SSP + SEVEN + QUICK,
    "imported": imported("mine.py:make") + THREE + SMALL,
    "dp-sgd": TRAINING + THREE + QUICK + "draws = 50\n",
    "filter": FILTERED
    + section("[[claims]]", type="filter", kind="renyi", order=8, budget=0.5, delta=1e-6)
    + dp(4.0)
    + QUICK,
    "report": OBJECTIVE + DRAWN + REPORT + SCALES + COVERAGE + dp(4.0, 1e-5) + QUICK,
}


def certified(folder: Path, text: str, *, public: bool, audience: str) -> Certification:
    write_labelled(folder)
    (folder / "mine.py").write_text(STATED, encoding="utf-8")
    data = DATA + ("public = true\n" if public else "")
    (folder / "d.toml").write_text(data + text, encoding="utf-8")
    return certify(folder / "d.toml", audience=audience)


def check_tree(certificate: Certificate) -> None:
    """Every part's parts add up to it at most, all leaves and all claims to the whole."""
    parts = {part.place: part for part in certificate.deployment.ledger.tree()}
    whole, private = certificate.deployment.config.budget.failure_prob, certificate.deployment.private
    for part in parts.values():
        assert math.fsum(parts[*part.place, name].alpha for name in part.parts) <= part.alpha * (1 + 1e-12)
    assert math.fsum(part.alpha for part in parts.values() if not part.parts) <= whole * (1 + 1e-12)
    kinds = {claim.is_public or not private for claim in certificate.deployment.config.claims}
    claims = math.fsum(part.alpha for part in parts.values() if len(part.place) == 1)
    assert claims == pytest.approx(whole * (len(kinds) / 2 if private else 1), rel=1e-12)


@pytest.mark.parametrize("public", [True, False])
@pytest.mark.parametrize("name", [pytest.param(n, marks=pytest.mark.slow) if n == "dp-sgd" else n for n in CASES])
def test_the_parts_add_up(name: str, public: bool, tmp_path: Path) -> None:
    found = certified(tmp_path, CASES[name], public=public, audience="release" if public else "curator")
    check_tree(found.certificate)
    row = found.rows[-1]
    assert row["kind"] == "budget"
    assert math.fsum(leaf["alpha"] for leaf in row["leaves"]) <= row["failure_prob"] * (1 + 1e-12)
    sampled = [row for row in found.rows if row["kind"] == "check" and row["sampled"]]
    assert any(leaf["spent"] for leaf in row["leaves"]) == bool(sampled)
    shown = {part.place[0] for part in found.certificate.spending(Audience.RELEASE) if part.place}
    assert shown == {finding.name for finding in found.certificate.visible(Audience.RELEASE)}
    if not public:
        assert not any(part.private for part in found.certificate.spending(Audience.RELEASE))


def test_a_dry_run_prints_the_tree(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    certified(tmp_path, SSP + ONE + pdp(1.0) + QUICK, public=False, audience="curator")
    capsys.readouterr()
    for audience, shown in (("curator", True), ("release", False)):
        assert invoke(["certify", str(tmp_path / "d.toml"), "--dry-run", "--audience", audience]) == 0
        lines = capsys.readouterr().out.splitlines()
        assert any(line.startswith("failure probability") for line in lines)
        assert any("pdp-records" in line for line in lines) == shown
