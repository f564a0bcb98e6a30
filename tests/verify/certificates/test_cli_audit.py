"""``pdp-verify audit``: a target, a claim, a screen of at most eight lines, and the exit code of the verdict."""

import json
import sys
from pathlib import Path

import pytest

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]
RELEASE = """
def half_noise(X, y, rng, n_draws):
    return y.sum() + rng.laplace(scale=0.5, size=n_draws)

def enough_noise(X, y, rng, n_draws):
    return y.sum() + rng.laplace(scale=1.0, size=n_draws)
"""
SMALL = ["--pairs", "1", "--draws", "2000", "--jobs", "1"]


@pytest.fixture(autouse=True)
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "release.py").write_text(RELEASE)
    (tmp_path / "d.csv").write_text("a,b,y\n0.1,0.2,0.5\n0.3,0.1,-0.5\n0.3,0.4,7\n")
    return tmp_path


def test_the_screen_says_the_verdict_and_the_exit_code_is_its_own(here: Path, capsys: Captured) -> None:
    assert invoke(["audit", "release.py:half_noise", "--epsilon", "1", *SMALL]) == 1
    shown = capsys.readouterr()
    assert shown.out.startswith("FAIL: half_noise, claimed (1, 0)-differentially private (one record added or\n")
    assert all(len(line) <= 80 for line in shown.out.splitlines())
    assert "1 of 10,000 such runs" in shown.out
    assert "runs code (release.py)" in shown.err
    assert invoke(["audit", "release.py:enough_noise", "--epsilon", "1", *SMALL]) == 3
    assert capsys.readouterr().out.startswith("UNDECIDED")
    assert sorted(path.name for path in here.iterdir() if path.suffix) == ["d.csv", "release.py"]  # nothing is written


def test_json_is_one_object(capsys: Captured) -> None:
    assert invoke(["audit", "release.py:half_noise", "--epsilon", "1", "--delta", "1e-6", "--json", *SMALL]) == 1
    row = json.loads(capsys.readouterr().out)
    words = "(1, 1e-6)-differentially private"
    assert row["claimed"] == {"epsilon": 1.0, "delta": 1e-6, "relation": "add-remove", "words": words}
    assert 1.0 < row["epsilon_lower"] <= 2.0


@pytest.mark.slow
def test_what_it_writes_asks_certify_the_same(here: Path, capsys: Captured) -> None:
    words = ["audit", "release.py:half_noise", "--epsilon", "1", *SMALL, "--write-config", "a.toml", "--out", "out"]
    assert invoke(words) == 1
    first = capsys.readouterr().out
    assert "Folder: out" in first
    assert invoke(["certify", "a.toml", "--out", "again"]) == 1
    records = [(here / folder / "release" / "audit.jsonl").read_bytes() for folder in ("out", "again")]
    assert records[0] == records[1]
    assert invoke(["check", "out"]) == 0
    capsys.readouterr()
    assert invoke(words) == 2
    assert "write-config must be a new file, got write-config=a.toml" in capsys.readouterr().err
    assert invoke(words[:-4] + words[-2:]) == 2
    assert "out must be new or empty, got out=out" in capsys.readouterr().err


def test_records_of_a_file_are_clipped_to_the_bounds(capsys: Captured) -> None:
    words = ["audit", "release.py:half_noise", "--epsilon", "1", "--data", "d.csv", "--response", "y", *SMALL]
    assert invoke(words) == 1
    assert "norm of a row at most 1, |y| at most 1" in " ".join(capsys.readouterr().out.split())


@pytest.mark.slow
def test_a_command_is_a_target(here: Path, capsys: Captured) -> None:
    (here / "program.py").write_text(
        "import json, sys, random\n"
        "for line in sys.stdin:\n"
        "    asked = json.loads(line)\n"
        "    noise = random.Random(asked['seed'])\n"
        "    for _ in range(asked['n_draws']):\n"
        "        print(json.dumps(sum(asked['y']) + noise.expovariate(2) - noise.expovariate(2)), flush=True)\n"
    )
    words = ["audit", f"{sys.executable} program.py", "--epsilon", "1", "--n-min", "0", *SMALL]
    assert invoke(words) == 1
    assert "FAIL" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["release.py", "--epsilon", "1"], "TARGET must name what is audited in its file"),
        (["release.py:nothing", "--epsilon", "1"], "TARGET must name a function of its module, got TARGET=release.py"),
        (["absent.py:mean", "--epsilon", "1"], "TARGET must name a file that exists, got TARGET=absent.py:mean"),
        (["no-such-program x", "--epsilon", "1"], "TARGET must begin with a program that can be run"),
        (["'open", "--epsilon", "1"], "TARGET must be file.py:name, a command or a url, got TARGET='open"),
        (["release.py:half_noise", "--epsilon", "-1"], "epsilon must be at least 0, got epsilon=-1.0"),
        (["release.py:half_noise", "--epsilon", "1", "--delta", "1"], "delta must be below 1, got delta=1.0"),
        (["release.py:half_noise", "--epsilon", "1", "--bounds", "1", "0"], "y_bound must be greater than 0"),
        (["release.py:half_noise", "--epsilon", "1", "--data", "d.csv"], "--data and --response must be given togeth"),
        (
            ["release.py:half_noise", "--epsilon", "1", "--data", "d.csv", "--response", "z"],
            "--response must be a column of d.csv, got --response z",
        ),
        (["release.py:half_noise"], "Missing option '--epsilon'"),
    ],
)
def test_a_wrong_call_is_one_line_that_names_what_was_typed(words: list[str], said: str, capsys: Captured) -> None:
    assert invoke(["audit", *words]) == 2
    shown = capsys.readouterr()
    assert said in shown.err
    assert shown.out == ""
    assert "Traceback" not in shown.err
