"""W18, Theorem 2(ii): optimisation error of AdaOPS.

The second term lacks ||X||^2, and both lack a power of log(6/delta) that the proof's last displays have: for one
feature and n = log(6/delta) records the bias of the least possible ridge alone exceeds the printed rate without bound.
"""

import math
from functools import partial

import numpy as np
from flint import arb

from audits import Budget, Estimate
from audits.stats.coverage import audit_coverage
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.linear.adaops_wang2018 import AdaOPS2018, CorrectedRule2018
from mechanisms.numerics.balls import enclose, ndtr_ball

from ...kernel.declare import Display, Form, Mutant, over, smallest, statement
from ...methods.scaling import LOSS, rate
from ..kit import Case, Claim, Evidence, Measure, Observer, coverage_evidence

RHO = 0.1
NOTES = "docs/derivations/wang2018_rates.md"


def _bias(case: Case) -> Evidence:
    """Bound from below the probability that the error exceeds ``constant`` times the printed rate.

    One feature, epsilon = 1, n = log(6/delta) equal records (1, 1), bounds 1: alpha = 1 and units play no part.
    """
    log, constant = case.number("log"), case.number("constant")
    printed_log, n = log - math.log(6), log
    widened = (1 + math.log(1 / RHO)) * printed_log
    rate = min(math.sqrt(widened), widened / n)
    ridge = (1 + log) / 2  # t_min where the released eigenvalue is 0
    error = 0.5 * n * (ridge / (n + ridge)) ** 2
    # the released eigenvalue is 0 unless Z exceeds 3 sqrt(log)/4; the sample's noise points away half of the time
    probability = enclose(lambda: ndtr_ball(3 * arb(log).sqrt() / 4) / 2).low
    low = probability if error * (1 - 1e-9) > constant * rate else 0.0
    quantity = "probability that the error exceeds the constant times the printed rate"
    claim = Claim(quantity, 0.0, RHO, RHO, observer=Observer.OUTPUT, measure=Measure.FAILURE)
    notes = {"error at least": error, "printed rate": rate}
    return Evidence(claim, exact=Estimate.proved(low, 1.0, "closed form"), notes=notes)


def _coverage(case: Case, budget: Budget, *, constant: float, square: bool = True) -> Evidence:
    """Draw the corrected AdaOPS on equal rows along the axes and count how often its error stays below the rate.

    The rate has ``constant`` in front, and log(6/delta)^2 in it if ``square``.
    """
    dim, copies, bound = case.whole("dim"), case.whole("copies"), case.number("bound")
    epsilon, delta, rho = case.number("epsilon"), case.number("delta"), case.number("rho")
    lengths = {
        "flat": np.ones(dim),
        "one small": np.r_[0.1, np.ones(dim - 1)],
        "deficient": np.r_[np.zeros(dim - 1), 1.0],
    }[case.text("spectrum")]
    X = np.repeat(np.diag(lengths) * bound, copies, axis=0)
    theta = np.zeros(dim)
    theta[np.flatnonzero(lengths)[0]] = 1.0 / bound
    data = Dataset(X, X @ theta, bound, 1.0)
    mechanism = AdaOPS2018(CorrectedRule2018(epsilon, delta))
    log = math.log(6 / delta)
    size = (dim + math.log(1 / rho)) * log + (log**2 if square else 0.0)
    smallest = float((lengths**2).min()) * copies  # over the square of the bound, as is the norm of theta
    rate = min(math.sqrt(size) / epsilon, size / (smallest * epsilon**2) if smallest > 0 else math.inf)

    def covered(n: int, rng: np.random.Generator) -> FloatArray:
        gap = mechanism.output(mechanism.draw(data, n, rng=rng), dim) - theta
        return np.asarray(0.5 * np.square(gap * lengths * bound).sum(axis=1) * copies <= constant * rate)

    return coverage_evidence(
        "probability that the error is below the constant times the corrected rate",
        1.0 - rho - delta,
        sampled=audit_coverage(covered, budget).joint,
        conditioned_on="X and y",
        notes={"rate": rate},
    )


