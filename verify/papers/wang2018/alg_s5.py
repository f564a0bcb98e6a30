"""W18, section 3.2, item 5: noisy stochastic gradient descent."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-S5",
    'theta_(t+1) = "project"(theta_t - eta_t (n nabla f_(i_t) (theta_t) + b_t)), quad b_t "normal", quad i_t "uniform", quad t "up to a fixed number"',
    "mechanisms.linear.noisy_sgd.NoisySGD",
    domain="Any data; no constants are printed, those of Bassily, Smith and Thakurta (2014) are used; n public",
    summary="Printed in words only; the formula is this suite's reading of them. The transcript's density is a mixture over the records.",
)
