"""A counterexample as a configuration: the same mechanism and claim, the public domain alone, and the one pair."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from typing import Any

from ..kernel.rows import Row, number
from ..messages.texts import toml_key, toml_value
from .config.config import LONGEST_NAME, Loaded

#: What of a budget bears on how long it may take, and not on what is drawn.
CLOCK = ("jobs", "max_seconds")
PRIVATE = "# It holds private records: it is for the curator alone. Nobody else may see this file.\n"


def counterexample_toml(claim: Row, header: Row, loaded: Loaded) -> str:
    """Return the configuration that refutes a claim again on the pair of data sets that its row holds."""
    raw, pair = tomllib.loads(loaded.text.removeprefix("\ufeff")), claim["counterexample"]
    place = next(i for i, each in enumerate(loaded.config.claims) if each.name == claim["claim"])
    budget = {key: value for key, value in raw.get("budget", {}).items() if key not in CLOCK}
    tables = {
        "data": _domain(header, pair, loaded),
        "mechanism": {key: value for key, value in raw["mechanism"].items() if key != "vouched_by"},
        "[claims]": _claim(raw["claims"][place], claim),
        "[pairs]": pair_table(pair, _name(claim)),
        "budget": budget | {"pairs": 0},
    }
    about = (
        f"# Two neighbouring data sets on which the claim {claim['claim']} was refuted. pdp-verify certify, with this\n"
        "# file, refutes it again: under the same seed from the same draws; another seed makes new ones.\n"
    )
    about += "# The claim about these records is here the claim over all data sets: a pair refutes both alike.\n" * (
        claim["type"] != "dp"
    )
    about += "# The mechanism was in memory: mechanism.import is to name it before this file is used.\n" * (
        loaded.mechanism is not None
    )
    lines = [PRIVATE if pair["private"] else "", about, f"folder = {toml_value(str(loaded.folder))}\n"]
    for name, table in tables.items():
        lines += [f"\n[{name}]\n", *(f"{toml_key(key)} = {toml_value(value)}\n" for key, value in table.items())]
    return "".join(lines)


def _domain(header: Row, pair: Row, loaded: Loaded) -> dict[str, Any]:
    """Return the public domain, wide enough for both data sets of a pair of private records."""
    data, n = loaded.config.data, len(pair["y"])
    more = 0 if pair["relation"] == "REPLACE" else pair["copies"]
    bounds = {name: number(header["data"][name]) for name in ("x_bound", "y_bound")}
    least = {"n_min": min(data.n_min, n)} if data.n_min else {}
    most = {} if data.n_public is None else {"n_public": max(data.n_public, n + more)}
    handed = {} if data.records is None else {"records": data.records}
    return {"dim": header["data"]["dim"], **bounds, **least, **most, **handed, "public": not pair["private"]}


def _claim(raw: Mapping[str, Any], claim: Row) -> dict[str, Any]:
    if claim["type"] != "dp":
        return {"type": "dp", "name": claim["claim"], "epsilon": raw["epsilon"], "delta": raw["delta"]}
    return {**raw, "name": claim["claim"]}


def _name(claim: Row) -> str:
    """Return the name of the pair by which its draws are known, where it was drawn from."""
    name = str((claim.get("violation") or {}).get("pair") or "the pair")
    drawn = [str(each["name"]) for each in (claim["examination"] or {}).get("pairs", ())]
    return next((each for each in drawn if each == name or each.endswith(f": {name}")), name)


def pair_table(pair: Row, name: str) -> dict[str, Any]:
    """Return the table of ``[[pairs]]`` that stands for a pair as a record holds it."""
    last = pair["relation"] == "ADD" and pair["place"] == len(pair["y"])
    where = {} if last else {"replaced" if pair["relation"] == "REPLACE" else "place": pair["place"]}
    copies = {"copies": pair["copies"]} if pair["copies"] > 1 else {}
    return {"name": name[:LONGEST_NAME], **{key: pair[key] for key in ("target_x", "target_y")}, **where, **copies} | {
        key: pair[key] for key in ("X", "y")
    }
