"""RW21, Lemma 28: the maximum of n subgaussian variables, decided on normal and on two-valued ones."""

from fractions import Fraction

from flint import arb

from mechanisms.numerics.balls import Ball, ndtr_ball

from ...methods.enclosed import enclosed
from ..kit import Case, Evidence, Form, Mutant, over, statement


def _tail(case: Case, *, of_n: float = 2.0, of_t: float = 2.0) -> Evidence:
    """Enclose ``P(max >= sqrt(of_n log n + of_t t)) exp(t)`` for sigma = 1: a normal power, or a binomial probability."""
    n, t = case.whole("n"), case.number("t")

    def ratio() -> Ball:
        threshold = (arb(of_n) * arb(n).log() + arb(of_t) * arb(t)).sqrt()
        if case.text("law") == "normal":
            above = -((-ndtr_ball(-threshold)).log1p() * n).expm1()
        else:  # X = +-1 with probability 1/2 each, which is 1-subgaussian
            share = Fraction(1) - Fraction(1, 2) ** n if threshold <= 1 else Fraction(0)
            above = arb(share.numerator) / share.denominator
        return above * arb(t).exp()

    words = "P(max >= threshold) over exp(-t)"
    return enclosed(words, ratio, 0.0, 1.0, 1.0, method="closed form, ball arithmetic")


SIZES = {"n": (1, 2, 10, 1000, 10**6), "t": (1e-3, 0.4, 1.0, 5.0, 30.0, 200.0)}

STATEMENT = statement(
    "RW21-L28",
    domain="X_1, ..., X_n i.i.d. sigma^2-subgaussian with mean 0, t > 0. Decided for normal and two-valued variables, n up to 1e6",
    summary="True: a union bound over Chernoff's bound, which every subgaussian law obeys. For normal variables it is at least twice too large.",
    title="tail of the maximum",
    printed=Form(
        "Pr[max_i X_i >= sqrt(2 sigma^2 (log n + t))] <= e^(-t)",
        _tail,
        [
            *over("normal variables", SIZES | {"law": ("normal",)}, quick_every=4),
            *over("two-valued variables", SIZES | {"law": ("two-valued",)}, quick_every=4),
        ],
    ),
    mutants={
        "no log n": Mutant(_tail, {"n": 1000, "t": 1.0, "law": "normal"}, of_n=0.0),
        "t counted 10 % less": Mutant(_tail, {"n": 1, "t": 200.0, "law": "normal"}, severity=0.1, of_t=1.8),
        "log n counted 10 % less": Mutant(
            _tail, {"n": 10**6 * 10**300, "t": 1.0, "law": "normal"}, severity=0.1, of_n=1.8
        ),
    },
)
