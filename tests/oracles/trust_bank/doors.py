"""The doors at which the mechanisms of the bank are tried: certify, the pytest fixture, a sweep, and a notebook.

Each takes an entry of the bank, a seed and a profile, and returns an outcome, its reason and the draws it made.
"""

import json
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms import Dataset, NeighbouringPair, Relation

from . import Claim, Entry
from .leaks import leak_of, more, replaced

VOUCHED = {"who": "the author of the bank", "proof": "10.1000/trust-bank"}
PROFILES = {"quick": 20_000, "standard": 100_000, "full": 400_000}
#: Draws of each data set of a cell: never fewer than what examines one pair.
SWEPT = {"quick": 10_000, "standard": 10_000, "full": 50_000}
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


def copy_mechanism(entry: Entry, folder: Path) -> None:
    """Write the mechanism's file into a folder, with the tally of its draws."""
    code = entry.path.read_text(encoding="utf-8") + TALLY.format(name=entry.origin.partition(":")[2])
    (folder / entry.path.name).write_text(code, encoding="utf-8")


def write_data(entry: Entry, folder: Path) -> None:
    """Write the data of an entry into a folder."""
    dataset = entry.data()
    header = ",".join([*(f"x{i}" for i in range(entry.dim)), "y"])
    table = np.column_stack([dataset.X, dataset.y])
    np.savetxt(folder / "data.csv", table, delimiter=",", header=header, comments="", fmt="%.17g")


