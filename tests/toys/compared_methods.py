"""Rows of a comparison that nobody made: nine methods, two ways, every standing, one that is refused."""

from __future__ import annotations

from typing import Any

METHODS = ("ObjPert", "OPS", "SSP", "AdaOPS 2018", "AdaOPS 2019", "AdaSSP", "NoisySGD", "Sub-Agg", "Gaussian output")
STANDINGS = ("proved", "broken", "not proved")
RELATIONS = ("add-remove", "replace")


def choice_row(method: str, way: str = "", epsilon: float | None = None, **more: Any) -> dict[str, Any]:
    """Return a row with the error 0.05 ± 0.005 unless told otherwise."""
    promised = epsilon is not None
    row: dict[str, Any] = dict.fromkeys(("record_epsilon_median", "record_epsilon_95", "record_epsilon_largest"))
    row |= {"kind": "choice", "data": "own.csv", "origin": "records", "loss": "squared", "method": method, "way": way}
    row |= {"neighbours": "add-remove" if promised else "", "epsilon": epsilon, "delta": 1e-6 if promised else None}
    row |= {"rule": "", "standing": "proved" if promised else "", "error": 0.05, "error_low": 0.045}
    row |= {"error_high": 0.055, "metric": "mean squared error", "folds": 10, "draws": 20}
    return row | {"record_epsilon_kind": "", "reason": ""} | more


def choice_rows(
    epsilons: tuple[float, ...] = (0.1, 1.0), relations: tuple[str, ...] = RELATIONS
) -> list[dict[str, Any]]:
    """Return the rows of a whole comparison."""
    rows = [choice_row("trivial", error=0.1), choice_row("non-private", error=0.03)]
    for relation in relations:
        for epsilon in epsilons:
            for place, method in enumerate(METHODS):
                for way in ("published", "exact"):
                    standing = "proved" if way == "exact" else STANDINGS[place % 3]
                    about: dict[str, Any] = {"neighbours": relation, "standing": standing}
                    if (method, way, relation) == ("NoisySGD", "published", "replace"):
                        nothing = dict.fromkeys(("error", "error_low", "error_high"))
                        rows.append(choice_row(method, way, epsilon, **about, **nothing, reason="no rule for that"))
                        continue
                    error = 0.03 + 0.02 * (1.3 if way == "published" else 1.0) * (place + 1) / (epsilon + 0.3)
                    error *= 50 / epsilon if method == "SSP" else 1
                    about |= {"error": error, "error_low": 0.9 * error, "error_high": 1.1 * error}
                    losses = {"record_epsilon_median": 0.1 * epsilon, "record_epsilon_95": 0.4 * epsilon}
                    rows.append(choice_row(method, way, epsilon, **about, **losses, record_epsilon_largest=epsilon))
    return rows


def choice_header(rows: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    """Return the header of such rows: private records of which nothing is public."""
    promised = dict.fromkeys((row["epsilon"], row["delta"], row["neighbours"]) for row in rows if row["epsilon"])
    header: dict[str, Any] = {"kind": "header", "record": "comparison", "complete": True, "cells": len(rows)}
    header |= {"cells_done": len(rows), "name": "own.csv", "origin": "records", "public": False, "recipe": ""}
    header |= {"n_records": 1503, "dim": 5, "x_bound": 1.0, "y_bound": 1.0, "loss": "squared", "as_run": False}
    header |= {"steps": ["rows of norm 1"], "data_dependent": ["z-scores read off the data"], "folds": 10, "draws": 20}
    promises = [{"epsilon": epsilon, "delta": delta, "neighbours": kind} for epsilon, delta, kind in promised]
    return header | {"seed": 1, "methods": list(METHODS), "promises": promises} | more
