"""W18, section 3.2, item 5: noisy stochastic gradient descent."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W18-S5",
    paper="wang2018",
    kind="algorithm",
    title="NoisySGD: stochastic gradient descent with noise",
    locator="Section 3.2, item 5",
    formula=Formula(
        'theta_(t+1) = "project"(theta_t - eta_t (n nabla f_(i_t) (theta_t) + b_t)), quad b_t "normal", quad i_t "uniform"',
        "theta_(t+1) = project(theta_t - eta_t (n grad f_i(theta_t) + b_t)), b_t normal, i uniform, a fixed number of steps",
    ),
    definition="mechanisms.noisy_sgd.NoisySGD",
    domain="Any data; no constants are printed, those of Bassily, Smith and Thakurta (2014) are used; n public",
    summary="Printed in words only; the formula is this suite's reading of them. The transcript's density is a mixture over the records.",
)
