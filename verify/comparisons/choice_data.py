"""The records that a comparison is made on: one's own, a public set like them, synthetic ones, or a published set.

Synthetic records are drawn from the public domain, and nothing of the private ones is read, so that a choice made by
them is free. The law: a column with a public range is uniform on it, a column with public levels has one of them, each
as likely, and both are prepared as the configuration says; without ranges, prepared rows are uniform in the ball of the
features' bound. With coefficients uniform on the sphere and scores ``u`` of unit variance, a response is
``(y_bound/3) (u + z)/sqrt(2)`` with standard normal ``z``, clipped; a label is +1 with probability
``1/(1 + exp(-2 u))``.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError
from scipy.special import expit

from mechanisms import DataError, Dataset, UnitRows
from mechanisms.capabilities import Domain
from mechanisms.data.dataset import FloatArray, z_score
from mechanisms.data.embedded import SOURCES
from mechanisms.data.uci import as_in_wang2018
from mechanisms.objective.losses import LogisticLoss

from ..certificates.config.config import DataSection, one_line
from ..certificates.reading.data_files import Preparation, read_dataset, source_of
from ..certificates.reading.source import column_names
from ..messages.errors import UserError
from ..messages.texts import read_text, read_toml

#: Name of every such data set.
NAME = "synthetic records"


def ball_records(
    n_records: int, dim: int, x_bound: float, y_bound: float, *, loss: str, rng: np.random.Generator
) -> Dataset:
    """Return records whose features are uniform in the ball of radius ``x_bound``."""
    X = _ball(n_records, dim, x_bound, rng)
    return _with_response(X, x_bound, y_bound, f"features uniform in the ball of radius {x_bound:g}", loss, rng)


def prepared_records(section: DataSection, n_records: int, *, loss: str, rng: np.random.Generator) -> Dataset:
    """Return records that are drawn as a configuration's columns are stated, and prepared as it says."""
    assert section.x_bound is not None
    assert section.y_bound is not None
    columns = Preparation(section)
    if all(name in section.ranges or name in section.categories for name in section.features):
        quiet = section.model_copy(update={"log": None, "threshold": None, "response_scale": 1.0})
        X, _ = Preparation(quiet)(_columns(section, n_records, rng), np.zeros(n_records))
        law = "columns uniform on their public ranges and levels"
    else:
        constant = section.intercept or 0.0
        if section.ranges:
            constant /= math.sqrt(columns.dim)
        n_own = columns.dim - (section.intercept is not None)
        X = _ball(n_records, n_own, math.sqrt(max(section.x_bound**2 - constant**2, 0.0)), rng)
        if section.intercept is not None:
            X = np.column_stack([X, np.full(n_records, constant)])
        law = f"features uniform in the ball of radius {section.x_bound:g}, the intercept as it is"
    return _with_response(X, section.x_bound, section.y_bound, law, loss, rng)


def _ball(n_records: int, dim: int, radius: float, rng: np.random.Generator) -> FloatArray:
    X = rng.standard_normal((n_records, dim))
    X /= np.linalg.norm(X, axis=1, keepdims=True)
    # a rounding must not put a record outside
    return np.asarray(X * (radius * (1 - 1e-15) * rng.uniform(size=(n_records, 1)) ** (1 / dim)))


def _columns(section: DataSection, n_records: int, rng: np.random.Generator) -> FloatArray:
    """Return raw columns: numbers on their ranges, and one 0/1 column a level."""
    blocks = []
    for name in section.features:
        if name in section.categories:
            n_levels = len(section.categories[name])
            blocks.append(np.eye(n_levels)[rng.integers(0, n_levels, n_records)])
        else:
            blocks.append(rng.uniform(*section.ranges[name], size=(n_records, 1)))
    return np.hstack(blocks)


