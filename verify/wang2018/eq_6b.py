"""W18, section 3.1: from which epsilon on privacy is for free.

The thresholds are compared with the epsilon at which (5) or (6), constants 1, equals (4), in rational arithmetic of
squares (docs/derivations/wang2018_rates.md, section 4). Case 2 has ||Y||^2 where ||Y|| belongs.
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import proved
from .scaling import Rate, rate_of

ID = "W18-E6b"
FIRST, SECOND, SIZE = f"{ID}#1", f"{ID}#2", f"{ID}#n"
NOTES = "docs/derivations/wang2018_rates.md, section 4"
SCALE = Rate(
    f"{ID}#2 units",
    "case 2: units of the relation between the domains",
    (0, 1),  # a response
    ("d^1/2 Y^2",),
    Formula("norm(cal(X)) norm(Theta) approx sqrt(d) norm(cal(Y))^2", "||X|| ||Theta|| of order sqrt(d) ||Y||^2"),
    ("d^1/2 Y",),
    Formula("norm(cal(X)) norm(Theta) approx sqrt(d) norm(cal(Y))", "||X|| ||Theta|| of order sqrt(d) ||Y||"),
    "||Y|| is squared by mistake: predictions have the unit of responses.",
    NOTES,
)

#: Allowed range of (actual epsilon / printed epsilon)^2, the derivation's constants.
RANGES = {FIRST: (Fraction(1), Fraction(4)), SECOND: (Fraction(1, 4), Fraction(4))}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    if case.part == SCALE.id:
        return rate_of((SCALE,), case).check(case)
    root_n, root_d, alpha = (Fraction(case.number(name)) for name in ("root n", "root d", "alpha"))
    if case.part == SIZE:
        return _size(case, root_d)
    # a mutant is a threshold off by a tenth of a power of a size that is a perfect tenth power
    power = Fraction(1)
    if version_name(case) == "n^0.1 too much":
        power = _tenth(root_n**2)
    if version_name(case) == "d^0.1 too little":
        power = 1 / _tenth(root_d**2)
    Y = Fraction(case.number("Y"))
    prediction = Y if case.part == FIRST else root_d * (Y**2 if version_name(case) == "printed" else Y)
    actual = _actual(root_n, root_d, alpha, prediction, Y)
    printed = _printed(case.part, root_n, root_d, alpha) * power
    low, high = RANGES[case.part]
    claim = Claim(
        "square of (epsilon at which the private bound equals the other) over (printed threshold)",
        float(low),
        float(high),
        1.0,
        in_domain=case.part == FIRST or root_n > root_d,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=proved(actual / printed), notes={"n": float(root_n**2), "d": float(root_d**2)})


def _tenth(value: Fraction) -> Fraction:
    """Return the square of the tenth root of a power of 1024^10 (threshold squared moves by a fifth of a power)."""
    root = round(float(value) ** 0.1)
    if Fraction(root) ** 10 != value:
        raise ValueError(f"size must be a tenth power, got size={value}")
    return Fraction(root) ** 2


def _actual(root_n: Fraction, root_d: Fraction, alpha: Fraction, prediction: Fraction, Y: Fraction) -> Fraction:
    """Return the square of the least epsilon with min{(5), (6)} <= (4), all constants 1, without the term n Y^2."""
    n, d = root_n**2, root_d**2
    free = min(n * Y**2, prediction**2 + d * Y**2, root_n * prediction * Y)
    lipschitz = (root_d * (prediction**2 + prediction * Y) / free) ** 2
    strong = d**2 * (prediction + Y) ** 2 / (n * alpha * free)
    return min(lipschitz, strong)


def _printed(part: str, root_n: Fraction, root_d: Fraction, alpha: Fraction) -> Fraction:
    """Return the square of the printed threshold."""
    n, d = root_n**2, root_d**2
    if part == FIRST:
        return min(max(1 / d, d / n), max(d**2 / (root_n**3 * alpha), d / (n * alpha)))
    return min(max(d, d**3 / n**2), max(d**2 / (n * alpha), d**3 / (n**2 * alpha)))


def _size(case: Case, root_d: Fraction) -> Evidence:
    """Compare the least n whose case 2 threshold at alpha* = 1 is at most 1 with d^2."""
    d = root_d**2
    factor = {"a tenth more": Fraction(11, 10), "d instead": 1 / d}.get(version_name(case), Fraction(1))
    least = max(d**2, root_d**3)  # d/sqrt(n) <= 1 and d^1.5/n <= 1
    claim = Claim("least n over d^2, d > 1", 1.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(least / (factor * d**2)))


def _cases() -> tuple[Case, ...]:
    sizes = {
        "root n": (1.0, 4.0, 100.0, 1e4, 1e7),
        "root d": (1.0, 3.0, 30.0, 1e3, 1e6),
        "alpha": (1.0, 2.0**-7, 2.0**-20, 2.0**-60),
    }
    huge: dict[str, Value] = {"root n": 2.0**60, "root d": 2.0**40, "alpha": 1.0, "Y": 1.0}
    units: dict[str, Value] = {"root n": 100.0, "root d": 3.0, "alpha": 1.0, "Y": 2.0**-20}
    return (
        *SCALE.cases(),
        *grid(FIRST, Standing.PRINTED, sizes | {"Y": (1.0, 2.0**20)}, regime="n, d, alpha* and units", quick_every=17),
        case(SECOND, Standing.PRINTED, units, role=Role.COUNTEREXAMPLE, regime="responses in a small unit"),
        case(SECOND, Standing.CORRECTED, units, role=Role.COUNTEREXAMPLE, regime="responses in a small unit"),
        *grid(
            SECOND, Standing.CORRECTED, sizes | {"Y": (1.0, 2.0**20)}, regime="n, d, alpha* and units", quick_every=17
        ),
        *grid(SIZE, Standing.PRINTED, {"root d": (2.0, 3.0, 100.0), "root n": (1.0,), "alpha": (1.0,)}, regime="d"),
        *(mutant(part, "n^0.1 too much", huge, severity=0.1) for part in (FIRST, SECOND)),
        *(mutant(part, "d^0.1 too little", huge, severity=0.1) for part in (FIRST, SECOND)),
        mutant(SIZE, "a tenth more", {"root d": 3.0, "root n": 1.0, "alpha": 1.0}, severity=0.1),
        mutant(SIZE, "d instead", {"root d": 3.0, "root n": 1.0, "alpha": 1.0}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Privacy for free",
    locator="Section 3.1",
    domain="n, d >= 1, alpha* in (0, 1], n > d in case 2; thresholds up to universal constants, (4) to (6) taken at constant 1",
    summary=(
        "The thresholds follow from (4) to (6): the epsilon that solves them is between the printed one and its double (case 1), "
        "between half and double (case 2), up to n = 1e14, d = 1e12. Case 2 states ||X|| ||Theta|| = sqrt(d) ||Y||^2, one power of ||Y|| too many."
    ),
    parts=(
        Part(
            FIRST,
            "case 1: thresholds",
            Formula(
                "norm(cal(X)) norm(Theta) approx norm(cal(Y)): quad epsilon gt.tilde min{1/sqrt(d) or sqrt(d/n), sqrt(d^2/(n^(1.5) alpha^*)) or sqrt(d/(n alpha^*))}",
                "||X|| ||Theta|| ~ ||Y||: epsilon >= c min{1/sqrt(d) v sqrt(d/n), sqrt(d^2/(n^1.5 alpha*)) v sqrt(d/(n alpha*))}",
            ),
        ),
        SCALE.part(),
        Part(
            SECOND,
            "case 2: thresholds",
            Formula(
                "norm(cal(X)) norm(Theta) approx sqrt(d) norm(cal(Y))^2: quad epsilon gt.tilde min{sqrt(d) or d^(1.5)/n, d/sqrt(n alpha^*) or d^(1.5)/(n sqrt(alpha^*))}",
                "||X|| ||Theta|| ~ sqrt(d) ||Y||^2: epsilon >= c min{sqrt(d) v d^1.5/n, d/sqrt(n alpha*) v d^1.5/(n sqrt(alpha*))}",
            ),
            Formula(
                '"the same for" norm(cal(X)) norm(Theta) approx sqrt(d) norm(cal(Y))',
                "the same for ||X|| ||Theta|| ~ sqrt(d) ||Y||",
            ),
            "With sqrt(d) ||Y||^2 the threshold depends on the unit of the responses.",
            NOTES,
        ),
        Part(
            SIZE,
            "case 2: least n for epsilon of order 1 at alpha* = 1",
            Formula("n >= d^2", "n >= d^2"),
        ),
    ),
    cases=_cases(),
    check=check,
)
