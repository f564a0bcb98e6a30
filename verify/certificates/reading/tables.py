"""Records of tables, chunk by chunk: CSV and Parquet by column name, NumPy files by column number."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from mechanisms import DataError
from mechanisms.data.dataset import FloatArray, as_numbers

from ...messages.errors import UserError
from ..config.config import DataSection
from . import source as files
from .arrays import column, open_arrays
from .headers import column_names, not_there, parquet_of
from .source import ReadSource, reading, text_of

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
    return (from_frame(frame, data) for frame in frames(source, data, tell) if len(frame))


def table_records(record: Mapping[str, Any], data: DataSection) -> tuple[FloatArray, FloatArray]:
    """Return one raw record, by column name, as the readers return many."""
    import pandas as pd

    return from_frame(pd.DataFrame([{name: record[name] for name in (*data.features, str(data.target))}]), data)


def _wanted(data: DataSection) -> list[str]:
    return [*data.features, str(data.target)]


def _places(source: ReadSource, data: DataSection) -> dict[int, str]:
    """Return the number of each column that is wanted, and its name, in the order of the file."""
    if not source.header and source.kind == "csv" and any(not name.isdigit() for name in _wanted(data)):
        raise DataError("data.features must be column numbers as text, from '0', for a file without a header")
    names = column_names(source)
    for name in _wanted(data):
        if name not in names:
            raise DataError(
                f"data.features and data.target must be columns, got {name}{not_there(source, name, names)}"
            )
    return dict(sorted((names.index(name), name) for name in _wanted(data)))


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
    """Return what tells bytes when it is told rows."""
    size, done = source.path.stat().st_size, 0

    def step(rows: int) -> None:
        nonlocal done
        before, done = size * done // max(n_rows, 1), done + rows
        tell(size * done // max(n_rows, 1) - before)

    return step


def from_frame(frame: pd.DataFrame, data: DataSection) -> tuple[FloatArray, FloatArray]:
    """Return raw features ``(m, n_columns)`` and responses ``(m,)`` of a frame that has the columns."""
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
    for i, each in enumerate(columns):
        X[:, i] = each
    return X, y


def _numbers(values: pd.Series[Any], name: str, remedy: str) -> FloatArray:
    import pandas as pd

    if not pd.api.types.is_numeric_dtype(values.dtype) or pd.api.types.is_complex_dtype(values.dtype):
        raise DataError(f"column {name} must hold numbers only, got {_instead(values, remedy)}")
    return np.asarray(values.to_numpy(dtype=np.float64, na_value=np.nan))


def _instead(values: pd.Series[Any], remedy: str) -> str:
    """Return what a column holds in place of numbers, and the way out; nothing of any cell."""
    cells = values.dropna().astype("string")
    if len(cells) and cells.str.fullmatch(r"\s*[+-]?\d+\s*").all():
        return "whole numbers beyond 64 bits; write them with a decimal point"
    if len(cells) and cells.str.fullmatch(r"\s*[+-]?(\d+|\d*,\d+)(e[+-]?\d+)?\s*", case=False).all():
        return "numbers with a decimal comma; write them with a decimal point"
    return f"text; list its public levels in {remedy}"


def source_of(data: DataSection, folder: Any) -> ReadSource:
    """Return the file of a configuration."""
    if data.file is None:
        raise UserError("data.file must be given, got nothing")
    return ReadSource(folder / data.file, data.file, data.delimiter, data.encoding, data.header)
