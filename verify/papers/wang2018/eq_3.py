"""W18, (3): the Cramer-Rao bound, the variance of a prediction, and that least squares attains (1) to (3).

Decided for linear unbiased estimators (G^-1 X^T + N) y with N X = 0 in rational arithmetic; the general case is the
Lehmann-Scheffe argument of docs/derivations/wang2018_rates.md, section 2.
"""

import math
from collections.abc import Callable
from fractions import Fraction

from flint import fmpq

from ...methods.minimax import FULL_RANK, TOLERANCE, design_of, estimation_risk, prediction_risk
from ...methods.rational import Matrix, between, eigenvalue_bounds, fraction, identity, quadratic, random_matrix, trace
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, statement

#: From a design to the matrix that maps responses to the estimate.
Estimator = Callable[[Matrix], Matrix]


def least_squares(X: Matrix) -> Matrix:
    """Return the best linear unbiased estimator."""
    return (X.transpose() * X).inv() * X.transpose()


def other(X: Matrix) -> Matrix:
    """Return another linear unbiased estimator."""
    best = least_squares(X)
    return best + random_matrix(X.ncols(), X.nrows(), 5, 9) * (identity(X.nrows()) - X * best)


def ridge(X: Matrix) -> Matrix:
    """Return one that is not unbiased."""
    return (X.transpose() * X + identity(X.ncols(), fmpq(1, 10))).inv() * X.transpose()


def _bound(case: Case, estimator: Estimator | None, share: int | fmpq) -> tuple[Matrix, Matrix]:
    """Return the covariance of the case's estimator minus ``share`` times the bound (sigma = 1), and that bound."""
    X = design_of(case)
    named = least_squares if case.params.get("estimator") == "least squares" else other
    matrix = (estimator or named)(X)
    bound = (X.transpose() * X).inv() * share
    return matrix * matrix.transpose() - bound, bound


def _covariance(case: Case, *, estimator: Estimator | None = None, share: int | fmpq = 1) -> Evidence:
    excess, bound = _bound(case, estimator, share)
    low, high = eigenvalue_bounds(excess)[0] if any(excess.entries()) else (Fraction(0), Fraction(0))
    # eigenvalues that are exactly 0 are only known to lie around it, far closer than any mutant
    quantity = "smallest eigenvalue of covariance minus bound, over the bound's trace"
    size, method = trace(bound), "Sylvester's inertia, rational"
    return between(quantity, low / size, -TOLERANCE, math.inf, 0.0, upper=high / size, method=method)


def _variance(case: Case, *, estimator: Estimator | None = None, share: int | fmpq = 1) -> Evidence:
    excess, bound = _bound(case, estimator, share)
    x = random_matrix(bound.nrows(), 1, case.whole("n"), 7)
    value = quadratic(x, excess) / quadratic(x, bound)
    return between("Var(theta_hat^T x) over its bound, minus 1", value, 0.0, math.inf, 0.0)


def _attained(case: Case, *, estimator: Estimator = least_squares) -> Evidence:
    """Return how far an estimator's supremum over theta_0 is from (1) (as a risk), (2) and (3), the largest, relatively."""
    X, sigma = design_of(case), Fraction(case.number("sigma"))
    matrix = estimator(X)
    if any((matrix * X - identity(X.ncols())).entries()):  # a bias linear in theta_0: both suprema are infinite
        low = high = Fraction(10**6)
    else:
        covariance, inverse = matrix * matrix.transpose(), (X.transpose() * X).inv()
        first, second = prediction_risk(X, sigma), estimation_risk(X, sigma)
        risks = (sigma**2 * trace(X * covariance * X.transpose()) / 2, sigma**2 * trace(covariance))
        third = max(abs(fraction(e)) for e in (covariance - inverse).entries()) / trace(inverse)
        low, high = (max(risks[0] / first[i] - 1, risks[1] / second[i] - 1, third) for i in (1, 0))
    return between("largest relative excess over the three bounds", low, 0.0, TOLERANCE, 0.0, upper=high)


def _mutants(check: Callable[..., Evidence]) -> dict[str, Mutant]:
    return {
        "bound 1 % larger": Mutant(check, BEST, severity=0.01, share=fmpq(101, 100)),
        "a ridge estimator (not unbiased)": Mutant(check, GENERIC, estimator=ridge),
    }


GENERIC = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}
BEST = GENERIC | {"estimator": "least squares"}
AXES = FULL_RANK | {"X": ("generic", "nearly collinear", "one long row"), "sigma": (1.0,)}
BOTH = over("linear unbiased estimators", AXES | {"estimator": ("least squares", "other")}, quick_every=9)

STATEMENT = statement(
    "W18-E3",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed with invertible X^T X; unbiased estimators of finite variance (sigma divides out)",
    summary="True, with equality for least squares alone (the sign stands for the semidefinite order). Least squares attains the infimum "
    "on the left of (1) too, whichever its right side is (W18-E1).",
    displays={
        "#covariance": Display(
            "covariance of an unbiased estimator",
            Form('op("Cov")(hat(theta)) succ sigma^2 (X^T X)^(-1)', _covariance, BOTH),
            mutants=_mutants(_covariance),
        ),
        "#variance": Display(
            "variance of a prediction",
            Form('op("Var")(hat(theta)^T x) >= sigma^2 x^T (X^T X)^(-1) x', _variance, BOTH),
            mutants=_mutants(_variance),
        ),
        "#attained": Display(
            "least squares attains the three bounds together",
            Form(
                'theta^* "attains" (1), (2), (3)',
                _attained,
                [
                    *over("least squares", AXES | {"estimator": ("least squares",)}, quick_every=9),
                    At("n = d", BEST | {"n": 2, "dim": 2, "X": "identity"}, Role.EDGE),
                ],
            ),
            mutants={
                "a ridge estimator (not unbiased)": Mutant(_attained, GENERIC, estimator=ridge),
                "another unbiased estimator": Mutant(_attained, GENERIC, estimator=other),
            },
        ),
    },
)
