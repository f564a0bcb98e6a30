"""W18, (2): minimax risk of the coefficients of the linear Gaussian model (rational arithmetic, both sides)."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

from ...methods.minimax import FULL_RANK, design_of, estimation_risk, risk_evidence
from ...methods.rational import Matrix, fraction, trace
from ..kit import At, Case, Evidence, Form, Mutant, Role, over, statement


def _risk(case: Case, *, stated: Callable[[Matrix], Fraction]) -> Evidence:
    """Compare the minimax risk with sigma^2 times a function of the Gram matrix."""
    X, sigma = design_of(case), Fraction(case.number("sigma"))
    number = sigma**2 * stated(X.transpose() * X)
    return risk_evidence("minimax of E|theta_hat - theta_0|^2", estimation_risk(X, sigma), number)


def _of_the_inverse(gram: Matrix) -> Fraction:
    """Return the trace of the inverse Gram matrix, the printed number."""
    return trace(gram.inv())


def _of_the_diagonal(gram: Matrix) -> Fraction:
    """Return the trace of the inverse of the Gram matrix's diagonal."""
    return sum((1 / fraction(gram[j, j]) for j in range(gram.nrows())), Fraction(0))


GENERIC = {"n": 9, "dim": 2, "X": "generic", "sigma": 1.0}

STATEMENT = statement(
    "W18-E2",
    domain="y = X theta_0 + N(0, sigma^2 I), X fixed with invertible X^T X, every measurable theta_hat(y), sup over all theta_0",
    summary="True, an equality: least squares has this risk at every theta_0, and wide normal priors come arbitrarily close from below.",
    title="minimax risk of the coefficients",
    printed=Form(
        'inf_hat(theta) sup_(theta_0) EE[norm(hat(theta) - theta_0)_2^2 | X] = sigma^2 op("tr")[(X^T X)^(-1)]',
        partial(_risk, stated=_of_the_inverse),
        [
            At("one record", {"n": 1, "dim": 1, "X": "identity", "sigma": 1.0}, Role.EDGE),
            At("n = d", {"n": 3, "dim": 3, "X": "generic", "sigma": 1.0}, Role.EDGE),
            *over("full column rank", FULL_RANK, quick_every=13),
        ],
    ),
    mutants={
        "constant 1 % larger": Mutant(
            _risk, GENERIC, 0.01, stated=lambda gram: _of_the_inverse(gram) * Fraction(101, 100)
        ),
        "constant 1 % smaller": Mutant(
            _risk, GENERIC, 0.01, stated=lambda gram: _of_the_inverse(gram) * Fraction(99, 100)
        ),
        "inverse of the trace": Mutant(_risk, GENERIC, stated=lambda gram: gram.nrows() ** 2 / trace(gram)),
        "inverse of the diagonal": Mutant(_risk, GENERIC, stated=_of_the_diagonal),
    },
)
