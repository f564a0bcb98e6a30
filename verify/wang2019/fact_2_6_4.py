"""W19, Fact 2.6 (4): group privacy along a chain of data sets, exact on finite laws, each direction by itself.

Backwards the steps come in the other order, so that the printed delta is wrong there
(docs/derivations/wang2019_facts.md, section 1).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from math import prod

from audits import Budget
from mechanisms.finite_laws import Law, check_law, hockey_stick, smallest_delta

from ..cases import adversarial, case, grid, mutant
from ..formal import version_name
from ..search import Axis, Point, worst_point
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value
from .lem_b_6 import random_law
from .rational import at_most

ID = "W19-F2.6.4"
OUT, BACK = f"{ID}#out", f"{ID}#back"


def summed_delta(factors: Sequence[Fraction], deltas: Sequence[Fraction], *, before: bool) -> Fraction:
    """Return ``sum_i delta_i prod_j exp(epsilon_j)`` over the ``j`` before (as printed) or after ``i``."""
    steps = range(len(deltas))
    return sum(
        (
            deltas[i] * prod((factors[j] for j in steps if (j < i if before else j > i)), start=Fraction(1))
            for i in steps
        ),
        Fraction(0),
    )


def chain(case: Case) -> tuple[list[Law], list[Fraction]]:
    """Return the laws along the chain and ``exp(epsilon)`` of every step."""
    kind, k = case.text("chain"), case.whole("k")
    if kind == "tell, then scale":  # steps (0, 1/8) and (log 4, 0): back from the end the first point gives 1/2
        return [check_law([0, 1]), check_law([Fraction(1, 8), Fraction(7, 8)]), check_law([Fraction(1, 2)] * 2)], [
            Fraction(1),
            Fraction(4),
        ]
    if kind == "scale, then tell":  # the same backwards: attains the printed delta on the way out
        laws, factors = chain(Case("", "", case.standing, {"chain": "tell, then scale", "k": 2}))
        return laws[::-1], factors[::-1]
    seed = case.whole("seed")
    factors = [Fraction(1) + Fraction(i * seed % 5, 4) for i in range(1, k + 1)]
    return [random_law(4, seed, 20 + i) for i in range(k + 1)], factors


#: Probabilities of two outputs along a chain of three data sets, and both ``exp(epsilon) - 1``.
BOX = {
    **{f"law {i}": Axis(0.0, 1.0, log=False) for i in range(3)},
    **{f"exp(epsilon_{i}) - 1": Axis(0.0, 3.0, log=False) for i in (1, 2)},
}


def searched(point: Point) -> tuple[list[Law], list[Fraction]]:
    """Return the chain of a point of the box, as rationals."""
    *laws, one, two = (Fraction(round(point[name] * 4096), 4096) for name in BOX)
    return [check_law([p, 1 - p]) for p in laws], [1 + one, 1 + two]


def sides(part: str, version: str, laws: list[Law], factors: list[Fraction]) -> tuple[Fraction, Fraction]:
    """Return the exact delta between the ends of the chain, and the stated sum (or a mutant)."""
    deltas = [smallest_delta(a, b, f) for a, b, f in zip(laws[:-1], laws[1:], factors, strict=True)]
    total = summed_delta(factors, deltas, before=part == OUT or version == "printed")
    if version == "deltas added without factors":
        total = sum(deltas, Fraction(0))
    if version == "delta cut by 5 %":
        total *= Fraction(19, 20)
    start, end = (laws[0], laws[-1]) if part == OUT else (laws[-1], laws[0])
    return hockey_stick(start, end, prod(factors, start=Fraction(1))), total


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the exact delta between the ends of the chain, in one direction, against the sum."""
    version = version_name(case)
    if case.role is not Role.ADVERSARIAL:
        value, total = sides(case.part, version, *chain(case))
        return at_most("delta between the ends of the chain", value, total, in_domain=total < 1)

    def ratio(point: Point) -> float:
        value, total = sides(case.part, version, *searched(point))
        return float(value / total) if 0 < total < 1 else 0.0

    point = worst_point(BOX, ratio, budget, n_starts=48)
    value, total = sides(case.part, version, *searched(point))
    return replace(at_most("delta between the ends of the chain", value, total, in_domain=total < 1), found=point)


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes: dict[str, tuple[Value, ...]] = {"chain": ("random",), "k": (1, 2, 3, 5), "seed": tuple(range(1, 13))}
    back: dict[str, Value] = {"chain": "tell, then scale", "k": 2}
    out: dict[str, Value] = {"chain": "scale, then tell", "k": 2}
    return (
        case(OUT, printed, out, regime="equality"),
        case(OUT, printed, back, regime="the chain that refutes the way back"),
        *grid(OUT, printed, axes, regime="random chains", quick_every=7),
        adversarial(OUT, printed, quick=False),
        mutant(OUT, "deltas added without factors", out),
        mutant(OUT, "delta cut by 5 %", out, severity=0.05),
        case(BACK, printed, back, role=Role.COUNTEREXAMPLE, regime="two outputs, steps (0, 1/8) and (log 4, 0)"),
        case(
            BACK,
            corrected,
            back,
            role=Role.COUNTEREXAMPLE,
            regime="the case that refutes the printed form, with equality",
        ),
        case(BACK, corrected, out, regime="the chain the other way"),
        *grid(BACK, corrected, axes, regime="random chains", quick_every=7),
        adversarial(BACK, printed, quick=False),
        adversarial(BACK, corrected, quick=False),
        mutant(BACK, "deltas added without factors", back),
        mutant(BACK, "delta cut by 5 %", back, severity=0.05),
    )


def _formula(first: str, second: str, range_: str) -> Formula:
    return Formula(
        f"Pr_({first}) (S) <= e^(epsilon_1 + ... + epsilon_k) Pr_({second}) (S) + tilde(delta), quad "
        f"tilde(delta) = sum_(i=1)^k delta_i product_({range_}) e^(epsilon_j)",
        f"P_{first}(S) <= exp(epsilon_1 + ... + epsilon_k) P_{second}(S) + sum_i delta_i prod_({range_}) exp(epsilon_j)".replace(
            "_Z", "_A(Z)"
        ).replace("_[Z, z_(1:k)]", "_A([Z, z_1:k])"),
    )


_Z, _ZK = "Z", "[Z, z_(1:k)]"

STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="fact",
    title="Group privacy",
    locator="Fact 2.6 (4)",
    domain=(
        "epsilon_i, delta_i hold in both directions between [Z, z_(1:i-1)] and [Z, z_(1:i)]. Counted where the summed delta is below 1"
    ),
    summary="The way out is right and tight; on the way back the products must run over the later steps.",
    parts=(
        Part(OUT, "from Z to the larger data set", printed=_formula(_Z, _ZK, "j < i")),
        Part(
            BACK,
            "from the larger data set to Z",
            printed=_formula(_ZK, _Z, "j < i"),
            corrected=_formula(_ZK, _Z, "j > i"),
            what_went_wrong="The delta of the way out is printed for the way back too, where the steps come in the other order.",
            derivation="docs/derivations/wang2019_facts.md, section 1",
        ),
    ),
    cases=_cases(),
    check=check,
)
