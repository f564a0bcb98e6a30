"""What the exact calibration buys on several sets: its error over that of the published one, at equal promises.

Usage: python benchmarks/compare_sets.py OUT...

Each OUT is the folder of a `pdp-verify compare`. Writes docs/compare_benchmark.md, with a table of all, and a picture
of each set of more than 1,000 records beside it.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

from compare_pictures import ratios

from reports.figures import figure_svg
from reports.files import write_atomic
from reports.row import Figure
from verify.comparisons.choice_table import ChoiceRecord, read
from verify.comparisons.pages.choice_words import USELESS, error_of, exact_gains, references, worthwhile
from verify.kernel.rows import Row

DOCS = Path(__file__).resolve().parents[1] / "docs"
PICTURED = 1000
TITLE = "# Published against exact on the embedded sets\n"
ABOUT = """
The error of each mechanism with the exact calibration over its error with the published one, both for the same promise
([compare.md](compare.md) says what the two are). Below 1 the exact one is better. A star: the promise of the published
calibration is not proved, so that the comparison is with something that is not known to be private. A dash: one of the
two offers nothing there, or has an error above {useless:g} times the trivial one, and the ratio would be one of noises.
10 folds, 20 draws in each, one record added or removed. {made}.
"""


def shown(pairs: Sequence[tuple[Row, Row]], limit: float) -> Iterator[tuple[str, float, str]]:
    """Yield method, epsilon and the ratio in words of each comparison that says something."""
    for published, exact in pairs:
        before, after = error_of(published), error_of(exact)
        if max(before, after) <= limit:
            star = "" if published["standing"] == "proved" else "*"
            yield exact["method"], exact["epsilon"], f"{after / before:.2f}{star}"


def section(record: ChoiceRecord) -> list[str]:
    """Return the lines of one set: a table of ratios, and below it which mechanism has the smallest error."""
    known = {row["method"]: error_of(row) for row in references(record.rows)}
    found: dict[str, dict[float, str]] = {}
    for method, epsilon, ratio in shown(exact_gains(record.rows), USELESS * known["trivial"]):
        found.setdefault(method, {})[epsilon] = ratio
    groups = worthwhile(record.rows)
    epsilons, delta = [epsilon for epsilon, _, _ in groups], next(iter(groups))[1]
    words = [
        f"{rows[0]['method']} ({rows[0]['way']}) {error_of(rows[0]):.3g}" if rows else "none beats predicting 0"
        for rows in groups.values()
    ]
    header, of = record.header, "misclassification rate" if record.header["loss"] == "logistic" else "squared error"
    size = f"{header['n_records']:,} records, {header['dim']} features"
    lines = [f"\n## {header['name']}: {size}, {header['loss']} loss, delta {delta:.3g}\n"]
    lines += ["| exact / published | " + " | ".join(f"epsilon {epsilon:g}" for epsilon in epsilons) + " |"]
    lines += ["|---" * (len(epsilons) + 1) + "|"]
    for method, values in found.items():
        lines.append("| " + " | ".join([method, *(values.get(epsilon, "-") for epsilon in epsilons)]) + " |")
    lines.append("| smallest error, proved | " + " | ".join(words) + " |")
    lines.append(f"\nMean {of}: trivial {known['trivial']:.3g}, non-private {known['non-private']:.3g}.")
    return lines


def main(words: list[str]) -> None:
    """Write the page and its pictures."""
    command = ["git", "-C", str(DOCS), "log", "-1", "--format=%h"]
    commit = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    made = f"{datetime.now(UTC).date()}, commit {commit}"
    page = [TITLE, ABOUT.strip().format(useless=USELESS, made=made)]
    for word in words:
        record = read(Path(word))
        page += section(record)
        if record.header["n_records"] > PICTURED:
            name = record.header["name"]
            figure: Figure = replace(ratios(record.rows), name=f"compare_{name}")
            write_atomic(DOCS / f"{figure.name}.svg", figure_svg(figure))
            page.append(f"\n![Exact over published error on {name}, a line a mechanism]({figure.name}.svg)")
    page.append("\nMade by `pdp-verify compare SET --epsilon 0.1 0.3 1 3 --out OUT` (`--loss logistic` for fair) and")
    page.append("`python benchmarks/compare_sets.py OUT...`.")
    write_atomic(DOCS / "compare_benchmark.md", ("\n".join(page) + "\n").encode())


if __name__ == "__main__":
    main(sys.argv[1:])
