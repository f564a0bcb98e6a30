"""Rational regression problems with one more record: what the identities of sections 3 and 4 are about."""

from dataclasses import dataclass
from fractions import Fraction

from flint import fmpq

from ....methods.rational import Matrix, design, fraction, identity, random_matrix, stack
from ...kit import Case


@dataclass(frozen=True)
class Regression:
    """A ridge problem ``X, y, lam`` and the record ``x, target`` that joins it; columns are matrices."""

    X: Matrix
    y: Matrix
    x: Matrix
    target: Matrix
    lam: int | fmpq = 0

    @property
    def H(self) -> Matrix:
        """Hessian without the record."""
        return self.X.transpose() * self.X + identity(self.X.ncols(), self.lam)

    @property
    def joined(self) -> Matrix:
        """Hessian with the record."""
        return self.H + self.x * self.x.transpose()

    @property
    def moments(self) -> tuple[Matrix, Matrix]:
        """Products ``X^T y`` without and with the record, the latter from the stacked data."""
        both, responses = stack(self.X, self.x), stack(self.y, self.target)
        return self.X.transpose() * self.y, both.transpose() * responses

    @property
    def fits(self) -> tuple[Matrix, Matrix]:
        """Estimates without and with the record, each solved by itself."""
        without, within = self.moments
        return self.H.solve(without), self.joined.solve(within)

    def residual(self, at: Matrix) -> Fraction:
        """Residual of the record."""
        return fraction((self.target - self.x.transpose() * at)[0, 0])


def records(case: Case) -> tuple[Matrix, Matrix]:
    """Return the design and the responses of a case."""
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    return design(case.text("shape"), n, dim, seed), random_matrix(n, 1, seed, 5)


def regression(case: Case, lam: int = 0) -> Regression:
    """Return the problem of a case, with a random record."""
    dim, seed = case.whole("dim"), case.whole("seed")
    return Regression(*records(case), random_matrix(dim, 1, seed, 6), random_matrix(1, 1, seed, 7), lam)
