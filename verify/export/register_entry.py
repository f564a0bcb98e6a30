"""A draft entry of the Differential Privacy Deployments Registry: the fields that a certificate knows, and no others.

The fields are those of ``schemas/deployments-schema.yaml`` in ``opendp/deployments-registry-data`` as of 2026-07-15.
What only the publisher can say (name, use, region, dates, who runs it for whom) is left out; the registry requires some
of it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from ..certificates.folder.attestation import as_json
from ..kernel.rows import Row
from ..messages.errors import UserError
from ..messages.verdict_words import verdict_said

RELATIONS = {"add-remove": "one data set has {k} more than the other", "replace": "{k} replaced by others"}
#: The registry's word for the form of a claim, and the parameters that it has a field for.
VARIANTS: Mapping[str | None, tuple[str, tuple[str, ...]]] = {
    None: ("Approximate DP", ("epsilon", "delta")),
    "zcdp": ("Zero-concentrated DP", ("rho",)),
    "renyi": ("Renyi DP", ("epsilon",)),
    "gaussian-dp": ("Custom", ()),
    "table": ("Approximate DP", ()),
}


def register_entry(rows: Sequence[Row], *, digest: str) -> bytes:
    """Return the draft as JSON, which is YAML too: the same for the same record.

    Parameters
    ----------
    rows : sequence of dict
        The record of a certificate that everybody may read; only claims over all data sets are told.
    digest : str
        SHA-256 of the record's bytes.

    Raises
    ------
    UserError
        If the record is for the curator of private data, or no claim of differential privacy over all data sets passed.
    """
    header = rows[0]
    if header["contains_private"]:
        raise UserError("record must be for release for an entry of a public register, got the curator's")
    passed = {row["claim"]: row for row in rows if row["kind"] == "claim" and row["verdict"] == "PASS"}
    asked = [claim for claim in header["configuration"]["claims"] if claim["type"] == "dp" and claim["name"] in passed]
    if not asked:
        raise UserError("record must hold a dp claim that passed for an entry of the registry, got none")
    first, told = asked[0], [passed[claim["name"]] for claim in asked]
    deployment = {
        "dp_variant": {"variant_name": _variant(first), "data_domain": _domain(header["data"])},
        "privacy_loss": _loss(first, told),
        "implementation": {
            "mechanisms": _mechanism(header),
            "justification": f"Decided by pdp-verify {header['versions']['pdp-verify']}: "
            + "; ".join(f"{row['claim']}: {row['words']}, {verdict_said(row)}" for row in told)
            + f". SHA-256 of the record: {digest}",
        },
    }
    return as_json({"status": "Draft", "tier": 2, "deployment": deployment})


def _variant(claim: Mapping[str, Any]) -> str:
    form = claim.get("profile")
    return "Pure DP" if form is None and claim["delta"] == 0 else VARIANTS[form][0]


def _loss(claim: Mapping[str, Any], told: Sequence[Row]) -> dict[str, Any]:
    """Return unit and parameters: those of the first claim, and all of them in words."""
    form, group = claim.get("profile"), claim["group"]
    records = "one record" if group == 1 else f"at most {group} records"
    names = [name for name in VARIANTS[form][1] if not (name == "delta" and claim["delta"] == 0)]
    conditions = dict.fromkeys(condition for row in told for condition in row["conditions"])
    details = [f"{row['claim']}: {row['sentence']}" for row in told]
    loss: dict[str, Any] = {
        "privacy_unit": "record" if group == 1 else f"group of at most {group} records",
        "privacy_unit_details": f"Adjacent data sets: {RELATIONS[claim['relation']].format(k=records)}.",
        "privacy_parameters": {name: claim[name] for name in names},
        "privacy_parameters_details": ". ".join([*details, *(f"Condition: {one}" for one in conditions)]) + ".",
    }
    return {key: value for key, value in loss.items() if value != {}}


def _domain(data: Mapping[str, Any]) -> str:
    least = f", at least {data['n_min']} of them" if data["n_min"] else ""
    return (
        f"Data sets of records with {data['dim']} numbers of Euclidean length at most {data['x_bound']} and a response "
        f"of absolute value at most {data['y_bound']}{least}."
    )


def _mechanism(header: Row) -> str:
    """Return the mechanism's name and parameters; of a user's own its name and digest."""
    shown = {key: value for key, value in header["configuration"]["mechanism"].items() if key not in ("name", "import")}
    text = f"{header['mechanism']} {json.dumps(shown)}" if shown else str(header["mechanism"])
    of = "url and version" if "url" in shown else "command and its files" if "command" in shown else "source"
    return f"{text}; SHA-256 of its {of}: {header['mechanism_digest']}" if header["imported"] else text
