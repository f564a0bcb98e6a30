"""RW21, Theorem 14: cost of releasing the gradient at a released parameter, in advance and ex post."""

from functools import partial

from reports.row import Figure

from ...kernel.statement_plots import profile_figure
from ..kit import At, Display, Form, Mutant, over, search, statement
from .shared.gaussian_costs import COST, RATIOS, cost_display, epsilon_tail, ex_post

EX_POST = partial(epsilon_tail, constant=2.0)
POSITIVE = RATIOS | {"norm": RATIOS["norm"][1:]}
NEARLY = {"norm": 1e-3, "sigma": 100.0, "delta": 0.999}


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile at norm 1 and sigma_2 = 4 with both costs that the paper prints."""
    point = {"norm": 1.0, "sigma": 4.0, "delta": 1e-6}
    bounds = {"T14.1": epsilon_tail(point), "Algorithm 5": EX_POST(point)}
    setting = "||grad l|| = 1, sigma_2 = 4"
    return (profile_figure("rw21-t14", "Cost of the released gradient", COST.profile(point), 1e-6, bounds, setting),)


def _epsilon(ratio: str) -> str:
    gradient = "norm(nabla ell (hat(theta)^P; z))"
    return f"{gradient}^2/(2 sigma_2^2) + ({gradient} sqrt(2 log({ratio})))/sigma_2"


STATEMENT = statement(
    "RW21-T14",
    domain="theta fixed (released), one record added or removed, sigma_2 > 0, delta and rho in (0, 1). Decided for gradient "
    "norms over sigma_2 in [1e-5, 1e5], delta in [1e-12, 0.99], rho in [1e-12, 0.999]",
    summary="True. T14.2 is loose: the loss leaves the interval with probability below rho/4. Algorithm 5 prints log(2/delta) "
    "for the log(1/delta) of T14.1: larger, and true as well (RW21-A5).",
    displays={
        ".1": cost_display(
            "epsilon_2 = " + _epsilon("1/delta"),
            [*over("scales and delta; no gradient at all", RATIOS, quick_every=9), search()],
        ),
        ".2": Display(
            printed=Form(
                "Pr[abs(L) <= " + _epsilon("2/rho") + "] >= 1 - rho",
                partial(ex_post, epsilon=EX_POST),
                [
                    *over("scales and rho", POSITIVE, quick_every=9),
                    At("rho near 1, where the bound is tightest", NEARLY),
                ],
            ),
            mutants={  # a failure of 0.24 rho is attained
                "failure at most 0.22 rho": Mutant(ex_post, NEARLY, severity=0.08, epsilon=EX_POST, failure=0.22),
                "epsilon cut by 10 %": Mutant(
                    ex_post,
                    {"norm": 1e3, "sigma": 1.0, "delta": 1e-6},
                    severity=0.1,
                    epsilon=partial(EX_POST, scale=0.9),
                ),
            },
        ),
    },
    figures=figures,
)
