"""Regression files as the UCI repository ships them: the user supplies the folder; CSV, whitespace, ARFF or MATLAB."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, TypeAlias

import numpy as np

from .dataset import DataError, Dataset, FloatArray, UnitRows, z_score
from .text_tables import FORMATS, GUESSED, TableForm, read_table

#: For a column, by name or place, the number that each of its words stands for.
Codes: TypeAlias = Mapping[str | int, Mapping[str, float]]


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


def read_regression(
    path: Path | str,
    *,
    target: str | int = -1,
    drops: Sequence[str | int] = (),
    codes: Codes = MappingProxyType({}),
    form: TableForm = GUESSED,
) -> Dataset:
    """Return one file as a data set without public bounds; nothing is scaled.

    Parameters
    ----------
    path : path
        A text table (comma, semicolon, tab or spaces; with or without a header), an ARFF file, or a MATLAB file (up to
        version 7.2) that holds ``X`` and ``y``, or one matrix.
    target : str or int
        The response: a column's name, or its place (0 the first, -1 the last). A MATLAB file with ``X`` and ``y``
        needs none.
    drops : sequence of str or int
        Columns that are left out, by name or place in the file.
    codes : mapping of str or int to mapping
        For a column of words, the number that each word stands for; the response may be one.
    form : TableForm
        How a text file is laid out, where its first line does not show it.

    Returns
    -------
    Dataset
        ``x_bound = y_bound = inf``; other columns that are not numeric become one indicator a value (ARFF and text
        alike).

    Raises
    ------
    DataError
        If the file cannot be read as one of these, or leaves no record; the message never quotes a cell.
    """
    path = Path(path)
    frame = read_table(path, form)
    if path.suffix.lower() == ".mat" and "y" in frame.columns:
        target = "y"
    return regression_of(coded(frame, codes, path.name), target, drops, path)


def coded(frame: Any, codes: Codes, name: str) -> Any:
    """Return the table with the numbers that the words of some columns stand for.

    A column of numbers stays as it is, unless each of them is one of the words.

    Raises
    ------
    DataError
        If a column is not there, or holds a word without a number; the message never quotes it.
    """
    from pandas.api.types import is_numeric_dtype

    columns = list(frame.columns)
    for column, numbers in codes.items():
        label = columns[_place(columns, column, "column", name)]
        words, numeric = frame[label], is_numeric_dtype(frame[label])
        found = (words.map("{:.0f}".format) if numeric else words).map(numbers)
        if not (found.isna() & words.notna()).any():
            frame[label] = found.astype(np.float64)
        elif not numeric:
            raise DataError(f"column {label!r} must hold one of {', '.join(numbers)}, got something else in {name}")
    return frame


def regression_of(frame: Any, target: str | int, drops: Sequence[str | int], path: Path) -> Dataset:
    """Return a table's complete records as a data set without public bounds, named after the file.

    Raises
    ------
    DataError
        If a column is not there, the response is no number, or no record is complete.
    """
    X, y, steps = _split(frame, target, drops, path.name)
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


def _place(columns: list[Any], wanted: str | int, what: str, name: str) -> int:
    """Return the place of a column that is given by its name or place."""
    if isinstance(wanted, str):
        if wanted not in columns:
            raise DataError(f"{what} must be a column of {name}, got {what}={wanted!r}")
        return columns.index(wanted)
    if not -len(columns) <= wanted < len(columns):
        raise DataError(f"{what} must be in [-{len(columns)}, {len(columns) - 1}] for {name}, got {what}={wanted}")
    return wanted % len(columns)


def _split(
    frame: Any, target: str | int, drops: Sequence[str | int], name: str
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    """Return features, response and the steps taken from a table."""
    import pandas as pd

    columns = list(frame.columns)
    if len(columns) < 2:
        raise DataError(f"file must have at least two columns, got {len(columns)} in {name}")
    place = _place(columns, target, "target", name)
    left_out = {_place(columns, drop, "drop", name) for drop in drops}
    response = pd.to_numeric(frame.iloc[:, place], errors="coerce")
    if response.isna().all():
        raise DataError(f"target must be a numeric column, got column {columns[place]!r} of {name}")
    steps = [f"response {columns[place]}", *(f"column {columns[k]} left out" for k in sorted(left_out))]
    blocks = []
    for k in range(len(columns)):
        if k == place or k in left_out:
            continue
        values = frame.iloc[:, k]
        numbers = pd.to_numeric(values, errors="coerce")
        if numbers.notna().sum() >= 0.5 * max(int(values.notna().sum()), 1):
            blocks.append(numbers.to_numpy(dtype=np.float64)[:, None])
            continue
        indicators = pd.get_dummies(values).to_numpy(dtype=np.float64, copy=True)
        indicators[values.isna().to_numpy()] = np.nan
        blocks.append(indicators)
        steps.append(f"column {columns[k]} turned into {indicators.shape[1]} indicators")
    if not blocks:
        raise DataError(f"file must have a column besides the response and those left out, got none in {name}")
    return np.hstack(blocks), response.to_numpy(dtype=np.float64), tuple(steps)
