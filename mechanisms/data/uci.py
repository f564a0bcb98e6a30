"""Files of data sets as text: how a table is read, and the regression files of the UCI repository."""

from __future__ import annotations

import csv
import io
import math
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Final, TypeAlias

import numpy as np

from .dataset import DataError, Dataset, FloatArray, UnitRows, z_score

#: How each file suffix is read.
FORMATS: Final = {
    ".csv": "delimited",
    ".txt": "delimited",
    ".tsv": "delimited",
    ".data": "delimited",
    ".data1": "delimited",
    ".data2": "delimited",
    ".test": "delimited",
    ".dat": "delimited",
    ".arff": "arff",
    ".mat": "matlab",
}
#: What stands for a missing cell.
MISSING: Final = ("", "?", "NA", "NaN", "nan")

_ATTRIBUTE: Final = re.compile(r"""@attribute\s+('[^']*'|"[^"]*"|\S+)\s+(\{.*\}|\w+)""", re.IGNORECASE)
_ARFF_TYPES: Final = ("numeric", "real", "integer", "string")


@dataclass(frozen=True)
class TableForm:
    """How the cells of a text file are laid out; what is not said is guessed from the first line.

    Parameters
    ----------
    separators : str
        The characters between cells, each of them as good as another; with a blank among them, any run of them is one
        separator. Empty: the first of comma, semicolon and tab that the first line has, otherwise blanks.
    header : int or None
        How many lines stand before the records. None: one, if no cell of it is a number.
    named : bool
        Whether the last of these lines names the columns; otherwise they are numbered from 0.
    names : tuple of str
        The columns' names, where the file has none or others.
    """

    separators: str = ""
    header: int | None = None
    named: bool = True
    names: tuple[str, ...] = ()


#: Everything guessed.
GUESSED: Final = TableForm()


def read_table(path: Path, form: TableForm = GUESSED) -> Any:
    """Return a file's cells as a pandas frame: numbers as numbers, words without stray blanks and tabs, NaN if missing.

    The suffix is one of ``FORMATS``. A MATLAB file (up to version 7.2) holds one matrix, or ``X`` and ``y``; the last
    column is then named ``y``. ``form`` lays out a text file; ARFF and MATLAB say it themselves, and its ``names``
    holds for them too. ``DataError`` if there is no such file, or it is not what its suffix says; the message never
    quotes a cell.
    """
    kind = FORMATS.get(path.suffix.lower())
    if kind is None:
        raise DataError(f"suffix must be one of {', '.join(FORMATS)}, got path={path.name}")
    if not path.is_file():
        raise DataError(f"path must be a file that exists, got path={path}")
    frame = {"delimited": _delimited, "arff": _arff, "matlab": _matlab}[kind](path, form)
    if form.names:
        if len(form.names) != frame.shape[1]:
            raise DataError(f"file must have {len(form.names)} columns, got {frame.shape[1]} in {path.name}")
        frame.columns = list(form.names)
    try:
        return _without_stray_blanks(frame)
    except OverflowError:
        raise DataError(f"numbers must be within floating point, got one that is not in {path.name}") from None


def _without_stray_blanks(frame: Any) -> Any:
    """Return the frame with words stripped, missing marks as NaN, and columns that are all numbers as numbers."""
    from pandas.api.types import is_numeric_dtype

    wordy = [k for k, kind in enumerate(frame.dtypes) if not is_numeric_dtype(kind)]
    if not wordy:
        return frame
    labels, frame.columns = frame.columns, range(frame.shape[1])
    for k in wordy:
        frame[k] = _cleaned(frame[k])
    frame.columns = labels
    return frame


def _stripped(cell: Any) -> Any:
    """Return a word without its blanks, anything else as it is; digits of no float64 raise ``OverflowError``."""
    if not isinstance(cell, str):
        return cell
    word = cell.strip()
    if word[-1:].isdigit() and _is_number(word) and math.isinf(float(word)):
        raise OverflowError
    return word


def _cleaned(values: Any) -> Any:
    import pandas as pd

    values = values.astype(object).where(values.notna(), None)
    words = values.map(_stripped)
    values = words.where(~words.isin(MISSING), None)
    numbers = pd.to_numeric(values, errors="coerce").astype(np.float64)
    return numbers if numbers.notna().sum() == values.notna().sum() else values


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError:
        raise DataError(f"file must be UTF-8 text, got something else in {path.name}") from None
    except OSError as stop:
        raise DataError(f"file must be readable, got {path.name}: {stop.strerror}") from None


