"""A configuration or a grid may name somebody else's code: whoever runs it is told which, before it runs."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys.deployments import dp, imported, section

from verify.cli import invoke

Captured = pytest.CaptureFixture[str]

CODE = """
import sys
print("{name} runs", file=sys.stderr)

class Noise:
    name = "noise"

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + 9.0 * rng.standard_normal((n_draws, 1))

def digit(output):
    return float(output[0])
"""
CONFIGURATION = section("[data]", file="data.csv", features=["a"], target="y", x_bound=1.0, y_bound=1.0)
CONFIGURATION += imported("mine.py:Noise", views=["looks.py:digit", "mine.py:digit"]) + dp(9.0)
CONFIGURATION += section("[budget]", profile="quick", pairs=1, draws=200, jobs=1)
GRID = """
[grid]
mechanism = ["ours"]
loss = ["squared"]
n = [8]
dim = [2]
conditioning = [1]
seed = [0]
target = ["lonely"]
delta = [1e-6]
epsilon = [9.0]
[imported.ours]
import = "mine.py:Noise"
views = ["looks.py:digit"]
"""
WARNING = "); never run a stranger's"


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for name in ("mine", "looks"):
        (tmp_path / f"{name}.py").write_text(CODE.replace("{name}", name), encoding="utf-8")
    (tmp_path / "data.csv").write_text("a,y\n0.5,0.5\n-0.5,0.25\n", encoding="utf-8")
    (tmp_path / "c.toml").write_text(CONFIGURATION, encoding="utf-8")
    (tmp_path / "g.toml").write_text(GRID, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.parametrize(
    ("arguments", "named"),
    [
        (["certify", "c.toml", "--dry-run"], "mine.py, looks.py"),
        (["certify", "c.toml", "--dry-run", "--audience", "release"], "mine.py"),  # views are the curator's
        (["sweep", "g.toml", "--status"], "mine.py, looks.py"),
    ],
)
def test_code_is_named_before_it_runs(arguments: list[str], named: str, work: Path, capsys: Captured) -> None:
    assert invoke(arguments) in (0, 3)
    lines = capsys.readouterr().err.splitlines()
    assert lines[0] == f"note: this file runs code ({named}{WARNING}"
    assert "mine runs" in lines[1:]
    assert sum(line.startswith("note: ") for line in lines) == 1


def test_the_warning_comes_although_the_code_stops_everything(work: Path, capsys: Captured) -> None:
    (work / "mine.py").write_text("raise SystemExit(77)\n", encoding="utf-8")
    assert invoke(["certify", "c.toml", "--dry-run"]) == 2
    note, error = capsys.readouterr().err.splitlines()
    assert note.startswith("note: this file runs code (mine.py, looks.py")
    assert error.startswith("error: ")


def test_a_reference_mechanism_warns_of_nothing(work: Path, capsys: Captured) -> None:
    text = CONFIGURATION.replace('import = "mine.py:Noise"', 'name = "ssp"\nsigma_gram = 9\nsigma_moment = 9\nlam = 1')
    (work / "c.toml").write_text(text.replace('views = ["looks.py:digit", "mine.py:digit"]\n', ""), encoding="utf-8")
    assert invoke(["certify", "c.toml", "--dry-run"]) == 0
    assert "note:" not in capsys.readouterr().err


def test_a_name_made_to_hide_the_line_is_printed_plainly(work: Path, capsys: Captured) -> None:
    hostile = CONFIGURATION.replace("looks.py:digit", "a\\u001b[2K\\rb.py:digit")
    (work / "c.toml").write_text(hostile, encoding="utf-8")
    assert invoke(["certify", "c.toml", "--dry-run"]) == 2
    assert "mine.py, a?[2K b.py); never run" in capsys.readouterr().err