SEQUENCE = ((100.0, 1.0), (1e3, 10.0), (1e4, 100.0), (1e5, 1e3), (1e6, 1e4))
DRAWS = (1_500, 3_000, 20_000)
SPECTRA = {
    "dim": (1, 3), "copies": (1, 30, 200, 2_000), "bound": (1.0,), "epsilon": (1.0,), "delta": (0.1, 1e-12),
    "rho": (0.3, 0.02), "spectrum": ("flat", "one small", "deficient"),
}  # fmt: skip
TIGHT = {"dim": 3, "copies": 200, "bound": 1.0, "epsilon": 1.0, "delta": 1e-6, "rho": 0.1, "spectrum": "flat"}
SCALED = {name: (value,) for name, value in TIGHT.items()} | {"bound": (0.01, 4.0, 100.0), "epsilon": (0.1, 1.0)}
_ROOT = "d^1/2 X^2 theta^2 epsilon^-1 log^1/2"

STATEMENT = statement(
    "W18-TH2ii",
    domain="||Y|| <= C ||X|| ||theta*||; every epsilon > 0, delta, rho in (0, 1). Corrected: epsilon <= 1, the corrected AdaOPS; decided for "
    "d in {1, 3}, up to 6,000 records, delta in [1e-12, 0.1], rho in [0.02, 0.3]",
    summary="Two slips: the second term lacks ||X||^2, and log(1/delta) must be joined by log(6/delta)^2 under both terms, as at the end of the proof; "
    "without it the ratio grows like log(1/delta) (one feature, n = log(6/delta)). The corrected rate is decided with the "
    "constant 100; 32 is too small. The probability is 1 - rho - delta: the released quantities fail with probability of order delta, whatever rho. For epsilon above 1 the "
    "temperature grows like epsilon, not its square.",
    derivation=f"{NOTES}, section 8",
    displays={
        "#units": rate(
            "units of both terms",
            LOSS,
            "(sqrt(d + log(1/rho)) norm(cal(X))^2 norm(theta^*)^2)/(epsilon/sqrt(log(1/delta))) and (d [d + log(1/rho)] norm(theta^*)^2)/(alpha n epsilon^2/log(1/delta))",
            "d^2 theta^2 alpha^-1 n^-1 epsilon^-2 log",
            _ROOT,
            corrected=(
                '"second term" (d [d + log(1/rho)] norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2/log(1/delta))',
                "d^2 X^2 theta^2 alpha^-1 n^-1 epsilon^-2 log",
                _ROOT,
            ),
            wrong="The square of the features' bound is missing in the second term; the proof divides by lambda_min = alpha n ||X||^2/d.",
            derivation=f"{NOTES}, section 3",
        ),
        "#rate": Display(
            "optimisation error with probability 1 - rho",
            Form(
                "F(tilde(theta)) - F(theta^*) <= O((sqrt(d + log(1/rho)) norm(cal(X))^2 norm(theta^*)^2)/(epsilon/sqrt(log(1/delta))) and"
                " (d [d + log(1/rho)] norm(theta^*)^2)/(alpha n epsilon^2/log(1/delta)))",
                _bias,
                [smallest("sequence in delta", {"log": log, "constant": constant}) for log, constant in SEQUENCE],
            ),
            Form(
                "F(tilde(theta)) - F(theta^*) <= O((sqrt(k) norm(cal(X))^2 norm(theta^*)^2)/epsilon and (d k norm(cal(X))^2 norm(theta^*)^2)/(alpha n epsilon^2)),"
                ' quad k = (d + log(1/rho)) log(6/delta) + log(6/delta)^2, quad "with probability" 1 - rho - delta, quad epsilon <= 1',
                partial(_coverage, constant=100.0),
                [
                    *over("spectra, delta, rho", SPECTRA, draws=DRAWS, quick_every=37),
                    *over("bounds and epsilon", SCALED, draws=DRAWS, quick_every=5),
                ],
            ),
            "The square of log(6/delta) that the proof arrives at is lost in the theorem; t_min alone makes the bias of that order.",
            {
                "constant 32": Mutant(_coverage, TIGHT, severity=0.11, draws=(10_000, 20_000, 60_000), constant=32.0),
                "no square of the logarithm": Mutant(
                    _coverage, TIGHT | {"dim": 1, "delta": 1e-12}, draws=DRAWS, constant=100.0, square=False
                ),
            },
        ),
    },
)
