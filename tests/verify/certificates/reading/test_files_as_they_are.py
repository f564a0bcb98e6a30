"""Files as people have them: no header, an index, dates, codes, decimal commas, true and false, misspelt levels."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys.deployments import QUICK, SSP, dp

from verify.certificates.config.config import DataSection
from verify.certificates.reading.data_files import read_dataset
from verify.cli import invoke
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]
SECRET = "31337"


def section(**more: Any) -> DataSection:
    plain = {"file": "f.csv", "features": ["a"], "target": "y", "x_bound": 100.0, "y_bound": 100.0}
    return DataSection.model_validate(plain | more)


def init(folder: Path, text: str, *more: str, target: str = "y", name: str = "f.csv") -> int:
    (folder / name).write_text(text)
    return int(invoke(["init", str(folder / name), "--target", target, *more]))


@pytest.mark.quick
@pytest.mark.parametrize(
    ("text", "more", "cells"),
    [
        ("59,2,32.1,151\n48,1,21.6,75\n", [], ["151", "32.1"]),
        ("59 2 32.1 151\n48 1 21.6 75\n", ["--delimiter", " "], ["151", "32.1"]),
        ("59,2,32.1,151\n", [], ["151", "32.1"]),  # one record and nothing else
        ("0,0,5,13\n0,1,4,13\n", [], ["5", "13"]),  # one cell twice in the first line
        ("Adelie,Dream,39.1\nGentoo,Biscoe,40.2\n", [], ["Adelie", "39.1"]),
        ("Adelie,Dream\nGentoo,Biscoe\nAdelie,Biscoe\n", [], ["Adelie", "Dream"]),
        ("2020-01-07,12.5\n2020-01-08,13.5\n", [], ["12.5", "2020-01-07"]),
        ("NA,31337\n4,5\n", [], [SECRET]),
        ("59;2,5;151\n48;1,5;75\n", ["--delimiter", ";"], ["151", "59"]),
        ("-1e5,31337\n1e5,-2\n", [], [SECRET, "-1e5"]),
    ],
)
def test_a_file_without_a_header_is_noticed_and_none_of_its_cells_printed(
    text: str, more: list[str], cells: list[str], tmp_path: Path, capsys: Captured
) -> None:
    for target in ("bmi", cells[0]):
        assert init(tmp_path, text, *more, target=target) == 2
        out, err = capsys.readouterr()
        assert "a record in its first line" in err
        assert "--no-header" in err
        quoted = (out + err).replace(str(tmp_path), "")
        assert not [cell for cell in cells if cell in quoted]


@pytest.mark.parametrize(
    "text",
    [
        "a,y\n1,2\n",
        "a,2019,y\n1,2,3\n",
        "0,1,y\n1,2,3\n",
        "150,4,setosa,versicolor,y\n5.1,3.5,1.4,0.2,0\n",
        "a,y\nyes,no\nno,yes\n",
        "a,y\n",
        ",a,y\n1,2,3\n2,3,4\n",
    ],
)
def test_a_header_is_a_header(text: str, tmp_path: Path, capsys: Captured) -> None:
    assert init(tmp_path, text) == 0
    assert tomllib.loads(capsys.readouterr().out)["data"]["target"] == "y"


def test_numbers_from_0_on_are_the_header_that_pandas_writes(tmp_path: Path) -> None:
    assert init(tmp_path, "0,1,2\n5,6,7\n", target="2") == 0


def test_the_user_may_say_so(tmp_path: Path, capsys: Captured) -> None:
    assert init(tmp_path, "59,2\n48,1\n", "--no-header", target="1") == 0
    raw = tomllib.loads(capsys.readouterr().out)["data"]
    assert (raw["header"], raw["features"], raw["target"]) == (False, ["0"], "1")
    assert init(tmp_path, "2019,2020\n48,1\n", "--header", target="2020") == 0
    assert tomllib.loads(capsys.readouterr().out)["data"]["header"] is True


@pytest.mark.parametrize("features", [["59"], ["a"]])
def test_certify_reads_no_names_from_a_record(features: list[str], tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("59,31337\n48,1\n")
    with pytest.raises(UserError, match=r"a record in its first line .*data\.header = false") as stop:
        read_dataset(section(features=features, target=SECRET), tmp_path)
    assert SECRET not in str(stop.value)
    plain = read_dataset(section(features=["0"], target="1", header=False, response="clip"), tmp_path)
    assert plain.n_records == 2
    named = read_dataset(section(features=["59"], target=SECRET, header=True, response="clip"), tmp_path)
    assert named.n_records == 1


def test_an_index_without_a_name_is_left_out(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "f.csv").write_text('"","a","y"\n"1",0.5,1\n"2",0.25,2\n')
    assert read_dataset(section(), tmp_path).X.tolist() == [[0.5], [0.25]]
    assert init(tmp_path, (tmp_path / "f.csv").read_text()) == 0
    assert tomllib.loads(capsys.readouterr().out)["data"]["features"] == ["a"]
    (tmp_path / "f.csv").write_text("a,,y\n1,2,3\n")
    with pytest.raises(UserError, match=r"got none in column 2$"):
        read_dataset(section(), tmp_path)


@pytest.mark.parametrize("day", ["2012-01-07", "1/7/2012", "7.1.2012", "2012/01/07", "2012-01-07T12:00:00"])
def test_dates_are_called_dates(day: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "f.csv").write_text(f"a,b,y\n{day},1,2\n{day},2,2\n")
    with pytest.raises(UserError, match=r"column a must hold numbers only, got dates; leave the column out") as stop:
        read_dataset(section(), tmp_path)
    assert day not in str(stop.value)
    assert init(tmp_path, (tmp_path / "f.csv").read_text()) == 0
    out = capsys.readouterr().out
    assert tomllib.loads(out)["data"]["features"] == ["b"]
    assert '# Left out, for a date is no number: "a".' in out


@pytest.mark.parametrize("cells", ["1\n2\n3\n9\n", "1\n2\n\n3\n", "1.0\n2.0\n3.0\n7.0\n", '"1"\n"2"\n"3"\n"4"\n'])
def test_whole_numbers_are_levels(cells: str, tmp_path: Path) -> None:
    (tmp_path / "f.csv").write_text("a,y\n" + cells.replace("\n", ",1\n"))
    made = section(categories={"a": [1, 2, "3"]}, missing="drop")
    assert made.categories == {"a": ["1", "2", "3"]}
    assert read_dataset(made, tmp_path).X[:3].tolist() == np.eye(3).tolist()


@pytest.mark.parametrize("level", [True, 1.5, None, ["1"]])
def test_other_levels_are_refused(level: Any) -> None:
    with pytest.raises(ValueError, match="categories"):
        section(categories={"a": [level]})


@pytest.mark.parametrize(
    ("delimiter", "text"), [(";", "a;y\n0,5;1\n-1,25e1;2\n3;0,1\n"), ("\t", "a\ty\n0,5\t1\n-12,5\t2\n3\t,1\n")]
)
def test_a_decimal_comma_is_read(delimiter: str, text: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "f.csv").write_text(text)
    found = read_dataset(section(delimiter=delimiter, decimal=","), tmp_path)
    assert (found.X.tolist(), found.y.tolist()) == ([[0.5], [-12.5], [3.0]], [1.0, 2.0, 0.1])
    with pytest.raises(UserError, match=r'got numbers with a decimal comma; data\.decimal = "," reads them$'):
        read_dataset(section(delimiter=delimiter), tmp_path)
    assert init(tmp_path, text, "--delimiter", delimiter) == 0
    assert tomllib.loads(capsys.readouterr().out)["data"]["decimal"] == ","
    with pytest.raises(ValueError, match=r"another character than data\.delimiter"):
        section(decimal=",")


@pytest.mark.parametrize("words", [("TRUE", "FALSE"), ("True", "False"), ("true", "false")])
def test_true_and_false_are_1_and_0(words: tuple[str, str], tmp_path: Path) -> None:
    yes, no = words
    (tmp_path / "f.csv").write_text(f"a,y\n{yes},1\n{no},{1}\n,1\n")
    assert read_dataset(section(missing="drop"), tmp_path).X.tolist() == [[1.0], [0.0]]
    (tmp_path / "f.csv").write_text(f"a,y\n{yes},{no}\n{no},{yes}\n")
    assert read_dataset(section(), tmp_path).y.tolist() == [0.0, 1.0]


def test_a_text_column_has_no_range_to_fill_in(tmp_path: Path, capsys: Captured) -> None:
    assert init(tmp_path, "a,art,y\n1,Adelie,2\n2,Gentoo,3\nNA,NA,4\n") == 0
    raw = tomllib.loads(capsys.readouterr().out)["data"]
    assert (list(raw["ranges"]), raw["categories"]) == (["a"], {"art": ["REQUIRED"]})


# --- a misspelt level -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("levels", "noted"),
    [
        (["adelie", "Gentoo"], ["adelie"]),
        (["adelie", "gentoo"], ["adelie", "gentoo"]),
        (["Adelie", "Gentoo "], ["Gentoo "]),
        (["Adelie", "Gentoo"], []),
        (["Adelie", "Gentoo", "Chinstrap"], []),  # may occur in other data
        (["Adelie"], []),  # the others are all 0, on purpose
    ],
)
def test_a_level_that_never_occurs_is_noted_where_others_are_no_level(
    levels: list[str], noted: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("verify.certificates.reading.source.CHUNK", 2)
    (tmp_path / "f.csv").write_text("a,y\nAdelie,1\nGentoo,1\nAdelie,1\nGentoo,1\n")
    lines: list[str] = []
    read_dataset(section(categories={"a": levels}), tmp_path, note=lines.append)
    assert [line.split("the level '")[1].split("', and")[0] for line in lines] == noted


@pytest.mark.parametrize("audience", ["curator", "release"])
def test_the_note_is_for_the_curator_alone(
    audience: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("f.csv").write_text("a,y\n" + "Adelie,0.5\n" * 9)
    data = '[data]\nfile = "f.csv"\nfeatures = ["a"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 1.0\n'
    Path("d.toml").write_text(data + 'categories.a = ["adelie"]\n' + SSP + QUICK + dp(3.0))
    with unrendered():
        assert invoke(["certify", "d.toml", "--out", "out", "--audience", audience]) == 0
    assert ("is it spelt as in the file" in capsys.readouterr().err) is (audience == "curator")
    for path in Path("out").rglob("*.*"):
        assert path.is_dir() or b"is it spelt" not in path.read_bytes()
