"""A claim of the configuration over all data sets, as the auditors take it."""

from __future__ import annotations

from audits.black_box.claims import (
    ADD_REMOVE,
    PrivacyClaim,
    gaussian_dp_claim,
    group_claim,
    point_claim,
    renyi_claim,
    table_claim,
    zcdp_claim,
)
from mechanisms import Relation

from .types import DPClaim


def relation_of(claim: DPClaim) -> Relation:
    """Return the neighbouring relation: ``REPLACE``, or ``ADD`` for records added or removed."""
    return Relation.REPLACE if claim.relation == "replace" else Relation.ADD


def privacy_claim(claim: DPClaim) -> PrivacyClaim:
    """Return what is claimed, as a point or a whole curve, for the relation and the number of records claimed."""
    relations = (Relation.REPLACE,) if claim.relation == "replace" else ADD_REMOVE
    match claim.profile:
        case None:
            made = point_claim(*claim.point, relations)
        case "gaussian-dp":
            assert claim.mu is not None
            made = gaussian_dp_claim(claim.mu, relations)
        case "zcdp":
            assert claim.rho is not None
            made = zcdp_claim(claim.rho, relations)
        case "renyi":
            assert claim.alpha is not None
            assert claim.epsilon is not None
            made = renyi_claim(claim.alpha, claim.epsilon, relations)
        case "table":
            made = table_claim(claim.points or [], relations)
    return group_claim(made, claim.group)


def steps_of(claim: DPClaim) -> int:
    """Return how many records added or removed the claim's neighbours are apart; a replacement is two of them."""
    return claim.group * (2 if claim.relation == "replace" else 1)
