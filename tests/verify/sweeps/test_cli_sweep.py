"""``pdp-verify sweep``: exit codes, one line for every mistake, and what it leaves behind."""

from __future__ import annotations

import json
import pickle
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from rows import for_each
from toys.sweeps import Here, light_grid

from verify.cli import invoke
from verify.engine import executors
from verify.kernel.rows import dumps
from verify.messages.errors import UserError
from verify.sweeps.cell import Shared, cell_key, decide_cell, pair_of
from verify.sweeps.grid import Grid, read_grid
from verify.sweeps.sweep_run import flat

Captured = pytest.CaptureFixture[str]
PRIVATE = """
[grid]
mechanism = ["ssp"]
loss = ["squared"]
target = [0]
delta = [1e-5]
epsilon = [1.0]
[data]
file = "own.csv"
response = "y"
x_bound = 1.0
y_bound = 1.0
public = false
"""


@pytest.fixture
def here(monkeypatch: pytest.MonkeyPatch) -> Here:
    """A scheduler of this process in place of a pool."""
    found = Here()
    monkeypatch.setattr(executors, "Processes", lambda slots: found)
    return found


def test_sweep_leaves_rows_and_report_and_says_where(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    assert invoke(["sweep", str(grid), "--export", str(tmp_path / "t.parquet")]) == 1
    captured = capsys.readouterr()
    lines = captured.out.splitlines()
    assert lines[:3] == [
        "ops-per-instance, squared: 2 hold, 8 fail, 6 out of domain",
        "gaussian-printed, squared: 11 hold, 5 fail",
        "objective-perturbation, squared: 16 out of domain",
    ]
    assert lines[3:] == [
        "48 of 48 cells done",
        f"rows    {tmp_path}/light.sqlite",
        f"table   {tmp_path}/t.parquet",
        f"report  {tmp_path}/light.pdf",
        f"report  {tmp_path}/light.html",
    ]
    assert captured.err.splitlines()[0] == "light: 48 cells, all exact"
    assert " cells to do, about " in captured.err
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        "light.html",
        "light.pdf",
        "light.sqlite",
        "light.toml",
        "t.parquet",
    ]
    assert (tmp_path / "light.pdf").read_bytes().startswith(b"%PDF")
    table = pd.read_parquet(tmp_path / "t.parquet")
    assert len(table) == 48
    assert (table["outcome"] == "FAILS").sum() == 13
    assert table["epsilon"].dtype == "float64"
    assert table["n"].dtype == "int64"


def test_status_decides_nothing(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    assert invoke(["sweep", str(grid), "--status"]) == 3
    assert capsys.readouterr().out.startswith("0 of 48 cells done: there is no store yet")
    assert [path.name for path in tmp_path.iterdir()] == ["light.toml"]
    assert invoke(["sweep", str(grid), "--max-time", "1e-9"]) in (1, 3)
    decided = len(here.names)
    out = capsys.readouterr().out
    assert f"{decided} of 48 cells done" in out
    assert out.splitlines()[-1].startswith("next    pdp-verify ")
    assert invoke(["sweep", str(grid), "--status", "--export", str(tmp_path / "t.jsonl")]) in (1, 3)
    assert len(here.names) == decided
    header = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
    assert header["complete"] is False


def test_crashed_cells_exit_4_and_are_tried_again_when_asked(here: Here, tmp_path: Path, capsys: Captured) -> None:
    grid = light_grid(tmp_path)
    here.deadly = "conditioning=1.0, seed=0, target=member, delta=1e-05, epsilon=0.5"
    assert invoke(["sweep", str(grid)]) == 4
    out = capsys.readouterr().out
    assert out.count("1 stopped with an error") == 3
    assert out.splitlines()[-1].endswith("--retry-failed")
    here.deadly = ""
    assert invoke(["sweep", str(grid), "--retry-failed"]) == 1


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{missing}"], "grid must be a readable file, got grid="),
        (["{grid}", "--max-time", "0"], "max_time must be above 0, got max_time=0.0"),
        (["{grid}", "--max-time", "nan"], "max_time must be above 0, got max_time=nan"),
        (["{grid}", "--jobs", "0"], "Invalid value for '--jobs'"),
        (["{grid}", "--status", "--retry-failed"], "--status must come alone"),
        (["{grid}", "--scheduler", "here:80"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{grid}", "--scheduler", "tcp://127.0.0.1"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{grid}", "--scheduler", "tcp://h:99999"], "scheduler must be tcp://HOST:PORT or tls://HOST:PORT, got"),
        (["{private}", "--scheduler", "tcp://10.0.0.1:8786"], "scheduler must be tls:// for data that are not public"),
        (["{private}", "--scheduler", "tcp://cluster:8786"], "scheduler must be tls:// for data that are not public"),
        (["{grid}", "--export", "{missing}.csv"], "export must end in .jsonl or .parquet, got export="),
        (["{grid}", "--export", "{missing}/t.jsonl"], "export must be in a folder that exists"),
        (["{grid}", "--store", "{notes}"], "store must be a store of pdp-verify, got store="),
        (["{grid}", "--store", "{foreign}"], "store must be a store of pdp-verify, got store="),
        (["{grid}", "--store", "{missing}/s.sqlite"], "store must be a file that can be written, got store="),
    ],
)
def test_mistakes_are_one_line_and_exit_2(
    arguments: list[str], message: str, here: Here, tmp_path: Path, capsys: Captured
) -> None:
    names: dict[str, Any] = {name: tmp_path / name for name in ("missing", "notes", "foreign", "private")}
    names["grid"] = light_grid(tmp_path)
    names["notes"].write_text("keep me")
    names["private"].write_text(PRIVATE)
    (tmp_path / "own.csv").write_text("a,b,y\n0.1,0.2,0.5\n0.3,0.1,-0.5\n")
    with closing(sqlite3.connect(names["foreign"])) as db:
        db.execute("CREATE TABLE theirs (a)")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()}
    assert invoke(["sweep", *(argument.format(**names) for argument in arguments)]) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err.splitlines()[-1].startswith("error: ")
    assert len(captured.err.splitlines()) == 1
    assert message in captured.err
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in tmp_path.iterdir()} == before


