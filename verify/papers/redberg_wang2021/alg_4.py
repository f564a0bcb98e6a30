"""RW21, Algorithm 4: the adaptive privacy report, whose bound on the leverage needs no condition on lambda.

The algorithm's bound is decided by simulation of everything that is released; A4.c, the claim beside it, is that any lambda
will do. Derivation of the corrected form: docs/derivations/privacy_report.md, Algorithm 4.
"""

from functools import partial

import numpy as np

from audits import Budget
from mechanisms.releases.adaptive_report import corrected_adaptive_terms, printed_adaptive_terms

from ..kit import At, Case, Display, Evidence, Form, Mutant, smallest, statement
from .shared.adaptive_events import LOWER, AdaptiveDraws, AdaptiveForm, short_margin
from .shared.report_events import TINY, BoolArray, ReportSetting, points

HOLDS, DEFINED = "probability that the bound holds", "probability that the bound is defined and holds"


def _report(case: Case, budget: Budget, *, form: AdaptiveForm, words: str = HOLDS) -> Evidence:
    """Decide the coverage of a form of the report."""
    setting = ReportSetting.of(case, required=False)

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = AdaptiveDraws.of(setting, case.number("sigma_4"), n_draws, rng)
        with np.errstate(invalid="ignore"):
            return np.asarray(draws.loss <= draws.bound(form))

    return setting.coverage(words, 3.0, events, budget)


def _leverage(case: Case, budget: Budget, *, share: float = 1.0, admissible: bool = False) -> Evidence:
    """Decide the coverage of the bound on the leverage, from a ``share`` of the margin on the smallest eigenvalue.

    ``admissible``: the report it enters must not take the logarithm of a negative number either.
    """
    setting, sigma4 = ReportSetting.of(case, required=False), case.number("sigma_4")

    def events(n_draws: int, rng: np.random.Generator) -> BoolArray:
        draws = AdaptiveDraws.of(setting, sigma4, n_draws, rng)
        lowered = draws.adaptive.eigenvalue - share * sigma4 * setting.scales.quantile
        mu_bar = draws.leverage_bound(np.maximum(setting.scales.lam, lowered))
        valid = draws.leverage <= mu_bar * (1.0 + 1e-12)
        return np.asarray(valid & (draws.own.second * mu_bar < 1.0) if admissible else valid)

    return setting.coverage(DEFINED if admissible else HOLDS, 2.0, events, budget)


DRAWS, MANY, FEW = (3_000, 4_000, 100_000), (4_000, 60_000, 400_000), (200, 400, 20_000)
SMALL = TINY | {
    "loss": "squared", "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.01, "sigma_4": 0.01, "lam": 0.1, "rho": 0.1
}  # fmt: skip
EVERYWHERE = [
    TINY
    | {"loss": loss, "target": target, "rho": rho, "lam": lam}
    | {"sigma": 4.0, "sigma_2": s2, "sigma_3": s3, "sigma_4": s4}
    for loss in ("logistic", "squared")
    for target in ("outside", "inside")
    for rho in (0.2, 0.05)
    for lam in (0.01, 3.0)
    for s2, s3, s4 in ((0.4, 0.1, 1.0), (10.0, 3.0, 0.1))
]
REAL = {
    "data": "anes96", "record": 3, "loss": "logistic", "rho": 0.1, "lam": 5.0,
    "sigma": 4.0, "sigma_2": 4.0, "sigma_3": 0.5, "sigma_4": 0.5,
}  # fmt: skip
AGAIN = "the case that refutes the printed form"

STATEMENT = statement(
    "RW21-A4",
    derivation="docs/derivations/privacy_report.md, Algorithm 4",
    domain="Objective perturbation with a generalised linear loss, any lambda > 0, add or remove one record; all noise scales "
    "public. Decided for rho in [0.01, 0.2], lambda in [0.01, 100]",
    summary="The report can understate a loss: it bounds the released inner product from above and then takes its absolute value. "
    "Its bound on the leverage is right for every lambda with probability 1 - 3 rho/2, but for a small lambda the report "
    "takes the logarithm of a negative number. Implemented by mechanisms.releases.adaptive_report.",
    displays={
        "#report": Display(
            "the bound that the algorithm returns, with probability 1 - 3 rho",
            Form(
                "epsilon_1 <= overline(epsilon_1^P), quad overline(g^P) = f' [hat(g)^P]^T x"
                " + sigma_2 norm(f' x)_2 Phi^(-1)(1 - rho/2)",
                partial(_report, form=printed_adaptive_terms, words=DEFINED),
                [smallest("sigma_2 = sigma/10", LOWER, draws=DRAWS)],
            ),
            Form(
                "epsilon_1 <= overline(epsilon_1^P), quad overline(g^P) = abs(f' [hat(g)^P]^T x)"
                " + sigma_2 norm(f' x)_2 Phi^(-1)(1 - rho/2), quad overline(epsilon_1^P) = infinity \"if\" f'' overline(mu^P) >= 1",
                partial(_report, form=corrected_adaptive_terms),
                [
                    At(AGAIN, LOWER, draws=DRAWS),
                    *points("one dimension", EVERYWHERE[::2], draws=DRAWS, every=12, first=3),
                    At("real data", REAL | {"target": "inside"}, draws=FEW, quick=False),
                ],
            ),
            "An upper confidence bound on the signed inner product is used as a bound on its size, so that a negative "
            "inner product is understated by the margin.",
            {
                "0.4 of the margin": Mutant(
                    _report, LOWER, severity=0.085, draws=(4_000, 250_000, 400_000), quick=False, form=short_margin(0.4)
                ),
                "no margin": Mutant(_report, LOWER, draws=DRAWS, form=short_margin(0.0)),
            },
        ),
        ".c": Display(
            printed=Form(
                'forall lambda > 0: quad mu(x) <= overline(mu^P)(x) "and" log(1 - f\'\' overline(mu^P)(x)) "is defined, with probability" 1 - 2 rho',
                partial(_leverage, admissible=True),
                [smallest("lambda = 1/10, no data", SMALL, draws=DRAWS)],
            ),
            corrected=Form(
                "forall lambda > 0: quad Pr[mu(x) <= overline(mu^P)(x)] >= 1 - 2 rho",
                _leverage,
                [
                    At(AGAIN, SMALL, draws=DRAWS),
                    *points("one dimension", EVERYWHERE[1::2], draws=(8_000, 12_000, 100_000), every=12, first=3),
                    At("real data", REAL | {"target": "outside"}, draws=FEW, quick=False),
                ],
            ),
            wrong="A valid bound on the leverage is not enough: with lambda below f'' ||x||^2 it can exceed 1/f'', and the "
            "report then takes the logarithm of a negative number.",
            mutants={
                "0.45 of the margin on lambda": Mutant(
                    _leverage, SMALL | {"sigma_4": 0.1}, severity=0.1, draws=MANY, quick=False, share=0.45
                ),
                "lambda_hat as released": Mutant(_leverage, SMALL | {"sigma_4": 0.1}, draws=DRAWS, share=0.0),
            },
        ),
    },
)
