"""RW21, Figure 4: the worst case over a data set, against its size."""

from ..kit import Form, Mutant, statement
from .shared.report_events import points
from .shared.worst_cases import size_evidence

DRAWS = (44, 44, 200)
SIZES = [{"n": 100, "temperature": 0.0}, {"n": 100, "temperature": 1.0}, {"n": 10_000, "temperature": 0.0}]

STATEMENT = statement(
    "RW21-F4",
    domain="Logistic regression, d = 50, n = 100 to 10000; labels and budgets not stated. Decided for epsilon = 1, delta = rho = 1e-6 "
    "in each release, lambda as Algorithm 2 needs, labels by the sign of the score or by the logistic model",
    summary="The median worst case of either bound stays within a factor 2 of that at n = 1000, by far. No bound can exceed a "
    "ceiling that is free of n and d (RW21-F5): that is the reason.",
    title="the bounds do not depend on n",
    printed=Form(
        '1/2 <= ("median of" max_(z in D) overline(epsilon_1^P) (z) "at" n) / ("the same at" n = 1000) <= 2',
        size_evidence,
        points("both rules of labels", SIZES, draws=DRAWS, every=len(SIZES)),
    ),
    mutants={
        "noise that grows as sqrt(n)": Mutant(size_evidence, SIZES[0] | {"power": 0.5}, draws=DRAWS, growing=True)
    },
)
