"""A release is drawn once the claims over all data sets have passed: never before, and never because of the records."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys.deployments import (
    CLIPPED,
    DRAWN,
    MOMENT,
    OBJECTIVE,
    QUICK,
    REPORT,
    SCALES,
    SSP,
    claim,
    dp,
    imported,
    mechanism,
    pdp,
    section,
    write_labelled,
)

from reports.row import Audience
from verify.certificates.certificate import decide, read_deployment
from verify.certificates.config.config import load
from verify.certificates.folder.check_folder import check_folder
from verify.certificates.release import releases
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
NOTHING = "release  nothing was drawn or counted: a claim over all data sets did not pass"
OWN = section("[budget]", profile="quick", jobs=1, pairs=1, draws=200)
#: Output perturbation with noise that is proved to be too small, and enough.
FAILS, PASSES = (mechanism("gaussian-output", sigma=sigma, lam=1.0) for sigma in (1.0, 1e3))


def run(folder: Path, text: str, *more: str, out: str = "out") -> int:
    folder.mkdir(exist_ok=True)
    if not (folder / "data.csv").exists():
        write_labelled(folder)
    (folder / "d.toml").write_text(text)
    (folder / "mine.py").write_text(MOMENT)
    with unrendered():
        return int(invoke(["certify", str(folder / "d.toml"), "--out", str(folder / out), *more]))


def counted(folder: Path) -> list[str]:
    kept = folder / "d.releases" / "spent.json"
    return [entry["what"] for entry in json.loads(kept.read_bytes())] if kept.exists() else []


def released(folder: Path, out: str = "out") -> list[dict[str, Any]]:
    rows = [json.loads(line) for line in (folder / out / "curator" / "audit.jsonl").read_text().splitlines()]
    return [row for row in rows if row["kind"] == "release"]


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "more", "code"),
    [
        (FAILS + dp(1.0), [], 1),
        (SSP + dp(0.01), [], 1),
        (SSP + dp(3.0) + claim("dp", name="small", epsilon=0.01, delta=1e-6), [], 1),
        (OBJECTIVE + REPORT + SCALES + dp(0.1), [], 1),
        (SSP + dp(0.01), ["--allow-undecided"], 1),
        (FAILS + dp(1.0) + claim("ex-post", epsilon=5.0), ["--audience", "release"], 1),
        (imported("mine.py:make") + dp(1.0), [], 3),
        (imported("mine.py:make") + dp(1.0), ["--allow-undecided"], 3),  # what was not examined cannot be allowed
    ],
)
def test_nothing_is_drawn_where_a_claim_over_all_data_sets_does_not_pass(
    text: str, more: list[str], code: int, tmp_path: Path, capsys: Captured
) -> None:
    budget = OWN if "mine.py" in text else QUICK
    assert run(tmp_path, CLIPPED + text + DRAWN + budget, *more) == code
    assert (counted(tmp_path), released(tmp_path), (tmp_path / "d.releases").exists()) == ([], [], False)
    assert NOTHING in capsys.readouterr().out
    checked = [check_folder(tmp_path / "out" / part.value, render=False) for part in Audience if part.value in more]
    assert [each.wrong for each in checked] == [[]] * len(checked)
    assert check_folder(tmp_path / "out" / "curator", render=False).wrong == []
    assert run(tmp_path, CLIPPED + text + DRAWN + budget, *more) == code
    assert "finished before" in capsys.readouterr().out


def test_a_claim_that_failed_does_not_burn_the_configuration(tmp_path: Path, capsys: Captured) -> None:
    """Another mechanism, in the same file, is the first that draws."""
    assert run(tmp_path, CLIPPED + FAILS + DRAWN + QUICK + dp(1.0), out="one") == 1
    assert run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + dp(3.0), out="two") == 0
    assert counted(tmp_path) == ["output"]
    assert [row["cost"] for row in released(tmp_path, "two")] == ["the claimed budget, 1 draw"]
    *_, drawn, _, _ = capsys.readouterr().out.splitlines()
    assert drawn.startswith("release  ")
    assert drawn.endswith("d.releases/output.json was drawn now and counts (" + drawn.split("(")[1])
    assert "spent.json" in drawn
    assert run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + dp(3.0), out="three") == 0
    assert counted(tmp_path) == ["output"]
    assert "release  " not in capsys.readouterr().out


@pytest.mark.parametrize("epsilon", [1e-9, 50.0])
def test_what_the_records_say_never_decides_whether_one_is_drawn(epsilon: float, tmp_path: Path) -> None:
    claims = pdp(epsilon) + dp(3.0)
    code = run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + claims)
    assert (code == 1) is (epsilon < 1)
    assert counted(tmp_path) == ["output"]


def test_a_configuration_without_a_claim_over_all_data_sets_draws(tmp_path: Path) -> None:
    run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + pdp(1e-9))
    assert counted(tmp_path) == ["output"]


def test_a_second_draw_is_made_only_where_both_pass(tmp_path: Path, capsys: Captured) -> None:
    text = CLIPPED + SSP + DRAWN + QUICK + dp(0.9)
    assert run(tmp_path, text, out="one") == 0
    kept = (tmp_path / "d.releases" / "output.json").read_bytes()
    capsys.readouterr()
    assert run(tmp_path, text, "--draw-again", out="two") == 3
    assert NOTHING in capsys.readouterr().out
    assert ((tmp_path / "d.releases" / "output.json").read_bytes(), counted(tmp_path)) == (kept, ["output"])
    assert run(tmp_path, text.replace("0.9", "3.0"), "--draw-again", out="three") == 0
    assert counted(tmp_path) == ["output", "output"]


def test_the_claims_over_all_data_sets_are_decided_without_the_output(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The first run, which draws in between, and the second, which reads the output, make one record."""
    run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + claim("ex-post", epsilon=5.0) + dp(3.0), out="one")
    run(tmp_path, CLIPPED + SSP + DRAWN + QUICK + claim("ex-post", epsilon=5.0) + dp(3.0), out="two")
    one, two = ((tmp_path / out / "curator" / "audit.jsonl").read_bytes() for out in ("one", "two"))
    assert one == two


