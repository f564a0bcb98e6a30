"""The bank of real bugs: its page names each one, and its frame refutes a wrong toy and leaves the right one alone."""

from __future__ import annotations

import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

from mechanisms import Relation

ROOT = Path(__file__).parents[1]
BANK = ROOT / "benchmarks" / "bug_bank"
PAGE = ROOT / "docs" / "bug_bank.md"

sys.path.append(str(BANK))  # the bank is a command and no package
import bank  # noqa: E402
from bank_page import page  # noqa: E402

BUGS = bank.bugs()
#: A count with Laplace noise, of half the scale unless it is the right one; what it claims is true of the right one.
TOY = """
import math
import random

from lines import Bug, point, serve


def release(X, y, n_draws, seed, right):
    rng, scale = random.Random(seed), 1.0 if right else 0.5
    return [len(X) + scale * rng.choice((-1, 1)) * rng.expovariate(1.0) for _ in range(n_draws)]


serve("numpy", {"toy": Bug([[0.0]], [[0.0], [1.0]], point(1.0), release)})
"""


def toy_row(folder: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[bank.Bug, bank.Row]:
    """Return what the frame finds about the toy, in this very interpreter."""
    monkeypatch.setattr(bank, "environment", lambda requirements, envs: Path(sys.executable))
    shutil.copy(BANK / "mechanisms" / "lines.py", folder)
    (folder / "of_toys.py").write_text(TOY, encoding="utf-8")
    bug = bank.Bug(
        "toy",
        "Toy",
        "1.0",
        "https://example.org/issues/7",
        "Half the noise.",
        "add",
        "one record against two",
        "typed in",
        (),
        1600,
        {"variant": "all of the noise"},
    )
    return bug, bank.row(bug, folder, folder, peers=False)


def test_the_frame_refutes_the_wrong_toy_and_not_the_right_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    bug, found = toy_row(tmp_path, monkeypatch)
    assert found.bug.refuted
    assert not found.right.refuted
    assert found.bug.n_draws <= found.right.n_draws
    written = page([(bug, found)])
    assert "all of the noise" in written
    assert "https://example.org/issues/7" in written
    bank.keep(found, tmp_path / "rows" / "toy.json")
    assert bank.kept(tmp_path / "rows" / "toy.json") == found


@pytest.mark.parametrize(
    ("told", "form"),
    [
        ({"form": "point", "epsilon": 1.0, "delta": 0.0}, "point"),
        ({"form": "zcdp", "rho": 0.5}, "zcdp"),
        ({"form": "gdp", "mu": 0.5}, "gaussian-dp"),
        ({"form": "renyi", "order": 2.0, "epsilon": 0.5}, "renyi"),
    ],
)
def test_a_claim_is_taken_in_the_form_in_which_a_script_told_it(told: dict[str, Any], form: str) -> None:
    claim = bank.stated(told, Relation.ADD)
    assert (claim.form, claim.relations) == (form, (Relation.ADD,))


def test_the_looks_of_a_bug_share_its_failure_probability() -> None:
    for bug in BUGS:
        looks = bank.looks_of(bug)
        assert looks[-1][0] == bug.max_draws
        assert sum(share for _, share in looks) <= bank.FAILURE_PROB


@pytest.mark.parametrize("bug", BUGS, ids=lambda bug: bug.id)
def test_an_entry_says_what_is_compared_and_what_is_right(bug: bank.Bug) -> None:
    assert bug.relation in ("add", "remove", "replace")
    assert bug.outcome in ("refuted", "not refuted", "no violation", "not reproduced")
    assert ("variant" in bug.right) != {"version", "requirements"}.issubset(bug.right)
    assert bank.script_of(bug.id, BANK / "mechanisms").is_file()
    assert all("==" in named for named in bug.requirements if not named.startswith("--"))
    assert bug.note or bug.outcome == "refuted"


def test_the_page_names_each_published_bug_and_no_other() -> None:
    text = PAGE.read_text(encoding="utf-8")
    for bug in BUGS:
        assert (bug.issue in text and bug.wrong in text) == bug.published, bug.id
        assert bug.published or bug.id not in text


def test_no_entry_is_there_twice() -> None:
    assert len({bug.id for bug in BUGS}) == len(BUGS)
    assert sum(bug.published for bug in BUGS) >= 10


def test_a_script_that_answers_nothing_is_not_called_right(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        sys.modules[__name__], "TOY", TOY.replace("    return [len(X)", "    raise SystemExit(3)\n    return [len(X)")
    )
    with pytest.raises(RuntimeError, match="must answer, got exit 3 for every draw"):
        toy_row(tmp_path, monkeypatch)
