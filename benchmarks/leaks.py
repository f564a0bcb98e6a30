"""All that the public sees of ``certify`` in worlds that differ in private records alone: a difference is a leak.

Each world is compared with the base twice: on a fresh draw, and in turn in the other ways to call it.
Usage: python benchmarks/leaks.py [--jobs N] [MECHANISM …]. Prints a line for each difference, then the count; exits
with 1 if there is one. The worlds, and what is compared, are in ``tests/leaks.py``.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))

from leaks import BROKEN, CALLS, LABELS, MECHANISMS, drawn, kept_releases, strict, worlds


def compare(name: str) -> tuple[str, int, int, list[str]]:
    """Return what was compared for a mechanism: worlds, things seen in them, and the differences in words."""
    text, data = MECHANISMS[name], worlds()
    n_worlds = n_seen = 0
    found: list[str] = []
    with tempfile.TemporaryDirectory() as place:
        folder = Path(place) / "world"
        kept = kept_releases(Path(place) / "before", text)
        others = list(data)[1:]
        fresh, *further = CALLS
        asked = {fresh: others} | {called: others[k :: len(further)] for k, called in enumerate(further)}
        for called, chosen in asked.items():
            first = CALLS[called](folder, text, data["base"], kept)
            found += [f"{name}, {called}: exit code {first.code}, {first.err}"] if first.code in (2, 4) else []
            for world in chosen:
                other = CALLS[called](folder, text, data[world], kept)
                n_worlds, n_seen = n_worlds + 1, n_seen + 3 + len(first.files)
                found += [f"{name}, {called}, {world}: {door}" for door in first.differences(other)]
        for rule, (line, broken) in BROKEN.items():
            first, *others = (drawn(folder, strict(text, line), each, kept) for each in broken)
            n_worlds, n_seen = n_worlds + len(others), n_seen + (3 + len(first.files)) * len(others)
            unbroken = (LABELS in text and rule == "responses too large") or (  # every response becomes a label
                "standardise" in text and rule == "rows too long"  # z-scores have no bound
            )
            found += [f"{name}, {rule}: exit code {first.code}"] if first.code != 2 and not unbroken else []
            found += [f"{name}, {rule}: {door}" for other in others for door in first.differences(other)]
    return name, n_worlds, n_seen, found


def main() -> int:
    """Compare, and print what was found."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("mechanism", nargs="*", default=list(MECHANISMS))
    asked = parser.parse_args()
    start, leaks, worlds_compared, seen = time.perf_counter(), 0, 0, 0
    with ProcessPoolExecutor(asked.jobs) as pool:
        for name, n_worlds, n_seen, found in pool.map(compare, asked.mechanism):
            leaks, worlds_compared, seen = leaks + len(found), worlds_compared + n_worlds, seen + n_seen
            print(f"{name}: {n_worlds} pairs of worlds, {n_seen} things compared, {len(found)} differences", flush=True)
            print("".join(f"  {line}\n" for line in found), end="", flush=True)
    print(
        f"{len(asked.mechanism)} mechanisms, {worlds_compared} pairs of worlds, {seen} things compared, "
        f"{leaks} differences, {time.perf_counter() - start:.0f} s"
    )
    return int(leaks > 0)


if __name__ == "__main__":
    sys.exit(main())
