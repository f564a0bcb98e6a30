"""The columns of a file, read without its records: the one reader of headers for ``init`` and ``certify``."""

from __future__ import annotations

import difflib
import itertools
from typing import Any

from ...messages.errors import UserError
from .arrays import open_arrays
from .source import ReadSource, reading, text_of


def column_names(source: ReadSource) -> list[str]:
    """Return the names of a file's columns, in order; numbers as text where it has no header.

    Raises
    ------
    UserError
        If the file cannot be read, or a column has no name, or another's.
    """
    source.check()
    if source.kind in ("npy", "npz"):
        X, y = open_arrays(source)
        return [str(i) for i in range(X.shape[1])] + ([] if y is None else ["y"])
    names = _parquet_names(source) if source.kind == "parquet" else _csv_names(source)
    first: dict[str, int] = {}
    for place, name in enumerate(names, start=1):  # told by number: without a header the names would be cells
        if not name.strip():
            remedy = "; pandas leaves an index column out with to_csv(index=False)" if place == 1 else ""
            raise UserError(f"columns must have names of their own, got none in column {place}{remedy}")
        if first.setdefault(name, place) != place:
            raise UserError(f"columns must have names of their own, got one name in columns {first[name]} and {place}")
    return names


def _csv_names(source: ReadSource) -> list[str]:
    import pandas as pd

    options: dict[str, Any] = {"nrows": 1, "dtype": str, "header": None, "na_filter": False, "sep": source.delimiter}
    with reading(source), text_of(source) as text:
        first = pd.read_csv(text, **options)
        return [str(name) for name in (first.iloc[0] if source.header else first.columns)]


def _parquet_names(source: ReadSource) -> list[str]:
    with reading(source):
        return [str(name) for name in parquet_of(source).ParquetFile(source.path).schema_arrow.names]


def parquet_of(source: ReadSource) -> Any:
    """Return the library that reads Parquet."""
    try:
        from pyarrow import parquet
    except ImportError:
        raise UserError(
            f"{source.key} must not be Parquet without pyarrow: pip install 'pdp-verify[parquet]'"
        ) from None
    return parquet


def not_there(source: ReadSource, name: str, names: list[str]) -> str:
    """Return the end of a message about a column that a file has not: what is meant, or why it was not found."""
    if not source.header and source.kind == "csv":
        return f"; without a header columns are numbers as text, from '0' to '{len(names) - 1}'"
    blank = next((column for column in names if column.strip() == name.strip()), None)
    if blank is not None:
        return f'; the header has it with a blank: "{blank}"'
    if len(names) == 1 and source.kind == "csv":
        other = max(";\t|,", key=names[0].count)
        if other in names[0]:
            if not source.key_of_delimiter:
                return "; the header is one column, and nothing but commas delimits here"
            given = source.key_of_delimiter + (" " if source.key_of_delimiter.startswith("-") else " = ")
            shown = other.replace("\t", "\\t")
            return f'; with delimiter "{source.delimiter}" the header is one column: try {given}"{shown}"'
    return did_you_mean(name, names)


def did_you_mean(name: str, names: list[str]) -> str:
    """Return the end of a message with the name that was probably meant, or nothing when none is near."""
    close = difflib.get_close_matches(name, itertools.islice(names, 1000), n=1, cutoff=0.65)
    return f"; did you mean {close[0]}" if close else ""
