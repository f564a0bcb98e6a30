"""``[budget] sequential``: a false claim about a mechanism of one's own fails with few draws, any other stays open."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from toys.deployments import DATA, QUICK, dp, imported, write_uniform

from verify.certificates.config.config import parse
from verify.cli import invoke
from verify.messages.errors import UserError

SPARING = QUICK + "sequential = true\n"
CODE = """
class Mine:
    def draw(self, dataset, n_draws, *, rng):
        return float(dataset.y.sum()) + SCALE * rng.laplace(size=n_draws)
def make():
    return Mine()
"""


def written(folder: Path, scale: float, budget: str, public: bool = True) -> Path:
    write_uniform(folder)
    (folder / "mine.py").write_text(CODE.replace("SCALE", str(scale)), encoding="utf-8")
    text = DATA + ("public = true\n" if public else "") + imported("mine.py:make") + dp(1.0) + budget
    (folder / "mine.toml").write_text(text, encoding="utf-8")
    return folder / "mine.toml"


def rows(folder: Path):
    record = next(folder.glob("out/*/audit.jsonl"))
    lines = [json.loads(line) for line in record.read_text("utf-8").splitlines()]
    return {kind: [row for row in lines if row.get("kind") == kind] for kind in ("claim", "check", "figure")}


@pytest.mark.parametrize("public", [True, False])
def test_a_false_claim_fails_with_few_draws_and_says_on_what(tmp_path, public):
    config = written(tmp_path, 0.25, SPARING + "max_draws = 1200\n", public)
    assert invoke(["certify", str(config), "--out", str(tmp_path / "out")]) == 1
    found = rows(tmp_path)
    (claim,), (check,) = found["claim"], found["check"]
    assert claim["verdict"] == "FAIL"
    assert check["check"] == "sparing audit"
    assert " draws on: " in claim["advice"]
    text = json.dumps(check)
    assert "data set: " in text
    assert " against " in text
    assert "draws in all" in text


def test_a_claim_that_is_not_refuted_is_not_examined_whatever(tmp_path):
    config = written(tmp_path, 1.0, SPARING + "max_draws = 150\n")
    assert invoke(["certify", str(config), "--out", str(tmp_path / "out"), "--allow-undecided"]) == 3
    (claim,) = rows(tmp_path)["claim"]
    assert claim["verdict"] == "UNDECIDED"
    assert "150 draws on one pair of data sets do not refute it" in claim["reason"]
    assert "budget.sequential" in claim["reason"]


def test_it_needs_a_cap(tmp_path):
    for budget, got in ((SPARING, "nothing"), (SPARING + "max_draws = 99\n", "99")):
        with pytest.raises(UserError, match=f"budget.max_draws must be at least 100 .*{got}"):
            parse(written(tmp_path, 1.0, budget).read_text("utf-8"))
