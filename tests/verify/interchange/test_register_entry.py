"""The draft entry of the registry: only its fields, only what passed, only what everybody may read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from toys.recorded import Rows, ruled

from verify.interchange.register_entry import register_entry
from verify.messages.errors import UserError

DIGEST = "1" * 64
#: Fields of the registry that an entry may have, read in its schema (opendp/deployments-registry-data, 3e9c812).
FIELDS = {
    "dp_variant": {"variant_name", "data_domain", "unprotected_quantities"},
    "privacy_loss": {"privacy_unit", "privacy_unit_details", "privacy_parameters", "privacy_parameters_details"},
    "implementation": {"preprocessing_and_hyperparameter_tuning", "mechanisms", "justification"},
}
VARIANTS = {"Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"}


def entry(rows: Rows) -> dict[str, Any]:
    plain: dict[str, Any] = json.loads(register_entry(rows, digest=DIGEST))
    assert set(plain) == {"status", "tier", "deployment"}
    assert (plain["status"], plain["tier"]) == ("Draft", 2)
    deployment: dict[str, Any] = plain["deployment"]
    for part, fields in deployment.items():
        assert set(fields) <= FIELDS[part]
    assert deployment["dp_variant"]["variant_name"] in VARIANTS
    return deployment


def claiming(rows: Rows, **claim: Any) -> Rows:
    """Return the rows of a configuration with this one claim."""
    stated = {"type": "dp", "name": "dp", "relation": "add-remove", "group": 1} | claim
    header = rows[0] | {"configuration": rows[0]["configuration"] | {"claims": [stated]}}
    return [header, *rows[1:]]


def test_what_passed_is_told_with_its_numbers(released: Rows) -> None:
    deployment = entry(released)
    assert deployment["privacy_loss"]["privacy_parameters"] == {"epsilon": 4.0, "delta": 1e-5}
    assert deployment["privacy_loss"]["privacy_unit"] == "record"
    assert DIGEST in deployment["implementation"]["justification"]


@pytest.mark.parametrize(
    ("claim", "variant", "parameters"),
    [
        ({"epsilon": 1.0, "delta": 0.0}, "Pure DP", {"epsilon": 1.0}),
        ({"epsilon": 1.0, "delta": 1e-6}, "Approximate DP", {"epsilon": 1.0, "delta": 1e-6}),
        ({"profile": "zcdp", "rho": 0.5}, "Zero-concentrated DP", {"rho": 0.5}),
        ({"profile": "renyi", "alpha": 8.0, "epsilon": 1.0}, "Renyi DP", {"epsilon": 1.0}),
        ({"profile": "gaussian-dp", "mu": 0.5}, "Custom", None),
        ({"profile": "table", "points": [[1.0, 1e-6]]}, "Approximate DP", None),
    ],
)
def test_every_form_of_a_claim_has_its_variant(
    released: Rows, claim: dict[str, Any], variant: str, parameters: dict[str, float] | None
) -> None:
    deployment = entry(claiming(released, **claim))
    assert deployment["dp_variant"]["variant_name"] == variant
    assert deployment["privacy_loss"].get("privacy_parameters") == parameters
    assert "differentially private" in deployment["privacy_loss"]["privacy_parameters_details"]


def test_the_unit_is_a_group_where_that_was_claimed(released: Rows) -> None:
    loss = entry(claiming(released, epsilon=1.0, delta=0.0, group=3, relation="replace"))["privacy_loss"]
    assert loss["privacy_unit"] == "group of at most 3 records"
    assert loss["privacy_unit_details"] == "Adjacent data sets: at most 3 records replaced by others."


@pytest.mark.parametrize("verdict", ["FAIL", "UNDECIDED"])
def test_what_did_not_pass_is_not_registered(released: Rows, verdict: str) -> None:
    with pytest.raises(UserError, match="record must hold a dp claim that passed"):
        register_entry(ruled(released, verdict), digest=DIGEST)


def test_the_curators_record_is_not_registered(kept: Rows) -> None:
    with pytest.raises(UserError, match="record must be for release"):
        register_entry(kept, digest=DIGEST)
