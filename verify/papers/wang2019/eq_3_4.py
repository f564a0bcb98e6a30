"""W19, equation 3.4: the per-instance sensitivity of linear regression, each equality by itself, in rational arithmetic.

With the residual at the estimate that has seen the target, the Hessian must be the one that has not
(docs/derivations/wang2019_sections_2_3.md, equation 3.4).
"""

from fractions import Fraction
from functools import partial

from mechanisms import Relation

from ...methods.rational import SHAPES, Matrix, equal, identity, matrix, quadratic, random_matrix
from ..kit import At, Case, Display, Evidence, Form, Mutant, over, refuting, smallest, statement
from .shared.regressions import Regression, regression


def problem(case: Case) -> Regression:
    """Return the data of a case; without a shape X = (1, 1)', y = 0, target (1, 3): H = 2, H' = 3, theta' = 1."""
    if "n" in case.params:
        return regression(case)
    return Regression(matrix(2, 1, [1, 1]), matrix(2, 1, [0, 0]), matrix(1, 1, [1]), matrix(1, 1, [3]))


def metric(case: Case, H: Matrix) -> Matrix:
    """Return the matrix of the norm: identity, Gram matrix, its square, or a random positive definite one."""
    name, dim = case.text("A"), H.nrows()
    if name == "random":
        R = random_matrix(dim, dim, case.whole("seed"), 31)
        return R.transpose() * R + identity(dim)
    return {"identity": identity(dim), "Gram matrix": H, "its square": H * H}[name]


def _sensitivity(case: Case, *, joined: bool, inside: bool, scale: Fraction = Fraction(1)) -> Evidence:
    """Compare the exact squared sensitivity with the squared right-hand side.

    ``joined``: the Hessian has seen the target; ``inside``: the residual's estimate has.
    """
    data = problem(case)
    A, inverse = metric(case, data.H), (data.joined if joined else data.H).inv()
    theta, moved = data.fits
    residual = scale * data.residual(moved if inside else theta)
    right, left = residual**2 * quadratic(data.x, inverse * A * inverse), quadratic(theta - moved, A)
    words, notes = "squared right-hand side over squared sensitivity", {"squared sensitivity": float(left)}
    return equal(words, right, left, relation=Relation.ADD, notes=notes)


def _leverage(case: Case, *, root: bool, scale: Fraction = Fraction(1)) -> Evidence:
    """Compare the second factor of (3.4) at ``A = H`` with the leverage, or with its root (in squares)."""
    data = problem(case)
    H = data.H if case.params["design"] == "X" else data.joined
    square, leverage = quadratic(data.x, H.inv() * H * H.inv()), quadratic(data.x, H.inv())
    stated = leverage * scale if root else leverage**2
    return equal("squared factor over squared stated value", square, stated, notes={"leverage": float(leverage)})


DESIGNS = {
    "A": ("identity", "Gram matrix", "its square", "random"), "shape": SHAPES, "n": (5,), "dim": (1, 2, 4),
    "seed": (1,),
}  # fmt: skip
LEVERAGES = {"design": ("X", "[X, x]"), "shape": SHAPES, "n": (5,), "dim": (1, 3), "seed": (1,)}
SMALLEST = {"A": "identity"}
PLAIN = {"A": "random", "shape": "generic", "n": 5, "dim": 3, "seed": 3}
SCALE = Fraction(101, 100)
FORMULA = "Delta_A (Z, z) = abs(y - x^T {estimate}) sqrt(x^T ({M})^(-1) A ({M})^(-1) x)"
FACTOR = "sqrt(x^T (X^T X)^(-1) A (X^T X)^(-1) x) = "

STATEMENT = statement(
    "W19-E3.4",
    domain="Squared loss, no regulariser, X^T X invertible, A positive definite; theta_hat' is the estimate with the target, X' the "
    "design with its row (Lemma 3.1). Decided exactly for n = 5, d <= 4",
    summary="The second expression is right, the first is not, so neither is the equality between them. With X' for the design without a "
    "record the same holds with the parts exchanged. For A = X^T X the factor is the root of the leverage.",
    derivation="docs/derivations/wang2019_sections_2_3.md, equation 3.4",
    displays={
        "#first": Display(
            "through the design with the target",
            printed=Form(
                FORMULA.format(estimate="hat(theta)'", M="[X']^T X'"),
                partial(_sensitivity, joined=True, inside=True),
                [smallest("X = (1, 1), y = 0, target (1, 3): 2/3 against 1", SMALLEST), At("random design", PLAIN)],
            ),
            corrected=Form(
                FORMULA.format(estimate="hat(theta)", M="[X']^T X'"),
                partial(_sensitivity, joined=True, inside=False),
                [refuting(SMALLEST), *over("designs and norms", DESIGNS, quick_every=13)],
            ),
            wrong="The Hessian with the target belongs to the residual at the estimate without it; the printed value is too small by the factor 1 + mu.",
            mutants={
                "residual scaled by 1.01": Mutant(
                    _sensitivity, PLAIN, severity=0.01, joined=True, inside=False, scale=SCALE
                ),
                "the other residual": Mutant(_sensitivity, PLAIN, joined=True, inside=True),
            },
        ),
        "#second": Display(
            "through the design without the target",
            printed=Form(
                FORMULA.format(estimate="hat(theta)'", M="X^T X"),
                partial(_sensitivity, joined=False, inside=True),
                [At("the same small case", SMALLEST), *over("designs and norms", DESIGNS, quick_every=13)],
            ),
            mutants={
                "residual scaled by 1.01": Mutant(
                    _sensitivity, PLAIN, severity=0.01, joined=False, inside=True, scale=SCALE
                ),
                "the other residual": Mutant(_sensitivity, PLAIN, joined=False, inside=False),
            },
        ),
        "#leverage": Display(
            "text: the second factor for A = X^T X",
            printed=Form(
                FACTOR + "x^T (X^T X)^(-1) x",
                partial(_leverage, root=False),
                [smallest("X = (1, 1), x = 1", {"design": side}) for side in LEVERAGES["design"]],
            ),
            corrected=Form(
                FACTOR + "sqrt(x^T (X^T X)^(-1) x)",
                partial(_leverage, root=True),
                [*(refuting({"design": d}) for d in LEVERAGES["design"]), *over("designs", LEVERAGES, quick_every=5)],
            ),
            wrong="The leverage stands for its square root.",
            mutants={"scaled by 1.01": Mutant(_leverage, {"design": "X"}, severity=0.01, root=True, scale=SCALE)},
        ),
    },
)
