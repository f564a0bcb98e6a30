"""RW21, introduction: the accuracy of an optimal membership attack against epsilon = 2 and epsilon = 5.

Against pure epsilon-DP and equal priors, an attack has accuracy (1 + TV)/2 at most, and TV is at most
(e^epsilon - 1)/(e^epsilon + 1), attained by randomised response (docs/derivations/redberg_wang2021.md, introduction).
"""

from collections.abc import Callable
from functools import partial

from flint import arb

from audits import Estimate
from mechanisms.numerics.balls import Ball, enclose

from ..kit import At, Case, Claim, Evidence, Form, Mutant, Observer, statement


def _accuracy(case: Case, *, best: Callable[[Ball], Ball]) -> Evidence:
    """Enclose the best accuracy and compare it with the printed percentage, rounded as printed."""
    percent, half_digit = case.number("percent"), case.number("half digit")
    accuracy = enclose(lambda: 100 * best(arb(case.number("epsilon"))), low=50.0, high=100.0)
    words = "accuracy of the best membership attack, equal priors, in per cent"
    claim = Claim(words, percent - half_digit, percent + half_digit, percent, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(accuracy.low, accuracy.high, "closed form, ball arithmetic"))


TWO = {"epsilon": 2.0, "percent": 88.0, "half digit": 0.5}
FIVE = {"epsilon": 5.0, "percent": 99.3, "half digit": 0.05}

STATEMENT = statement(
    "RW21-I1",
    domain="Pure epsilon-DP (delta = 0), one pair of data sets, equal priors; epsilon = 2 and 5",
    summary="Both percentages are e^epsilon/(1 + e^epsilon), rounded: 88.08 % and 99.33 %.",
    title="two accuracies",
    printed=Form(
        'epsilon = 2: "88 %", quad epsilon = 5: "99.3 %"',
        partial(_accuracy, best=lambda epsilon: 1 / (1 + (-epsilon).exp())),
        [At("the two numbers", TWO), At("the two numbers", FIVE)],
    ),
    mutants={
        "total variation 1 - exp(-epsilon)": Mutant(_accuracy, TWO, best=lambda epsilon: 1 - (-epsilon).exp() / 2),
        "epsilon 2 % larger": Mutant(
            _accuracy, FIVE, severity=0.02, best=lambda epsilon: 1 / (1 + (-epsilon * 51 / 50).exp())
        ),
    },
)
