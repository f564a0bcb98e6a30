"""RW21, Lemma 18: a quoted tail bound on the largest singular value, with unspecified universal constants.

The first display, over all subgaussian matrices and some constants, has no finite test. The second must be its
inversion, which is checked exactly.
"""

from functools import partial

from flint import arb

from mechanisms.numerics.balls import Ball

from ...methods.enclosed import enclosed
from ..kit import Case, Display, Evidence, Form, Mutant, over, statement


def _inverted(case: Case, *, power: tuple[int, int]) -> Evidence:
    """Put the t of the second display, with a power of the ratio, into the first: the bound must come out as delta."""
    p, q = power
    C, c, dim, delta = (arb(case.number(name)) for name in ("C", "c", "dim", "delta"))

    def ratio() -> Ball:
        t = ((C / delta).log() / (c * dim)) ** (arb(p) / q)
        return C * (-c * dim * t ** (arb(3) / 2)).exp() / delta

    return enclosed("first bound at the second's t, over delta", ratio, 1 - 1e-12, 1 + 1e-12, 1.0)


CONSTANTS = {"C": (1.0, 8.0), "c": (0.125, 1.0), "dim": (1, 50), "delta": (0.5, 1e-3, 1e-12)}
PLAIN = {"C": 2.0, "c": 0.5, "dim": 10, "delta": 1e-3}

STATEMENT = statement(
    "RW21-L18",
    domain="A with i.i.d. sigma^2-subgaussian entries, universal constants C and c, all t > 0",
    summary="Quoted: a bound over all subgaussian matrices up to unnamed constants has no finite test. Its two displays agree with "
    "each other. (Footnote 2 of the main text has the exponent 3/2 where this lemma has 2/3.)",
    displays={
        "#tail": Display("the tail bound", Form(r"Pr[s_max (A) >= (2 + t) sqrt(d sigma^2)] <= C e^(-c d t^(3\/2))")),
        "#inversion": Display(
            "the same with probability 1 - delta",
            Form(
                "t = (log(C/delta)/(c d))^(2/3)",
                partial(_inverted, power=(2, 3)),
                over("constants, d and delta", CONSTANTS, quick_every=5),
            ),
            mutants={
                "power 3/2": Mutant(_inverted, PLAIN, power=(3, 2)),
                "power 0.66": Mutant(_inverted, PLAIN, severity=0.01, power=(33, 50)),
            },
        ),
    },
)
