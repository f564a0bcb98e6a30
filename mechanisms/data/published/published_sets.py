"""A published data set as a recipe: its file's names and layouts, its columns and what was made of its response."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Final

import numpy as np

from ..dataset import DataError, Dataset, FloatArray
from ..uci import Codes, TableForm, coded, read_table, regression_of

#: What the experiments made of a response, by the formula's words.
RESPONSES: Final[Mapping[str, Callable[[FloatArray], FloatArray]]] = MappingProxyType(
    {
        "": lambda y: y,
        "log": lambda y: np.log(y),
        "log1p": lambda y: np.log1p(y),
        "log(2015 - y)": lambda y: np.log(2015.0 - y),
        "2 y - 1": lambda y: 2.0 * y - 1.0,
    }
)
#: What of a recipe was confirmed: the columns read in the experiments' code, the shape in what was published, or the
#: whole recipe on the real file.
CONFIRMED: Final = ("columns", "shape", "file")


@dataclass(frozen=True)
class FileLayout:
    """One way in which a set's file is handed round: its names, how it is read, and which of its columns count.

    Parameters
    ----------
    files : tuple of str
        File names, any of which is accepted; with ``together`` all of them, one below the other.
    columns : int
        How many columns the file has.
    target, drops
        The response and the columns that are left out, by name or by place in the file (0 the first, -1 the last).
    form : TableForm
        How a text file is laid out.
    codes : mapping
        For a column of words, the number that each word stands for.
    dates : mapping of str to str
        For a column of dates, how they are written (as of ``strptime``): it becomes month, day and year.
    within : mapping of str or int to (float, float)
        Records are kept where the column lies in this closed interval.
    together : bool
        Whether the files are parts of one table.
    response : str or None
        What is to be made of the response, where it is not what the set says.
    digests : mapping of str to str
        SHA-256 of each file that was really seen, with where it was had.
    """

    files: tuple[str, ...]
    columns: int
    target: str | int
    drops: tuple[str | int, ...] = ()
    form: TableForm = field(default_factory=TableForm)
    codes: Codes = field(default_factory=dict)
    dates: Mapping[str, str] = field(default_factory=dict)
    within: Mapping[str | int, tuple[float, float]] = field(default_factory=dict)
    together: bool = False
    response: str | None = None
    digests: Mapping[str, str] = field(default_factory=dict)

    def found_in(self, folder: Path) -> tuple[Path, ...]:
        """Return the files of the folder that are this layout, or none; capitals in a name do not matter."""
        try:
            there = {path.name.lower(): path for path in sorted(folder.iterdir()) if path.is_file()}
        except OSError as stop:
            raise DataError(f"folder must be readable, got folder={folder}: {stop.strerror}") from None
        found = tuple(there[name.lower()] for name in self.files if name.lower() in there)
        if self.together:
            return found if len(found) == len(self.files) else ()
        return found[:1]

    def read(self, paths: tuple[Path, ...]) -> Any:
        """Return the cells of the files as one frame; a wrong number of columns is refused in one line."""
        import pandas as pd  # slow to import

        frames = [read_table(path, self.form) for path in paths]
        for path, each in zip(paths, frames, strict=True):
            if each.shape[1] != self.columns:
                raise DataError(f"file must have {self.columns} columns, got {each.shape[1]} in {path.name}")
        frame = coded(pd.concat(frames, ignore_index=True), self.codes, paths[0].name)
        for column, (low, high) in self.within.items():
            values = frame[column] if isinstance(column, str) else frame.iloc[:, column]
            frame = frame[pd.to_numeric(values, errors="coerce").between(low, high)]
        for column, written in self.dates.items():
            frame = _with_date_apart(frame, column, written, paths[0].name)
        return frame

    def seen(self, path: Path) -> str:
        """Say of a file whether it is, byte for byte, one whose digest the recipe has."""
        if not self.digests:
            return f"{path.name}: no digest of this file was recorded"
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        if digest in self.digests:
            return f"{path.name}: digest as recorded ({self.digests[digest]})"
        return f"{path.name}: not byte for byte the file whose digest was recorded"


@dataclass(frozen=True)
class PublishedSet:
    """A data set of a paper's experiments: where it comes from, and how its file becomes records and responses.

    Parameters
    ----------
    name : str
        Paper and name, as ``"w18/airfoil"``.
    layouts : tuple of FileLayout
        The layouts in which its file may be had, the source's own first.
    response : str
        What the experiments made of the response: a key of ``RESPONSES``.
    n_records, dim : int
        Expected shape once it is prepared.
    source : str
        Address of the data.
    licence : str
        What is known of the licence.
    confirmed : tuple of str
        Which of ``CONFIRMED`` hold.
    note : str
        What was assumed, what was not seen, and what differs from what one would expect.
    """

    name: str
    layouts: tuple[FileLayout, ...]
    response: str
    n_records: int
    dim: int
    source: str
    licence: str
    confirmed: tuple[str, ...]
    note: str

    @property
    def files(self) -> tuple[str, ...]:
        """The file names that are accepted inside the folder."""
        return tuple(dict.fromkeys(name for layout in self.layouts for name in layout.files))

    @property
    def target(self) -> str | int:
        return self.layouts[0].target

    @property
    def drops(self) -> tuple[str | int, ...]:
        return self.layouts[0].drops

    @property
    def digest(self) -> str | None:
        """SHA-256 of the first layout's file, or None where none was had, or the set is several files."""
        digests = tuple(self.layouts[0].digests)
        return digests[0] if len(digests) == 1 else None

    def find(self, folder: Path | str) -> Path:
        """Return the file in the folder (of several that belong together, the first; of several layouts, the first).

        Raises
        ------
        DataError
            If there is no such folder, or none of the names in it.
        """
        return self._found(Path(folder))[0][1][0]

    def load(self, folder: Path | str) -> Dataset:
        """Return the data as the experiments prepared them: columns, codes, response; unscaled, without public bounds.

        Raises
        ------
        DataError
            If no file is found, or it is damaged, or has another shape than the published one; no cell is quoted.
        """
        first: DataError | None = None
        for layout, paths in self._found(Path(folder)):
            try:
                return self._prepared(layout, paths)
            except DataError as wrong:
                first = first or wrong
        raise first or DataError(f"{self.name} must have a layout, got none")

    def _prepared(self, layout: FileLayout, paths: tuple[Path, ...]) -> Dataset:
        raw = regression_of(layout.read(paths), layout.target, layout.drops, paths[0])
        if (raw.n_records, raw.dim) != (self.n_records, self.dim):
            raise DataError(
                f"{self.name} must have shape ({self.n_records}, {self.dim}) of records and features, "
                f"got ({raw.n_records}, {raw.dim}) in {paths[0].name}"
            )
        formula = self.response if layout.response is None else layout.response
        with np.errstate(divide="ignore", invalid="ignore"):
            y = RESPONSES[formula](raw.y)
        if not np.isfinite(y).all():
            raise DataError(f"{formula} of the response must be finite, got one that is not in {paths[0].name}")
        made = (f"response transformed: {formula}",) if formula else ()
        return replace(raw, y=y, name=self.name, steps=(*raw.steps, *made, *map(layout.seen, paths)))

    def _found(self, folder: Path) -> tuple[tuple[FileLayout, tuple[Path, ...]], ...]:
        """Return the layouts whose files are in the folder, with them, in the recipe's order."""
        if not folder.is_dir():
            raise DataError(f"folder must be a folder that exists, got folder={folder}")
        found = tuple((layout, paths) for layout in self.layouts if (paths := layout.found_in(folder)))
        if not found:
            names = dict.fromkeys((" and " if each.together else " or ").join(each.files) for each in self.layouts)
            wanted = " or ".join(names)
            raise DataError(f"folder must hold {wanted} for {self.name}, got none of them in folder={folder}")
        return found


