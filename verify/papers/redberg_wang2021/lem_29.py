"""RW21, Lemma 29 (Weyl): singular values move by at most the norm of the perturbation; decided as W19, Lemma B.4."""

from ..kit import statement
from ..wang2019.lem_b_4 import PERTURBATIONS, weyl

STATEMENT = statement(
    "RW21-L29",
    domain="A, E real m x n with m >= n. Decided by exact inertia for m = 4, n <= 4; the theorem itself is classical",
    summary="True and tight: equality where E moves a singular direction along itself.",
    displays={
        "": weyl(
            "max_(i in [n]) abs(sigma_i (A) - sigma_i (A+E)) <= norm(E)_2",
            {"m": (4,), "n": (1, 3, 4), "E": PERTURBATIONS, "seed": (11, 12)},
            {"m": 4, "n": 3, "E": "small", "seed": 13},
            quick_every=5,
        )
    },
)
