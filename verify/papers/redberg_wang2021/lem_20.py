"""RW21, Lemma 20: the spectral norm of GOE noise against the quantile of its largest eigenvalue; and Lemma 19's matrix.

As printed the bound is sure; the proof has it with probability 1 - rho, which is what is true.
"""

from __future__ import annotations

from functools import partial

from audits import Budget, Estimate
from audits.white_box.random_matrix import goe_norm_coverage
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, goe_tau
from mechanisms.numerics.goe_brackets import sf_bracket

from ...kernel.declare import Display, Form, Mutant, over, smallest, statement
from ...kernel.evidence import coverage_evidence
from ...kernel.statement import Case, Evidence

PAPERS = Normalisation.UNIT_OFF_DIAGONAL
#: The rounding of the quantile itself is kept out of the comparison: thresholds stand this much above it, relatively.
INSIDE = 1.0 + 1e-9


def _below(case: Case, budget: Budget, *, share: float = 0.5, scale: float = 1.0, sure: bool = False) -> Evidence:
    """Decide the probability that the norm stays below ``scale`` times the quantile at 1 - share rho.

    It is exact; some cases are simulated beside.
    """
    dim, rho = case.whole("dim"), case.number("rho")
    tau = INSIDE * GoeLaw(dim, Extreme.LARGEST_EIGENVALUE, PAPERS).isf(share * rho) * scale
    tail = sf_bracket(GoeLaw(dim, Extreme.SPECTRAL_NORM, PAPERS), tau)
    return coverage_evidence(
        "probability that the spectral norm is at most the quantile",
        1.0 if sure else 1.0 - rho,
        sampled=goe_norm_coverage(dim, tau, PAPERS, budget) if any(case.draws) else None,
        exact=Estimate.proved(1.0 - tail.high - 2e-16, 1.0 - tail.low + 2e-16, "exact law, ball arithmetic"),
        notes={"tau": tau, "tau over sigma of Lemma 20": goe_tau(dim, rho)},
    )


LEVELS = {"dim": (1, 2, 3, 10, 50), "rho": (0.5, 0.1, 1e-2, 1e-6)}
SMALL, THREE = {"dim": 1, "rho": 0.1}, {"dim": 3, "rho": 0.1}

STATEMENT = statement(
    "RW21-L20",
    domain="A symmetric, off-diagonal N(0, sigma^2), diagonal N(0, 2 sigma^2), rho in (0, 1). Decided for d up to 50, rho in [1e-6, 0.5]",
    summary="The bound is printed without its probability, 1 - rho; with it the lemma is true, and an equality for d = 1.",
    derivation="docs/derivations/redberg_wang2021_lemmas.md, Lemma 20",
    displays={
        "": Display(
            "norm against the quantile",
            Form(
                'norm(A)_2 <= sigma F^(-1)_(lambda_1 "of GOE") (1 - rho/2)',
                partial(_below, sure=True),
                [smallest("one normal variable", SMALL)],
            ),
            Form(
                'Pr[norm(A)_2 <= sigma F^(-1)_(lambda_1 "of GOE") (1 - rho/2)] >= 1 - rho',
                _below,
                [
                    *over("exact law", LEVELS, quick_every=6),
                    *over("simulated beside", {"dim": (4, 8), "rho": (0.3, 0.05)}, draws=(2_000, 10_000, 100_000)),
                ],
            ),
            "The words with probability 1 - rho are in the proof and missing from the lemma.",
            {
                "quantile at 1 - rho": Mutant(partial(_below, share=1.0), THREE),
                "other normalisation": Mutant(partial(_below, scale=0.5**0.5), {"dim": 10, "rho": 0.1}),
                "quantile 1 % lower": Mutant(partial(_below, scale=0.99), THREE, severity=0.01),
            },
        )
    },
)
