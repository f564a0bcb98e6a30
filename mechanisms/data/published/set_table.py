"""The recipes as a table for readers: ``python -m mechanisms.data.published.set_table`` prints it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

from .published_sets import PublishedSet, published_sets

_HEAD: Final = ("set", "records x features", "response", "file", "confirmed", "note")


def set_table(sets: Mapping[str, PublishedSet] | None = None) -> str:
    """Return one line a set in Markdown: shape, response, accepted files, what was confirmed, and the recipe's note."""
    rows = [_row(each) for each in (published_sets() if sets is None else sets).values()]
    lines = [_HEAD, ("---",) * len(_HEAD), *rows]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines) + "\n"


def _row(recipe: PublishedSet) -> tuple[str, ...]:
    return (
        f"[{recipe.name}]({recipe.source})",
        f"{recipe.n_records:,} x {recipe.dim}",
        f"`{recipe.response or 'y'}`",
        _files(recipe),
        ", ".join(recipe.confirmed),
        recipe.note,
    )


def _files(recipe: PublishedSet) -> str:
    together = [[f"`{name}`" for name in layout.files] for layout in recipe.layouts if layout.together]
    alone = [f"`{name}`" for layout in recipe.layouts if not layout.together for name in layout.files]
    joined = [f"{names[0]} to {names[-1]}" if len(names) > 2 else " and ".join(names) for names in together]
    return " or ".join(dict.fromkeys([*joined, *alone]))


if __name__ == "__main__":
    print(set_table(), end="")
