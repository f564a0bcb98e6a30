"""Somebody's mechanism that lies by a capability is believed at no door: exposure, rare events, proofs, verdicts.

Each has noise of 0.01 on a sum that one record moves by about 1, so that a claim of epsilon 0.5 is plainly false.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys import liars
from toys.liars import AROUND, LIES, PROTOCOLS, TOLD, liar, members, wrapped

from audits import Budget, StreamKey, exposure
from audits.black_box.claims import point_claim
from audits.examination.examined_claim import examine
from audits.rare.importance import audit_rare_lower
from audits.search.worst_case import NamedPair
from audits.verdict import Decision
from audits.white_box.exact import sampled_delta
from mechanisms import Direction, GaussianOutput, LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.base import BOTH
from mechanisms.capabilities import Domain, worst_case_of, worst_pair_of
from mechanisms.catalogue import example_pair
from mechanisms.envelopes import noise_points, output_points
from mechanisms.laws.profile_tools import DataProfile, proved_profile
from mechanisms.records.record_laws import OneByOneLaws, batched_laws, record_laws, record_losses
from verify.certificates.certify_call import certify
from verify.certificates.claims.record_losses import ex_post_losses
from verify.kernel.pair_evidence import pair_evidence
from verify.plugin.pytest_audit import AuditFailure, Auditor
from verify.sweeps.cell import decide_cell
from verify.sweeps.grid import read_grid

PAIR = example_pair()
DOMAIN = Domain(2, 1.0, 1.0, 50)
EPSILON, DELTA = 0.5, 1e-4
BUDGET = Budget(2_000, 1e-4, StreamKey(3))
EVERY = sorted(PROTOCOLS)
TRIED = [*EVERY, *AROUND]
STATED = {"worst_profile"}  # the documented protocol: asked for, and examined


def strangers(name: str) -> Any:
    TOLD.clear()
    return liar(name) if name in PROTOCOLS else wrapped(name)


def untold() -> bool:
    return set(TOLD) <= STATED


def test_there_is_a_lie_for_every_capability() -> None:
    """A new capability needs one."""
    assert set().union(*(members(name) for name in EVERY)) == set(LIES)
    assert all(members(name) for name in EVERY)


@pytest.mark.parametrize("name", EVERY)
def test_exposure_is_seen(name: str) -> None:
    dataset = PAIR.first
    mechanism = strangers(name)
    seen = exposure(mechanism, dataset, BUDGET, delta=1e-5)
    assert float(seen.epsilon.low.max()) > 100
    assert batched_laws(mechanism, dataset) is None
    assert isinstance(record_laws(mechanism, dataset), OneByOneLaws)
    outputs = mechanism.draw(dataset, 5, rng=np.random.default_rng(0))
    assert float(np.abs(record_losses(mechanism, outputs, dataset, range(3))).max()) > 100
    losses = ex_post_losses(mechanism, outputs[0], dataset)
    assert losses is not None
    assert float(np.abs(losses).max()) > 100
    assert untold()


@pytest.mark.parametrize("name", EVERY)
def test_exposure_of_one_without_a_law_is_drawn(name: str) -> None:
    class Silent(type(strangers(name))):  # type: ignore[misc]
        profile = None

    seen = exposure(Silent(), PAIR.first, BUDGET, delta=1e-5)
    assert (seen.n_draws, float(seen.epsilon.low.max()) > 100) == (BUDGET.n_draws, True)
    assert untold()


@pytest.mark.parametrize("name", EVERY)
def test_points_laws_and_bounds_are_not_believed(name: str) -> None:
    mechanism = strangers(name)
    with pytest.raises(TypeError, match="must be one of this package's with a known noise, got Liar"):
        noise_points(mechanism, PAIR, Direction.FORWARD)
    rare = audit_rare_lower(output_points(mechanism, PAIR, Direction.FORWARD), BUDGET, epsilon=EPSILON)
    assert rare.delta.low > 0.9
    law = proved_profile(mechanism, PAIR)
    assert not isinstance(law, DataProfile)
    assert law.delta_bracket(EPSILON, Direction.FORWARD).low > 0.9
    assert worst_case_of(mechanism, DOMAIN) is None
    assert worst_case_of(mechanism, DOMAIN, 0.5) is None
    assert worst_pair_of(mechanism, DOMAIN, EPSILON, DELTA) is None
    assert sampled_delta(mechanism, PAIR, EPSILON, BUDGET).low > 0.9
    assert untold()


@pytest.mark.parametrize("name", TRIED)
def test_the_fixture_does_not_hold(name: str) -> None:
    auditor = Auditor(test=name, statement="", seed=1, n_draws=4_000, failure_prob=1e-4)
    with pytest.raises(AuditFailure):
        auditor(strangers(name), PAIR, (EPSILON, DELTA), vouched_by={"who": "its author", "proof": "10.1000/182"})
    assert [row["outcome"] for row in auditor.rows] == ["FAILS"]
    assert untold()


@pytest.mark.parametrize("name", TRIED)
def test_a_notebook_does_not_support_it(name: str) -> None:
    claim = point_claim(EPSILON, DELTA, (PAIR.relation,))
    found = examine(strangers(name), [NamedPair("the pair", PAIR)], claim, Budget(4_000, 1e-4, StreamKey(2)))
    assert (found.ruling().decision, found.reference) == (Decision.FAIL, False)
    assert untold()


def copied(folder: Path) -> None:
    """Write the liars beside a configuration, with a factory for each of them."""
    makers = [f"def made_{i}():\n    return {maker(name)}\n" for i, name in enumerate(TRIED)]
    code = Path(liars.__file__).read_text(encoding="utf-8")
    (folder / "liars.py").write_text("\n\n".join([code, *makers]), encoding="utf-8")


def maker(name: str) -> str:
    return f"{'liar' if name in PROTOCOLS else 'wrapped'}({name!r})"


@pytest.mark.slow
def test_no_sweep_holds(tmp_path: Path) -> None:
    copied(tmp_path)
    names = [f"m{i}" for i in range(len(TRIED))]
    lines = ["[grid]", f"mechanism = {names}".replace("'", '"'), 'loss = ["squared"]', "n = [8]", "dim = [2]"]
    lines += ["conditioning = [1]", "seed = [0]", 'target = ["lonely"]', f"delta = [{DELTA}]", f"epsilon = [{EPSILON}]"]
    for i in range(len(TRIED)):
        lines += [f"[imported.m{i}]", f'import = "liars.py:made_{i}"']
        lines += ['vouched_by = { who = "its author", proof = "10.1000/182" }']
    lines += ["[budget]", "imported_draws = 4000"]
    (tmp_path / "grid.toml").write_text("\n".join(lines) + "\n")
    grid = read_grid(tmp_path / "grid.toml")
    rows = [decide_cell(cell, grid.shared({})) for cell in grid.cells()]
    assert len(rows) == len(TRIED)
    assert [(row["outcome"], row["ground"], row["error"]) for row in rows] == [("FAILS", "", None)] * len(TRIED)


FEW = {"BatchedRecords", "FromData", "WorstCase", "composition", "misstated law"}


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=[] if name in FEW else [pytest.mark.slow]) for name in TRIED]
)
def test_no_certificate_passes(name: str, tmp_path: Path) -> None:
    copied(tmp_path)
    np.savetxt(
        tmp_path / "d.csv", np.column_stack([PAIR.first.X, PAIR.first.y]), delimiter=",", header="a,b,y", comments=""
    )
    (tmp_path / "deployment.toml").write_text(
        f"""
