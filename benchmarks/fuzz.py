"""Every command on inputs that nobody would write on purpose, unseeded: exit codes, seconds, broken promises.

Run ``python benchmarks/fuzz.py [--examples 2000] [--seed N] [--jobs N] [--all-rendered] [--out FILE]``. A third are
configurations, a third data files and grids, a third damaged records. Figures and pages are really drawn, and a sweep
has a worker process, in every fourth case (``--all-rendered``: in all). The cases are those of ``tests/fuzz``; the slow
tests try 200 at every commit. Progress goes to standard error. FILE gets the table and, of every broken promise, a case
that can be pasted into ``tests/fuzz/found.py``; then the exit code is 1.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import random
import re
import secrets
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]

#: Examples of one part: a part has a seed of its own and is done in one go.
PART = 56
SHARES = {"configurations": 1 / 3, "data files": 1 / 6, "grids": 1 / 6, "damage": 1 / 3}


@dataclass
class Tally:
    """What became of the examples of one kind."""

    examples: int = 0
    commands: int = 0
    rendered: int = 0
    reached: int = 0
    seconds: float = 0.0
    slowest: float = 0.0
    codes: Counter[str] = field(default_factory=Counter)
    broken: dict[str, tuple[int, str]] = field(default_factory=dict)

    def add(self, other: Tally) -> None:
        for name in ("examples", "commands", "rendered", "reached", "seconds"):
            setattr(self, name, getattr(self, name) + getattr(other, name))
        self.slowest = max(self.slowest, other.slowest)
        self.codes += other.codes
        for key, (count, shown) in other.broken.items():
            before = self.broken.get(key, (0, shown))
            self.broken[key] = (before[0] + count, before[1])


def part(name: str, n_examples: int, seed: int, all_rendered: bool) -> Tally:
    """Try some examples of a kind; nothing stops at a broken promise."""
    os.environ["OPENBLAS_NUM_THREADS"] = "1"
    from fuzz.configurations import configurations
    from fuzz.damage import damaged
    from fuzz.data_files import data_files
    from fuzz.grids import grids
    from fuzz.promise import Case, attempt
    from hypothesis import HealthCheck, Phase, given, settings
    from hypothesis import seed as seeded
    from hypothesis import strategies as st

    kinds = {"configurations": configurations, "data files": data_files, "grids": grids, "damage": damaged}
    rendered = st.just(True) if all_rendered else st.sampled_from((True, False, False, False))
    tally = Tally()

    @seeded(seed)
    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(kinds[name](rendered=rendered))
    def one(case: Case) -> None:
        outcome = attempt(case)
        codes = Counter(str(ran.code) for ran in outcome.ran)
        tally.add(Tally(1, len(outcome.ran), case.rendered, outcome.reached, outcome.seconds, outcome.seconds, codes))
        if outcome.faults:
            key = re.sub(r"[0-9.e+-]+", "#", outcome.faults[0])[:100]
            tally.add(Tally(broken={key: (1, str(outcome))}))

    one()
    return tally


def table(found: dict[str, Tally], seed: int, wall: float, jobs: int) -> str:
    """Return the table, and below it one case of every broken promise."""
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    ).stdout.strip()
    lines = [
        f"{datetime.now(UTC):%Y-%m-%d}, commit {commit or 'unknown'}, seed {seed}, {wall:.0f} s with {jobs} jobs.",
        "",
    ]
    codes = ("0", "1", "2", "3")
    head = ["kind", "examples", "rendered", "commands", "seconds", "slowest", *(f"exit {code}" for code in codes)]
    head += ["other", "reached the checks", "findings"]
    lines += ["| " + " | ".join(head) + " |", "|---|" + "---:|" * (len(head) - 1)]
    total = Tally()
    for tally in found.values():
        total.add(tally)
    for name, tally in [*found.items(), ("all", total)]:
        other = sum(count for code, count in tally.codes.items() if code not in codes)
        cells = (
            *(name, f"{tally.examples:,}", f"{tally.rendered:,}", f"{tally.commands:,}", f"{tally.seconds:,.0f}"),
            *(f"{tally.slowest:.1f}", *(f"{tally.codes[code]:,}" for code in codes), other),
            *(f"{tally.reached / max(tally.examples, 1):.0%}", len(tally.broken)),
        )
        lines.append("| " + " | ".join(map(str, cells)) + " |")
    for name, tally in found.items():
        for count, shown in tally.broken.values():
            lines += ["", f"## {name}: {count} times", "", "```", shown, "```"]
    return "\n".join(lines) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=None, help="of a run that is to be repeated")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--all-rendered", action="store_true")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    seed = secrets.randbelow(2**32) if options.seed is None else options.seed
    seeds = random.Random(seed)
    parts = []
    for name, share in SHARES.items():
        left = round(options.examples * share)
        while left > 0:
            parts.append((name, min(PART, left), seeds.randrange(2**32), options.all_rendered))
            left -= PART
    seeds.shuffle(parts)
    found = {name: Tally() for name in SHARES}
    start = time.monotonic()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context, max_tasks_per_child=1) as pool:
        futures = {pool.submit(part, *each): each[0] for each in parts}
        for done, future in enumerate(as_completed(futures), start=1):
            found[futures[future]].add(future.result())
            tried = sum(tally.examples for tally in found.values())
            broken = sum(len(tally.broken) for tally in found.values())
            seconds = time.monotonic() - start
            line = f"{done}/{len(parts)} parts, {tried} examples, {seconds:.0f} s, {broken} findings"
            print(line, file=sys.stderr, flush=True)
            text = table(found, seed, seconds, options.jobs)
            if options.out:  # after every part: what was found by an interrupted run is kept
                options.out.write_text(text, encoding="utf-8", errors="backslashreplace")
    print(text.partition("\n## ")[0])
    return int(any(tally.broken for tally in found.values()))


if __name__ == "__main__":
    sys.exit(main())
