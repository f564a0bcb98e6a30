"""CycloneDX 1.6: the artefact that a certificate names, and what is declared about it.

Component, standard and metadata are written by ``cyclonedx-python-lib``; its model has no ``declarations`` yet, so that
these are plain objects here, held against the published schema in tests.
"""

from __future__ import annotations

import json
import uuid
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from ..certificates.asked import asked_of
from ..certificates.folder.attestation import as_json, result_of
from ..kernel.rows import Row
from ..messages.errors import UserError
from ..messages.verdict_words import verdict_said

if TYPE_CHECKING:
    from cyclonedx.model.bom import Bom

RECORD = "audit.jsonl"
ARTEFACT, EVIDENCE, ASSESSOR = "artefact", "evidence:record", "assessor:pdp-verify"
#: What a verdict rests on, by its ground.
RESTS_ON = {
    "proved": "a theorem or an exact law puts what is released inside the claim",
    "attested": "enough was drawn and nothing was found; the rest is the word of somebody named to the curator",
    "simulated": "a simulation, with an interval that is valid at finite sample sizes",
    "no violation found": "enough was drawn and nothing was found, and nothing supports the claim",
    "not tested": "too little was drawn",
}
OTHERWISE = {
    "FAIL": "a counterexample, which is in the record with its numbers",
    "UNDECIDED": "nothing is proved at these parameters, and nothing was found",
}


def attested_bill(rows: Sequence[Row], *, digest: str, date: str) -> bytes:
    """Return the bill of a certificate as CycloneDX 1.6 JSON: the same for the same record and date.

    A claim that passed is attested with conformance 1, a refuted one is a counter-claim with conformance 0, an open one
    has no score. The artefact is named by its digest; it was not itself examined.

    Parameters
    ----------
    rows : sequence of dict
        The record, for whichever audience it is.
    digest, date : str
        SHA-256 of the record's bytes, from which the serial number is made; the date of ``run.json``, or nothing.

    Raises
    ------
    UserError
        If the record names no artefact, or the library that writes it is not installed.
    """
    header, claims = rows[0], [row for row in rows if row["kind"] == "claim"]
    if "artefact" not in header:
        raise UserError("record must name what is shipped for a CycloneDX bill ([artefact] file), got none")
    bill: dict[str, Any] = _written(_bom(header, claims, digest, date))
    if not date:
        del bill["metadata"]["timestamp"]
    return as_json(bill | {"declarations": _declarations(header, claims, digest)})


def _bom(header: Row, claims: Sequence[Row], digest: str, date: str) -> Bom:
    """Return what the library can model."""
    try:
        from cyclonedx.model import ExternalReference, ExternalReferenceType, HashAlgorithm, HashType, XsUri
        from cyclonedx.model.bom import Bom, BomMetaData
        from cyclonedx.model.component import Component, ComponentType
        from cyclonedx.model.definition import Definitions, Requirement, Standard
        from cyclonedx.model.tool import ToolRepository
    except ImportError as stop:
        raise UserError("a .cdx.json file needs the extra interchange: pip install 'pdp-verify[interchange]'") from stop

    def hashed(hexadecimal: str) -> list[HashType]:
        return [HashType(alg=HashAlgorithm.SHA_256, content=hexadecimal)]

    record = ExternalReference(
        type=ExternalReferenceType.EVIDENCE,
        url=XsUri(RECORD),
        comment="the record of the certificate",
        hashes=hashed(digest),
    )
    shipped = Component(
        name=header["artefact"]["name"],
        type=ComponentType.FILE,
        bom_ref=ARTEFACT,
        description="named by the certificate's configuration; the file itself was not examined",
        hashes=hashed(header["artefact"]["sha256"]),
        external_references=[record],
    )
    suite = Component(
        name="pdp-verify", version=_version(header), type=ComponentType.APPLICATION, bom_ref="tool:pdp-verify"
    )
    requirements = [
        Requirement(bom_ref=_requirement(row), identifier=row["claim"], title=row["type"], text=row["sentence"])
        for row in claims
    ]
    promised = Standard(
        bom_ref="standard:claims",
        name="Claims of the deployment",
        description="What the certificate's configuration claims of the mechanism, each claim a requirement",
        requirements=requirements,
    )
    return Bom(
        serial_number=uuid.uuid5(uuid.NAMESPACE_URL, f"urn:sha256:{digest}"),
        metadata=BomMetaData(
            component=shipped,
            tools=ToolRepository(components=[suite]),
            timestamp=datetime.fromisoformat(date[:10] or "1970-01-01").replace(tzinfo=UTC),
        ),
        definitions=Definitions(standards=[promised]),
    )


def _written(bom: Bom) -> dict[str, Any]:
    from cyclonedx.output.json import JsonV1Dot6

    plain: dict[str, Any] = json.loads(JsonV1Dot6(bom).output_as_string())
    return plain


def _declarations(header: Row, claims: Sequence[Row], digest: str) -> dict[str, Any]:
    private = bool(header["contains_private"])
    name = header["artefact"]["name"]
    return {
        "assessors": [
            {"bom-ref": ASSESSOR, "organization": {"name": f"pdp-verify {_version(header)}, run by the issuer"}}
        ],
        "attestations": [
            {
                "summary": f"{header['words']}: {len(claims)} claim{'' if len(claims) == 1 else 's'} about the "
                f"mechanism {header['mechanism']}; its configuration names {name} as what is shipped.",
                "assessor": ASSESSOR,
                "map": [_mapped(row, header) for row in claims],
            }
        ],
        "claims": [_claim(row) for row in claims],
        "evidence": [
            {
                "bom-ref": EVIDENCE,
                "description": f"The record of every check with its numbers, as strict JSON lines; SHA-256 {digest}.",
                "data": [
                    {
                        "name": RECORD,
                        "contents": {"url": RECORD},
                        "classification": "confidential" if private else "public",
                    }
                ],
            }
        ],
    }


def _mapped(row: Row, header: Row) -> dict[str, Any]:
    """Return what is attested of one claim; a PASS on somebody's word has no score where a proof was required."""
    score: Mapping[str, float] = {"PASSED": {"score": 1.0}, "FAILED": {"score": 0.0}, "WARNED": {}}[
        result_of(row, asked_of(header))
    ]
    ground = RESTS_ON.get(row["ground"]) or OTHERWISE[row["verdict"]]
    return {
        "requirement": _requirement(row),
        ("counterClaims" if row["verdict"] == "FAIL" else "claims"): [_ref(row)],
        "conformance": {**score, "rationale": f"{row['words']}: {verdict_said(row)}"},
        "confidence": {"rationale": ground},
    }


def _claim(row: Row) -> dict[str, Any]:
    """Return a claim in words that cannot be read as a promise where it is none."""
    prefix = {"PASS": "", "FAIL": "Refuted: ", "UNDECIDED": "Neither supported nor refuted: "}[row["verdict"]]
    conditions = "".join(f"; {condition}" for condition in row["conditions"])
    supported = {} if row["verdict"] == "UNDECIDED" else {"evidence": [EVIDENCE]}
    return {
        "bom-ref": _ref(row),
        "target": ARTEFACT,
        "predicate": f"{prefix}{row['sentence']}",
        "reasoning": f"{verdict_said(row).removesuffix('.')}. About {row['scope']}{conditions}.",
        **supported,
    }


def _requirement(row: Row) -> str:
    return f"requirement:{row['claim']}"


def _ref(row: Row) -> str:
    return f"claim:{row['claim']}"


def _version(header: Row) -> str:
    return str(header["versions"]["pdp-verify"])
