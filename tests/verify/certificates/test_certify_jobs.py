"""A user's mechanism, loaded by path in two worker processes, gives the rows that one process gives."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from toys.deployments import DATA, dp, imported, section, write_uniform

from verify.certificates.claims import examination
from verify.cli import invoke

ROOT = Path(__file__).resolve().parents[3]
CONFIGURATION = DATA + imported("my_mechanism.py:NoisyMoment")
CONFIGURATION += 'parameters = { sigma = 5.0 }\nvouched_by = { who = "the test", proof = "10.1000/182" }\n'
CONFIGURATION += dp(1.0) + section("[budget]", profile="quick", pairs=3, draws=2000)


def test_two_workers_load_it_for_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    blocks = re.findall(r"```python\n(.*?)```", readme[readme.index("## Certify a deployment") :], re.DOTALL)
    (tmp_path / "my_mechanism.py").write_text(blocks[0], encoding="utf-8")
    (tmp_path / "deployment.toml").write_text(CONFIGURATION, encoding="utf-8")
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    used: list[int] = []
    runner = examination.runner
    monkeypatch.setattr(
        "verify.certificates.claims.examination.runner",
        lambda jobs, step: used.append(jobs) or runner(jobs, step),
    )
    for jobs in ("1", "2"):
        assert invoke(["certify", "deployment.toml", "--jobs", jobs, "--out", f"out{jobs}"]) == 0
    assert used == [1, 2]
    one, two = (tmp_path / f"out{jobs}" / "curator" / "audit.jsonl" for jobs in "12")
    assert one.read_bytes() == two.read_bytes()
