"""A tree of tables as TOML, and one change of it: a value, a key that is added, renamed, moved or removed.

What TOML cannot say is not made.
"""

from __future__ import annotations

import copy
import datetime
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from hypothesis import strategies as st

Place = tuple[Any, ...]
#: A value that stands in the text as it is (a date, a number too long for Python's float).
Raw = type("Raw", (str,), {"__doc__": "Text that stands as it is."})

#: Numbers that a rule may allow and a computation may not stand.
FLOATS = (1e-300, 1e-12, 1e-11, 1e-9, 1e-6, 1e-3, 0.1, 0.5, 2.0, 3, 20.0, 1e3, 1e6, 1e9, 1e11, 1e12, 1e300)
SHARES = (5e-324, 1e-100, 1e-50, 1e-20, 1e-9, 1e-3, 0.1, 0.5, 0.9, 0.999999, 0.999999999, 0.9999999999999999)
WHOLE = (0, 1, 2, 3, 5, 11, 12, 13, 20, 40)
ODD_NUMBERS = (
    0, 0.0, -0.0, -1, -1e-300, 1, 1.0, 1.5, float("inf"), float("-inf"), float("nan"), 2**31, 2**63, 2**64, 10**30,
    Raw("1" + "0" * 400), Raw("1" + "0" * 5000),
)  # fmt: skip
TEXTS = (
    "", " ", "text", "0", "nan", "REQUIRED", "é", "数", "\u202eabc", "a\nb", "\x00", "\x7f", "x" * 3000,
    "../out.json", "/", ".", "mine.py", "mine.py:Draws", "#{1+1}", "$x$", "\\", "<b>", "|", "@a", "🙂",
)  # fmt: skip
ODD_VALUES = (
    True, False, [], {}, [1.0], ["a"], {"a": 1}, [[1.0]], [{"a": 1}], datetime.date(2026, 1, 1), *ODD_NUMBERS,
    *TEXTS,
)  # fmt: skip
#: Keys whose number is how much is done: what is large there costs time, and is no mistake.
SIZES = ("n_steps", "draws", "pairs", "n_draws", "imported_draws", "n", "dim", "jobs", "max_draws", "group")
SMALL = (0, -1, 1, 2, 3, 1.0, 1.5, True, "1", 10)


def places(tree: Any, at: Place = ()) -> list[Place]:
    """Return every place inside a tree."""
    inside = tree.items() if isinstance(tree, Mapping) else enumerate(tree) if isinstance(tree, list) else ()
    found: list[Place] = []
    for key, value in inside:
        found += [(*at, key), *places(value, (*at, key))]
    return found


def holder(tree: Any, place: Place) -> Any:
    """Return the table or list that a place is in."""
    for key in place[:-1]:
        tree = tree[key]
    return tree


def key_of(place: Place) -> str:
    """Return the last key of a place that is a name."""
    return next((key for key in reversed(place) if isinstance(key, str)), "")


@st.composite
def plausible(draw: st.DrawFn, place: Place, value: Any, words: Mapping[str, Sequence[Any]]) -> Any:
    """Return another value that may well be allowed."""
    key = key_of(place)
    if key in words and isinstance(words[key][0], list) == isinstance(value, list):
        return draw(st.sampled_from(words[key]))
    if key in words and isinstance(value, list):
        return [draw(st.sampled_from(words[key]))]
    match value:
        case bool():
            return not value
        case _ if key in SIZES:
            return draw(st.sampled_from((1, 2, 3, 5)))
        case int():
            return draw(st.sampled_from(WHOLE))
        case float() if key in ("delta", "failure_prob", "rho", "level", "probability"):
            return draw(st.sampled_from(SHARES))
        case float():
            return draw(st.sampled_from((*FLOATS, value / 2, value * 2)))
        case list():
            return draw(st.sampled_from((value[:1], value[::-1], [*value, *value])))
        case _:
            return draw(st.sampled_from(TEXTS))


@st.composite
def odd(draw: st.DrawFn, place: Place) -> Any:
    """Return a value that hardly any rule allows."""
    return draw(st.sampled_from(SMALL if key_of(place) in SIZES else ODD_VALUES))


