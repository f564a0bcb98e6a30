"""The table of the documents is that of the recipes."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from mechanisms.data.published.published_sets import published_sets, set_table

PAGE = Path(__file__).resolve().parents[4] / "docs" / "data_sets.md"


def test_the_page_has_the_table_of_the_recipes() -> None:
    """Print it anew with ``python -m mechanisms.data.published.published_sets``."""
    assert set_table() in PAGE.read_text(encoding="utf-8")


def test_a_line_says_what_its_recipe_says() -> None:
    name = "w18/elevators"
    recipe = dataclasses.replace(published_sets()[name], source="https://a.b", confirmed=("shape",), note="A word.")
    (*_, line) = set_table({name: recipe}).splitlines()
    files = "`elevators.data` and `elevators.test`"
    assert line == f"| [{name}](https://a.b) | 16,599 x 18 | `log` | {files} | shape | A word. |"
