"""Regression files as the UCI repository ships them: the user supplies the folder; CSV, whitespace, ARFF or MATLAB."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np

from .dataset import DataError, Dataset, FloatArray, UnitRows, z_score

#: How each file suffix is read.
FORMATS: Final = {
    ".csv": "delimited",
    ".txt": "delimited",
    ".tsv": "delimited",
    ".data": "delimited",
    ".dat": "delimited",
    ".arff": "arff",
    ".mat": "matlab",
}
#: What stands for a missing cell; records with one are left out.
MISSING: Final = ("", "?", "NA", "NaN", "nan")


def regression_files(folder: Path | str) -> tuple[Path, ...]:
    """Return the files of a folder, sorted by name, whose suffix is one of ``FORMATS``.

    Raises
    ------
    DataError
        If it is no folder, or holds no such file.
    """
    folder = Path(folder)
    if not folder.is_dir():
        raise DataError(f"folder must be a folder that exists, got folder={folder}")
    files = tuple(sorted(p for p in folder.iterdir() if p.is_file() and p.suffix.lower() in FORMATS))
    if not files:
        raise DataError(f"folder must hold a file ending in {', '.join(FORMATS)}, got none in folder={folder}")
    return files


def read_regression(path: Path | str, *, target: str | int = -1) -> Dataset:
    """Return one file as a data set without public bounds; nothing is scaled.

    Parameters
    ----------
    path : path
        A text table (comma, semicolon, tab or spaces; with or without a header), an ARFF file, or a MATLAB file (up to
        version 7.2) that holds ``X`` and ``y``, or one matrix.
    target : str or int
        The response: a column's name, or its place (0 the first, -1 the last). A MATLAB file with ``X`` and ``y``
        needs none.

    Returns
    -------
    Dataset
        ``x_bound = y_bound = inf``; columns that are not numeric become one indicator a value (ARFF and text alike).

    Raises
    ------
    DataError
        If the file cannot be read as one of these, or leaves no record; the message never quotes a cell.
    """
    path = Path(path)
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"suffix must be one of {', '.join(FORMATS)}, got path={path.name}")
    if not path.is_file():
        raise DataError(f"path must be a file that exists, got path={path}")
    if kind == "matlab":
        X, y, steps = _matlab(path, target)
    else:
        X, y, steps = _split(_delimited(path) if kind == "delimited" else _arff(path), target, path.name)
    keep = np.isfinite(X).all(axis=1) & np.isfinite(y)
    if not keep.any():
        raise DataError(f"file must hold at least one complete record, got none in {path.name}")
    if not keep.all():
        steps = (*steps, f"{int((~keep).sum())} records with a missing cell left out")
    return Dataset(X[keep], y[keep], math.inf, math.inf, name=path.stem, public=True, steps=steps)


def as_in_wang2018(dataset: Dataset) -> Dataset:
    """Return the data set under W18's preprocessing: z-scores, then every row of norm 1; ``x_bound = y_bound = 1``.

    Not a private step: means, standard deviations and the largest response are read off the data, and the result names
    them in ``data_dependent``. That the response is divided by its largest absolute z-score is not stated in the paper;
    it gives the bound of 1 that the algorithms need.
    """
    scaled = z_score(dataset)
    rows = UnitRows()
    centred = dataset.y - dataset.y.mean()
    largest = float(np.abs(centred).max())
    note = "response centred, and divided by its largest absolute value, read off the data"
    return replace(
        scaled,
        X=rows(scaled.X),
        y=centred / largest if largest > 0 else centred,
        x_bound=1.0,
        y_bound=1.0,
        steps=(*scaled.steps, str(rows), note),
        data_dependent=(*scaled.data_dependent, note),
    )


def _delimited(path: Path) -> Any:
    """Return a table of text cells from a delimited file; its first line is a header if no cell in it is a number."""
    import pandas as pd  # slow to import, and needed by nothing else here

    try:
        with path.open(encoding="utf-8-sig") as lines:
            first = next((line for line in lines if line.strip()), "")
    except UnicodeDecodeError:
        raise DataError(f"file must be UTF-8 text, got something else in {path.name}") from None
    if not first:
        raise DataError(f"file must hold at least one complete record, got an empty file {path.name}")
    separator = next((mark for mark in (",", ";", "\t") if mark in first), r"\s+")
    cells = first.strip().split(None if separator == r"\s+" else separator)
    header = 0 if not any(_is_number(cell.strip().strip('"')) for cell in cells) else None
    try:
        return pd.read_csv(
            path,
            sep=separator,
            header=header,
            na_values=list(MISSING),
            skipinitialspace=True,
            encoding="utf-8-sig",
            comment="%" if path.suffix.lower() in (".dat", ".data") else None,
        )
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        raise DataError(
            f"file must have the same number of cells in every line, got something else in {path.name}"
        ) from None


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("?", "")
    return True


def _arff(path: Path) -> Any:
    import pandas as pd
    from scipy.io import arff

    try:
        records, _ = arff.loadarff(path)
    except (arff.ArffError, RuntimeError, ValueError, StopIteration, UnicodeDecodeError):
        raise DataError(
            f"file must be ARFF with numeric or nominal attributes, got something else in {path.name}"
        ) from None
    frame = pd.DataFrame(records)
    for column in frame.columns:
        if frame[column].dtype == object:
            text = frame[column].str.decode("utf-8")
            frame[column] = text.where(text != "?")
    return frame


def _split(frame: Any, target: str | int, name: str) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return features, response and the steps taken from a table."""
    import pandas as pd

    columns = list(frame.columns)
    if len(columns) < 2:
        raise DataError(f"file must have at least two columns, got {len(columns)} in {name}")
    if isinstance(target, str):
        if target not in columns:
            raise DataError(f"target must be a column of {name}, got target={target!r}")
        place = columns.index(target)
    elif not -len(columns) <= target < len(columns):
        raise DataError(f"target must be in [-{len(columns)}, {len(columns) - 1}] for {name}, got target={target}")
    else:
        place = target % len(columns)
    response = pd.to_numeric(frame.iloc[:, place], errors="coerce")
    if response.isna().all():
        raise DataError(f"target must be a numeric column, got column {columns[place]!r} of {name}")
    rest = frame.drop(columns=columns[place])
    steps = [f"response {columns[place]}"]
    blocks = []
    for column in rest.columns:
        values = rest[column]
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.notna().sum() >= 0.5 * max(int(values.notna().sum()), 1):
            blocks.append(numbers.to_numpy(dtype=np.float64)[:, None])
            continue
        indicators = pd.get_dummies(values).to_numpy(dtype=np.float64, copy=True)
        indicators[values.isna().to_numpy()] = np.nan
        blocks.append(indicators)
        steps.append(f"column {column} turned into {indicators.shape[1]} indicators")
    return np.hstack(blocks), response.to_numpy(dtype=np.float64), tuple(steps)


