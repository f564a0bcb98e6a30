"""W18, section 3.2: assumptions A.1 to A.3 under which rates are compared."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-S6",
    'norm(cal(X)), norm(cal(Y)) < infinity, quad norm(Theta) < infinity, quad lambda_min (X^T X) > (n norm(X)^2)/d alpha^* "for all data sets"',
    "mechanisms.linear.regression_scales.RegressionDomain",
    domain="Rates are simplified under ||Y|| <= ||X|| ||Theta|| and ||Y|| <= C ||X|| ||theta*||",
    summary=(
        "A.3 restricts data sets, not records. Read with the operator norm of the matrix X for ||X||, it can hold only for n alpha* < d; "
        "the bound of the feature domain is meant. As it is strict, alpha* = 1 admits no data."
    ),
)
