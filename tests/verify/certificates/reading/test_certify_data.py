"""Records from files: the rules for columns, missing values, text, delimiters, headers; no error shows a cell."""

from __future__ import annotations

import gzip
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from oracles.verify.deployment import read_csv

from mechanisms import load as load_embedded
from verify.certificates.config.config import DataSection
from verify.certificates.reading import source as data_files
from verify.certificates.reading.data_files import read_dataset
from verify.messages.errors import UserError

RANGES = {"a": (-1.0, 1.0), "b": (0.0, 50.0)}
SECRET = 31337.125


def section(file: str, **more: object) -> DataSection:
    base = {"file": file, "features": ["a", "b"], "target": "y", "x_bound": 1.0, "y_bound": 1.0, "ranges": RANGES}
    return DataSection.model_validate(base | more)


def table(n: int = 37) -> pd.DataFrame:
    index = np.arange(n)
    return pd.DataFrame(
        {"b": 25 + 24 * np.sin(index), "y": np.cos(index), "unused": index, "a": np.sin(3.1 * index) / 3}
    )


WRITERS: dict[str, Callable[[Path], dict[str, object]]] = {}


def writer(name: str) -> Callable[[Callable[[Path], dict[str, object]]], Callable[[Path], dict[str, object]]]:
    def keep(function: Callable[[Path], dict[str, object]]) -> Callable[[Path], dict[str, object]]:
        WRITERS[name] = function
        return function

    return keep


@writer("data.csv")
def _csv(path: Path) -> dict[str, object]:
    table().to_csv(path, index=False)
    return {}


@writer("data.tsv")
def _tsv(path: Path) -> dict[str, object]:
    table().to_csv(path, index=False, sep="\t")
    return {"delimiter": "\t"}


@writer("data.csv.gz")
def _gz(path: Path) -> dict[str, object]:
    with gzip.open(path, "wt") as file:
        table().to_csv(file, index=False)
    return {}


@writer("bare.csv")
def _bare(path: Path) -> dict[str, object]:
    table().to_csv(path, index=False, header=False)
    return {"header": False, "features": ["3", "0"], "target": "1", "ranges": {"3": RANGES["a"], "0": RANGES["b"]}}


@writer("data.parquet")
def _parquet(path: Path) -> dict[str, object]:
    table().to_parquet(path)
    return {}


@writer("data.npy")
def _npy(path: Path) -> dict[str, object]:
    np.save(path, table().to_numpy(dtype=np.float64))
    return {"features": ["3", "0"], "target": "1", "ranges": {"3": RANGES["a"], "0": RANGES["b"]}}


@writer("data.npz")
def _npz(path: Path) -> dict[str, object]:
    frame = table()
    np.savez(path, X=frame[["a", "b"]].to_numpy(), y=frame["y"].to_numpy())
    return {"features": ["0", "1"], "target": "y", "ranges": {"0": RANGES["a"], "1": RANGES["b"]}}


