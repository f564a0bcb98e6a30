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
import re
import warnings
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms import DataError, Dataset, RowClip, UnitRows, load
from mechanisms.data.dataset import FloatArray, as_numbers, row_norms, z_score

from ...messages.errors import UserError
from ..config.config import DataSection
from . import source as files
from .first_lines import instead_of_numbers
from .source import (
    ReadSource,
    check_memory,
    column,
    column_names,
    column_places,
    ignore,
    not_there,
    open_arrays,
    parquet_of,
    reading,
    text_of,
)

if TYPE_CHECKING:
    import pandas as pd


Records = Iterator[tuple[FloatArray, FloatArray]]
Tell = Callable[[int], None]


def records(source: ReadSource, data: DataSection, tell: Tell) -> Records:
    """Yield raw features and responses; what ``tell`` gets adds up to the size of the file in bytes."""
    source.check()
    if source.kind in ("npy", "npz"):
        return _numpy_records(source, data, tell)
    frames = _parquet_frames if source.kind == "parquet" else _csv_frames
    return (_from_frame(frame, data) for frame in frames(source, data, tell) if len(frame))


def table_records(record: Mapping[str, Any], data: DataSection) -> tuple[FloatArray, FloatArray]:
    """Return one raw record, by column name, as the readers return many."""
    import pandas as pd

    return _from_frame(pd.DataFrame([{name: record[name] for name in (*data.features, str(data.target))}]), data)


def _wanted(data: DataSection) -> list[str]:
    return [*data.features, str(data.target)]


def _places(source: ReadSource, data: DataSection) -> dict[int, str]:
    """Return the number of each column that is wanted, and its name, in the order of the file."""
    if not source.header and source.kind == "csv" and any(not name.isdecimal() for name in _wanted(data)):
        raise DataError("data.features must be column numbers as text, from '0', for a file without a header")
    places = column_places(source)
    for name in _wanted(data):
        if name not in places:
            raise DataError(
                f"data.features and data.target must be columns, got {name}{not_there(source, name, list(places))}"
            )
    return dict(sorted((places[name], name) for name in _wanted(data)))


def _csv_frames(source: ReadSource, data: DataSection, tell: Tell) -> Iterator[pd.DataFrame]:
    import pandas as pd

    places = _places(source, data)
    text = set(data.categories) | ({str(data.target)} if data.labels else set())
    options: dict[str, Any] = {"float_precision": "round_trip"}
    if int(pd.__version__.partition(".")[0]) >= 3:  # reads the nearest float anyway
        options = {}
    with (
        reading(source),
        text_of(source, tell) as lines,
        pd.read_csv(
            lines,
            sep=source.delimiter,
            header=0 if source.header else None,
            usecols=list(places),
            dtype={place: str for place, name in places.items() if name in text},
            chunksize=files.CHUNK,
            low_memory=False,
            decimal=source.decimal,
            **options,
        ) as reader,
    ):
        for frame in reader:
            frame.columns = pd.Index(places.values())
            yield frame


def _parquet_frames(source: ReadSource, data: DataSection, tell: Tell) -> Iterator[pd.DataFrame]:
    wanted = list(_places(source, data).values())
    parquet = parquet_of(source)
    with reading(source), parquet.ParquetFile(source.path) as file:
        step = _steps(source, file.metadata.num_rows, tell)
        for batch in file.iter_batches(batch_size=files.CHUNK, columns=wanted):
            yield batch.select(wanted).to_pandas(ignore_metadata=True)
            step(batch.num_rows)


def _numpy_records(source: ReadSource, data: DataSection, tell: Tell) -> Records:
    if data.categories or data.labels:
        raise DataError("data.categories and data.labels must be absent for NumPy files, got one")
    X, y = open_arrays(source)
    picked = [column(name, X.shape[1]) for name in data.features]
    y = X[:, column(str(data.target), X.shape[1])] if y is None else y.reshape(-1)
    step = _steps(source, len(X), tell)
    for start in range(0, len(X), files.CHUNK):
        rows = slice(start, start + files.CHUNK)
        part = as_numbers("X", X[rows][:, picked]), as_numbers("y", y[rows])
        yield part
        step(len(part[1]))


