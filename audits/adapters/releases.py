"""What a person has in hand as a mechanism: a function of one release, an estimator with ``fit``, an object with
``draw``.

A function that takes ``n_draws`` makes that many releases in a call; any other one is called once a draw.
"""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from mechanisms import Dataset

from .records import PublicRecords
from .scikit_learn import SklearnEstimator, random_state

#: Name of the parameter that takes the randomness -> what is passed.
RANDOM: Mapping[str, Callable[[np.random.Generator], Any]] = {
    "rng": lambda rng: rng,
    "generator": lambda rng: rng,
    "random_state": random_state,
    "seed": lambda rng: int(rng.integers(2**31)),
}
#: Name of the parameter that takes the number of draws.
COUNT = "n_draws"
#: What the first parameter of a function of records may be called, in small letters; a single x or y is that part.
RECORDS = ("x", "y", "data", "dataset", "records", "rows", "features", "values")
#: The same of a second one, which is given y.
RESPONSES = ("y", "target", "targets", "response", "responses", "label", "labels")
FORMS = "f(X, y, rng), f(X, rng) or f(dataset, rng), each with or without rng, and with n_draws where it makes many"


@dataclass(frozen=True, eq=False)
class FunctionRelease:
    """A function of the records as a mechanism: one call a draw, or one for all draws where it takes ``n_draws``.

    Parameters
    ----------
    function : callable
        ``f(X, y)``, ``f(X)``, ``f(y)`` or ``f(dataset)``, with X of shape ``(n, dim)`` and y of shape ``(n,)``, both
        copies. Its randomness comes through a parameter named ``rng`` or ``generator`` (a numpy generator),
        ``random_state`` (a legacy generator) or ``seed`` (a whole number).
    records : PublicRecords, optional
        What it takes in place of rows: ``f(records)``, whatever the parameter is called, or all columns but the last
        and the last, ``f(X, y)``.

    Raises
    ------
    ValueError
        If the function takes something else.

    Examples
    --------
    >>> mean = FunctionRelease(lambda y, rng: float(round(y.mean() + rng.laplace(scale=2 / len(y)), 3)))
    >>> mean.draw(Dataset([[1.0], [0.0]], [1.0, 0.0], 1.0, 1.0), 2, rng=np.random.default_rng(1))
    [0.524, 2.812]
    """

    function: Callable[..., Any]
    records: PublicRecords | None = None

    def __post_init__(self) -> None:
        alone = self.records is not None and len(_records(self.function)) == 1
        if not (alone or is_release(self.function)):
            shown = f"{_name(self.function)}({', '.join(each.name for each in _parameters(self.function))})"
            raise ValueError(f"release must be {FORMS}; got {shown}")

    @property
    def name(self) -> str:
        """Name of the function."""
        return _name(self.function)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return ``n_draws`` outputs as the function gives them; what it raises is raised."""
        parameters = {each.name for each in _parameters(self.function)}
        random = next((name for name in RANDOM if name in parameters), "")
        first, *others = _records(self.function)
        given = dataset if self.records is None else self.records.of_rows(dataset)
        whole = getattr(given, "whole", dataset)

        def call(**count: int) -> Any:
            parts = {"x": given.X, "y": given.y} if self.records is None else {}
            records = [given.X, given.y] if others else [parts.get(first.lower(), whole)]
            noise = {random: RANDOM[random](rng)} if random else {}
            return self.function(*copy.deepcopy(records), **noise, **count)

        return call(**{COUNT: n_draws}) if COUNT in parameters else [call() for _ in range(n_draws)]


def is_release(function: Any) -> bool:
    """Return whether something that can be called takes records, as ``FunctionRelease`` says, and nothing else."""
    first, *others = [name.lower() for name in _records(function)] or [""]
    if not others:
        return first in RECORDS
    return first in RECORDS and first != "y" and len(others) == 1 and others[0] in RESPONSES


def as_mechanism(release: Any, records: PublicRecords | None = None) -> Any:
    """Return a mechanism: an object with ``draw`` itself, an estimator refitted a draw, or a function of records.

    ``records`` says what a function or an estimator takes in place of rows of numbers.

    Raises
    ------
    ValueError
        If it is none of these.
    """
    if isinstance(release, type):
        raise ValueError(f"release must be an object, not a class: call {release.__name__} with its parameters")
    if callable(getattr(release, "draw", None)):
        if records is not None:
            raise ValueError("records must be left out for an object with draw, which is given a Dataset")
        return release
    if callable(getattr(release, "fit", None)):
        return SklearnEstimator(partial(_unfitted, release), label=type(release).__name__, records=records)
    if not callable(release):
        raise ValueError(
            "release must be a function of records, an object with draw(dataset, n_draws, *, rng) or an estimator with "
            f"fit(X, y), got {type(release).__name__}"
        )
    return FunctionRelease(release, records)


def made_of(attribute: Any, parameters: Mapping[str, Any], records: PublicRecords | None = None) -> Any:
    """Return what a name in a module stands for: a function of records, an estimator, or what a factory makes."""
    if callable(getattr(attribute, "fit", None)) and not isinstance(attribute, type):
        return as_mechanism(attribute, records)
    function = partial(attribute, **parameters) if parameters else attribute
    alone = records is not None and len(_records(function)) == 1
    if not isinstance(attribute, type) and (alone or is_release(function)):
        return FunctionRelease(function, records)
    made = attribute(**parameters)
    return as_mechanism(made, records) if records or callable(getattr(made, "fit", None)) else made


def _parameters(function: Any) -> list[inspect.Parameter]:
    """Return the parameters that have a name of their own; none where there is no signature."""
    try:
        every = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return []
    return [each for each in every if each.kind not in (each.VAR_POSITIONAL, each.VAR_KEYWORD)]


def _records(function: Any) -> list[str]:
    """Return the names of the parameters that must be given, the randomness and the number of draws aside."""
    needed = (each.name for each in _parameters(function) if each.default is each.empty)
    return [name for name in needed if name not in (*RANDOM, COUNT)]


def _unfitted(estimator: Any, random_state: Any) -> Any:
    """Return a copy of an estimator with its parameters alone, and randomness of its own where it takes some."""
    if not callable(getattr(estimator, "get_params", None)):
        return copy.deepcopy(estimator)
    parameters = copy.deepcopy(estimator.get_params(deep=False))
    if "random_state" in parameters:
        parameters["random_state"] = random_state
    return type(estimator)(**parameters)


def _name(function: Any) -> str:
    inner = function.func if isinstance(function, partial) else function
    return str(getattr(inner, "__name__", type(inner).__name__))
