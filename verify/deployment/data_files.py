"""Records from CSV, Parquet, NumPy or an embedded name into the public domain, in chunks; no error quotes a cell.

The rules, each of them record-wise, in this order: columns are picked by name; a record with a missing value is refused
or dropped (fewer fields in a line are missing values, superfluous ones are ignored); a text column becomes one 0/1 column for each of its public levels (another level: all 0); a column with a
public range is mapped to [-1, 1]/sqrt(k), k the number of columns with the intercept, and then 0/1 columns and the
intercept are divided by sqrt(k) too; the intercept is appended; rows
beyond ``x_bound`` and responses beyond ``y_bound`` are refused or brought inside.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms import DataError, Dataset, RowClip, UnitRows, load
from mechanisms.data import FloatArray, as_numbers, row_norms, z_score

from ..errors import UserError
from .config import DataSection
from .init_draft import did_you_mean

if TYPE_CHECKING:
    import pandas as pd

#: Rows of a file that are held as text or frame at once.
CHUNK = 50_000
SUFFIXES = (".csv", ".tsv", ".txt", ".gz", ".parquet", ".npy", ".npz")


def read_dataset(data: DataSection, folder: Path) -> Dataset:
    """Return the data set that a configuration describes.

    Raises
    ------
    UserError
        One line with the column and the rule, never a cell.
    """
    if data.source is not None:
        found = load(data.source)
        return z_score(found) if data.standardise else found
    assert data.file is not None
    assert data.x_bound is not None
    assert data.y_bound is not None
    path = folder / data.file
    if not path.is_file():
        raise UserError(f"data.file must be a readable file, got data.file={data.file}")
    try:
        preparation = Preparation(data)
        parts = [preparation(X, y) for X, y in _records(path, data)]
        if not parts:
            raise DataError("data.file must hold at least one record, got none")
        X = np.concatenate([part[0] for part in parts])
        y = np.concatenate([part[1] for part in parts])
        del parts
        steps = tuple(preparation.steps)
        x_bound = math.inf if data.standardise else data.x_bound
        dataset = Dataset(X, y, x_bound, data.y_bound, name=_name(data), public=data.public, steps=steps)
    except DataError as stop:
        raise UserError(f"data.{stop}" if str(stop)[:1] in "Xy" else str(stop)) from None
    except OSError as stop:
        raise UserError(f"data.file must be a readable file, got data.file={data.file} ({stop.strerror})") from None
    return z_score(dataset) if data.standardise else dataset


def _name(data: DataSection) -> str:
    return Path(str(data.file)).name if data.public else "the private data"


class Preparation:
    """The record-wise steps of a configuration, applied chunk by chunk; ``steps`` says them in words."""

    def __init__(self, data: DataSection) -> None:
        self.data = data
        self.names = expanded_names(data)
        # the file's own column behind each prepared one
        self.columns = [name for name in data.features for _ in data.categories.get(name, [name])]
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
        for column, levels in data.categories.items():
            self.steps.append(
                f"column {column}: one 0/1 column for each of {', '.join(levels)}; another level is all 0"
            )
        if data.ranges:
            pairs = ", ".join(f"{name} [{low:g}, {high:g}]" for name, (low, high) in data.ranges.items())
            self.steps.append(f"mapped from public ranges to [-1, 1]/sqrt({self.dim}): {pairs}")
        if data.intercept is not None:
            self.steps.append(f"intercept column {data.intercept:g}{' /sqrt(k)' if data.ranges else ''} appended")
        if data.missing == "drop":
            self.steps.append("records with a missing value left out")
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

    def __call__(self, X: FloatArray, y: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Return prepared features ``(m, dim)`` and responses ``(m,)`` of raw ones."""
        data = self.data
        for column, name in enumerate(self.columns):
            self._require(X[:, column], name)
        self._require(y, str(data.target))
        if data.missing == "drop":
            whole = ~(np.isnan(X).any(axis=1) | np.isnan(y))
            X, y = X[whole], y[whole]
        if data.ranges:
            X = (X - self.centres) / self.scales
        if data.intercept is not None:
            value = data.intercept / math.sqrt(self.dim) if data.ranges else data.intercept
            X = np.column_stack([X, np.full(len(X), value)])
        for step in self._row_steps():
            X = step(X)
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


def expanded_names(data: DataSection) -> list[str]:
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


def _records(path: Path, data: DataSection) -> Iterator[tuple[FloatArray, FloatArray]]:
    expanded_names(data)
    suffix = path.suffix if path.suffix != ".gz" else Path(path.stem).suffix
    if suffix in (".npy", ".npz"):
        yield from _numpy_records(path, data)
    elif suffix == ".parquet":
        yield from (_from_frame(frame, data) for frame in _parquet_frames(path, data) if len(frame))
    elif suffix in (".csv", ".tsv", ".txt"):
        yield from (_from_frame(frame, data) for frame in _csv_frames(path, data) if len(frame))
    else:
        raise UserError(f"data.file must end in one of {', '.join(SUFFIXES)}, got data.file={data.file}")


