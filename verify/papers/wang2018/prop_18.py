"""W18, Proposition 18: closed forms for the balanced calibration.

Nothing bounds the last term of the calibration rule: where the ridge is small the sample's loss is unbounded. The error bound is
true (docs/derivations/wang2018_appendix_ef.md, section 7).
"""

import math
from functools import partial

import numpy as np

from audits import Budget, Estimate
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.laws import QuadraticProfile
from mechanisms.linear.ops_calibrations import PublishedOPSCalibration, proposition_18
from mechanisms.linear.posterior_sampling import PosteriorSampling

from ...methods.failure import counted, failure_evidence
from ..kit import Case, Display, Evidence, Form, Mutant, Observer, hockey_stick_evidence, over, smallest, statement
from .shared.ops_rules import structured, worst_of

RHO, CONSTANT = 0.05, 25.0
FITTED = "records (1/B, 1)"
DRAWS = (1_000, 5_000, 100_000)


def ridge(case: Case, *, floor: float) -> tuple[float, float]:
    """Return lambda, at least ``floor (1 + 2 log(2/delta))/epsilon``, and the printed gamma of it, at bounds 1."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    rule = PublishedOPSCalibration(epsilon, delta, case.whole("n"), case.whole("dim"), 1.0, case.number("Y"))
    log = math.log(2 / delta)
    lam = max(proposition_18(rule, norm=case.number("norm"), rho=RHO).lam, floor * (1 + 2 * log) / epsilon)
    return lam, epsilon**2 * lam / (4 * log * float(rule.lipschitz(lam)) ** 2)


def _privacy(case: Case, *, floor: float = 3.0, factor: float = 1.0) -> Evidence:
    """Decide (``factor`` epsilon, delta) on an exact law; with a floor claimed for epsilon up to log(2/delta)."""
    epsilon, delta = case.number("epsilon"), case.number("delta")
    lam, gamma = ridge(case, floor=floor)
    claimed, domain = factor * epsilon, floor == 0.0 or epsilon <= math.log(2 / delta)
    if case.text("data") == "records x = 0":
        residual = 0.0 if case.number("target y") == 0 else case.number("Y")
        profile = QuadraticProfile(1.0 / lam, math.sqrt(gamma) * residual)
        return hockey_stick_evidence(
            profile, claimed, delta, in_domain=domain, relation=Relation.ADD, observer=Observer.OUTPUT
        )
    mechanism = PosteriorSampling(gamma=gamma, lam=lam)
    pairs = [_fitted(case)] if case.text("data") == FITTED else structured(case, 1.0, case.number("Y"))
    return worst_of(mechanism, pairs, lambda pair: claimed, delta, in_domain=domain)


def _fitted(case: Case) -> NeighbouringPair:
    """Return n records (1/B, 1), whose least-squares solution has length B, and a target (1, y) that joins them."""
    n = case.whole("n")
    X = np.full((n, 1), 1.0 / case.number("norm"))
    return NeighbouringPair.add(Dataset(X, np.ones(n), 1.0, 1.0), np.ones(1), case.number("target y"))


def _error(case: Case, budget: Budget, *, power: float = 1 / 3, no_dimension: bool = False) -> Evidence:
    """Count errors above ``25 (d n log(2/delta) Y^2 |theta*|^4/epsilon^2)^(1/3)``; X^T X = (n/d) I, theta* flat, B = 1.

    n stands with its ``power``; the order may have ``no_dimension``.
    """
    n, dim = case.number("n"), case.whole("dim")
    lam, gamma = ridge(case, floor=0.0)
    norm, epsilon, log = case.number("norm"), case.number("epsilon"), math.log(2 / case.number("delta"))
    order = (dim * log * case.number("Y") ** 2 * norm**4 / epsilon**2) ** (1 / 3) * n**power
    if no_dimension:
        order /= dim ** (1 / 3)
    gram, theta = n / dim, np.full(dim, norm * dim**-0.5)
    centre = gram / (gram + lam) * theta

    def failing(size: int, rng: np.random.Generator) -> np.ndarray:
        sample = centre + rng.standard_normal((size, dim)) / math.sqrt(gamma * (gram + lam))
        return np.asarray(0.5 * gram * ((sample - theta) ** 2).sum(axis=1) > CONSTANT * order)

    sampled: Estimate = counted(failing, budget, floats_each=dim)
    return failure_evidence("error within 25 times its order", RHO, sampled=sampled, notes={"lambda": lam})


BASE = {
    "data": FITTED, "target y": 0.0, "epsilon": 1.0, "delta": 1e-6, "n": 1, "dim": 1, "Y": 1.0, "norm": 100.0,
}  # fmt: skip
BUDGETS = {
    "data": ("records x = 0",), "target y": (0.0, 1.0), "epsilon": (0.1, 1.0), "delta": (1e-2, 1e-6, 1e-12),
    "n": (1, 1000), "dim": (1, 50), "Y": (1.0,), "norm": (1e-2, 1.0, 1e4),
}  # fmt: skip
PAIRS = {
    "data": ("structured pairs",), "epsilon": (1.0,), "delta": (1e-2, 1e-9), "n": (2, 20), "dim": (1, 3), "Y": (1.0,), "norm": (1.0,),
}  # fmt: skip
ERRORS = {
    "epsilon": (0.1, 1.0), "delta": (1e-3, 1e-9), "n": (1000.0, 1e7), "dim": (1, 30), "Y": (0.1, 10.0), "norm": (0.1, 1.0, 10.0),
}  # fmt: skip
FIRST = smallest("one record (0.01, 1), so that B = |theta*| = 100; target (1, 0), lambda = 0.2", BASE)
SECOND = smallest("two records (1, 1), so that B = 1; target (1, -1)", BASE | {"target y": -1.0, "n": 2, "norm": 1.0})
ZERO = BASE | {"data": "records x = 0"}
PLAIN = {"epsilon": 1.0, "delta": 1e-3, "n": 1e13, "dim": 1, "Y": 1.0, "norm": 1.0}
_GAMMA = "gamma = (epsilon^2 lambda)/(4 log(2\\/delta) L(lambda)^2)"
_LAMBDA = "((C_1 (epsilon, delta, rho, d) norm(cal(X))^4 norm(cal(Y))^2 n)/B^2)^(1\\/3)"

STATEMENT = statement(
    "W18-P18",
    domain="|theta*| of the order of B, n public (for n of the set at hand see W18-F3), rho = 0.05 in C_1 and in the error. Decided for epsilon in "
    "[0.1, 10], delta in [1e-12, 1e-2], n <= 1000 (privacy) and n <= 1e7, d <= 30, O(.) with constant 25 (error)",
    summary="The promise fails where lambda is small: it tends to 0 as B grows or n falls, and the loss then grows without bound; for one record (0.01, 1), "
    "with |theta*| = B = 100, delta is 0.298 where 1e-6 is promised. A floor on lambda mends it and adds "
    "log(2/delta) B_x^2 |theta*|^2/epsilon to the error. The error bound holds for the printed lambda, and covers both regimes of L(lambda).",
    derivation="docs/derivations/wang2018_appendix_ef.md, section 7",
    displays={
        "#privacy": Display(
            "differential privacy",
            Form(f"{_GAMMA}, quad lambda = {_LAMBDA}", partial(_privacy, floor=0.0), [FIRST, SECOND]),
            Form(
                f"{_GAMMA}, quad lambda = max{{{_LAMBDA}, (3 (1 + 2 log(2\\/delta)) norm(cal(X))^2)/epsilon}}, quad epsilon <= log(2\\/delta),"
                ' quad n "a public bound"',
                _privacy,
                [
                    FIRST,
                    SECOND,
                    *over("budgets, sizes and norms, n public", BUDGETS, quick_every=13),
                    *over("structured pairs of data sets", PAIRS, quick_every=5),
                ],
            ),
            "The choice spends epsilon/2 on the first term of the rule and leaves the last, (1 + log(2/delta)) B_x^2/(2 lambda), unbounded.",
            {
                "floor 10 times smaller": Mutant(_privacy, ZERO | {"delta": 1e-12, "epsilon": 20.0}, floor=0.3),
                "epsilon halved": Mutant(
                    _privacy, ZERO | {"target y": 1.0, "norm": 1e-6, "n": 1, "delta": 1e-12}, factor=0.5
                ),
            },
        ),
        "#error": Display(
            "optimisation error",
            Form(
                "F(hat(theta)) - F(theta^*) <= O((d^(1\\/3) n^(1\\/3) log(2\\/delta)^(1\\/3) norm(cal(X))^(4\\/3) norm(cal(Y))^(2\\/3)"
                " norm(theta^*)^(4\\/3))/epsilon^(2\\/3))",
                _error,
                over("budgets, sizes and bounds", ERRORS, draws=DRAWS, quick_every=9),
            ),
            mutants={
                "power 1/5 of n": Mutant(_error, PLAIN, draws=DRAWS, severity=0.4, power=0.2),
                "no dimension": Mutant(
                    _error, PLAIN | {"n": 1e15, "dim": 100_000}, draws=(100, 100, 1_000), no_dimension=True
                ),
            },
        ),
    },
)