def _with_response(
    X: FloatArray, x_bound: float, y_bound: float, law: str, loss: str, rng: np.random.Generator
) -> Dataset:
    theta = rng.standard_normal(X.shape[1])
    scores = X @ (theta / np.linalg.norm(theta))
    spread = float(scores.std())
    scores = (scores - scores.mean()) / (spread or 1.0) if loss == "squared" else scores / (spread or 1.0)
    if loss == "squared":
        y = np.clip(y_bound / 3 * (scores + rng.standard_normal(len(X))) / math.sqrt(2), -y_bound, y_bound)
        response = f"response linear with as much noise, of standard deviation {y_bound / 3:g}, clipped to the bound"
    else:
        y = np.where(rng.uniform(size=len(X)) < expit(2 * scores), 1.0, -1.0)
        response = "labels of a logistic model"
    return Dataset(X, y, x_bound, y_bound, name=NAME, public=True, steps=(law, response))


Origin = Literal["records", "public", "synthetic"]
Loss = Literal["squared", "logistic"]
BoolArray = NDArray[np.bool_]
#: What every output says of data without public bounds.
READ_OFF = "the public bounds are read off the data: no private step"


@dataclass(frozen=True, eq=False)
class ChoiceData:
    """Records in their public domain, and what they are.

    Attributes
    ----------
    origin : {"records", "public", "synthetic"}
    recipe : str
        Name of the published set, or nothing.
    n_public : int
        Public bound on the number of records, for calibrations that need one: the one that was given, or how many of
        these records there are.
    left_out : tuple of int
        The prepared columns that were constant, and are not in ``dataset``.

    Raises
    ------
    UserError
        If there are more records than the public bound.
    """

    dataset: Dataset
    origin: Origin
    recipe: str = ""
    n_public: int = 0
    left_out: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        there = self.dataset.n_records
        if self.origin == "records" and 0 < self.n_public < there:
            raise UserError("data.n_public must be at least the number of records, got a smaller one")
        object.__setattr__(self, "n_public", self.n_public or there)

    @property
    def domain(self) -> Domain:
        """The public domain that every mechanism is built for."""
        return Domain(self.dataset.dim, self.dataset.x_bound, self.dataset.y_bound, self.n_public)

    @property
    def read_off(self) -> bool:
        """Whether the records were scaled by themselves, for want of public bounds."""
        return READ_OFF in self.dataset.data_dependent

    @property
    def private(self) -> bool:
        """Whether what is computed from the records is for their curator alone."""
        return self.origin == "records" and not self.dataset.public


class _OnlyData(BaseModel):
    """A configuration of which nothing but the data is read."""

    model_config = ConfigDict(extra="ignore")

    data: DataSection


def gather(
    data: str | Path | Dataset | None,
    *,
    loss: Loss,
    options: Mapping[str, Any],
    public: str | Path | None = None,
    synthetic: int | None = None,
    recipe: str | None = None,
    folder: str | Path | None = None,
    rng: np.random.Generator,
) -> ChoiceData:
    """Return the records of a comparison; arguments as in ``compare``.

    ``options`` are keys of a configuration's ``[data]``, and ``drops``: columns of a file that are no features; ``rng``
    is for synthetic records. ``UserError`` says in one line what is wrong with the choice of data, an option, or the
    file; never a cell.
    """
    if not isinstance(data, str | Path | Dataset | None):
        raise UserError(f"data must be a path, a name or a Dataset, got a {type(data).__name__}")
    if isinstance(data, str) and "\n" in data:
        raise UserError("data must be a path, a name or a Dataset, got a text of several lines")
    given = [name for name, value in (("public", public), ("synthetic", synthetic), ("recipe", recipe)) if value]
    if len(given) > 1:
        raise UserError(f"{given[0]} must come without {given[1]}, got both")
    if synthetic is not None and (isinstance(synthetic, bool) or synthetic < 1):
        raise UserError(f"synthetic must be a number of records of at least 1, got synthetic={synthetic}")
    if recipe is not None:
        return _published(recipe, folder, loss, options, data)
    try:
        if isinstance(data, Dataset):
            return _in_memory(data, loss, options, public, synthetic, rng)
        section, at = section_of(data if public is None or _is_toml(data) else public, loss, options)
        if public is not None:
            _check_another(public, data, *([at / section.file] if _is_toml(data) and section.file else []))
            section, at = section.model_copy(update={"file": str(public), "source": None}), Path()
        n_public = section.n_public or 0
        if synthetic is not None:
            return ChoiceData(_drawn(section, synthetic, loss, rng), "synthetic", n_public=n_public)
        return _checked(read_dataset(section, at), loss, "records" if public is None else "public", n_public)
    except DataError as stop:
        raise UserError(str(stop)) from None