def _delimited(path: Path, form: TableForm) -> Any:
    """Return a table of cells from a delimited file."""
    import pandas as pd  # slow to import, and needed by nothing else here

    text = _text(path)
    first = next((line for line in text.split("\n", 100) if line.strip()), "")
    if first.lower().startswith("@relation"):  # KEEL's files are ARFF by another name
        return _arff(path, form)
    if not first:
        raise DataError(f"file must hold at least one complete record, got an empty file {path.name}")
    separators = form.separators or next((mark for mark in (",", ";", "\t") if mark in first), " ")
    blanks = " " in separators
    if len(separators) > 1:
        separators, text = separators[0], text.translate(dict.fromkeys(map(ord, separators[1:]), separators[0]))
    header = form.header
    if header is None:
        cells = first.strip().split(None if blanks else separators)
        header = 0 if any(_is_number(cell.strip().strip('"')) for cell in cells) else 1
    named = header > 0 and form.named and not form.names
    try:
        return _read_csv(
            io.StringIO(text),
            sep=r"\s+" if blanks else separators,
            header=0 if named else None,
            skiprows=header - 1 if named else header,
            na_values=list(MISSING),
            skipinitialspace=True,
            comment="%" if path.suffix.lower() in (".dat", ".data") else None,
            low_memory=False,
            index_col=False,
        )
    except (pd.errors.ParserError, pd.errors.ParserWarning, pd.errors.EmptyDataError):
        raise DataError(
            f"file must have the same number of cells in every line, got something else in {path.name}"
        ) from None


def _read_csv(text: io.StringIO, **how: Any) -> Any:
    """Return what pandas reads; a line with more cells than the header is an error, and no index is made of it."""
    import pandas as pd

    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        return pd.read_csv(text, **how)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return cell in ("?", "")
    return True


def _arff(path: Path, form: TableForm) -> Any:
    """Return the cells of an ARFF file, more kindly than the format: stray blanks, tabs and commas do no harm.

    Where its header was taken off, and the names are known, it is read as a delimited one.
    """
    import pandas as pd

    lines = [line for line in _text(path).splitlines() if line.strip() and not line.lstrip().startswith("%")]
    start = next((k for k, line in enumerate(lines) if line.strip().lower() == "@data"), None)
    if start is None and form.names:
        return _delimited(path, form)
    wrong = DataError(f"file must be ARFF with numeric or nominal attributes, got something else in {path.name}")
    names = [] if start is None else list(_attributes(lines[:start], wrong))
    if start is None or not names:
        raise wrong
    try:
        records = list(csv.reader(lines[start + 1 :], quotechar="'", skipinitialspace=True))
    except csv.Error:
        raise wrong from None
    if not records:
        raise DataError(f"file must hold at least one complete record, got none in {path.name}")
    records = [_without_stray_cells(cells, len(names)) for cells in records]
    if any(len(cells) != len(names) or cells[0].startswith("{") for cells in records):
        raise DataError(f"file must have {len(names)} cells in every line, got something else in {path.name}")
    return pd.DataFrame(records, columns=names)


def _without_stray_cells(cells: list[str], n_columns: int) -> list[str]:
    """Return the cells without the empty ones if they are too many: in ARFF a missing cell is "?", never empty."""
    return cells if len(cells) <= n_columns else [cell for cell in cells if cell.strip()]


def _attributes(lines: list[str], wrong: DataError) -> Iterator[str]:
    for line in lines:
        if not line.lstrip().lower().startswith("@attribute"):
            continue
        found = _ATTRIBUTE.match(line.strip())
        if not found or not (found[2].startswith("{") or found[2].lower() in _ARFF_TYPES):
            raise wrong
        yield found[1].strip("'\"").strip()


def _matlab(path: Path, _: TableForm) -> Any:
    import pandas as pd
    from scipy.io import loadmat

    try:
        arrays = {key: np.asarray(value) for key, value in loadmat(path).items() if not key.startswith("__")}
    except Exception:  # a damaged file comes out of its reader as whatever its bytes meet there
        raise DataError(f"file must be MATLAB of version 7.2 or older, got something else in {path.name}") from None
    matrices = {key: value for key, value in arrays.items() if value.ndim == 2 and value.dtype.kind in "fiub"}
    lower = {key.lower(): value for key, value in matrices.items()}
    if "x" in lower and "y" in lower:
        X, y = np.asarray(lower["x"], dtype=np.float64), np.asarray(lower["y"], dtype=np.float64).ravel()
        if len(y) != len(X):
            raise DataError(f"X and y must have one row a record, got {X.shape} and {len(y)} in {path.name}")
        return pd.DataFrame(np.column_stack([X, y]), columns=[*range(X.shape[1]), "y"])
    tables = {key: value for key, value in matrices.items() if min(value.shape) > 1}
    if len(tables) != 1:
        raise DataError(
            f"file must hold X and y, or one matrix, got {len(tables)} matrices ({', '.join(tables)}) in {path.name}"
        )
    (table,) = tables.values()
    return pd.DataFrame(np.asarray(table, dtype=np.float64))


#: For a column, by name or place, the number that each of its words stands for.
Codes: TypeAlias = Mapping[str | int, Mapping[str, float]]


def coded(frame: Any, codes: Codes, name: str) -> Any:
    """Return the table with the numbers that the words of some columns stand for.

    A column of numbers stays as it is, unless each of them is one of the words. ``DataError`` if a column is not there,
    or holds a word without a number; the message never quotes it.
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

    ``DataError`` if a column is not there, the response is no number, or no record is complete.
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
