"""The loop behind a bug's script: what the library claims, the pair, and outputs as lines of JSON.

Runs in the bug's own environment, so it needs nothing but the standard library. ``python ID.py describe`` prints one
line of JSON: the two data sets, the claim as the library states it, its version. ``python ID.py release`` reads
requests ``{"X": [[...], ...], "y": [...], "n_draws": k, "seed": s}`` and answers each with k lines of JSON, one an
output. With ``--right`` both speak of the variant that is right.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib.metadata import version
from typing import Any

Rows = list[list[float]]
#: Returns ``n_draws`` outputs for records ``X`` and ``y``; ``right`` asks for the variant that is right.
Release = Callable[[Rows, list[float], int, int, bool], list[Any]]


def serve(
    package: str,
    *,
    first: Rows,
    second: Rows,
    claim: Callable[[bool], dict[str, Any]],
    release: Release,
    labels: tuple[list[float], list[float]] | None = None,
) -> None:
    """Answer as the command line asks.

    Parameters
    ----------
    package : str
        Name of the library on the package index; its version is told.
    first, second : list of rows
        The records of the two data sets; each a list of numbers.
    claim : callable
        ``claim(right)``: what the library says of itself: ``{"form": "point", "epsilon": e, "delta": d}``,
        ``{"form": "zcdp", "rho": r}``, ``{"form": "gdp", "mu": m}`` or ``{"form": "renyi", "order": a, "epsilon": e}``.
    release : callable
        ``release(X, y, n_draws, seed, right)``: that many outputs, each anything that JSON can write.
    labels : (list, list), optional
        One number a record for each data set; zeros otherwise.
    """
    right = "--right" in sys.argv
    if "describe" in sys.argv:
        ys = labels or ([0.0] * len(first), [0.0] * len(second))
        sets = [{"X": X, "y": y} for X, y in zip((first, second), ys, strict=True)]
        told = {"first": sets[0], "second": sets[1], "claim": claim(right), "version": version(package)}
        print(json.dumps(told), flush=True)
        return
    for line in sys.stdin:
        asked = json.loads(line)
        outputs = release(asked["X"], asked["y"], asked["n_draws"], asked.get("seed", 0), right)
        print("\n".join(json.dumps(output) for output in outputs), flush=True)
