"""W19, the discussion of Proposition 4.3: what one choice of gamma_n and lambda_n gives at once.

The relative error is exact in one dimension, the privacy loss of a target outside the span of the data is exact as well;
both are followed along n (docs/derivations/wang2019_section_4.md, U1 and U2).
"""

from __future__ import annotations

from flint import arb

from audits import Budget
from mechanisms import BOTH
from mechanisms.balls import Ball
from mechanisms.quadratic_profile import QuadraticProfile

from ..cases import case, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement
from .growth import SETTLING, growth_evidence

ID = "W19-U1"
EFFICIENCY, LOSS = f"{ID}#efficiency", f"{ID}#loss"
DELTA = 1e-3
#: Share of alpha in the stated exponent of the relative excess.
SHARES = {"printed": 1.0, "corrected": 0.5, "exponent 10 % larger": 0.55}


def relative_excess(n: Ball, alpha: float) -> Ball:
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


def check(case: Case, budget: Budget) -> Evidence:
    """Follow an exact quantity over its stated order along n."""
    alpha, version = case.number("alpha"), version_name(case)
    if case.part == EFFICIENCY:
        power = arb(alpha) * arb(SHARES[version])
        return growth_evidence(
            "the relative excess over its stated order",
            lambda n: relative_excess(n, alpha) * n**power,
            8,
            32,
            least=-SETTLING,
        )
    loss = loss_bound if version == "corrected" else exact_loss
    return growth_evidence(
        "epsilon over n^(-1/4 + alpha/2)",
        lambda n: loss(n, alpha) / n ** (arb(alpha) / 2 - arb(1) / 4),
        4,
        case.whole("last"),
    )


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    return (
        case(EFFICIENCY, printed, {"alpha": 0.5}, role=Role.COUNTEREXAMPLE, regime="one feature, X^T X = n"),
        case(EFFICIENCY, printed, {"alpha": 0.125}, regime="one feature, X^T X = n"),
        *(case(EFFICIENCY, corrected, {"alpha": a}, regime="one feature, X^T X = n") for a in (0.125, 0.5, 0.75, 1.0)),
        mutant(EFFICIENCY, "exponent 10 % larger", {"alpha": 1.0}, severity=0.1),
        case(LOSS, printed, {"alpha": 0.75, "last": 40}, role=Role.COUNTEREXAMPLE, regime="X = 0, residual 1"),
        *(case(LOSS, corrected, {"alpha": a, "last": 40}, regime="residual 1") for a in (0.01, 0.125, 0.25, 0.5)),
        mutant(LOSS, "alpha up to 0.55", {"alpha": 0.55, "last": 100}, severity=0.1),
        mutant(LOSS, "alpha up to 0.625", {"alpha": 0.625, "last": 40}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="claim",
    title="Efficiency and privacy at one choice of gamma and lambda",
    locator="Section 4.1, the paragraph on pDP and DP in the agnostic setting",
    domain=(
        "gamma_n = n^(alpha/2), lambda_n = n^(1/2 - alpha/2), residuals O(1), delta fixed (1e-3), any alpha > 0 as printed. Along n from 1e4 "
        "to 1e40; the error in one dimension with X^T X = n"
    ),
    summary=(
        "The relative error is 1 + n^(-alpha/2), as gamma_n enters by 1/gamma_n; the printed n^(-alpha) is its bias alone. The loss is as "
        "printed for alpha <= 1/2 (ratio at most 10.1 at delta = 1e-3), and of order n^(alpha - 1/2) beyond."
    ),
    parts=(
        Part(
            EFFICIENCY,
            "asymptotic relative efficiency",
            Formula('"ARE" = 1 + n^(-alpha)', "ARE = 1 + n^-alpha"),
            Formula('"ARE" = 1 + O(n^(-alpha\\/2))', "ARE = 1 + O(n^(-alpha/2)), attained"),
            "With gamma_n = n^(alpha/2) the posterior's own variance adds 1/gamma_n = n^(-alpha/2).",
            "docs/derivations/wang2019_section_4.md, U1 and U2",
        ),
        Part(
            LOSS,
            "privacy loss of everyone",
            Formula(
                "epsilon_n = n^(-1\\/4 + alpha\\/2), quad alpha > 0", "epsilon_n = O(n^(-1/4 + alpha/2)), any alpha > 0"
            ),
            Formula(
                "epsilon_n = O(n^(-1\\/4 + alpha\\/2)), quad 0 < alpha <= 1\\/2",
                "epsilon_n = O(n^(-1/4 + alpha/2)), 0 < alpha <= 1/2",
            ),
            "Beyond alpha = 1/2 the second term of (4.5), gamma_n/lambda_n = n^(alpha - 1/2), dominates the first.",
            "docs/derivations/wang2019_section_4.md, U1 and U2",
        ),
    ),
    cases=_cases(),
    check=check,
)
