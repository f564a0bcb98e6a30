"""W18, section 3.2, item 3: subsample and aggregate."""

from __future__ import annotations

from ..definition import definition_statement
from ..statement import Formula

STATEMENT = definition_statement(
    "W18-S3",
    paper="wang2018",
    kind="algorithm",
    title="Sub-Agg: subsample and aggregate",
    locator="Section 3.2, item 3",
    formula=Formula(
        'hat(theta) = "randomised aggregate of debiased MLEs on subsets"',
        "theta_hat = randomised aggregate of debiased maximum-likelihood estimates on subsets",
    ),
    definition="mechanisms.subsample_aggregate.SubsampleAggregate",
    domain="Any data; no constants are printed, those of Dwork and Smith (2010) are used, with disjoint blocks",
    summary="The mean over public blocks of clamped least-squares estimates with Laplace noise: pure epsilon per instance is known exactly.",
)
