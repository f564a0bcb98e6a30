"""A bank of real bugs: whether draws refute each claim in the version that it is reported of, and what is right.

Run ``python benchmarks/bug_bank/run_bank.py [--only ID ...] [--envs DIR] [--recorder DIR] [--out docs/bug_bank.md]``.
Environments are made by pip, each once, and kept in ``--envs`` with what was found; ``--out`` writes the page from all
that is kept there.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from bank import HERE, Bug, bugs, keep, kept, row
from bank_page import cells, page

ROWS = "rows"


def find(bug: Bug, envs: Path, recorder: str) -> None:
    """Audit one bug, keep what is found, and print it."""
    found = row(bug, envs, recorder=recorder)
    keep(found, envs / ROWS / f"{bug.id}.json")
    print(" | ".join(cells(bug, found)), flush=True)
    for side in (found.bug, found.right):
        print(f"    {side}", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", nargs="+", metavar="ID", help="these bugs (all that are published)")
    parser.add_argument("--envs", type=Path, default=HERE.parents[1] / "build" / "bug_bank")
    parser.add_argument("--recorder", default="", metavar="DIR", help="a checkout of dp-recorder, which is on no index")
    parser.add_argument("--out", type=Path, help="write the page of the published bugs to this file")
    parser.add_argument("--page-only", action="store_true", help="run nothing: write the page from what is kept")
    args = parser.parse_args()
    bank = bugs()
    names = [bug.id for bug in bank]
    unknown = sorted(set(args.only or ()) - set(names))
    if unknown:
        parser.exit(2, f"--only must name bugs of bugs.toml ({', '.join(names)}), got {', '.join(unknown)}\n")
    chosen = [bug for bug in bank if not args.page_only and (bug.id in args.only if args.only else bug.published)]
    files = [(bug, args.envs / ROWS / f"{bug.id}.json") for bug in bank if bug.published]
    missing = [bug.id for bug, file in files if bug not in chosen and not file.exists()]
    if args.out is not None and missing:
        parser.exit(
            2, f"--out needs a row for every published bug, and {args.envs} has none for {', '.join(missing)}\n"
        )
    for bug in chosen:
        find(bug, args.envs, args.recorder)
    if args.out is not None:
        args.out.write_text(page([(bug, kept(file)) for bug, file in files]), "utf-8")


if __name__ == "__main__":
    main()
