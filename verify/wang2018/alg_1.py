"""W18, Algorithm 1: AdaOPS, its units, the bracket of (8), and that (7) has one solution.

Its privacy is decided in W18-TH2i, its error in TH2ii and TH2iii.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from audits import Budget

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import proved
from .scaling import EIGENVALUE, LOSS, Rate, rate_of

ID = "W18-A1"
BRACKET, UNIQUE = f"{ID}#8", f"{ID}#7"
NOTES = "docs/derivations/wang2018_adaops.md, section 1"
RATES = (
    Rate(
        f"{ID}#2",
        "step 2: unit of the eigenvalue's noise and shift",
        EIGENVALUE,
        ("log^1/2 epsilon^-1", "log epsilon^-1"),
        Formula(
            "tilde(lambda)_min = max{lambda_min + sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4), 0}",
            "released eigenvalue = max(lambda_min + sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4), 0)",
        ),
        ("X^2 log^1/2 epsilon^-1", "X^2 log epsilon^-1"),
        Formula(
            "tilde(lambda)_min = max{lambda_min + norm(cal(X))^2 (sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4)), 0}",
            "released eigenvalue = max(lambda_min + ||X||^2 (sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4)), 0)",
        ),
        "Noise and shift lack the sensitivity ||X||^2 (Algorithm 2 has it).",
        NOTES,
    ),
    Rate(
        f"{ID}#4",
        "step 4: units of the terms of (7)",
        EIGENVALUE,
        ("X^4 d log epsilon^-2 eigenvalue^-1", "eigenvalue", "X^2 log epsilon^-1"),
        Formula(
            "(norm(cal(X))^4 C_1 [1 + norm(cal(X))^2/(t + tilde(lambda)_min)]^(2 C_2))/(t + tilde(lambda)_min) + t, quad t_min",
            "||X||^4 C1 [1 + ||X||^2/(t + released)]^(2 C2)/(t + released) + t, and t_min, are eigenvalues",
        ),
    ),
    Rate(
        f"{ID}#output",
        "step 7: unit of the temperature",
        LOSS,
        ("eigenvalue^-1 log L^2 epsilon^-2",),
        Formula(
            "gamma = ((tilde(lambda)_min + lambda) tilde(epsilon)^2)/(log(6/delta) tilde(L)^2)",
            "1/gamma = log(6/delta) L^2/((released + lambda) epsilon~^2) is a loss",
        ),
    ),
)

#: Second derivative in v = (t + released)/||X||^2 of the logarithm of the first term of (7), by the sign of C_2.
SIGNS = {"printed": 1.0, "exponent -2 C_2": -1.0}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == UNIQUE:
        return _unique(case)
    if case.part != BRACKET:
        return rate_of(RATES, case).check(case)
    log = Fraction(case.number("log"))
    stated = {
        "printed": (1 + log) / log**2,
        "corrected": (2 + log) / log,
        "a tenth more": Fraction(11, 10) * (2 + log) / log,
    }[version_name(case)]
    claim = Claim("bracket over that of the proof of theorem 2(ii)", 1.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(stated / ((2 + log) / log)))


def _unique(case: Case) -> Evidence:
    """Prove on a box that the first term of (7) is log-convex, hence convex, so that (7) is strictly convex."""
    sign = SIGNS[version_name(case)]
    box = {"v": Axis(1e-6, 1e6), "C2": Axis(1e-3, 1e6)}

    def curvature(p: Mapping[str, Any]) -> Any:
        v, c = p["v"], p["C2"]
        return 1 + sign * 2 * c * (1 + 2 * v) / ((1 + v) * (1 + v))  # times v^2

    return box_evidence("v^2 times the second derivative of the logarithm", prove_nonnegative(curvature, box), box)


def _cases() -> tuple[Case, ...]:
    smallest: dict[str, Value] = {"log": 2.0}
    return (
        *(case for rate in RATES for case in rate.cases()),
        case(BRACKET, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="log(6/delta) = 2"),
        case(BRACKET, Standing.CORRECTED, smallest, role=Role.COUNTEREXAMPLE, regime="log(6/delta) = 2"),
        *grid(BRACKET, Standing.CORRECTED, {"log": (4.0, 8.5, 29.0)}, regime="delta"),
        mutant(BRACKET, "a tenth more", smallest, severity=0.1),
        case(UNIQUE, Standing.PRINTED, {}, regime="proved on the box"),
        mutant(UNIQUE, "exponent -2 C_2", {"box": "whole"}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="algorithm",
    title="AdaOPS",
    locator="Algorithm 1, section 4",
    domain="One row added or removed, bounds public; epsilon > 0, delta in (0, 1); implemented as printed and corrected in mechanisms.adaops_wang2018",
    summary=(
        "Step 2 lacks ||X||^2, so the algorithm changes with the unit of the features; (8) lacks a plus sign in its bracket. (7) does have one "
        "solution: in closed form lambda + released = max(u*, ||X||^2 (1 + log(6/delta))/(2 epsilon), released) with u* free of the data. "
        "Whether it is private is W18-TH2i: it is not."
    ),
    parts=(
        *(rate.part() for rate in RATES),
        Part(
            UNIQUE,
            "(7) has a unique solution",
            Formula(
                'op("argmin")_(t >= t_min) (norm(cal(X))^4 C_1 [1 + norm(cal(X))^2/(t + tilde(lambda)_min)]^(2 C_2))/(t + tilde(lambda)_min) + t',
                "the minimiser over t >= t_min of (7) is unique",
            ),
        ),
        Part(
            BRACKET,
            "(8): its bracket",
            Formula(
                "tilde(epsilon)^2/2 [1/(log(6/delta)) (1 + log(6/delta))/(log(6/delta))] + tilde(epsilon) - epsilon/2 = 0",
                "epsilon~^2/2 [(1/log(6/delta)) (1 + log(6/delta))/log(6/delta)] + epsilon~ - epsilon/2 = 0",
            ),
            Formula(
                "tilde(epsilon)^2/2 [1/(log(6/delta)) + (1 + log(6/delta))/(log(6/delta))] + tilde(epsilon) - epsilon/2 = 0",
                "epsilon~^2/2 [1/log(6/delta) + (1 + log(6/delta))/log(6/delta)] + epsilon~ - epsilon/2 = 0",
            ),
            "A plus sign is missing; the proof of theorem 2(ii) has it.",
            NOTES,
        ),
    ),
    cases=_cases(),
    check=check,
)
