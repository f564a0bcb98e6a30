"""A true statement about a fair coin, sampled, with an exact witness in one case and a mutant."""

from __future__ import annotations

import math

from audits import Budget, Estimate
from reports.row import Figure, Series
from verify.kernel.statement import Case, Claim, Evidence, Formula, Part, Role, Standing, Statement

ID = "W19-T4.1"


def heads(probability: float, budget: Budget) -> Estimate:
    """Hoeffding interval of a coin's probability of heads."""
    count = int(budget.key.rng().binomial(budget.n_draws, probability))
    radius = math.sqrt(math.log(2 / budget.failure_prob) / (2 * budget.n_draws))
    mean = count / budget.n_draws
    return Estimate(mean, mean - radius, mean + radius, budget.failure_prob, budget.n_draws, "Hoeffding")


def check(case: Case, budget: Budget) -> Evidence:
    bound = 0.4 if case.standing is Standing.MUTANT else 0.6
    claim = Claim("probability of heads", 0.0, bound, bound, in_domain=float(case.params["fair"] or 0) > 0)
    exact = Estimate.proved(0.5, 0.5, "by symmetry") if case.role is Role.EDGE else None
    sampled = heads(0.5, budget) if any(case.draws) else None
    return Evidence(claim, exact=exact, sampled=sampled, notes={"infinite": math.inf})


def figures(seed: int) -> tuple[Figure, ...]:
    line = Series("share of heads", (1.0, 2.0), (0.5, float(seed % 2)))
    return tuple(
        Figure(f"toy-{i}", "Heads", "A caption.", "A line from 0.5.", "tosses", "share", (line,)) for i in (1, 2)
    )


DRAWS = (4000, 8000, 16000)
STATEMENT = Statement(
    id=ID,
    paper="wang2019",
    kind="theorem",
    title="A fair coin is not too unfair",
    locator="Toy 1",
    domain="a fair coin",
    parts=(Part(ID, "heads", Formula("p <= 0.6")),),
    cases=(
        Case(ID, "sampled", Standing.PRINTED, {"fair": 1}, draws=DRAWS),
        Case(ID, "both witnesses", Standing.PRINTED, {"fair": 1}, Role.EDGE, draws=DRAWS),
        Case(ID, "exact, not quick", Standing.PRINTED, {"fair": 1}, Role.EDGE, quick=False),
        Case(ID, "outside", Standing.PRINTED, {"fair": 0}, Role.EDGE),
        Case(ID, "mutant: too small a bound", Standing.MUTANT, {"fair": 1}, draws=DRAWS, mutant="0.4", severity=0.2),
    ),
    check=check,
    figures=figures,
)
