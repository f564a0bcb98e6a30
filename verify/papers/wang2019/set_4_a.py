"""W19, section 4: three choices of the noise matrix A for linear regression, in rational arithmetic.

A1: sup over unit x of sqrt(x^T H^-2 x) is 1/lambda_min, by proved eigenvalues. A2: x^T H^-1 H^2 H^-1 x = |x|^2.
A3: the noise covariance is proportional to the inverse Fisher information, read off the log likelihood by exact second
differences.
"""

from collections.abc import Callable
from fractions import Fraction

from ...methods.rational import (
    SHAPES,
    Matrix,
    between,
    column,
    design,
    eigenvalue_bounds,
    fraction,
    hessian,
    identity,
    quadratic,
    random_matrix,
    same,
    scalar,
)
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, statement

#: Relative width granted to eigenvalues that are proved by inertia.
TOLERANCE = 1e-9
Choice = Callable[[Matrix], Matrix]


def _design(case: Case) -> Matrix:
    return design(case.text("shape"), case.whole("n"), case.whole("dim"), case.whole("seed"))


def _isotropic(case: Case, *, share: Fraction = Fraction(1)) -> Evidence:
    """Enclose ``lambda_max(H^-2) lambda_min(H)^2`` over ``share^2``: both sides of the supremum, squared."""
    X = _design(case)
    H = X.transpose() * X
    top, smallest = eigenvalue_bounds(H.inv() * H.inv())[-1], eigenvalue_bounds(H)[0]
    low, high = (top[end] * smallest[end] ** 2 / share**2 for end in (0, 1))
    words, method = "squared supremum of sqrt(mu_2) over 1/lambda_min^2", "inertia, rational arithmetic"
    notes = {"lambda_min": float(smallest[0])}
    return between(words, low, 0.0, 1.0 + TOLERANCE, 1.0, upper=high, method=method, notes=notes)


def _democratic(case: Case, *, choice: Choice = lambda H: H * H) -> Evidence:
    """Compare the squared leverage part at A, a ``choice`` for H, with the squared length, for three directions."""
    X, seed = _design(case), case.whole("seed")
    H = X.transpose() * X
    weight = H.inv() * choice(H) * H.inv()
    directions = [random_matrix(H.nrows(), 1, seed, 40 + k) for k in range(3)]
    left = column(*(quadratic(x, weight) for x in directions))
    right = column(*(fraction((x.transpose() * x)[0, 0]) for x in directions))
    return same("leverage part against the length of x", left, right)


def _fisher(case: Case, *, choice: Choice = lambda H: H) -> Evidence:
    """Compare the covariance ``A^-1/gamma`` times the Fisher information with a multiple of the identity."""
    X, seed, variance = _design(case), case.whole("seed"), Fraction(9, 4)
    n, dim = X.nrows(), X.ncols()
    y, theta = random_matrix(n, 1, seed, 41), random_matrix(dim, 1, seed, 42)

    def negative_log_likelihood(at: Matrix) -> Fraction:
        residual = y - X * at
        return fraction((residual.transpose() * residual)[0, 0]) / (2 * variance)

    information = hessian(negative_log_likelihood, theta)
    covariance = choice(X.transpose() * X).inv()  # times 1/gamma, which multiplies both sides
    expected = identity(dim) * scalar(1 / variance)
    return same("noise covariance times Fisher information", covariance * information, expected)


PLAIN = {"shape": "generic", "n": 6, "dim": 3, "seed": 3}
CASES = [
    At("random design", PLAIN),
    *over("designs", {"shape": SHAPES, "n": (6,), "dim": (1, 2, 4), "seed": (1, 2)}, quick_every=7),
]

STATEMENT = statement(
    "W19-S4.A",
    domain="X^T X invertible, unit x, A set to the named matrix (the paper writes approximately). Decided exactly for n = 6, d <= 4",
    summary="True: the supremum in A1 is attained (eigenvectors proved to 1e-9), A2 and A3 are identities. The residual part of the "
    "sensitivity still depends on the record, so the democratic choice equalises the leverage part only, as the text says.",
    displays={
        "1": Display(
            "isotropic: A = lambda_min I",
            printed=Form("sup_(norm(x) = 1) sqrt(x^T (X^T X)^(-2) x) <= 1/lambda_min", _isotropic, CASES),
            mutants={"bound cut by 5 %": Mutant(_isotropic, PLAIN, severity=0.05, share=Fraction(19, 20))},
        ),
        "2": Display(
            "democratic: A = (X^T X)^2",
            printed=Form("A = (X^T X)^2 ==> sqrt(x^T (X^T X)^(-1) A (X^T X)^(-1) x) = norm(x)", _democratic, CASES),
            mutants={
                "the Fisher choice": Mutant(_democratic, PLAIN, choice=lambda H: H),
                "scaled by 1.01": Mutant(_democratic, PLAIN, severity=0.01, choice=lambda H: H * H * 101 / 100),
            },
        ),
        "3": Display(
            "Fisher: A = X^T X",
            printed=Form("A = X^T X ==> A^(-1)/gamma prop (X^T X/sigma^2)^(-1)", _fisher, CASES),
            mutants={
                "identity for A": Mutant(_fisher, PLAIN, choice=lambda H: identity(H.nrows())),
                "the democratic choice": Mutant(_fisher, PLAIN, choice=lambda H: H * H),
            },
        ),
    },
)
