"""The pair of data sets that refutes a claim: as data in the record, as rows of a page, and as arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from audits.adapters.records import PublicRecords
from audits.estimate import Result
from mechanisms import Dataset, Relation
from mechanisms.data.dataset import FloatArray
from reports.numbers import format_count
from reports.row import Block, Paragraph, Table

from ..engine.record import checked_rows, record_file
from ..kernel.rows import Row, encode, number
from ..messages.pair_words import pair_said

#: Most numbers of a pair that a record holds, and most lines of its records that a page shows.
MOST_NUMBERS, SHOWN = 200_000, 24
#: Kinds of records that both data sets share, up to which they are named.
FEW = 2
#: Where the records of a pair are that the second data set has, the first has, or both have with other values.
MARKS = {"ADD": ("", "second only"), "REMOVE": ("first only", ""), "REPLACE": ("first", "second")}


def pair_row(members: Any, *, private: bool) -> Row | None:
    """Return a pair of data sets as data; None where they are too long, or do not differ in one block of records.

    ``members`` has ``first``, ``second`` and ``relation``; ``private`` says whether the records may not be published.
    """
    first, second, relation = members.first, members.second, members.relation
    before, after = (np.column_stack([each.X, each.y]) for each in (first, second))
    if max(before.size, after.size) > MOST_NUMBERS:
        return None
    shared, whole = (after, before) if relation is Relation.REMOVE else (before, after)
    copies = getattr(members, "distance", 1)
    place = _first_difference(shared, whole)
    target = whole[place : place + 1]
    if relation is Relation.REPLACE:
        again = shared.copy()
        again[place : place + copies] = target
    else:
        again = np.insert(shared, [place] * copies, target, axis=0)
    if not np.array_equal(again, whole):
        return None
    row = {
        "relation": relation.name,
        "place": place,
        "copies": copies,
        "X": shared[:, :-1],
        "y": shared[:, -1],
        "target_x": target[0, :-1],
        "target_y": target[0, -1],
        "private": private,
    }
    encoded: Row = encode(row)
    return encoded


def _first_difference(one: FloatArray, other: FloatArray) -> int:
    shorter = min(len(one), len(other))
    differs = (one[:shorter] != other[:shorter]).any(axis=1)
    return int(np.argmax(differs)) if differs.any() else min(shorter, len(other) - 1)


def members_of(row: Row) -> tuple[FloatArray, FloatArray]:
    """Return the records of the first and of the second data set, the response as the last column."""
    X = np.array([[number(value) for value in line] for line in row["X"]], dtype=np.float64)
    target = np.array([number(value) for value in [*row["target_x"], row["target_y"]]])
    y = np.array([number(value) for value in row["y"]], dtype=np.float64)
    shared = np.column_stack([X.reshape(len(y), len(target) - 1), y])
    if row["relation"] == Relation.REPLACE.name:
        whole = shared.copy()
        whole[row["place"] : row["place"] + row["copies"]] = target
    else:
        whole = np.insert(shared, [row["place"]] * row["copies"], target, axis=0)
    return (whole, shared) if row["relation"] == Relation.REMOVE.name else (shared, whole)


def pair_sentence(row: Row) -> str:
    """Return in words which records the two data sets share, and where they differ."""
    n, place, copies = len(row["y"]), row["place"], row["copies"]
    many = "one record" if copies == 1 else f"{copies} records"
    if row["relation"] == "REPLACE":
        at = f"{place + 1}" if copies == 1 else f"{place + 1} to {place + copies}"
        return f"two data sets of {format_count(n)}, which differ in {many}, number {at}"
    more = "first" if row["relation"] == "REMOVE" else "second"
    return f"{format_count(n)} in both data sets; the {more} has {many} more, number {place + 1} of its records"


def pair_blocks(header: Row, row: Row | None) -> Iterator[Block]:
    """Yield the records of a counterexample as a table: equal neighbours on one line, what differs marked."""
    if row is None:
        return
    records = _described(header)
    columns: tuple[str, ...] = ("Record", "Features", "Response", "Data set")
    alignments: tuple[str, ...] = ("right", "left", "right", "left")
    if records is not None:
        columns, alignments = ("Record", "Values", "Data set"), ("right", "left", "left")
    first, second = members_of(row)
    place, copies, relation = row["place"], row["copies"], row["relation"]
    old, new = MARKS[relation]
    differing = [(first[place], place, copies, old)] if old else []
    differing += [(second[place], place, copies, new)] if new else []
    shared = first if relation != "REMOVE" else second
    skipped = copies if relation == "REPLACE" else 0
    more = 0 if relation == "REPLACE" else copies
    lines = [
        *_runs(shared[:place], 0),
        *differing,
        *_runs(shared[place + skipped :], place + skipped + more),
    ]
    at = next(i for i, line in enumerate(lines) if line[3])
    start = max(0, min(at - SHOWN // 2, len(lines) - SHOWN))
    shown = lines[start : start + SHOWN]
    cells = tuple(
        (
            f"{begin + 1}" if size == 1 else f"{begin + 1} to {begin + size}",
            *_in_cells(record, header, records),
            mark or "both",
        )
        for record, begin, size, mark in shown
    )
    left = sum(size for _, _, size, _ in lines) - sum(size for _, _, size, _ in shown)
    where = "Private records, for the curator alone" if row["private"] else "These records may be published"
    cut = f" {format_count(left)} more records are in audit.jsonl, with all digits." if left else ""
    yield Paragraph(f"The counterexample as data: {pair_sentence(row)}. {where}.{cut}")
    yield Table("The two data sets on which the claim is refuted", columns, cells, alignments)


def _described(header: Row) -> PublicRecords | None:
    given = header["configuration"]["data"].get("records")
    return None if given is None else PublicRecords.of(given)


def _in_cells(record: FloatArray, header: Row, records: PublicRecords | None) -> list[str]:
    """Return features and response of a record, or the values that the mechanism was given for them."""
    if records is None:
        return [", ".join(f"{value:.6g}" for value in record[:-1]), f"{record[-1]:.6g}"]
    bounds = number(header["data"]["x_bound"]), number(header["data"]["y_bound"])
    return records.one_by_one(Dataset(record[None, :-1], record[-1:], *bounds))


def _runs(records: FloatArray, begin: int) -> Iterator[tuple[FloatArray, int, int, str]]:
    """Yield equal neighbours together: the record, the place of the first of them, and how many there are."""
    start = 0
    for stop in range(1, len(records) + 1):
        if stop == len(records) or not np.array_equal(records[stop], records[start]):
            yield records[start], begin + start, stop - start, ""
            start = stop


@dataclass(frozen=True, eq=False, repr=False)
class Counterexample(Result):
    """Two neighbouring data sets on which a claim was refuted.

    Attributes
    ----------
    claim, sentence : str
        The name of the claim, and what it says.
    first, second : Dataset
        The data sets in their order, as the mechanism got them; ``X`` and ``y`` hold the records.
    relation : Relation
        ``ADD`` where the second has the record that the first has not, ``REMOVE`` where the first has it, ``REPLACE``.
    place, copies : int
        Place of the record that is added, removed or replaced, from 0; how many records from there on differ.
    words : str
        How the pair was built.
    records : PublicRecords or None
        What the mechanism was given in place of the rows, where that was described.
    event, hits : str
        Which outputs show it, and how often they came from either data set; empty where it was not seen in draws.
    """

    claim: str
    sentence: str
    first: Dataset
    second: Dataset
    relation: Relation
    place: int
    copies: int
    words: str
    event: str
    hits: str
    records: PublicRecords | None = None

    @property
    def given(self) -> tuple[Any, Any]:
        """Both data sets as the mechanism was given them: data frames or values where records were described."""
        if self.records is None:
            return self.first, self.second
        return self.records.of_rows(self.first).whole, self.records.of_rows(self.second).whole

    @property
    def in_records(self) -> str:
        """The pair in the values of its records; as it was built where none were described."""
        if self.records is None:
            return self.words
        first, second = (self.records.one_by_one(each) for each in (self.first, self.second))
        place, copies = self.place, self.copies
        longer, shorter = (first, second) if self.relation is Relation.REMOVE else (second, first)
        others = Counter([*longer[:place], *longer[place + copies :]])
        among = " and ".join(f"{count} times ({record})" for record, count in others.items())
        about = f", the others are {among}" if 0 < len(others) <= FEW else f", {others.total()} others"
        many = f"{copies} times " if copies > 1 else ""
        if self.relation is Relation.REPLACE:
            return f"{many}({shorter[place]}) replaced by ({longer[place]}){about}"
        return f"with and without {many}({longer[place]}){about if others else ', no others'}"

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name; of private records never a cell."""
        return {
            "claim": self.claim,
            "first": repr(self.first),
            "second": repr(self.second),
            "relation": self.relation.name,
            "place": self.place,
            "pair": self.words,
            "event": f"{self.event}: {self.hits}" if self.event else "",
        }


