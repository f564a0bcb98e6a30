"""Statements about experiments whose data or settings are not at hand: undecided, and the page says what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

from audits import Estimate
from mechanisms import Dataset

from .statement import Case, Claim, Evidence, Observer, Value

#: Relative rounding error granted to a float64 evaluation whose condition is far below 1e6.
FLOAT_ERROR = 1e-8


def data_missing(quantity: str, missing: str, notes: Mapping[str, Value] | None = None) -> Evidence:
    """Return the evidence that decides nothing because ``missing`` is not shipped or stated; ``notes`` are shown."""
    claim = Claim(quantity, 0.0, math.inf, math.nan, observer=Observer.OUTPUT)
    return Evidence(claim, reason=f"data missing: {missing}", notes=notes or {})


def float_evidence(
    quantity: str, value: float, low: float, high: float, published: float, notes: Mapping[str, Value] | None = None
) -> Evidence:
    """Decide ``low <= value <= high`` on a float64 evaluation known to ``FLOAT_ERROR`` relatively."""
    slack = FLOAT_ERROR * abs(value)
    exact = Estimate(value, value - slack, value + slack, 0.0, 0, "float64 evaluation")
    return Evidence(Claim(quantity, low, high, published, observer=Observer.OUTPUT), exact=exact, notes=notes or {})


def given_or_missing(case: Case, quantity: str, names: Sequence[str]) -> Mapping[str, Dataset] | Evidence:
    """Return the published data sets of these names that a run was given, or what says which of them are missing."""
    from mechanisms.data.published import published_sets as recipes

    absent = [recipes.published_sets()[name] for name in names if name not in case.given]
    if not absent:
        return {name: case.given[name] for name in names}
    words = [f"recipe {each.name}: {' or '.join(each.files)}, {each.source}" for each in absent]
    return data_missing(quantity, "; ".join([*words, "with the file in a folder: pdp-verify run --data FOLDER"]))
