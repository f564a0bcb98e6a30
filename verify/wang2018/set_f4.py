"""W18, appendix F: OPS-Conservative; privacy in two readings (:mod:`.ops_rules`), and its minimiser.

The paper gives no formula. Read here: with ``|theta*_lambda| <= |theta*|`` the bound (24) is at most
``(Y/B + |theta*|)^2 (B^4 C_1/lambda + lambda)``, least at ``lambda = B^2 sqrt(C_1)`` whatever ``|theta*|`` is.
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from ..wang2019.rational import at_most
from . import ops_rules

ID = "W18-F4"
LEAST = f"{ID}#minimiser"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the promise of the rule, or that the minimiser does not move with |theta*| (exactly, C_1 a square)."""
    if case.part != LEAST:
        return ops_rules.check(case, "conservative")
    root, theta = Fraction(case.number("sqrt(C_1)")), Fraction(case.number("theta"))
    weight = (1 + theta) ** 2
    least = root * Fraction(21, 20) if version_name(case) == "minimiser 5 % larger" else root
    at = least * Fraction(case.number("multiple"))
    ridge = theta**2 if version_name(case) == "ridge term with |theta*| alone" else weight

    def bound(lam: Fraction) -> Fraction:
        return weight * root**2 / lam + ridge * lam

    return at_most("bound at the stated ridge against the bound elsewhere", bound(least), bound(at))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "sqrt(C_1)": (0.5, 40.0), "theta": (0.0, 1.0, 1000.0), "multiple": (0.01, 0.96875, 1.0, 1.03125, 64.0),
    }  # fmt: skip
    near: dict[str, Value] = {"sqrt(C_1)": 40.0, "theta": 1.0, "multiple": 0.96875}
    return (
        *ops_rules.cases(ID),
        case(LEAST, Standing.PRINTED, near, regime="next to the minimiser"),
        *grid(LEAST, Standing.PRINTED, {**axes, "multiple": (0.01, 0.9, 1.0, 1.125, 64.0)}, regime="other ridges"),
        mutant(LEAST, "minimiser 5 % larger", near, severity=0.05),
        mutant(LEAST, "ridge term with |theta*| alone", near | {"multiple": 1.5}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="calibration",
    title="OPS-Conservative: a ridge that does not depend on the length of the parameter",
    locator="Appendix F, item 4",
    domain=ops_rules.DOMAIN,
    summary=ops_rules.SUMMARY
    + " No formula is printed: the ridge is read as B^2 sqrt(C_1), the minimiser that does not depend on |theta*|.",
    parts=(
        *ops_rules.parts(
            ID,
            "OPS-Conservative",
            Formula(
                'lambda = max{norm(cal(X))^2 sqrt(C_1), (1 + log(2\\/delta)) norm(cal(X))^2\\/epsilon} "(read)", quad gamma "calibrated"',
                "lambda = max(B^2 sqrt(C_1), (1 + log(2/delta)) B^2/epsilon) (as read here), gamma calibrated by F0",
            ),
            Formula(
                'lambda "as read, with the corrected floor", quad gamma "the largest with" quad ' + ops_rules.CORRECTED,
                "lambda as read with the corrected floor, gamma the largest with " + ops_rules.CORRECTED_TEXT,
            ),
        ),
        Part(
            LEAST,
            "the minimiser does not depend on the length of theta*",
            Formula(
                'op("argmin")_lambda (norm(cal(Y))\\/norm(cal(X)) + norm(theta^*))^2 ((norm(cal(X))^4 C_1)/lambda + lambda)'
                " = norm(cal(X))^2 sqrt(C_1)",
                "the minimiser over lambda of (Y/B + ||theta*||)^2 (B^4 C_1/lambda + lambda) is B^2 sqrt(C_1)",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
