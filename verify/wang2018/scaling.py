"""Homogeneity of rates, exactly: how a product of powers moves when features or responses change their unit.

Multiplying every feature vector and its bound by c, and every response and its bound by b, multiplies a parameter by
b/c. A rate that bounds (or equals, up to constants) a quantity must be multiplied by the same power of c and of b;
otherwise their ratio runs to 0 or infinity along such a sequence, whatever the constant.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from ..cases import case, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing
from ..wang2019.rational import proved

#: Powers of the features' and of the responses' unit in every symbol that has a unit; all others have none.
UNITS: Mapping[str, tuple[int, int]] = {
    "X": (1, 0),  # bound of the features
    "Y": (0, 1),  # bound of the responses
    "Theta": (-1, 1),  # radius of the parameter domain
    "theta": (-1, 1),  # norm of a parameter
    "sigma": (0, 1),  # noise of the linear model
    "L": (1, 1),  # Lipschitz constant of one record's loss
    "eigenvalue": (2, 0),  # of the Gram matrix; a ridge
    "trace1": (-2, 0),  # trace of the inverse Gram matrix
    "trace2": (-4, 0),  # trace of its square
}
PURE = ("d", "n", "alpha", "epsilon", "log")
AXES = ("features", "responses")
DECADES = 8

#: Squared loss; squared error of parameters; a pure number; a ridge or an eigenvalue.
LOSS, ERROR, NUMBER, EIGENVALUE = (0, 2), (-2, 2), (0, 0), (2, 0)

Powers = Mapping[str, Fraction]


def powers(text: str) -> Powers:
    """Return the powers in a product such as ``"d^1/2 X^2 epsilon^-1"``.

    Raises
    ------
    ValueError
        If a symbol is not known.
    """
    found: dict[str, Fraction] = {}
    for word in text.split():
        symbol, _, power = word.partition("^")
        if symbol not in UNITS and symbol not in PURE:
            raise ValueError(f"symbol must be one of {', '.join((*UNITS, *PURE))}, got symbol={symbol}")
        found[symbol] = found.get(symbol, Fraction(0)) + Fraction(power or 1)
    return found


def degree(term: Powers) -> tuple[Fraction, Fraction]:
    """Return the powers of the two units in a product."""
    pairs = [(power, UNITS.get(symbol, (0, 0))) for symbol, power in term.items()]
    return sum((p * u[0] for p, u in pairs), Fraction(0)), sum((p * u[1] for p, u in pairs), Fraction(0))


@dataclass(frozen=True)
class Rate:
    """A rate whose units are checked: a sum, maximum or minimum of products, as printed and as corrected.

    ``target`` holds the powers of the two units in what the rate stands for; ``slip`` names the mutant: the first
    product with a power of ``X`` changed by a tenth.
    """

    id: str
    title: str
    target: tuple[int, int]
    printed: tuple[str, ...]
    formula: Formula
    corrected: tuple[str, ...] = ()
    corrected_formula: Formula | None = None
    what_went_wrong: str = ""
    derivation: str = ""
    reading: str = ""
    slipped: str = field(default="a tenth of a power of the features' bound too much")

    def part(self) -> Part:
        """Return the part of the statement."""
        return Part(
            self.id,
            self.title,
            self.formula,
            self.corrected_formula,
            self.what_went_wrong,
            self.derivation,
            self.reading,
        )

    def terms(self, version: str) -> tuple[Powers, ...]:
        """Return the products of a version: ``printed``, ``corrected``, or the mutant."""
        chosen = tuple(
            powers(term) for term in (self.corrected if version != "printed" and self.corrected else self.printed)
        )
        if version in ("printed", "corrected"):
            return chosen
        first = dict(chosen[0])
        first["X"] = first.get("X", Fraction(0)) + Fraction(1, 10)
        return (first, *chosen[1:])

    def check(self, case: Case) -> Evidence:
        """Return by how many decades the rate leaves its target when a unit is made smaller by eight decades."""
        axis = AXES.index(case.text("unit"))
        gaps = [degree(term)[axis] - self.target[axis] for term in self.terms(version_name(case))]
        worst = max(gaps, key=abs)
        claim = Claim(
            f"decades by which the rate leaves its quantity when the {case.text('unit')} grow by eight decades",
            0.0,
            0.0,
            0.0,
            observer=Observer.OUTPUT,
        )
        return Evidence(claim, exact=proved(DECADES * worst), notes={"products": len(gaps)})

    def cases(self) -> tuple[Case, ...]:
        """Return the cases: both units in every version, and the mutant of the version that holds."""
        out = []
        for standing in (Standing.PRINTED, Standing.CORRECTED):
            if standing is Standing.CORRECTED and not self.corrected:
                continue
            refuted = standing is Standing.PRINTED and bool(self.corrected)
            role = Role.COUNTEREXAMPLE if refuted else Role.REGIME
            out += [case(self.id, standing, {"unit": axis}, role=role, regime="change of unit") for axis in AXES]
        return (*out, mutant(self.id, self.slipped, {"unit": AXES[0]}, severity=0.1))


def rate_of(rates: tuple[Rate, ...], case: Case) -> Rate:
    """Return the rate that a case is about."""
    return next(rate for rate in rates if rate.id == case.part)
