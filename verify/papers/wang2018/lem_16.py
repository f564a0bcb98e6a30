"""W18, Lemma 16: Weyl's bound for singular values, the same as Lemma B.4 of W19."""

from ...methods.carried import carry
from ..wang2019 import lem_b_4

STATEMENT = carry(
    lem_b_4.STATEMENT,
    "W18-L16",
    domain="X, Y real m x n with m >= n. Decided by exact inertia for m = 5, n <= 5; the theorem itself is classical",
    summary="True and tight: equality where the difference moves a singular direction along itself.",
)