def _matlab(path: Path, target: str | int) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    from scipy.io import loadmat
    from scipy.io.matlab import MatReadError

    try:
        arrays = {key: np.asarray(value) for key, value in loadmat(path).items() if not key.startswith("__")}
    except (MatReadError, RuntimeError, ValueError, TypeError, IndexError, OSError):
        raise DataError(f"file must be MATLAB of version 7.2 or older, got something else in {path.name}") from None
    matrices = {key: value for key, value in arrays.items() if value.ndim == 2 and value.dtype.kind in "fiub"}
    lower = {key.lower(): value for key, value in matrices.items()}
    if "x" in lower and "y" in lower:
        X, y = np.asarray(lower["x"], dtype=np.float64), np.asarray(lower["y"], dtype=np.float64).ravel()
        if len(y) != len(X):
            raise DataError(f"X and y must have one row a record, got {X.shape} and {len(y)} in {path.name}")
        return X, y, ("X and y of the MATLAB file",)
    tables = {key: value for key, value in matrices.items() if min(value.shape) > 1}
    if len(tables) != 1:
        raise DataError(
            f"file must hold X and y, or one matrix, got {len(tables)} matrices ({', '.join(tables)}) in {path.name}"
        )
    ((key, table),) = tables.items()
    if not isinstance(target, int) or not -table.shape[1] <= target < table.shape[1]:
        raise DataError(f"target must be a column number of matrix {key}, got target={target!r}")
    values = np.asarray(table, dtype=np.float64)
    place = target % values.shape[1]
    return np.delete(values, place, axis=1), values[:, place], (f"column {place} of matrix {key} as response",)
