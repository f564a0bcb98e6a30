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
from verify.interchange.attested_bill import attested_bill
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
