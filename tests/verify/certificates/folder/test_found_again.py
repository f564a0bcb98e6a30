"""Without ``--out`` a finished certificate of the same inputs is found again; of anything else a new one is made."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from fuzz.calls import unrendered
from toys.deployments import CLIPPED, DRAWN, QUICK, SSP, dp, section, write_labelled

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
TEXT = CLIPPED + SSP + DRAWN + QUICK + dp(3.0)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    write_labelled(tmp_path)
    Path("d.toml").write_text(TEXT)
    return tmp_path


def certify(*more: str) -> int:
    with unrendered():
        return int(invoke(["certify", "d.toml", *more]))


def folders() -> list[str]:
    return sorted(path.name for path in Path("pdp-verify-out").iterdir())


@pytest.mark.quick
@pytest.mark.parametrize(("epsilon", "code"), [(3.0, 0), (0.01, 1)])
def test_a_second_run_says_so_and_keeps_the_code(epsilon: float, code: int, work: Path, capsys: Captured) -> None:
    Path("d.toml").write_text(TEXT.replace("3.0", str(epsilon)))
    assert certify() == code
    assert "finished before" not in capsys.readouterr().out
    for _ in range(3):
        assert certify() == code
        out = capsys.readouterr().out
        assert "finished before" in out
        assert "next     pdp-verify check pdp-verify-out/1/curator" in out
    assert folders() == ["1"]


def other_claim() -> None:
    Path("d.toml").write_text(TEXT.replace("3.0", "4.0"))


def other_records() -> None:
    write_labelled(Path(), 31)


def damaged() -> None:
    Path("pdp-verify-out/1/curator/audit.md").write_text("")


def stopped() -> None:
    Path("pdp-verify-out/1/curator/attestation.json").unlink()


def foreign() -> None:
    Path("pdp-verify-out/1/notes").write_text("mine")


def linked() -> None:
    Path("pdp-verify-out/1/curator/extra").symlink_to("audit.md")


@pytest.mark.parametrize("change", [other_claim, other_records, damaged, stopped, foreign, linked])
def test_anything_else_is_made_anew_beside_it(change: Callable[[], None], work: Path, capsys: Captured) -> None:
    certify()
    change()
    capsys.readouterr()
    assert certify() == 0
    assert "finished before" not in capsys.readouterr().out
    assert folders() == ["1", "2"]


@pytest.mark.parametrize("more", [["--complete"], ["--allow-undecided"], ["--draw-again"], ["--overwrite"]])
def test_other_options_make_a_new_one(more: list[str], work: Path) -> None:
    certify()
    certify(*more)
    assert folders() == ["1", "2"]


def test_an_older_one_is_found_behind_others(work: Path, capsys: Captured) -> None:
    certify()
    other_claim()
    certify()
    Path("d.toml").write_text(TEXT)
    capsys.readouterr()
    assert certify() == 0
    assert "pdp-verify-out/1/curator" in capsys.readouterr().out
    assert folders() == ["1", "2"]


def test_a_release_is_found_too(work: Path, capsys: Captured) -> None:
    Path("d.toml").write_text(TEXT.replace(QUICK, QUICK + section("[artefact]", file="data.csv")))
    assert [certify("--audience", "release") for _ in range(2)] == [0, 0]
    assert "finished before" in capsys.readouterr().out
    assert folders() == ["1"]
    assert certify() == 0  # the curator's folder lies in it
    assert folders() == ["1"]
