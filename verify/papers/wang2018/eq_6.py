"""W18, (6): private lower bound for strongly convex losses, quoted; units, footnote 1, and how it meets (5)."""

from fractions import Fraction
from functools import partial

from ...methods.rational import equal
from ...methods.scaling import EIGENVALUE, LOSS, NUMBER, rate
from ..kit import Case, Decide, Display, Evidence, Form, Mutant, over, smallest, statement


def _terms(case: Case) -> tuple[Fraction, Fraction, Fraction, Fraction]:
    """Return lambda_min and (6) at the least allowed alpha*, sqrt(d) L*/epsilon, and the radius."""
    B, radius, Y, epsilon, root_d = (Fraction(case.number(name)) for name in tuple(SMALLEST)[:5])
    n, d, prediction = case.whole("n"), root_d**2, B * radius + Y
    alpha = root_d**3 * prediction / (n * B * radius * epsilon)
    strong = d**2 * prediction**2 / (n * alpha * epsilon**2)
    return alpha * n * B**2 / d, strong, root_d * B * prediction / epsilon, radius


def _footnote(case: Case, *, power: int = 1, factor: Fraction = Fraction(1)) -> Evidence:
    """Compare lambda_min at the condition with sqrt(d) L*/(Theta^power epsilon)."""
    smallest_eigenvalue, _, slope, radius = _terms(case)
    stated = factor * slope / radius**power
    return equal("lambda_min at the condition over the footnote's", smallest_eigenvalue, stated)


def _root(case: Case) -> Evidence:
    """Compare the squares of lambda_min at the condition and of sqrt(d L*)/epsilon."""
    smallest_eigenvalue, _, slope, _ = _terms(case)
    stated = slope * Fraction(case.number("root d")) / Fraction(case.number("epsilon"))  # d L*/epsilon^2
    return equal("square of lambda_min at the condition over that of the footnote's", smallest_eigenvalue**2, stated)


def _meeting(case: Case, *, factor: Fraction = Fraction(1)) -> Evidence:
    _, strong, slope, radius = _terms(case)
    return equal("(6) over (5) where alpha* is the least allowed", strong, factor * slope * radius)


AXES = {
    "B": (0.125, 4.0), "radius": (0.25, 8.0), "Y": (0.5, 2.0), "epsilon": (0.125, 1.0), "root d": (1.0, 3.0), "n": (10, 1000),
}  # fmt: skip
SMALLEST = {"B": 1.0, "radius": 2.0, "Y": 1.0, "epsilon": 1.0, "root d": 1.0, "n": 10}
TENTH = Fraction(11, 10)
MINIMUM = "min{n norm(cal(Y))^2, (d^2 (norm(cal(X)) norm(Theta) + norm(cal(Y)))^2)/(n alpha^* epsilon^2)}"
LINEAR, ROOT = "lambda_min >= sqrt(d) L/epsilon", "lambda_min >= sqrt(d L)/epsilon"
CORRECTED = "lambda_min >= (sqrt(d) L^*) / (norm(Theta) epsilon)"
RADIUS = "The Lipschitz constant must be divided by the radius of the parameter domain"


def _units(reading: str, printed: str, terms: str) -> Display:
    """Return the units of the footnote in one reading."""
    return rate(
        f"units of footnote 1, {reading}",
        EIGENVALUE,
        printed,
        terms,
        corrected=(CORRECTED, "d^1/2 L Theta^-1 epsilon^-1"),
        wrong=f"{RADIUS}.",
    )


def _footnote_display(reading: str, printed: str, check: Decide) -> Display:
    """Return what the footnote says of the condition, in one reading."""
    first = smallest("radius 2", SMALLEST)
    return Display(
        f"footnote 1, {reading}: the condition on the smallest eigenvalue",
        Form(f'"the condition requires" {printed}', check, [first]),
        Form(f'"the condition requires" {CORRECTED}', _footnote, [first, *over("substitution", AXES, quick_every=13)]),
        f"{RADIUS}; L is L* = ||X|| (||X|| ||Theta|| + ||Y||).",
        {"a tenth more": Mutant(_footnote, SMALLEST, severity=0.1, factor=TENTH)},
    )


STATEMENT = statement(
    "W18-E6",
    derivation="docs/derivations/wang2018_rates.md, section 3",
    domain="delta < 1/n, n large, some (X, Y, Theta), data sets with alpha >= alpha*, every (epsilon, delta)-DP theta_hat",
    summary="The bound is quoted and has no finite test; its units are right and at the least allowed alpha* it equals (5). In footnote 1 the root "
    "covers L in our copy, where the condition gives sqrt(d) L; in either reading the radius of the parameter domain is missing. As (5), it is empty word for word at Theta = {0}.",
    displays={
        "#bound": Display(
            "the lower bound",
            Form(
                'inf_(hat(theta) "is" (epsilon, delta)"-DP") sup_(X in cal(S), y) [F(hat(theta)) - inf_Theta F] gt.tilde '
                + MINIMUM
            ),
        ),
        "#units": rate(
            "units of the terms of (6)",
            LOSS,
            MINIMUM,
            "d^2 X^2 Theta^2 n^-1 alpha^-1 epsilon^-2",
            "d^2 Y^2 n^-1 alpha^-1 epsilon^-2",
            "n Y^2",
        ),
        "#condition": rate(
            "units of the condition on alpha*",
            NUMBER,
            "alpha^* >= (d^(1.5) (norm(cal(X)) norm(Theta) + norm(cal(Y))))/(n norm(cal(X)) norm(Theta) epsilon)",
            "d^3/2 X^0 n^-1 epsilon^-1",
            "d^3/2 Y X^-1 Theta^-1 n^-1 epsilon^-1",
        ),
        "#footnote units@linear": _units("sqrt(d) times L", LINEAR, "d^1/2 L epsilon^-1"),
        "#footnote units@root": _units("L under the root, as in our copy", ROOT, "d^1/2 L^1/2 epsilon^-1"),
        "#footnote@linear": _footnote_display("sqrt(d) times L", LINEAR, partial(_footnote, power=0)),
        "#footnote@root": _footnote_display("L under the root, as in our copy", ROOT, _root),
        "#meeting": Display(
            "(6) equals (5) at the least allowed alpha*",
            Form(
                "(d^2 (norm(cal(X)) norm(Theta) + norm(cal(Y)))^2)/(n alpha^* epsilon^2) = sqrt(d) L^* norm(Theta)/epsilon",
                _meeting,
                over("substitution", AXES, quick_every=13),
            ),
            mutants={"a tenth more": Mutant(_meeting, SMALLEST, severity=0.1, factor=TENTH)},
        ),
    },
)