def counterexample(record: str | Path, claim: str | None = None) -> Counterexample:
    """Return the two data sets on which a claim of a certificate was refuted.

    Parameters
    ----------
    record : path
        The folder of a certificate, that of one of its audiences, or the record ``audit.jsonl``.
    claim : str, optional
        The name of the claim; by default the first that is refuted.

    Returns
    -------
    Counterexample
        Its data sets hold the numbers that the mechanism got.

    Raises
    ------
    ValueError
        If the record holds no FAIL with a pair of data sets.
    UserError
        If there is no record of a certificate.
    """
    path = Path(record)
    parts = [path / name for name in ("curator", "release")]
    path = next((part for part in parts if record_file(part).is_file()), path)
    header, *rows = checked_rows(record_file(path), "certificate")
    found = [row for row in rows if row["kind"] == "claim" and row.get("counterexample")]
    row = next((each for each in found if claim in (None, each["claim"])), None)
    if row is None:
        asked = "a refuted claim with its pair of data sets" if claim is None else "a pair that refutes this claim"
        raise ValueError(f"record must hold {asked}, got record={record}" + (f", claim={claim}" if claim else ""))
    return counterexample_of(header, row)


def counterexample_of(header: Row, row: Row) -> Counterexample:
    """Return the two data sets of a claim's row, which has them."""
    pair, data, violation = row["counterexample"], header["data"], row.get("violation") or {}
    bounds = number(data["x_bound"]), number(data["y_bound"])
    names = ("first data set", "second data set")
    first, second = (
        Dataset(each[:, :-1], each[:, -1], *bounds, name=name, public=not pair["private"])
        for each, name in zip(members_of(pair), names, strict=True)
    )
    return Counterexample(
        row["claim"],
        row["sentence"],
        first,
        second,
        Relation[pair["relation"]],
        pair["place"],
        pair["copies"],
        pair_said(str(violation.get("pair", ""))),
        str(violation.get("event", "")),
        str(violation.get("hits", "")),
        _described(header),
    )
