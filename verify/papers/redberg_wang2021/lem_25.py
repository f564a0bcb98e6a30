"""RW21, Lemma 25: the determinant of a rank-one perturbation; the same identity as W19, Lemma B.3, decided as there."""

from ..kit import statement
from ..wang2019.lem_b_3 import PERTURBATIONS, rank_one_determinant

STATEMENT = statement(
    "RW21-L25",
    domain="A invertible, c and d of its size; decided exactly for sizes up to 4, a singular result included",
    summary="True, an identity.",
    displays={
        "": rank_one_determinant(
            {"dim": (1, 2, 4), "perturbation": PERTURBATIONS, "seed": (5, 6)},
            {"dim": 3, "perturbation": "any", "seed": 7},
            quick_every=4,
        )
    },
)
