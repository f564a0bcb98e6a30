"""W18, section 3.2, item 3: subsample and aggregate."""

from __future__ import annotations

from ...kernel.declare import definition

STATEMENT = definition(
    "W18-S3",
    'hat(theta) = "randomised aggregate of debiased MLEs on subsets"',
    "mechanisms.linear.subsample_aggregate.SubsampleAggregate",
    domain="Any data; no constants are printed, those of Dwork and Smith (2010) are used, with disjoint blocks",
    summary="The mean over public blocks of clamped least-squares estimates with Laplace noise: pure epsilon per instance is known exactly.",
)
