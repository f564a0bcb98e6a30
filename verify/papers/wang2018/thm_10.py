"""W18, Theorem 10: per-instance privacy of one-posterior sampling, quoted; the same formulas as W19, Theorem 4.1."""

from ...methods.carried import carry
from ..wang2019 import thm_4_1

STATEMENT = carry(
    thm_4_1.STATEMENT,
    "W18-TH10",
    domain="X^T X + lambda I invertible, gamma > 0, any data set and target, every delta > 0; both directions; gamma and lambda "
    "public. (16) and (17) are (4.3) and (4.4) of W19. Decided for leverage in [1e-6, 1e4], scaled residual in [1e-4, 1e4] "
    "(and 0), delta in [1e-12, 0.999]",
    summary="As in W19-T4.1: the normal quantile lacks a factor 2 under the root, so (16) understates epsilon; (17) is not equal "
    "to (16).",
    numbers={"(4.3)": "(16)", "(4.4)": "(17)"},
)
