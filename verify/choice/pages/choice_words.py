"""What a comparison says in words, the same on the terminal and on paper: what it is, what is best, what exact buys."""

from __future__ import annotations

import math
import statistics
from collections.abc import Iterable, Sequence

from reports.numbers import format_number

from ...engine.rows import Row, number

#: Where the records come from -> the first line of every output, its title before the colon.
FIRST: dict[str, str] = {
    "records": (
        "An experiment on the data, not a release: its numbers depend on every record and stay inside. A mechanism "
        "chosen by them is chosen from the data."
    ),
    "published": (
        "An experiment on published data, not a release: a mechanism chosen by these numbers for these very records is "
        "chosen from the data."
    ),
    "public": (
        "An experiment on a public set, not a release: no private record was read, and a choice made from it costs "
        "nothing."
    ),
    "synthetic": (
        "An experiment on synthetic records, not a release: they were drawn from the public domain, no private record "
        "was read, and a choice made from them costs nothing."
    ),
}
#: What is known of a calibration's promise, for a reader.
STANDINGS: dict[str, str] = {
    "proved": "the promise is proved here over every data set of the public domain",
    "broken": "a pair of neighbouring data sets that can be built exceeds it",
    "not proved": "neither: the promise rests on the paper's word, or on a condition that is not met",
}
#: Methods that promise nothing.
WITHOUT_PRIVACY = ("non-private", "trivial")
#: Order of the ways that a method is calibrated.
WAYS = ("", "published", "exact", "as run")
Promised = tuple[float, float, str]


def first_line(header: Row) -> str:
    """Return the first line of every output of a comparison: what it was made on, and what it is not."""
    return FIRST["published" if header["origin"] == "records" and header["public"] else header["origin"]]


def promised(row: Row) -> Promised:
    """Return what a row's mechanism was set up for: epsilon, delta and the neighbours."""
    return row["epsilon"], row["delta"], row["neighbours"]


def row_name(row: Row) -> str:
    """Return what names a row among those of one comparison, as ``Contender.name`` does."""
    promise = "" if row["epsilon"] is None else f"epsilon {row['epsilon']:g} ({row['neighbours']})"
    return ", ".join(filter(None, (row["method"], row["way"], promise)))


def references(rows: Iterable[Row]) -> list[Row]:
    """Return the rows of what promises nothing: the non-private estimate and the trivial one."""
    return [row for row in rows if row["method"] in WITHOUT_PRIVACY and row["epsilon"] is None]


def by_promise(rows: Iterable[Row]) -> dict[Promised, list[Row]]:
    """Return the rows of each promise: by neighbours, then epsilon; in each the smallest error first, no error last."""
    found: dict[Promised, list[Row]] = {}
    for row in rows:
        if row["epsilon"] is not None:
            found.setdefault(promised(row), []).append(row)
    ordered = sorted(found, key=lambda promise: (promise[2], promise[0], promise[1]))
    return {promise: sorted(found[promise], key=_place) for promise in ordered}


def _place(row: Row) -> tuple[bool, float, str, int]:
    error = error_of(row)
    return row["error"] is None, math.inf if math.isnan(error) else error, row["method"], WAYS.index(row["way"])


def error_of(row: Row) -> float:
    """Return the cross-validated error of a row; nan where there is none."""
    return math.nan if row["error"] is None else number(row["error"])


def half_width(row: Row) -> float:
    """Return half the width of the error's interval; nan where there is none."""
    if row["error_low"] is None or row["error_high"] is None:
        return math.nan
    return 0.5 * (number(row["error_high"]) - number(row["error_low"]))


def error_words(row: Row, *, typographic: bool = False) -> str:
    """Return error and half width of its interval with three and two digits."""
    error, width = error_of(row), half_width(row)
    if math.isnan(error):
        return "–" if typographic else "-"
    words = format_number(error, 3, typographic=typographic)
    return words if math.isnan(width) else f"{words} ± {format_number(width, 2, typographic=typographic)}"


def best_of(rows: Sequence[Row]) -> Row | None:
    """Return the row of the smallest finite error among those of one promise that is proved."""
    proved = [row for row in rows if row["standing"] == "proved" and math.isfinite(error_of(row))]
    return min(proved, key=error_of, default=None)


def best_line(rows: Iterable[Row]) -> str:
    """Return which mechanism has the smallest error at which epsilons; promises that are not proved do not count."""
    found: dict[tuple[str, str, str], list[str]] = {}
    for (epsilon, _, neighbours), group in by_promise(rows).items():
        best = best_of(group)
        if best is not None:
            found.setdefault((neighbours, best["method"], best["way"]), []).append(f"{epsilon:g}")
    several = len({neighbours for neighbours, _, _ in found}) > 1
    words = [
        f"{method} ({way}) at epsilon {', '.join(at)}" + (f" for {neighbours}" if several else "")
        for (neighbours, method, way), at in found.items()
    ]
    return "; ".join(words) or "none"


def exact_gains(rows: Iterable[Row]) -> list[tuple[Row, Row]]:
    """Return the published and the exact row of every method and promise that have a finite error both ways."""
    pairs = []
    for group in by_promise(rows).values():
        ways = {(row["method"], row["way"]): row for row in group if math.isfinite(error_of(row))}
        for method in dict.fromkeys(method for method, _ in ways):
            if (method, "published") in ways and (method, "exact") in ways:
                pairs.append((ways[method, "published"], ways[method, "exact"]))
    return pairs


def exact_line(rows: Iterable[Row]) -> str:
    """Return in a sentence or two what the exact calibration buys over the published one."""
    pairs = exact_gains(rows)
    if not pairs:
        return "No mechanism here has both a published and an exact calibration."
    less = [(exact, error_of(exact) / error_of(published)) for published, exact in pairs if error_of(published) > 0]
    line = (
        f"Exact calibration has the smaller error in {sum(ratio < 1 for _, ratio in less)} of {len(pairs)} comparisons"
    )
    if less:
        best, ratio = min(less, key=lambda each: each[1])
        middle = format_number(statistics.median(ratio for _, ratio in less), 3)
        where = f"{best['method']} at epsilon {best['epsilon']:g}"
        line += f" (median ratio {middle}, least {format_number(ratio, 3)}: {where})"
    lost = [published for published, exact in pairs if published["standing"] != exact["standing"] == "proved"]
    if lost:
        methods = ", ".join(dict.fromkeys(row["method"] for row in lost))
        line += f"; the published calibration is not proved for {len(lost)} of them ({methods}), the exact one is"
    return line + "."


def reasons(rows: Iterable[Row]) -> list[str]:
    """Return why numbers are missing or not as they seem: each reason once, with the mechanism and its promises."""
    why: dict[tuple[str, str, str], list[str]] = {}
    for (epsilon, _, neighbours), group in by_promise(rows).items():
        for row in group:
            if row["reason"]:
                at = f"{epsilon:g}" + (" (replace)" if neighbours == "replace" else "")
                why.setdefault((row["method"], row["way"], row["reason"]), []).append(at)
    return [f"{method} ({way}) at {', '.join(at)}: {reason}" for (method, way, reason), at in why.items()]
