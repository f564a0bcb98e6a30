"""W18, closing remark of section 4: both algorithms match the smaller of the lower bounds (5) and (6).

Decided on the formulas: the printed rates against (5) and (6) under a change of unit, and the corrected rate of AdaOPS
against both, up to its logarithms, in rational arithmetic (docs/derivations/wang2018_rates.md, section 10).
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from audits import Budget

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from ..wang2019.rational import proved
from .scaling import NUMBER, Rate, rate_of

ID = "W18-REM3"
LOGARITHMS = f"{ID}#logarithms"
NOTES = "docs/derivations/wang2018_rates.md, section 10"
RATES = (
    Rate(
        f"{ID}#AdaOPS",
        "AdaOPS: second term of theorem 2(ii) over (6)",
        NUMBER,
        ("theta^2 X^-2 Theta^-2 log", "theta^2 Y^-2 log"),
        Formula(
            '"theorem 2(ii)" approx "smaller of" (5), (6)',
            "the second term of theorem 2(ii) matches (6) for every instance",
        ),
        ("X^2 theta^2 X^-2 Theta^-2 log", "X^2 theta^2 Y^-2 log"),
        Formula(
            '"the corrected theorem 2(ii) is at most polylogarithms times the smaller of" (5), (6)',
            "the corrected second term of theorem 2(ii) is at most logarithms times (6)",
        ),
        "The printed second term lacks ||X||^2, so it matches (6) at one unit of the features only (and without logarithms at none).",
        NOTES,
    ),
    Rate(
        f"{ID}#AdaSSP",
        "AdaSSP: units of both terms of theorem 3(ii) over (5) and (6)",
        NUMBER,
        (
            "X^2 theta^2 X^-2 Theta^-2 log",
            "X^4 theta^2 trace1 d^-2 n alpha X^-2 Theta^-2 log",
        ),
        Formula(
            '"theorem 3(ii)" approx "smaller of" (5), (6)', "the terms of theorem 3(ii) have the units of (5) and (6)"
        ),
    ),
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the units, or the corrected rate over the smaller lower bound times its logarithms."""
    if case.part != LOGARITHMS:
        return rate_of(RATES, case).check(case)
    s, n, share = Fraction(case.number("root d")), case.whole("n"), Fraction(case.number("share"))
    epsilon, alpha = Fraction(case.number("epsilon")), Fraction(case.number("alpha"))
    log, tail = Fraction(case.number("log")), Fraction(case.number("tail"))
    d = s**2
    k = (d + tail) * log + log**2
    polylog = (1 + tail) * log + log**2
    if version_name(case) == "no square of the logarithm":
        polylog = (1 + tail) * log
    # bounds 1, theta* = Theta = 1, Y = share; squares, so that roots of k stay rational
    first, second = k / epsilon**2, (d * k / (n * alpha * epsilon**2)) ** 2
    lipschitz = (s * (1 + share) / epsilon) ** 2 * polylog
    strong = (d**2 * (1 + share) ** 2 / (n * alpha * epsilon**2) * polylog) ** 2
    factor = Fraction(9, 10) if version_name(case) == "a tenth less" else Fraction(1)
    claim = Claim(
        "square of the corrected rate over the smaller of (5) and (6) times its logarithms",
        0.0,
        1.0,
        1.0,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=proved(max(first / lipschitz, second / strong) / factor))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, Sequence[Value]] = {
        "root d": (1.0, 5.0, 1000.0),
        "n": (1, 10**4, 10**9),
        "alpha": (1.0, 2.0**-20),
        "share": (0.0, 1.0),
        "epsilon": (0.0078125, 1.0),
        "log": (1.8125, 30.0),
        "tail": (0.0, 10.0),
    }
    flat: dict[str, Value] = {
        "root d": 1.0,
        "n": 100,
        "alpha": 1.0,
        "share": 0.0,
        "epsilon": 1.0,
        "log": 2.0,
        "tail": 1.0,
    }
    return (
        *(case for rate in RATES for case in rate.cases()),
        *grid(LOGARITHMS, Standing.PRINTED, axes, regime="d, n, alpha, epsilon, delta, rho", quick_every=29),
        mutant(LOGARITHMS, "a tenth less", flat, severity=0.1),
        mutant(LOGARITHMS, "no square of the logarithm", flat),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="remark",
    title="Both algorithms match the lower bounds",
    locator="Remarks after Theorem 3, section 4",
    domain="||Y|| <= ||X|| ||theta*||, (5) and (6) at Theta = ||theta*||, alpha* = alpha and constant 1; rates as in theorems 2(ii) and 3(ii)",
    summary=(
        "The printed rate of AdaOPS lacks ||X||^2 and cannot match (6); the corrected one is at most (1 + log(1/rho)) log(6/delta) + "
        "log(6/delta)^2 times the smaller of (5) and (6) (its root for (5)). The printed second term of AdaSSP is false (W18-TH3ii). That the "
        "bounds are optimal for every single instance, and that AdaSSP does not depend on the smallest eigenvalue (its ridge does), has no finite test."
    ),
    parts=(
        *(rate.part() for rate in RATES),
        Part(
            LOGARITHMS,
            "the corrected rate of AdaOPS is at most logarithms times both bounds",
            Formula(
                "min{sqrt(k)/epsilon, (d k)/(n alpha epsilon^2)} <= min{sqrt(K) (5), K (6)}, quad K = (1 + log(1/rho)) log(6/delta) + log(6/delta)^2",
                "min of sqrt(k)/epsilon and d k/(n alpha epsilon^2) <= min of sqrt(K) (5) and K (6), K = (1 + log(1/rho)) log(6/delta) + log(6/delta)^2",
            ),
        ),
        Part(
            f"{ID}#instance",
            "optimality for every instance",
            Formula(
                '"both match the smaller of" (5), (6) "for each problem instance"',
                "both match the smaller of (5) and (6) for each instance",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
