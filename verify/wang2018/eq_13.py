"""W18, (13): the rate of the optimisation error of sufficient statistics perturbation with a ridge, in two forms."""

from __future__ import annotations

from audits import Budget

from ..cases import mutant
from ..statement import Case, Evidence, Formula, Part, Statement, Value
from . import ridge_rates

ID = "W18-E13"
TRACE, LAST = f"{ID}#trace", f"{ID}#last form"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the failure probability of the rate with constant 20."""
    return ridge_rates.check(case, budget, power=1 if case.part == TRACE else 0)


_WIDE: dict[str, Value] = {
    "dim": 60,
    "spectrum": "large",
    "lambda": 0.0,
    "Y/B|theta*|": 10.0,
    "log(6/delta)": 10.0,
    "rho": 0.5,
}
_NOISE = "norm(cal(X))^2 (norm(cal(Y))^2 + norm(cal(X))^2 norm(theta^*)^2) log(6\\/delta) log(2 d^2\\/rho)"
_TEXT = "B^2 (Y^2 + B^2 ||theta*||^2) log(6/delta) log(2d^2/rho)"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Optimisation error of SSP with a ridge",
    locator="Equation 13, appendix C.2",
    domain=(
        "AdaSSP's noise scales, any lambda >= 0 with X^T X + lambda I invertible, on the event (15), with probability 1 - rho (left "
        "out in print). Decided with constant 20 for d <= 60, rho in [0.01, 0.5], Y/(B |theta*|) from 0.01 to infinity"
    ),
    summary=(
        "True in both forms: the second follows since tr[K^-1] <= d/(lambda + lambda_min) and lambda K^-1 is at most the identity. "
        "The ratio stays at most 20 on every case tried."
    ),
    parts=(
        Part(
            TRACE,
            "with the trace",
            Formula(
                f"F(hat(theta)_lambda) - F(theta^*) = O(({_NOISE})/epsilon^2"
                ' op("tr")[(X^T X + lambda I)^(-1)] + lambda^2 norm(theta^*)_((X^T X + lambda I)^(-1))^2)',
                f"F(theta_hat) - F(theta*) = O({_TEXT}/epsilon^2 tr[(X'X + lambda I)^-1] + lambda^2 ||theta*||^2 in "
                "(X'X + lambda I)^-1)",
            ),
        ),
        Part(
            LAST,
            "with the smallest eigenvalue",
            Formula(
                f"F(hat(theta)_lambda) - F(theta^*) = O((d {_NOISE})/((lambda + lambda_min) epsilon^2) + lambda norm(theta^*)^2)",
                f"F(theta_hat) - F(theta*) = O(d {_TEXT}/((lambda + lambda_min) epsilon^2) + lambda ||theta*||^2)",
            ),
        ),
    ),
    cases=(
        *ridge_rates.cases(TRACE),
        *ridge_rates.cases(LAST),
        mutant(TRACE, "largest eigenvalue for the trace", _WIDE, draws=ridge_rates.DRAWS),
    ),
    check=check,
)
