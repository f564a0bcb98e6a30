"""``from verify import certify``: the same verdicts and rows as the command, nothing printed, nothing written."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import verify
from audits.verdict import Decision
from reports.row import Audience
from verify.certificates.config.config import load
from verify.cli import invoke
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]
DATA = '[data]\nfile = "data.csv"\nfeatures = ["a", "b"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 1.0\n'
BUDGET = '[budget]\nprofile = "quick"\njobs = 1\n'
DP = '[[claims]]\ntype = "dp"\nepsilon = 1.0\ndelta = 1e-6\n'
RECORDS = '[[claims]]\ntype = "pdp"\nscope = "records"\nepsilon = 1.0\ndelta = 1e-6\n'


def write(folder: Path, sigma: float, claims: str) -> Path:
    index = np.arange(30)
    rows = np.column_stack([0.6 * np.sin(index), 0.6 * np.cos(2 * index), 0.9 * np.sin(3 * index)])
    np.savetxt(folder / "data.csv", rows, delimiter=",", header="a,b,y", comments="")
    mechanism = f'[mechanism]\nname = "ssp"\nsigma_gram = {sigma}\nsigma_moment = {sigma}\nlam = 1.0\n'
    path = folder / "deployment.toml"
    path.write_text(DATA + mechanism + claims + BUDGET, encoding="utf-8")
    return path


def test_verdict_and_rows_are_those_of_the_command(tmp_path: Path, capsys: Captured) -> None:
    path = write(tmp_path, 8.0, DP + RECORDS)
    before = sorted(tmp_path.iterdir())
    found = verify.certify(path)
    assert sorted(tmp_path.iterdir()) == before
    assert capsys.readouterr() == ("", "")
    assert found.decision is Decision.PASS
    assert found.claims == {"dp": Decision.PASS, "pdp-records": Decision.PASS}
    assert found.audience is Audience.CURATOR
    assert invoke(["certify", str(path), "--out", str(tmp_path / "out")]) == 0
    kept = (tmp_path / "out" / "curator" / "audit.jsonl").read_text(encoding="utf-8")
    assert [json.loads(json.dumps(row)) for row in found.rows] == [json.loads(line) for line in kept.splitlines()]


@pytest.mark.quick
def test_a_mutant_with_too_little_noise_fails(tmp_path: Path) -> None:
    assert verify.certify(str(write(tmp_path, 1.0, DP))).decision is Decision.FAIL


def test_release_shows_nothing_private(tmp_path: Path) -> None:
    loaded = load(write(tmp_path, 8.0, DP + RECORDS))
    found = verify.certify(loaded, audience="release")
    assert found.claims == {"dp": Decision.PASS}
    assert [claim["type"] for claim in found.rows[0]["configuration"]["claims"]] == ["dp"]
    assert not any(row.get("private") for row in found.rows)


def test_mistakes_are_one_line(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="configuration must be a readable TOML file"):
        verify.certify(tmp_path / "absent.toml")
    path = write(tmp_path, 8.0, RECORDS)
    with pytest.raises(UserError, match="claims must hold one of type dp, filter or report-coverage"):
        verify.certify(path, audience="release")
    with pytest.raises(UserError, match="audience must be curator or release"):
        verify.certify(path, audience="everyone")
    with pytest.raises(UserError, match="jobs must be at least 1"):
        verify.certify(path, jobs=0)


def test_what_verify_exports_is_there() -> None:
    assert all(getattr(verify, name) is not None for name in verify.__all__)
    from verify import certify, statements

    assert callable(certify)
    assert callable(statements)
    assert verify.certify is certify  # the function, however often it is asked for
