"""What a run asked of its verdicts beyond a PASS, the exit code that follows, and the overall verdict in words."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from audits.verdict import WEAKEST_FIRST, Decision, Ground
from reports.row import Audience

from ..engine.record import checked_rows
from ..kernel.rows import Row
from ..messages.errors import UserError
from .folder.certificate_files import RECORD

#: The decision on a claim and what it rests on.
Standing = tuple[Decision, Ground]
EXIT_CODES = {Decision.PASS: 0, Decision.FAIL: 1, Decision.UNDECIDED: 3}


@dataclass(frozen=True)
class Previous:
    """The records of an earlier certificate and their SHA-256, one for each audience that is made now."""

    rows: Mapping[Audience, Sequence[Row]] = field(default_factory=dict)
    digests: Mapping[Audience, str] = field(default_factory=dict)


#: Where nothing is compared.
NOTHING_BEFORE: Previous = Previous()


@dataclass(frozen=True)
class Asked:
    """What the caller asked for.

    Attributes
    ----------
    proved : bool
        ``--require proved``: a PASS on somebody's word is not enough.
    undecided : bool
        ``--allow-undecided``: what is open may stay open, but not what was not examined.
    previous : Previous
        ``--previous``: the records that the new ones are compared with.
    """

    proved: bool = False
    undecided: bool = False
    previous: Previous = NOTHING_BEFORE


#: Where nothing is asked beyond the verdicts.
NOTHING_ASKED: Asked = Asked()


def previous_of(folder: Path, wanted: Sequence[Audience]) -> Previous:
    """Return the records of a folder of ``certify``, for each audience; UserError where one is missing or damaged."""
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


def asked_of(header: Row) -> Asked:
    """Return what a record says was asked."""
    return Asked(header.get("required") == "proved", bool(header.get("undecided_allowed")))


def standings(rows: Sequence[Row]) -> list[Standing]:
    """Return the standing of every claim of a record."""
    return [(Decision[row["verdict"]], Ground(row["ground"])) for row in rows if row["kind"] == "claim"]


def worst_of(found: Sequence[Standing]) -> Decision:
    """Return the overall verdict: FAIL before UNDECIDED before PASS."""
    decisions = {decision for decision, _ in found}
    return next((each for each in (Decision.FAIL, Decision.UNDECIDED) if each in decisions), Decision.PASS)


def unmet(found: Sequence[Standing], asked: Asked) -> bool:
    """Return whether a proof was required of a claim that rests on somebody's word."""
    return asked.proved and any(ground is Ground.ATTESTED for _, ground in found)


def waived(found: Sequence[Standing], asked: Asked) -> bool:
    """Return whether the verdict is UNDECIDED, and may be: it was allowed, and every claim was examined."""
    unexamined = {Ground.NOT_TESTED, Ground.MISSTATED} & {ground for _, ground in found}
    return asked.undecided and worst_of(found) is Decision.UNDECIDED and not unexamined


def exit_code(found: Sequence[Standing], asked: Asked) -> int:
    """Return 0 for PASS, 1 for FAIL, 3 for UNDECIDED and for a PASS that is not proved where that was required."""
    decision = worst_of(found)
    if decision is not Decision.FAIL and unmet(found, asked):
        return EXIT_CODES[Decision.UNDECIDED]
    return 0 if waived(found, asked) else EXIT_CODES[decision]


def overall(found: Sequence[Standing]) -> str:
    """Return the verdict on all claims in words, with the weakest ground that it rests on."""
    decision = worst_of(found)
    grounds = {ground for verdict, ground in found if verdict is decision}
    ground = next((candidate for candidate in WEAKEST_FIRST if candidate in grounds), Ground.NONE)
    return decision.name + (f" ({ground.value})" if ground is not Ground.NONE else "")
