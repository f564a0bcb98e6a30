"""The types of claim that a configuration may make: one file each, listed here."""

from __future__ import annotations

from typing import Annotated, get_args

from pydantic import Field

from .claim_section import ClaimSection, Probability, RecordsClaim, said
from .coverage_claim import CoverageClaim
from .dp_claim import DPClaim
from .ex_post_claim import ExPostClaim
from .filter_claim import FilterClaim
from .pdp_claim import PDPClaim
from .utility_claim import UtilityClaim

Claim = Annotated[
    DPClaim | PDPClaim | FilterClaim | ExPostClaim | CoverageClaim | UtilityClaim, Field(discriminator="type")
]

#: The word in a configuration -> its class, in the order of the draft.
BY_TYPE: dict[str, type[ClaimSection]] = {
    get_args(section.model_fields["type"].annotation)[0]: section for section in get_args(get_args(Claim)[0])
}

__all__ = [
    "BY_TYPE",
    "Claim",
    "ClaimSection",
    "CoverageClaim",
    "DPClaim",
    "ExPostClaim",
    "FilterClaim",
    "PDPClaim",
    "Probability",
    "RecordsClaim",
    "UtilityClaim",
    "said",
]
