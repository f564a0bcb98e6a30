"""RW21, introduction: the accuracy of an optimal membership attack against epsilon = 2 and epsilon = 5.

Against pure epsilon-DP and equal priors, an attack has accuracy (1 + TV)/2 at most, and TV is at most
(e^epsilon - 1)/(e^epsilon + 1), attained by randomised response (docs/derivations/redberg_wang2021.md, introduction).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import enclose

from ..cases import case, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement

ID = "RW21-I1"

#: Every version: the best accuracy as a function of epsilon (balls).
VERSIONS: dict[str, Callable[[Any], Any]] = {
    "printed": lambda epsilon: 1 / (1 + (-epsilon).exp()),
    "total variation 1 - exp(-epsilon)": lambda epsilon: 1 - (-epsilon).exp() / 2,
    "epsilon 2 % larger": lambda epsilon: 1 / (1 + (-epsilon * 51 / 50).exp()),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose the best accuracy and compare it with the printed percentage, rounded as printed."""
    epsilon, percent, half_digit = case.number("epsilon"), case.number("percent"), case.number("half digit")
    accuracy = enclose(lambda: 100 * VERSIONS[version_name(case)](arb(epsilon)), low=50.0, high=100.0)
    claim = Claim(
        "accuracy of the best membership attack, equal priors, in per cent",
        percent - half_digit,
        percent + half_digit,
        percent,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=Estimate.proved(accuracy.low, accuracy.high, "closed form, ball arithmetic"))


_NUMBERS = ({"epsilon": 2.0, "percent": 88.0, "half digit": 0.5}, {"epsilon": 5.0, "percent": 99.3, "half digit": 0.05})

STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="number",
    title="Accuracy of an optimal membership attack",
    locator="Section 1, third paragraph",
    domain="Pure epsilon-DP (delta = 0), one pair of data sets, equal priors; epsilon = 2 and 5",
    summary="Both percentages are e^epsilon/(1 + e^epsilon), rounded: 88.08 % and 99.33 %.",
    parts=(
        Part(
            ID,
            "two accuracies",
            Formula('epsilon = 2: "88 %", quad epsilon = 5: "99.3 %"', "88 % at epsilon = 2, 99.3 % at epsilon = 5"),
        ),
    ),
    cases=(
        *(case(ID, Standing.PRINTED, numbers, regime="the two numbers") for numbers in _NUMBERS),
        mutant(ID, "total variation 1 - exp(-epsilon)", _NUMBERS[0]),
        mutant(ID, "epsilon 2 % larger", _NUMBERS[1], severity=0.02),
    ),
    check=check,
)
