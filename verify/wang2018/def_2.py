"""W18, section 2: ridge objective, normalised smallest eigenvalue, Lipschitz constants.

The printed ridge objective has its minimiser at half the ridge, and the printed Lipschitz constant of F is that of one
record's loss (docs/derivations/wang2018_rates.md, section 1). Everything is decided in rational arithmetic.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq, fmpq_mat

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import (
    SHAPES,
    Matrix,
    at_most,
    design,
    eigenvalue_bounds,
    fraction,
    identity,
    proved,
    random_matrix,
)

ID = "W18-D2"
RIDGE, ALPHA, LIPSCHITZ = f"{ID}#ridge", f"{ID}#alpha", f"{ID}#lipschitz"
NOTES = "docs/derivations/wang2018_rates.md, section 1"

#: Coefficient of ``lambda theta`` in the gradient of the ridge objective.
PENALTIES = {"printed": fmpq(2), "corrected": fmpq(1), "penalty 1 % heavier": fmpq(101, 100), "no penalty": fmpq(0)}


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    return {RIDGE: _ridge, ALPHA: _alpha, LIPSCHITZ: _lipschitz}[case.part](case)


def _data(case: Case) -> tuple[Matrix, Matrix]:
    n, dim, shape = case.whole("n"), case.whole("dim"), case.text("X")
    if shape == "identity":
        return identity(dim), fmpq_mat(dim, 1, [1] * dim)
    if shape == "ones":
        return fmpq_mat(n, dim, [1] * (n * dim)), fmpq_mat(n, 1, [1] * n)
    return design(shape, n, dim, 18), random_matrix(n, 1, dim, 19)


def _ridge(case: Case) -> Evidence:
    """Return the largest entry of the ridge objective's gradient at the claimed minimiser, relative to X^T y."""
    X, y = _data(case)
    lam = Fraction(case.number("lam"))
    ridge = identity(X.ncols(), fmpq(lam.numerator, lam.denominator))
    gram, moment = X.transpose() * X, X.transpose() * y
    theta = (gram + ridge).inv() * moment
    gradient = gram * theta - moment + ridge * theta * PENALTIES[version_name(case)]
    size = max(abs(fraction(e)) for e in moment.entries()) or Fraction(1)
    gap = max(abs(fraction(e)) for e in gradient.entries()) / size
    claim = Claim(
        "gradient at the ridge solution over the largest entry of X^T y", 0.0, 0.0, 0.0, observer=Observer.OUTPUT
    )
    return Evidence(claim, exact=proved(gap), notes={"n": X.nrows(), "dim": X.ncols()})


def _alpha(case: Case) -> Evidence:
    """Enclose alpha, with the smallest bound of the features that the rows allow."""
    X, _ = _data(case)
    n, dim = X.nrows(), X.ncols()
    low, high = eigenvalue_bounds(X.transpose() * X)[0]
    gram = X.transpose() * X
    mean = sum((fraction(gram[j, j]) for j in range(dim)), Fraction(0)) / dim
    low, high = max(low, Fraction(0)), min(max(high, Fraction(0)), mean)  # between 0 and the mean eigenvalue
    square = max(sum((fraction(X[i, j]) ** 2 for j in range(dim)), Fraction(0)) for i in range(n))
    factor = Fraction(dim, n) if version_name(case) == "printed" else Fraction(11 * dim, 10 * n)
    if version_name(case) == "no dimension":
        factor = Fraction(dim**2, n)
    claim = Claim("alpha", 0.0, 1.0, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(low * factor / square, high * factor / square, "Sylvester's inertia, rational"))


def _lipschitz(case: Case) -> Evidence:
    """Compare the gradient at theta = -Theta e_1 of n records (B e_1, Y) with the printed constant of F or of one record."""
    n = case.whole("n") if version_name(case) == "printed" else 1
    B, Y, radius = (Fraction(case.number(name)) for name in ("B", "Y", "radius"))
    scale = Fraction(9, 10) if "10 %" in case.mutant else Fraction(1)
    share = Fraction(0) if case.mutant == "no responses" else Fraction(1)
    gradient = n * B * (B * radius + Y)
    return at_most("norm of the gradient", gradient, scale * (B**2 * radius + share * B * Y))


