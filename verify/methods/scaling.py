"""Homogeneity of rates, exactly: how a product of powers moves when features or responses change their unit.

Multiplying every feature vector and its bound by c, and every response and its bound by b, multiplies a parameter by
b/c. A rate that bounds (or equals, up to constants) a quantity must be multiplied by the same power of c and of b;
otherwise their ratio runs to 0 or infinity along such a sequence, whatever the constant.
"""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from functools import partial

from ..kernel.declare import At, Display, Form, Mutant, over, smallest
from ..kernel.measure import Measure
from ..kernel.statement import Case, Claim, Evidence, Observer
from .rational import proved

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
    powers_of: dict[str, Fraction] = {}
    for word in text.split():
        symbol, _, power = word.partition("^")
        if symbol not in UNITS and symbol not in PURE:
            raise ValueError(f"symbol must be one of {', '.join((*UNITS, *PURE))}, got symbol={symbol}")
        powers_of[symbol] = powers_of.get(symbol, Fraction(0)) + Fraction(power or 1)
    return powers_of


def degree(term: Powers) -> tuple[Fraction, Fraction]:
    """Return the powers of the two units in a product."""
    pairs = [(power, UNITS.get(symbol, (0, 0))) for symbol, power in term.items()]
    return sum((p * u[0] for p, u in pairs), Fraction(0)), sum((p * u[1] for p, u in pairs), Fraction(0))


def rate(
    title: str,
    unit: tuple[int, int],
    typst: str,
    *terms: str,
    corrected: tuple[str, ...] = (),
    wrong: str = "",
    derivation: str = "",
) -> Display:
    """Return the display of a rate whose units are checked.

    Parameters
    ----------
    title : str
        Title of the display.
    unit : tuple of int
        Powers of the two units in what the rate stands for: ``LOSS``, ``ERROR``, ``NUMBER``, …
    typst : str
        The printed formula in Typst math.
    terms : str
        Every product in it (a sum, maximum or minimum of them).
    corrected : tuple of str
        The same of the corrected form, if there is one. The mutant is the first product of the form that holds, with a
        tenth of a power of ``X`` too much.
    wrong, derivation : str
        What went wrong, and where the corrected form is derived.
    """
    regime = "change of unit"
    cases = [smallest(regime, {"unit": axis}) if corrected else At(regime, {"unit": axis}) for axis in AXES]
    good = corrected[1:] or terms
    return Display(
        title,
        Form(typst, partial(_leaves, terms, unit), cases),
        Form(corrected[0], partial(_leaves, good, unit), over(regime, {"unit": AXES})) if corrected else None,
        wrong,
        {
            "a tenth of a power of the features' bound too much": Mutant(
                partial(_leaves, [f"{good[0]} X^1/10", *good[1:]], unit), {"unit": AXES[0]}, severity=0.1
            )
        },
        derivation,
    )


def _leaves(terms: Sequence[str], unit: tuple[int, int], case: Case) -> Evidence:
    """Return by how many decades the rate leaves its quantity when a unit is made smaller by eight decades."""
    axis = case.text("unit")
    gaps = [degree(powers(term))[AXES.index(axis)] - unit[AXES.index(axis)] for term in terms]
    quantity = f"power of ten by which the rate misses the unit of its quantity when the {axis} are multiplied by 1e8"
    claim = Claim(quantity, 0.0, 0.0, 0.0, observer=Observer.OUTPUT, measure=Measure.GROWTH)
    return Evidence(claim, exact=proved(DECADES * max(gaps, key=abs)), notes={"products": len(gaps)})
