"""Drawing one recorded case again: the same row to the byte, or on another platform the same to 1e-9."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from ..engine.record import Record
from ..engine.rows import Row, dumps
from ..kernel.ruling import worst
from ..messages.errors import UserError

#: Relative tolerance of numbers on another platform (other versions, BLAS or processor).
ELSEWHERE = 1e-9


def decisive(record: Record, id_: str, case: str | None = None) -> Row:
    """Return the row that decided an id, a display or a reading: its counterexample, else its smallest margin.

    The printed form counts before the corrected one.

    Raises
    ------
    UserError
        If the record has no such id, or no such case.
    """
    rows = record.cases_of(id_)
    if not rows:
        record.verdict(id_)  # an id without a case, or none at all
    if case is not None:
        for row in rows:
            if row["case"].split() == case.split():  # a command copied from a page may be broken in two lines
                return row
        raise UserError(f"case must be one of {id_} in the record, got case={case}")
    for standing in ("PRINTED", "CORRECTED", "MUTANT"):
        closest = worst([row for row in rows if row["standing"] == standing])
        if closest:
            return closest
    if not rows:
        raise UserError(f"id must have a case in the record, got id={id_} (a definition, or interrupted before it)")
    return rows[0]


def differences(recorded: Any, again: Any, *, tolerance: float, place: str = "") -> Iterator[str]:
    """Yield every place where two rows differ: a number by more than ``tolerance`` (relative), anything else at all."""
    if isinstance(recorded, dict) and isinstance(again, dict):
        for name in [*recorded, *(name for name in again if name not in recorded)]:
            yield from differences(
                recorded.get(name), again.get(name), tolerance=tolerance, place=f"{place}.{name}".lstrip(".")
            )
    elif isinstance(recorded, list) and isinstance(again, list) and len(recorded) == len(again):
        for i, (old, new) in enumerate(zip(recorded, again, strict=True)):
            yield from differences(old, new, tolerance=tolerance, place=f"{place}[{i}]")
    elif not _same(recorded, again, tolerance):
        yield f"{place}: recorded {recorded!r}, now {again!r}"


def _same(recorded: Any, again: Any, tolerance: float) -> bool:
    if type(recorded) is type(again) and recorded == again:
        return True
    numeric = all(isinstance(value, (int, float)) and not isinstance(value, bool) for value in (recorded, again))
    return numeric and tolerance > 0 and math.isclose(recorded, again, rel_tol=tolerance, abs_tol=tolerance * 1e-3)


def compare_rows(recorded: Row, again: Row, *, same_platform: bool) -> list[str]:
    """Return how a replayed row differs from the recorded one (nothing: it was reproduced)."""
    if same_platform:
        if dumps(recorded) == dumps(again):
            return []
        return list(differences(recorded, again, tolerance=0.0)) or ["the order of the fields"]
    return list(differences(recorded, again, tolerance=ELSEWHERE))
