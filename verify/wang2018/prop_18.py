"""W18, Proposition 18: closed forms for the balanced calibration.

Nothing bounds the last term of the calibration rule: where the ridge is small the sample is not private at all. The error bound is
true (docs/derivations/wang2018_appendix_ef.md, section 7).
"""

from __future__ import annotations

import math

import numpy as np

from audits import Budget, Estimate
from audits.worst_case import adversarial_pairs
from mechanisms.neighbours import Relation
from mechanisms.ops_calibrations import PublishedOPSCalibration, proposition_18
from mechanisms.posterior_sampling import PosteriorSampling
from mechanisms.profiles import QuadraticProfile

from ..cases import case, grid, mutant
from ..evidence import hockey_stick_evidence
from ..formal import version_name
from ..search import excess
from ..statement import Case, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from .failure import counted, failure_evidence

ID = "W18-P18"
PRIVACY, ERROR = f"{ID}#privacy", f"{ID}#error"
RHO, CONSTANT = 0.05, 25.0
DRAWS = (1_000, 5_000, 100_000)


def ridge(case: Case, version: str) -> tuple[float, float]:
    """Return lambda and gamma at bounds 1; corrected: lambda at least 3 (1 + 2 log(2/delta))/epsilon, the same gamma of it."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    rule = PublishedOPSCalibration(epsilon, delta, case.whole("n"), case.whole("dim"), 1.0, case.number("Y"))
    lam = proposition_18(rule, norm=case.number("norm"), rho=RHO).lam
    log = math.log(2 / delta)
    floor = {"printed": 0.0, "floor 10 times smaller": 0.3}.get(version, 3.0)
    lam = max(lam, floor * (1 + 2 * log) / epsilon)
    return lam, epsilon**2 * lam / (4 * log * float(rule.lipschitz(lam)) ** 2)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the promise on an exact law, or count how often the error is above 25 times its order."""
    return _privacy(case) if case.part == PRIVACY else _error(case, budget)


def _privacy(case: Case) -> Evidence:
    version, epsilon, delta = version_name(case), case.number("epsilon"), case.number("delta")
    lam, gamma = ridge(case, version)
    claimed = 0.5 * epsilon if version == "epsilon halved" else epsilon
    domain = version == "printed" or epsilon <= math.log(2 / delta)
    if case.text("data") == "records x = 0":
        residual = 0.0 if case.number("target y") == 0 else case.number("Y")
        profile = QuadraticProfile(1.0 / lam, math.sqrt(gamma) * residual)
        return hockey_stick_evidence(
            profile, claimed, delta, in_domain=domain, relation=Relation.ADD, observer=Observer.OUTPUT
        )
    mechanism = PosteriorSampling(gamma=gamma, lam=lam)
    pairs = [
        each.pair
        for each in adversarial_pairs(case.whole("n"), case.whole("dim"), x_bound=1.0, y_bound=case.number("Y"))
    ]
    worst, relation = max(
        ((mechanism.profile(pair), pair.relation) for pair in pairs), key=lambda each: excess(each[0], claimed, delta)
    )
    return hockey_stick_evidence(worst, claimed, delta, in_domain=domain, relation=relation, observer=Observer.OUTPUT)


