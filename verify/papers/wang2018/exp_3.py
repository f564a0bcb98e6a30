"""W18, Figures 1, 4 and 5: regions and curves of the lower bounds, and four calibrations on data.

Figures 1 and 4 are drawn here from the printed bounds; a drawing with constants and logarithms left out is no claim that numbers decide.
Figure 5 needs the data.
"""

import math
from functools import partial

from reports.row import Figure

from ...kernel.statement_plots import curve_figure
from ..kit import At, Case, Claim, Display, Evidence, Form, Observer, statement


def _open(case: Case, *, reason: str) -> Evidence:
    claim = Claim("not decided", -math.inf, math.inf, math.nan, observer=Observer.OUTPUT)
    return Evidence(claim, reason=reason)


def _figure(number: int, typst: str, reason: str) -> Display:
    """Return the display of a printed figure, with the reason why it is not decided."""
    return Display(f"Figure {number}", Form(typst, partial(_open, reason=reason), [At("not decided")]))


def statistical(n: float, d: float, theta: float) -> float:
    """Return the order of (4) at unit bounds of x and y and radius ``theta``."""
    return min(n, theta**2 + d, math.sqrt(n) * theta)


def private(n: float, d: float, theta: float, epsilon: float, alpha: float) -> float:
    """Return the smaller of the orders of (5) and (6) at unit bounds."""
    lipschitz = min(n, math.sqrt(d) * (theta**2 + theta) / epsilon)
    strong = min(n, d**2 * (theta + 1) ** 2 / (n * alpha * epsilon**2))
    return min(lipschitz, strong)


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the orders of the lower bounds against n for a small and a large radius (Figure 4)."""
    d, sizes = 100.0, [2.0**k for k in range(2, 28)]
    radii = (("small", "radius of the order of Y/B", 1.0), ("large", "radius of the order of sqrt(d)", math.sqrt(d)))
    return tuple(
        curve_figure(
            f"w18-x3-{name}",
            f"Orders of the lower bounds, {words}",
            "d = 100, epsilon = 0.1, unit bounds, constants and logarithms ignored. Where a private curve is above the statistical one, "
            "privacy has a price.",
            "Curves of the statistical and the private lower bounds against the number of records, on logarithmic scales.",
            ("number of records", "order of the lower bound"),
            sizes,
            {
                "statistical (4)": partial(statistical, d=d, theta=theta),
                "private, alpha* = 1": partial(private, d=d, theta=theta, epsilon=0.1, alpha=1.0),
                "private, alpha* = 0.01": partial(private, d=d, theta=theta, epsilon=0.1, alpha=0.01),
            },
            {},
            x_scale="log",
            y_scale="log",
        )
        for name, words, theta in radii
    )


STATEMENT = statement(
    "W18-X3",
    domain="Figures 1 and 4: delta = o(1/n), logarithms ignored; Figure 5: the four calibrations of appendix F on data sets",
    summary="Not decided: the figures show orders, or data that are not shipped. The formulas behind them are W18-E4 to E6b and W18-F1 to F4, and "
    "Figure 4 is drawn here. With the data sets, `pdp-verify certify` on each with the classes of W18-F1 to F4 gives the numbers of Figure 5.",
    displays={
        "#Figure 1": _figure(
            1,
            '"regions of" epsilon "in which privacy is free"',
            "no finite test: regions of orders, constants and logarithms ignored",
        ),
        "#Figure 4": _figure(
            4,
            '"(4) against the smaller of (5), (6)"',
            "no finite test: curves of orders, constants and logarithms ignored",
        ),
        "#Figure 5": _figure(
            5,
            '"no calibration dominates; concentrated and balanced beat diffuse and conservative"',
            "data missing: the figure is a comparison on data that are not shipped, and its numbers are not printed",
        ),
    },
    figures=figures,
)
