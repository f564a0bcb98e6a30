"""Records from CSV, Parquet, NumPy or an embedded name into the public domain, in chunks; no error quotes a cell.

The rules, each of them record-wise, in this order: columns are picked by name; a record with a missing value is refused
or dropped (fewer fields in a line are missing values, superfluous ones are ignored); a text column becomes one 0/1
column for each of its public levels (another level: all 0); a column with a public range is mapped to
[-1, 1]/sqrt(k), k the number of columns with the intercept, and then 0/1 columns and the intercept are divided by
sqrt(k) too; the intercept is appended; rows beyond ``x_bound`` and responses beyond ``y_bound`` are refused or brought
inside.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from pathlib import Path

import numpy as np

from mechanisms import DataError, Dataset, load
from mechanisms.data.dataset import FloatArray, z_score

from ...messages.errors import UserError
from ..config.config import DataSection
from .headers import column_names, not_there
from .preparation import Preparation, expanded_names
from .source import ReadSource, check_memory, ignore, reading
from .tables import records, source_of, table_records

__all__ = ["Preparation", "expanded_names", "read_dataset", "read_plain", "size", "table_records"]


def size(data: DataSection, folder: Path) -> int:
    """Return what the callback of ``read_dataset`` is told in all: the bytes of the file (0 without a file)."""
    try:
        return 0 if data.file is None else (folder / data.file).stat().st_size
    except (OSError, ValueError):
        return 0  # reading it says what is wrong


def read_dataset(data: DataSection, folder: Path, *, tell: Callable[[int], None] = ignore) -> Dataset:
    """Return the data set that a configuration describes.

    Parameters
    ----------
    tell : callable
        Told how many bytes of the file were read, again and again; ``size`` gives their sum.

    Raises
    ------
    UserError
        One line with the column and the rule, never a cell.
    """
    if data.source is not None:
        found = load(data.source)
        return z_score(found) if data.standardise else found
    assert data.x_bound is not None
    assert data.y_bound is not None
    source = source_of(data, folder)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # what overflows is refused as infinite
            warnings.simplefilter("ignore")
            expanded_names(data)
            X, y, steps = _prepared(source, data, tell)
            x_bound = math.inf if data.standardise else data.x_bound
            with reading(source):
                dataset = Dataset(X, y, x_bound, data.y_bound, name=_name(data), public=data.public, steps=steps)
                return z_score(dataset) if data.standardise else dataset
    except DataError as stop:
        raise UserError(f"data.{stop}" if str(stop)[:1] in "Xy" else str(stop)) from None


def read_plain(path: Path, shown: str, response: str) -> tuple[FloatArray, FloatArray]:
    """Return the features and responses of a file of numbers as they are: every other column is a feature.

    Raises
    ------
    UserError
        One line with the column and the rule, never a cell.
    """
    source = ReadSource(path, shown, key_of_delimiter="", key_of_encoding="")
    names = column_names(source)
    if response not in names:
        meant = not_there(source, response, names)
        raise UserError(f"data.response must be a column of data.file, got data.response={response}{meant}")
    features = [name for name in names if name != response]
    data = DataSection.model_construct(file=shown, features=features, target=response)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            parts = list(records(source, data, ignore))
            if not parts:
                raise DataError("data.file must hold at least one record, got none")
            return np.concatenate([part[0] for part in parts]), np.concatenate([part[1] for part in parts])
    except DataError as stop:
        raise UserError(str(stop).partition("; list its public levels")[0]) from None


def _prepared(
    source: ReadSource, data: DataSection, tell: Callable[[int], None]
) -> tuple[FloatArray, FloatArray, tuple[str, ...]]:
    preparation = Preparation(data)
    parts: list[tuple[FloatArray, FloatArray]] = []
    held = 0
    for X, y in records(source, data, tell):
        parts.append(preparation(X, y))
        held += parts[-1][0].nbytes + parts[-1][1].nbytes
        check_memory(source, 2 * held)
    if not parts:
        raise DataError("data.file must hold at least one record, got none")
    with reading(source):
        return (
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            tuple(preparation.steps),
        )


def _name(data: DataSection) -> str:
    return Path(str(data.file)).name if data.public else "the private data"
