"""W19, equation 4.1: the choice A = (X^T X)^2 and objective perturbation, in rational arithmetic.

The output is affine in the linear term, so its covariance is exact. As printed the wrong variable is drawn
(docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2).
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_mat

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .rational import SHAPES, Matrix, column, design, identity, matrix, random_matrix, same

ID = "W19-E4.1"


def minimiser(X: Matrix, y: Matrix, linear: Matrix) -> Matrix:
    """Return the stationary point of ``|y - X theta|^2 + <linear, theta>``."""
    return (X.transpose() * X * 2).solve(X.transpose() * y * 2 - linear)


def check(case: Case, budget: Budget) -> Evidence:
    """Compare the covariance of the minimiser with ``A^-1/gamma`` at ``gamma = 4/sigma^2``."""
    if "n" not in case.params:
        X, y = matrix(1, 1, [1]), matrix(1, 1, [1])
    else:
        n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
        X, y = design(case.text("shape"), n, dim, seed), random_matrix(n, 1, seed, 5)
    dim = X.ncols()
    variance = column(Fraction(case.number("sigma^2")))[0, 0]
    H = X.transpose() * X
    zero = matrix(dim, 1, [0] * dim)
    columns = [
        minimiser(X, y, matrix(dim, 1, [int(i == j) for j in range(dim)])) - minimiser(X, y, zero) for i in range(dim)
    ]
    response = fmpq_mat(dim, dim, [e for c in columns for e in c.entries()]).transpose()
    version = version_name(case)
    drawn = variance * 0 if version == "printed" else variance  # as printed nothing but the minimised variable is drawn
    covariance = response * response.transpose() * drawn
    A = {"the Fisher choice": H, "the identity": identity(dim)}.get(version, H * H)
    gamma = (Fraction(404, 100) if version == "gamma = 4.04/sigma^2" else Fraction(4)) / Fraction(
        case.number("sigma^2")
    )
    return same("covariance of the output against A^-1/gamma", covariance, (A * column(gamma)[0, 0]).inv())


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    smallest: dict[str, Value] = {"sigma^2": 4.0}
    plain: dict[str, Value] = {"shape": "generic", "n": 6, "dim": 3, "seed": 3, "sigma^2": 2.25}
    axes: dict[str, tuple[Value, ...]] = {
        "shape": SHAPES,
        "n": (6,),
        "dim": (1, 2, 4),
        "seed": (1, 2),
        "sigma^2": (2.0**-10, 2.25),
    }
    return (
        case(ID, printed, smallest, role=Role.COUNTEREXAMPLE, regime="X = 1, y = 1"),
        case(ID, corrected, smallest, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form"),
        *grid(ID, corrected, axes, regime="designs", quick_every=5),
        mutant(ID, "the Fisher choice", plain),
        mutant(ID, "the identity", plain),
        mutant(ID, "gamma = 4.04/sigma^2", plain, severity=0.01),
    )


_ARGMIN = 'hat(theta) = op("argmin")_theta norm(bold(y) - X theta)^2 + chevron.l z, theta chevron.r'

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="equation",
    title="Objective perturbation as the democratic choice",
    locator="Equation 4.1",
    domain="Linear regression, X^T X invertible, Theta the whole space. Decided exactly for n = 6, d <= 4",
    summary="A misprint: the linear term z is what is drawn. With it, gamma of (3.2) is 4/sigma^2; the implementation is `DemocraticOutput`.",
    parts=(
        Part(
            ID,
            "the law of the output",
            printed=Formula(
                _ARGMIN + ", quad theta tilde.op cal(N)(0, sigma^2 I)",
                "theta_hat = argmin ||y - X theta||^2 + <z, theta>, theta ~ N(0, sigma^2 I), has covariance (X'X)^-2/gamma",
            ),
            corrected=Formula(
                _ARGMIN + ", quad z tilde.op cal(N)(0, sigma^2 I), quad gamma = 4\\/sigma^2",
                "theta_hat = argmin ||y - X theta||^2 + <z, theta>, z ~ N(0, sigma^2 I), has covariance (X'X)^-2/gamma, gamma = 4/sigma^2",
            ),
            what_went_wrong="theta stands for z in front of the normal law: as printed the minimised variable is drawn and the output is not random.",
            derivation="docs/derivations/wang2019_sections_2_3.md, equations 4.1 and 4.2",
        ),
    ),
    cases=_cases(),
    check=check,
)
