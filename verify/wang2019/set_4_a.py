"""W19, section 4: three choices of the noise matrix A for linear regression, in rational arithmetic.

A1: sup over unit x of sqrt(x^T H^-2 x) is 1/lambda_min, by proved eigenvalues. A2: x^T H^-1 H^2 H^-1 x = |x|^2.
A3: the noise covariance is proportional to the inverse Fisher information, read off the log likelihood by exact second
differences.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq_mat

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value
from .rational import (
    SHAPES,
    Matrix,
    column,
    design,
    eigenvalue_bounds,
    fraction,
    identity,
    matrix,
    proved,
    quadratic,
    random_matrix,
    same,
)

ID = "W19-S4.A"
ISOTROPIC, DEMOCRATIC, FISHER = f"{ID}1", f"{ID}2", f"{ID}3"
#: Relative width granted to eigenvalues that are proved by inertia.
TOLERANCE = 1e-9


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one choice on the named design."""
    X = design(case.text("shape"), case.whole("n"), case.whole("dim"), case.whole("seed"))
    H = X.transpose() * X
    version = version_name(case)
    if case.part == ISOTROPIC:
        return _isotropic(H, Fraction(19, 20) if version == "bound cut by 5 %" else Fraction(1))
    if case.part == DEMOCRATIC:
        return _democratic(H, case.whole("seed"), version)
    return _fisher(X, H, case.whole("seed"), version)


def _isotropic(H: Matrix, share: Fraction) -> Evidence:
    """Enclose ``lambda_max(H^-2) lambda_min(H)^2``: both sides of the supremum, squared."""
    inverse = H.inv()
    top, smallest = eigenvalue_bounds(inverse * inverse)[-1], eigenvalue_bounds(H)[0]
    low, high = top[0] * smallest[0] ** 2 / share**2, top[1] * smallest[1] ** 2 / share**2
    claim = Claim(
        "squared supremum of sqrt(mu_2) over 1/lambda_min^2", 0.0, 1.0 + TOLERANCE, 1.0, observer=Observer.OUTPUT
    )
    return Evidence(
        claim, exact=proved(low, high, "inertia, rational arithmetic"), notes={"lambda_min": float(smallest[0])}
    )


def _democratic(H: Matrix, seed: int, version: str) -> Evidence:
    """Compare the squared leverage part at ``A = H^2`` with the squared length, for three directions."""
    dim = H.nrows()
    A = H if version == "the Fisher choice" else H * H * (101 if version == "scaled by 1.01" else 100) / 100
    inverse = H.inv()
    rows = [random_matrix(dim, 1, seed, 40 + k) for k in range(3)]
    left = column(*(quadratic(x, inverse * A * inverse) for x in rows))
    return same(
        "leverage part against the length of x", left, column(*(fraction((x.transpose() * x)[0, 0]) for x in rows))
    )


def _fisher(X: Matrix, H: Matrix, seed: int, version: str) -> Evidence:
    """Compare the covariance ``A^-1/gamma`` times the Fisher information with a multiple of the identity."""
    dim, n = H.nrows(), X.nrows()
    y, theta, variance, gamma = (
        random_matrix(n, 1, seed, 41),
        random_matrix(dim, 1, seed, 42),
        Fraction(9, 4),
        Fraction(1, 3),
    )

    def negative_log_likelihood(at: Matrix) -> Fraction:
        residual = y - X * at
        return fraction((residual.transpose() * residual)[0, 0]) / (2 * variance)

    def unit(i: int) -> Matrix:
        return matrix(dim, 1, [int(i == j) for j in range(dim)])

    def second_difference(i: int, j: int) -> Fraction:  # exact for a quadratic
        return (
            negative_log_likelihood(theta + unit(i) + unit(j))
            - negative_log_likelihood(theta + unit(i))
            - negative_log_likelihood(theta + unit(j))
            + negative_log_likelihood(theta)
        )

    information = column(*(second_difference(i, j) for i in range(dim) for j in range(dim)))
    square = fmpq_mat(dim, dim, information.entries())
    A: Matrix = {"identity for A": identity(dim), "the democratic choice": H * H}.get(version, H)
    scale = 1 / (gamma * variance)
    return same(
        "noise covariance times Fisher information", A.inv() * square, identity(dim) * column(scale * gamma)[0, 0]
    )


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"shape": SHAPES, "n": (6,), "dim": (1, 2, 4), "seed": (1, 2)}
    plain: dict[str, Value] = {"shape": "generic", "n": 6, "dim": 3, "seed": 3}
    out: list[Case] = []
    for part in (ISOTROPIC, DEMOCRATIC, FISHER):
        out += [case(part, Standing.PRINTED, plain, regime="random design")]
        out += grid(part, Standing.PRINTED, axes, regime="designs", quick_every=7)
    return (
        *out,
        mutant(ISOTROPIC, "bound cut by 5 %", plain, severity=0.05),
        mutant(DEMOCRATIC, "the Fisher choice", plain),
        mutant(DEMOCRATIC, "scaled by 1.01", plain, severity=0.01),
        mutant(FISHER, "identity for A", plain),
        mutant(FISHER, "the democratic choice", plain),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="setting",
    title="Three choices of A",
    locator="Section 4, the list before equation 4.1",
    domain="X^T X invertible, unit x, A set to the named matrix (the paper writes approximately). Decided exactly for n = 6, d <= 4",
    summary=(
        "True: the supremum in A1 is attained (eigenvectors proved to 1e-9), A2 and A3 are identities. The residual part of the "
        "sensitivity still depends on the record, so the democratic choice equalises the leverage part only, as the text says."
    ),
    parts=(
        Part(
            ISOTROPIC,
            "isotropic: A = lambda_min I",
            Formula(
                "sup_(norm(x) = 1) sqrt(x^T (X^T X)^(-2) x) <= 1/lambda_min",
                "sup over unit x of sqrt(x'(X'X)^-2 x) <= 1/lambda_min",
            ),
        ),
        Part(
            DEMOCRATIC,
            "democratic: A = (X^T X)^2",
            Formula(
                "A = (X^T X)^2 ==> sqrt(x^T (X^T X)^(-1) A (X^T X)^(-1) x) = norm(x)",
                "A = (X'X)^2 implies sqrt(x'(X'X)^-1 A (X'X)^-1 x) = ||x||",
            ),
        ),
        Part(
            FISHER,
            "Fisher: A = X^T X",
            Formula(
                "A = X^T X ==> A^(-1)/gamma prop (X^T X/sigma^2)^(-1)",
                "A = X'X implies A^-1/gamma proportional to (X'X/sigma^2)^-1",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
