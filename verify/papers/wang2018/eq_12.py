"""W18, (12): the rate of the estimation error of sufficient statistics perturbation with a ridge."""

from ...methods.ridge_rates import estimation_rate
from ..kit import statement

STATEMENT = statement(
    "W18-E12",
    domain="AdaSSP's noise scales, any lambda >= 0 with X^T X + lambda I invertible, on the event (15), with probability 1 - rho (left "
    "out in print). Decided with constant 40 for d <= 60, rho in [0.01, 0.5], Y/(B |theta*|) from 0.01 to infinity",
    summary="True: Corollary 7's rate with Lemma 6 (corrected), which is deterministic on the event. The ratio stays at most 40 on "
    "every case tried, including singular Gram matrices.",
    displays={
        "": estimation_rate(
            "rate of the estimation error",
            "norm(hat(theta)_lambda - theta^*)^2 = O((norm(cal(X))^2 (norm(cal(Y))^2 + norm(cal(X))^2 norm(theta^*)^2)"
            ' log(6\\/delta) log(2 d^2\\/rho))/epsilon^2 op("tr")[(X^T X + lambda I)^(-2)]'
            " + lambda^2 norm(theta^*)_((X^T X + lambda I)^(-2))^2)",
        )
    },
)
