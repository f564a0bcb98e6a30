"""W18, Lemma 13: the two-sided normal tail, word for word Lemma B.5 of W19."""

from ...methods.carried import carry
from ..wang2019 import lem_b_5

STATEMENT = carry(
    lem_b_5.STATEMENT,
    "W18-L13",
    domain="X standard normal, epsilon > 0. Proved for epsilon in [1e-9, 40] by branch and bound, outside by Mills' bound",
    summary="True, and loose by a factor sqrt(2 pi) = 2.51: the coefficient sqrt(2/pi) is enough, and the least possible. It gives a tail of "
    "delta at sqrt(2 log(…)), not at sqrt(log(…)), where the paper uses it.",
)
