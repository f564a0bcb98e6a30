"""What every door says about every mechanism of the bank: outcome, draws, seconds, as a table.

Run ``python benchmarks/trust.py [--seeds N] [--only NAME,CLASS,...] [--doors certify,fixture,sweep,notebook]
[--jobs N] [--profile standard] [--out FILE]``. ``--only`` takes names, numbers of classes, ``broken`` and ``honest``.
Progress goes to standard error. The exit code is 1 if a broken mechanism passes or an honest one fails.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from oracles.trust_bank import BROKEN, CLASSES, ENTRIES, HONEST, Entry, state  # noqa: E402
from oracles.trust_bank.doors import DOORS, PROFILES  # noqa: E402


@dataclass(frozen=True)
class Line:
    """One row of the table."""

    name: str
    door: str
    seed: int
    outcome: str
    draws: int
    seconds: float
    reason: str


# --- the table --------------------------------------------------------------------------------------------------------


def one(name: str, door: str, seed: int, profile: str) -> Line:
    """Return one row; an error is a row, since none may leave the table."""
    state.CALLS[0] = 0  # the module's own memory would depend on the order of the table
    start = time.perf_counter()
    try:
        outcome, reason, draws = DOORS[door](ENTRIES[name], seed, profile)
    except Exception as stop:
        outcome, reason, draws = "ERROR", f"{type(stop).__name__}: {stop}", 0
    return Line(name, door, seed, outcome, draws, time.perf_counter() - start, " ".join(reason.split()))


def chosen(only: str) -> list[Entry]:
    """Return the entries that names, classes, ``broken`` or ``honest`` stand for; all without any."""
    words = {word for word in only.split(",") if word}
    known = {*ENTRIES, *map(str, CLASSES), "broken", "honest"}
    if words - known:
        raise SystemExit(f"--only must hold names or classes of the bank, got {', '.join(sorted(words - known))}")
    groups = [
        (entry, {entry.name, str(entry.klass), "broken" if entry.klass else "honest"}) for entry in ENTRIES.values()
    ]
    return [entry for entry, own in groups if not words or own & words]


def run(tasks: list[tuple[str, str, int, str]], jobs: int) -> Iterator[Line]:
    """Yield rows as they are finished."""
    if jobs == 1:
        yield from (one(*task) for task in tasks)
        return
    with ProcessPoolExecutor(jobs) as pool:
        for future in as_completed([pool.submit(one, *task) for task in tasks]):
            yield future.result()


def markdown(lines: Iterable[Line]) -> str:
    """Return counts, then the table."""
    lines = sorted(lines, key=lambda line: (list(ENTRIES).index(line.name), list(DOORS).index(line.door), line.seed))
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shown = [f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.stdout.strip()}.", ""]
    outcomes = sorted({line.outcome for line in lines} | {"PASS", "FAIL", "UNDECIDED"})
    shown += ["| | door | " + " | ".join(outcomes) + " |", "|---|---|" + "---|" * len(outcomes)]
    for kind, names in (("broken", {e.name for e in BROKEN}), ("honest", {e.name for e in HONEST})):
        for door in DOORS:
            counts = Counter(line.outcome for line in lines if line.name in names and line.door == door)
            if counts:
                shown.append(f"| {kind} | {door} | " + " | ".join(str(counts[o]) for o in outcomes) + " |")
    shown += [
        "",
        "| mechanism | class | door | seed | outcome | draws | seconds | reason |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for line in lines:
        reason = line.reason.replace("|", "/")
        reason = reason if len(reason) <= 160 else reason[:157] + "…"
        klass = CLASSES[ENTRIES[line.name].klass]
        cells = (line.name, klass, line.door, line.seed, line.outcome, f"{line.draws:,}", f"{line.seconds:.1f}", reason)
        shown.append("| " + " | ".join(map(str, cells)) + " |")
    return "\n".join(shown) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--doors", default="certify,fixture")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--profile", choices=list(PROFILES), default="standard")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    doors = options.doors.split(",")
    if set(doors) - set(DOORS):
        parser.error(f"--doors must be among {', '.join(DOORS)}, got {options.doors}")
    tasks = [
        (entry.name, door, 20210527 + seed, options.profile)
        for entry in chosen(options.only)
        for door in doors
        for seed in range(options.seeds)
    ]
    lines: list[Line] = []
    for line in run(tasks, options.jobs):
        lines.append(line)
        print(f"{len(lines)}/{len(tasks)} {line.name} {line.door} {line.outcome} {line.seconds:.1f} s", file=sys.stderr)
    text = markdown(lines)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    broken = {entry.name for entry in BROKEN}
    return int(any(line.outcome == ("PASS" if line.name in broken else "FAIL") for line in lines))


if __name__ == "__main__":
    sys.exit(main())
