"""What every door says about every mechanism of the bank: outcome, draws, seconds, as a table.

Run ``python benchmarks/trust.py [--seeds N] [--only NAME,CLASS,...] [--doors certify,fixture,sweep,notebook]
[--jobs N] [--profile standard] [--out FILE]``. ``--only`` takes names, numbers of classes, ``broken`` and ``honest``.
Progress goes to standard error. The exit code is 1 if a broken mechanism passes or an honest one fails.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from oracles.trust_bank import BROKEN, CLASSES, ENTRIES, HONEST, Claim, Entry, state  # noqa: E402
from oracles.trust_bank.leaks import leak_of, more, replaced  # noqa: E402

from mechanisms import Dataset, NeighbouringPair, Relation  # noqa: E402

VOUCHED = {"who": "the author of the bank", "proof": "10.1000/trust-bank"}
PROFILES = {"quick": 20_000, "standard": 100_000, "full": 400_000}
DRAWN = [0]
#: Appended to the copy of a mechanism's file, so that what was drawn is counted wherever the record says it.
TALLY = """

def _counted(draw):
    import sys

    def counted(self, dataset, n_draws, *, rng):
        sys.modules["__main__"].__dict__.setdefault("TRUST_DRAWN", [0])[0] += n_draws
        return draw(self, dataset, n_draws, rng=rng)

    return counted


{name}.draw = _counted({name}.draw)
"""


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


def count(entry: Entry) -> Any:
    """Return a fresh mechanism whose draws are counted."""
    made = entry.factory()
    kind = type(made)
    draw = kind.draw

    def counted(self: Any, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        DRAWN[0] += n_draws
        return draw(self, dataset, n_draws, rng=rng)

    made_of = type(kind.__name__, (kind,), {"draw": counted, "__module__": kind.__module__})
    other = made_of.__new__(made_of)
    other.__dict__.update(made.__dict__)
    return other


# --- doors ------------------------------------------------------------------------------------------------------------


def value(given: Any) -> str:
    return json.dumps(given) if not isinstance(given, bool) else str(given).lower()


def configuration(entry: Entry, seed: int, profile: str) -> str:
    """Return the TOML of an entry, beside ``data.csv`` and the mechanism's file."""
    features = [f"x{i}" for i in range(entry.dim)]
    data = {"file": "data.csv", "features": features, "target": "y", "x_bound": entry.x_bound, "y_bound": entry.y_bound}
    data |= {"public": True} | ({"n_min": entry.n_min} if entry.n_min else {})
    parameters = ", ".join(f"{key} = {value(given)}" for key, given in entry.parameters.items())
    vouched = ", ".join(f"{key} = {value(given)}" for key, given in VOUCHED.items())
    tables = {
        "[data]": data,
        "[budget]": {"profile": profile, "seed": seed, "jobs": 1, **entry.budget},
        "[[claims]]": {"type": "dp", "relation": entry.relation, **entry.claim.toml()},
    }
    lines = ["[mechanism]", f"import = {value(entry.origin)}", f"parameters = {{ {parameters} }}"]
    lines.append(f"vouched_by = {{ {vouched} }}")
    for head, table in tables.items():
        lines += ["", head, *(f"{key} = {value(given)}" for key, given in table.items())]
    return "\n".join(lines) + "\n"


