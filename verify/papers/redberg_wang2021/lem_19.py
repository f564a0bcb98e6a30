"""RW21, Lemma 19: an explicit-rate bound on the spectral norm of GOE noise, with universal constants C and c.

The claim is that some C and c serve every d and delta; C = 2 and c = 1 do, by Gaussian concentration
(docs/derivations/redberg_wang2021_lemmas.md, Lemma 19), which the cases confirm on the exact law.
"""

from fractions import Fraction

from flint import arb

from audits import Estimate
from mechanisms.numerics.balls import enclose
from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation
from mechanisms.numerics.goe_brackets import sf_bracket

from ..kit import Case, Claim, Evidence, Form, Mutant, Observer, over, statement


def _exceeded(case: Case, *, leading: float = 2.0**0.5) -> Evidence:
    """Enclose the exact probability of exceeding the bound with C = 2, c = 1, over delta."""
    dim, delta = case.whole("dim"), Fraction(case.text("delta"))
    ratio = arb(2 * delta.denominator) / delta.numerator  # C/delta
    bound = enclose(lambda: leading * (2 + (ratio.log() / dim) ** (arb(2) / 3)) * arb(dim).sqrt())
    law = GoeLaw(dim, Extreme.SPECTRAL_NORM, Normalisation.UNIT_OFF_DIAGONAL)
    low, high = sf_bracket(law, bound.high).low, sf_bracket(law, bound.low).high
    claim = Claim("P(||A|| > bound) over delta, C = 2, c = 1", 0.0, 1.0, float(delta), observer=Observer.OUTPUT)
    pad = 1e-12
    exact = Estimate.proved(
        low / float(delta) * (1 - pad), high / float(delta) * (1 + pad), "exact law, ball arithmetic"
    )
    return Evidence(claim, exact=exact, notes={"bound over sigma": bound.mid})


LEVELS = {"dim": (1, 2, 3, 10, 50), "delta": ("1/2", "1/10", "1/1000", "1e-6", "1e-12", "1e-20")}

STATEMENT = statement(
    "RW21-L19",
    domain="A symmetric, off-diagonal N(0, sigma^2), diagonal N(0, 2 sigma^2), delta in (0, 1); some universal C, c. Decided with C = 2, c = 1, d up to 50, delta in [1e-20, 0.5]",
    summary="True with C = 2 and c = 1. The leading constant is loose: 2 in place of 2 sqrt(2) for large d at fixed delta.",
    title="norm with probability 1 - delta",
    printed=Form(
        "norm(A)_2 <= sqrt(2) (2 + (log(C/delta)/(c d))^(2/3)) sqrt(d sigma^2)",
        _exceeded,
        over("exact law", LEVELS, quick_every=7),
    ),
    mutants={"no root 2": Mutant(_exceeded, {"dim": 50, "delta": "1e-20"}, leading=1.0)},
)
