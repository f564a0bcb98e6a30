"""W19, Lemma A.1: the norm of the ridge smoother, decided through singular values.

Everything depends on one singular value s and lambda: ``s/(s^2 + lambda) <= sqrt(2/h)`` for every ``h <= s^2 + lambda``.
Proved on a box in (s, lambda); rational designs beside it (docs/derivations/wang2019_sections_2_3.md, Lemma A.1).
"""

import math
from fractions import Fraction

from flint import arb

from ...kernel.box_search import Axis
from ...methods.boxes import on_box
from ...methods.rational import SHAPES, between, design, eigenvalue_bounds, identity, largest_eigenvalue, scalar
from ..kit import At, Case, Evidence, Form, Mutant, over, statement

BOX = {"s": Axis(1e-6, 1e6), "lambda": Axis(1e-9, 1e9)}


def _norm(case: Case, *, numerator: Fraction = Fraction(2)) -> Evidence:
    """Decide the box, or one rational design: the squared norm times h over the ``numerator`` under the root."""
    if "shape" not in case.params:
        top = float(numerator)  # at the largest h that is allowed
        words = "sqrt(2) - s/sqrt(s^2 + lambda)"
        return on_box(words, lambda p: arb(top).sqrt() - 1 / (1 + p["lambda"] / p["s"] ** 2).sqrt(), BOX)
    n, dim, lam = case.whole("n"), case.whole("dim"), scalar(Fraction(case.number("lambda")))
    X = design(case.text("shape"), n, dim, case.whole("seed")) if case.params["shape"] != "identity" else identity(dim)
    gram = X.transpose() * X
    H = gram + identity(dim, lam)
    h_low, h_high = eigenvalue_bounds(H)[0]
    low, high = largest_eigenvalue(H.inv() * gram * H.inv())  # the squared norm of H^-1 X^T
    words, bound = "squared norm times h over the printed 2", math.sqrt(float(numerator / h_low))
    least, most = max(low, Fraction(0)) * h_low / numerator, high * h_high / numerator
    method = "inertia, rational arithmetic"
    return between(words, least, 0.0, 1.0, bound, upper=most, method=method, notes={"h": float(h_low)})


TIGHT = {"shape": "identity", "n": 1, "dim": 1, "lambda": 0.0, "seed": 0}
TALL = {"shape": SHAPES, "n": (8,), "dim": (1, 2, 5), "lambda": (0.0, 2.0**-10, 1.0, 1e6), "seed": (1,)}
WIDE = {"shape": ("generic",), "n": (1, 2), "dim": (4,), "lambda": (2.0**-20, 1.0, 100.0), "seed": (2,)}

STATEMENT = statement(
    "W19-LA.1",
    domain="Any X and lambda >= 0 with h > 0. Proved for singular values in [1e-6, 1e6] and lambda in [1e-9, 1e9]",
    summary="True. Loose by a factor sqrt(2): the bound is 1/sqrt(h), attained at lambda = 0.",
    title="norm of the smoother",
    printed=Form(
        "lambda_min (X^T X + lambda I) >= h ==> norm((X^T X + lambda I)^(-1) X^T) <= sqrt(2\\/h)",
        _norm,
        [
            At("proved on the box"),
            At("X = 1, lambda = 0", TIGHT),
            *over("designs and lambda", TALL, quick_every=5),
            *over("more columns than rows", WIDE),
        ],
    ),
    mutants={
        "numerator 0.95": Mutant(_norm, TIGHT, severity=0.05, numerator=Fraction(19, 20)),
        "numerator 1/2, as in (A.6)": Mutant(_norm, {}, numerator=Fraction(1, 2)),
    },
)
