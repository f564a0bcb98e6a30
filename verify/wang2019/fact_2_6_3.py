"""W19, Fact 2.6 (3): post-processing, exact on finite laws; every function is a (deterministic or random) channel."""

from __future__ import annotations

from fractions import Fraction

from audits import Budget
from mechanisms.finite_laws import Law, processed, smallest_delta

from ..cases import grid, mutant
from ..formal import version_name
from ..statement import Case, Evidence, Formula, Part, Standing, Statement, Value
from .lem_b_6 import random_law
from .rational import at_most, generator

ID = "W19-F2.6.3"


def channel(kind: str, n_outputs: int, seed: int) -> tuple[Law, ...]:
    """Return the law of the processed output at every output."""
    if kind == "random":
        return tuple(random_law(3, seed, 5, i) for i in range(n_outputs))
    images = {
        "identity": list(range(n_outputs)),
        "constant": [0] * n_outputs,
        "merging": [int(v) for v in generator(seed, 6).integers(0, 2, n_outputs)],
    }[kind]
    return tuple(tuple(Fraction(int(image == j)) for j in range(n_outputs)) for image in images)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the exact delta after processing against the one before, at the same epsilon."""
    n, seed = case.whole("outputs"), case.whole("seed")
    p, q = random_law(n, seed, 1), random_law(n, seed, 2)
    factor = Fraction(case.number("exp(epsilon)"))
    delta, version = smallest_delta(p, q, factor), version_name(case)
    function = channel(case.text("function"), n, seed)
    other = channel("identity", n, seed) if version == "a function that sees the data" else function
    if version == "delta cut by 5 %":
        delta *= Fraction(19, 20)
    value = smallest_delta(processed(p, function), processed(q, other), factor)
    return at_most("delta after processing", value, delta)


def _cases() -> tuple[Case, ...]:
    axes: dict[str, tuple[Value, ...]] = {
        "function": ("identity", "constant", "merging", "random"),
        "outputs": (2, 4, 9),
        "seed": (1, 2, 3),
        "exp(epsilon)": (1.0, 1.5, 4.0),
    }
    plain: dict[str, Value] = {"function": "identity", "outputs": 4, "seed": 1, "exp(epsilon)": 1.5}
    return (
        *grid(
            ID, Standing.PRINTED, axes, regime="random finite laws, deterministic and random functions", quick_every=7
        ),
        mutant(ID, "delta cut by 5 %", plain, severity=0.05),
        mutant(ID, "a function that sees the data", plain | {"function": "constant"}),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="fact",
    title="Post-processing",
    locator="Fact 2.6 (3)",
    domain="One pair (Z, z); a function (with its own randomness, if any) that does not look at the data; both directions",
    summary="True, with equality for a one-to-one function.",
    parts=(
        Part(
            ID,
            "a function of the output",
            printed=Formula(
                'cal(A) "is" (epsilon_1, delta_1)"-pDP" ==> f(cal(A)(dot)) "is" (epsilon_1, delta_1)"-pDP"',
                "A is (epsilon_1, delta_1)-pDP implies f(A(.)) is (epsilon_1, delta_1)-pDP",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
