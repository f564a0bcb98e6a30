"""A grid file: the axes whose product are the cells, and what each cell may spend. Every mistake is one line."""

from __future__ import annotations

import difflib
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mechanisms import DataError, Dataset
from mechanisms.parameters import REACH

from ..messages.errors import UserError
from ..messages.texts import read_text, read_toml
from .cell import IMPORTED_DRAWS, REPLACED, TARGETS, Cell, Shared
from .mechanism_axis import ALL_LOSSES, LOSSES, RECIPES, ImportedMechanism, read_imported

Rule = tuple[str, Callable[[Any], bool]]


def _whole(least: int) -> Rule:
    words = f"whole numbers of at least {least}"
    return words, lambda v: isinstance(v, int) and not isinstance(v, bool) and v >= least


def _number(words: str, allowed: Callable[[float], bool]) -> Rule:
    return f"numbers {words}", lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and allowed(float(v))


def _one_of(names: tuple[str, ...]) -> Rule:
    return f"among {', '.join(names)}", lambda v: isinstance(v, str) and v in names


#: Sizes and shares that float64 is trusted with, as in a configuration of certify.
_SIZE = _number("from 1e-12 to 1e+12", lambda v: REACH[0] <= v <= REACH[1])
_SHARE = _number("from 1e-100 to 1 - 1e-9", lambda v: 1e-100 <= v <= 1 - 1e-9)
#: Axis -> what its values must be; the order is that of the cells (the last axis varies fastest).
AXES: Mapping[str, Rule] = {
    "mechanism": _one_of(tuple(RECIPES)),
    "loss": _one_of(ALL_LOSSES),
    "n": _whole(1),
    "dim": _whole(1),
    "conditioning": _number("from 1 to 1e+12", lambda v: 1 <= v <= REACH[1]),
    "seed": _whole(0),
    "target": _one_of((*TARGETS, REPLACED)),
    "delta": _SHARE,
    "epsilon": _SIZE,
}
FLOATS = ("conditioning", "delta", "epsilon")
#: Axes that the user's own data fix.
OF_DATA = ("n", "dim", "conditioning", "seed")
BUDGET: Mapping[str, tuple[Rule, Any]] = {
    "seed": (_whole(0), 20210527),
    "n_draws": (_whole(2), 4000),
    "imported_draws": (_whole(2), IMPORTED_DRAWS),
    "failure_prob": (_SHARE, 1e-7),
}
TABLES = ("name", "grid", "budget", "data", "imported")
DATA_KEYS = ("file", "response", "x_bound", "y_bound", "public")


@dataclass(frozen=True, eq=False)
class Grid:
    """The axes with their values, what each cell may spend, and the user's own data and mechanisms, if any."""

    name: str
    axes: Mapping[str, tuple[Any, ...]]
    seed: int
    n_draws: int
    failure_prob: float
    data: Dataset | None = None
    imported: Mapping[str, ImportedMechanism] = field(default_factory=dict)
    imported_draws: int = IMPORTED_DRAWS

    def __len__(self) -> int:
        return math.prod(len(values) for values in self.axes.values())

    def cell(self, index: int) -> Cell:
        """Return the cell at a position of the product; the last axis varies fastest."""
        found: dict[str, Any] = {}
        for axis in reversed(tuple(self.axes)):
            index, place = divmod(index, len(self.axes[axis]))
            found[axis] = self.axes[axis][place]
        return dict(reversed(found.items()))

    def cells(self) -> Iterator[Cell]:
        """Yield every cell, in order."""
        return (self.cell(index) for index in range(len(self)))

    @property
    def private(self) -> bool:
        """Whether the cells hold data that may not be published."""
        return self.data is not None and not self.data.public

    def shared(self, identity: Mapping[str, Any]) -> Shared:
        """Return what all cells share, with the identity of our sources and platform."""
        own = {name: each for name, each in self.imported.items() if name in self.axes["mechanism"]}
        return Shared(self.seed, self.n_draws, self.failure_prob, identity, self.data, own, self.imported_draws)

    def spends(self) -> float:
        """Return the sum of what the sampled cells may spend."""
        kinds = [(mechanism, loss) for mechanism in self.axes["mechanism"] for loss in self.axes["loss"]]
        own = sum(mechanism in self.imported and loss in LOSSES for mechanism, loss in kinds)
        ours = sum(
            mechanism in RECIPES and not RECIPES[mechanism].exact and loss in RECIPES[mechanism].losses
            for mechanism, loss in kinds
        )
        targets = self.axes["target"]
        per_kind = len(self) // (len(kinds) * len(targets))
        return (own * len(targets) + ours * (len(targets) - (REPLACED in targets))) * per_kind * self.failure_prob


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def _refuse(key: str, rule: str, value: Any) -> UserError:
    return UserError(f"{key} must be {rule}, got {key}={_shown(value)}")


