"""Reading regression files in every format, their faults in one line, and W18's preprocessing."""

from __future__ import annotations

import math
from pathlib import Path
from types import MappingProxyType

import numpy as np
import pytest
from rows import for_each
from scipy.io import savemat

from mechanisms.data.dataset import DataError, Dataset
from mechanisms.data.uci import GUESSED, TableForm, as_in_wang2018, coded, read_table, regression_of

TABLE = np.array([[1.0, 2.0, 3.5], [4.0, -5.0, 6.0], [7.0, 8.0, -9.25], [0.5, 1.0, 2.0]])
ROWS = [" ".join(f"{v:g}" for v in row) for row in TABLE]


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


def read_regression(path: Path, *, target=-1, drops=(), codes=MappingProxyType({}), form=GUESSED) -> Dataset:
    """The steps of a published set, one after the other; a MATLAB file may name its response y."""
    frame = read_table(path, form)
    target = "y" if path.suffix == ".mat" and "y" in frame.columns else target
    return regression_of(coded(frame, codes, path.name), target, drops, path)


@for_each(
    ("name", "text"),
    [
        ("a.csv", "\n".join(row.replace(" ", ",") for row in ROWS)),
        ("b.csv", "one,two,out\n" + "\n".join(row.replace(" ", ",") for row in ROWS)),
        ("c.csv", '"one";"two";"out"\n' + "\n".join(row.replace(" ", ";") for row in ROWS)),
        ("d.txt", "\n".join("  " + row.replace(" ", "   ") for row in ROWS)),
        ("e.data", "\n".join(ROWS)),
        ("f.tsv", "one\ttwo\tout\n" + "\n".join(row.replace(" ", "\t") for row in ROWS)),
        (
            "g.arff",
            "@relation r\n@attribute one numeric\n@attribute two real\n@attribute out numeric\n@data\n"
            + "\n".join(row.replace(" ", ",") for row in ROWS),
        ),
    ],
)
def test_every_text_format_gives_the_same_numbers(tmp_path: Path, name: str, text: str) -> None:
    found = read_regression(write(tmp_path, name, text))
    assert np.array_equal(found.X, TABLE[:, :2])
    assert np.array_equal(found.y, TABLE[:, 2])
    assert found.name == Path(name).stem
    assert found.x_bound == math.inf


def test_matlab_files_hold_x_and_y_or_one_matrix(tmp_path: Path) -> None:
    savemat(tmp_path / "xy.mat", {"X": TABLE[:, :2], "y": TABLE[:, 2:]})
    savemat(tmp_path / "one.mat", {"data": TABLE, "n": 4.0})
    for name in ("xy.mat", "one.mat"):
        found = read_regression(tmp_path / name)
        assert np.array_equal(found.X, TABLE[:, :2])
        assert np.array_equal(found.y, TABLE[:, 2])
    first = read_regression(tmp_path / "one.mat", target=0)
    assert np.array_equal(first.y, TABLE[:, 0])


def test_target_by_name_or_place(tmp_path: Path) -> None:
    path = write(tmp_path, "b.csv", "one,two,out\n" + "\n".join(row.replace(" ", ",") for row in ROWS))
    assert np.array_equal(read_regression(path, target="two").y, TABLE[:, 1])
    assert np.array_equal(read_regression(path, target=0).X, TABLE[:, 1:])


def test_missing_cells_and_words(tmp_path: Path) -> None:
    """A record with a missing cell is left out; a column of words becomes one indicator a word."""
    found = read_regression(write(tmp_path, "w.csv", "a,b,y\n1,red,2\n?,red,3\n4,blue,5\n6,?,7\n"))
    assert np.array_equal(found.X, [[1.0, 0.0, 1.0], [4.0, 1.0, 0.0]])
    assert np.array_equal(found.y, [2.0, 5.0])
    assert "2 records with a missing cell left out" in found.steps
    header = "@relation r\n@attribute a numeric\n@attribute b {red,blue}\n@attribute y numeric\n@data\n"
    arff = header + "1,red,2\n4,blue,5\n6,?,7\n"
    assert np.array_equal(read_regression(write(tmp_path, "w.arff", arff)).X, found.X)


