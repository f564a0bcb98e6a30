"""A FAIL holds its two data sets: in the record, on the page, and as arrays."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys.deployments import DATA, QUICK, claim, dp, imported, mechanism, pdp, section, write_uniform

import verify
from audits.search import PublicDomain, examination_pairs
from mechanisms import Relation
from reports.row import Table
from verify.certificates.counterexample import members_of, pair_blocks, pair_row
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
            y, scale = y[:-1], 0.5
        return y.sum() + rng.laplace(scale=scale, size=(n_draws, 1))
def make(fault):
    return Mine(fault)
"""
#: A program with half the noise.
COMMAND = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    for _ in range(request["n_draws"]):
        print(sum(request["y"]) + 0.5 * (rng.expovariate(1) - rng.expovariate(1)))
    sys.stdout.flush()
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
        assert "labels -1 and +1" not in text  # of responses that are not called labels anywhere else


def test_a_counterexample_that_is_certified_in_its_folder_leaves_nothing_there(
    work: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The output of the second run would be foreign to the certificate, which ``check`` vouches for whole."""
    out = certified(DATA + mine("half the noise") + dp(1.0) + FEW).resolve()
    for here, named in ((out / "curator", "../../pdp-verify-out/1"), (out, "../pdp-verify-out/1")):
        monkeypatch.chdir(here)
        assert invoke(["certify", str(out / "curator" / "counterexample.toml")]) == 1
        assert f"{named}/curator/audit.pdf" in capsys.readouterr().out
    assert [path.name for path in (work / "pdp-verify-out").iterdir()] == ["1"]
    assert invoke(["check", str(out / "curator")]) == 0


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


def redone(out: Path, name: str = "again") -> Path:
    """Certify the counterexample of a curator's folder from elsewhere; it is refuted in its one pair."""
    again = Path(f"{name}-out")
    assert invoke(["certify", str(out / "curator" / "counterexample.toml"), "--out", str(again)]) == 1
    assert invoke(["check", str(out)]) == 0
    one, other = verify.counterexample(out), verify.counterexample(again)
    turned = one.relation is not other.relation  # of a group that is added in the middle
    ends = (other.second, other.first) if turned else (other.first, other.second)
    assert one.copies > 1 or not turned
    for first, second in zip((one.first, one.second), ends, strict=True):
        assert np.array_equal(first.X, second.X)
        assert np.array_equal(first.y, second.y)
    examination = claim_of(again / "curator")["examination"]
    assert examination is None or len(examination["pairs"]) == 1
    return again


def test_a_fail_is_redone_in_one_pair_with_the_same_draws(work: Path) -> None:
    out = certified(DATA + mine("half the noise") + dp(1.0) + FEW)
    assert "private" not in (out / "curator" / "counterexample.toml").read_text(encoding="utf-8")
    again = redone(out)
    assert claim_of(again / "curator")["violation"]["hits"] == claim_of(out / "curator")["violation"]["hits"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("fault", "relation"),
    [
        ("labels twice", "add-remove"),
        ("signs in turn", "add-remove"),
        ("last dropped", "add-remove"),
        ("half the noise", "replace"),
        ("signs in turn", "replace"),
    ],
)
def test_the_order_of_records_and_what_is_replaced_are_kept(work: Path, fault: str, relation: str) -> None:
    text = DATA + mine(fault) + claim("dp", epsilon=1.0, delta=0.0, relation=relation)
    out = certified(text + QUICK + "pairs = 8\ndraws = 2000\n")
    again = redone(out)
    assert claim_of(again / "curator")["violation"]["hits"] == claim_of(out / "curator")["violation"]["hits"]


@pytest.mark.slow
def test_a_group_a_sequential_audit_and_a_command_are_redone(work: Path) -> None:
    group = DATA + mine("half the noise") + claim("dp", epsilon=1.0, delta=0.0, group=3) + FEW
    out = certified(group, name="group")
    assert verify.counterexample(out).copies == 3
    redone(out, "group-again")
    sequential = QUICK + "sequential = true\nmax_draws = 4000\n"
    redone(certified(DATA + mine("half the noise") + dp(1.0) + sequential, name="bets"), "bets-again")
    Path("release.py").write_text(COMMAND, encoding="utf-8")
    door = section("[mechanism]", command=[sys.executable, "-I", "-S", "release.py"])
    redone(certified(DATA + door + dp(1.0) + FEW, name="command"), "command-again")


def test_a_reference_mechanism_is_refuted_again_by_its_exact_law(work: Path) -> None:
    gaussian = mechanism("gaussian-output", lam=1.0, sigma=1.0)
    for name, text in (
        ("gaussian", gaussian + dp(0.5)),
        ("records", gaussian.replace("sigma = 1.0", "sigma = 0.1") + pdp(0.1)),
        ("objective", mechanism("objective-perturbation", loss="squared", sigma=0.5, lam=4.0) + dp(0.5)),
    ):
        out = certified(DATA + text + QUICK, name=name)
        again = redone(out, f"{name}-again")
        rows = [json.loads(line) for line in (again / "curator" / "audit.jsonl").read_text().splitlines()]
        pair = "the pair" if name == "records" else claim_of(out / "curator")["violation"]["pair"]
        check = next(row for row in rows if row["kind"] == "check" and row["check"] == f"simulated: {pair}")
        assert (check["exact"] is not None) is (name != "objective")
        assert check["outcome"] == "FAILS"


def test_private_records_are_redone_for_the_curator_alone(work: Path) -> None:
    out = certified(DATA + mine("half the noise") + pdp(0.2) + QUICK + "pairs = 3\ndraws = 4000\n")
    text = (out / "curator" / "counterexample.toml").read_text(encoding="utf-8")
    assert text.startswith("# It holds private records: it is for the curator alone.")
    assert (out / "curator" / "counterexample.toml").stat().st_mode & 0o077 == 0
    assert not (redone(out) / "release").exists()


def test_the_pairs_of_the_file_alone_support_nothing(work: Path) -> None:
    pair = "[[pairs]]\nX = []\ny = []\ntarget_x = [0.5, 0.5]\ntarget_y = 0.5\n"
    data = section("[data]", dim=2, x_bound=1.0, y_bound=1.0)
    out = certified(data + mine("none") + dp(3.0) + pair + QUICK + "pairs = 0\n", code=3)
    row = claim_of(out / "curator")
    assert row["words"] == "UNDECIDED (not tested)"
    assert "1 of at least 6 pairs" in row["reason"]
    assert not (out / "curator" / "counterexample.toml").exists()


@pytest.mark.parametrize("relation", [Relation.ADD, Relation.REPLACE])
@pytest.mark.parametrize("group", [1, 3])
def test_a_row_holds_every_pair_to_the_last_bit_and_a_page_two_dozen_lines(relation: Relation, group: int) -> None:
    for named in examination_pairs(PublicDomain(2, 1.0, 1.0), relation, group=group, count=40):
        row = json.loads(json.dumps(pair_row(named.pair, private=False)))
        for records, dataset in zip(members_of(row), (named.pair.first, named.pair.second), strict=True):
            assert np.array_equal(records, np.column_stack([dataset.X, dataset.y]))
        _, table = pair_blocks({"configuration": {"data": {}}}, row)
        assert isinstance(table, Table)
        assert len(table.rows) <= 24
        assert any(line[3] != "both" for line in table.rows)
