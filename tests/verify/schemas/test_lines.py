"""The schemas that ship are those of the types; the types allow the words of the kernel, and refuse what is spoilt."""

from __future__ import annotations

import json
import math
from importlib.resources import files
from typing import Any, get_args

import jsonschema
import pytest
from pydantic import TypeAdapter, ValidationError

from verify.certificates.claims.types import BY_TYPE
from verify.engine.record import SCHEMA_VERSIONS
from verify.kernel.statement import Role, Standing
from verify.kernel.verdict import Outcome, Reason, Verdict
from verify.schemas import row_parts
from verify.schemas.lines import RECORDS, json_schema, schema_text, trouble
from verify.schemas.run_rows import CaseRow
from verify.schemas.table_rows import CalibrationHeader

RATE: dict[str, Any] = {
    "kind": "rate",
    "auditor": "tails",
    "law": "a coin",
    "level": 0.05,
    "n_draws": 100,
    "repeats": 40,
    "low": 1,
    "high": 1,
    "any": 2,
    "interval": [0.01, 0.2],
    "smallest_rate_refused": 0.3,
    "compatible": True,
}


@pytest.mark.parametrize("record", list(RECORDS))
def test_the_schema_that_ships_is_that_of_the_types(record: str) -> None:
    text = files("verify").joinpath(f"schemas/{record}.schema.json").read_text(encoding="utf-8")
    assert text == schema_text(record)
    jsonschema.Draft202012Validator.check_schema(json.loads(text))


def test_types_allow_the_words_of_the_kernel_and_no_others() -> None:
    for words, names in (
        (row_parts.OutcomeName, Outcome),
        (row_parts.ReasonName, Reason),
        (row_parts.VerdictName, Verdict),
    ):
        assert set(get_args(words)) == set(names.__members__)
    case = CaseRow.__annotations__
    assert all(name in str(case["standing"]) for name in Standing.__members__)
    assert all(name in str(case["role"]) for name in Role.__members__)


def test_a_good_row_is_no_trouble_and_obeys_the_schema() -> None:
    assert trouble(RATE, "calibration", 2) == ""
    jsonschema.validate(RATE, json_schema("calibration"))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"any": "2"}, "'any' is not a whole number"),
        ({"any": True}, "'any' is not a whole number"),
        ({"any": -1}, "'any' has another value"),
        ({"level": "high"}, "'level' is not a number"),
        ({"level": math.nan}, "'level' has another value"),
        ({"interval": [0.1]}, "'interval' has another value"),
        ({"interval": [0.1, None]}, "'interval[1]' is not a number"),
        ({"interval": "wide"}, "'interval' is not a list"),
        ({"compatible": 1}, "'compatible' is not true or false"),
        ({"note": "x"}, "an unknown key"),
        ({"kind": "rumour"}, "no row of a known kind"),
        ({"kind": []}, "no row of a known kind"),
        ({"kind": "header"}, "a second header"),
    ],
)
def test_what_is_wrong_is_told_by_its_key(change: dict[str, Any], words: str) -> None:
    row = RATE | change
    assert trouble(row, "calibration", 2) == words
    if words != "a second header" and change.get("level") != pytest.approx(math.nan, nan_ok=True):
        assert not jsonschema.Draft202012Validator(json_schema("calibration")).is_valid(row)


def test_a_lacking_key_is_named() -> None:
    assert trouble({name: value for name, value in RATE.items() if name != "law"}, "calibration", 2) == "no key 'law'"
    assert trouble(RATE, "calibration", 1) == "no header"
    assert trouble([], "calibration", 2) == "no row of a known kind"


def test_a_value_of_another_type_is_told_with_what_it_must_be() -> None:
    figure = {"kind": "figure", "id": "W19-T4.1", "number": 1, "figure": None, "error": "oops"}
    assert trouble(figure, "record", 2) == "'error' is not an object"
    assert trouble(figure | {"error": None}, "record", 2) == ""
    assert trouble(figure | {"error": {"type": "A", "message": 3}}, "record", 2) == "'error.message' is not text"


CLAIM: dict[str, Any] = {
    "kind": "claim",
    "claim": "A",
    "type": "dp",
    "sentence": "it is",
    "verdict": "PASS",
    "ground": "proved",
    "words": "PASS (proved)",
    "reason": "",
    "vouched": None,
    "examination": None,
    "scope": "all data",
    "conditions": [],
    "advice": "",
    "private": False,
}


@pytest.mark.parametrize("type_", list(BY_TYPE))
def test_every_type_of_claim_is_allowed(type_: str) -> None:
    assert trouble(CLAIM | {"type": type_}, "certificate", 2) == ""
    jsonschema.validate(CLAIM | {"type": type_}, json_schema("certificate"))


@pytest.mark.parametrize(
    ("type_", "words"), [("rumour", "'type' has another value"), ("", "'type' has another value"), (3, "not text")]
)
def test_a_type_of_claim_that_there_is_not_is_refused(type_: object, words: str) -> None:
    assert words in trouble(CLAIM | {"type": type_}, "certificate", 2)
    assert not jsonschema.Draft202012Validator(json_schema("certificate")).is_valid(CLAIM | {"type": type_})


@pytest.mark.parametrize("record", SCHEMA_VERSIONS)
def test_the_version_of_a_record_is_that_of_its_schema(record: str) -> None:
    header = next(iter(RECORDS[record][2].values()))
    properties = TypeAdapter(header).json_schema()["properties"]
    assert properties["schema_version"]["const"] == SCHEMA_VERSIONS[record]


@pytest.mark.parametrize("value", [True, 1.0, "1", 2, None])
def test_a_literal_number_is_a_whole_number(value: object) -> None:
    about = {"schema_version": value}
    adapter = TypeAdapter(CalibrationHeader)
    with pytest.raises(ValidationError) as refusal:
        adapter.validate_python(about)
    assert ("schema_version",) in {error["loc"] for error in refusal.value.errors()}
    with pytest.raises(ValidationError) as refusal:
        adapter.validate_python({"schema_version": 1})
    assert ("schema_version",) not in {error["loc"] for error in refusal.value.errors()}