def _published(
    recipe: str, folder: str | Path | None, loss: Loss, options: Mapping[str, Any], data: object
) -> ChoiceData:
    from mechanisms.data.published.published_sets import published_sets

    sets = published_sets()
    if recipe not in sets:
        raise UserError(f"recipe must be one of {', '.join(sets)}, got recipe={recipe}")
    if folder is None or data is not None:
        raise UserError("recipe must come with the folder that holds its file, and without other data")
    if options:
        raise UserError(f"recipe must come without options of the data, which it states, got {next(iter(options))}")
    try:
        return replace(_checked(sets[recipe].load(Path(folder)), loss, "records", 0, constants=True), recipe=recipe)
    except DataError as stop:
        raise UserError(str(stop)) from None


def _in_memory(
    data: Dataset,
    loss: Loss,
    options: Mapping[str, Any],
    public: object,
    synthetic: int | None,
    rng: np.random.Generator,
) -> ChoiceData:
    n_public = int(options.get("n_public", 0))
    wrong = [name for name in options if name != "n_public"] + ([] if public is None else ["public"])
    if wrong:
        name = wrong[0]
        raise UserError(f"{name} must be left out where the data are a Dataset, got {name}")
    if synthetic is None:
        return _checked(data, loss, "records", n_public)
    _bounded(data.x_bound, data.y_bound)
    drawn = ball_records(synthetic, data.dim, data.x_bound, data.y_bound, loss=loss, rng=rng)
    return ChoiceData(drawn, "synthetic", n_public=n_public)


def _check_another(public: str | Path, *private: str | Path | None) -> None:
    """Refuse a public set that is the private file itself, by whatever path or link; neither is read for it."""
    for file in private:
        try:
            same = file is not None and Path(public).samefile(file)
        except (OSError, ValueError):  # DATA need not be there
            same = False
        if same:
            raise UserError("public must be another file than the data, which are not read, got the same file")


def _is_toml(data: object) -> bool:
    return isinstance(data, str | Path) and Path(data).suffix.lower() == ".toml"


def section_of(data: str | Path | None, loss: Loss, options: Mapping[str, Any]) -> tuple[DataSection, Path]:
    """Return what a configuration, or a file with options, says of its data, and where relative paths start.

    Parameters and errors as of ``gather``; nothing but the header of a file is read.
    """
    if data is None:
        raise UserError("data must be a file, a configuration, a Dataset, or left out with public or recipe, got none")
    if _is_toml(data):
        if options:
            raise UserError(f"{next(iter(options))} must be left to the [data] of {data}, got both")
        section = _only_data(Path(data))
        if section.standardise:
            raise UserError(
                "data.standardise must be false here, got true; without public bounds compare scales itself"
            )
        return section, Path(data).resolve().parent
    if str(data) in SOURCES:
        if "drops" in options:
            raise UserError(f"drops must be left out for an embedded data set, got drops={options['drops'][0]}")
        return _valid({"source": str(data), **options}), Path()
    return _of_file(str(data), loss, options), Path()


def _of_file(file: str, loss: Loss, options: Mapping[str, Any]) -> DataSection:
    """Return the section of a file with options; without public bounds they are infinite."""
    keys = dict(options)
    drops = keys.pop("drops", ())
    if keys.get("target") is None:
        raise UserError("target must be given: the column of the response, got none")
    if loss == "logistic" and "x_bound" in keys:
        keys.setdefault("y_bound", 1.0)
    if ("x_bound" in keys) != ("y_bound" in keys):
        raise UserError("x_bound and y_bound must be given together, or neither, got one of them")
    boundless = "x_bound" not in keys
    if boundless:
        if "ranges" in keys or "rows" in keys or "response" in keys:
            raise UserError("x_bound and y_bound must be given with ranges, rows or response, got none")
        keys |= {"x_bound": 1.0, "y_bound": 1.0}  # of another rule, which the next line replaces
    section = _valid({"file": file, **keys})
    if not section.features:
        section = section.model_copy(update={"features": _features(section, drops)})
    elif drops:
        raise UserError("drops must be left out where features are listed, got both")
    return section.model_copy(update={"x_bound": math.inf, "y_bound": math.inf}) if boundless else section


