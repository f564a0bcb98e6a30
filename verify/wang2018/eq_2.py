"""W18, (2): minimax risk of the coefficients of the linear Gaussian model (rational arithmetic, both sides)."""

from __future__ import annotations

from fractions import Fraction

from audits import Budget

from ..cases import case, grid, mutant
from ..formal import version_name
from ..statement import Case, Claim, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value
from ..wang2019.rational import fraction, proved
from .minimax import designs, estimation_risk, fixed_design, trace

ID = "W18-E2"
TOLERANCE = 1e-12
VERSIONS = ("constant 1 % larger", "constant 1 % smaller", "inverse of the trace", "inverse of the diagonal")


def check(case: Case, budget: Budget) -> Evidence:
    """Enclose the minimax risk between a Bayes risk and that of least squares."""
    X, sigma = fixed_design(case.text("X"), case.whole("n"), case.whole("dim")), Fraction(case.number("sigma"))
    gram = X.transpose() * X
    low, high = estimation_risk(X, sigma)
    stated = {
        "printed": high,
        "constant 1 % larger": high * Fraction(101, 100),
        "constant 1 % smaller": high * Fraction(99, 100),
        "inverse of the trace": sigma**2 * X.ncols() ** 2 / trace(gram),
        "inverse of the diagonal": sigma**2 * sum((1 / fraction(gram[j, j]) for j in range(X.ncols())), Fraction(0)),
    }[version_name(case)]
    claim = Claim(
        "minimax of E|theta_hat - theta_0|^2",
        float(stated) * (1 - TOLERANCE),
        float(stated) * (1 + TOLERANCE),
        float(stated),
        observer=Observer.OUTPUT,
    )
    method = "least squares from above, Bayes risk from below, rational arithmetic"
    return Evidence(claim, exact=proved(low, high, method))


def _cases() -> tuple[Case, ...]:
    generic: dict[str, Value] = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}
    shapes = ("generic", "nearly collinear", "duplicated rows", "one long row")
    return (
        case(
            ID, Standing.PRINTED, {"n": 1, "dim": 1, "X": "identity", "sigma": 1.0}, role=Role.EDGE, regime="one record"
        ),
        case(ID, Standing.PRINTED, {"n": 3, "dim": 3, "X": "generic", "sigma": 1.0}, role=Role.EDGE, regime="n = d"),
        *grid(ID, Standing.PRINTED, designs(shapes), regime="full column rank", quick_every=13),
        *(mutant(ID, name, generic, severity=0.01 if "1 %" in name else None) for name in VERSIONS),
    )


STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="equation",
    title="Minimax risk of the coefficients",
    locator="Equation 2, section 3.1",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed with invertible X^T X, every measurable theta_hat(y), sup over all theta_0",
    summary="True, an equality: least squares has this risk at every theta_0, and wide normal priors come arbitrarily close from below.",
    parts=(
        Part(
            ID,
            "minimax risk of the coefficients",
            Formula(
                'inf_hat(theta) sup_(theta_0) EE[norm(hat(theta) - theta_0)_2^2 | X] = sigma^2 op("tr")[(X^T X)^(-1)]',
                "inf over theta_hat of sup over theta_0 of E[||theta_hat - theta_0||^2 | X] = sigma^2 tr[(X'X)^-1]",
            ),
        ),
    ),
    cases=_cases(),
    check=check,
)
