"""Grids of a sweep: one to three cells, one key changed; decided, and then asked how far it is."""

from __future__ import annotations

import copy
from typing import Any

from hypothesis import strategies as st

from fuzz.promise import Case
from fuzz.trees import changed, written
from verify.sweeps.grid import AXES
from verify.sweeps.mechanism_axis import ALL_LOSSES, RECIPES

OURS: dict[str, Any] = {
    "grid": {
        "mechanism": ["ssp"],
        "loss": ["squared"],
        "n": [10],
        "dim": [2],
        "conditioning": [1.0],
        "seed": [0],
        "target": ["lonely"],
        "delta": [1e-5],
        "epsilon": [1.0],
    },
    "budget": {"seed": 3, "n_draws": 200, "imported_draws": 400, "failure_prob": 1e-7},
}
OWN_DATA = {"file": "numbers.csv", "response": "y", "x_bound": 1.0, "y_bound": 1.0, "public": False}
IMPORTED = {
    "import": "mine.py:Density",
    "parameters": {"sigma": 5.0},
    "vouched_by": {"who": "us", "proof": "proof.txt"},
}
NUMBERS = "a,b,y\n0.5,0.25,1\n-0.5,0.25,-1\n0.125,0.5,1\n"

WORDS: dict[str, tuple[Any, ...]] = {
    "mechanism": (*sorted(RECIPES), "mine"),
    "loss": ALL_LOSSES,
    "target": ("lonely", "member", "typical", "extreme", "replaced", 0, 1, 2, 3),
    "seed": (0, 1, 2**31, 2**63, 2**64, 10**30),
    "n": (1, 2, 3, 20),
    "dim": (1, 2, 3, 10, 11),
    "delta": (5e-324, 1e-300, 1e-12, 1e-3, 0.5, 0.9999999999999999),
    "file": ("numbers.csv", "data.csv", "out.json", "mine.py", "none.csv", "."),
    "response": ("y", "a", "z", ""),
    "import": ("mine.py:Draws", "mine.py:Density", "mine.py:Worst", "mine.py:view", "mine.py:None", "none.py:f"),
    "proof": ("proof.txt", "10.1561/0400000042", "none.txt"),
}
FURTHER: tuple[tuple[tuple[Any, ...], Any], ...] = (
    (("name",), "named"),
    (("name",), "\u202e|#$"),
    (("imported",), {"mine": IMPORTED}),
    (("imported",), {"ssp": IMPORTED}),
    (("imported",), {"a b": IMPORTED}),
    (("data",), OWN_DATA),
    (("data",), OWN_DATA | {"public": True}),
    (("imported", "mine", "views"), ["mine.py:view"]),
    (("grid", "gamma"), [1.0]),
)


@st.composite
def valid(draw: st.DrawFn) -> dict[str, Any]:
    """Return a grid of one to three cells."""
    tree = copy.deepcopy(OURS)
    kind = draw(st.sampled_from(("ours",) * 4 + ("imported", "data")))
    grid = tree["grid"]
    if kind == "imported":
        tree["imported"] = {"mine": copy.deepcopy(IMPORTED)}
        grid["mechanism"] = ["mine"]
    else:
        name = draw(st.sampled_from(sorted(RECIPES)))
        grid |= {"mechanism": [name], "loss": [draw(st.sampled_from(RECIPES[name].losses))]}
    if kind == "data":
        tree["data"] = dict(OWN_DATA)
        grid["target"] = [draw(st.integers(0, 2))]
        tree["grid"] = {axis: grid[axis] for axis in AXES if axis not in ("n", "dim", "conditioning", "seed")}
    elif draw(st.booleans()):
        grid["epsilon"] = [0.5, 1.0, 4.0]
    return tree


@st.composite
def grids(draw: st.DrawFn, *, rendered: st.SearchStrategy[bool]) -> Case:
    """Return a grid with one key changed."""
    text = written(draw(changed(draw(valid()), WORDS, FURTHER)))
    sweep = ("sweep", "grid.toml", "--jobs", "1")
    more = draw(
        st.sampled_from(
            (
                (),
                (),
                (),
                ("--export", "t.jsonl"),
                ("--export", "t.parquet"),
                ("--export", "t.txt"),
                ("--max-time", "1e-9"),
            )
        )
    )
    commands = ((*sweep, *more), ("sweep", "grid.toml", "--status"), (*sweep, "--retry-failed"))
    return Case(
        "grid", "deployment", commands, (("grid.toml", text), ("numbers.csv", NUMBERS)), rendered=draw(rendered)
    )
