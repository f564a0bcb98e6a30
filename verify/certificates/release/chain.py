"""The chain of draws: what was released, in order, and whether a certificate's record is about a draw in it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from mechanisms import PrivacyReport

from ...engine.rows import Row
from ...messages.errors import UserError
from ..folder.attestation import sha256
from ..folder.certificate_files import CHAIN, RECORD
from .release_state import SPENT, Entry, read_chain
from .releases import output_bytes


def released_digests(rows: Sequence[Row], n_outputs: int) -> dict[str, set[str]]:
    """Return the digests that the files of what was drawn can have, made again from the numbers of the record alone.

    The file of an output says which draw it was: any of ``n_outputs``.
    """
    digests = {}
    for row in rows:
        if row["kind"] == "release" and row["name"] == "output":
            name, numbers = rows[0]["mechanism"], row["numbers"]
            digests["output"] = {sha256(output_bytes(name, numbers, draw)) for draw in range(n_outputs + 1)}
        elif row["kind"] == "release" and row["report"]["gradient"] is not None:
            report = PrivacyReport.from_json(json.dumps(row["report"]))
            digests["report"] = {sha256(f"{report.to_json()}\n".encode())}
    return digests


@dataclass
class Compared:
    """What did not fit, and what is worth a line although it did."""

    wrong: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def compare_chain(rows: Sequence[Row], attested: str | None, copied: list[Entry], place: object) -> Compared:
    """Hold the record's releases against the attested output, the copied chain, and that of the release folder.

    Parameters
    ----------
    attested : str or None
        SHA-256 that the attestation has for the output; None where nothing is deployed.
    copied : list of dict
        The chain of the curator's folder.
    place : object
        Where ``run.json`` says that the release folder is.
    """
    compared = Compared()
    outputs = sum(entry["what"] == "output" for entry in copied)
    drawn = released_digests(rows, outputs)
    asked = rows[0]["configuration"].get("release")
    if not (asked and asked["drawn_by_us"]):
        drawn.pop("output", None)  # a file of the user, in the user's own format
    elif attested not in drawn.get("output", ()):
        compared.wrong.append(f"{RECORD} holds another output than the one that was attested")
    else:
        drawn["output"] = {str(attested)}
    for what, digests in drawn.items():
        if not digests & _digests(copied, what):
            compared.wrong.append(f"{CHAIN} does not count the {what} of {RECORD}")
    cost = f"the claimed budget, {outputs} draw{'s' if outputs > 1 else ''}"
    if "output" in drawn and all(row["cost"] != cost for row in rows if row["kind"] == "release"):
        compared.wrong.append(f"{RECORD} counts other draws than the {outputs} of {CHAIN}")
    if copied and not compared.wrong:
        _compare_place(drawn, copied, place, compared)
    return compared


def _compare_place(drawn: dict[str, set[str]], copied: list[Entry], place: object, found: Compared) -> None:
    """Hold the copied chain against the release folder, where that is at hand."""
    folder = _at_hand(place)
    if folder is None:
        found.notes.append("the release folder is not at hand: its chain of draws was not compared")
        return
    try:
        now = read_chain(folder)
    except UserError as stop:
        found.wrong.append(f"{folder / SPENT} is not readable ({stop})")
        return
    missing = [what for what, digests in drawn.items() if not digests & _digests(now, what)]
    if missing or len(now) < len(copied):
        what = f"the attested {missing[0]}" if missing else f"every draw of {len(copied)}"
        found.wrong.append(f"{folder / SPENT} does not count {what}: it was drawn elsewhere, or the list was changed")
    elif len(now) > len(copied):
        more = len(now) - len(copied)
        found.notes.append(
            f"{more} later draw{'s' if more > 1 else ''} in {folder}: this certificate counts none of them"
        )


def _at_hand(place: object) -> Path | None:
    """Return the folder that a text names, if there is one; the text may be anything."""
    try:
        folder = Path(place) if isinstance(place, str) and place else None
        return folder if folder is not None and folder.is_dir() else None
    except (OSError, ValueError):
        return None


def _digests(entries: list[Entry], what: str) -> set[str]:
    return {str(entry["sha256"]) for entry in entries if entry["what"] == what and entry.get("sha256")}
