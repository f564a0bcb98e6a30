"""W18, section 3.1: from which epsilon on privacy is for free.

The thresholds are compared with the epsilon at which (5) or (6), constants 1, equals (4), in rational arithmetic of
squares (docs/derivations/wang2018_rates.md, section 4). Case 2 has ||Y||^2 where ||Y|| belongs.
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ...methods.rational import between, equal
from ...methods.scaling import rate
from ..kit import Case, Display, Evidence, Form, Mutant, over, smallest, statement


def _first(root_n: Fraction, root_d: Fraction, alpha: Fraction) -> Fraction:
    """Return the square of the printed threshold of case 1."""
    n, d = root_n**2, root_d**2
    return min(max(1 / d, d / n), max(d**2 / (root_n**3 * alpha), d / (n * alpha)))


def _second(root_n: Fraction, root_d: Fraction, alpha: Fraction) -> Fraction:
    """Return the square of the printed threshold of case 2."""
    n, d = root_n**2, root_d**2
    return min(max(d, d**3 / n**2), max(d**2 / (n * alpha), d**3 / (n**2 * alpha)))


def _actual(root_n: Fraction, root_d: Fraction, alpha: Fraction, prediction: Fraction, Y: Fraction) -> Fraction:
    """Return the square of the least epsilon with min{(5), (6)} <= (4), all constants 1, without the term n Y^2."""
    n, d = root_n**2, root_d**2
    free = min(n * Y**2, prediction**2 + d * Y**2, root_n * prediction * Y)
    lipschitz = (root_d * (prediction**2 + prediction * Y) / free) ** 2
    strong = d**2 * (prediction + Y) ** 2 / (n * alpha * free)
    return min(lipschitz, strong)


def _compare(
    case: Case,
    *,
    threshold: Callable[[Fraction, Fraction, Fraction], Fraction],
    prediction: Callable[[Fraction, Fraction], Fraction],
    low: float,
    above_d: bool = False,
    slip: Fraction = Fraction(1),
) -> Evidence:
    """Compare the squares of both epsilons.

    ``prediction`` is ||X|| ||Theta|| as a function of the root of d and ||Y||; ``low`` the derivation's constant (4 is the
    other); ``above_d`` restricts the claim to n > d; ``slip`` multiplies the threshold's square.
    """
    root_n, root_d, alpha, Y = (Fraction(case.number(name)) for name in ("root n", "root d", "alpha", "Y"))
    actual = _actual(root_n, root_d, alpha, prediction(root_d, Y), Y)
    stated = threshold(root_n, root_d, alpha) * slip
    quantity = "square of (epsilon at which the private bound equals the other) over (printed threshold)"
    inside, notes = not above_d or root_n > root_d, {"n": float(root_n**2), "d": float(root_d**2)}
    return between(quantity, actual / stated, low, 4.0, 1.0, in_domain=inside, notes=notes)


def _size(case: Case, *, stated: Callable[[Fraction], Fraction]) -> Evidence:
    """Compare the least n whose case 2 threshold at alpha* = 1 is at most 1 with the stated one, a function of d."""
    d = Fraction(case.number("root d")) ** 2
    least = max(d**2, Fraction(case.number("root d")) ** 3)  # d/sqrt(n) <= 1 and d^1.5/n <= 1
    return equal("least n over d^2, d > 1", least, stated(d))


_case_1 = partial(_compare, threshold=_first, prediction=lambda root_d, Y: Y, low=1.0)
_case_2 = partial(_compare, threshold=_second, prediction=lambda root_d, Y: root_d * Y, low=0.25, above_d=True)


#: Sizes that are perfect tenth powers: n^0.1 = 2^12, d^0.1 = 2^8.
HUGE = {"root n": 2.0**60, "root d": 2.0**40, "alpha": 1.0, "Y": 1.0}


def _slips(check: Callable[..., Evidence]) -> dict[str, Mutant]:
    """Return the mutants whose threshold is off by a tenth of a power of n or d, its square by a fifth."""
    return {
        "n^0.1 too much": Mutant(check, HUGE, severity=0.1, slip=Fraction(2**24)),
        "d^0.1 too little": Mutant(check, HUGE, severity=0.1, slip=Fraction(1, 2**16)),
    }


SIZES = over(
    "n, d, alpha* and units",
    {
        "root n": (1.0, 4.0, 100.0, 1e4, 1e7),
        "root d": (1.0, 3.0, 30.0, 1e3, 1e6),
        "alpha": (1.0, 2.0**-7, 2.0**-20, 2.0**-60),
        "Y": (1.0, 2.0**20),
    },
    quick_every=17,
)
UNITS = smallest("responses in a small unit", {"root n": 100.0, "root d": 3.0, "alpha": 1.0, "Y": 2.0**-20})
NINE = {"root d": 3.0, "root n": 1.0, "alpha": 1.0}
SQUARED, RIGHT = (f"norm(cal(X)) norm(Theta) approx sqrt(d) norm(cal(Y)){power}" for power in ("^2", ""))

STATEMENT = statement(
    "W18-E6b",
    derivation="docs/derivations/wang2018_rates.md, section 4",
    domain="n, d >= 1, alpha* in (0, 1], n > d in case 2; thresholds up to universal constants, (4) to (6) taken at constant 1",
    summary="The thresholds follow from (4) to (6): the epsilon that solves them is between the printed one and its double (case 1), "
    "between half and double (case 2), up to n = 1e14, d = 1e12. Case 2 states ||X|| ||Theta|| = sqrt(d) ||Y||^2, one power of ||Y|| too many.",
    displays={
        "#1": Display(
            "case 1: thresholds",
            Form(
                "norm(cal(X)) norm(Theta) approx norm(cal(Y)): quad epsilon gt.tilde min{1/sqrt(d) or sqrt(d/n), sqrt(d^2/(n^(1.5) alpha^*)) or sqrt(d/(n alpha^*))}",
                _case_1,
                SIZES,
            ),
            mutants=_slips(_case_1),
        ),
        "#2 units": rate(
            "case 2: units of the relation between the domains",
            (0, 1),  # a response
            SQUARED,
            "d^1/2 Y^2",
            corrected=(RIGHT, "d^1/2 Y"),
            wrong="||Y|| is squared by mistake: predictions have the unit of responses.",
        ),
        "#2": Display(
            "case 2: thresholds",
            Form(
                f"{SQUARED}: quad epsilon gt.tilde min{{sqrt(d) or d^(1.5)/n, d/sqrt(n alpha^*) or d^(1.5)/(n sqrt(alpha^*))}}",
                partial(_case_2, prediction=lambda root_d, Y: root_d * Y**2),
                [UNITS],
            ),
            Form(f'"the same for" {RIGHT}', _case_2, [UNITS, *SIZES]),
            "With sqrt(d) ||Y||^2 the threshold depends on the unit of the responses.",
            _slips(_case_2),
        ),
        "#n": Display(
            "case 2: least n for epsilon of order 1 at alpha* = 1",
            Form(
                "n >= d^2",
                partial(_size, stated=lambda d: d**2),
                over("d", {"root d": (2.0, 3.0, 100.0), "root n": (1.0,), "alpha": (1.0,)}),
            ),
            mutants={
                "a tenth more": Mutant(_size, NINE, severity=0.1, stated=lambda d: Fraction(11, 10) * d**2),
                "d instead": Mutant(_size, NINE, stated=lambda d: d),
            },
        ),
    },
)
