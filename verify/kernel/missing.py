"""Statements about experiments whose data or settings are not at hand: undecided, and the page says what is missing."""

from __future__ import annotations

import math
from collections.abc import Mapping

from audits import Estimate

from .declare import At, Display, Form, statement
from .statement import Case, Claim, Evidence, Observer, Statement, Value

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


def _check(case: Case) -> Evidence:
    return data_missing("the reported comparison", case.text("missing"))


def undecided_without(id_: str, typst: str, *, domain: str, data: str, command: str) -> Statement:
    """Return a statement that only ``data`` can decide, with the command that does it."""
    return statement(
        id_,
        domain=domain,
        displays={"": Display("", Form(typst, _check, [At("data not shipped", {"missing": data})]))},
        summary=f"Not decided: {data} not shipped. With the file at hand: {command}",
    )
