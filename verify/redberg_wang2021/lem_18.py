"""RW21, Lemma 18: a quoted tail bound on the largest singular value, with unspecified universal constants.

The first display, over all subgaussian matrices and some constants, has no finite test. The second must be its
inversion, which is checked exactly.
"""

from __future__ import annotations

from flint import arb

from audits import Budget, Estimate
from mechanisms.balls import enclose

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Standing, Statement, Value

ID = "RW21-L18"
TAIL, INVERSE = f"{ID}#tail", f"{ID}#inversion"
EXPONENTS = {"printed": (2, 3), "power 3/2": (3, 2), "power 0.66": (33, 50)}


def check(case: Case, budget: Budget) -> Evidence:
    """Put the t of the second display into the first: the bound must come out as delta."""
    p, q = EXPONENTS[version_name(case)]
    C, c, dim, delta = (arb(case.number(name)) for name in ("C", "c", "dim", "delta"))

    def ratio() -> object:
        t = ((C / delta).log() / (c * dim)) ** (arb(p) / q)
        return C * (-c * dim * t ** (arb(3) / 2)).exp() / delta

    found = enclose(ratio)
    claim = Claim("first bound at the second's t, over delta", 1 - 1e-12, 1 + 1e-12, 1.0, observer=Observer.OUTPUT)
    return Evidence(claim, exact=Estimate.proved(found.low, found.high, "ball arithmetic"))


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "C": (1.0, 8.0),
        "c": (0.125, 1.0),
        "dim": (1, 50),
        "delta": (0.5, 1e-3, 1e-12),
    }
    plain: dict[str, Value] = {"C": 2.0, "c": 0.5, "dim": 10, "delta": 1e-3}
    return (
        *grid(INVERSE, Standing.PRINTED, axes, regime="constants, d and delta", quick_every=5),
        mutant(INVERSE, "power 3/2", plain),
        mutant(INVERSE, "power 0.66", plain, severity=0.01),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="lemma",
    title="Largest singular value of a subgaussian matrix",
    locator="Supplement D.1, Lemma 18 (Rudelson and Vershynin 2010, equation 2.4)",
    domain="A with i.i.d. sigma^2-subgaussian entries, universal constants C and c, all t > 0",
    summary=(
        "Quoted: a bound over all subgaussian matrices up to unnamed constants has no finite test. Its two displays agree with "
        "each other. (Footnote 2 of the main text has the exponent 3/2 where this lemma has 2/3.)"
    ),
    parts=(
        Part(
            TAIL,
            "the tail bound",
            Formula(
                r"Pr[s_max (A) >= (2 + t) sqrt(d sigma^2)] <= C e^(-c d t^(3\/2))",
                "P(s_max(A) >= (2 + t) sqrt(d sigma^2)) <= C exp(-c d t^(3/2))",
            ),
        ),
        Part(
            INVERSE,
            "the same with probability 1 - delta",
            Formula("t = (log(C/delta)/(c d))^(2/3)", "t = (log(C/delta)/(c d))^(2/3)"),
        ),
    ),
    cases=_cases(),
    check=check,
)
