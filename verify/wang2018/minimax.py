"""Minimax risks of the linear Gaussian model in rational arithmetic, from above by least squares, from below by priors."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from flint import fmpq

from ..statement import Value
from ..wang2019.rational import Matrix, design, fraction, identity

#: sigma^2/tau^2 of the prior N(0, tau^2 I) whose Bayes risk is the lower bound.
KAPPA = fmpq(1, 10**24)
#: Designs, and a rank-deficient one.
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


def trace(A: Matrix) -> Fraction:
    """Return the trace."""
    return sum((fraction(A[i, i]) for i in range(A.nrows())), Fraction(0))


def prediction_risk(X: Matrix, sigma: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the minimax risk ``E|X (theta_hat - theta_0)|^2/2``: a Bayes risk, and that of least squares."""
    gram = X.transpose() * X
    shrunk = trace(gram * (gram + identity(X.ncols(), KAPPA)).inv())
    return sigma**2 * shrunk / 2, sigma**2 * Fraction(int(X.rank())) / 2


def estimation_risk(X: Matrix, sigma: Fraction) -> tuple[Fraction, Fraction]:
    """Return bounds of the minimax risk ``E|theta_hat - theta_0|^2``; ``X`` has full column rank."""
    gram = X.transpose() * X
    return sigma**2 * trace((gram + identity(X.ncols(), KAPPA)).inv()), sigma**2 * trace(gram.inv())


def designs(shapes: Sequence[str]) -> dict[str, Sequence[Value]]:
    """Return the axes of a grid of designs."""
    return {"n": (4, 9, 30), "dim": (1, 2, 4), "X": tuple(shapes), "sigma": (2.0**-10, 1.0, 100.0)}