def test_two_draws_at_once_are_both_counted_by_the_one_that_comes_second(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another run draws between the decision and the draw: the decision is taken again, for one draw more."""
    write_labelled(tmp_path)
    (tmp_path / "d.toml").write_text(CLIPPED + SSP + DRAWN + QUICK + dp(0.9))
    loaded = load(tmp_path / "d.toml")
    first, _ = read_deployment(loaded, jobs=1)
    second, _ = read_deployment(loaded, jobs=1, draw_again=True)
    assert decide(first).findings[0].verdict.decision.name == "PASS"
    found = decide(second)
    assert (found.findings[0].verdict.decision.name, found.deployment.n_outputs) == ("UNDECIDED", 2)
    assert counted(tmp_path) == ["output"]


def test_the_time_that_records_take_never_decides_it(tmp_path: Path, capsys: Captured) -> None:
    text = CLIPPED + SSP + DRAWN + QUICK + "max_seconds = 60\n" + dp(3.0)
    assert run(tmp_path, text) == 2
    assert "budget.max_seconds must be absent where a release is drawn from private data" in capsys.readouterr().err
    assert counted(tmp_path) == []
    assert run(tmp_path, text.replace("[data]\n", "[data]\npublic = true\n")) == 0
    assert counted(tmp_path) == ["output"]


def test_what_is_foreseen_is_what_is_drawn(tmp_path: Path) -> None:
    write_labelled(tmp_path)
    (tmp_path / "d.toml").write_text(CLIPPED + OBJECTIVE + DRAWN + REPORT + SCALES + dp(4.0, 1e-5))
    foreseen = read_deployment(load(tmp_path / "d.toml"), jobs=1)[0].releases
    assert foreseen is not None
    assert (foreseen.pending, foreseen.made, foreseen.output, foreseen.chain) == (True, ("output", "report"), None, ())
    deployment, _ = read_deployment(load(tmp_path / "d.toml"), jobs=1)
    assert deployment.draw is not None
    drawn = deployment.draw(foreseen)
    assert (drawn.pending, drawn.made, drawn.n_outputs) == (False, foreseen.made, foreseen.n_outputs)
    assert np.isclose(drawn.mu_report, foreseen.mu_report, rtol=0, atol=0)
    with pytest.raises(releases.OvertakenError):
        deployment.draw(foreseen)
