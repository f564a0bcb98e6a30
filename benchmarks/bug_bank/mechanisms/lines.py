"""The loop behind a library's bugs: what it claims, the pair, and outputs as lines of JSON.

Runs in the bug's own environment, so it needs nothing but the standard library. ``python LIBRARY.py ID describe``
prints one line of JSON: the two data sets, the claim as the library states it, its version. ``python LIBRARY.py ID
release`` reads requests ``{"X": [[...], ...], "y": [...], "n_draws": k, "seed": s}`` and answers each with k lines of
JSON, one an output. With ``--right`` both speak of the variant that is right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any, NamedTuple

Rows = list[list[float]]


class Bug(NamedTuple):
    """One bug of a library.

    Attributes
    ----------
    first, second : list of rows
        The records of the two data sets; each a list of numbers.
    claim : dict, or callable
        What the library says of itself (``claim(right)``): ``{"form": "point", "epsilon": e, "delta": d}``,
        ``{"form": "zcdp", "rho": r}``, ``{"form": "gdp", "mu": m}`` or ``{"form": "renyi", "order": a, "epsilon": e}``.
    release : callable
        ``release(X, y, n_draws, seed, right)``: that many outputs, each anything that JSON can write.
    labels : (list, list), optional
        One number a record for each data set; zeros otherwise.
    """

    first: Rows
    second: Rows
    claim: dict[str, Any] | Callable[[bool], dict[str, Any]]
    release: Callable[[Rows, list[float], int, int, bool], list[Any]]
    labels: tuple[list[float], list[float]] | None = None


def point(epsilon: float, delta: float = 0.0) -> dict[str, Any]:
    return {"form": "point", "epsilon": epsilon, "delta": delta}


def serve(package: str, bugs: Mapping[str, Bug]) -> None:
    """Answer about one of the bugs as the command line asks; ``package`` is the library's name on the package index."""
    bug, right = bugs[sys.argv[1]], "--right" in sys.argv
    if "describe" in sys.argv:
        ys = bug.labels or ([0.0] * len(bug.first), [0.0] * len(bug.second))
        sets = [{"X": X, "y": y} for X, y in zip((bug.first, bug.second), ys, strict=True)]
        claim = bug.claim(right) if callable(bug.claim) else bug.claim
        told = {"first": sets[0], "second": sets[1], "claim": claim, "version": version(package)}
        print(json.dumps(told), flush=True)
        return
    for line in sys.stdin:
        asked = json.loads(line)
        outputs = bug.release(asked["X"], asked["y"], asked["n_draws"], asked.get("seed", 0), right)
        print("\n".join(json.dumps(output) for output in outputs), flush=True)
