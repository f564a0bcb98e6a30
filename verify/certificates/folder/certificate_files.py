"""Which files the folders of a certificate hold; everything else in them is foreign, and a link is never followed."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator, Sequence
from pathlib import Path

from reports.row import Audience

from ...engine.held import OWN
from ...kernel.rows import Row
from ...messages.errors import UserError

RECORD = "audit.jsonl"
HTML = "audit.html"
RUN = "run.json"
PREDICATE_FILE = "predicate.json"
LAST = "attestation.json"
CONFIGURATION = "configuration.toml"
CHAIN = "releases.json"
COUNTEREXAMPLE = "counterexample.toml"
REPORTS = ("report-independent.json", "report-dependent.json")
#: In every folder; their digests are in the predicate, in this order.
ALWAYS = (RECORD, "audit.pdf", HTML, "audit.md", "junit.xml", RUN)
#: Everything that may lie in a folder, signatures aside.
KNOWN = frozenset({*ALWAYS, *REPORTS, CONFIGURATION, CHAIN, COUNTEREXAMPLE, PREDICATE_FILE, LAST})
PARTS = tuple(audience.value for audience in Audience)


def report_name(report: Row) -> str:
    """Return the file in which a report of the record is published."""
    return REPORTS[report["gradient"] is not None]


def attested_names(rows: Sequence[Row], listed: Sequence[str] | None = None) -> list[str]:
    """Return the files whose digests a folder's predicate holds, in order, from the folder's record alone.

    ``listed``: the names that a predicate lists; one that was written before there was an HTML lists none.
    """
    always = [name for name in ALWAYS if name != HTML or listed is None or HTML in listed[: len(ALWAYS)]]
    reports = [report_name(row["report"]) for row in rows if row["kind"] == "release" and "report" in row]
    curators = [CONFIGURATION, CHAIN] if rows[0]["audience"] == Audience.CURATOR.value else []
    if curators and refuting(rows) is not None:
        curators.append(COUNTEREXAMPLE)
    return [*always, *reports, *curators]


def refuting(rows: Sequence[Row]) -> Row | None:
    """Return the first claim of a record that is refuted by a pair of data sets, or None."""
    return next((row for row in rows if row["kind"] == "claim" and row.get("counterexample")), None)


def is_signature(name: str) -> bool:
    """Return whether a file may lie beside the attestation: a signature of it, which other tools check."""
    return name.startswith(f"{LAST}.") and len(name) > len(LAST) + 1


def is_left_over(name: str) -> bool:
    """Return whether a killed run left it: a file that was being written."""
    return name.startswith(".") and name.endswith(".tmp")


def shown(name: object) -> str:
    """Return a file's name on one line, whatever its characters are."""
    text = str(name)
    return text if text.isprintable() else ascii(text)


def kind_of(path: Path) -> str:
    """Return what a path is: ``file``, ``folder``, ``link``, ``nothing`` or ``other``."""
    try:
        mode = os.lstat(path).st_mode
    except FileNotFoundError:
        return "nothing"
    except OSError:
        return "other"
    if stat.S_ISLNK(mode):
        return "link"
    return "file" if stat.S_ISREG(mode) else "folder" if stat.S_ISDIR(mode) else "other"


def refuse_links(out: Path) -> None:
    """Refuse a folder in which something is a symbolic link.

    Raises UserError: it names the link.
    """
    for path in (*_inside(out.resolve()), *(file for part in PARTS for file in _inside(out.resolve() / part))):
        if kind_of(path) == "link":
            raise UserError(f"out must hold no symbolic link, got {shown(path)}")


def foreign(out: Path) -> Iterator[Path]:
    """Yield what is neither a file of a certificate nor of the lock that a run holds; a pipe or a folder is no file."""
    for path in _inside(out.resolve()):
        if path.name in PARTS and kind_of(path) == "folder":
            for each in _inside(path):
                named = each.name in KNOWN or is_signature(each.name) or is_left_over(each.name)
                if not named or kind_of(each) != "file":
                    yield each
        elif path.name not in OWN and not is_left_over(path.name):
            yield path


def _inside(folder: Path) -> list[Path]:
    """Return what lies in a folder, by name; nothing of a link to one."""
    return sorted(folder.iterdir()) if kind_of(folder) == "folder" else []
