"""A file of records as its reader was told, its columns, and a line for whatever is wrong; never a cell of data."""

from __future__ import annotations

import codecs
import difflib
import gzip
import io
import itertools
import os
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, cast

import numpy as np

from mechanisms import DataError

from ...messages.errors import UserError
from .first_lines import LOOKED_AT, columns_of, lacks_header

#: Rows that are held as text or frame at once.
CHUNK = 50_000
TEXT = (".csv", ".tsv", ".txt")
SUFFIXES = (*TEXT, *(f"{suffix}.gz" for suffix in TEXT), ".parquet", ".npy", ".npz")
#: A line of a text file is at most so long, in bytes; a file of another kind is found out by it.
LONGEST_LINE = 1 << 24
#: What a text file is read in, in bytes.
BLOCK = 1 << 18


@dataclass(frozen=True)
class ReadSource:
    """A file of records: where it is, how it is read, and the names that the user knows these things by.

    ``told``: the user has said whether there is a header. Otherwise a first line that is a record is noticed.
    """

    path: Path
    shown: str
    delimiter: str = ","
    encoding: str = "utf-8"
    header: bool = True
    key: str = "data.file"
    key_of_delimiter: str = "data.delimiter"
    key_of_encoding: str = "data.encoding"
    key_of_header: str = "data.header = false"
    told: bool = False
    decimal: str = "."

    @property
    def kind(self) -> str:
        """What the end of the name says it is: ``csv``, ``parquet``, ``npy`` or ``npz``; anything else is refused."""
        for suffix in SUFFIXES:
            if self.path.name.lower().endswith(suffix):
                return "csv" if suffix.startswith(TEXT) else suffix[1:]
        raise UserError(f"{self.key} must end in one of {', '.join(SUFFIXES)}, got {self.key}={self.shown}")

    def must(self, rule: str, got: str, remedy: str = "") -> UserError:
        """Return the line that says what the file must be, and what it is."""
        return UserError(f"{self.key} must {rule}, got {got} in {self.key}={self.shown}{remedy}")

    def check(self) -> None:
        """Refuse what is no file, and a delimiter or an encoding that cannot be one, before anything is read."""
        if self.kind == "csv":
            self._check_text()
        with reading(self):
            if not self.path.is_file():
                what = "a folder" if self.path.is_dir() else "no regular file"
                raise self.must("be a readable file", what if self.path.exists() else "nothing")

    def _check_text(self) -> None:
        if len(self.delimiter) != 1 or not self.delimiter.isascii() or self.delimiter in '\0\r\n"':
            rule = "one ASCII character that is neither a quotation mark nor the end of a line"
            key = self.key_of_delimiter
            raise UserError(f"{key} must be {rule}, got {key}={self.delimiter!r}")
        try:
            text = codecs.lookup(self.encoding)._is_text_encoding
            "a,1".encode(self.encoding).decode(self.encoding)
        except (LookupError, ValueError):  # ValueError: what cannot be a name at all, or an encoding of nothing
            text = False
        if not text:
            key = self.key_of_encoding
            raise UserError(f"{key} must be a text encoding, as utf-8 or latin-1 are, got {key}={self.encoding!r}")


@contextmanager
def reading(source: ReadSource) -> Iterator[None]:
    """Turn whatever another library says of a file into one line that quotes nothing of it."""
    zipped = source.path.suffix.lower() == ".gz"
    try:
        yield
    except (UserError, DataError):
        raise
    except gzip.BadGzipFile:
        remedy = "; a file that is not compressed has a name without .gz"
        raise source.must("be gzip data, as its name says", "another kind of file", remedy) from None
    except (EOFError, zlib.error, zipfile.BadZipFile) as stop:
        damage = "data that end too early" if isinstance(stop, EOFError) else "damaged data"
        raise source.must("be gzip data, whole" if zipped else "be a whole file", damage) from None
    except UnicodeError:
        remedy = f"; {source.key_of_encoding} names another encoding" if source.key_of_encoding else ""
        raise source.must(f"be {source.encoding} text", "other bytes", remedy) from None
    except MemoryError:
        raise source.must("fit into memory", "more") from None
    except OSError as stop:
        raise source.must("be a readable file", stop.strerror or "damaged data") from None
    except Exception as stop:
        if type(stop).__name__ in _OF_TABLES:
            damage = _OF_TABLES[type(stop).__name__]
            raise source.must("be a table with one delimiter and as many fields in every line", damage) from None
        raise source.must(f"be {_NAMES[source.kind]}", "something else") from None


