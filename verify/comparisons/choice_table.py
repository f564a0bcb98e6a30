"""The rows of a comparison: as the record ``comparison.jsonl``, and as a table (a DataFrame, CSV, Parquet)."""

from __future__ import annotations

import io
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path
from types import NoneType
from typing import TYPE_CHECKING, Any, get_args, get_type_hints

from reports.files import write_atomic

from ..engine.record import SCHEMA_VERSIONS, checked_rows, record_file
from ..engine.versions import header
from ..kernel.rows import NON_FINITE, Row, dumps
from ..messages.errors import UserError
from ..schemas.table_rows import ChoiceRow
from .pages.printed_values import printed_columns

if TYPE_CHECKING:
    import pandas as pd

_TYPES = get_type_hints(ChoiceRow)
#: The columns, in order; ``seconds`` is what a clock measured, and no part of the record.
COLUMNS = (*(name for name in _TYPES if name != "kind"), "seconds")
#: Those that are numbers, which may be missing.
NUMBERS = (*(name for name, kind in _TYPES.items() if NoneType in get_args(kind)), "seconds")
FORMATS = (".csv", ".parquet")


@dataclass(frozen=True, eq=False)
class ChoiceRecord:
    """A comparison as far as it was made.

    Attributes
    ----------
    header : dict
        What every row depends on.
    rows : tuple of dict
        In the order of the lines; those of a comparison that was stopped are fewer.
    seconds : tuple of float or None
        What each row took; None where nobody measured it (a record that was read).
    """

    header: Row
    rows: tuple[Row, ...]
    seconds: tuple[float | None, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether every line has a row."""
        return bool(self.header["complete"])

    def frame(self) -> pd.DataFrame:
        """Return the table: one row a line, numbers as floats (nan where there is none); ``attrs`` has the header.

        A recipe whose set is in the tables of W18 adds the printed cells.
        """
        import pandas as pd

        seconds = self.seconds or (None,) * len(self.rows)
        rows = [{**row, "seconds": took} for row, took in zip(self.rows, seconds, strict=True)]
        columns = {name: [_plain(name, row[name]) for row in rows] for name in COLUMNS}
        columns |= printed_columns(self.header["recipe"], rows)
        frame = pd.DataFrame(columns)
        frame.attrs.update(self.header)
        return frame


def _plain(name: str, value: Any) -> Any:
    if name not in NUMBERS:
        return value
    return float("nan") if value is None else float(NON_FINITE.get(value, value) if isinstance(value, str) else value)


def first_line(own: Mapping[str, Any]) -> Row:
    """Return the header of a record; ``own`` is what the comparison says of itself."""
    return header(dict(own), schema_version=SCHEMA_VERSIONS["comparison"], record="comparison")


def write(comparison: ChoiceRecord, path: Path, *, private: bool) -> None:
    """Write the record atomically; one on private records is for its owner alone."""
    lines = (comparison.header, *comparison.rows)
    text = "".join(f"{dumps(line)}\n" for line in lines)
    write_atomic(path, text.encode(), mode=0o600 if private else 0o666)


def read(path: Path) -> ChoiceRecord:
    """Read a record: ``comparison.jsonl``, or the folder that holds it.

    ``UserError`` if the file cannot be read, is no record of a comparison of this version, or is not as it was written.
    """
    first, *rows = checked_rows(record_file(path), "comparison")
    return ChoiceRecord(first, tuple(rows))


def check_table(path: Path) -> None:
    """Refuse a table that could not be written in the end, before anything is decided."""
    if path.suffix not in FORMATS:
        raise UserError(f"table must end in {' or '.join(FORMATS)}, got table={path}")
    if not path.absolute().parent.is_dir():
        raise UserError(f"table must be in a folder that exists, got table={path}")
    if path.suffix == ".parquet":
        try:
            import_module("pyarrow.parquet")
        except ImportError as stop:
            raise UserError("a .parquet file needs the extra parquet: pip install 'pdp-verify[parquet]'") from stop


def write_tables(comparison: ChoiceRecord, paths: Sequence[Path], *, private: bool) -> None:
    """Write the table as CSV or Parquet, each file whole or not at all."""
    frame = comparison.frame()
    for path in paths:
        check_table(path)
        if path.suffix == ".csv":
            data = frame.to_csv(index=False, lineterminator="\n").encode()
        else:
            sink = io.BytesIO()
            frame.to_parquet(sink, index=False)
            data = sink.getvalue()
        write_atomic(path, data, mode=0o600 if private else 0o666)
