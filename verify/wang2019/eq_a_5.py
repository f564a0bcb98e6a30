"""W19, proof of Proposition 4.4: the residual bound (A.5) and the arithmetic after it.

With ``K = d kappa`` and ``lambda_min(X^T X + lambda I) >= n/K`` the largest residual is ``1 + min(sqrt(K), K)``, attained in one
dimension together with the largest leverage K/n (docs/derivations/wang2019_section_4.md, A.5).
"""

from __future__ import annotations

import math

from flint import arb

from audits import Budget, Estimate
from mechanisms import Relation
from mechanisms.balls import Ball, enclose
from mechanisms.quadratic_profile import QuadraticProfile

from ..cases import adversarial, case, grid, mutant
from ..formal import FormalClaim, Version, version_name
from ..search import Axis, Point
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "W19-EA.5"
RESIDUAL, STEP, SHARES = f"{ID}#residual", f"{ID}#step", f"{ID}#shares"
NOTES = "docs/derivations/wang2019_section_4.md, A.5"
#: Room for equality, which balls cannot decide.
EQUAL = 1.0 + 1e-12


def largest_residual(k: float) -> float:
    """Return ``1 + min(sqrt(K), K)``."""
    return 1.0 + min(math.sqrt(k), k)


def step_bound(p: Point, *, tail: float = 2.0, scale: float = 1.0) -> float:
    """Return the corrected second line: the corrected (4.5) at leverage ``mu = K/n``; ``delta`` is the step's own share, delta/2."""
    mu, gamma, r, log = p["mu"], p["gamma"], largest_residual(p["K"]), tail * math.log(2.0 / p["delta"])
    return scale * (0.5 * mu * (1.0 + log) + 0.5 * gamma * mu * r * r + math.sqrt(gamma * mu * log) * r)


def step_printed(p: Point) -> float:
    """Return the second line as printed: ``mu/2`` under the root and ``sqrt(2 K)`` for the residual."""
    mu, gamma, k, log = p["mu"], p["gamma"], p["K"], math.log(2.0 / p["delta"])
    return 0.5 * mu * (1.0 + log) + gamma * mu * k + math.sqrt(gamma * mu * k * log)


CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(
        p["mu"] * p["leverage"], math.sqrt(p["gamma"]) * largest_residual(p["K"]) * p["r"]
    ),
    box={
        "mu": Axis(1e-6, 0.25),
        "K": Axis(1e-3, 1e4),
        "gamma": Axis(1e-6, 1e6),
        "leverage": Axis(1e-3, 1.0),
        "r": Axis(1e-3, 1.0),
        "delta": Axis(1e-12, 0.5),
    },
    versions={
        # where (A.5) itself holds, so that this display alone is at stake
        "printed": Version(step_printed, lambda p, epsilon: largest_residual(p["K"]) <= math.sqrt(2.0 * p["K"])),
        "corrected": Version(step_bound),
        "epsilon cut by 10 %": Version(lambda p: step_bound(p, scale=0.9)),
        "no 2 in the tail": Version(lambda p: step_bound(p, tail=1.0)),
    },
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == RESIDUAL:
        return _residual(case)
    if case.part == SHARES:
        return _shares(case)
    return CLAIM.check(case, budget)


def _residual(case: Case) -> Evidence:
    """Enclose ``1 + |theta_hat|`` of n equal rows, responses 1, over the stated bound."""
    k, fill, version = case.number("K"), case.number("fill"), version_name(case)

    def ratio() -> Ball:
        ball = arb(k)
        # in units of n: gram = fill * min(1, 1/K) of at most 1, ridge = what is missing to 1/K
        gram = arb(fill) * (1 / ball).min(arb(1))
        found = 1 + gram.sqrt() / (gram + (1 / ball - gram).max(arb(0)))
        true = 1 + ball.sqrt().min(ball)
        bound = (2 * ball).sqrt() if version == "printed" else true
        return found / (bound * arb(0.9) if version == "bound cut by 10 %" else bound)

    found = enclose(ratio)
    claim = Claim("residual approached over the stated bound", 0.0, EQUAL, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "closed form, ball arithmetic"))


