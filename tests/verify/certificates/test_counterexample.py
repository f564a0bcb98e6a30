"""A FAIL holds its two data sets: in the record, on the page, and as arrays."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys.deployments import DATA, QUICK, claim, dp, imported, pdp, write_uniform

import verify
from mechanisms import Relation
from verify.cli import invoke

FEW = QUICK + "pairs = 1\ndraws = 2000\n"
#: Mechanisms of one's own that claim epsilon 1, each with another fault.
CODE = """
import numpy as np
class Mine:
    def __init__(self, fault):
        self.fault = fault
    def draw(self, dataset, n_draws, *, rng):
        y, scale = dataset.y, 1.0
        if self.fault == "half the noise":
            scale = 0.5
        if self.fault == "labels twice":
            y = y * np.where(abs(dataset.X).sum(axis=1) > 0.7, 3.0, 1.0)
        if self.fault == "signs in turn":
            y = y * np.where(np.arange(len(y)) % 2, -1.0, 1.0)
        if self.fault == "last dropped":
            y = y[:-1] * len(y)
        return y.sum() + rng.laplace(scale=scale, size=(n_draws, 1))
def make(fault):
    return Mine(fault)
"""


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A folder with thirty private records and code of one's own, which is the working directory; no PDF is drawn."""
    write_uniform(tmp_path)
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    with unrendered():
        yield tmp_path


def mine(fault: str) -> str:
    return imported("mine.py:make") + f'parameters = {{ fault = "{fault}" }}\n'


def certified(text: str, *arguments: str, code: int = 1, name: str = "d") -> Path:
    """Certify in the working directory, and return the folder."""
    Path(f"{name}.toml").write_text(text, encoding="utf-8")
    out = Path(f"{name}-out")
    assert invoke(["certify", f"{name}.toml", "--out", str(out), *arguments]) == code
    return out


def claim_of(folder: Path) -> dict[str, Any]:
    rows = [json.loads(line) for line in (folder / "audit.jsonl").read_text(encoding="utf-8").splitlines()]
    return next(row for row in rows if row["kind"] == "claim")


def test_made_up_records_are_in_both_halves_and_on_their_pages(work: Path) -> None:
    out = certified(DATA + mine("half the noise") + dp(1.0) + FEW, "--audience", "release")
    pair = claim_of(out / "curator")["counterexample"]
    assert pair == claim_of(out / "release")["counterexample"]
    assert not pair["private"]
    found = verify.counterexample(out)
    assert {found.first.n_records, found.second.n_records} == {len(pair["y"]), len(pair["y"]) + 1}
    assert abs(found.first.y.sum() - found.second.y.sum()) > 0.9
    for part in ("curator", "release"):
        text = (out / part / "audit.md").read_text(encoding="utf-8")
        assert "The two data sets on which the claim is refuted" in text
        assert " only |" in text


def test_private_records_stay_with_the_curator(work: Path) -> None:
    pair = '[[pairs]]\nname = "own"\nX = [[0.123, 0.25]]\ny = [0.77]\ntarget_x = [0.321, 0.5]\ntarget_y = -0.88\n'
    out = certified(DATA + mine("half the noise") + dp(1.0) + pair + FEW, "--audience", "release")
    inside, outside = claim_of(out / "curator"), claim_of(out / "release")
    assert inside["counterexample"]["private"]
    assert (inside["counterexample"]["X"], inside["counterexample"]["target_y"]) == ([[0.123, 0.25]], -0.88)
    assert "counterexample" not in outside
    for path in (out / "release").iterdir():
        data = path.read_bytes()
        assert not any(cell in data for cell in (b"0.123", b"0.321", b"0.88"))
    with pytest.raises(ValueError, match="record must hold a refuted claim with its pair of data sets, got record="):
        verify.counterexample(out / "release")
    assert "-0.88" not in str(verify.counterexample(out))


def test_arrays_are_the_records_that_the_mechanism_got(work: Path) -> None:
    out = certified(DATA + mine("signs in turn") + claim("dp", epsilon=1.0, delta=0.0, relation="replace") + FEW)
    found = verify.counterexample(out / "curator", "dp")
    assert found.relation is Relation.REPLACE
    assert found.first.n_records == found.second.n_records
    differ = np.flatnonzero((found.first.X != found.second.X).any(axis=1) | (found.first.y != found.second.y))
    assert differ.tolist() == [found.place]
    with pytest.raises(ValueError, match=r"a pair that refutes this claim, got record=.*claim=other"):
        verify.counterexample(out, "other")


def test_a_claim_about_the_records_is_refuted_by_two_of_their_data_sets(work: Path) -> None:
    out = certified(DATA + mine("half the noise") + pdp(0.2) + QUICK + "pairs = 3\ndraws = 4000\n")
    found = verify.counterexample(out)
    assert (found.first.n_records, found.second.n_records, found.relation) == (30, 29, Relation.REMOVE)
    assert np.array_equal(np.delete(found.first.y, found.place), found.second.y)
    assert "Private records, for the curator alone" in (out / "curator" / "audit.md").read_text(encoding="utf-8")
