"""By how many decades a printed expression leaves what it stands for when a unit changes: by evaluating it twice."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from oracles.formula_cases import exact_value

from verify.kernel.statement import Statement


@dataclass(frozen=True)
class Sizes:
    """Everything with a unit, of one small problem: the bounds of features and responses decide the rest."""

    X: float = 1.0
    Y: float = 1.0

    @property
    def theta(self) -> float:
        """Length of a parameter: predictions have the size of responses."""
        return self.Y / self.X

    Theta = theta

    @property
    def eigenvalue(self) -> float:
        """Smallest eigenvalue of the Gram matrix of one record at the bound, and every ridge."""
        return self.X**2

    @property
    def L(self) -> float:
        """Lipschitz constant of one record's loss, section 2."""
        return self.X**2 * self.Theta + self.X * self.Y


#: The expressions a display adds up (or takes the maximum or minimum of), and the quantity it stands for.
Terms = Callable[[Sizes], Iterable[float]]


def drift(terms: Terms, stands_for: Callable[[Sizes], float], grown: Sizes) -> float:
    """Return the decades of the term that leaves the quantity most from unit sizes to ``grown``."""
    before, after = terms(Sizes()), terms(grown)
    ratio = stands_for(grown) / stands_for(Sizes())
    return max((math.log10(a / b / ratio) for a, b in zip(after, before, strict=True)), key=abs)


def assert_units(
    statement: Statement | str, part: str, version: str, terms: Terms, stands_for: Callable[[Sizes], float]
) -> None:
    """Assert that the check says what evaluating ``terms`` at features, then responses, eight decades larger says."""
    for unit, grown in (("features", Sizes(X=1e8)), ("responses", Sizes(Y=1e8))):
        value = exact_value(statement, part, version, {"unit": unit})
        assert math.isclose(value, drift(terms, stands_for, grown), abs_tol=1e-9), (part, version, unit)