def _only_data(path: Path) -> DataSection:
    raw = read_toml(read_text(path, "configuration", "a readable TOML file"), "configuration", str(path))
    try:
        return _OnlyData.model_validate(raw).data
    except ValidationError as stop:
        raise UserError(one_line(stop)) from stop


def _valid(keys: Mapping[str, Any]) -> DataSection:
    try:
        return DataSection.model_validate(keys)
    except ValidationError as stop:
        raise UserError(one_line(stop)) from stop


def _features(section: DataSection, drops: tuple[str, ...]) -> list[str]:
    """Return every column of a file but the response and those that are dropped."""
    source = source_of(section, Path())
    names = column_names(source)
    for name in (str(section.target), *drops):
        if name not in names:
            raise UserError(f"target and drops must be columns of {Path(str(section.file)).name}, got {name}")
    rest = [name for name in names if name not in (section.target, *drops)]
    if not rest:
        raise UserError("drops must leave a feature, got all columns")
    return rest


def _drawn(section: DataSection, n_records: int, loss: Loss, rng: np.random.Generator) -> Dataset:
    if section.source is not None:
        raise UserError("synthetic must come with the bounds of a file or a configuration, got an embedded data set")
    _bounded(section.x_bound, section.y_bound)
    return prepared_records(section, n_records, loss=loss, rng=rng)


def _bounded(x_bound: float | None, y_bound: float | None) -> None:
    if x_bound is None or y_bound is None or not math.isfinite(x_bound + y_bound):
        raise UserError("x_bound and y_bound must be given for synthetic records, got none")


def _checked(dataset: Dataset, loss: Loss, origin: Origin, n_public: int, *, constants: bool = False) -> ChoiceData:
    """Return records whose responses the loss takes, in a public domain, or else in one that is read off them."""
    if loss == "logistic":
        try:
            LogisticLoss().check_response(dataset.y)
        except DataError as stop:
            raise UserError(f"{stop}; a threshold, or labels, make them") from None
    if dataset.n_records < 2:
        raise UserError("data must hold at least 2 records, got fewer")
    bounded = math.isfinite(dataset.x_bound) and math.isfinite(dataset.y_bound)
    if bounded:
        return ChoiceData(dataset, origin, n_public=n_public)
    left_out = () if constants else tuple(int(column) for column in np.flatnonzero(~_spread(dataset)))
    return ChoiceData(scaled(dataset, loss, constants=constants), origin, n_public=n_public, left_out=left_out)


def _spread(dataset: Dataset) -> BoolArray:
    """Return which columns are not constant."""
    return np.asarray(np.ptp(dataset.X, axis=0) > 0)


def scaled(dataset: Dataset, loss: Loss, *, constants: bool = False) -> Dataset:
    """Return data without public bounds as W18's experiments have them: z-scores, then rows of norm 1.

    Read off the data, so no private step: ``data_dependent`` says so. Labels stay as they are. A column that is
    constant is left out unless ``constants`` are kept. ``UserError`` if all are.
    """
    spread = _spread(dataset)
    if not constants and not spread.any():
        raise UserError("data must have a feature column that is not constant, got constant columns only")
    if not constants and not spread.all():
        note = "constant columns left out"
        dataset = replace(
            dataset,
            X=dataset.X[:, spread],
            steps=(*dataset.steps, note),
            data_dependent=(*dataset.data_dependent, note),
        )
    if loss == "squared":
        found = as_in_wang2018(dataset)
    else:
        standard, rows = z_score(dataset), UnitRows()
        found = replace(standard, X=rows(standard.X), x_bound=1.0, y_bound=1.0, steps=(*standard.steps, str(rows)))
    return replace(found, data_dependent=(*found.data_dependent, READ_OFF))
