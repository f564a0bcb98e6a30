"""Cases that once broke a promise, each with what went wrong then in its name."""

from __future__ import annotations

from fuzz.configurations import BUDGET, COVERAGE, EX_POST, MECHANISMS, POINT, PRIVATE, REPORTS
from fuzz.promise import Case, Edit
from fuzz.trees import Raw, written

CERTIFY = ("certify", "c.toml", "--out", "out", "--jobs", "1")


def _configuration(name: str, claim: dict[str, object], /, *arguments: str, **tables: object) -> Case:
    """Return a configuration: a mechanism by its name in the table, a claim, and what is changed of its tables."""
    tree = {"data": PRIVATE, "mechanism": MECHANISMS[name], "claims": [claim], "budget": BUDGET}
    merged = {
        key: tree[key] | value if isinstance(value, dict) and key in tree else value for key, value in tables.items()
    }
    text = written(tree | merged)
    return Case("configuration", "deployment", ((*CERTIFY, *arguments), ("check", "out")), (("c.toml", text),))


DP = {"type": "dp", **POINT}
RECORDS = {"type": "pdp", "scope": "records", **POINT}
GRID_OF = """{}[grid]
mechanism = ["{}"]
loss = ["squared"]
n = [10]
dim = [2]
conditioning = [{}]
seed = [0]
target = ["lonely"]
delta = [{}]
epsilon = [1.0]
"""
SWEEP = (("sweep", "grid.toml", "--jobs", "1"),)


def _grid(name: str = "ssp", conditioning: str = "1", delta: str = "1e-5", head: str = "") -> Case:
    return Case("grid", "deployment", SWEEP, (("grid.toml", GRID_OF.format(head, name, conditioning, delta)),))


def _damaged(base: str, command: tuple[str, ...], *edits: Edit) -> Case:
    return Case("damage", base, (command,), edits=edits)


FOUND: dict[str, Case] = {
    "noisy-sgd with more records than n_public: exit 4": _configuration(
        "noisy-sgd", RECORDS, mechanism={"n_public": 5}
    ),
    "kappa above what its budget allows, drawn: exit 4": _configuration(
        "adaops-2019", EX_POST, mechanism={"kappa": 1.0}, release={"draw": True}
    ),
    "two coverage claims, figures of one name: exit 4": _configuration(
        "objective-logistic", COVERAGE, claims=[COVERAGE, COVERAGE], report=REPORTS[0], release={"draw": True}
    ),
    "one draw of an imported mechanism: exit 4": _configuration(
        "draws", DP, budget={"draws": 1}, release={"draw": True}
    ),
    "failure probability that is split to nothing: exit 4": _configuration(
        "gaussian", DP, "--audience", "release", budget={"failure_prob": 5e-324}
    ),
    "output of another dimension with a report: exit 4": _configuration(
        "objective-logistic", COVERAGE, data={"features": ["a"]}, report=REPORTS[1], release={"file": "out.json"}
    ),
    "report of the Poisson loss, whose domain is not bounded: exit 4": _configuration(
        "objective-poisson",
        COVERAGE,
        data={"target": "c", "y_bound": 3.0},
        report=REPORTS[1],
        release={"file": "out.json"},
    ),
    "noise that overflows: warnings with a source path": _configuration(
        "noisy-sgd", RECORDS, mechanism={"step_size": 1e300}
    ),
    "rows longer than x_bound: an empty folder is left": _configuration("gaussian", RECORDS, data={"x_bound": 1e-9}),
    "an integer of 5001 digits in a grid: exit 4": _grid(head=f"name = {Raw('1' + '0' * 5000)}\n"),
    "an integer of 401 digits in a grid": _grid(conditioning="1" + "0" * 400),
    "delta next to 1 in a sweep: a crashed cell": _grid("ops-concentrated-corrected", delta="0.9999999999999999"),
    "100,000 brackets in a record: exit 4": _damaged("run", ("list", "out"), Edit("out/audit.jsonl", "deep")),
    "100,000 brackets in a certificate": _damaged(
        "certificate", ("check", "out"), Edit("out/release/audit.jsonl", "deep")
    ),
    "an output that was forged, refused: an empty folder was left": _damaged(
        "certificate",
        ("certify", "c.toml", "--out", "new", "--jobs", "1"),
        Edit("c.releases/output.json", "flip", 0.5, "0"),
    ),
    "a store that was cut, refused: its log was left beside it": _damaged(
        "run",
        ("run", "RW21-L31", "--profile", "quick", "--jobs", "1", "--out", "out", "--resume"),
        Edit("out/store.sqlite", "cut", 0.258),
    ),
    "no file where run.json belongs: all was done before it was refused": _damaged(
        "run",
        ("run", "RW21-L31", "--profile", "quick", "--jobs", "1", "--out", "out", "--resume"),
        Edit("out/run.json", "link to a device"),
    ),
    "an epsilon of 1e12 for a replaced record: exit 4": _configuration(
        "objective-logistic", DP | {"epsilon": 1e12, "relation": "replace"}
    ),
    "an epsilon whose square overflows: exit 4": _configuration("objective-smoothed-hinge", DP | {"epsilon": 1e300}),
    "a Poisson loss of records as long as 1e9: minutes, and a warning with a source path": _configuration(
        "objective-poisson", DP, data={"target": "c", "x_bound": 1e9, "y_bound": 3.0}
    ),
}
