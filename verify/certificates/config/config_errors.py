"""One line for what pydantic found: the key, the rule and the value."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from typing import Any

from pydantic import ValidationError

#: Keys whose value may be a record of a person.
PRIVATE = ("x", "y", "X", "target_x", "target_y")
#: Keys that say which mechanism it is.
MECHANISM = ("name", "import", "command", "url")
_RULES = {
    "greater_than": "greater than {gt}",
    "greater_than_equal": "at least {ge}",
    "less_than": "below {lt}",
    "less_than_equal": "at most {le}",
    "finite_number": "a finite number",
    "float_type": "a number",
    "float_parsing": "a number",
    "int_type": "a whole number",
    "int_parsing": "a whole number",
    "int_from_float": "a whole number",
    "bool_type": "true or false",
    "bool_parsing": "true or false",
    "string_type": "text",
    "string_pattern_mismatch": "of the form {pattern}",
    "list_type": "a list",
    "dict_type": "a table",
    "model_type": "a table",
    "model_attributes_type": "a table",
    "literal_error": "one of {expected}",
    "reach": "between {low:g} and {high:g}",
    "too_short": "a list of at least {min_length}",
    "union_tag_invalid": "one of {expected_tags}",
}


def one_line(error: ValidationError) -> str:
    """Return the first error of a validation as ``key must be <rule>, got key=value``."""
    found = error.errors(include_url=False)
    first = next(
        (each for each in found if each["type"] == "extra_forbidden"), found[0]
    )  # a misspelt key explains more
    kind, context = first["type"], dict(first.get("ctx", {}))
    key = key_of(first["loc"])
    if kind == "value_error" and "|" in str(context.get("error", "")):
        place, rule, value = str(context["error"]).split("|", 2)
        for tables in ("claims", "pairs"):  # the validator of one table does not know its number
            if place.partition(".")[0] == tables and key.startswith(f"{tables}["):
                place = key + place.removeprefix(tables)
        return f"{place} must be {rule}, got {place}={value}"
    if kind == "missing":
        return f"{key} must be given, got nothing"
    if kind == "extra_forbidden" and first["loc"][0] == "mechanism" and first["loc"][-1] in MECHANISM:
        both = f"{first['loc'][1] if first['loc'][1] in MECHANISM else 'name'} and {first['loc'][-1]}"
        return f"mechanism must have one of {', '.join(MECHANISM)}, got {both}"
    if kind == "extra_forbidden":
        return f"{key} must be a known key, got {key}{_meant(first)}"
    if kind in ("union_tag_not_found", "union_tag_invalid"):
        tag = "name" if key == "mechanism" else "type"
        rule = (
            f"one of {context.get('expected_tags', '')}".replace("'", "") if context.get("expected_tags") else "given"
        )
        return f"{key}.{tag} must be {rule}, got {key}.{tag}={context.get('tag', 'nothing')}"
    rule = _RULES.get(kind, "").format(**context) or first["msg"].removeprefix("Value error, ")
    rule = rule.removesuffix(".0") if rule.split()[-1].endswith(".0") else rule
    if key.rpartition(".")[2].partition("[")[0] in PRIVATE:
        return f"{key} must be {rule}, got another value (not shown)"
    return f"{key} must be {rule}, got {key}={_shown(first['input'])}"


def key_of(location: Sequence[str | int]) -> str:
    """Return a location as a TOML key, without the tags of unions."""
    parts = list(location)
    if len(parts) > 1 and parts[0] == "mechanism":
        del parts[1]
    if len(parts) > 2 and parts[0] == "claims" and isinstance(parts[1], int):
        del parts[2]
    text = ""
    for part in parts:
        text += f"[{part}]" if isinstance(part, int) else (f".{part}" if text else str(part))
    return text or "configuration"


def _shown(value: Any) -> str:
    try:
        text = str(value)
    except (RecursionError, ValueError):  # ValueError: a whole number with thousands of digits
        text = "another value"
    return text if len(text) <= 60 else text[:57] + "..."


def _meant(error: Any) -> str:
    from ..claims.types import BY_TYPE
    from . import config, config_mechanisms, config_pairs

    sections: dict[Any, Any] = {
        "data": config.DataSection,
        "budget": config.BudgetSection,
        "release": config.ReleaseSection,
        "report": config.ReportSection,
        "artefact": config.ArtefactSection,
        "pairs": config_pairs.PairSection,
        "vouched_by": config_mechanisms.VouchedSection,
        **config_mechanisms.BY_TAG,
        **BY_TYPE,
    }
    location = error["loc"]
    model = next((sections[part] for part in reversed(location[:-1]) if part in sections), config.Configuration)
    known = sorted(each.alias or name for name, each in model.model_fields.items())
    close = difflib.get_close_matches(str(location[-1]), known, n=1)
    return f"; did you mean {close[0]}" if close else f"; known are {', '.join(known)}"