def test_private_data_stay_with_their_owner(here: Here, tmp_path: Path, capsys: Captured) -> None:
    """The files are for their owner alone, the summary is marked, and no cell of the data is printed."""
    from pypdf import PdfReader

    (tmp_path / "own.csv").write_text("a,b,y\n0.1357,0.2,0.5\n0.3,0.1,-0.5\n")
    (tmp_path / "private.toml").write_text(PRIVATE)
    assert invoke(["sweep", str(tmp_path / "private.toml"), "--export", str(tmp_path / "t.jsonl")]) == 0
    for name in ("private.sqlite", "t.jsonl", "private.pdf", "private.html"):
        assert (tmp_path / name).stat().st_mode & 0o077 == 0, name
    pages = "".join(page.extract_text() for page in PdfReader(tmp_path / "private.pdf").pages)
    assert "CONFIDENTIAL" in pages
    captured = capsys.readouterr()
    for text in (captured.out, captured.err, pages, (tmp_path / "t.jsonl").read_text()):
        assert "0.1357" not in text


CODE = """
import math
from dataclasses import dataclass
import numpy as np
from mechanisms import GaussianProfile

@dataclass(frozen=True)
class Noisy:
    # adding a record moves the moment by |x y| <= 1
    sigma: float
    drawn: float = 0.0
    name = "noisy moment"

    def draw(self, dataset, n_draws, *, rng):
        noise = rng.standard_normal((n_draws, dataset.dim))
        return dataset.X.T @ dataset.y + (self.drawn or self.sigma) * noise

    def log_density(self, outputs, dataset):
        z = (outputs - dataset.X.T @ dataset.y) / self.sigma
        return -0.5 * np.square(z).sum(axis=1) - dataset.dim * math.log(self.sigma * math.sqrt(2 * math.pi))

    def profile(self, pair):
        moments = [each.X.T @ each.y for each in (pair.first, pair.second)]
        return GaussianProfile(float(np.linalg.norm(moments[0] - moments[1])) / self.sigma)

def size(output):
    return float(np.abs(output).sum())

three = 3
"""
SILENT = """
class Noisy:
    def __init__(self, sigma):
        pass
    def draw(self, dataset, n_draws, *, rng):
        return rng.standard_normal((n_draws, 1))
"""
GRID = """
[grid]
mechanism = {mechanism}
loss = {loss}
n = [8]
dim = [2]
conditioning = [1]
seed = [0]
target = {target}
delta = [{delta}]
epsilon = [1.0]
[imported.noisy]
import = "mine.py:Noisy"
parameters = {parameters}
{vouched}
"""
VOUCHED = 'vouched_by = { who = "Grace Hopper", proof = "10.1000/1" }'