def certify(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Write a folder as a user has it, and decide it."""
    from verify.deployment.certify import certify as decide

    dataset = entry.data()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        header = ",".join([*(f"x{i}" for i in range(entry.dim)), "y"])
        table = np.column_stack([dataset.X, dataset.y])
        np.savetxt(folder / "data.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")
        code = entry.path.read_text(encoding="utf-8") + TALLY.format(name=entry.origin.partition(":")[2])
        (folder / entry.path.name).write_text(code, encoding="utf-8")
        (folder / "deployment.toml").write_text(configuration(entry, seed, profile), encoding="utf-8")
        drawn = sys.modules["__main__"].__dict__.setdefault("TRUST_DRAWN", [0])
        drawn[0] = 0
        found = decide(folder / "deployment.toml")
    claim = next(row for row in found.rows if row["kind"] == "claim")
    return found.decision.name, str(claim.get("reason", "")), drawn[0]


def pairs(entry: Entry) -> Iterator[Any]:
    """Yield the pairs that a test would name: where it leaks, if it does, and plain ones."""
    if entry.klass:
        first, second = leak_of(entry.name).pair
        if isinstance(first, Dataset):
            yield neighbours(entry, first, second)
    sizes = [n for n in (1, 6, 30) if n >= entry.n_min] or [entry.n_min + 1]
    for n in sizes[: entry.budget.get("pairs")]:
        yield neighbours(entry, *(replaced(entry, n) if entry.relation == "replace" else more(entry, n)))


def neighbours(entry: Entry, first: Dataset, second: Dataset) -> Any:
    """Return two data sets as a pair of the claim's relation."""
    if entry.claim.group > 1:
        from audits.black_box_pairs import BlackBoxPair  # k records apart: a type of its own

        relation = Relation.REMOVE if first.n_records > second.n_records else Relation.ADD
        apart = abs(first.n_records - second.n_records)
        return BlackBoxPair(first, second, relation, f"{apart} records apart", apart)
    if first.n_records == second.n_records:
        last = second.n_records - 1
        return NeighbouringPair.replace(first, last, second.X[last], float(second.y[last]))
    if first.n_records > second.n_records:
        return NeighbouringPair.remove(first, first.n_records - 1)
    return NeighbouringPair.add(first, second.X[-1], float(second.y[-1]))


def stated(claim: Claim, relation: str) -> Any:
    """Return a claim as the fixture takes it: two numbers, or the form of :mod:`audits.claims`."""
    if claim.type == "point" and claim.group == 1:
        return claim.epsilon, claim.delta
    from audits import claims

    both = (Relation.REPLACE,) if relation == "replace" else (Relation.ADD, Relation.REMOVE)
    made = {
        "point": lambda: claims.point_claim(claim.epsilon, claim.delta, both),
        "gaussian-dp": lambda: claims.gaussian_dp_claim(claim.mu, both),
        "zcdp": lambda: claims.zcdp_claim(claim.rho, both),
        "renyi": lambda: claims.renyi_claim(claim.alpha, claim.epsilon, both),
        "table": lambda: claims.table_claim(claim.points, both),
    }[claim.type]()
    return made if claim.group == 1 else claims.group_claim(made, claim.group)


def fixture(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Run ``privacy_audit``'s auditor on each pair: the worst outcome counts."""
    from verify.pytest_audit import AuditFailure, Auditor

    n_draws = entry.budget.get("draws", PROFILES[profile])
    auditor = Auditor(test=entry.name, statement="", seed=seed, n_draws=n_draws, failure_prob=1e-4)
    found: list[tuple[str, str]] = []
    DRAWN[0] = 0
    for pair in pairs(entry):
        try:
            row = auditor(count(entry), pair, stated(entry.claim, entry.relation), vouched_by=VOUCHED)
            words = str(row.get("detail", ""))
        except AuditFailure as stop:
            words = str(stop)
        outcome = auditor.rows[-1]["outcome"] if auditor.rows else "UNDECIDED"
        found.append(({"HOLDS": "PASS", "FAILS": "FAIL"}.get(outcome, "UNDECIDED"), words))
    worst = min(found, key=lambda each: ("FAIL", "UNDECIDED", "PASS").index(each[0]))
    return *worst, DRAWN[0]


def sweep(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """To be filled: a grid with an imported mechanism, decided by ``verify.sweeps``."""
    return "NO DOOR", "sweeps do not take an imported mechanism here yet", 0


def notebook(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """To be filled: ``audits.examine.examine(mechanism, pairs, claim, budget)``."""
    return "NO DOOR", "the examination is not called here yet", 0


DOORS: dict[str, Callable[[Entry, int, str], tuple[str, str, int]]] = {
    "certify": certify,
    "fixture": fixture,
    "sweep": sweep,
    "notebook": notebook,
}


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
