"""W18, (12): the rate of the estimation error of sufficient statistics perturbation with a ridge."""

from __future__ import annotations

from audits import Budget

from ..cases import mutant
from ..statement import Case, Evidence, Formula, Part, Statement, Value
from . import ridge_rates

ID = "W18-E12"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the failure probability of the rate with constant 40."""
    return ridge_rates.check(case, budget, power=2)


_WIDE: dict[str, Value] = {
    "dim": 60,
    "spectrum": "large",
    "lambda": 0.0,
    "Y/B|theta*|": 10.0,
    "log(6/delta)": 10.0,
    "rho": 0.5,
}

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Estimation error of SSP with a ridge",
    locator="Equation 12, appendix C.2",
    domain=(
        "AdaSSP's noise scales, any lambda >= 0 with X^T X + lambda I invertible, on the event (15), with probability 1 - rho (left "
        "out in print). Decided with constant 40 for d <= 60, rho in [0.01, 0.5], Y/(B |theta*|) from 0.01 to infinity"
    ),
    summary=(
        "True: Corollary 7's rate with Lemma 6 (corrected), which is deterministic on the event. The ratio stays at most 40 on "
        "every case tried, including singular Gram matrices."
    ),
    parts=(
        Part(
            ID,
            "rate of the estimation error",
            Formula(
                "norm(hat(theta)_lambda - theta^*)^2 = O((norm(cal(X))^2 (norm(cal(Y))^2 + norm(cal(X))^2 norm(theta^*)^2)"
                ' log(6\\/delta) log(2 d^2\\/rho))/epsilon^2 op("tr")[(X^T X + lambda I)^(-2)]'
                " + lambda^2 norm(theta^*)_((X^T X + lambda I)^(-2))^2)",
                "||theta_hat - theta*||^2 = O(B^2 (Y^2 + B^2 ||theta*||^2) log(6/delta) log(2d^2/rho)/epsilon^2 "
                "tr[(X'X + lambda I)^-2] + lambda^2 ||theta*||^2 in (X'X + lambda I)^-2)",
            ),
        ),
    ),
    cases=(
        *ridge_rates.cases(ID),
        mutant(ID, "largest eigenvalue for the trace", _WIDE, draws=ridge_rates.DRAWS),
    ),
    check=check,
)
