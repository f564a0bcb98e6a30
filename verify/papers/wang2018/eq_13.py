"""W18, (13): the rate of the optimisation error of sufficient statistics perturbation with a ridge, in two forms."""

from functools import partial

from ...methods.ridge_rates import excess_rate, with_smallest, with_trace
from ..kit import statement

EXCESS = "F(hat(theta)_lambda) - F(theta^*)"
NOISE = "norm(cal(X))^2 (norm(cal(Y))^2 + norm(cal(X))^2 norm(theta^*)^2) log(6\\/delta) log(2 d^2\\/rho)"

STATEMENT = statement(
    "W18-E13",
    domain="AdaSSP's noise scales, any lambda >= 0 with X^T X + lambda I invertible, on the event (15), with probability 1 - rho (left "
    "out in print). Decided with constant 20 for d <= 60, rho in [0.01, 0.5], Y/(B |theta*|) from 0.01 to infinity",
    summary="True in both forms: the second follows since tr[K^-1] <= d/(lambda + lambda_min) and lambda K^-1 is at most the identity. "
    "The ratio stays at most 20 on every case tried.",
    displays={
        "#trace": excess_rate(
            "with the trace",
            f'{EXCESS} = O(({NOISE})/epsilon^2 op("tr")[(X^T X + lambda I)^(-1)] + lambda^2 norm(theta^*)_((X^T X + lambda I)^(-1))^2)',
            partial(with_trace, power=1),
        ),
        "#last form": excess_rate(
            "with the smallest eigenvalue",
            f"{EXCESS} = O((d {NOISE})/((lambda + lambda_min) epsilon^2) + lambda norm(theta^*)^2)",
            with_smallest,
        ),
    },
)
