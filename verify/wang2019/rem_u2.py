"""W19, the discussion after Proposition 4.4: how far AdaOPS is from the Cramer-Rao bound.

The excess is ``tr[(X^T X)^-1]/gamma_n`` with gamma_n as Algorithm 1 sets it; both claims are decided along sequences inside
the algorithm's domain (docs/derivations/wang2019_section_4.md, U1 and U2).
"""

from __future__ import annotations

from flint import arb

from audits import Budget
from mechanisms.balls import Ball

from ..cases import case, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement
from .growth import SETTLING, growth_evidence

ID = "W19-U2"
EXCESS, CONDITION = f"{ID}#excess", f"{ID}#condition"
KAPPA, LOG = 2, 6  # kappa and log(4/delta) of every sequence
#: Power of d in the stated excess.
POWERS = {"printed": arb(3), "corrected": arb(4), "power 3.7": arb(37) / 10}
#: Power of n in epsilon along a sequence that meets the stated condition.
BUDGETS = {
    "printed": arb(-3) / 4,
    "corrected": arb(-1) / 4,
    "n epsilon^2 constant": arb(-1) / 2,
    "n epsilon^2 = n^-0.04": arb(-52) / 100,
}


def inverse_gamma(n: Ball, d: Ball, epsilon: Ball) -> Ball:
    """Return ``1/gamma_n`` of Algorithm 1."""
    return (16 * KAPPA**2 * d**2 * LOG / (n * epsilon**2)).max(8 * KAPPA**2 * d**2 / (n * epsilon))


def check(case: Case, budget: Budget) -> Evidence:
    """Follow the excess over its stated order in d, or the relative excess in n."""
    version = version_name(case)
    if case.part == EXCESS:

        def over_order(d: Ball) -> Ball:
            n = 1000 * d**2  # X^T X = (n/d) I, epsilon = sigma = 1: the trace of the inverse is d^2/n
            return inverse_gamma(n, d, arb(1)) * d**2 / n / (d ** POWERS[version] / n**2)

        return growth_evidence("the excess over its stated order", over_order, 0, 6)
    power = BUDGETS[version]
    # relative excess: 1/(gamma sigma^2), d = sigma = 1; n epsilon >= 4 d kappa (1 + log(4/delta)) from n = 1e12 on
    return growth_evidence("the relative excess", lambda n: inverse_gamma(n, arb(1), n**power), 12, 24, most=-SETTLING)


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="claim",
    title="Excess of AdaOPS over the Cramer-Rao bound",
    locator="Section 4.2, the two paragraphs after Proposition 4.4",
    domain=(
        "The setting of Proposition 4.4(2), X^T X = (n/d) I. Along d from 1 to 1e6 with n = 1000 d^2, and n from 1e12 to 1e24; "
        "kappa = 2 (it must exceed 1 there), log(4/delta) = 6"
    ),
    summary=(
        "Both are false: gamma_n leaves an excess of order kappa^2 d^4 log(4/delta)/(n^2 epsilon^2), one power of d more than printed, and "
        "efficiency needs n epsilon^2 to grow; where it vanishes the relative excess tends to infinity."
    ),
    parts=(
        Part(
            EXCESS,
            "order of the excess",
            Formula(
                "sigma^2 tr[(X^T X)^(-1)] + d^3/(n^2 epsilon^2)",
                "the error is sigma^2 tr[(X'X)^-1] + O(d^3/(n^2 epsilon^2))",
            ),
            Formula(
                "sigma^2 tr[(X^T X)^(-1)] + O((kappa^2 d^4 log(4/delta))/(n^2 epsilon^2)), quad epsilon <= 2 log(4/delta)",
                "the error is sigma^2 tr[(X'X)^-1] + O(kappa^2 d^4 log(4/delta)/(n^2 epsilon^2)), epsilon <= 2 log(4/delta)",
            ),
            "1/gamma_n carries kappa^2 d^2 log(4/delta)/(n epsilon^2), and the trace it multiplies is of order d^2/n, not d/n.",
            "docs/derivations/wang2019_section_4.md, U1 and U2",
        ),
        Part(
            CONDITION,
            "what efficiency needs",
            Formula(
                'n epsilon^2 = o(1) ==> "asymptotically efficient"', "n epsilon^2 = o(1) implies asymptotic efficiency"
            ),
            Formula(
                '1/(n epsilon^2) = o(1) ==> "asymptotically efficient at fixed" d, kappa, delta',
                "1/(n epsilon^2) = o(1) implies asymptotic efficiency at fixed d, kappa, delta",
            ),
            "The ratio is upside down: the relative excess is proportional to 1/(n epsilon^2).",
            "docs/derivations/wang2019_section_4.md, U1 and U2",
        ),
    ),
    cases=(
        case(EXCESS, Standing.PRINTED, {}, role=Role.COUNTEREXAMPLE, regime="d grows, n = 1000 d^2"),
        case(
            EXCESS,
            Standing.CORRECTED,
            {},
            role=Role.COUNTEREXAMPLE,
            regime="the sequence that refutes the printed form",
        ),
        mutant(EXCESS, "power 3.7", {"sequence": "n = 1000 d^2"}, severity=0.075),
        case(CONDITION, Standing.PRINTED, {}, role=Role.COUNTEREXAMPLE, regime="epsilon = n^(-3/4)"),
        case(CONDITION, Standing.CORRECTED, {}, regime="epsilon = n^(-1/4)"),
        mutant(CONDITION, "n epsilon^2 constant", {"epsilon": "n^(-1/2)"}),
        mutant(CONDITION, "n epsilon^2 = n^-0.04", {"epsilon": "n^(-0.52)"}, severity=0.04),
    ),
    check=check,
)