FEW = "[budget]\nimported_draws = 8000\n"


def grid(folder: Path, **changes: str) -> Grid:
    """Read a grid; ``code`` is what the file of the mechanism holds, ``more`` is appended."""
    values = {"mechanism": '["noisy"]', "loss": '["squared"]', "target": '["lonely"]', "parameters": "{ sigma = 6.0 }"}
    values |= {"vouched": VOUCHED, "delta": "1e-4"} | changes
    (folder / "mine.py").write_text(values.get("code", CODE))
    (folder / "grid.toml").write_text(GRID.format(**values) + values.get("more", ""))
    return read_grid(folder / "grid.toml")


def row(found: Grid, place: int = 0) -> dict[str, Any]:
    return decide_cell(found.cell(place), found.shared({}))


def key(found: Grid, place: int = 0) -> str:
    return cell_key(found.shared({}).hasher(), found.cell(place))


def test_a_vouched_mechanism_holds_and_says_on_what(tmp_path: Path) -> None:
    found = grid(tmp_path)
    mine = row(found)
    assert (mine["outcome"], mine["ground"], mine["error"]) == ("HOLDS", "attested", None)
    assert (mine["n_draws"], mine["failure_prob"]) == (20_000, 1e-7)
    assert flat(mine)["ground"] == "attested"
    travelled = pickle.loads(pickle.dumps(found.shared({})))
    assert dumps(decide_cell(found.cell(0), travelled)) == dumps(mine)


def test_a_density_alone_needs_the_draws_that_decide_it(tmp_path: Path) -> None:
    code = CODE.replace("def profile", "def other")
    assert row(grid(tmp_path, code=code, delta="0.01"))["outcome"] == "HOLDS"
    mine = row(grid(tmp_path, code=code))
    assert (mine["outcome"], mine["reason"], mine["ground"]) == ("UNDECIDED", "BUDGET", "")


def test_without_vouching_and_without_a_law_nothing_holds(tmp_path: Path) -> None:
    unvouched = row(grid(tmp_path, vouched=""))
    assert (unvouched["outcome"], unvouched["ground"]) == ("UNDECIDED", "")
    assert "nobody vouches" in unvouched["detail"]
    found = row(grid(tmp_path, code=CODE + SILENT))
    assert (found["outcome"], found["ground"]) == ("UNDECIDED", "")
    assert "draws alone" in found["detail"]


@pytest.mark.parametrize("parameters", ["{ sigma = 0.5 }", "{ sigma = 6.0, drawn = 0.05 }"])
def test_a_broken_mechanism_fails_whoever_vouches(parameters: str, tmp_path: Path) -> None:
    """Too little noise by its own law, and too little noise behind a law that would be private."""
    mine = row(grid(tmp_path, parameters=parameters, more=FEW))
    assert (mine["outcome"], mine["ground"], mine["error"]) == ("FAILS", "", None)


@pytest.mark.quick
def test_too_few_draws_examine_nothing(tmp_path: Path) -> None:
    mine = row(grid(tmp_path, more="[budget]\nimported_draws = 200\n"))
    assert mine["outcome"] == "UNDECIDED"
    assert mine["detail"].startswith("not tested: no leak could have been seen")


def test_a_changed_file_or_word_moves_its_own_keys_alone(tmp_path: Path) -> None:
    both = '["ssp", "noisy"]'
    before = grid(tmp_path, mechanism=both)
    keys = [key(before, place) for place in (0, 1)]
    (tmp_path / "alone").mkdir()
    assert key(grid(tmp_path / "alone", mechanism='["ssp"]')) == keys[0]
    for changes in (
        {"code": CODE + "\n# changed"},
        {"vouched": ""},
        {"vouched": VOUCHED.replace("Grace", "Dennis")},
        {"parameters": "{ sigma = 6.5 }"},
        {"more": "[budget]\nimported_draws = 80000\n"},
    ):
        after = grid(tmp_path, mechanism=both, **changes)
        assert key(after, 0) == keys[0], changes
        assert key(after, 1) != keys[1], changes


def test_a_file_that_changed_under_way_is_an_error_and_no_verdict(tmp_path: Path) -> None:
    found = grid(tmp_path)
    from verify.sweeps import mechanism_axis as imported

    imported._function.cache_clear()  # what a new worker process begins with
    (tmp_path / "mine.py").write_text(CODE + "\n# changed")
    error = row(found)["error"]
    assert error["type"] == "UserError"
    assert error["message"].endswith("imported.noisy.import=mine.py:Noisy (it has changed)")


