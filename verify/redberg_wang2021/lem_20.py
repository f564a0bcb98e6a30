"""RW21, Lemma 20: the spectral norm of GOE noise against the quantile of its largest eigenvalue; and Lemma 19's matrix.

As printed the bound is sure; the proof has it with probability 1 - rho, which is what is true.
"""

from __future__ import annotations

from audits import Budget, Estimate
from audits.random_matrix import goe_norm_coverage
from mechanisms.goe import Extreme, GoeLaw, Normalisation, goe_tau
from mechanisms.goe_brackets import sf_bracket

from ..cases import case, grid, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value

ID = "RW21-L20"
PAPERS = Normalisation.UNIT_OFF_DIAGONAL
#: The rounding of the quantile itself is kept out of the comparison: thresholds stand this much above it, relatively.
INSIDE = 1.0 + 1e-9


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the probability that the norm stays below the quantile, exactly; some cases are simulated beside."""
    dim, rho, version = case.whole("dim"), case.number("rho"), version_name(case)
    level = rho if version == "quantile at 1 - rho" else rho / 2
    law = GoeLaw(dim, Extreme.LARGEST_EIGENVALUE, PAPERS)
    tau = INSIDE * law.isf(level)
    if version == "other normalisation":
        tau *= 0.5**0.5
    if version == "quantile 1 % lower":
        tau *= 0.99
    tail = sf_bracket(GoeLaw(dim, Extreme.SPECTRAL_NORM, PAPERS), tau)
    return coverage_evidence(
        "probability that the spectral norm is at most the quantile",
        1.0 if version == "printed" else 1.0 - rho,
        sampled=goe_norm_coverage(dim, tau, budget, PAPERS) if any(case.draws) else None,
        exact=Estimate.proved(1.0 - tail.high - 2e-16, 1.0 - tail.low + 2e-16, "exact law, ball arithmetic"),
        notes={"tau": tau, "tau over sigma of Lemma 20": goe_tau(dim, rho)},
    )


def _cases() -> tuple[Case, ...]:
    axes = {"dim": (1, 2, 3, 10, 50), "rho": (0.5, 0.1, 1e-2, 1e-6)}
    draws = (2_000, 10_000, 100_000)
    small: dict[str, Value] = {"dim": 1, "rho": 0.1}
    return (
        case(ID, Standing.PRINTED, small, role=Role.COUNTEREXAMPLE, regime="one normal variable"),
        *grid(ID, Standing.CORRECTED, axes, regime="exact law", quick_every=6),
        *grid(ID, Standing.CORRECTED, {"dim": (4, 8), "rho": (0.3, 0.05)}, regime="simulated beside", draws=draws),
        mutant(ID, "quantile at 1 - rho", {"dim": 3, "rho": 0.1}),
        mutant(ID, "other normalisation", {"dim": 10, "rho": 0.1}),
        mutant(ID, "quantile 1 % lower", {"dim": 3, "rho": 0.1}, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Spectral norm of GOE noise by a quantile",
    locator="Supplement D.1, Lemma 20",
    domain="A symmetric, off-diagonal N(0, sigma^2), diagonal N(0, 2 sigma^2), rho in (0, 1). Decided for d up to 50, rho in [1e-6, 0.5]",
    summary="The bound is printed without its probability, 1 - rho; with it the lemma is true, and an equality for d = 1.",
    parts=(
        Part(
            ID,
            "norm against the quantile",
            printed=Formula(
                'norm(A)_2 <= sigma F^(-1)_(lambda_1 "of GOE") (1 - rho/2)',
                "||A|| <= sigma F^-1(1 - rho/2), F of the largest eigenvalue",
            ),
            corrected=Formula(
                'Pr[norm(A)_2 <= sigma F^(-1)_(lambda_1 "of GOE") (1 - rho/2)] >= 1 - rho',
                "P(||A|| <= sigma F^-1(1 - rho/2)) >= 1 - rho",
            ),
            what_went_wrong="The words with probability 1 - rho are in the proof and missing from the lemma.",
            derivation="docs/derivations/redberg_wang2021_lemmas.md, Lemma 20",
        ),
    ),
    cases=_cases(),
    check=check,
)