def _shares(case: Case) -> Evidence:
    """Enclose the second line over epsilon/2 with kappa and gamma at given shares of their largest values."""
    epsilon, delta, kappa, gamma = (case.number(key) for key in ("epsilon", "delta", "kappa share", "gamma share"))

    def ratio() -> Ball:
        log, eps = (4 / arb(delta)).log(), arb(epsilon)
        mu = arb(kappa) * eps / (4 * (1 + log))
        scaled = arb(gamma) * (eps**2 / (16 * log)).min(eps / 8)  # gamma K^2/n
        return (mu * (1 + log) / 2 + scaled + (scaled * log).sqrt()) / (eps / 2)

    found = enclose(ratio)
    claim = Claim("second line over epsilon/2", 0.0, EQUAL, 1.0, relation=Relation.ADD, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    zero: dict[str, Value] = {"K": 0.125, "fill": 0.0}
    full: dict[str, Value] = {"K": 1.0, "fill": 1.0}
    spectra: dict[str, tuple[Value, ...]] = {"K": (1e-3, 0.125, 0.9, 1.0, 4.0, 1e4), "fill": (0.0, 0.01, 0.5, 1.0)}
    step: dict[str, Value] = {"mu": 0.01, "K": 8.0, "gamma": 1.0, "leverage": 1.0, "r": 1.0, "delta": 1e-6}
    large: dict[str, Value] = {"mu": 1e-6, "K": 1e4, "gamma": 1e6, "leverage": 1.0, "r": 1.0, "delta": 1e-12}
    steps: dict[str, tuple[Value, ...]] = {
        "mu": (1e-4, 0.01, 0.25),
        "K": (0.01, 1.0, 100.0),
        "gamma": (1e-3, 100.0),
        "leverage": (1.0, 0.3),
        "r": (1.0, 0.3),
        "delta": (0.1, 1e-9),
    }
    shares: dict[str, tuple[Value, ...]] = {
        "epsilon": (0.01, 1.0, 4.0, 30.0),
        "delta": (0.5, 1e-3, 1e-12),
        "kappa share": (1.0, 0.3),
        "gamma share": (1.0, 0.3),
    }
    # epsilon = 2 log(4/delta), where all three terms are at their shares at once
    equal: dict[str, Value] = {"epsilon": 2.0 * math.log(400.0), "delta": 0.01, "kappa share": 1.0, "gamma share": 1.0}
    return (
        case(RESIDUAL, printed, zero, role=Role.COUNTEREXAMPLE, regime="n = 10 records x = 0, d = 1, target y -> 1"),
        case(
            RESIDUAL,
            printed,
            full,
            role=Role.COUNTEREXAMPLE,
            regime="rows 1, responses -> 1, target opposite: 2 against 1.41",
        ),
        case(RESIDUAL, printed, {"K": 4.0, "fill": 1.0}, regime="d kappa below 5.83"),
        *grid(RESIDUAL, corrected, spectra, regime="spectra above the floor"),
        mutant(RESIDUAL, "bound cut by 10 %", full, severity=0.1),
        case(STEP, printed, step, role=Role.COUNTEREXAMPLE, regime="d = 1, kappa = 8, n = 800, gamma = 1"),
        adversarial(STEP, printed, quick=False),
        case(STEP, corrected, step, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(STEP, corrected, steps, regime="leverage, residual, gamma, delta", quick_every=17),
        adversarial(STEP, corrected, quick=False),
        mutant(STEP, "epsilon cut by 10 %", large, severity=0.1),
        mutant(STEP, "no 2 in the tail", step),
        case(SHARES, printed, equal, regime="all three terms at their largest"),
        *grid(SHARES, printed, shares, regime="budgets", quick_every=3),
        mutant(SHARES, "gamma 10 % larger", {**equal, "gamma share": 1.1}, severity=0.1),
        mutant(SHARES, "kappa 10 % larger", {**equal, "kappa share": 1.1}, severity=0.1),
    )


_R = "abs(y - x^T hat(theta))"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="equation",
    title="The residual bound and the loss of the posterior sample",
    locator="Proof of Proposition 4.4, equation (A.5) and the display after it",
    domain=(
        "||x|| <= 1, |y| <= 1, n records, lambda_min(X^T X + lambda_n I) >= n/(d kappa). Decided for d kappa in [1e-3, 1e4], leverage bound kappa d/n in "
        "[1e-6, 1/4], gamma in [1e-6, 1e6], delta in [1e-12, 0.5]"
    ),
    summary=(
        "(A.5) loses its 1 and fails for d kappa < 5.83 (it holds beyond, loosely); the largest residual is 1 + min(sqrt(d kappa), d kappa). The next "
        "line halves the leverage under its root and rests on Theorem 4.1's tail. The sum of shares is right, with equality at epsilon = 2 log(4/delta)."
    ),
    parts=(
        Part(
            RESIDUAL,
            "(A.5)",
            Formula(
                f"{_R} <= 1 + norm(hat(theta)) <= min sqrt(2 d kappa)",
                "|y - x'theta| <= 1 + ||theta|| <= min sqrt(2 d kappa)",
            ),
            Formula(
                f"{_R} <= 1 + norm(hat(theta)) <= 1 + min{{sqrt(d kappa), d kappa}}",
                "|y - x'theta| <= 1 + ||theta|| <= 1 + min(sqrt(d kappa), d kappa)",
            ),
            "The 1 is dropped in the last step (and a minimum of one thing is taken).",
            NOTES,
        ),
        Part(
            STEP,
            "the loss of the posterior sample",
            Formula(
                "tilde(epsilon) <= (kappa d (1 + log(4/delta)))/(2 n) + (gamma_n kappa d)/(2 n) 2 kappa d + sqrt((gamma_n kappa d)/(2 n) 2 kappa d log(4/delta))",
                "epsilon~ <= kappa d (1 + log(4/delta))/(2n) + (gamma kappa d/(2n)) 2 kappa d + sqrt((gamma kappa d/(2n)) 2 kappa d log(4/delta)), at delta/2",
            ),
            Formula(
                "tilde(epsilon) <= (kappa d (1 + 2 log(4/delta)))/(2 n) + (gamma_n kappa d)/(2 n) R^2 + sqrt((2 gamma_n kappa d)/n log(4/delta)) R, quad R = 1 + min{sqrt(d kappa), d kappa}",
                "epsilon~ <= kappa d (1 + 2 log(4/delta))/(2n) + (gamma kappa d/(2n)) R^2 + sqrt((2 gamma kappa d/n) log(4/delta)) R, R = 1 + min(sqrt(d kappa), d kappa), at delta/2",
            ),
            "Under the root kappa d/n has become kappa d/(2n), and the tail of Theorem 4.1 lacks its factor 2.",
            NOTES,
        ),
        Part(
            SHARES,
            "the sum of the three shares",
            Formula(
                "(kappa d (1 + log(4/delta)))/(2 n) + (gamma_n kappa d)/(2 n) 2 kappa d + sqrt((gamma_n kappa d)/(2 n) 2 kappa d log(4/delta)) <= epsilon/8 + epsilon/8 + epsilon/4 <= epsilon/2",
                "that line <= epsilon/8 + epsilon/8 + epsilon/4 <= epsilon/2, with Algorithm 1's kappa and gamma",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