@pytest.mark.parametrize("chunk", [1, 5, 36, 37, 50_000])
@pytest.mark.parametrize("name", list(WRITERS))
def test_every_format_gives_the_same_records_in_any_chunks(
    name: str, chunk: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(data_files, "CHUNK", chunk)
    more = WRITERS[name](tmp_path / name)
    _csv(tmp_path / "plain.csv")
    X, y = read_csv(tmp_path / "plain.csv", ["a", "b"], "y", ranges=RANGES)
    found = read_dataset(section(name, **more), tmp_path)
    np.testing.assert_allclose(found.X, X, rtol=1e-15, atol=1e-16)
    np.testing.assert_array_equal(found.y, y)


def test_text_columns_and_labels_become_public_numbers(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("a;city;y\n0.5;A;yes\n-0.5;Z;no\n0;B;no\n", encoding="utf-8")
    made = section(
        "t.csv",
        features=["a", "city"],
        ranges={"a": (-1, 1)},
        categories={"city": ["A", "B"]},
        labels={"yes": 1, "no": -1},
        delimiter=";",
        intercept=1.0,
    )
    found = read_dataset(made, tmp_path)
    np.testing.assert_allclose(found.X, np.array([[0.5, 1, 0, 1], [-0.5, 0, 0, 1], [0, 0, 1, 1]]) / 2, rtol=1e-15)
    assert found.y.tolist() == [1.0, -1.0, -1.0]
    assert any("another level is all 0" in step for step in found.steps)


@pytest.mark.parametrize(("log", "expected"), [("log", [0.0, 1.0]), ("log1p", [np.log(2), np.log(1 + np.e)])])
def test_the_logarithm_of_a_response_comes_before_all_else(tmp_path: Path, log: str, expected: list[float]) -> None:
    (tmp_path / "data.csv").write_text(f"a,b,y\n0,1,1\n1,2,{np.e!r}\n", encoding="utf-8")
    found = read_dataset(section("data.csv", log=log, response_scale=2.0), tmp_path)
    assert found.y == pytest.approx(np.array(expected) / 2, rel=1e-15, abs=1e-15)
    assert found.steps.index(f"{log} of the response") < found.steps.index("response divided by 2")
    labels = read_dataset(section("data.csv", log=log, threshold=0.9), tmp_path)
    assert labels.y.tolist() == [-1.0, 1.0]


def test_there_is_no_logarithm_of_what_is_not_above_0(tmp_path: Path) -> None:
    (tmp_path / "data.csv").write_text(f"a,b,y\n0,1,{-SECRET}\n", encoding="utf-8")
    for log, floor in (("log", "0"), ("log1p", "-1")):
        with pytest.raises(UserError, match=f"column y must be above {floor} for data.log = '{log}'") as refusal:
            read_dataset(section("data.csv", log=log), tmp_path)
        assert str(SECRET) not in str(refusal.value)


def test_missing_values_are_refused_or_their_records_left_out(tmp_path: Path) -> None:
    (tmp_path / "m.csv").write_text("a,b,y\n0.1,1,0.5\n,2,0.5\n0.2,3,\n0.3,4,-0.5\n", encoding="utf-8")
    with pytest.raises(UserError, match="column a must have no missing value"):
        read_dataset(section("m.csv"), tmp_path)
    found = read_dataset(section("m.csv", missing="drop"), tmp_path)
    assert found.y.tolist() == [0.5, -0.5]
    assert "records with a missing value left out" in found.steps


def test_rows_and_responses_beyond_the_bounds(tmp_path: Path) -> None:
    (tmp_path / "l.csv").write_text(f"a,b,y\n{SECRET},1,0.5\n0.1,2,{SECRET}\n", encoding="utf-8")
    with pytest.raises(UserError, match=r"data.x_bound must be at least every row's norm") as stop:
        read_dataset(section("l.csv"), tmp_path)
    assert "31337" not in str(stop.value)
    with pytest.raises(UserError, match=r"data.y_bound must be at least every \|response\|") as stop:
        read_dataset(section("l.csv", rows="clip"), tmp_path)
    assert "31337" not in str(stop.value)
    found = read_dataset(section("l.csv", rows="clip", response="clip"), tmp_path)
    assert np.linalg.norm(found.X, axis=1).max() <= 1 + 1e-12
    assert found.y.tolist() == [0.5, 1.0]
    unit = read_dataset(section("l.csv", rows="unit", response="clip"), tmp_path)
    np.testing.assert_allclose(np.linalg.norm(unit.X, axis=1), 1.0, rtol=1e-12)


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        ("a,b,y\nsecret-31337,1,1\n", {}, "column a must hold numbers only, got text"),
        ("a,b,y\n1,2,secret-31337\n", {}, "column y must hold numbers only, got text"),
        ("a,y\n1,1\n", {}, "data.features and data.target must be columns, got b"),
        ("a,bb,y\n1,2,3\n", {}, "got b; did you mean bb"),
        ("a,b,b,y\n1,1,1,1\n", {}, "columns must have names of their own, got one name in columns 2 and 3"),
        ("", {}, "data.file must be a table"),
        ("a,b,y\n", {}, "data.file must hold at least one record, got none"),
        ('a,b,y\n0,1,1\n0,"31337,1\n', {}, "data.file must be a table"),
        (
            "a,b,y\n0,no,1\n0\n31337,yes,1\n",
            {"categories": {"b": ["yes", "no"]}, "ranges": {}},
            "column b must have no missing value",
        ),
        ("a,b,y\n0,1,1\n0\n", {}, "column b must have no missing value"),
        ("a,b,y\n0,1,31337\n", {"labels": {"yes": 1.0}}, "column y must hold only the levels of data.labels"),
        ("a,b,y\n0,inf,1\n", {"missing": "drop"}, "column b must have no infinite value"),
        ("0,1,1\n", {"header": False}, "data.features must be column numbers as text"),
        ("a,b,y\n0,1,1\n", {"features": ["a", "y"], "ranges": {}}, "data.features must not hold the target"),
        ("a,b,y\n0,1,1\n", {"features": ["a"]}, "data.features must name every column of ranges"),
    ],
)
def test_mistakes_name_the_column_and_never_a_cell(
    content: str, more: dict[str, object], message: str, tmp_path: Path
) -> None:
    (tmp_path / "data.csv").write_text(content, encoding="utf-8")
    with pytest.raises(UserError) as stop:
        read_dataset(section("data.csv", **more), tmp_path)
    assert message in str(stop.value)
    assert "31337" not in str(stop.value)


@pytest.mark.parametrize("name", ["data.csv", "data.parquet", "data.npy", "data.npz"])
def test_a_file_without_records_is_one_line_in_every_format(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(globals(), "table", lambda: pd.DataFrame({c: np.empty(0) for c in ("b", "y", "u", "a")}))
    more = WRITERS[name](tmp_path / name)
    with pytest.raises(UserError, match=r"^data\.file must hold at least one record, got none$"):
        read_dataset(section(name, **more), tmp_path)


def test_public_ranges_of_the_embedded_data_are_used_as_they_are() -> None:
    found = read_dataset(DataSection.model_validate({"source": "fair"}), Path())
    assert found.digest == load_embedded("fair").digest


def test_z_scores_are_named_as_read_off_the_data(tmp_path: Path) -> None:
    table().to_csv(tmp_path / "z.csv", index=False)
    found = read_dataset(section("z.csv", standardise=True), tmp_path)
    assert found.data_dependent
    np.testing.assert_allclose(found.X.std(axis=0), 1.0, rtol=1e-12)
    assert np.isinf(found.x_bound)


def test_the_largest_number_there_is_becomes_a_long_row(tmp_path: Path) -> None:
    """Divided by a narrow public range it would be infinite: what a stated rule allows must not stop the run."""
    (tmp_path / "d.csv").write_text("a,b,y\n1.7e308,-1.7e308,1\n0.01,0,-1\n")
    section = DataSection(
        file="d.csv", features=["a", "b"], target="y", x_bound=1.0, y_bound=1.0, rows="clip",
        ranges={"a": (-0.1, 0.1), "b": (-0.1, 0.1)},
    )  # fmt: skip
    found = read_dataset(section, tmp_path)
    assert np.linalg.norm(found.X, axis=1)[0] == pytest.approx(1.0)
    assert found.X[0, 0] == -found.X[0, 1] > 0