def certify(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Write a folder as a user has it, and decide it."""
    from verify.certificates.certify_call import certify as decide

    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_data(entry, folder)
        copy_mechanism(entry, folder)
        (folder / "deployment.toml").write_text(configuration(entry, seed, profile), encoding="utf-8")
        drawn = sys.modules["__main__"].__dict__.setdefault("TRUST_DRAWN", [0])
        drawn[0] = 0
        found = decide(folder / "deployment.toml")
    claim = next(row for row in found.rows if row["kind"] == "claim")
    words = [str(claim[key]) for key in ("ground", "reason") if claim.get(key)]
    return found.decision.name, ": ".join(words), drawn[0]


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
        from audits.search.pairs import BlackBoxPair  # k records apart: a type of its own

        relation = Relation.REMOVE if first.n_records > second.n_records else Relation.ADD
        apart = abs(first.n_records - second.n_records)
        return BlackBoxPair(first, second, relation, f"{apart} records apart", apart)
    if first.n_records == second.n_records:
        last = second.n_records - 1
        return NeighbouringPair.replace(first, last, second.X[last], float(second.y[last]))
    if first.n_records > second.n_records:
        return NeighbouringPair.remove(first, first.n_records - 1)
    return NeighbouringPair.add(first, second.X[-1], float(second.y[-1]))


def privacy_claim(claim: Claim, relation: str) -> Any:
    """Return a claim of the bank in the form of ``audits.black_box.claims``."""
    from audits.black_box import claims

    both = (Relation.REPLACE,) if relation == "replace" else (Relation.ADD, Relation.REMOVE)
    made = {
        "point": lambda: claims.point_claim(claim.epsilon, claim.delta, both),
        "gaussian-dp": lambda: claims.gaussian_dp_claim(claim.mu, both),
        "zcdp": lambda: claims.zcdp_claim(claim.rho, both),
        "renyi": lambda: claims.renyi_claim(claim.alpha, claim.epsilon, both),
        "table": lambda: claims.table_claim(claim.points, both),
    }[claim.type]()
    return made if claim.group == 1 else claims.group_claim(made, claim.group)


def stated(claim: Claim, relation: str) -> Any:
    """Return a claim as the fixture takes it: two numbers, or the form of ``audits.black_box.claims``."""
    if claim.type == "point" and claim.group == 1:
        return claim.epsilon, claim.delta
    return privacy_claim(claim, relation)


def fixture(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Run ``privacy_audit``'s auditor on each pair: the worst outcome counts."""
    from verify.plugin.pytest_audit import AuditFailure, Auditor

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


def grid(entry: Entry, seed: int, profile: str) -> str:
    """Return the TOML of a grid of an entry, beside the mechanism's file: pairs that an experimenter would sweep."""
    replace = entry.relation == "replace"
    axes: dict[str, Any] = {
        "mechanism": ["bank"],
        "loss": ["squared", "logistic"],
        "n": [n for n in (1, 6, 30) if n > entry.n_min] or [entry.n_min + 1, 2 * entry.n_min],
        "dim": [entry.dim],
        "conditioning": [1.0],
        "seed": [0],
        "target": ["replaced"] if replace else ["lonely", "member", "extreme"],
        "delta": [entry.claim.delta],
        "epsilon": [entry.claim.epsilon],
    }
    if "pairs" in entry.budget:
        axes |= {
            "loss": ["squared"],
            "n": axes["n"][-1:],
            "seed": [0],
            "target": axes["target"][: entry.budget["pairs"]],
        }
    draws = 2 * entry.budget.get("draws", SWEPT[profile])
    parameters = ", ".join(f"{key} = {value(given)}" for key, given in entry.parameters.items())
    vouched = ", ".join(f"{key} = {value(given)}" for key, given in VOUCHED.items())
    lines = ["[grid]", *(f"{key} = {value(given)}" for key, given in axes.items())]
    lines += ["[imported.bank]", f"import = {value(entry.origin)}", f"parameters = {{ {parameters} }}"]
    lines += [f"vouched_by = {{ {vouched} }}", "[budget]", f"seed = {seed}", f"imported_draws = {draws}"]
    return "\n".join(lines) + "\n"


def sweep(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Decide the cells of a grid in this process: the worst outcome counts, so that the first failure settles it."""
    from verify.sweeps.cell import decide_cell
    from verify.sweeps.grid import read_grid

    if entry.claim.type != "point" or entry.claim.group != 1:
        return "NO CLAIM", "a cell claims one epsilon and delta for one record", 0
    if min(entry.x_bound, entry.y_bound) < 1:
        return "NO CLAIM", "the records of a grid have bounds of 1", 0
    found: list[tuple[str, str]] = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        copy_mechanism(entry, folder)
        (folder / "grid.toml").write_text(grid(entry, seed, profile), encoding="utf-8")
        cells = read_grid(folder / "grid.toml")
        drawn = sys.modules["__main__"].__dict__.setdefault("TRUST_DRAWN", [0])
        drawn[0] = 0
        shared = cells.shared({})
        for cell in cells.cells():
            row = decide_cell(cell, shared)
            words = f"{row['error']}" if row["error"] else f"{row['detail']} ({', '.join(map(str, cell.values()))})"
            outcome = "ERROR" if row["error"] else {"HOLDS": "PASS", "FAILS": "FAIL"}.get(row["outcome"], "UNDECIDED")
            found.append((outcome, words))
            if outcome == "FAIL":
                break
    return *min(found, key=lambda each: ("ERROR", "FAIL", "UNDECIDED", "PASS").index(each[0])), drawn[0]


def notebook(entry: Entry, seed: int, profile: str) -> tuple[str, str, int]:
    """Examine it in Python, with the sizes of certify's profile; PASS where its law is supported on the pairs."""
    from audits import Budget, StreamKey
    from audits.examination.examined import VISIBLE, Demand
    from audits.examination.examined_claim import examine
    from audits.search.design_search import PairSearch
    from audits.search.pairs import PublicDomain, examination_pairs
    from verify.certificates.claims.examination import DEMANDED
    from verify.certificates.claims.pairs import SEARCHES
    from verify.certificates.config.config import EXAMINED

    wanted, draws = (entry.budget.get(k, d) for k, d in zip(("pairs", "draws"), EXAMINED[profile], strict=True))
    claim = privacy_claim(entry.claim, entry.relation)
    domain = PublicDomain(entry.dim, entry.x_bound, entry.y_bound, entry.n_min)
    relation = claim.relations[0]
    named = examination_pairs(domain, relation, group=claim.group, count=4 * wanted)
    least = DEMANDED[profile]
    own = Demand(min(least.pairs, wanted), min(least.draws, draws), VISIBLE)
    DRAWN[0] = 0
    mechanism = count(entry)
    found = examine(
        mechanism,
        named,
        claim,
        Budget(2 * draws, 1e-4, StreamKey(seed).child("notebook", entry.name)),
        wanted=wanted,
        demand=own if entry.budget else least,
        search=PairSearch(domain, relation, claim.group, False, *SEARCHES[profile]),
    )
    ruling = found.ruling(attested=True)
    if found.refutations:
        pair, witness = found.refutations[0]
        return ruling.decision.name, f"{witness.about}: {pair.name}: {witness.words}", DRAWN[0]
    return ruling.decision.name, f"{ruling.ground.value}: {ruling.why}", DRAWN[0]


DOORS: dict[str, Callable[[Entry, int, str], tuple[str, str, int]]] = {
    "certify": certify,
    "fixture": fixture,
    "sweep": sweep,
    "notebook": notebook,
}
