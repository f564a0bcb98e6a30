"""W18, (1): minimax prediction risk of the linear Gaussian model.

With F half the squared residuals of the *same* responses the left side is attained by least squares, for each parameter
alone, and is negative; the right side belongs to the risk |X (theta_hat - theta_0)|^2/2.
"""

from fractions import Fraction

from ...methods.minimax import FULL_RANK, REPEATED, design_of, prediction_risk, risk_evidence
from ...methods.rational import Matrix
from ..kit import Case, Evidence, Form, Mutant, over, smallest, statement


def _risk(case: Case, *, constant: Fraction = Fraction(1), features: bool = False) -> Evidence:
    """Compare E|X (theta_hat - theta_0)|^2/2 with ``constant`` rank sigma^2/2; ``features``: d for the rank."""
    X, sigma = design_of(case), Fraction(case.number("sigma"))
    stated = constant * _stated(X, sigma, features)
    return risk_evidence("minimax of E|X (theta_hat - theta_0)|^2/2", prediction_risk(X, sigma), stated)


def _stated(X: Matrix, sigma: Fraction, features: bool) -> Fraction:
    return sigma**2 * (X.ncols() if features else int(X.rank())) / 2


def _excess(case: Case) -> Evidence:
    """Compare E[F(theta_hat) - F(theta_0)] with d sigma^2/2.

    Every estimator is at least least squares, whose value is -rank sigma^2/2 at every theta_0.
    """
    X, sigma = design_of(case), Fraction(case.number("sigma"))
    value = -prediction_risk(X, sigma)[1]
    return risk_evidence("minimax of E[F(theta_hat) - F(theta_0)]", (value, value), _stated(X, sigma, features=True))


SMALLEST = smallest("one record x = 1", {"n": 1, "dim": 1, "X": "identity", "sigma": 1.0})
DEFICIENT = {"n": 4, "dim": 2, "X": REPEATED, "sigma": 1.0}

STATEMENT = statement(
    "W18-E1",
    derivation="docs/derivations/wang2018_rates.md, section 2",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed (any rank), every measurable theta_hat(y), sup over all theta_0",
    summary="The number d sigma^2/2 is the minimax value of |X (theta_hat - theta_0)|^2/2 for full column rank. With F as defined in "
    "section 2 (the same responses in it) the left side is -d sigma^2/2, attained by least squares. An equality, no slack.",
    title="minimax prediction risk",
    printed=Form(
        "inf_hat(theta) sup_(theta_0 in RR^d) EE[F(hat(theta)) - F(theta_0) | X] = (d sigma^2)/2", _excess, [SMALLEST]
    ),
    corrected=Form(
        'inf_hat(theta) sup_(theta_0 in RR^d) EE[1/2 norm(X (hat(theta) - theta_0))^2 | X] = (sigma^2 op("rank")(X))/2',
        _risk,
        [
            SMALLEST,
            *over("full column rank", FULL_RANK, quick_every=13),
            *over("rank-deficient", {"n": (2, 9), "dim": (2, 4), "X": (REPEATED,), "sigma": (1.0,)}),
        ],
    ),
    wrong="F contains the responses that theta_hat was fitted to, so its excess is negative; and d must be the rank of X.",
    mutants={
        "number of features for the rank": Mutant(_risk, DEFICIENT, features=True),
        "no half": Mutant(_risk, DEFICIENT, constant=Fraction(2)),
        "constant 1 % larger": Mutant(_risk, DEFICIENT, severity=0.01, constant=Fraction(101, 100)),
        "constant 1 % smaller": Mutant(_risk, DEFICIENT, severity=0.01, constant=Fraction(99, 100)),
    },
)