def _cases() -> tuple[Case, ...]:
    smallest: dict[str, Value] = {"n": 1, "dim": 1, "X": "ones", "lam": 1.0}
    shapes: dict[str, Sequence[Value]] = {"n": (1, 5, 20), "dim": (1, 2, 4), "X": SHAPES, "lam": (1e-6, 1.0, 1e6)}
    sizes = {"n": (1, 2, 10), "B": (0.001, 1.0, 50.0), "Y": (0.5, 100.0), "radius": (0.01, 1.0, 1000.0)}
    two: dict[str, Value] = {"n": 2, "B": 1.0, "Y": 1.0, "radius": 1.0}
    tall: dict[str, Sequence[Value]] = {"n": (4, 12, 40), "dim": (1, 2, 4), "X": SHAPES}
    return (
        case(RIDGE, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="one record (1, 1), lambda = 1"),
        case(RIDGE, Standing.CORRECTED, smallest, role=Role.COUNTEREXAMPLE, regime="one record (1, 1), lambda = 1"),
        *grid(RIDGE, Standing.CORRECTED, shapes, regime="designs and ridges", quick_every=11),
        mutant(RIDGE, "penalty 1 % heavier", smallest, severity=0.01),
        mutant(RIDGE, "no penalty", smallest),
        case(
            ALPHA,
            Standing.PRINTED,
            {"n": 1, "dim": 1, "X": "ones"},
            role=Role.EDGE,
            regime="alpha = 1: one record at the bound",
        ),
        case(
            ALPHA,
            Standing.PRINTED,
            {"n": 3, "dim": 4, "X": "generic"},
            role=Role.EDGE,
            regime="fewer records than features",
        ),
        *grid(ALPHA, Standing.PRINTED, tall, regime="designs", quick_every=9),
        mutant(ALPHA, "a tenth larger", {"n": 1, "dim": 1, "X": "ones"}, severity=0.1),
        mutant(ALPHA, "no dimension", {"n": 4, "dim": 4, "X": "identity"}),
        case(LIPSCHITZ, Standing.PRINTED, two, role=Role.COUNTEREXAMPLE, regime="two equal records"),
        case(LIPSCHITZ, Standing.CORRECTED, two, role=Role.COUNTEREXAMPLE, regime="two equal records"),
        *grid(LIPSCHITZ, Standing.CORRECTED, sizes, regime="bounds and radius", quick_every=9),
        mutant(LIPSCHITZ, "constant cut by 10 %", two, severity=0.1),
        mutant(LIPSCHITZ, "no responses", two),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="definition",
    title="Ridge objective, normalised eigenvalue, Lipschitz constants",
    locator="Section 2",
    domain="Any data with bounded rows; lambda > 0 for the ridge; n >= 1 for alpha. Rational designs, lambda in [1e-6, 1e6]",
    summary=(
        "Two slips: the ridge penalty lacks its half (the printed objective is minimised at ridge 2 lambda), and L* is the Lipschitz "
        "constant of one record's loss, F having n times that. alpha is in [0, 1] as stated. Implemented in `mechanisms.regression_scales`."
    ),
    parts=(
        Part(
            RIDGE,
            "the ridge solution minimises the ridge objective",
            Formula(
                'theta^*_lambda = (X^T X + lambda I)^(-1) X^T y = op("argmin") F_lambda, quad F_lambda (theta) = F(theta) + lambda norm(theta)^2',
                "theta*_lambda = (X'X + lambda I)^-1 X'y minimises F(theta) + lambda ||theta||^2, F = ||y - X theta||^2/2",
            ),
            Formula(
                'theta^*_lambda = op("argmin") F_lambda, quad F_lambda (theta) = F(theta) + lambda/2 norm(theta)^2',
                "theta*_lambda minimises F(theta) + lambda ||theta||^2/2",
            ),
            "F carries a half and the penalty does not, so the gradient at theta*_lambda is lambda theta*_lambda.",
            NOTES,
        ),
        Part(
            ALPHA,
            "range of the normalised eigenvalue",
            Formula(
                "alpha := lambda_min (X^T X) d/(n norm(X)^2), quad 0 <= alpha <= 1",
                "alpha := lambda_min(X'X) d/(n ||X||^2), 0 <= alpha <= 1",
            ),
        ),
        Part(
            LIPSCHITZ,
            "Lipschitz constant",
            Formula(
                'L^* := norm(cal(X))^2 norm(Theta) + norm(cal(X)) norm(cal(Y)) "is the global Lipschitz constant of" F',
                "L* := ||X||^2 ||Theta|| + ||X|| ||Y|| is the global Lipschitz constant of F",
            ),
            Formula(
                'L^* "is the Lipschitz constant of one record\'s loss," quad n L^* "that of" F',
                "L* is the Lipschitz constant of one record's loss, n L* that of F",
            ),
            "F is a sum over n records; the constant is that of one of them.",
            NOTES,
        ),
    ),
    cases=_cases(),
    check=check,
)
