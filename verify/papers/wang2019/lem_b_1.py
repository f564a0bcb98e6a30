"""W19, Lemma B.1: how least squares moves when its moments are perturbed.

An identity of rational matrices. As printed ``X y`` stands for ``X^T y``: where both make sense (a square ``X``) the
identity fails (docs/derivations/wang2019_sections_2_3.md, Lemma B.1).
"""

from collections.abc import Callable

from ...methods.rational import SHAPES, Matrix, design, identity, matrix, random_matrix, same
from ..kit import At, Case, Evidence, Form, Mutant, over, refuting, smallest, statement


def _data(case: Case) -> tuple[Matrix, Matrix, Matrix, Matrix]:
    """Return the design, the responses, and the perturbations of both moments."""
    if case.text("shape") == "two by two":
        return matrix(2, 2, [1, 1, 0, 1]), matrix(2, 1, [0, 1]), matrix(2, 2, [0] * 4), matrix(2, 1, [0, 0])
    n, dim, seed = case.whole("n"), case.whole("dim"), case.whole("seed")
    X, E1 = design(case.text("shape"), n, dim, seed), random_matrix(dim, dim, seed, 7)
    E1 = {"any": E1, "ridge": identity(dim, 3), "none": E1 * 0}[case.text("E1")]
    return X, random_matrix(n, 1, seed, 11), E1, random_matrix(dim, 1, seed, 13)


#: Right-hand side from ``X^T X``, both perturbations, the estimate and the moved one.
Side = Callable[[Matrix, Matrix, Matrix, Matrix, Matrix], Matrix]


def _right(gram: Matrix, E1: Matrix, E2: Matrix, theta: Matrix, moved: Matrix) -> Matrix:
    return (gram + E1).inv() * (E2 - E1 * theta)


def _identity(right: Side = _right, *, transposed: bool = True) -> Callable[[Case], Evidence]:
    """Return the comparison of both sides in rational arithmetic; ``transposed``: the moment is ``X^T y``."""

    def check(case: Case) -> Evidence:
        X, y, E1, E2 = _data(case)
        gram = X.transpose() * X
        theta = gram.inv() * (X.transpose() * y)
        moved = (gram + E1).inv() * ((X.transpose() * y if transposed else X * y) + E2)
        words = "moved minus plain estimate against the right-hand side"
        return same(words, moved - theta, right(gram, E1, E2, theta, moved))

    return check


SMALLEST = {"shape": "two by two"}
PLAIN = {"shape": "generic", "n": 6, "dim": 3, "E1": "any", "seed": 2}
SQUARE = At("square X", {"shape": "generic", "n": 3, "dim": 3, "E1": "any", "seed": 3})
DESIGNS = {"shape": SHAPES, "n": (6,), "dim": (1, 2, 5), "E1": ("any", "ridge", "none"), "seed": (1,)}
FORMULA = (
    "hat(theta)' = (X^T X + E_1)^(-1) ({moment} + E_2) ==> hat(theta)' - hat(theta) = "
    "(X^T X + E_1)^(-1) (E_2 - E_1 hat(theta))"
)

STATEMENT = statement(
    "W19-LB.1",
    domain="Any X, y, E_1 (d x d), E_2 (d) for which X^T X and X^T X + E_1 are invertible; decided exactly for n <= 6, d <= 5",
    summary="A misprint: a transpose is missing. The identity is right with it.",
    derivation="docs/derivations/wang2019_sections_2_3.md, Lemma B.1",
    title="the moved estimate",
    printed=Form(
        FORMULA.format(moment="X bold(y)"),
        _identity(transposed=False),
        [smallest("X = [[1, 1], [0, 1]], y = (0, 1), E1 = E2 = 0", SMALLEST), SQUARE],
    ),
    corrected=Form(
        FORMULA.format(moment="X^T bold(y)"),
        _identity(),
        [refuting(SMALLEST), SQUARE, *over("designs and perturbations, E1 not symmetric", DESIGNS, quick_every=5)],
    ),
    wrong="The transpose of X is missing in front of y; for a rectangular X the product is not even defined.",
    mutants={
        "E1 applied to the moved estimate": Mutant(
            _identity(lambda gram, E1, E2, theta, moved: _right(gram, E1, E2, moved, moved)), PLAIN
        ),
        "perturbation left out of the inverse": Mutant(
            _identity(lambda gram, E1, E2, theta, moved: gram.inv() * (E2 - E1 * theta)), PLAIN
        ),
        "E1 scaled by 1.01": Mutant(
            _identity(lambda gram, E1, E2, theta, moved: _right(gram, E1, E2, theta * 101 / 100, moved)),
            PLAIN,
            severity=0.01,
        ),
    },
)