def test_responses_are_numbers_or_labels_and_other_losses_mean_nothing(tmp_path: Path) -> None:
    found = grid(tmp_path, loss='["squared", "logistic", "pseudo-huber"]', more="[budget]\nimported_draws = 2\n")
    labels = [set(pair_of(cell, found.shared({})).first.y) <= {-1.0, 1.0} for cell in found.cells()]
    assert labels[:2] == [False, True]
    mine = row(found, 2)
    assert (mine["outcome"], mine["n_draws"]) == ("OUT_OF_DOMAIN", 0)
    assert mine["detail"] == "the loss must be squared or logistic (numbers or labels) for noisy"
    assert found.spends() == 2 * found.failure_prob


def test_a_replaced_record_is_for_imported_mechanisms(tmp_path: Path) -> None:
    found = grid(tmp_path, mechanism='["ssp", "noisy"]', target='["replaced"]')
    pair = pair_of(found.cell(1), found.shared({}))
    assert (pair.first.n_records, pair.second.n_records, pair.relation.name) == (8, 8, "REPLACE")
    assert row(found, 0)["detail"] == "the rule is for a record added or removed, not replaced"
    assert row(found, 1)["outcome"] == "HOLDS"
    assert found.spends() == found.failure_prob


@for_each(
    ("changes", "message"),
    [
        ({"mechanism": '["nosy"]'}, "grid.mechanism must be among ops-diffuse, "),
        ({"mechanism": '["nosy"]'}, ", noisy, got grid.mechanism='nosy'"),
        (
            {"loss": '["pseudo-huber"]'},
            "grid.loss must hold squared or logistic (responses that are numbers or labels)",
        ),
        ({"parameters": "{ gamma = 1 }"}, "imported.noisy.parameters must fit mine.py:Noisy, got TypeError: "),
        ({"parameters": "3"}, "imported.noisy.parameters must be a table, got imported.noisy.parameters=3"),
        ({"parameters": "{ sigma = 1979-05-27 }"}, "imported.noisy.parameters must be numbers, text, true or false"),
        ({"vouched": 'vouched_by = { who = "", proof = "a" }'}, "imported.noisy.vouched_by.who must be text that is"),
        ({"vouched": 'vouched_by = { who = "A" }'}, "imported.noisy.vouched_by.proof must be given, got nothing"),
        (
            {"vouched": VOUCHED.replace("10.1000/1", "none.pdf")},
            "imported.noisy.vouched_by.proof must be a file that can",
        ),
        (
            {"vouched": "vouched = 1"},
            "imported.noisy.vouched must be one of import, parameters, views, vouched_by, got",
        ),
        ({"vouched": 'views = ["mine.py:none"]'}, "imported.noisy.views must name a function of its module, got"),
        (
            {"more": '[imported.ssp]\nimport = "mine.py:Noisy"\n'},
            "imported must have names of their own, got imported.ssp",
        ),
        (
            {"more": '[imported."a, b"]\nimport = "mine.py:Noisy"\n'},
            "imported must have names of letters, digits, - and",
        ),
        ({"more": '[imported.b]\nimport = "none.py:Silent"\n'}, "imported.b.import must name a file that exists, got"),
        (
            {"more": '[imported.b]\nimport = "mine.py:Lost"\n'},
            "imported.b.import must name a function of its module, got",
        ),
        (
            {"more": '[imported.b]\nimport = "mine.py:three"\n'},
            "imported.b.import must name a function of its module, got",
        ),
        ({"more": '[imported.b]\nimport = "mine.py"\n'}, "imported.b.import must be of the form "),
        ({"more": "[imported.b]\nparameters = {}\n"}, "imported.b.import must be given, got nothing"),
        (
            {"code": CODE + "1 / 0"},
            "imported.noisy.import must be importable, got imported.noisy.import=mine.py:Noisy (",
        ),
    ],
)
def test_mistakes_are_one_line(changes: dict[str, str], message: str, tmp_path: Path) -> None:
    with pytest.raises(UserError) as stop:
        grid(tmp_path, **changes)
    assert message in str(stop.value)
    assert "\n" not in str(stop.value)


