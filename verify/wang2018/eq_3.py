"""W18, (3): the Cramer-Rao bound, the variance of a prediction, and that least squares attains (1) to (3).

Decided for linear unbiased estimators (G^-1 X^T + N) y with N X = 0 in rational arithmetic; the general case is the
Lehmann-Scheffe argument of docs/derivations/wang2018_rates.md, section 2.
"""

from __future__ import annotations

from fractions import Fraction

from flint import fmpq

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import Matrix, eigenvalue_bounds, fraction, identity, proved, quadratic, random_matrix
from .minimax import designs, estimation_risk, fixed_design, prediction_risk, trace

ID = "W18-E3"
COVARIANCE, VARIANCE, ATTAINED = f"{ID}#covariance", f"{ID}#variance", f"{ID}#attained"
TOLERANCE = 1e-12
RIDGE = "a ridge estimator (not unbiased)"
LARGER = "bound 1 % larger"


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case of one part."""
    X = fixed_design(case.text("X"), case.whole("n"), case.whole("dim"))
    estimator = _estimator(X, case.params.get("estimator", "other"), case.mutant == RIDGE)
    if case.part == ATTAINED:
        return _attained(X, estimator, Fraction(case.number("sigma")))
    bound = (X.transpose() * X).inv() * (fmpq(101, 100) if version_name(case) == LARGER else fmpq(1))
    excess = estimator * estimator.transpose() - bound
    if case.part == VARIANCE:
        x = random_matrix(X.ncols(), 1, case.whole("n"), 7)
        value = quadratic(x, excess) / quadratic(x, bound)
        claim = Claim("Var(theta_hat^T x) over its bound, minus 1", 0.0, float("inf"), 0.0, observer=Observer.OUTPUT)
        return Evidence(claim, exact=proved(value))
    size = trace(bound)
    low, high = eigenvalue_bounds(excess)[0] if any(excess.entries()) else (Fraction(0), Fraction(0))
    # eigenvalues that are exactly 0 are only known to lie around it, far closer than any mutant
    claim = Claim(
        "smallest eigenvalue of covariance minus bound, over the bound's trace",
        -TOLERANCE,
        float("inf"),
        0.0,
        observer=Observer.OUTPUT,
    )
    return Evidence(claim, exact=proved(low / size, high / size, "Sylvester's inertia, rational"))


def _estimator(X: Matrix, kind: object, ridge: bool) -> Matrix:
    """Return the matrix that maps responses to the estimate."""
    n, dim = X.nrows(), X.ncols()
    gram = X.transpose() * X
    if ridge:
        return (gram + identity(dim, fmpq(1, 10))).inv() * X.transpose()
    least_squares = gram.inv() * X.transpose()
    if kind == "least squares":
        return least_squares
    return least_squares + random_matrix(dim, n, 5, 9) * (identity(n) - X * least_squares)


def _attained(X: Matrix, estimator: Matrix, sigma: Fraction) -> Evidence:
    """Return how far an estimator's supremum over theta_0 is from (1) (as a risk), (2) and (3), the largest, relatively."""
    residual = estimator * X - identity(X.ncols())
    if any(residual.entries()):  # a bias linear in theta_0: both suprema are infinite
        gap_low = gap_high = Fraction(10**6)
    else:
        covariance = estimator * estimator.transpose()
        inverse = (X.transpose() * X).inv()
        first, second = prediction_risk(X, sigma), estimation_risk(X, sigma)
        risks = (sigma**2 * trace(X * covariance * X.transpose()) / 2, sigma**2 * trace(covariance))
        third = max(abs(fraction(e)) for e in (covariance - inverse).entries()) / trace(inverse)
        gap_low = max(risks[0] / first[1] - 1, risks[1] / second[1] - 1, third)
        gap_high = max(risks[0] / first[0] - 1, risks[1] / second[0] - 1, third)
    claim = Claim("largest relative excess over the three bounds", 0.0, TOLERANCE, 0.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(gap_low, gap_high))


def _cases() -> tuple[Case, ...]:
    generic: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}
    best: dict[str, Value] = {**generic, "estimator": "least squares"}
    axes = designs(("generic", "nearly collinear", "one long row")) | {"sigma": (1.0,)}
    both = axes | {"estimator": ("least squares", "other")}
    printed = Standing.PRINTED
    return (
        *grid(COVARIANCE, printed, both, regime="linear unbiased estimators", quick_every=9),
        *grid(VARIANCE, printed, both, regime="linear unbiased estimators", quick_every=9),
        *grid(ATTAINED, printed, axes | {"estimator": ("least squares",)}, regime="least squares", quick_every=9),
        case(ATTAINED, printed, {**best, "n": 2, "dim": 2, "X": "identity"}, role=Role.EDGE, regime="n = d"),
        *(mutant(part, LARGER, best, severity=0.01) for part in (COVARIANCE, VARIANCE)),
        *(mutant(part, RIDGE, generic) for part in (COVARIANCE, VARIANCE, ATTAINED)),
        mutant(ATTAINED, "another unbiased estimator", generic),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Cramer-Rao bound",
    locator="Equation 3, section 3.1",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed with invertible X^T X; unbiased estimators of finite variance (sigma divides out)",
    summary=(
        "True, with equality for least squares alone (the sign stands for the semidefinite order). Least squares attains the infimum "
        "on the left of (1) too, whichever its right side is (W18-E1)."
    ),
    parts=(
        Part(
            COVARIANCE,
            "covariance of an unbiased estimator",
            Formula(
                'op("Cov")(hat(theta)) succ sigma^2 (X^T X)^(-1)',
                "Cov(theta_hat) >= sigma^2 (X'X)^-1 in the semidefinite order",
            ),
        ),
        Part(
            VARIANCE,
            "variance of a prediction",
            Formula(
                'op("Var")(hat(theta)^T x) >= sigma^2 x^T (X^T X)^(-1) x', "Var(theta_hat' x) >= sigma^2 x' (X'X)^-1 x"
            ),
        ),
        Part(
            ATTAINED,
            "least squares attains the three bounds together",
            Formula('theta^* "attains" (1), (2), (3)', "theta* attains (1), (2) and (3)"),
        ),
    ),
    cases=_cases(),
    check=check,
)