def _steps(source: ReadSource, n_rows: int, tell: Tell) -> Tell:
    size, done = source.path.stat().st_size, 0

    def step(rows: int) -> None:
        nonlocal done
        before, done = size * done // max(n_rows, 1), done + rows
        tell(size * done // max(n_rows, 1) - before)

    return step


def _from_frame(frame: pd.DataFrame, data: DataSection) -> tuple[FloatArray, FloatArray]:
    """Return raw features ``(m, n_columns)`` and responses ``(m,)`` of a frame that has the columns."""
    columns: list[FloatArray] = []
    for name in data.features:
        if name in data.categories:
            values = frame[name].astype("string")
            absent = values.isna().to_numpy()
            if all(re.fullmatch(r"[+-]?\d+", level) for level in data.categories[name]):  # a missing one makes 1 a 1.0
                values = values.str.replace(r"\.0+$", "", regex=True)
            for level in data.categories[name]:
                columns.append(np.where(absent, np.nan, (values == level).fillna(False).to_numpy(dtype=np.float64)))
        else:
            columns.append(_numbers(frame[name], name, "data.categories"))
    target = str(data.target)
    y: FloatArray
    if data.labels:
        values = frame[target].astype("string")
        mapped = values.map(data.labels).astype("float64")
        if (mapped.isna() & ~values.isna()).any():
            raise DataError(f"column {target} must hold only the levels of data.labels, got another")
        y = as_numbers("y", mapped.to_numpy(dtype=np.float64, na_value=np.nan))
    else:
        y = _numbers(frame[target], target, "data.labels")
    X: FloatArray = np.empty((len(frame), len(columns)))
    for i, each in enumerate(columns):
        X[:, i] = each
    return X, y


def _numbers(values: pd.Series[Any], name: str, remedy: str) -> FloatArray:
    import pandas as pd

    if values.dtype == object and values.dropna().map(lambda cell: isinstance(cell, bool)).all():
        values = values.astype("boolean")  # true and false, with missing ones between
    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_complex_dtype(values.dtype):
        raise DataError(f"column {name} must hold numbers only, got {instead_of_numbers(values, remedy)}")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def source_of(data: DataSection, folder: Any) -> ReadSource:
    """Return the file of a configuration."""
    if data.file is None:
        raise UserError("data.file must be given, got nothing")
    return ReadSource(
        folder / data.file,
        data.file,
        data.delimiter,
        data.encoding,
        data.header,
        told="header" in data.model_fields_set,
        decimal=data.decimal or ".",
    )


#: Largest coordinate of a row before it is scaled down: its norm is finite.
LARGEST = 1e300


class Preparation:
    """The record-wise steps of a configuration, applied chunk by chunk; ``steps`` says them in words."""

    def __init__(self, data: DataSection) -> None:
        self.data = data
        self.names = _expanded_names(data)
        # the file's own column behind each prepared one
        self.columns = [name for name in data.features for _ in data.categories.get(name, [name])]
        self.levels = [level for name in data.features for level in data.categories.get(name, [None])]
        self.occurred = np.zeros(len(self.names), dtype=bool)
        self.unlisted: set[str] = set()
        self.dim = len(self.names) + (data.intercept is not None)
        root = math.sqrt(max(self.dim, 1))
        # a 0/1 column is divided by sqrt(k) as well; a number without a range stays as it is
        ends = [
            data.ranges.get(name, (-1.0, 1.0) if name not in data.features else (-1 / root, 1 / root))
            for name in self.names
        ]
        self.centres = np.array([0.5 * (low + high) for low, high in ends])
        self.scales = np.array([0.5 * (high - low) * root for low, high in ends])
        self.steps: list[str] = [f"features {', '.join(self.names)}; response {data.target}"]
        for name, levels in data.categories.items():
            self.steps.append(f"column {name}: one 0/1 column for each of {', '.join(levels)}; another level is all 0")
        if data.ranges:
            pairs = ", ".join(f"{name} [{low:g}, {high:g}]" for name, (low, high) in data.ranges.items())
            self.steps.append(f"mapped from public ranges to [-1, 1]/sqrt({self.dim}): {pairs}")
        if data.intercept is not None:
            self.steps.append(f"intercept column {data.intercept:g}{' /sqrt(k)' if data.ranges else ''} appended")
        if data.missing == "drop":
            self.steps.append("records with a missing value left out")
        if data.log is not None:
            self.steps.append(f"{data.log} of the response")
        if data.threshold is not None:
            self.steps.append(f"response +1 above {data.threshold:g}, -1 otherwise")
        if data.response_scale != 1.0:
            self.steps.append(f"response divided by {data.response_scale:g}")
        self.steps += [str(step) for step in self._row_steps()]
        if data.response == "clip":
            self.steps.append(f"response clipped to [-{data.y_bound:g}, {data.y_bound:g}]")

    def _row_steps(self) -> list[Any]:
        bound = self.data.x_bound
        assert bound is not None
        match self.data.rows:
            case "clip":
                return [RowClip(bound)]
            case "unit":
                return [UnitRows(bound)]
            case "refuse":
                return []

    def _require(self, values: FloatArray, name: str) -> None:
        if np.isinf(values).any():
            raise DataError(f"column {name} must have no infinite value, got one")
        if self.data.missing == "refuse" and np.isnan(values).any():
            raise DataError(f"column {name} must have no missing value (data.missing = 'drop' leaves the records out)")

    def _note_levels(self, X: FloatArray) -> None:
        self.occurred |= (X == 1).any(axis=0)
        for name in self.data.categories:
            own = X[:, [column == name for column in self.columns]]
            if (own == 0).all(axis=1).any():
                self.unlisted.add(name)

    @property
    def misspelt(self) -> list[str]:
        """What looks like a misspelt level, for the curator alone: it is read off the records."""
        absent = [
            (column, level)
            for column, level, seen in zip(self.columns, self.levels, self.occurred, strict=True)
            if level is not None and column in self.unlisted and not seen
        ]
        return [
            f"data.categories.{column}: no record has the level {level!r}, and some have a value that is no level; "
            "is it spelt as in the file? (for the curator alone)"
            for column, level in absent
        ]

    def _logarithm(self, y: FloatArray) -> FloatArray:
        data = self.data
        floor, function = (0.0, np.log) if data.log == "log" else (-1.0, np.log1p)
        if not (y > floor).all():
            raise DataError(
                f"column {data.target} must be above {floor:g} for data.log = '{data.log}', got another number"
            )
        return np.asarray(function(y), dtype=np.float64)

    def __call__(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prepared features ``(m, dim)`` and responses ``(m,)`` of raw ones."""
        data = self.data
        self._note_levels(X)
        for place, name in enumerate(self.columns):
            self._require(X[:, place], name)
        self._require(y, str(data.target))
        if data.missing == "drop":
            whole = ~(np.isnan(X).any(axis=1) | np.isnan(y))
            X, y = X[whole], y[whole]
        if data.ranges:
            with np.errstate(over="ignore"):
                X = np.clip((X - self.centres) / self.scales, -LARGEST, LARGEST)  # a long row, never an infinite one
        if data.intercept is not None:
            value = data.intercept / math.sqrt(self.dim) if data.ranges else data.intercept
            X = np.column_stack([X, np.full(len(X), value)])
        for step in self._row_steps():
            X = step(X)
        if data.log is not None:
            y = self._logarithm(y)
        if data.threshold is not None:
            y = np.where(y > data.threshold, 1.0, -1.0)
        y = y / data.response_scale
        assert data.x_bound is not None
        assert data.y_bound is not None
        if data.response == "clip":
            y = np.clip(y, -data.y_bound, data.y_bound)
        if not data.standardise and row_norms(X).max(initial=0.0) > data.x_bound * (1 + 1e-12):
            raise DataError(f"data.x_bound must be at least every row's norm, got data.x_bound={data.x_bound:g}; "
                            "data.rows = 'clip' scales longer rows down")  # fmt: skip
        if np.abs(y).max(initial=0.0) > data.y_bound * (1 + 1e-12):
            raise DataError(f"data.y_bound must be at least every |response|, got data.y_bound={data.y_bound:g}; "
                            "data.response = 'clip' clips them")  # fmt: skip
        return np.ascontiguousarray(X), y


def _expanded_names(data: DataSection) -> list[str]:
    """Return the names of the feature columns after text columns became 0/1 columns."""
    unknown = [c for c in (*data.ranges, *data.categories) if c not in data.features]
    if unknown:
        raise DataError(f"data.features must name every column of ranges and categories, got no {unknown[0]}")
    both = [c for c in data.ranges if c in data.categories]
    if both:
        raise DataError(f"data.ranges.{both[0]} must be absent for a column with categories, got both")
    if not data.features or data.target is None:
        raise DataError("data.features and data.target must be given for a file, got nothing")
    if data.target in data.features:
        raise DataError(f"data.features must not hold the target, got {data.target}")
    names: list[str] = []
    for name in data.features:
        names += [f"{name}={level}" for level in data.categories[name]] if name in data.categories else [name]
    return names


def size(data: DataSection, folder: Path) -> int:
    """Return what the callback of ``read_dataset`` is told in all: the bytes of the file (0 without a file)."""
    try:
        return 0 if data.file is None else (folder / data.file).stat().st_size
    except (OSError, ValueError):
        return 0  # reading it says what is wrong


def read_dataset(
    data: DataSection,
    folder: Path,
    *,
    tell: Callable[[int], None] = ignore,
    note: Callable[[str], object] = lambda _: None,
) -> Dataset:
    """Return the data set that a configuration describes; ``tell`` is told the bytes read, which add up to ``size``.

    ``note`` is told what the records show and the curator alone may know: a level that seems to be misspelt.

    Raises UserError: one line with the column and the rule, never a cell.
    """
    if data.source is not None:
        found = load(data.source)
        return z_score(found) if data.standardise else found
    assert data.x_bound is not None
    assert data.y_bound is not None
    if data.dim is not None:
        nobody = np.empty((0, data.dim)), np.empty(0)
        return Dataset(*nobody, data.x_bound, data.y_bound, name="no records: the public domain", public=True)
    source = source_of(data, folder)
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):  # what overflows is refused as infinite
            warnings.simplefilter("ignore")
            _expanded_names(data)
            X, y, steps = _prepared(source, data, tell, note)
            x_bound = math.inf if data.standardise else data.x_bound
            with reading(source):
                dataset = Dataset(X, y, x_bound, data.y_bound, name=_name(data), public=data.public, steps=steps)
                return z_score(dataset) if data.standardise else dataset
    except DataError as stop:
        raise UserError(f"data.{stop}" if str(stop)[:1] in "Xy" else str(stop)) from None


def read_plain(path: Path, shown: str, response: str) -> tuple[FloatArray, FloatArray]:
    """Return the features and responses of a file of numbers as they are: every other column is a feature.

    Raises UserError: one line with the column and the rule, never a cell.
    """
    source = ReadSource(path, shown, key_of_delimiter="", key_of_encoding="", key_of_header="")
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
        raise UserError(re.split("; list its public levels|; data.decimal", str(stop))[0]) from None


def _prepared(
    source: ReadSource, data: DataSection, tell: Callable[[int], None], note: Callable[[str], object]
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
    for line in preparation.misspelt:
        note(line)
    with reading(source):
        return (
            np.concatenate([part[0] for part in parts]),
            np.concatenate([part[1] for part in parts]),
            tuple(preparation.steps),
        )


def _name(data: DataSection) -> str:
    return Path(str(data.file)).name if data.public else "the private data"