def test_columns_left_out_and_words_as_numbers(tmp_path: Path) -> None:
    """By hand: drops by name and by place; yes is 1 and no is 0 in a feature, the response becomes +-1."""
    path = write(tmp_path, "d.csv", "id,a,b,label\n1,5,yes,ckd\n2,6,no,notckd\n3,7,yes,ckd\n")
    codes = {"b": {"yes": 1.0, "no": 0.0}, "label": {"ckd": 1.0, "notckd": -1.0}}
    found = read_regression(path, drops=["id"], codes=codes)
    assert np.array_equal(found.X, [[5, 1], [6, 0], [7, 1]])
    assert np.array_equal(found.y, [1, -1, 1])
    assert "column id left out" in found.steps
    assert np.array_equal(read_regression(path, drops=[0, -2], codes=codes).X, [[5], [6], [7]])
    by_place = {2: codes["b"], -1: codes["label"]}
    assert np.array_equal(read_regression(path, drops=[0], codes=by_place).X, found.X)
    with pytest.raises(DataError, match="column 'label' must hold one of ckd, got something else") as caught:
        read_regression(path, codes={"label": {"ckd": 1.0}})
    assert "notckd" not in str(caught.value)
    with pytest.raises(DataError, match="drop must be a column of"):
        read_regression(path, drops=["c"], codes=codes)
    with pytest.raises(DataError, match="column must be a column of"):
        read_regression(path, codes={"c": codes["b"]})
    with pytest.raises(DataError, match="besides the response"):
        read_regression(path, drops=["id", "a", "b"], codes=codes)


def test_numbers_that_stand_for_others(tmp_path: Path) -> None:
    """A column of numbers is a column of words where every number is one of them, and stays as it is where not."""
    path = write(tmp_path, "s.csv", "service,kind,y\n671004572,2,1\n457008451,1,2\n671004572,2,3\n")
    codes = {"service": {"671004572": 1.0, "457008451": 2.0}, "kind": {"gas": 1.0, "diesel": 2.0}}
    assert np.array_equal(read_regression(path, codes=codes).X, [[1, 2], [2, 1], [1, 2]])


@for_each(
    ("name", "text", "message"),
    [
        ("a.xls", "1,2", "suffix must be one of"),
        ("a.csv", "", "at least one complete record"),
        ("b.csv", "1\n2\n", "at least two columns"),
        ("c.csv", "1,?\n?,2\n", "at least one complete record"),
        ("d.csv", "1,2\n1,2,3,4\n", "same number of cells"),
        ("e.csv", "a,b\n1,red\n2,blue\n", "numeric column"),
        ("f.arff", "no header\n1,2\n", "must be ARFF"),
        ("g.mat", "not a matrix", "must be MATLAB"),
    ],
)
def test_faults_are_one_line(tmp_path: Path, name: str, text: str, message: str) -> None:
    with pytest.raises(DataError, match=message) as caught:
        read_regression(write(tmp_path, name, text))
    assert "\n" not in str(caught.value)


def test_wrong_targets(tmp_path: Path) -> None:
    path = write(tmp_path, "b.csv", "one,two\n1,2\n3,4\n")
    with pytest.raises(DataError, match="column of"):
        read_regression(path, target="three")
    with pytest.raises(DataError, match="target must be in"):
        read_regression(path, target=2)
    with pytest.raises(DataError, match="exists"):
        read_regression(tmp_path / "none.csv")
    savemat(tmp_path / "two.mat", {"a": TABLE, "b": TABLE})
    with pytest.raises(DataError, match="2 matrices"):
        read_regression(tmp_path / "two.mat")


def test_preprocessing_of_wang2018() -> None:
    """By hand: columns (1, 3), (2, 2) have z-scores (-1, 1), (0, 0); rows of norm 1; y = (1, 5) becomes (-1, 1)."""
    found = as_in_wang2018(Dataset(np.array([[1.0, 2.0], [3.0, 2.0]]), np.array([1.0, 5.0]), math.inf, math.inf))
    assert np.array_equal(found.X, [[-1.0, 0.0], [1.0, 0.0]])
    assert np.array_equal(found.y, [-1.0, 1.0])
    assert (found.x_bound, found.y_bound) == (1.0, 1.0)
    assert len(found.data_dependent) == 2
    constant = as_in_wang2018(Dataset(np.array([[1.0], [2.0]]), np.array([4.0, 4.0]), math.inf, math.inf))
    assert np.array_equal(constant.y, [0.0, 0.0])


#: Lines of the kind that the kidney data have, faults and all: tabs and blanks in words, a comma too many at the end,
#: an empty cell too many in the middle.
KIDNEY = """% a remark, with commas
@relation Chronic_Kidney_Disease

@attribute 'age' numeric
@attribute 'sg' {1.005,1.010}
@ATTRIBUTE  dm {yes,no}
@attribute 'cad' {yes,no}\t
@attribute "class" {ckd,notckd}

@data
48,1.005,yes,no,ckd
?,1.010, yes,no,ckd
62,1.010,\tyes,\tno,ckd\t
53,1.005,no ,yes,ckd,
75,1.010,no,,no,notckd
\t?,\t?,no,no,notckd

"""


