"""What changed between two records: the function behind ``pdp-verify diff`` and a certificate's first page."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from importlib import import_module

from ..engine.rows import dumps
from ..messages.errors import UserError
from .changes import Difference, RecordChange, ordered
from .compared_record import ComparedRecord, RecordLike, compared_record
from .header_changes import comparer_of, header_changes
from .look_changes import Comparer

Changes = Callable[[ComparedRecord, ComparedRecord, Comparer], Iterator[RecordChange]]


def difference(old: RecordLike, new: RecordLike) -> Difference:
    """Say what changed between two records of one kind.

    Proved numbers are compared under one seed only (the data and the points of a search are drawn from it), and so are
    sampled ones; two intervals without a common value have moved. Intervals that overlap show no difference, which is
    not that there is none.

    Parameters
    ----------
    old, new : record, rows or path
        What ``read`` or ``certify`` returned; the rows of a record, header first; or the file or folder that holds it.

    Returns
    -------
    Difference
        ``worse``, ``changes`` and ``lines()``; ``notes`` says what was not compared.

    Raises
    ------
    UserError
        If a record cannot be read, or the two cannot be compared: they are of two kinds, or for two audiences of which
        one may not read what the other may.

    Examples
    --------
    >>> from verify import difference
    >>> header = {"kind": "header", "profile": "quick", "seed": 1, "failure_prob": 1e-4, "complete": True,
    ...           "versions": {}, "platform": "", "sources": "", "data": {}}
    >>> difference([header], [header | {"profile": "standard"}]).lines()
    ['profile  quick -> standard']
    """
    before, after = compared_record(old), compared_record(new)
    _check_comparable(before, after)
    comparer, notes = comparer_of(before, after)
    found = [*header_changes(before.header, after.header), *_of_kind(before.kind)(before, after, comparer)]
    unsaid = _unsaid(before, after) if not found else []
    confidential = before.confidential or after.confidential
    return Difference(
        before.kind, ordered(found), (*notes, *_said(before, after), *unsaid), dict(comparer.compared), confidential
    )


def _unsaid(old: ComparedRecord, new: ComparedRecord) -> list[str]:
    """Return that lines differ although no change was found, so that "no change" alone is said of equal records."""
    headers = ({name: value for name, value in record.header.items() if name != "previous"} for record in (old, new))
    both = zip(headers, (old, new), strict=True)
    lines = [Counter(map(dumps, (header, *record.rows))) for header, record in both]
    count = max((lines[0] - lines[1]).total(), (lines[1] - lines[0]).total())
    words = "1 line differs" if count == 1 else f"{count} lines differ"
    return [f"{words}, in numbers whose intervals overlap or in what is not compared"] if count else []


def _of_kind(kind: str) -> Changes:
    """Return what compares two records of a kind; its module is loaded when it is needed."""
    function: Changes = getattr(import_module(f".{kind}_changes", __package__), f"{kind}_changes")
    return function


def _check_comparable(old: ComparedRecord, new: ComparedRecord) -> None:
    if old.kind != new.kind:
        raise UserError(f"records must be of one kind, got a {old.kind} and a {new.kind}")
    audiences = [record.header.get("audience") for record in (old, new)]
    if audiences[0] != audiences[1] and (old.confidential or new.confidential):
        raise UserError(f"records must be for one audience, got {audiences[0]} and {audiences[1]}")


def _said(old: ComparedRecord, new: ComparedRecord) -> tuple[str, ...]:
    """Return what a reader must know of two records that are compared all the same."""
    notes = []
    if old.kind == "certificate":
        notes += import_module(".certificate_changes", __package__).certificate_notes(old.header, new.header)
    for name, record in (("OLD", old), ("NEW", new)):
        if record.header.get("complete") is False:
            notes.append(f"{name} is not complete: what is absent there was not reached")
    return tuple(notes)
