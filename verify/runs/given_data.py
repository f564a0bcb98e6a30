"""Data that others published, from a folder of the user: what the chosen statements need, read first of all."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mechanisms import DataError, Dataset

from ..messages.errors import UserError

if TYPE_CHECKING:
    from ..papers.registry import Source


def _needs_of(sources: Sequence[Source]) -> tuple[str, ...]:
    """Return the names of the published data sets that decide some of these statements, each once."""
    return tuple(dict.fromkeys(name for source in sources for name in source.load().needs))


def given_sets(sources: Sequence[Source], folder: Path) -> dict[str, Dataset]:
    """Return the data sets of a folder that decide some of these statements, by name, as far as their files are there.

    Raises ``UserError`` if there is no such folder, or a file in it is not what its recipe says; it quotes no cell.
    """
    from mechanisms.data.published import published_sets as recipes

    if not folder.is_dir():
        raise UserError(f"data must be a folder that exists, got data={folder}")
    given = {}
    for name in _needs_of(sources):
        recipe = recipes.published_sets()[name]
        try:
            recipe.find(folder)
        except DataError:  # its statements say which file is missing
            continue
        try:
            given[name] = recipe.load(folder)
        except (DataError, OSError) as stop:
            reason = stop.strerror if isinstance(stop, OSError) else str(stop)
            raise UserError(f"data must hold {name} as it was published: {reason}") from stop
    return given


def given_again(source: Source, recorded: Mapping[str, str], folder: Path | None) -> dict[str, Dataset]:
    """Return the data sets that decided a statement of a record, whose digests it has.

    Raises ``UserError`` if no folder is named, or it does not hold the data of the record.
    """
    names = [name for name in source.load().needs if name in recorded]
    if not names:
        return {}
    if folder is None:
        raise UserError(f"data must be the folder of {', '.join(names)}, by which this was decided, got no --data")
    given = given_sets([source], folder)
    for name in names:
        if name not in given:
            raise UserError(f"data must hold {name}, by which this was decided, got data={folder}")
        if given[name].digest != recorded[name]:
            raise UserError(f"data must hold {name} as it was when this was decided, got another digest")
    return {name: given[name] for name in names}


def told(sources: Sequence[Source], given: Mapping[str, Dataset]) -> str:
    """Return in one line what was found of what the chosen statements need."""
    needs = _needs_of(sources)
    if not needs:
        return "data    none of the chosen statements needs any"
    found = [f"{name} ({each.n_records} records, {each.dim} features)" for name, each in given.items()]
    absent = [name for name in needs if name not in given]
    return "data    " + "; ".join(
        [", ".join(found) or "none", *([f"no file of {', '.join(absent)}"] if absent else [])]
    )
