"""The CycloneDX bill: valid by the published schema, about the artefact of the record, and clear about what failed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator
from toys.recorded import Rows, ruled

from verify.certificates.folder.attestation import sha256
from verify.export.attested_bill import attested_bill
from verify.export.register_entry import register_entry
from verify.messages.errors import UserError

DIGEST = "1" * 64


def obeys(bill: bytes) -> dict[str, Any]:
    """Return a bill that obeys the published schema and whose references all lead somewhere."""
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(bill.decode()) is None
    plain: dict[str, Any] = json.loads(bill)
    declared, used = references(plain)
    assert used <= set(declared)
    assert len(declared) == len(set(declared))
    return plain


def references(value: Any) -> tuple[list[str], set[str]]:
    """Return what is named by a ``bom-ref``, and what is referred to in the declarations."""
    declared: list[str] = []

    def walk(each: Any) -> None:
        if isinstance(each, dict):
            declared.extend([each["bom-ref"]] if "bom-ref" in each else [])
            any(walk(inside) for inside in each.values())
        elif isinstance(each, list):
            any(walk(inside) for inside in each)

    walk(value)
    said = value["declarations"]
    used = {claim["target"] for claim in said["claims"]}
    used |= {evidence for claim in said["claims"] for evidence in claim.get("evidence", ())}
    for attestation in said["attestations"]:
        used.add(attestation["assessor"])
        for row in attestation["map"]:
            used |= {row["requirement"], *row.get("claims", ()), *row.get("counterClaims", ())}
    return declared, used


def only(bill: dict[str, Any]) -> tuple[dict[str, Any], dict[str, Any]]:
    """Return the one claim and what is attested of it."""
    (claim,), ((mapped,),) = bill["declarations"]["claims"], [bill["declarations"]["attestations"][0]["map"]]
    return claim, mapped


def test_it_names_the_artefact_by_the_digest_of_its_bytes(released: Rows) -> None:
    bill = obeys(attested_bill(released, digest=DIGEST, date="2026-11-22"))
    component = bill["metadata"]["component"]
    assert component["name"] == "model.onnx"
    assert component["hashes"] == [{"alg": "SHA-256", "content": sha256(b"weights")}]
    assert component["externalReferences"][0]["hashes"] == [{"alg": "SHA-256", "content": DIGEST}]
    assert bill["specVersion"] == "1.6"
    assert bill["metadata"]["timestamp"].startswith("2026-11-22T00:00:00")
    assert only(bill)[0]["target"] == component["bom-ref"]


def test_a_claim_that_passed_is_attested_with_its_evidence(released: Rows) -> None:
    claim, mapped = only(obeys(attested_bill(ruled(released, "PASS"), digest=DIGEST, date="2026-11-22")))
    assert mapped["conformance"]["score"] == 1.0
    assert mapped["claims"] == [claim["bom-ref"]]
    assert "counterClaims" not in mapped
    assert claim["predicate"] == next(row["sentence"] for row in released if row["kind"] == "claim")
    assert len(claim["evidence"]) == 1


def test_a_refuted_claim_is_a_counter_claim(released: Rows) -> None:
    claim, mapped = only(obeys(attested_bill(ruled(released, "FAIL"), digest=DIGEST, date="2026-11-22")))
    assert mapped["conformance"]["score"] == 0.0
    assert mapped["counterClaims"] == [claim["bom-ref"]]
    assert "claims" not in mapped
    assert claim["predicate"].startswith("Refuted: ")


@pytest.mark.parametrize(("verdict", "header"), [("UNDECIDED", {}), ("VOUCHED", {"required": "proved"})])
def test_an_open_claim_has_no_score(released: Rows, verdict: str, header: dict[str, str]) -> None:
    _, mapped = only(obeys(attested_bill(ruled(released, verdict, **header), digest=DIGEST, date="2026-11-22")))
    assert "score" not in mapped["conformance"]


def test_an_open_claim_has_no_evidence_and_no_promise(released: Rows) -> None:
    claim, _ = only(obeys(attested_bill(ruled(released, "UNDECIDED"), digest=DIGEST, date="2026-11-22")))
    assert "evidence" not in claim
    assert claim["predicate"].startswith("Neither supported nor refuted: ")


def test_the_same_record_gives_the_same_bytes_and_another_another_serial_number(released: Rows) -> None:
    one = attested_bill(released, digest=DIGEST, date="2026-11-22")
    assert one == attested_bill(released, digest=DIGEST, date="2026-11-22")
    other = attested_bill(released, digest="2" * 64, date="2026-11-22")
    assert json.loads(one)["serialNumber"] != json.loads(other)["serialNumber"]


def test_without_a_date_there_is_no_clock(released: Rows) -> None:
    assert "timestamp" not in obeys(attested_bill(released, digest=DIGEST, date=""))["metadata"]


def test_the_curators_record_is_called_confidential(released: Rows, kept: Rows) -> None:
    for rows, said in ((released, "public"), (kept, "confidential")):
        data = obeys(attested_bill(rows, digest=DIGEST, date=""))["declarations"]["evidence"][0]["data"]
        assert [each["classification"] for each in data] == [said]


def test_without_an_artefact_there_is_nothing_to_declare(released: Rows) -> None:
    header = {key: value for key, value in released[0].items() if key != "artefact"}
    with pytest.raises(UserError, match=r"record must name what is shipped"):
        attested_bill([header, *released[1:]], digest=DIGEST, date="")


def test_the_check_of_the_schema_can_fail(released: Rows) -> None:
    bill = json.loads(attested_bill(released, digest=DIGEST, date=""))
    bill["declarations"]["attestations"][0]["verdict"] = "PASS"
    assert JsonStrictValidator(SchemaVersion.V1_6).validate_str(json.dumps(bill)) is not None


def test_without_the_library_the_extra_is_named(released: Rows, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "cyclonedx.model", None)
    with pytest.raises(UserError, match=r"needs the extra interchange: pip install 'pdp-verify\[interchange\]'"):
        attested_bill(released, digest=DIGEST, date="")


def test_the_artefact_of_the_folder_is_that_of_the_bill(private_certificate: Path, released: Rows) -> None:
    attested = json.loads((private_certificate / "release" / "attestation.json").read_bytes())["subject"]
    component = obeys(attested_bill(released, digest=DIGEST, date=""))["metadata"]["component"]
    assert {"name": component["name"], "digest": {"sha256": component["hashes"][0]["content"]}} in attested


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
