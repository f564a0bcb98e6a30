"""The pictures of docs/compare.md, from the record of a comparison.

Usage: python benchmarks/compare_pictures.py OUT [FOLDER]

OUT is the folder of `pdp-verify compare`, FOLDER where the pictures go (docs by default): compare_error.svg is the
figure of its pages; compare_exact.svg shows for every promise the error of the exact calibration over that of the
published one.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path

from reports.figures import figure_svg
from reports.files import write_atomic
from reports.row import Figure, Mark, Series
from verify.comparisons.choice_table import read
from verify.comparisons.pages.choice_pages import document
from verify.comparisons.pages.choice_words import error_of, exact_gains, is_useless, trivial_error
from verify.kernel.rows import Row


def ratios(rows: Sequence[Row]) -> Figure:
    """Return the error of the exact calibration over that of the published one, by method and epsilon.

    Where an error is of no use at all, the ratio is that of two noises, and left out. A star stands where the promise
    of the published calibration is not proved.
    """
    found: dict[str, list[tuple[float, float]]] = {}
    open_ = set()
    trivial = trivial_error(rows)
    for published, exact in exact_gains(rows):
        if is_useless(published, trivial) or is_useless(exact, trivial):
            continue
        found.setdefault(exact["method"], []).append((exact["epsilon"], error_of(exact) / error_of(published)))
        if published["standing"] != "proved":
            open_.add(exact["method"])
    series = tuple(
        Series(method + (" *" if method in open_ else ""), tuple(x for x, _ in points), tuple(y for _, y in points))
        for method, points in found.items()
    )
    return Figure(
        "compare_exact",
        "What the exact calibration buys",
        "",
        "Error of the exact calibration over the published one, a line a mechanism, against epsilon.",
        "promised epsilon (nats)",
        "error, exact / published",
        series,
        (Mark("y", 1.0, "no difference"),),
        x_scale="log",
    )


def main(words: list[str]) -> None:
    """Write both pictures."""
    record = read(Path(words[0]))
    folder = Path(words[1]) if len(words) > 1 else Path("docs")
    pages = document(record.header, record.rows, {}, date="")
    error = next(block for block in pages.blocks() if isinstance(block, Figure))
    for name, figure in (("compare_error", error), ("compare_exact", ratios(record.rows))):
        write_atomic(folder / f"{name}.svg", figure_svg(figure))


if __name__ == "__main__":
    main(sys.argv[1:])
