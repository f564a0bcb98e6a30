"""W18, (1): minimax prediction risk of the linear Gaussian model.

With F half the squared residuals of the *same* responses the left side is attained by least squares, for each
parameter alone, and is negative; the right side belongs to the risk |X (theta_hat - theta_0)|^2/2
(docs/derivations/wang2018_rates.md, section 2).
"""

from __future__ import annotations

from fractions import Fraction

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import proved
from .minimax import REPEATED, designs, fixed_design, prediction_risk

ID = "W18-E1"
TOLERANCE = 1e-12

#: Constant, and whether the number of features stands for the rank.
VERSIONS = {
    "printed": (Fraction(1), True),
    "corrected": (Fraction(1), False),
    "number of features for the rank": (Fraction(1), True),
    "no half": (Fraction(2), False),
    "constant 1 % larger": (Fraction(101, 100), False),
    "constant 1 % smaller": (Fraction(99, 100), False),
}


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose the minimax value of a version in rational arithmetic."""
    X, sigma = fixed_design(case.text("X"), case.whole("n"), case.whole("dim")), Fraction(case.number("sigma"))
    constant, features = VERSIONS[version_name(case)]
    stated = float(constant * sigma**2 * (X.ncols() if features else int(X.rank())) / 2)
    low, high = prediction_risk(X, sigma)
    quantity = "minimax of E|X (theta_hat - theta_0)|^2/2"
    if case.standing is Standing.PRINTED:
        low = high = -high  # every estimator is at least least squares, whose value is -rank sigma^2/2 at every theta_0
        quantity = "minimax of E[F(theta_hat) - F(theta_0)]"
    claim = Claim(quantity, stated * (1 - TOLERANCE), stated * (1 + TOLERANCE), stated, observer=Observer.OUTPUT)
    method = "least squares from above, Bayes risk from below, rational arithmetic"
    return Evidence(claim, exact=proved(low, high, method))


def _cases() -> tuple[Case, ...]:
    smallest: dict[str, Value] = {"n": 1, "dim": 1, "X": "identity", "sigma": 1.0}
    deficient: dict[str, Value] = {"n": 4, "dim": 2, "X": REPEATED, "sigma": 1.0}
    shapes = ("generic", "nearly collinear", "duplicated rows", "one long row")
    return (
        case(ID, Standing.PRINTED, smallest, role=Role.COUNTEREXAMPLE, regime="one record x = 1"),
        case(ID, Standing.CORRECTED, smallest, role=Role.COUNTEREXAMPLE, regime="one record x = 1"),
        *grid(ID, Standing.CORRECTED, designs(shapes), regime="full column rank", quick_every=13),
        *grid(
            ID,
            Standing.CORRECTED,
            {"n": (2, 9), "dim": (2, 4), "X": (REPEATED,), "sigma": (1.0,)},
            regime="rank-deficient",
        ),
        *(
            mutant(ID, name, deficient, severity=0.01 if "1 %" in name else None)
            for name in VERSIONS
            if name not in ("printed", "corrected")
        ),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Minimax prediction risk",
    locator="Equation 1, section 3.1",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed (any rank), every measurable theta_hat(y), sup over all theta_0",
    summary=(
        "The number d sigma^2/2 is the minimax value of |X (theta_hat - theta_0)|^2/2 for full column rank. With F as defined in "
        "section 2 (the same responses in it) the left side is -d sigma^2/2, attained by least squares. An equality, no slack."
    ),
    parts=(
        Part(
            ID,
            "minimax prediction risk",
            Formula(
                "inf_hat(theta) sup_(theta_0 in RR^d) EE[F(hat(theta)) - F(theta_0) | X] = (d sigma^2)/2",
                "inf over theta_hat of sup over theta_0 of E[F(theta_hat) - F(theta_0) | X] = d sigma^2/2",
            ),
            Formula(
                'inf_hat(theta) sup_(theta_0 in RR^d) EE[1/2 norm(X (hat(theta) - theta_0))^2 | X] = (sigma^2 op("rank")(X))/2',
                "inf over theta_hat of sup over theta_0 of E[||X (theta_hat - theta_0)||^2/2 | X] = rank(X) sigma^2/2",
            ),
            "F contains the responses that theta_hat was fitted to, so its excess is negative; and d must be the rank of X.",
            "docs/derivations/wang2018_rates.md, section 2",
        ),
    ),
    cases=_cases(),
    check=check,
)
