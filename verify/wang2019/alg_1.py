"""W19, Algorithm 1: AdaOPS, and that its last step has a law to sample from.

With ``h = n/(d kappa)``, a released eigenvalue ``lambda_min + sigma Z`` and a shift b, the smallest eigenvalue of
``X^T X + lambda_n I`` is ``min(lambda_min, h + b - sigma Z)`` as printed and ``max(lambda_min, h + b - sigma Z)`` corrected: one normal
variable decides. Privacy is W19-P4.4.1, error W19-P4.4.2, the proof's events W19-EA.4.
"""

from __future__ import annotations

import numpy as np
from flint import arb

from audits import Budget, Estimate
from mechanisms.adaops_wang2019 import CorrectedRule2019, PublishedRule2019, Settings
from mechanisms.balls import Ball, enclose, ndtr_ball
from mechanisms.data import Dataset
from mechanisms.gaussian_calibration import upper_quantile

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Part, Role, Standing, Statement, Value

ID = "W19-ALG1"


def settings(case: Case) -> Settings:
    """Return the constants of a case's version for n records of one feature, bounds 1."""
    epsilon, delta, kappa, n = (
        case.number("epsilon"),
        case.number("delta"),
        case.number("kappa"),
        case.whole("n"),
    )
    data = Dataset(np.zeros((n, 1)), np.zeros(n), 1.0, 1.0)
    if case.standing is Standing.PRINTED:
        return PublishedRule2019(epsilon, delta, kappa).settings(data)
    return CorrectedRule2019(epsilon, delta, kappa, n).settings(data)


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose the probability that the posterior of step 3 is proper."""
    constants, smallest = settings(case), case.number("lambda_min")
    version, delta = version_name(case), case.number("delta")

    def positive() -> Ball:
        # P(h + b - sigma Z > 0)
        shift = arb(constants.floor) + arb(constants.slack)
        if version == "shift of 0.9 times the quantile at delta/2":
            shift = arb(constants.sigma) * quantile(delta / 2.0) * arb(0.9)
        above = ndtr_ball(shift / arb(constants.sigma))
        if version in ("printed", "minimum for maximum"):
            return above if smallest > 0 else arb(0)
        return arb(1) if smallest > 0 else above

    found = enclose(positive, low=0.0, high=1.0)
    level = 1.0 - delta / 2.0
    claim = Claim("probability that X'X + lambda I is positive definite", level, float("inf"), level)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "normal law, ball arithmetic"))


def quantile(probability: float) -> Ball:
    """Return the upper normal quantile as a float in a ball."""
    return arb(upper_quantile(probability))


def _cases() -> tuple[Case, ...]:
    zero: dict[str, Value] = {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.01, "lambda_min": 0.0}
    axes: dict[str, tuple[Value, ...]] = {
        "n": (1000,),
        "kappa": (0.1, 1.0, 4.0),
        "epsilon": (0.2, 1.0, 8.0),
        "delta": (1e-1, 1e-3, 1e-9),
        "lambda_min": (0.0, 0.5, 900.0),
    }
    return (
        case(ID, Standing.PRINTED, zero, role=Role.COUNTEREXAMPLE, regime="40 records x = 0: never a posterior"),
        case(ID, Standing.PRINTED, {**zero, "lambda_min": 40.0}, regime="40 records x = 1"),
        case(ID, Standing.CORRECTED, zero, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *(
            c
            for c in grid(ID, Standing.CORRECTED, axes, regime="budget, kappa, smallest eigenvalue", quick_every=7)
            if c.number("kappa") < 0.9 * largest_kappa(c)
        ),
        mutant(ID, "minimum for maximum", zero),
        mutant(ID, "shift of 0.9 times the quantile at delta/2", zero, severity=0.1),
    )


def largest_kappa(case: Case) -> float:
    """Return the end of the corrected domain in kappa."""
    return CorrectedRule2019(case.number("epsilon"), case.number("delta"), 1.0, case.whole("n")).largest_kappa(1)


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="algorithm",
    title="AdaOPS with a noisy smallest eigenvalue",
    locator="Algorithm 1, section 4.2",
    domain=(
        "||x|| <= 1, |y| <= 1, one record added or removed, kappa > 0 (the printed 0 divides by zero), delta in (0, 0.6]; implemented as "
        "printed and corrected in mechanisms.adaops_wang2019. Decided in one dimension, where only lambda_min matters"
    ),
    summary=(
        "As printed lambda_n is never positive: it takes regularisation away from well-conditioned data and gives none to the others, so that "
        "for X^T X singular there is no posterior to sample from at all. With the maximum for the minimum, and constants that follow from "
        "proved bounds (W19-EA.4, W19-P4.4.1), there is one with probability at least 1 - delta/2. n must be public."
    ),
    parts=(
        Part(
            ID,
            "step 3 has a law to sample from",
            Formula(
                'lambda_n = min{0, n/(d kappa) - tilde(lambda)_min + (log(4/delta))/(epsilon/2)}: quad X^T X + lambda_n I succ 0 "with probability" 1 - delta/2',
                "lambda = min(0, n/(d kappa) - released + log(4/delta)/(epsilon/2)): X'X + lambda I is positive definite with probability 1 - delta/2",
            ),
            Formula(
                'lambda_n = max{0, n/(d kappa) - tilde(lambda)_min + sigma Phi^(-1)(1 - delta/4) + 1}: quad X^T X + lambda_n I succ 0 "with probability" 1 - delta/2',
                "lambda = max(0, n/(d kappa) - released + sigma z + 1), z the normal quantile at 1 - delta/4: X'X + lambda I is positive definite with probability 1 - delta/2",
            ),
            "The minimum should be a maximum: the step is meant to add what the smallest eigenvalue lacks.",
            "docs/derivations/wang2018_adaops.md, section 4",
        ),
    ),
    cases=_cases(),
    check=check,
)