def _known(table: Mapping[str, Any], allowed: tuple[str, ...], prefix: str) -> None:
    for key in table:
        if key not in allowed:
            close = difflib.get_close_matches(key, allowed, n=1)
            hint = f"; did you mean {prefix}{close[0]}?" if close else ""
            raise UserError(f"{prefix}{key} must be one of {', '.join(allowed)}, got {prefix}{key}{hint}")


def read_grid(path: Path, tell: Callable[[str], None] = lambda _: None) -> Grid:
    """Return the grid of a TOML file; ``tell`` is called with a line before code that the file names is executed.

    Raises ``UserError``: one line that names the key, the rule and the value.
    """
    text = read_toml(read_text(path, "grid"), "grid", str(path))
    _known(text, TABLES, "")
    name = text.get("name", path.stem)
    if not isinstance(name, str) or not name.strip():
        raise _refuse("name", "text that is not empty", name)
    for key in TABLES[1:]:
        if not isinstance(text.get(key, {}), dict):
            raise _refuse(key, "a table", text[key])
    data = _data(text["data"], path.parent) if "data" in text else None
    imported = read_imported(text.get("imported", {}), tuple(RECIPES), path.parent, tell)
    axes = _axes(text.get("grid", {}), data, tuple(imported))
    spending = text.get("budget", {})
    _known(spending, tuple(BUDGET), "budget.")
    budget = {key: spending.get(key, default) for key, (_, default) in BUDGET.items()}
    for key, ((words, allowed), _) in BUDGET.items():
        if not allowed(budget[key]):
            one = words.replace("whole numbers", "a whole number").replace("numbers", "a number")
            raise _refuse(f"budget.{key}", one, budget[key])
    least = (budget["seed"], budget["n_draws"], float(budget["failure_prob"]))
    return Grid(name, axes, *least, data, imported, budget["imported_draws"])


def _axes(table: Mapping[str, Any], data: Dataset | None, imported: tuple[str, ...]) -> dict[str, tuple[Any, ...]]:
    wanted = tuple(axis for axis in AXES if data is None or axis not in OF_DATA)
    _known(table, wanted, "grid.")
    rules = {**AXES, "mechanism": _one_of((*RECIPES, *imported))}
    if data is not None:
        words = f"numbers of records, in [0, {data.n_records})"
        rules["target"] = words, lambda v: isinstance(v, int) and not isinstance(v, bool) and 0 <= v < data.n_records
    if imported and isinstance(table.get("mechanism"), list) and all(name in imported for name in table["mechanism"]):
        rules["delta"] = _number(
            "0 or from 1e-100 to 1 - 1e-9", lambda v: v == 0 or _SHARE[1](v)
        )  # our own rules need a delta
    axes: dict[str, tuple[Any, ...]] = {}
    for axis in wanted:
        key, (words, allowed) = f"grid.{axis}", rules[axis]
        if axis not in table:
            raise UserError(f"{key} must be given, got nothing; its values must be {words}")
        values = table[axis]
        if not isinstance(values, list) or not values:
            raise _refuse(key, "a list of at least one value", values)
        for value in values:
            if not allowed(value):
                raise _refuse(key, words, value)
        if axis in FLOATS:
            values = [float(value) for value in values]
        twice = next((value for place, value in enumerate(values) if value in values[:place]), None)
        if twice is not None:
            raise _refuse(key, "a list without repetition", twice)
        axes[axis] = tuple(values)
    own = next((name for name in axes["mechanism"] if name in imported), None)
    if own is not None and not set(axes["loss"]) & set(LOSSES):
        rule = f"hold {' or '.join(LOSSES)} (responses that are numbers or labels) for the imported {own}"
        raise UserError(f"grid.loss must {rule}, got grid.loss={_shown(list(axes['loss']))}")
    return axes


def _data(table: Mapping[str, Any], folder: Path) -> Dataset:
    """Return the user's own data: a CSV file of numbers, its response column and public bounds."""
    from ..certificates.reading.data_files import read_plain

    _known(table, DATA_KEYS, "data.")
    for key in DATA_KEYS:
        if key not in table:
            raise UserError(f"data.{key} must be given, got nothing")
    for key in ("file", "response"):
        if not isinstance(table[key], str):
            raise _refuse(f"data.{key}", "text", table[key])
    for key in ("x_bound", "y_bound"):
        if not _SIZE[1](table[key]):
            raise _refuse(f"data.{key}", "a number from 1e-12 to 1e+12", table[key])
    if not isinstance(table["public"], bool):
        raise _refuse("data.public", "true or false", table["public"])
    X, y = read_plain(folder / table["file"], table["file"], table["response"])
    try:
        return Dataset(
            X,
            y,
            float(table["x_bound"]),
            float(table["y_bound"]),
            name=Path(table["file"]).name,
            public=table["public"],
        )
    except DataError as stop:
        raise UserError(f"data.file: {stop}") from None