[mechanism]
import = "liars.py:made_{TRIED.index(name)}"
vouched_by = {{ who = "its author", proof = "10.1000/182" }}
[data]
file = "d.csv"
features = ["a", "b"]
target = "y"
x_bound = 1.0
y_bound = 1.0
[[claims]]
type = "dp"
epsilon = {EPSILON}
delta = {DELTA}
[budget]
profile = "quick"
pairs = 2
draws = 2000
jobs = 1
"""
    )
    found = certify(tmp_path / "deployment.toml")
    assert found.decision.name == "FAIL"


def test_ours_are_believed_as_before() -> None:
    """The other way round: exact laws, batched losses, known noise, proofs from the data and worst cases of ours."""
    posterior, noisy = PosteriorSampling(0.05, 1.0), GaussianOutput.isotropic(3.0, 2)
    objective, labels = ObjectivePerturbation(LogisticLoss(), 6.0, 1.0), example_pair("labels")
    for mechanism in (posterior, noisy):
        assert batched_laws(mechanism, PAIR.first) is not None
        seen = exposure(mechanism, PAIR.first, Budget(1, 1e-6, StreamKey(1)), delta=1e-6)
        assert (seen.n_draws, seen.method.startswith("exact law")) == (0, True)
        assert isinstance(proved_profile(mechanism, PAIR), DataProfile)
        assert noise_points(mechanism, PAIR, Direction.FORWARD).name.startswith("noise of")
        found = pair_evidence(mechanism, PAIR, 2.0, 1e-3, Budget(1, 1e-6, StreamKey(1)))
        assert found.exact is not None
        assert found.exact.high <= 1e-3
        auditor = Auditor(test="ours", statement="", seed=1, n_draws=2_000, failure_prob=1e-4)
        assert auditor(mechanism, PAIR, (2.0, 1e-3))["outcome"] == "HOLDS"
    assert all(objective.envelope(labels, direction, 0.1) is not None for direction in BOTH)
    bound = worst_case_of(objective, Domain(2, 1.0, 1.0))
    assert bound is not None
    assert bound.delta_at(3.0, 1e-3) < 1e-3
    assert worst_pair_of(objective, Domain(2, 1.0, 1.0), 1.0, 1e-3) is not None


def test_a_law_of_many_records_does_not_show_them() -> None:
    laws = record_laws(liars.Noisy(), PAIR.first)
    assert "mu" not in repr(laws)
    assert len(repr(laws)) < 120