def _with_date_apart(frame: Any, column: str, written: str, name: str) -> Any:
    """Return the table with a column of dates replaced by month, day and year."""
    import pandas as pd  # slow to import

    dates = pd.to_datetime(frame[column], format=written, errors="coerce")
    if (dates.isna() & frame[column].notna()).any():
        raise DataError(f"column {column!r} must hold dates written as {written}, got something else in {name}")
    place = list(frame.columns).index(column)
    parts = {"month": dates.dt.month, "day": dates.dt.day, "year": dates.dt.year}
    return pd.concat([frame.iloc[:, :place], pd.DataFrame(parts), frame.iloc[:, place + 1 :]], axis=1)


@cache
def published_sets() -> Mapping[str, PublishedSet]:
    """Return every recipe by its name: W18's tables, then RW21's figures."""
    table = tomllib.loads(Path(__file__).with_name("recipes.toml").read_text(encoding="utf-8"))
    licences = table["licences"]
    return MappingProxyType({name: _published(name, entry, licences) for name, entry in table["sets"].items()})


def _published(name: str, entry: dict[str, Any], licences: Mapping[str, str]) -> PublishedSet:
    n_records, dim = entry["shape"]
    return PublishedSet(
        name=name,
        layouts=tuple(_layout(raw) for raw in entry["layouts"]),
        response=entry.get("response", ""),
        n_records=n_records,
        dim=dim,
        source=entry["source"],
        licence=licences[entry["licence"]],
        confirmed=tuple(entry["confirmed"]),
        note=entry["note"],
    )


def _layout(raw: dict[str, Any]) -> FileLayout:
    names = tuple(raw.get("names", ()))
    return FileLayout(
        files=tuple(raw["files"]),
        columns=raw.get("columns", len(names)),
        target=raw["target"],
        drops=tuple(raw.get("drops", ())),
        form=TableForm(raw.get("separators", ""), raw.get("header"), raw.get("named", True), names),
        codes={_column(key): _numbers(words) for key, words in raw.get("codes", {}).items()},
        dates=dict(raw.get("dates", {})),
        within={_column(key): (float(low), float(high)) for key, (low, high) in raw.get("within", {}).items()},
        together=raw.get("together", False),
        response=raw.get("response"),
        digests=dict(raw.get("digests", {})),
    )


def _numbers(words: list[str] | dict[str, float] | str) -> dict[str, float]:
    """Return the number of each word: given, or its place from 1 on (of a text, each letter's)."""
    if isinstance(words, dict):
        return {word: float(number) for word, number in words.items()}
    return {word: float(place) for place, word in enumerate(words, 1)}


def _column(key: str) -> str | int:
    """Return a TOML key as the column that it means: a place, or a name."""
    return int(key) if key.lstrip("-").isdigit() else key


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
