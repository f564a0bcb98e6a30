"""W18, Algorithm 1: AdaOPS, its units, the bracket of (8), and that (7) has one solution.

Its privacy is decided in W18-TH2i, its error in TH2ii and TH2iii.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.rational import equal
from ...methods.scaling import EIGENVALUE, LOSS, rate
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, smallest, statement


def _of_the_proof(log: Fraction) -> Fraction:
    """Return the bracket of (8) as the proof of theorem 2(ii) has it, 1/log + (1 + log)/log."""
    return (2 + log) / log


def _bracket(case: Case, *, stated: Callable[[Fraction], Fraction]) -> Evidence:
    log = Fraction(case.number("log"))
    return equal("bracket over that of the proof of theorem 2(ii)", stated(log), _of_the_proof(log))


def _unique(case: Case, *, sign: int = 1) -> Evidence:
    """Prove on a box that the first term of (7) is log-convex, hence convex, so that (7) is strictly convex.

    ``sign`` is that of the exponent 2 C_2; v = (t + released)/||X||^2.
    """
    return on_box(
        "v^2 times the second derivative of the logarithm",
        lambda p: 1 + sign * 2 * p["C2"] * (1 + 2 * p["v"]) / ((1 + p["v"]) * (1 + p["v"])),
        {"v": Axis(1e-6, 1e6), "C2": Axis(1e-3, 1e6)},
    )


SMALLEST = smallest("log(6/delta) = 2", {"log": 2.0})
BRACKETS = [SMALLEST, *over("delta", {"log": (4.0, 8.5, 29.0)})]
SUM = "tilde(epsilon)^2/2 [1/(log(6/delta)) + (1 + log(6/delta))/(log(6/delta))] + tilde(epsilon) - epsilon/2 = 0"
A_TENTH = {
    "a tenth more": Mutant(_bracket, {"log": 2.0}, 0.1, stated=lambda log: Fraction(11, 10) * _of_the_proof(log))
}

STATEMENT = statement(
    "W18-A1",
    derivation="docs/derivations/wang2018_adaops.md, section 1",
    domain="One row added or removed, bounds public; epsilon > 0, delta in (0, 1); implemented as printed and corrected in mechanisms.linear.adaops_wang2018",
    summary="Step 2 lacks ||X||^2, so the algorithm changes with the unit of the features. In (8) two fractions stand side by side in our copy; the "
    "paper's own proof adds them, so a plus sign is most likely lost. (7) does have one solution: in closed form lambda + released = max(u*, ||X||^2 (1 + log(6/delta))/(2 epsilon), released) with u* free of the data. "
    "Its privacy is decided in W18-TH2i.",
    displays={
        "#2": rate(
            "step 2: unit of the eigenvalue's noise and shift",
            EIGENVALUE,
            "tilde(lambda)_min = max{lambda_min + sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4), 0}",
            "log^1/2 epsilon^-1",
            "log epsilon^-1",
            corrected=(
                "tilde(lambda)_min = max{lambda_min + norm(cal(X))^2 (sqrt(log(6/delta))/(epsilon/4) Z - log(6/delta)/(epsilon/4)), 0}",
                "X^2 log^1/2 epsilon^-1",
                "X^2 log epsilon^-1",
            ),
            wrong="Noise and shift lack the sensitivity ||X||^2 (Algorithm 2 has it).",
        ),
        "#4": rate(
            "step 4: units of the terms of (7)",
            EIGENVALUE,
            "(norm(cal(X))^4 C_1 [1 + norm(cal(X))^2/(t + tilde(lambda)_min)]^(2 C_2))/(t + tilde(lambda)_min) + t, quad t_min",
            "X^4 d log epsilon^-2 eigenvalue^-1",
            "eigenvalue",
            "X^2 log epsilon^-1",
        ),
        "#output": rate(
            "step 7: unit of the temperature",
            LOSS,
            "gamma = ((tilde(lambda)_min + lambda) tilde(epsilon)^2)/(log(6/delta) tilde(L)^2)",
            "eigenvalue^-1 log L^2 epsilon^-2",
        ),
        "#7": Display(
            "(7) has a unique solution",
            Form(
                'op("argmin")_(t >= t_min) (norm(cal(X))^4 C_1 [1 + norm(cal(X))^2/(t + tilde(lambda)_min)]^(2 C_2))/(t + tilde(lambda)_min) + t quad "is unique"',
                _unique,
                [At("proved on the box")],
            ),
            mutants={"exponent -2 C_2": Mutant(_unique, {"box": "whole"}, sign=-1)},
        ),
        "#8@sum": Display(
            "(8), the two fractions added",
            Form(SUM, partial(_bracket, stated=_of_the_proof), BRACKETS),
            mutants=A_TENTH,
        ),
        "#8@product": Display(
            "(8), the two fractions side by side, as in our copy",
            Form(
                "tilde(epsilon)^2/2 [1/(log(6/delta)) (1 + log(6/delta))/(log(6/delta))] + tilde(epsilon) - epsilon/2 = 0",
                partial(_bracket, stated=lambda log: (1 + log) / log**2),
                [SMALLEST],
            ),
            Form(SUM, partial(_bracket, stated=_of_the_proof), BRACKETS),
            "A plus sign is most likely lost in our copy; the proof of theorem 2(ii) has it, twice.",
            A_TENTH,
        ),
    },
)
