"""What changed since a certificate that was made before: compared once, and said in the header of the record."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from reports.row import Audience

from ..engine.record import checked_rows
from ..engine.rows import Row
from ..messages.errors import UserError
from .folder.certificate_files import RECORD

#: Changes that a record keeps; how many more there were is said.
KEPT = 12


@dataclass(frozen=True)
class Previous:
    """The records of a certificate that was made before, one for each audience that is made now.

    Attributes
    ----------
    rows : mapping of Audience to rows
    digests : mapping of Audience to str
        SHA-256 of each record.
    """

    rows: Mapping[Audience, Sequence[Row]] = field(default_factory=dict)
    digests: Mapping[Audience, str] = field(default_factory=dict)

    def part(self, audience: Audience, rows: Sequence[Row]) -> Row:
        """Return what the header says of the changes up to these rows: nothing where nothing was compared.

        Parameters
        ----------
        rows : sequence of rows
            The new record, as it will be read again.

        Raises
        ------
        UserError
            If the two records cannot be compared.
        """
        if audience not in self.rows:
            return {}
        from ..comparison.record_difference import difference

        found = difference(self.rows[audience], rows)
        first = sorted(found.changes, key=lambda change: change.what != "verdict")  # stable: the worse come first
        shown = [
            {"turn": each.turn.name, "words": f"{f'{each.what} {each.where}'.strip()}: {each.said()}"} for each in first
        ]
        return {
            "previous": {
                "record": self.digests[audience],
                "words": self.rows[audience][0]["words"],
                "headline": found.headline(),
                "worse": found.worse,
                "changes": shown[:KEPT],
                "more": max(0, len(shown) - KEPT),
                "notes": list(found.notes),
            }
        }


#: Where nothing is compared.
NOTHING_BEFORE = Previous()


def previous_of(folder: Path, wanted: Sequence[Audience]) -> Previous:
    """Return the records of a folder of ``certify``, for each audience.

    Raises
    ------
    UserError
        If it holds no record for one of them, or one that cannot be read.
    """
    rows, digests = {}, {}
    for audience in wanted:
        record = folder / audience.value / RECORD
        if not record.is_file() and folder.name == audience.value:
            record = folder / RECORD
        if not record.is_file():
            rule = (
                f"a folder of certify with a record for {audience.value} (its whole --out, or one part with --audience)"
            )
            raise UserError(f"previous must be {rule}, got previous={folder}")
        rows[audience] = checked_rows(record, "certificate")
        digests[audience] = hashlib.sha256(record.read_bytes()).hexdigest()
    return Previous(rows, digests)


def previous_digest(header: Row) -> str:
    """Return the digest of the record that a header says it was compared with; empty where there is none."""
    return str(header.get("previous", {}).get("record", ""))
