"""RW21, Corollary 23: the Gaussian mechanism's epsilon from the normal quantile, in advance and ex post.

With ``mu = ||Delta||/sigma`` the loss is N(mu^2/2, mu^2) under both data sets, so ``P(L > mu^2/2 + mu z_delta) = delta``.
"""

from functools import partial

from scipy.special import ndtri

from ...kernel.box_search import Point
from ..kit import At, Display, Form, Mutant, over, search, statement
from .shared.gaussian_costs import DELTAS, epsilon_tail, ex_post, gaussian


def _epsilon_quantile(p: Point, *, share: float = 1.0, scale: float = 1.0) -> float:
    """Return ``scale (mu^2/2 + mu Phi^{-1}(1 - share delta))``."""
    mu = p["norm"] / p["sigma"]
    return scale * (0.5 * mu * mu - mu * float(ndtri(share * p["delta"])))


CLAIM = gaussian(largest=0.499, conditioned_on="")
TWO_SIDED, WEAKER = partial(_epsilon_quantile, share=0.5), partial(epsilon_tail, constant=2.0)
SCALES = {"norm": (1e-2, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0)}
RHOS = over("scales and rho", SCALES | {"delta": DELTAS[:-1]}, quick_every=7)
SMALL = {"norm": 1e-3, "sigma": 100.0, "delta": 0.1}

STATEMENT = statement(
    "RW21-C23",
    domain="Gaussian noise sigma on a statistic that changes by Delta, both directions, delta and rho in (0, 1). Decided for ||Delta||/sigma in [1e-5, 1e5], delta in [1e-12, 0.9], rho in [1e-9, 0.5]",
    summary="True. C23.1 prints its two members identically; the second was presumably meant with sqrt(2 log(1/delta)). The first "
    "is tight for large ||Delta||/sigma, the quantile of C23.2 for small ones.",
    displays={
        ".1": Display(
            printed=Form(
                "epsilon <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) Phi^(-1)(1 - delta))/sigma",
                CLAIM.of(_epsilon_quantile),
                [
                    *over("scales and delta", SCALES | {"delta": (0.4, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)}, quick_every=7),
                    At("delta above 1/2", {"norm": 3.0, "sigma": 1.0, "delta": 0.9}),
                    search(),
                ],
            ),
            mutants={
                "epsilon cut by 5 %": Mutant(CLAIM.of(partial(_epsilon_quantile, scale=0.95)), severity=0.05),
                "quantile at 1 - 2 delta": Mutant(CLAIM.of(partial(_epsilon_quantile, share=2.0))),
            },
        ),
        ".2": Display(
            printed=Form(
                "epsilon(o) <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) Phi^(-1)(1 - rho/2))/sigma",
                partial(ex_post, epsilon=TWO_SIDED),
                RHOS,
            ),
            mutants={
                "one-sided quantile": Mutant(ex_post, SMALL, epsilon=_epsilon_quantile),
                "failure at most 0.95 rho": Mutant(ex_post, SMALL, severity=0.05, epsilon=TWO_SIDED, failure=0.95),
            },
        ),
        "#weaker": Display(
            "the second member, (5)",
            Form(
                "epsilon(o) <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) sqrt(2 log(2/rho)))/sigma",
                partial(ex_post, epsilon=WEAKER),
                RHOS,
            ),
            mutants={
                "epsilon cut by 10 %": Mutant(
                    ex_post,
                    {"norm": 1e3, "sigma": 1.0, "delta": 1e-6},
                    severity=0.1,
                    epsilon=partial(WEAKER, scale=0.9),
                )
            },
        ),
    },
)
