"""W19, the discussion after Proposition 4.4: how far AdaOPS is from the Cramer-Rao bound.

The excess is ``tr[(X^T X)^-1]/gamma_n`` with gamma_n as Algorithm 1 sets it; both claims are decided along sequences inside
the algorithm's domain (docs/derivations/wang2019_section_4.md, U1 and U2).
"""

from functools import partial

from flint import arb

from mechanisms.numerics.balls import Ball

from ...methods.enclosed import SETTLING, growth_evidence
from ..kit import At, Case, Display, Evidence, Form, Mutant, smallest, statement

KAPPA, LOG = 2, 6  # kappa and log(4/delta) of every sequence


def _inverse_gamma(n: Ball, d: Ball, epsilon: Ball) -> Ball:
    """Return ``1/gamma_n`` of Algorithm 1."""
    return (16 * KAPPA**2 * d**2 * LOG / (n * epsilon**2)).max(8 * KAPPA**2 * d**2 / (n * epsilon))


def _excess(case: Case, *, power: Ball) -> Evidence:
    """Follow the excess over ``d^power/n^2`` in d."""

    def over_order(d: Ball) -> Ball:
        n = 1000 * d**2  # X^T X = (n/d) I, epsilon = sigma = 1: the trace of the inverse is d^2/n
        return _inverse_gamma(n, d, arb(1)) * d**2 / n / (d**power / n**2)

    return growth_evidence("the excess over its stated order", over_order, 0, 6)


def _condition(case: Case, *, power: Ball) -> Evidence:
    """Follow the relative excess ``1/(gamma sigma^2)``, d = sigma = 1, in n, epsilon = n^power.

    ``n epsilon >= 4 d kappa (1 + log(4/delta))`` from n = 1e12 on.
    """
    return growth_evidence("the relative excess", lambda n: _inverse_gamma(n, arb(1), n**power), 12, 24, most=-SETTLING)


STATEMENT = statement(
    "W19-U2",
    domain="The setting of Proposition 4.4(2), X^T X = (n/d) I. Along d from 1 to 1e6 with n = 1000 d^2, and n from 1e12 to 1e24; "
    "kappa = 2 (it must exceed 1 there), log(4/delta) = 6",
    summary="Neither holds as printed: gamma_n leaves an excess of order kappa^2 d^4 log(4/delta)/(n^2 epsilon^2), one power of d more than printed, and "
    "efficiency needs n epsilon^2 to grow; where it vanishes the relative excess tends to infinity.",
    derivation="docs/derivations/wang2019_section_4.md, U1 and U2",
    displays={
        "#excess": Display(
            "order of the excess",
            printed=Form(
                '"error" = sigma^2 tr[(X^T X)^(-1)] + O(d^3/(n^2 epsilon^2))',
                partial(_excess, power=arb(3)),
                [smallest("d grows, n = 1000 d^2", {})],
            ),
            corrected=Form(
                '"error" = sigma^2 tr[(X^T X)^(-1)] + O((kappa^2 d^4 log(4/delta))/(n^2 epsilon^2)), quad epsilon <= 2 log(4/delta)',
                partial(_excess, power=arb(4)),
                [smallest("the sequence that refutes the printed form", {})],
            ),
            wrong="1/gamma_n carries kappa^2 d^2 log(4/delta)/(n epsilon^2), and the trace it multiplies is of order d^2/n, not d/n.",
            mutants={"power 3.7": Mutant(_excess, {"sequence": "n = 1000 d^2"}, severity=0.075, power=arb(37) / 10)},
        ),
        "#condition": Display(
            "what efficiency needs",
            printed=Form(
                'n epsilon^2 = o(1) ==> "asymptotically efficient"',
                partial(_condition, power=arb(-3) / 4),
                [smallest("epsilon = n^(-3/4)", {})],
            ),
            corrected=Form(
                '1/(n epsilon^2) = o(1) ==> "asymptotically efficient at fixed" d, kappa, delta',
                partial(_condition, power=arb(-1) / 4),
                [At("epsilon = n^(-1/4)")],
            ),
            wrong="The ratio is upside down: the relative excess is proportional to 1/(n epsilon^2).",
            mutants={
                "n epsilon^2 constant": Mutant(_condition, {"epsilon": "n^(-1/2)"}, power=arb(-1) / 2),
                "n epsilon^2 = n^-0.04": Mutant(
                    _condition, {"epsilon": "n^(-0.52)"}, severity=0.04, power=arb(-52) / 100
                ),
            },
        ),
    },
)