def _csv_frames(path: Path, data: DataSection) -> Iterator[pd.DataFrame]:
    import pandas as pd

    wanted = [*data.features, str(data.target)]
    text = set(data.categories) | ({str(data.target)} if data.labels else set())
    if int(pd.__version__.partition(".")[0]) < 3:  # later versions read the nearest float anyway
        precise: dict[str, Any] = {"float_precision": "round_trip"}
    else:
        precise = {}
    options: dict[str, Any] = {"sep": data.delimiter, "encoding": data.encoding, "compression": "infer"}
    if data.header:
        options["header"] = 0
    else:
        options |= {"header": None}
        if any(not name.isdigit() for name in wanted):
            raise DataError("data.features must be column numbers as text, from '0', for a file without a header")
    try:
        first = pd.read_csv(path, nrows=1, dtype=str, **(options | {"header": None}))
        columns = [str(c) for c in (first.iloc[0] if data.header else first.columns)]
        _check_columns(columns, wanted)
        with pd.read_csv(
            path,
            chunksize=CHUNK,
            usecols=[c if data.header else int(c) for c in wanted],
            dtype={(c if data.header else int(c)): str for c in text},
            low_memory=False,
            **precise,
            **options,
        ) as reader:
            for frame in reader:
                frame.columns = [str(c) for c in frame.columns]
                yield frame
    except UnicodeDecodeError:
        raise DataError(f"data.file must be {data.encoding} text, got other bytes") from None
    except (pd.errors.ParserError, pd.errors.EmptyDataError):
        raise DataError("data.file must be a table with one delimiter and as many fields in every line") from None


def _parquet_frames(path: Path, data: DataSection) -> Iterator[pd.DataFrame]:
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError("data.file must not be Parquet without pyarrow: pip install 'pdp-verify[parquet]'") from None
    file = parquet.ParquetFile(path)
    wanted = [*data.features, str(data.target)]
    _check_columns(list(file.schema_arrow.names), wanted)
    for batch in file.iter_batches(batch_size=CHUNK, columns=wanted):
        yield batch.to_pandas()


def _check_columns(columns: list[str], wanted: list[str]) -> None:
    for place, name in enumerate(columns, start=1):  # told by number: without a header the names would be cells
        first = columns.index(name) + 1
        if first != place:
            raise DataError(f"columns must have names of their own, got one name in columns {first} and {place}")
    for name in wanted:
        if name not in columns:
            meant = did_you_mean(name, columns)
            raise DataError(f"data.features and data.target must be columns, got {name}{meant}")


def _from_frame(frame: pd.DataFrame, data: DataSection) -> tuple[FloatArray, FloatArray]:
    columns: list[FloatArray] = []
    for name in data.features:
        if name in data.categories:
            values = frame[name].astype("string")
            absent = values.isna().to_numpy()
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
    for i, column in enumerate(columns):
        X[:, i] = column
    return X, y


def _numbers(column: pd.Series[Any], name: str, remedy: str) -> FloatArray:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(column.dtype) or pd.api.types.is_complex_dtype(column.dtype):
        raise DataError(f"column {name} must hold numbers only, got text; list its public levels in {remedy}")
    return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))


def _numpy_records(path: Path, data: DataSection) -> Iterator[tuple[FloatArray, FloatArray]]:
    if data.categories or data.labels:
        raise DataError("data.categories and data.labels must be absent for NumPy files, got one")
    try:
        if path.suffix == ".npz":
            with np.load(path, allow_pickle=False) as archive:
                if not {"X", "y"} <= set(archive.files):
                    raise DataError("data.file must hold arrays X and y, got other names")
                X, y = np.atleast_2d(archive["X"]), archive["y"].ravel()
            picked = [_column(name, X.shape[1]) for name in data.features]
            target: FloatArray = np.asarray(y, dtype=np.float64)
        else:
            X = np.load(path, allow_pickle=False, mmap_mode="r")
            if X.ndim != 2:
                raise DataError(f"data.file must hold a matrix, got {X.ndim} axes")
            picked = [_column(name, X.shape[1]) for name in data.features]
            target = np.asarray(X[:, _column(str(data.target), X.shape[1])], dtype=np.float64)
        if X.dtype.kind not in "fiub" or len(X) != len(target):
            raise DataError("data.file must hold real numbers, one response a row")
        for start in range(0, len(X), CHUNK):
            part: FloatArray = target[start : start + CHUNK]
            yield as_numbers("X", X[start : start + CHUNK][:, picked]), part
    except ValueError as stop:
        if isinstance(stop, DataError):
            raise
        raise DataError("data.file must be a NumPy file of plain numbers, got something else") from None


def _column(name: str, n_columns: int) -> int:
    if not name.isdigit() or int(name) >= n_columns:
        raise DataError(f"data.features must be column numbers below {n_columns} as text, got {name}")
    return int(name)


def table_records(record: Mapping[str, Any], data: DataSection) -> tuple[FloatArray, FloatArray]:
    """Return one raw record, by column name, as the readers return many."""
    import pandas as pd

    return _from_frame(pd.DataFrame([{name: record[name] for name in (*data.features, str(data.target))}]), data)
