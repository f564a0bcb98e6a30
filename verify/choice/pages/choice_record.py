"""What a comparison leaves in its folder, and its pages made again from the record: the same bytes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from reports.formats import write_document

from ..choice_table import ChoiceRecord
from .choice_pages import document, is_private
from .choice_words import row_name

#: The files of a comparison.
LEAVES = ("comparison.jsonl", "comparison.csv", "run.json", "comparison.pdf", "comparison.html")


def names_of(comparison: ChoiceRecord) -> dict[str, float]:
    """Return what each row took, by its name, as ``run.json`` has it."""
    pairs = zip(comparison.rows, comparison.seconds, strict=False)
    return {row_name(row): round(seconds, 3) for row, seconds in pairs if seconds is not None}


def write_pages(comparison: ChoiceRecord, run: Mapping[str, Any], *paths: Path) -> None:
    """Write the pages of a comparison; the same record and ``run.json`` give the same bytes. Nothing is drawn."""
    date = str(run.get("finished", ""))[:10]
    taken = run.get("seconds_of")
    seconds = taken if isinstance(taken, Mapping) else {}
    pages = document(comparison.header, comparison.rows, seconds, date=date)
    for path in paths:
        write_document(pages, path, mode=0o600 if is_private(comparison.header) else 0o666)
