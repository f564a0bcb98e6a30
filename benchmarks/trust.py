"""What every door says about every mechanism of the bank: outcome, draws, processor seconds, as a table.

Run ``python benchmarks/trust.py [--seeds N] [--only NAME,CLASS,...] [--doors certify,fixture,sweep,notebook]
[--jobs N] [--profiles quick,standard] [--against CHECKOUT] [--rows FILE] [--out FILE]``. ``--only`` takes names,
numbers of classes, ``broken``, ``honest``, ``zoo`` and ``none``. Seconds are of the processor, with those of the
processes that were started. ``--rows`` keeps each row as it is finished; what it holds is shown and not made again.
``--against`` adds what certifying the example of ``init`` and the README's own mechanism costs here and in another
checkout. Progress goes to standard error. The exit code is 1 if a broken mechanism passes or an honest one fails.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import statistics
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from oracles.trust_bank import BROKEN, CLASSES, ENTRIES, HONEST, ZOO, Entry, remembered  # noqa: E402
from oracles.trust_bank.doors import DOORS, PROFILES, configuration, write_data  # noqa: E402

from audits.harness.fresh_process import close_own_server  # noqa: E402

#: What the mechanisms are.
KINDS = {kind: [entry.name for entry in held] for kind, held in (("broken", BROKEN), ("honest", HONEST), ("zoo", ZOO))}


@dataclass(frozen=True)
class Line:
    """One row of the table."""

    name: str
    door: str
    profile: str
    seed: int
    outcome: str
    draws: int
    seconds: float
    reason: str


# --- the table --------------------------------------------------------------------------------------------------------


def one(name: str, door: str, seed: int, profile: str) -> Line:
    """Return one row; an error is a row, since none may leave the table."""
    remembered.CALLS[0] = 0  # the module's own memory would depend on the order of the table
    start = processor_seconds()
    try:
        outcome, reason, draws = DOORS[door](ENTRIES[name], seed, profile)
    except Exception as stop:
        outcome, reason, draws = "ERROR", f"{type(stop).__name__}: {stop}", 0
    close_own_server()  # what it forked counts when it has ended
    return Line(name, door, profile, seed, outcome, draws, processor_seconds() - start, " ".join(reason.split()))


def processor_seconds() -> float:
    """Return the seconds of processors that this process took, and the processes that it started and that ended."""
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def chosen(only: str) -> list[Entry]:
    """Return the entries that names, classes, ``broken`` or ``honest`` stand for; all without any."""
    words = {word for word in only.split(",") if word}
    if words == {"none"}:
        return []
    known = {*ENTRIES, *map(str, CLASSES), *KINDS}
    if words - known:
        raise SystemExit(f"--only must hold names or classes of the bank, got {', '.join(sorted(words - known))}")
    kinds = {name: kind for kind, names in KINDS.items() for name in names}
    own = {name: {name, str(entry.klass), kinds[name]} for name, entry in ENTRIES.items()}
    return [entry for name, entry in ENTRIES.items() if not words or own[name] & words]


def run(tasks: list[tuple[str, str, int, str]], jobs: int) -> Iterator[Line]:
    """Yield rows as they are finished."""
    with ProcessPoolExecutor(jobs, initializer=_elsewhere) as pool:
        for future in as_completed([pool.submit(one, *task) for task in tasks]):
            yield future.result()


def _elsewhere() -> None:
    """Work in a folder of its own: some mechanisms write files."""
    os.chdir(tempfile.mkdtemp())


def order(line: Line) -> tuple[int, ...]:
    """Return where a row stands in the table."""
    places = (list(ENTRIES).index(line.name), list(DOORS).index(line.door), list(PROFILES).index(line.profile))
    return (*places, line.seed)


def times(lines: Sequence[Line]) -> list[str]:
    """Return how long each door takes to a FAIL of a broken mechanism and to a PASS of an honest one."""
    shown = [
        "| door | profile | median to FAIL, s | slowest FAIL, s | median to PASS, s | FAIL / PASS |",
        "|---" * 6 + "|",
    ]
    broken = set(KINDS["broken"])
    for door, profile in dict.fromkeys((line.door, line.profile) for line in lines):
        here = [line for line in lines if (line.door, line.profile) == (door, profile)]
        fails = [line.seconds for line in here if line.outcome == "FAIL" and line.name in broken]
        passes = [line.seconds for line in here if line.outcome == "PASS" and line.name not in broken]
        fail, most, right = (f(of) if of else None for f, of in _times(fails, passes))
        ratio = "" if fail is None or right is None else f"{fail / right:.2f}"
        cells = ["" if seconds is None else f"{seconds:.1f}" for seconds in (fail, most, right)]
        shown.append(f"| {door} | {profile} | " + " | ".join([*cells, ratio]) + " |")
    return shown


def _times(fails: list[float], passes: list[float]) -> list[tuple[Callable[[list[float]], float], list[float]]]:
    return [(statistics.median, fails), (max, fails), (statistics.median, passes)]


# --- the price --------------------------------------------------------------------------------------------------------

MAIN = "import sys; from verify.cli import main; sys.exit(main())"


def certified(checkout: Path, toml: str, folder: Path) -> float:
    """Return the processor seconds of a certificate by another checkout."""
    out = tempfile.mkdtemp(dir=folder)
    start = processor_seconds()
    called(checkout, folder, "certify", toml, "--out", f"{out}/certificate", "--jobs", "1")
    return processor_seconds() - start


def called(checkout: Path, folder: Path, *arguments: str) -> None:
    """Run the command of a checkout in a folder; what it decides is not looked at."""
    environment = {**os.environ, "PYTHONPATH": str(checkout)}
    done = subprocess.run(
        [sys.executable, "-c", MAIN, *arguments], cwd=folder, env=environment, capture_output=True, text=True
    )
    if done.returncode not in (0, 1, 3):
        raise SystemExit(f"{' '.join(arguments)} in {checkout} ended with {done.returncode}: {done.stderr[-2000:]}")


def price(against: Path, seed: int, repeats: int) -> list[str]:
    """Return what two certificates cost here and there: the least of some runs, which take turns."""
    shown = ["| certificate of | here, s | there, s | here / there |", "|---|---|---|---|"]
    with tempfile.TemporaryDirectory() as name:
        folder, entry = Path(name), ENTRIES["readme"]
        called(against, folder, "init", "-o", "example.toml")
        blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
        own = next(block for block in blocks if "class NoisyMoment" in block)
        (folder / "my_mechanism.py").write_text(own, encoding="utf-8")
        write_data(entry, folder)
        text = configuration(entry, seed, "standard").replace(entry.origin, "my_mechanism.py:NoisyMoment")
        (folder / "own.toml").write_text(text, encoding="utf-8")
        for words, toml in (("the example of init", "example.toml"), ("the README's own mechanism", "own.toml")):
            pairs = [[certified(checkout, toml, folder) for checkout in (ROOT, against)] for _ in range(repeats)]
            here, there = (min(each) for each in zip(*pairs, strict=True))
            shown.append(f"| {words} | {here:.1f} | {there:.1f} | {here / there:.2f} |")
            print(shown[-1], file=sys.stderr)
    return shown


def said(line: Line) -> str:
    """Return what a row shows: the outcome, its draws and processor seconds; several seeds follow each other."""
    return f"{line.outcome} {line.draws:,} {line.seconds:.1f} s"


def markdown(lines: Iterable[Line], prices: Sequence[str] = ()) -> str:
    """Return counts and times, then the table."""
    lines = sorted(lines, key=order)
    commit = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=True
    )
    shown = [f"{datetime.now(UTC):%Y-%m-%d}, commit {commit.stdout.strip()}.", ""]
    outcomes = sorted({line.outcome for line in lines} | {"PASS", "FAIL", "UNDECIDED"})
    shown += ["| | door | profile | " + " | ".join(outcomes) + " |", "|---|---|---|" + "---|" * len(outcomes)]
    for kind, names in KINDS.items():
        for door, profile in dict.fromkeys((line.door, line.profile) for line in lines):
            here = [line for line in lines if line.name in names and (line.door, line.profile) == (door, profile)]
            counts = Counter(line.outcome for line in here)
            if counts:
                shown.append(f"| {kind} | {door} | {profile} | " + " | ".join(str(counts[o]) for o in outcomes) + " |")
    shown += ["", *times(lines), "", *(prices and [*prices, ""])]
    ways = sorted({(line.door, line.profile) for line in lines}, key=lambda way: [list(DOORS).index(way[0]), way[1]])
    shown += ["| mechanism | class | " + " | ".join(map(" ".join, ways)) + " | why |", "|---" * (len(ways) + 3) + "|"]
    for name in dict.fromkeys(line.name for line in lines):
        own = [line for line in lines if line.name == name]
        cells = ["; ".join(sorted({said(line) for line in own if (line.door, line.profile) == way})) for way in ways]
        usual = "PASS" if ENTRIES[name].klass == 0 else "FAIL"
        why = next((line.reason.replace("|", "/") for line in own if line.outcome != usual), "")
        why = why if len(why) <= 160 else why[:157] + "…"
        shown.append("| " + " | ".join([name, CLASSES[ENTRIES[name].klass], *cells, why]) + " |")
    return "\n".join(shown) + "\n"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--doors", default="certify,fixture")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--profiles", default="standard")
    parser.add_argument("--against", type=Path)
    parser.add_argument("--repeats", type=int, default=3, help="runs of each certificate that is compared")
    parser.add_argument("--rows", type=Path)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    doors, profiles = options.doors.split(","), options.profiles.split(",")
    if set(doors) - set(DOORS):
        parser.error(f"--doors must be among {', '.join(DOORS)}, got {options.doors}")
    if set(profiles) - set(PROFILES):
        parser.error(f"--profiles must be among {', '.join(PROFILES)}, got {options.profiles}")
    tasks = [
        (entry.name, door, 20210527 + seed, profile)
        for entry in chosen(options.only)
        for door in doors
        for profile in profiles
        for seed in range(options.seeds)
    ]
    lines = kept(options.rows)
    known = {(line.name, line.door, line.seed, line.profile) for line in lines}
    for line in run([task for task in tasks if task not in known], options.jobs):
        lines.append(line)
        if options.rows:
            with options.rows.open("a", encoding="utf-8") as file:
                file.write(json.dumps(asdict(line)) + "\n")
        print(f"{len(lines)}/{len(tasks)} {line.name} {line.door} {line.outcome} {line.seconds:.1f} s", file=sys.stderr)
    prices = [] if options.against is None else price(options.against.resolve(), 20210527, options.repeats)
    text = markdown(lines, prices)
    if options.out:
        options.out.write_text(text, encoding="utf-8")
    else:
        print(text, end="")
    broken = set(KINDS["broken"])
    return int(any(line.outcome == ("PASS" if line.name in broken else "FAIL") for line in lines))


def kept(rows: Path | None) -> list[Line]:
    """Return the rows that a file holds."""
    if rows is None or not rows.exists():
        return []
    return [Line(**json.loads(text)) for text in rows.read_text(encoding="utf-8").splitlines()]


if __name__ == "__main__":
    sys.exit(main())
