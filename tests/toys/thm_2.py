"""A false statement about a biased coin, with a corrected form, in two parts of which one is true as printed."""

from __future__ import annotations

from audits import Budget
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Standing, Statement

from .thm_1 import DRAWS, heads

ID = "RW21-T17"
BOUND = {Standing.PRINTED: 0.6, Standing.CORRECTED: 0.8, Standing.MUTANT: 0.55}


def check(case: Case, budget: Budget) -> Evidence:
    part_true = not case.part.endswith(".1") and case.standing is Standing.PRINTED
    bound = 0.9 if part_true else BOUND[case.standing]
    return Evidence(Claim("probability of heads", 0.0, bound, bound), sampled=heads(0.7, budget))


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="A biased coin is nearly fair",
    locator="Toy 2",
    domain="a coin that falls on heads with probability 0.7",
    parts=(
        Part(f"{ID}.1", "small", Formula("p <= 0.6"), Formula("p <= 0.8"), "0.7 > 0.6"),
        Part(f"{ID}.2", "large", Formula("p <= 0.9")),
        Part(f"{ID}#half", "a display without an id of its own", Formula("p >= 0.5")),
    ),
    cases=(
        Case(f"{ID}.1", "printed", Standing.PRINTED, {"p": 0.7}, draws=DRAWS),
        Case(f"{ID}.1", "corrected", Standing.CORRECTED, {"p": 0.7}, draws=DRAWS),
        Case(f"{ID}.2", "large", Standing.PRINTED, {"p": 0.7}, draws=DRAWS),
        Case(f"{ID}#half", "display", Standing.PRINTED, {"p": 0.7}, draws=DRAWS),
        Case(f"{ID}.1", "mutant: 0.55", Standing.MUTANT, {"p": 0.7}, draws=DRAWS, mutant="0.55", severity=0.1),
    ),
    check=check,
)