@st.composite
def changed(
    draw: st.DrawFn,
    tree: dict[str, Any],
    words: Mapping[str, Sequence[Any]],
    further: Sequence[tuple[Place, Any]],
) -> dict[str, Any]:
    """Return a tree with one change.

    Parameters
    ----------
    words : mapping
        For a key the values that it may have.
    further : sequence
        Places of keys that the tree lacks, each with a value that is allowed there.
    """
    tree = copy.deepcopy(tree)
    how = draw(
        st.sampled_from(
            ("value",) * 18 + ("odd",) * 2 + ("add",) * 6 + ("add odd", "remove", "rename", "move", "double")
        )
    )
    fitting = [(place, value) for place, value in further if _fits(tree, place)]
    if how in ("add", "add odd") and fitting:
        place, value = draw(st.sampled_from(fitting))
        holder(tree, place)[place[-1]] = draw(odd(place)) if how == "add odd" else value
        return tree
    known = places(tree)
    numbers = [place for place in known if _may_vary(place, holder(tree, place)[place[-1]])]
    inner = [place for place in known if len(place) > 1]  # a table that is missing hides all that is in it
    others = inner if draw(st.integers(0, 3)) else known
    place = draw(st.sampled_from(numbers if how in ("value", "add") and numbers else others))
    where, last = holder(tree, place), place[-1]
    match how:
        case "value" | "add":
            where[last] = draw(plausible(place, where[last], words))
        case "odd" | "add odd":
            where[last] = draw(odd(place))
        case "remove":
            del where[last]
        case "rename" if isinstance(where, dict):
            where[draw(st.sampled_from((f"{last}s", last.upper(), last[:-1], "é", "a b", "")))] = where.pop(last)
        case "move":
            value = where.pop(last)
            tables = [each for each in tree.values() if isinstance(each, dict)]
            draw(st.sampled_from([*tables, tree]))[str(last)] = value
        case _:  # every list twice as long
            for each in {key_of(place), "claims", "features"}:
                where = tree if each == "claims" else tree.get("data", {})
                if isinstance(where, dict) and isinstance(where.get(each), list):
                    where[each] = where[each] * 2
    return tree


def _may_vary(place: Place, value: Any) -> bool:
    """Whether another value may be as good: not a table, and no key that says what the other keys are."""
    return (
        not isinstance(value, dict)
        and not {"name", "type", "file", "import"} & {place[-1]}
        and "parameters" not in place[-2:-1]
    )


def _fits(tree: Any, place: Place) -> bool:
    for key in place[:-1]:
        if (isinstance(tree, list) and isinstance(key, int) and key < len(tree)) or (
            isinstance(tree, dict) and key in tree
        ):
            tree = tree[key]
        else:
            return False
    return isinstance(tree, dict) and place[-1] not in tree


# --- as text ----------------------------------------------------------------------------------------------------------


def written(tree: dict[str, Any]) -> str:
    """Return the text of a configuration or grid."""
    plain = [f"{_key(key)} = {_value(value)}" for key, value in tree.items() if not _is_table(value)]
    for key, value in tree.items():
        if _is_table(value):
            head = f"[{_key(key)}]" if isinstance(value, dict) else f"[[{_key(key)}]]"
            for each in [value] if isinstance(value, dict) else value:
                plain += [head, *(f"{_key(name)} = {_value(inner)}" for name, inner in each.items())]
    return "\n".join(plain) + "\n"


def _is_table(value: Any) -> bool:
    return isinstance(value, dict) or (
        isinstance(value, list) and bool(value) and all(isinstance(v, dict) for v in value)
    )


def _key(name: str) -> str:
    return name if re.fullmatch(r"[A-Za-z0-9_-]+", name) else _text(name)


def _text(text: str) -> str:
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    match value:
        case Raw():
            return str(value)
        case bool():
            return "true" if value else "false"
        case str():
            return _text(value)
        case datetime.date():
            return value.isoformat()
        case list() | tuple():
            return "[" + ", ".join(_value(each) for each in value) + "]"
        case dict():
            return "{" + ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items()) + "}"
        case _:
            return repr(value)
