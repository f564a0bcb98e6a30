"""W18, (18): the constant C_1 of the utility bounds."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W18-E18",
    paper="wang2018",
    kind="equation",
    title="The constant C_1 of the utility bounds",
    locator="Equation 18, appendix D.4",
    formula=Formula(
        "C_1 (epsilon, delta, rho, d) := ([d\\/2 + sqrt(d log(1\\/rho)) + log(1\\/rho)] log(2\\/delta))/epsilon^2",
        "C_1(epsilon, delta, rho, d) := [d/2 + sqrt(d log(1/rho)) + log(1/rho)] log(2/delta)/epsilon^2",
    ),
    definition="mechanisms.ops_calibrations.PublishedOPSCalibration.c1",
    domain="epsilon > 0, delta and rho in (0, 1), d >= 1",
    summary=(
        "A definition. C_1 L^2/(lambda + lambda_min) is the chi-square bound of Lemma 9 over gamma = (lambda + lambda_min) epsilon^2/"
        "(log(2/delta) L^2). The claim about L printed beside it is decided under W18-E19, its bound under W18-E20."
    ),
)