def test_views_are_looked_at(tmp_path: Path) -> None:
    found = grid(tmp_path, vouched='views = ["mine.py:size"]\n' + VOUCHED)
    assert [look([1.0, -2.0]) for look in found.imported["noisy"].looks()] == [3.0]
    assert found.imported["noisy"].identity()["views"][0][0] == "mine.py:size"
    assert key(found) != key(grid(tmp_path))


def test_the_command_shows_what_is_vouched(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured) -> None:
    from pypdf import PdfReader

    monkeypatch.setattr(executors, "Processes", lambda slots: Here())
    grid(tmp_path, mechanism='["noisy", "gaussian-analytic"]')
    for end, more in (("parquet", []), ("jsonl", ["--status"])):
        assert invoke(["sweep", str(tmp_path / "grid.toml"), "--export", str(tmp_path / f"t.{end}"), *more]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[:2] == ["noisy, squared: 1 hold as attested", "gaussian-analytic, squared: 1 hold"]
    table = pd.read_parquet(tmp_path / "t.parquet")
    assert list(table["ground"]) == ["attested", "proved"]
    header = json.loads((tmp_path / "t.jsonl").read_text().splitlines()[0])
    assert header["imported"]["noisy"]["vouched_by"]["who"] == "Grace Hopper"
    assert str(tmp_path) not in (tmp_path / "t.jsonl").read_text()
    pages = " ".join("".join(page.extract_text() for page in PdfReader(tmp_path / "grid.pdf").pages).split())
    pages = pages.replace("\u00ad ", "")  # the hyphen of a narrow column
    for words in ("Hold as attested", "mine.py:Noisy; Grace Hopper vouches, 10.1000/1", "holds, attested"):
        assert words in pages, words
    grid(tmp_path, vouched="", more=FEW)
    assert invoke(["sweep", str(tmp_path / "grid.toml")]) == 3
    grid(tmp_path, parameters="{ sigma = 0.5 }", more=FEW)
    assert invoke(["sweep", str(tmp_path / "grid.toml")]) == 1


def test_pure_claims_and_refutations_by_other_numbers_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """delta = 0 is for imported mechanisms alone; a p-value is no delta and must not look like room to spare."""
    monkeypatch.setattr(executors, "Processes", lambda slots: Here())
    with pytest.raises(UserError, match=r"grid.delta must be numbers from 1e-100 to 1 - 1e-9, got grid.delta=0"):
        grid(tmp_path, mechanism='["noisy", "ssp"]', delta="0")
    found = grid(
        tmp_path,
        parameters="{ sigma = 6.0, drawn = 0.05 }",
        delta="0",
        vouched="",
        more="[budget]\nimported_draws = 8000\n",
    )
    columns = flat(row(found))
    assert columns["outcome"] == "FAILS"
    assert columns["log10_ratio"] == float("inf")
    assert invoke(["sweep", str(tmp_path / "grid.toml"), "--export", str(tmp_path / "t.parquet")]) == 1
    assert pd.read_parquet(tmp_path / "t.parquet")["quantity"][0] == columns["quantity"]
    assert "1 fail" in capsys.readouterr().out


def test_a_record_of_zeros_is_decided(tmp_path: Path) -> None:
    """Removing a record of zeros changes nothing; the proved rare event, which needs a direction, is not asked for."""
    (tmp_path / "own.csv").write_text("a,b,y\n0.0,0.0,1\n0.3,0.1,-1\n0.2,0.7,1\n")
    (tmp_path / "grid.toml").write_text(
        '[grid]\nmechanism = ["objective-perturbation-corrected"]\nloss = ["logistic"]\ntarget = [0]\n'
        'delta = [0.05]\nepsilon = [1.0]\n[data]\nfile = "own.csv"\nresponse = "y"\nx_bound = 1.0\ny_bound = 1.0\n'
        "public = true\n"
    )
    mine = row(read_grid(tmp_path / "grid.toml"))
    assert mine["error"] is None
    assert mine["outcome"] == "HOLDS"


@pytest.mark.slow
def test_rows_are_the_same_in_another_process(tmp_path: Path) -> None:
    from concurrent.futures import ProcessPoolExecutor
    from multiprocessing import get_context

    found = grid(tmp_path, more="[budget]\nimported_draws = 2000\n")
    shared: Shared = found.shared({})
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        there = pool.submit(decide_cell, dict(found.cell(0)), shared).result()
    assert dumps(there) == dumps(row(found))
