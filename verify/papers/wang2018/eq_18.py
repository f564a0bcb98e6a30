"""W18, (18): the constant C_1 of the utility bounds."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-E18",
    "C_1 (epsilon, delta, rho, d) := ([d\\/2 + sqrt(d log(1\\/rho)) + log(1\\/rho)] log(2\\/delta))/epsilon^2",
    "mechanisms.linear.ops_calibrations.PublishedOPSCalibration.c1",
    domain="epsilon > 0, delta and rho in (0, 1), d >= 1",
    summary=(
        "A definition. C_1 L^2/(lambda + lambda_min) is the chi-square bound of Lemma 9 over gamma = (lambda + lambda_min) epsilon^2/"
        "(log(2/delta) L^2). The claim about L printed beside it is decided under W18-E19, its bound under W18-E20."
    ),
)
