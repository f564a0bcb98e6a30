"""W19, the discussion of Proposition 4.3: what one choice of gamma_n and lambda_n gives at once.

The relative error is exact in one dimension, the privacy loss of a target outside the span of the data is exact as well;
both are followed along n (docs/derivations/wang2019_section_4.md, U1 and U2).
"""

from collections.abc import Callable

from flint import arb

from mechanisms import BOTH
from mechanisms.laws.quadratic_profile import QuadraticProfile
from mechanisms.numerics.balls import Ball

from ...methods.enclosed import SETTLING, growth_evidence
from ..kit import At, Case, Decide, Display, Evidence, Form, Mutant, over, smallest, statement

DELTA = 1e-3


def _relative_excess(n: Ball, alpha: float) -> Ball:
    """Return the exact mean squared error over the Cramer-Rao bound, minus 1: ``X^T X = n``, ``theta_0 = sigma = 1``."""
    lam, gamma = n ** (arb(1 - alpha) / 2), n ** (arb(alpha) / 2)
    share = n / (n + lam)
    return share**2 - 1 + share / gamma + n * (1 - share) ** 2


def exact_loss(n: Ball, alpha: float) -> Ball:
    """Return the exact epsilon of a target with leverage ``1/lambda`` and residual 1, as a ball."""
    lam, gamma = float(n) ** ((1.0 - alpha) / 2.0), float(n) ** (alpha / 2.0)
    profile = QuadraticProfile(1.0 / lam, gamma**0.5)
    brackets = [profile.epsilon_bracket(DELTA, d) for d in BOTH]
    worst = max(brackets, key=lambda bracket: bracket.low)
    return arb(worst.low).union(arb(max(worst.high, worst.low)))


def loss_bound(n: Ball, alpha: float) -> Ball:
    """Return the corrected (4.5) at residual 1, an upper bound on epsilon for every target."""
    lam, gamma, log = n ** (arb(1 - alpha) / 2), n ** (arb(alpha) / 2), (2 / arb(DELTA)).log()
    return (2 * gamma * log / lam).sqrt() + gamma / (2 * lam.max(arb(1))) + (1 + 2 * log) / (2 * lam)


def _efficiency(share: float) -> Decide:
    """Return the check of a relative excess of order ``n^(-share alpha)``, both ways."""

    def check(case: Case) -> Evidence:
        alpha = case.number("alpha")
        words, power = "the relative excess over its stated order", arb(alpha) * arb(share)
        return growth_evidence(words, lambda n: _relative_excess(n, alpha) * n**power, 8, 32, least=-SETTLING)

    return check


def _loss(loss: Callable[[Ball, float], Ball]) -> Decide:
    """Return the check of a loss of order ``n^(-1/4 + alpha/2)``."""

    def check(case: Case) -> Evidence:
        alpha = case.number("alpha")
        power = arb(alpha) / 2 - arb(1) / 4
        words = "epsilon over n^(-1/4 + alpha/2)"
        return growth_evidence(words, lambda n: loss(n, alpha) / n**power, 4, case.whole("last"))

    return check


STATEMENT = statement(
    "W19-U1",
    domain="gamma_n = n^(alpha/2), lambda_n = n^(1/2 - alpha/2), residuals O(1), delta fixed (1e-3), any alpha > 0 as printed. Along n from 1e4 "
    "to 1e40; the error in one dimension with X^T X = n",
    summary="The relative error is 1 + n^(-alpha/2), as gamma_n enters by 1/gamma_n; the printed n^(-alpha) is its bias alone. The loss is as "
    "printed for alpha <= 1/2 (ratio at most 5.3 at delta = 1e-3, residual 1 and n from 1e4), and of order n^(alpha - 1/2) beyond.",
    derivation="docs/derivations/wang2019_section_4.md, U1 and U2",
    displays={
        "#efficiency": Display(
            "asymptotic relative efficiency",
            printed=Form(
                '"ARE" = 1 + n^(-alpha)',
                _efficiency(1.0),
                [smallest("one feature, X^T X = n", {"alpha": 0.5}), At("one feature, X^T X = n", {"alpha": 0.125})],
            ),
            corrected=Form(
                '"ARE" = 1 + O(n^(-alpha\\/2)) quad "attained"',
                _efficiency(0.5),
                over("one feature, X^T X = n", {"alpha": (0.125, 0.5, 0.75, 1.0)}),
            ),
            wrong="With gamma_n = n^(alpha/2) the posterior's own variance adds 1/gamma_n = n^(-alpha/2).",
            mutants={"exponent 10 % larger": Mutant(_efficiency(0.55), {"alpha": 1.0}, severity=0.1)},
        ),
        "#loss": Display(
            "privacy loss of everyone",
            printed=Form(
                "epsilon_n = n^(-1\\/4 + alpha\\/2), quad alpha > 0",
                _loss(exact_loss),
                [smallest("X = 0, residual 1", {"alpha": 0.75, "last": 40})],
            ),
            corrected=Form(
                "epsilon_n = O(n^(-1\\/4 + alpha\\/2)), quad 0 < alpha <= 1\\/2",
                _loss(loss_bound),
                over("residual 1", {"alpha": (0.01, 0.125, 0.25, 0.5), "last": (40,)}),
            ),
            wrong="Beyond alpha = 1/2 the second term of (4.5), gamma_n/lambda_n = n^(alpha - 1/2), dominates the first.",
            mutants={
                "alpha up to 0.55": Mutant(_loss(exact_loss), {"alpha": 0.55, "last": 100}, severity=0.1),
                "alpha up to 0.625": Mutant(_loss(exact_loss), {"alpha": 0.625, "last": 40}),
            },
        ),
    },
)