@for_each("end", ["\n", "\r\n", "\r"])
def test_the_kidney_file_as_it_is_published(tmp_path: Path, end: str) -> None:
    path = write(tmp_path, "kidney.arff", KIDNEY.replace("\n", end))
    frame = read_table(path)
    assert list(frame.columns) == ["age", "sg", "dm", "cad", "class"]
    assert frame["dm"].tolist() == ["yes", "yes", "yes", "no", "no", "no"]
    assert frame["cad"].tolist() == ["no", "no", "no", "yes", "no", "no"]
    assert frame["class"].tolist() == ["ckd"] * 4 + ["notckd"] * 2
    assert np.array_equal(frame["age"], [48, np.nan, 62, 53, 75, np.nan], equal_nan=True)
    found = read_regression(path, codes={"class": {"ckd": 1.0, "notckd": -1.0}})
    assert found.dim == 6  # age, sg, and two indicators for each column of words: no level more
    assert np.array_equal(found.y, [1, 1, 1, -1])


@for_each(
    "fault",
    [
        KIDNEY.replace("@data", ""),
        KIDNEY.replace("numeric", "relational"),
        KIDNEY.replace("@attribute 'age' numeric\n", ""),
        KIDNEY.replace("48,1.005,yes,no,ckd", "48,1.005,yes,ckd"),
        KIDNEY.replace("48,1.005,yes,no,ckd", "{0 48, 2 yes}"),
        KIDNEY[: KIDNEY.index("48")],
        KIDNEY.replace("48,", "4" * 140_000 + ","),
    ],
)
def test_what_is_no_table_of_arff_is_refused_in_one_line(tmp_path: Path, fault: str) -> None:
    with pytest.raises(DataError) as caught:
        read_table(write(tmp_path, "k.arff", fault))
    assert "\n" not in str(caught.value)
    assert "48" not in str(caught.value)


def test_arff_by_another_name(tmp_path: Path) -> None:
    """KEEL's .dat files are ARFF, with ranges behind the types and lists of inputs and outputs."""
    head = "@relation k\n@attribute a real [0.5, 1]\n@attribute b integer [1, 2]\n@inputs a\n@outputs b\n@data\n"
    assert read_table(write(tmp_path, "k.dat", f"{head}0.5, 1\n1, 2\n")).to_numpy().tolist() == [
        [0.5, 1],
        [1, 2],
    ]


def test_a_form_says_what_the_first_line_does_not(tmp_path: Path) -> None:
    """By hand: dates and times taken apart by their own marks; lines before the records; names."""
    path = write(tmp_path, "t.txt", "# 1:Date 2:Time 3:Value\n13/03/2012 11:45 18.5 \n14/03/2012 12:00  -1.5 \n")
    frame = read_table(path, TableForm(" /:", header=1, named=False))
    assert frame.to_numpy().tolist() == [[13, 3, 2012, 11, 45, 18.5], [14, 3, 2012, 12, 0, -1.5]]
    path = write(tmp_path, "p.csv", "remark\nx,y\n1,2\n3,4\n")
    assert list(read_table(path, TableForm(",", header=2)).columns) == ["x", "y"]
    assert list(read_table(path, TableForm(",", header=2, names=("u", "v"))).columns) == ["u", "v"]
    with pytest.raises(DataError, match="must have 3 columns, got 2"):
        read_table(path, TableForm(",", header=2, names=("u", "v", "w")))


def test_lines_of_more_cells_than_the_header_are_no_index(tmp_path: Path) -> None:
    assert read_table(write(tmp_path, "a.csv", "x,y\n1,2,\n3,4,\n")).to_numpy().tolist() == [[1, 2], [3, 4]]
    with pytest.raises(DataError, match="same number of cells"):
        read_table(write(tmp_path, "b.csv", "x,y\n1,2,3\n4,5,6\n"))


def test_bytes_that_nobody_wrote(tmp_path: Path) -> None:
    """A compressed MATLAB file cut and spoilt, a number beyond floating point, and a folder for a file."""
    savemat(tmp_path / "m.mat", {"data": np.arange(600.0).reshape(200, 3)}, do_compression=True)
    whole = (tmp_path / "m.mat").read_bytes()
    for place in range(130, len(whole), 40):
        (tmp_path / "m.mat").write_bytes(whole[:place] + b"\x5a\xa5" + whole[place + 2 :])
        with pytest.raises(DataError, match="must be MATLAB"):
            read_table(tmp_path / "m.mat")
    with pytest.raises(DataError, match="within floating point"):
        read_table(write(tmp_path, "n.csv", f"x,y\n1,2\n{'9' * 400},3\n"))
    (tmp_path / "f.csv").mkdir()
    with pytest.raises(DataError, match="file that exists"):
        read_table(tmp_path / "f.csv")
