"""The name of a pair of data sets, by which its random streams are known, as words that are true of its records."""

from __future__ import annotations

import re
from typing import Any

#: Words of a name -> what is true of the records, whatever their number and that of the features.
PLAIN: tuple[tuple[str, str], ...] = (
    (r"\b(\d+) of them, the last \1 ", r"\1 of them, all "),
    (r"\bone extreme response among tiny ones", "the first response extreme, the others tiny"),
    (r"\bone long row among tiny ones", "the first row long, the others tiny"),
    (r"\bone row across the others", "the first row across the others (against them where there is one feature)"),
    (r"\bwith a row across the others", "with the features moved on by one column"),
    (r"\bresponses of three values", "responses -1, 0 and +1 in turn"),
    (r"\ba record inside the ball (\d+)", r"record \1 of a fixed list inside the ball"),
    (r"\bthe zero record, its length made", "a row on the first axis with response 0, its length made"),
    (r"\bthe zero record, its response made", "a row of zeros, its response made"),
    (r", labels -1 and \+1", ", of every response its sign as a label (-1 for 0)"),
)
#: The same of the target, which differs where no other record, or no row but zeros, says a direction.
ALONE: tuple[tuple[str, str], ...] = (
    (
        r"no other record; the first record with the opposite response",
        "no other record; a row on the first axis, response -",
    ),
    (r"no other record; one more copy of the first record", "no other record; a row on the first axis, response +"),
)
NO_DIRECTION: tuple[tuple[str, str], ...] = (
    (r"; opposite of the first record", "; a row against the first axis, response of the other sign (- without one)"),
    (r"; most excited direction,", "; a row on the first axis,"),
    (r"; least excited direction,", "; a row on the last axis,"),
    (r"; between the most and the least excited direction", "; a row between the first and the last axis"),
)
DIRECTION: tuple[tuple[str, str], ...] = (
    (
        r"; opposite of the first record",
        "; a row against that of the first record, response of the other sign (- for 0)",
    ),
    (r"; the first record with the opposite response", "; the first record with the opposite response (+ for 0)"),
)
#: Which share of the responses is zero, and how many of how many records that is.
ZERO = re.compile(r"\b(?:(\d+) % of the responses zero|responses half zero)((?: times \S+)?, (\d+) of them)")


def pair_said(name: str) -> str:
    """Return the name of a pair as words that are true of its data; whatever else a text says stays as it is.

    Examples
    --------
    >>> pair_said("rows alike, responses zero, 3 of them, the last 3 with a row of zeros; the zero record; removed")
    'rows alike, responses zero, 3 of them, all with a row of zeros; the zero record; removed'
    >>> pair_said("no other record; one more copy of the first record; added")
    'no other record; a row on the first axis, response +; added'
    """
    text = ZERO.sub(_zeros, name)
    alone = "no other record; " in text
    text = _replaced(text, PLAIN + (ALONE if alone else ()))
    blank = alone or re.search(r"\brows zero\b|, all with a row of zeros", text) is not None
    return _replaced(text, (*(NO_DIRECTION if blank else ()), *DIRECTION))


def _replaced(text: str, words: tuple[tuple[str, str], ...]) -> str:
    for pattern, new in words:
        text = re.sub(pattern, new, text)
    return text


def _zeros(found: re.Match[str]) -> str:
    n = int(found[3])
    zeros = (n + 1) // 2 if found[1] is None else round(int(found[1]) / 100 * n + 1e-9)
    kind = "responses zero" if zeros == n else f"the first {zeros} responses zero"
    return ("responses alike" if zeros == 0 else kind) + found[2]


def in_words(value: Any) -> Any:
    """Return a value of a record with the names of pairs in its texts in words."""
    if isinstance(value, dict):
        return {key: in_words(each) for key, each in value.items()}
    if isinstance(value, list):
        return [in_words(each) for each in value]
    return pair_said(value) if isinstance(value, str) else value
