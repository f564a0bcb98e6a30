"""Tables of every layout, and ARFF as it is published: stray blanks, tabs and commas, missing cells."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from scipy.io import savemat

from mechanisms.data.dataset import DataError
from mechanisms.data.uci import TableForm, read_regression, read_table

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


def write(folder: Path, name: str, text: str) -> Path:
    path = folder / name
    path.write_text(text, encoding="utf-8", newline="")
    return path


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
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


@pytest.mark.parametrize(
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
    assert read_table(write(tmp_path, "k.dat", f"{head}0.5, 1\n1, 2\n")).to_numpy().tolist() == [[0.5, 1], [1, 2]]


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
