"""Minimax risks of the linear Gaussian model in exact rationals, from above by least squares, from below by priors."""

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from ..kernel.statement import Case, Claim, Evidence, Observer, Value
from .rational import Matrix, design, identity, proved, trace

#: sigma^2/tau^2 of the prior N(0, tau^2 I) whose Bayes risk is the lower bound.
KAPPA = fmpq(1, 10**24)
#: Relative distance within which two risks are equal.
TOLERANCE = 1e-12
#: Numbers of the cases of full column rank.
FULL_RANK: dict[str, Sequence[Value]] = {
    "n": (4, 9, 30),
    "dim": (1, 2, 4),
    "X": ("generic", "nearly collinear", "duplicated rows", "one long row"),
    "sigma": (2.0**-10, 1.0, 100.0),
}
#: A rank-deficient design.
REPEATED = "last feature repeats the first"


def fixed_design(shape: str, n: int, dim: int) -> Matrix:
    """Return a rational design of a case."""
    X = design("generic" if shape in (REPEATED, "identity") else shape, n, dim, 31)
    if shape == "identity":
        return identity(dim)
    if shape == REPEATED:
        for i in range(n):
            X[i, dim - 1] = X[i, 0]
    return X


def prediction_risk(X: Matrix, sigma: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the minimax risk ``E|X (theta_hat - theta_0)|^2/2``: a Bayes risk, and that of least squares."""
    gram = X.transpose() * X
    shrunk = trace(gram * (gram + identity(X.ncols(), KAPPA)).inv())
    return sigma**2 * shrunk / 2, sigma**2 * Fraction(int(X.rank())) / 2


def estimation_risk(X: Matrix, sigma: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the minimax risk ``E|theta_hat - theta_0|^2``; ``X`` has full column rank."""
    gram = X.transpose() * X
    return sigma**2 * trace((gram + identity(X.ncols(), KAPPA)).inv()), sigma**2 * trace(gram.inv())


def design_of(case: Case) -> Matrix:
    """Return the rational design that a case names."""
    return fixed_design(case.text("X"), case.whole("n"), case.whole("dim"))


def risk_evidence(quantity: str, bounds: tuple[Fraction, Fraction], stated: Fraction) -> Evidence:
    """Decide that a minimax risk between two bounds is the stated number."""
    number = float(stated)
    claim = Claim(quantity, number * (1 - TOLERANCE), number * (1 + TOLERANCE), number, observer=Observer.OUTPUT)
    method = "least squares from above, Bayes risk from below, rational arithmetic"
    return Evidence(claim, exact=proved(*bounds, method))
