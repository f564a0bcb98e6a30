"""W18, appendix F: OPS-Conservative; privacy in two readings (``ops_rules``), and its minimiser.

The paper gives no formula. Read here: with ``|theta*_lambda| <= |theta*|`` the bound (24) is at most
``(Y/B + |theta*|)^2 (B^4 C_1/lambda + lambda)``, least at ``lambda = B^2 sqrt(C_1)`` whatever ``|theta*|`` is.
"""

from fractions import Fraction

from ...methods.rational import at_most
from ..kit import At, Case, Display, Evidence, Form, Mutant, over
from .shared.ops_rules import calibration


def _least(case: Case, *, stretched: Fraction = Fraction(1), alone: bool = False) -> Evidence:
    """Decide that the minimiser does not move with |theta*|, exactly (C_1 a square).

    It is ``stretched``; the ridge term has |theta*| ``alone`` in its weight, or (1 + |theta*|) like the other.
    """
    root, theta = Fraction(case.number("sqrt(C_1)")), Fraction(case.number("theta"))
    weight, least = (1 + theta) ** 2, root * stretched
    ridge = theta**2 if alone else weight

    def bound(lam: Fraction) -> Fraction:
        return weight * root**2 / lam + ridge * lam

    elsewhere = bound(least * Fraction(case.number("multiple")))
    return at_most("bound at the stated ridge against the bound elsewhere", bound(least), elsewhere)


NEAR = {"sqrt(C_1)": 40.0, "theta": 1.0, "multiple": 0.96875}
OTHERS = {"sqrt(C_1)": (0.5, 40.0), "theta": (0.0, 1.0, 1000.0), "multiple": (0.01, 0.9, 1.0, 1.125, 64.0)}
LEAST = Display(
    "the minimiser does not depend on the length of theta*",
    Form(
        'op("argmin")_lambda (norm(cal(Y))\\/norm(cal(X)) + norm(theta^*))^2 ((norm(cal(X))^4 C_1)/lambda + lambda)'
        " = norm(cal(X))^2 sqrt(C_1)",
        _least,
        [At("next to the minimiser", NEAR), *over("other ridges", OTHERS)],
    ),
    mutants={
        "minimiser 5 % larger": Mutant(_least, NEAR, severity=0.05, stretched=Fraction(21, 20)),
        "ridge term with |theta*| alone": Mutant(_least, NEAR | {"multiple": 1.5}, alone=True),
    },
)

STATEMENT = calibration(
    "W18-F4",
    "conservative",
    '"our reading, no formula is printed:" quad lambda = max{norm(cal(X))^2 sqrt(C_1), (1 + log(2\\/delta)) norm(cal(X))^2\\/epsilon}, quad gamma "calibrated"',
    'lambda "as read, with the corrected floor", quad gamma "the largest with" quad ',
    lead="With the ridge as we read it (no formula is printed)",
    summary=" Our reading is B^2 sqrt(C_1), the minimiser that does not depend on |theta*|; the authors' Matlab has it where the features are "
    "bounded by 1. What fails is Remark 11's bound, on which F1 to F3 rest as well.",
    more={"#minimiser": LEAST},
)
