"""Draws that accompany a proof, or illustrate, are fewer where the data are large; draws that may decide are not."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, mechanism, pdp, write_rows

from audits import Budget, StreamKey
from audits.verdict import CheckRole, Decision
from audits.white_box import exact, tails
from audits.white_box.exact import WORTH, sampled_delta
from audits.white_box.tails import FEWEST, LARGE, thinned
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation
from verify.certificates.certificate import decide, read_deployment
from verify.certificates.claims.finding import DRAWS, Finding
from verify.certificates.config.config import load
from verify.certificates.pages.certificate_plots import ROC_DRAWS


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