def _error(case: Case, budget: Budget) -> Evidence:
    """Count errors above ``25 (d n log(2/delta) Y^2 |theta*|^4/epsilon^2)^(1/3)``; X^T X = (n/d) I, theta* flat, B = 1."""
    version, n, dim = version_name(case), case.number("n"), case.whole("dim")
    lam, gamma = ridge(case, "printed")
    norm, epsilon, log = case.number("norm"), case.number("epsilon"), math.log(2 / case.number("delta"))
    power = 0.2 if version == "power 1/5 of n" else 1 / 3
    order = (dim * log * case.number("Y") ** 2 * norm**4 / epsilon**2) ** (1 / 3) * n**power
    if version == "no dimension":
        order /= dim ** (1 / 3)
    gram, theta = n / dim, np.full(dim, norm * dim**-0.5)
    centre = gram / (gram + lam) * theta

    def failing(size: int, rng: np.random.Generator) -> np.ndarray:
        sample = centre + rng.standard_normal((size, dim)) / math.sqrt(gamma * (gram + lam))
        return np.asarray(0.5 * gram * ((sample - theta) ** 2).sum(axis=1) > CONSTANT * order)

    sampled: Estimate = counted(failing, budget, floats_each=dim)
    return failure_evidence("error within 25 times its order", RHO, sampled=sampled, notes={"lambda": lam})


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    counter = Role.COUNTEREXAMPLE
    base: dict[str, Value] = {
        "data": "records x = 0", "target y": 0.0, "epsilon": 1.0, "delta": 1e-6, "n": 1, "dim": 1, "Y": 1.0, "norm": 100.0,
    }  # fmt: skip
    axes: dict[str, tuple[Value, ...]] = {
        "data": ("records x = 0",), "target y": (0.0, 1.0), "epsilon": (0.1, 1.0), "delta": (1e-2, 1e-6, 1e-12),
        "n": (1, 1000), "dim": (1, 50), "Y": (1.0,), "norm": (1e-2, 1.0, 1e4),
    }  # fmt: skip
    pairs: dict[str, tuple[Value, ...]] = {
        "data": ("structured pairs",), "epsilon": (1.0,), "delta": (1e-2, 1e-9), "n": (2, 20), "dim": (1, 3), "Y": (1.0,), "norm": (1.0,),
    }  # fmt: skip
    errors: dict[str, tuple[Value, ...]] = {
        "epsilon": (0.1, 1.0), "delta": (1e-3, 1e-9), "n": (1000.0, 1e7), "dim": (1, 30), "Y": (0.1, 10.0), "norm": (0.1, 1.0, 10.0),
    }  # fmt: skip
    words = "one record x = 0, target (1, 0), d = 1, |theta*| about 100: lambda = 0.2"
    plain: dict[str, Value] = {"epsilon": 1.0, "delta": 1e-3, "n": 1e13, "dim": 1, "Y": 1.0, "norm": 1.0}
    return (
        case(PRIVACY, printed, base, role=counter, regime=words),
        case(PRIVACY, printed, base | {"norm": 1.0, "n": 10, "epsilon": 10.0}, regime="|theta*| about 1, epsilon = 10"),
        case(PRIVACY, corrected, base, role=counter, regime=words),
        *grid(PRIVACY, corrected, axes, regime="budgets, sizes and norms, n public", quick_every=13),
        *grid(PRIVACY, corrected, pairs, regime="structured pairs of data sets", quick_every=5),
        mutant(PRIVACY, "floor 10 times smaller", base | {"delta": 1e-12, "epsilon": 20.0}),
        mutant(PRIVACY, "epsilon halved", base | {"target y": 1.0, "norm": 1e-6, "n": 1, "delta": 1e-12}),
        *grid(ERROR, printed, errors, regime="budgets, sizes and bounds", draws=DRAWS, quick_every=9),
        mutant(ERROR, "power 1/5 of n", plain, draws=DRAWS, severity=0.4),
        mutant(ERROR, "no dimension", plain | {"n": 1e15, "dim": 100_000}, draws=(100, 100, 1_000)),
    )


_GAMMA = "gamma = (epsilon^2 lambda)/(4 log(2\\/delta) L(lambda)^2)"
_LAMBDA = "((C_1 (epsilon, delta, rho, d) norm(cal(X))^4 norm(cal(Y))^2 n)/B^2)^(1\\/3)"
_LAMBDA_TEXT = "(C_1 B_x^4 Y^2 n/B^2)^(1/3)"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="proposition",
    title="Closed forms for the balanced calibration",
    locator="Proposition 18, appendix F",
    domain=(
        "|theta*| of the order of B, n public (for n of the set at hand see W18-F3), rho = 0.05 in C_1 and in the error. Decided for epsilon in "
        "[0.1, 10], delta in [1e-12, 1e-2], n <= 1000 (privacy) and n <= 1e7, d <= 30, O(.) with constant 25 (error)"
    ),
    summary=(
        "Privacy fails: lambda tends to 0 as B grows or n falls, and with it all protection of the design. A floor on lambda mends it and adds "
        "log(2/delta) B_x^2 |theta*|^2/epsilon to the error. The error bound holds for the printed lambda, and covers both regimes of L(lambda)."
    ),
    parts=(
        Part(
            PRIVACY,
            "differential privacy",
            Formula(
                f"{_GAMMA}, quad lambda = {_LAMBDA}",
                f"gamma = epsilon^2 lambda/(4 log(2/delta) L(lambda)^2), lambda = {_LAMBDA_TEXT}",
            ),
            Formula(
                f"{_GAMMA}, quad lambda = max{{{_LAMBDA}, (3 (1 + 2 log(2\\/delta)) norm(cal(X))^2)/epsilon}}, quad epsilon <= log(2\\/delta)",
                f"the same gamma, lambda = max({_LAMBDA_TEXT}, 3 (1 + 2 log(2/delta)) B_x^2/epsilon), epsilon <= log(2/delta), n a public bound",
            ),
            "The choice spends epsilon/2 on the first term of the rule and leaves the last, (1 + log(2/delta)) B_x^2/(2 lambda), unbounded.",
            "docs/derivations/wang2018_appendix_ef.md, section 7",
        ),
        Part(
            ERROR,
            "optimisation error",
            Formula(
                "F(hat(theta)) - F(theta^*) <= O((d^(1\\/3) n^(1\\/3) log(2\\/delta)^(1\\/3) norm(cal(X))^(4\\/3) norm(cal(Y))^(2\\/3)"
                " norm(theta^*)^(4\\/3))/epsilon^(2\\/3))",
                "F(theta) - F(theta*) <= O(d^(1/3) n^(1/3) log(2/delta)^(1/3) B_x^(4/3) Y^(2/3) ||theta*||^(4/3)/epsilon^(2/3))",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
