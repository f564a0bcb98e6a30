"""W18, closing remark of section 4: both algorithms match the smaller of the lower bounds (5) and (6).

Decided on the formulas: the printed rates against (5) and (6) under a change of unit, and the corrected rate of AdaOPS
against both, up to its logarithms, in rational arithmetic (docs/derivations/wang2018_rates.md, section 10).
"""

from fractions import Fraction

from ...methods.rational import between
from ...methods.scaling import NUMBER, rate
from ..kit import Case, Display, Evidence, Form, Mutant, over, statement


def _logarithms(case: Case, *, square: bool = True, factor: Fraction = Fraction(1)) -> Evidence:
    """Decide the corrected rate over the smaller lower bound times its logarithms, of which ``square`` has log(6/delta)^2."""
    s, n, share = Fraction(case.number("root d")), case.whole("n"), Fraction(case.number("share"))
    epsilon, alpha = Fraction(case.number("epsilon")), Fraction(case.number("alpha"))
    log, tail = Fraction(case.number("log")), Fraction(case.number("tail"))
    d = s**2
    k = (d + tail) * log + log**2
    polylog = (1 + tail) * log + square * log**2
    # bounds 1, theta* = Theta = 1, Y = share; squares, so that roots of k stay rational
    first, second = k / epsilon**2, (d * k / (n * alpha * epsilon**2)) ** 2
    lipschitz = (s * (1 + share) / epsilon) ** 2 * polylog
    strong = (d**2 * (1 + share) ** 2 / (n * alpha * epsilon**2) * polylog) ** 2
    quantity = "square of the corrected rate over the smaller of (5) and (6) times its logarithms"
    return between(quantity, max(first / lipschitz, second / strong) / factor, 0.0, 1.0, 1.0)


SIZES = {
    "root d": (1.0, 5.0, 1000.0), "n": (1, 10**4, 10**9), "alpha": (1.0, 2.0**-20), "share": (0.0, 1.0),
    "epsilon": (0.0078125, 1.0), "log": (1.8125, 30.0), "tail": (0.0, 10.0),
}  # fmt: skip
FLAT = {"root d": 1.0, "n": 100, "alpha": 1.0, "share": 0.0, "epsilon": 1.0, "log": 2.0, "tail": 1.0}

STATEMENT = statement(
    "W18-REM3",
    domain="||Y|| <= ||X|| ||theta*||, (5) and (6) at Theta = ||theta*||, alpha* = alpha and constant 1; rates as in theorems 2(ii) and 3(ii)",
    summary="The printed rate of AdaOPS lacks ||X||^2 and cannot match (6); the corrected one is at most (1 + log(1/rho)) log(6/delta) + "
    "log(6/delta)^2 times the smaller of (5) and (6) (its root for (5)). The printed second term of AdaSSP is false (W18-TH3ii). That the "
    "bounds are optimal for every single instance, and that AdaSSP does not depend on the smallest eigenvalue (its ridge does), has no finite test.",
    derivation="docs/derivations/wang2018_rates.md, section 10",
    displays={
        "#AdaOPS": rate(
            "AdaOPS: second term of theorem 2(ii) over (6)",
            NUMBER,
            '"second term of theorem 2(ii)" approx (6) quad "for every instance"',
            "theta^2 X^-2 Theta^-2 log",
            "theta^2 Y^-2 log",
            corrected=(
                '"second term of the corrected theorem 2(ii)" <= "logarithms times" (6)',
                "X^2 theta^2 X^-2 Theta^-2 log",
                "X^2 theta^2 Y^-2 log",
            ),
            wrong="The printed second term lacks ||X||^2, so it matches (6) at one unit of the features only (and without logarithms at none).",
        ),
        "#AdaSSP": rate(
            "AdaSSP: units of both terms of theorem 3(ii) over (5) and (6)",
            NUMBER,
            '"theorem 3(ii)" approx "smaller of" (5), (6), quad "in units"',
            "X^2 theta^2 X^-2 Theta^-2 log",
            "X^4 theta^2 trace1 d^-2 n alpha X^-2 Theta^-2 log",
        ),
        "#logarithms": Display(
            "the corrected rate of AdaOPS is at most logarithms times both bounds",
            Form(
                "min{sqrt(k)/epsilon, (d k)/(n alpha epsilon^2)} <= min{sqrt(K) (5), K (6)}, quad K = (1 + log(1/rho)) log(6/delta) + log(6/delta)^2",
                _logarithms,
                over("d, n, alpha, epsilon, delta, rho", SIZES, quick_every=29),
            ),
            mutants={
                "a tenth less": Mutant(_logarithms, FLAT, severity=0.1, factor=Fraction(9, 10)),
                "no square of the logarithm": Mutant(_logarithms, FLAT, square=False),
            },
        ),
        "#instance": Display(
            "optimality for every instance", Form('"both match the smaller of" (5), (6) "for each problem instance"')
        ),
    },
)