#: What pandas raises for a text that is no table, and what was found in its place.
_OF_TABLES = {"ParserError": "something else", "EmptyDataError": "nothing"}
_NAMES = {
    "csv": "a table of text",
    "parquet": "a Parquet file, whole",
    "npy": "a NumPy file of plain numbers",
    "npz": "a NumPy archive of plain numbers",
}


def ignore(_: int) -> None:
    """Take no notice of how far the reading is."""


class _Counted(io.RawIOBase):
    """The bytes of a file; every one that is read is told."""

    def __init__(self, file: IO[bytes], tell: Callable[[int], None]) -> None:
        self._file, self._tell = cast("io.BufferedIOBase", file), tell

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        n = self._file.readinto(buffer)
        self._tell(n)
        return n


class _Lines(io.RawIOBase):
    """The bytes of a text; a line longer than any table has is refused before it fills the memory."""

    def __init__(self, file: IO[bytes], source: ReadSource) -> None:
        self._file, self._source, self._since = file, source, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        data = self._file.read(len(buffer))
        buffer[: len(data)] = data
        last = max(data.rfind(b"\n"), data.rfind(b"\r"))
        self._since = self._since + len(data) if last < 0 else len(data) - last - 1
        if self._since > LONGEST_LINE:
            raise self._source.must(f"have lines of at most {LONGEST_LINE >> 20} MB", "a longer one")
        return len(data)


@contextmanager
def text_of(source: ReadSource, tell: Callable[[int], None] = ignore) -> Iterator[io.TextIOWrapper]:
    """Open a text, compressed or not; ``tell`` gets the bytes of the file as they are read."""
    with source.path.open("rb", buffering=0) as raw:
        plain: Any = io.BufferedReader(_Counted(raw, tell), BLOCK)
        if source.path.suffix.lower() == ".gz":
            plain = gzip.GzipFile(fileobj=plain)
        lines = io.BufferedReader(_Lines(plain, source), BLOCK)
        with io.TextIOWrapper(lines, encoding=source.encoding, newline="") as text:
            yield text


def check_memory(source: ReadSource, n_bytes: int) -> None:
    """Refuse what cannot fit into this machine's memory, before it is tried."""
    try:
        there = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # a system that does not tell
        return
    if n_bytes > there:
        raise source.must("fit into memory", "more")


def column_names(source: ReadSource) -> list[str]:
    """Return the names of a file's columns, in order; numbers as text where it has no header.

    Raises UserError if the file cannot be read, or a column has no name, or another's.
    """
    return list(column_places(source))


def column_places(source: ReadSource) -> dict[str, int]:
    """Return the place of every column by its name; a first one without a name, the index of R or pandas, is left out.

    Raises UserError as ``column_names`` does, and where the first line is a record: it would name columns by its cells.
    """
    source.check()
    if source.kind in ("npy", "npz"):
        X, y = open_arrays(source)
        names = [str(i) for i in range(X.shape[1])] + ([] if y is None else ["y"])
    else:
        names = _parquet_names(source) if source.kind == "parquet" else _csv_names(source)
    places: dict[str, int] = {}
    for place, name in enumerate(names):  # told by number: without a header the names would be cells
        if not name.strip() and place == 0 and len(names) > 1:
            continue
        if not name.strip():
            raise UserError(f"columns must have names of their own, got none in column {place + 1}")
        if places.setdefault(name, place) != place:
            both = f"{places[name] + 1} and {place + 1}"
            raise UserError(f"columns must have names of their own, got one name in columns {both}")
    return places


