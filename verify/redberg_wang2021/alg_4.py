"""RW21, Algorithm 4: the adaptive privacy report, whose bound on the leverage needs no condition on lambda.

The algorithm's bound is decided by simulation of everything that is released; A4.c, the claim beside it, is that any lambda
will do. Derivation of the corrected form: docs/derivations/privacy_report.md, Algorithm 4.
"""

from __future__ import annotations

import numpy as np

from audits import Budget
from audits.coverage import audit_coverage

from ..cases import case, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .adaptive_events import FORMS, BoolArray, any_lambda, bound, draw, leverage_bound

ID = "RW21-A4"
REPORT, CLAIM = f"{ID}#report", f"{ID}.c"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the coverage of the report, or of its bound on the leverage."""
    here, sigma4, version = any_lambda(case), case.number("sigma_4"), version_name(case)
    rho = here.scales.failure_prob

    def report(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = draw(here, sigma4, n_draws, rng)
        with np.errstate(invalid="ignore"):
            return np.asarray(np.abs(draws.truth.total) <= bound(here, draws, FORMS[version]))

    def leverage(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = draw(here, sigma4, n_draws, rng)
        share = {"0.45 of the margin on lambda": 0.45, "lambda_hat as released": 0.0}.get(version, 1.0)
        floor = np.maximum(here.scales.lam, draws.adaptive.eigenvalue - share * sigma4 * here.scales.quantile)
        found = leverage_bound(here, draws, floor)
        valid = draws.leverage <= found * (1.0 + 1e-12)
        if version == "printed":  # admissible: the report it enters takes the logarithm of 1 - f'' mu_bar
            valid &= draws.own.second * found < 1.0
        return np.asarray(valid)

    level = 3.0 if case.part == REPORT else 2.0
    return coverage_evidence(
        "probability that the bound is defined and holds"
        if version == "printed"
        else "probability that the bound holds",
        1.0 - level * rho,
        sampled=audit_coverage(report if case.part == REPORT else leverage, budget).joint,
        relation=here.pair.relation,
        conditioned_on="D and z fixed",
    )


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    draws, many = (3_000, 4_000, 100_000), (4_000, 60_000, 400_000)
    tiny: dict[str, Value] = {"data": "tiny", "target": "outside", "loss": "logistic", "rho": 0.01}
    lower = tiny | {"sigma": 4.0, "sigma_2": 0.4, "sigma_3": 0.1, "sigma_4": 0.1, "lam": 100.0}
    small = tiny | {
        "loss": "squared",
        "sigma": 4.0,
        "sigma_2": 4.0,
        "sigma_3": 0.01,
        "sigma_4": 0.01,
        "lam": 0.1,
        "rho": 0.1,
    }
    everywhere = [
        tiny
        | {"loss": loss, "target": target, "rho": rho, "lam": lam}
        | {"sigma": 4.0, "sigma_2": s2, "sigma_3": s3, "sigma_4": s4}
        for loss in ("logistic", "squared")
        for target in ("outside", "inside")
        for rho in (0.2, 0.05)
        for lam in (0.01, 3.0)
        for s2, s3, s4 in ((0.4, 0.1, 1.0), (10.0, 3.0, 0.1))
    ]
    real: dict[str, Value] = {"data": "anes96", "record": 3, "loss": "logistic", "rho": 0.1, "lam": 5.0}
    real |= {"sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.5, "sigma_4": 0.5}
    few = (200, 400, 20_000)
    cases = [
        case(REPORT, printed, lower, role=Role.COUNTEREXAMPLE, regime="sigma_2 = sigma/10", draws=draws),
        case(REPORT, corrected, lower, regime="the case that refutes the printed form", draws=draws),
        mutant(REPORT, "0.4 of the margin", lower, draws=(4_000, 250_000, 400_000), quick=False, severity=0.085),
        mutant(REPORT, "no margin", lower, draws=draws),
        case(CLAIM, printed, small, role=Role.COUNTEREXAMPLE, regime="lambda = 1/10, no data", draws=draws),
        case(CLAIM, corrected, small, regime="the case that refutes the printed form", draws=draws),
        mutant(CLAIM, "0.45 of the margin on lambda", small | {"sigma_4": 0.1}, draws=many, quick=False, severity=0.1),
        mutant(CLAIM, "lambda_hat as released", small | {"sigma_4": 0.1}, draws=draws),
    ]
    for part, each in ((REPORT, draws), (CLAIM, (8_000, 12_000, 100_000))):
        cases += [
            case(part, corrected, p, regime="one dimension", draws=each, quick=i % 12 == 3)
            for i, p in enumerate(everywhere[part == CLAIM :: 2])
        ]
        cases += [
            case(part, corrected, real | {"target": t}, regime="real data", draws=few, quick=False)
            for t in (("inside",) if part == REPORT else ("outside",))
        ]
    return tuple(cases)


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="algorithm",
    title="Adaptive privacy report",
    locator="Supplement C.1, Algorithm 4 and the text after it",
    domain=(
        "Objective perturbation with a generalised linear loss, any lambda > 0, add or remove one record; all noise scales "
        "public. Decided for rho in [0.01, 0.2], lambda in [0.01, 100]"
    ),
    summary=(
        "The report can understate a loss: it bounds the released inner product from above and then takes its absolute value. "
        "Its bound on the leverage is right for every lambda with probability 1 - 3 rho/2, but for a small lambda the report "
        "takes the logarithm of a negative number. Implemented by mechanisms.adaptive_report."
    ),
    parts=(
        Part(
            REPORT,
            "the bound that the algorithm returns, with probability 1 - 3 rho",
            printed=Formula(
                "epsilon_1 <= overline(epsilon_1^P), quad overline(g^P) = f' [hat(g)^P]^T x"
                " + sigma_2 norm(f' x)_2 Phi^(-1)(1 - rho/2)",
                "epsilon_1 <= epsilon1_bar with g_bar = f' g_hat' x + sigma_2 ||f' x|| z, z the normal quantile at 1 - rho/2",
            ),
            corrected=Formula(
                "epsilon_1 <= overline(epsilon_1^P), quad overline(g^P) = abs(f' [hat(g)^P]^T x)"
                " + sigma_2 norm(f' x)_2 Phi^(-1)(1 - rho/2), quad overline(epsilon_1^P) = infinity \"if\" f'' overline(mu^P) >= 1",
                "epsilon_1 <= epsilon1_bar with g_bar = |f' g_hat' x| + sigma_2 ||f' x|| z, infinite where f'' mu_bar >= 1",
            ),
            what_went_wrong=(
                "An upper confidence bound on the signed inner product is used as a bound on its size, so that a negative "
                "inner product is understated by the margin."
            ),
            derivation="docs/derivations/privacy_report.md, Algorithm 4",
        ),
        Part(
            CLAIM,
            "any lambda is admissible, and the bound on the leverage is always valid",
            printed=Formula(
                'forall lambda > 0: quad mu(x) <= overline(mu^P)(x) "and" log(1 - f\'\' overline(mu^P)(x)) "is defined"',
                "for every lambda > 0: mu(x) <= mu_bar(x), and log(1 - f'' mu_bar(x)) is defined (with probability 1 - 2 rho)",
            ),
            corrected=Formula(
                "forall lambda > 0: quad Pr[mu(x) <= overline(mu^P)(x)] >= 1 - 2 rho",
                "for every lambda > 0: mu(x) <= mu_bar(x) with probability 1 - 2 rho",
            ),
            what_went_wrong=(
                "A valid bound on the leverage is not enough: with lambda below f'' ||x||^2 it can exceed 1/f'', and the "
                "report then takes the logarithm of a negative number. Valid it is with high probability, not always."
            ),
            derivation="docs/derivations/privacy_report.md, Algorithm 4",
        ),
    ),
    cases=_cases(),
    check=check,
)
