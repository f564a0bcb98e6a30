"""What is written as TOML is read back, whatever it is."""

import math
import tomllib
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from verify.messages.texts import toml_key, toml_value

NUMBERS = st.floats(allow_nan=False) | st.integers(-(2**63), 2**63 - 1)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
VALUES = st.recursive(
    NUMBERS | st.booleans() | TEXTS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(TEXTS, inner, max_size=4),
    max_leaves=6,
)


@given(st.dictionaries(TEXTS, VALUES, max_size=4))
def test_any_value_is_read_back(values: dict[str, Any]) -> None:
    text = "\n".join(f"{toml_key(key)} = {toml_value(value)}" for key, value in values.items())
    assert tomllib.loads(text) == values


def test_numbers_of_numpy_tuples_and_infinity_are_numbers_and_lists() -> None:
    assert toml_value((np.float64(0.1), np.int64(3), math.inf)) == "[0.1, 3, inf]"
    assert toml_value([[1.0], []]) == "[\n    [1.0], \n    []]"
