"""W18, (11) and its companion: the noise of both statistics in the inverse Gram metric.

O(.) is decided with explicit constants: 2 for the moment's noise, 4 - 2/d (Lemma 6, corrected) for the Gram matrix's
(docs/derivations/wang2018_appendix_c.md, section 3).
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from flint import arb, fmpq

from audits import Budget
from mechanisms.numerics.balls import Ball

from ...methods.failure import chi_square_tail, failing, normal_tail
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement

DRAWS = (2_000, 8_000, 200_000)


def _of_print(dim: int, rho: Any) -> Any:
    """Return the argument of the moment's logarithm."""
    return dim / rho


def _moment(
    case: Case, budget: Budget, *, constant: int | fmpq = 2, argument: Callable[[int, Any], Any] = _of_print
) -> Evidence:
    """Decide the failure probability of the bound with its constant, at unit noise (everything is homogeneous)."""
    dim, rho, shape = case.whole("dim"), case.number("rho"), case.text("spectrum")
    weights = np.ones(dim) if shape == "flat" else np.geomspace(1.0, 1e-4, dim)
    weights = weights / weights.sum()
    bound = float(arb(constant)) * np.log(float(argument(dim, rho)))

    def flat() -> Ball:
        return chi_square_tail(dim, arb(constant) * dim * argument(dim, arb(rho)).log())

    return failing(
        case,
        budget,
        "bound on |E_2|^2 in the inverse Gram metric",
        rho,
        exact=flat if shape == "flat" else None,
        draw=lambda size, rng: np.asarray(rng.standard_normal((size, dim)) ** 2 @ weights > bound),
        floats_each=dim,
    )


def _gram_matrix(case: Case, budget: Budget, *, share: int | fmpq = 1) -> Evidence:
    """Decide the companion in the metrics of Lemma 6: one normal square, whose variance is half its constant."""
    dim, rho = case.whole("dim"), case.number("rho")
    quantity = "bound on E_1 theta*, inverse Gram matrix nearly of rank one"
    return failing(
        case, budget, quantity, rho, exact=lambda: normal_tail(2 * arb(share) * (2 * dim**2 / arb(rho)).log())
    )


RARE = {"spectrum": "flat", "dim": 1, "rho": 1e-30}
RANK_ONE = {"spectrum": ("rank one",), "dim": (1, 2, 20, 200), "rho": (0.9, 1e-3, 1e-12, 1e-30)}
BOUND = 'norm({noise})_((X^T X)^(-1))^2 = O(({scale} op("tr")[(X^T X)^(-1)] log(6\\/delta) log({argument}\\/rho))/(epsilon^2\\/9))'

STATEMENT = statement(
    "W18-E11",
    domain="Noise of AdaSSP: variances B^4 log(6/delta)/(epsilon/3)^2 and B^2 Y^2 log(6/delta)/(epsilon/3)^2, X^T X invertible, "
    "with probability 1 - rho (left out in print). Decided with constants, for d <= 200, rho in [1e-100, 0.999]",
    summary="True with constant 2 for the moment and 4 - 2/d for the Gram matrix, the least possible as rho tends to 0. (The noise "
    "of appendix C.1's SSP has 4 log(4/delta), which is smaller than 9 log(6/delta).)",
    displays={
        "#moment": Display(
            "noise of the moment, (11)",
            Form(
                BOUND.format(noise="E_2", scale="norm(cal(X))^2 norm(cal(Y))^2", argument="d"),
                _moment,
                [
                    *over(
                        "dimension, spectrum and rho",
                        {"spectrum": ("flat", "spread"), "dim": (1, 3, 20), "rho": (0.9, 0.3, 0.05)},
                        draws=DRAWS,
                        quick_every=5,
                    ),
                    *over(
                        "exact law", {"spectrum": ("flat",), "dim": (1, 2, 20, 200), "rho": (0.999, 1e-3, 1e-12, 1e-30)}
                    ),
                    At("exact law", RARE | {"rho": 1e-100}),
                ],
            ),
            mutants={
                "constant cut by 10 %": Mutant(_moment, RARE, severity=0.1, constant=fmpq(9, 5)),
                "no dependence on rho": Mutant(_moment, RARE, argument=lambda d, rho: arb(d) + 2),
            },
        ),
        "#Gram matrix": Display(
            "noise of the Gram matrix, the companion",
            Form(
                BOUND.format(noise="E_1 theta^*", scale="norm(cal(X))^4 norm(theta^*)^2", argument="2 d^2"),
                _gram_matrix,
                over("exact law (the metrics of Lemma 6)", RANK_ONE),
            ),
            mutants={
                "constant cut by 10 %": Mutant(
                    _gram_matrix, RARE | {"spectrum": "rank one"}, severity=0.1, share=fmpq(9, 10)
                )
            },
        ),
    },
)
