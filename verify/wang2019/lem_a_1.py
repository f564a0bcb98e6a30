"""W19, Lemma A.1: the norm of the ridge smoother, decided through singular values.

Everything depends on one singular value s and lambda: ``s/(s^2 + lambda) <= sqrt(2/h)`` for every ``h <= s^2 + lambda``.
Proved on a box in (s, lambda); rational designs beside it (docs/derivations/wang2019_sections_2_3.md, Lemma A.1).
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from flint import arb, fmpq

from audits import Budget
from mechanisms.balls import Ball

from ..boxes import box_evidence, prove_nonnegative
from ..cases import case, grid, mutant
from ..formal import version_name
from ..search import Axis
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .rational import SHAPES, design, eigenvalue_bounds, identity, largest_eigenvalue, proved

ID = "W19-LA.1"
#: What stands for the printed 2 under the root; 1 is enough, and attained at lambda = 0.
NUMERATORS = {"printed": Fraction(2), "numerator 0.95": Fraction(19, 20), "numerator 1/2, as in (A.6)": Fraction(1, 2)}
BOX = {"s": Axis(1e-6, 1e6), "lambda": Axis(1e-9, 1e9)}


def slack(p: Mapping[str, Any], numerator: float) -> Ball:
    """Return ``sqrt(numerator) - s/sqrt(s^2 + lambda)`` at the largest ``h`` allowed."""
    return arb(numerator).sqrt() - 1 / (1 + p["lambda"] / p["s"] ** 2).sqrt()


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the box, or one rational design: the squared norm times h over the printed 2."""
    numerator = NUMERATORS[version_name(case)]
    if "shape" not in case.params:
        proof = prove_nonnegative(lambda p: slack(p, float(numerator)), BOX)
        return box_evidence("sqrt(2) - s/sqrt(s^2 + lambda)", proof, BOX)
    n, dim = case.whole("n"), case.whole("dim")
    lam = fmpq(*map(int, Fraction(case.number("lambda")).as_integer_ratio()))
    X = design(case.text("shape"), n, dim, case.whole("seed")) if case.params["shape"] != "identity" else identity(dim)
    gram = X.transpose() * X
    H = gram + identity(dim, lam)
    h_low, h_high = eigenvalue_bounds(H)[0]
    inverse = H.inv()
    low, high = largest_eigenvalue(inverse * gram * inverse)  # the squared norm of H^-1 X^T
    claim = Claim(
        "squared norm times h over the printed 2",
        0.0,
        1.0,
        math.sqrt(float(numerator / h_low)),
        observer=Observer.OUTPUT,
    )
    exact = proved(max(low, Fraction(0)) * h_low / numerator, high * h_high / numerator, "inertia, rational arithmetic")
    return Evidence(claim, exact=exact, notes={"h": float(h_low)})


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "shape": SHAPES,
        "n": (8,),
        "dim": (1, 2, 5),
        "lambda": (0.0, 2.0**-10, 1.0, 1e6),
        "seed": (1,),
    }
    wide: dict[str, tuple[Value, ...]] = {
        "shape": ("generic",),
        "n": (1, 2),
        "dim": (4,),
        "lambda": (2.0**-20, 1.0, 100.0),
        "seed": (2,),
    }
    tight: dict[str, Value] = {"shape": "identity", "n": 1, "dim": 1, "lambda": 0.0, "seed": 0}
    return (
        case(ID, Standing.PRINTED, {}, regime="proved on the box"),
        case(ID, Standing.PRINTED, tight, regime="X = 1, lambda = 0"),
        *grid(ID, Standing.PRINTED, axes, regime="designs and lambda", quick_every=5),
        *grid(ID, Standing.PRINTED, wide, regime="more columns than rows"),
        mutant(ID, "numerator 0.95", tight, severity=0.05),
        mutant(ID, "numerator 1/2, as in (A.6)", {}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="lemma",
    title="Norm of the ridge smoother",
    locator="Appendix A, Lemma A.1",
    domain="Any X and lambda >= 0 with h > 0. Proved for singular values in [1e-6, 1e6] and lambda in [1e-9, 1e9]",
    summary="True. Loose by a factor sqrt(2): the bound is 1/sqrt(h), attained at lambda = 0.",
    parts=(
        Part(
            ID,
            "norm of the smoother",
            printed=Formula(
                "lambda_min (X^T X + lambda I) >= h ==> norm((X^T X + lambda I)^(-1) X^T) <= sqrt(2\\/h)",
                "lambda_min(X'X + lambda I) >= h implies ||(X'X + lambda I)^-1 X'|| <= sqrt(2/h)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
