"""RW21, Lemma 30: the density of a transformed random variable.

The right side is compared with the derivative of the exact distribution function, by Taylor series in ball arithmetic,
for monotone maps of a normal variable; and for linear maps of a normal pair with the normal density of the image.
"""

from collections.abc import Callable
from functools import partial

from flint import arb, arb_mat, arb_series

from mechanisms.numerics.balls import Ball

from ...methods.enclosed import enclosed
from ..kit import Case, Evidence, Form, Mutant, over, statement

#: Inverse maps; the second is decreasing.
INVERSES: dict[str, Callable[[Ball], Ball]] = {
    "exp": lambda y: y.log(),
    "exp(-x)": lambda y: -y.log(),
    "cubic": lambda y: ((y + (y * y + 1).sqrt()).log() / 3).exp() - (-(y + (y * y + 1).sqrt()).log() / 3).exp(),
}
#: What multiplies the density, from the derivative (or determinant) of the inverse map.
Factor = Callable[[Ball], Ball]


def _density(case: Case, *, factor: Factor) -> Evidence:
    """Enclose the ratio of the lemma's density and the true one."""
    ratio = _linear if case.text("map") == "linear" else _monotone
    return enclosed("printed density over true density", lambda: ratio(case, factor), 1 - 1e-12, 1 + 1e-12, 1.0)


def _monotone(case: Case, factor: Factor) -> Ball:
    series = INVERSES[case.text("map")](arb_series([arb(case.number("y")), arb(1)], prec=3))
    inverse, slope = series[0], series[1]
    above = (series / arb(2).sqrt()).erf()[1] / 2  # derivative of Phi(g^-1(y)), negative for a decreasing map
    density = (-inverse * inverse / 2).exp() / (2 * arb.pi()).sqrt()
    return density * factor(slope) / abs(above)


def _linear(case: Case, factor: Factor) -> Ball:
    """Return the ratio for Y = A X, X standard normal in the plane: Y is normal with covariance A A^T."""
    seed, y = case.whole("seed"), arb_mat(2, 1, [arb(case.number("y")), arb(0.5)])
    A = arb_mat(2, 2, [arb(v) for v in (1.0 + seed, 0.5, -2.0, 1.0)])
    inverse, covariance = A.inv(), A * A.transpose()
    x = inverse * y
    truth = (-(y.transpose() * covariance.inv() * y)[0, 0] / 2).exp() / covariance.det().sqrt()
    return (-(x.transpose() * x)[0, 0] / 2).exp() * factor(inverse.det()) / truth


DOWN = {"map": "exp(-x)", "y": 0.7}

STATEMENT = statement(
    "RW21-L30",
    domain="g bijective and differentiable with a differentiable inverse, X and Y with densities. Decided for three monotone maps and for linear maps of the plane",
    summary="True, the textbook identity. It needs the inverse to be differentiable, which bijective and differentiable g alone does not give (x^3 at 0).",
    title="density of g(X)",
    printed=Form(
        "f_Y (y) = f_X (g^(-1)(y)) abs(det (partial g^(-1)(y))/(partial y))",
        partial(_density, factor=abs),
        [
            *over(
                "monotone maps of a normal variable",
                {"map": ("exp", "exp(-x)", "cubic"), "y": (0.125, 0.7, 3.0, 40.0)},
                quick_every=3,
            ),
            *over(
                "linear maps of a normal pair",
                {"map": ("linear",), "seed": (1, 2, 5), "y": (-3.0, 0.0, 1.5)},
                quick_every=3,
            ),
        ],
    ),
    mutants={
        "no absolute value": Mutant(_density, DOWN, factor=lambda slope: slope),
        "inverse of the factor": Mutant(_density, DOWN, factor=lambda slope: 1 / abs(slope)),
        "scaled by 1.01": Mutant(_density, DOWN, severity=0.01, factor=lambda slope: abs(slope) * 101 / 100),
    },
)
