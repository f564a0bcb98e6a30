"""RW21, Lemma 30: the density of a transformed random variable.

The right side is compared with the derivative of the exact distribution function, by Taylor series in ball arithmetic,
for monotone maps of a normal variable; and for linear maps of a normal pair with the normal density of the image.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from flint import arb, arb_mat, arb_series

from audits import Budget, Estimate
from mechanisms.balls import enclose

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value

ID = "RW21-L30"
Ball = Any
#: Inverse maps; the second is decreasing.
INVERSES: dict[str, Callable[[Ball], Ball]] = {
    "exp": lambda y: y.log(),
    "exp(-x)": lambda y: -y.log(),
    "cubic": lambda y: ((y + (y * y + 1).sqrt()).log() / 3).exp() - (-(y + (y * y + 1).sqrt()).log() / 3).exp(),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose the ratio of the lemma's density and the true one."""
    ratio = _linear if case.text("map") == "linear" else _monotone
    found = enclose(lambda: ratio(case))
    claim = Claim("printed density over true density", 1 - 1e-12, 1 + 1e-12, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def _monotone(case: Case) -> Ball:
    y, version = arb(case.number("y")), version_name(case)
    series = INVERSES[case.text("map")](arb_series([y, arb(1)], prec=3))
    inverse, slope = series[0], series[1]
    above = (series / arb(2).sqrt()).erf()[1] / 2  # derivative of Phi(g^-1(y)), negative for a decreasing map
    density = (-inverse * inverse / 2).exp() / (2 * arb.pi()).sqrt()
    factor = {
        "no absolute value": slope,
        "inverse of the factor": 1 / abs(slope),
        "scaled by 1.01": abs(slope) * 101 / 100,
    }
    return density * factor.get(version, abs(slope)) / abs(above)


def _linear(case: Case) -> Ball:
    """Return the ratio for Y = A X, X standard normal in the plane: Y is normal with covariance A A^T."""
    seed, y = case.whole("seed"), arb_mat(2, 1, [arb(case.number("y")), arb(0.5)])
    A = arb_mat(2, 2, [arb(v) for v in (1.0 + seed, 0.5, -2.0, 1.0)])
    inverse, covariance = A.inv(), A * A.transpose()
    x = inverse * y
    truth = (-(y.transpose() * covariance.inv() * y)[0, 0] / 2).exp() / covariance.det().sqrt()
    version, det = version_name(case), abs(inverse.det())
    factor = {"inverse of the factor": 1 / det, "no absolute value": inverse.det()}.get(version, det)
    return (-(x.transpose() * x)[0, 0] / 2).exp() * factor / truth


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {"map": ("exp", "exp(-x)", "cubic"), "y": (0.125, 0.7, 3.0, 40.0)}
    plane: dict[str, tuple[Value, ...]] = {"map": ("linear",), "seed": (1, 2, 5), "y": (-3.0, 0.0, 1.5)}
    down: dict[str, Value] = {"map": "exp(-x)", "y": 0.7}
    return (
        *grid(ID, Standing.PRINTED, axes, regime="monotone maps of a normal variable", quick_every=3),
        *grid(ID, Standing.PRINTED, plane, regime="linear maps of a normal pair", quick_every=3),
        mutant(ID, "no absolute value", down),
        mutant(ID, "inverse of the factor", down),
        mutant(ID, "scaled by 1.01", down, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Change of variables",
    locator="Supplement G, Lemma 30",
    domain="g bijective and differentiable with a differentiable inverse, X and Y with densities. Decided for three monotone maps and for linear maps of the plane",
    summary="True, the textbook identity. It needs the inverse to be differentiable, which bijective and differentiable g alone does not give (x^3 at 0).",
    parts=(
        Part(
            ID,
            "density of g(X)",
            Formula(
                "f_Y (y) = f_X (g^(-1)(y)) abs(det (partial g^(-1)(y))/(partial y))",
                "f_Y(y) = f_X(g^-1(y)) |det d g^-1(y)/dy|",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
