"""The papers, read from ``refs.bib`` (plain BibTeX: one field a line)."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

_ENTRY = re.compile(r"@(\w+)\{([\w:-]+),\s*\n(.*?)\n\}", re.DOTALL)
_FIELD = re.compile(r"^\s*(\w+)\s*=\s*\{(.*)\},?\s*$", re.MULTILINE)


@cache
def entries() -> dict[str, dict[str, str]]:
    """Return the fields of every entry, by key."""
    text = (Path(__file__).resolve().parent / "refs.bib").read_text(encoding="utf-8")
    return {key: {name: plain(value) for name, value in _FIELD.findall(body)} for _, key, body in _ENTRY.findall(text)}


def plain(value: str) -> str:
    """Return a BibTeX value without its braces and with its dashes."""
    return value.replace("{", "").replace("}", "").replace("--", "-").replace("\\&", "&")


def citation(key: str) -> str:
    """Return one line: authors, title, where, year."""
    entry = entries()[key]
    where = entry.get("journal") or entry.get("booktitle", "")
    volume = f" {entry['volume']}" if "volume" in entry else ""
    issue = f"({entry['number']})" if "number" in entry else ""
    return f"{entry['author'].replace(' and ', ', ')}. {entry['title']}. {where}{volume}{issue}, {entry['year']}."
