"""RW21, Corollary 23: the Gaussian mechanism's epsilon from the normal quantile, in advance and ex post.

With ``mu = ||Delta||/sigma`` the loss is N(mu^2/2, mu^2) under both data sets, so ``P(L > mu^2/2 + mu z_delta) = delta``.
"""

from __future__ import annotations

from scipy.special import ndtri

from audits import Budget
from mechanisms.profiles import GaussianProfile

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version, numbers, version_name
from ..search import Axis, Point
from ..statement import Case, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .gaussian_costs import DELTAS, epsilon_tail, ex_post_evidence

ID = "RW21-C23"
PDP, EX_POST, WEAKER = f"{ID}.1", f"{ID}.2", f"{ID}#weaker"


def epsilon_quantile(p: Point, *, share: float = 1.0, scale: float = 1.0) -> float:
    """Return ``scale (mu^2/2 + mu Phi^{-1}(1 - share delta))``."""
    mu = p["norm"] / p["sigma"]
    return scale * (0.5 * mu * mu - mu * float(ndtri(share * p["delta"])))


CLAIM = FormalClaim(
    profile=lambda p: GaussianProfile(p["norm"] / p["sigma"]),
    box={"norm": Axis(1e-3, 1e3), "sigma": Axis(1e-2, 1e2), "delta": Axis(1e-12, 0.499)},
    versions={
        "printed": Version(epsilon_quantile),
        "epsilon cut by 5 %": Version(lambda p: epsilon_quantile(p, scale=0.95)),
        "quantile at 1 - 2 delta": Version(lambda p: epsilon_quantile(p, share=2.0)),
    },
    observer=Observer.OUTPUT,
)
#: Share of rho that the quantile of C23.2 leaves on one side, and the multiple of rho that may fail.
EX_POST_VERSIONS = {"printed": (0.5, 1.0), "one-sided quantile": (1.0, 1.0), "failure at most 0.95 rho": (0.5, 0.95)}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == PDP:
        return CLAIM.check(case, budget)
    p, version = numbers(case), version_name(case)
    if case.part == WEAKER:
        scale = 0.9 if version == "epsilon cut by 10 %" else 1.0
        return ex_post_evidence(p, epsilon_tail(p, constant=2.0, scale=scale), 1.0 - p["delta"])
    share, allowed = EX_POST_VERSIONS[version]
    return ex_post_evidence(p, epsilon_quantile(p, share=share), 1.0 - allowed * p["delta"])


def _cases() -> tuple[Case, ...]:
    printed = Standing.PRINTED
    ratios: dict[str, tuple[Value, ...]] = {"norm": (1e-2, 0.1, 1.0, 30.0), "sigma": (0.5, 20.0), "delta": DELTAS[:-1]}
    far: dict[str, Value] = {"norm": 1e3, "sigma": 1.0, "delta": 1e-6}
    small: dict[str, Value] = {"norm": 1e-3, "sigma": 100.0, "delta": 0.1}
    return (
        *grid(
            PDP,
            printed,
            ratios | {"delta": (0.4, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)},
            regime="scales and delta",
            quick_every=7,
        ),
        case(PDP, printed, {"norm": 3.0, "sigma": 1.0, "delta": 0.9}, regime="delta above 1/2"),
        adversarial(PDP, printed),
        mutant(PDP, "epsilon cut by 5 %", severity=0.05),
        mutant(PDP, "quantile at 1 - 2 delta"),
        *grid(EX_POST, printed, ratios, regime="scales and rho", quick_every=7),
        mutant(EX_POST, "one-sided quantile", small),
        mutant(EX_POST, "failure at most 0.95 rho", small, severity=0.05),
        *grid(WEAKER, printed, ratios, regime="scales and rho", quick_every=7),
        mutant(WEAKER, "epsilon cut by 10 %", far, severity=0.1),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="corollary",
    title="Gaussian mechanism by the normal quantile",
    locator="Supplement F, Corollary 23, equation (5)",
    domain="Gaussian noise sigma on a statistic that changes by Delta, both directions, delta and rho in (0, 1). Decided for ||Delta||/sigma in [1e-5, 1e5], delta in [1e-12, 0.9], rho in [1e-9, 0.5]",
    summary=(
        "True. C23.1 prints its two members identically; the second was presumably meant with sqrt(2 log(1/delta)). The first "
        "is tight for large ||Delta||/sigma, the quantile of C23.2 for small ones."
    ),
    parts=(
        Part(
            PDP,
            "per-instance privacy",
            Formula(
                "epsilon <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) Phi^(-1)(1 - delta))/sigma",
                "epsilon <= ||Delta||^2/(2 sigma^2) + ||Delta|| Phi^-1(1 - delta)/sigma",
            ),
        ),
        Part(
            EX_POST,
            "ex-post loss, with probability 1 - rho",
            Formula(
                "epsilon(o) <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) Phi^(-1)(1 - rho/2))/sigma",
                "epsilon(o) <= ||Delta||^2/(2 sigma^2) + ||Delta|| Phi^-1(1 - rho/2)/sigma with probability 1 - rho",
            ),
        ),
        Part(
            WEAKER,
            "the second member, (5)",
            Formula(
                "epsilon(o) <= norm(Delta_z)^2/(2 sigma^2) + (norm(Delta_z) sqrt(2 log(2/rho)))/sigma",
                "epsilon(o) <= ||Delta||^2/(2 sigma^2) + ||Delta|| sqrt(2 log(2/rho))/sigma with probability 1 - rho",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
