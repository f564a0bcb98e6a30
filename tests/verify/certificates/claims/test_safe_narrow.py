"""Draws of objective perturbation that float64 cannot make, in a whole certificate."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys.deployments import QUICK, dp, mechanism, section

from mechanisms.objective.perturbed_solver import SolverError
from verify.certificates.claims import claims_dp, pairs
from verify.cli import invoke


@pytest.mark.parametrize(("sigma", "code"), [(11.0, 0), (2.75, 1)])
def test_draws_that_cannot_be_made_are_no_evidence_and_no_exit(
    sigma: float, code: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """What decides is proved: a solver that gives up takes away what only accompanies it."""

    def stop(*_: object, **__: object) -> None:
        raise SolverError("residual must be within reach of float64, got residual=1e-08")

    monkeypatch.setattr(pairs, "pair_evidence", stop)
    for name in ("sampled_delta", "audit_tails", "record_figures"):
        monkeypatch.setattr(claims_dp, name, stop)
    mine = mechanism("objective-perturbation", loss="logistic", sigma=sigma, lam=0.5)
    (tmp_path / "d.toml").write_text(section("[data]", source="fair") + mine + dp(1.0) + QUICK)
    assert invoke(["certify", str(tmp_path / "d.toml"), "--out", str(tmp_path / "out")]) == code
    assert capsys.readouterr().err == ""
    assert invoke(["check", str(tmp_path / "out")]) == 0
    record = (tmp_path / "out" / "release" / "audit.jsonl").read_text()
    assert "within reach of float64" in record or "NO_FINITE_TEST" in record