def first_columns(source: ReadSource) -> list[list[str]]:
    """Return the cells of the first lines of a text, by column, its first line among them."""
    import pandas as pd

    options: dict[str, Any] = {"nrows": LOOKED_AT + 1, "dtype": str, "header": None, "na_filter": False}
    with reading(source), text_of(source) as text:
        return columns_of(pd.read_csv(text, sep=source.delimiter, **options))


def _csv_names(source: ReadSource) -> list[str]:
    import pandas as pd

    options: dict[str, Any] = {"nrows": 1, "dtype": str, "header": None, "na_filter": False, "sep": source.delimiter}
    with reading(source), text_of(source) as text:
        first = pd.read_csv(text, **options)
    if not source.header:
        return [str(name) for name in first.columns]
    if not source.told and lacks_header(_looked_at(source)):
        remedy = f"; {source.key_of_header} names the columns by number" if source.key_of_header else ""
        raise source.must("begin with a line of column names", "a record in its first line", remedy)
    return [str(name) for name in first.iloc[0]]


def _looked_at(source: ReadSource) -> list[list[str]]:
    """Return the same, or no columns where the lines make no table: reading them says what is wrong."""
    try:
        return first_columns(source)
    except UserError:
        return []


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
    return _did_you_mean(name, names)


def _did_you_mean(name: str, names: list[str]) -> str:
    """Return the end of a message with the name that was probably meant, or nothing when none is near."""
    close = difflib.get_close_matches(name, itertools.islice(names, 1000), n=1, cutoff=0.65)
    return f"; did you mean {close[0]}" if close else ""


#: Kinds of numbers that are real: floating point, whole with and without sign, true and false.
REAL = "fiub"


def open_arrays(source: ReadSource) -> tuple[Any, Any]:
    """Return the matrix of a NumPy file, and the responses that an archive has beside it (else None).

    Raises UserError if the file holds anything else than real numbers in these shapes.
    """
    with reading(source):
        X, y = _archive(source) if source.kind == "npz" else (_matrix(source), None)
        if getattr(X, "ndim", None) != 2 or X.dtype.kind not in REAL:
            raise source.must("hold a matrix of real numbers", _what(X))
        if y is not None and (y.shape not in ((len(X),), (len(X), 1)) or y.dtype.kind not in REAL):
            got = "another number" if y.dtype.kind in REAL else _what(y)
            raise source.must("hold one real response in y for every row of X", got)
    return X, y


def column(name: str, n_columns: int) -> int:
    """Return the number that names a column where columns have no other names."""
    if not (name.isascii() and name.isdigit() and len(name) < 10 and int(name) < n_columns):
        raise UserError(f"data.features must be column numbers below {n_columns} as text, got {name}")
    return int(name)


def _matrix(source: ReadSource) -> Any:
    return np.load(source.path, allow_pickle=False, mmap_mode="r")


def _archive(source: ReadSource) -> tuple[Any, Any]:
    with source.path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise source.must("be a NumPy archive of arrays X and y", "one array (whose name must end in .npy)")
        if not {"X", "y"} <= set(archive.files):
            raise source.must("hold arrays X and y", "other names")
        assert archive.zip is not None
        sizes = {info.filename: info.file_size for info in archive.zip.infolist()}
        check_memory(source, sizes.get("X.npy", 0) + sizes.get("y.npy", 0))
        return archive["X"], archive["y"]


def _what(array: Any) -> str:
    if not isinstance(array, np.ndarray):
        return "an archive (whose name must end in .npz)"
    kinds = {"c": "complex numbers", "O": "objects", "V": "a structure", "U": "text", "S": "text"}
    return kinds.get(
        array.dtype.kind, f"an array of {array.ndim} axes" if array.dtype.kind in REAL else "something else"
    )
