"""W19, Algorithm 1: AdaOPS, and that its last step has a law to sample from.

With ``h = n/(d kappa)``, a released eigenvalue ``lambda_min + sigma Z`` and a shift b, the smallest eigenvalue of
``X^T X + lambda_n I`` is ``min(lambda_min, h + b - sigma Z)`` as printed and ``max(lambda_min, h + b - sigma Z)`` corrected: one normal
variable decides. Privacy is W19-P4.4.1, error W19-P4.4.2, the proof's events W19-EA.4.
"""

import math

from flint import arb

from mechanisms.laws.gaussian_calibration import upper_quantile
from mechanisms.linear.adaops_wang2019 import CorrectedRule2019, Rule2019
from mechanisms.numerics.balls import Ball, ndtr_ball

from ...methods.enclosed import enclosed
from ..kit import At, Case, Evidence, Form, Mutant, Observer, over, refuting, smallest, statement
from .shared.adaops_rules import corrected_rule, published_rule, zero_records


def _proper(case: Case, rule: Rule2019, *, maximum: bool, share: float | None = None) -> Evidence:
    """Enclose the probability that the posterior of step 3 is proper, for n records of one feature, bounds 1.

    ``maximum``: the ridge is cut at 0 from below; ``share``: the whole shift is that share of the quantile at delta/2.
    """
    n, delta, smallest = case.whole("n"), case.number("delta"), case.number("lambda_min")
    constants = rule.settings(zero_records(n, 1))

    def positive() -> Ball:
        # P(h + b - sigma Z > 0)
        shift = arb(constants.floor) + arb(constants.slack)
        if share is not None:
            shift = arb(constants.sigma) * arb(upper_quantile(delta / 2.0)) * arb(share)
        above = ndtr_ball(shift / arb(constants.sigma))
        if maximum:
            return arb(1) if smallest > 0 else above
        return above if smallest > 0 else arb(0)

    return enclosed(
        "probability that X'X + lambda I is positive definite",
        positive,
        1.0 - delta / 2.0,
        math.inf,
        1.0 - delta / 2.0,
        method="normal law, ball arithmetic",
        probability=True,
        observer=Observer.TRANSCRIPT,
    )


def _corrected(case: Case, *, maximum: bool = True, share: float | None = None) -> Evidence:
    return _proper(case, corrected_rule(case), maximum=maximum, share=share)


ZERO = {"n": 40, "kappa": 1.0, "epsilon": 1.0, "delta": 0.01, "lambda_min": 0.0}
AXES = {
    "n": (1000,), "kappa": (0.1, 1.0, 4.0), "epsilon": (0.2, 1.0, 8.0), "delta": (1e-1, 1e-3, 1e-9),
    "lambda_min": (0.0, 0.5, 900.0),
}  # fmt: skip


def _inside(at: At) -> bool:
    """Return whether a case is well inside the corrected domain in kappa."""
    rule = CorrectedRule2019(at.params["epsilon"], at.params["delta"], 1.0, at.params["n"])
    return bool(at.params["kappa"] < 0.9 * rule.largest_kappa(1))


RIDGE = "lambda_n = {cut}{{0, n/(d kappa) - tilde(lambda)_min + {shift}}}: "
PROPER = 'quad X^T X + lambda_n I succ 0 "with probability" 1 - delta/2'

STATEMENT = statement(
    "W19-ALG1",
    domain="||x|| <= 1, |y| <= 1, one record added or removed, kappa > 0 (the printed 0 divides by zero), delta in (0, 0.6]; implemented as "
    "printed and corrected in mechanisms.linear.adaops_wang2019. Decided in one dimension, where only lambda_min matters",
    summary="A misprint: min for max. The step is there to add what the smallest eigenvalue lacks, and the proof of Proposition 4.4 uses the "
    "maximum; word for word lambda_n is never positive, and for X^T X singular there is no posterior. With the maximum, and constants that "
    "follow from proved bounds (W19-EA.4, W19-P4.4.1), there is one with probability at least 1 - delta/2. n must be public.",
    derivation="docs/derivations/wang2018_adaops.md, section 4",
    title="step 3 has a law to sample from",
    printed=Form(
        RIDGE.format(cut="min", shift="(log(4/delta))/(epsilon/2)") + PROPER,
        lambda case: _proper(case, published_rule(case), maximum=False),
        [smallest("40 records x = 0: never a posterior", ZERO), At("40 records x = 1", ZERO | {"lambda_min": 40.0})],
    ),
    corrected=Form(
        RIDGE.format(cut="max", shift="sigma Phi^(-1)(1 - delta/4) + 1") + PROPER,
        _corrected,
        [refuting(ZERO), *filter(_inside, over("budget, kappa, smallest eigenvalue", AXES, quick_every=7))],
    ),
    wrong="A misprint: the minimum should be a maximum, as the proof has it; the step is meant to add what the smallest eigenvalue lacks.",
    mutants={
        "minimum for maximum": Mutant(_corrected, ZERO, maximum=False),
        "shift of 0.9 times the quantile at delta/2": Mutant(_corrected, ZERO, severity=0.1, share=0.9),
    },
)
