"""A comparison in a notebook or a script: one table; nothing is printed, and no file but the store is written.

``pdp-verify compare`` does the same and writes the folder with record, table and pages.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from numbers import Integral, Real
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from audits import StreamKey
from mechanisms import Dataset
from mechanisms.offers import Neighbours, Promise

from ..engine.executors import local
from ..engine.store import Store
from ..engine.worker import one_blas_thread
from ..messages.errors import UserError
from .choice_data import ChoiceData, Loss, gather
from .experiment import Course, Experiment

if TYPE_CHECKING:
    import pandas as pd

#: The root seed unless another is given.
SEED = 20210527
#: Delta is at most so much unless it is given.
LARGEST_DELTA = 1e-6
#: Arguments that are whole numbers -> the least of them, and whether it has to be given.
_WHOLE = {
    "folds": (2, True),
    "draws": (1, True),
    "seed": (0, True),
    "jobs": (1, True),
    "synthetic": (1, False),
    "n_public": (1, False),
}
#: What each other argument may be, and how that is said; None is for what is not given.
_KINDS: dict[str, tuple[Any, str]] = {
    **dict.fromkeys(("target", "log", "rows", "response", "missing", "delimiter", "recipe", "loss"), (str, "a text")),
    **dict.fromkeys(("threshold", "x_bound", "y_bound", "intercept"), (Real, "a number")),
    **dict.fromkeys(("public", "folder", "store"), (str | Path, "a path")),
    **dict.fromkeys(("labels", "categories", "ranges"), (Mapping, "a mapping")),
    "as_run": (bool, "true or false"),
}


#: Arguments that are options of the data, in the order in which they are refused.
_OF_THE_DATA = (
    *("target", "features", "drops", "log", "threshold", "labels", "categories", "ranges", "x_bound", "y_bound"),
    *("rows", "response", "missing", "intercept", "n_public", "delimiter"),
)


def compare(
    data: str | Path | Dataset | None = None,
    *,
    epsilon: float | Sequence[float],
    delta: float | None = None,
    loss: Loss = "squared",
    neighbours: Sequence[Neighbours] = ("add-remove",),
    methods: Sequence[str] | None = None,
    target: str | None = None,
    features: Sequence[str] = (),
    drops: Sequence[str] = (),
    log: Literal["log", "log1p"] | None = None,
    threshold: float | None = None,
    labels: Mapping[str, float] | None = None,
    categories: Mapping[str, Sequence[str]] | None = None,
    ranges: Mapping[str, tuple[float, float]] | None = None,
    x_bound: float | None = None,
    y_bound: float | None = None,
    rows: Literal["refuse", "clip", "unit"] | None = None,
    response: Literal["refuse", "clip"] | None = None,
    missing: Literal["refuse", "drop"] | None = None,
    intercept: float | None = None,
    n_public: int | None = None,
    delimiter: str | None = None,
    public: str | Path | None = None,
    synthetic: int | None = None,
    recipe: str | None = None,
    folder: str | Path | None = None,
    as_run: bool = False,
    folds: int = 10,
    draws: int = 20,
    seed: int = SEED,
    jobs: int = 1,
    store: str | Path | None = None,
) -> pd.DataFrame:
    r"""Cross-validate every mechanism that fits a loss, at equal promises, and say what each record loses.

    An experiment on the data, not a release: every number depends on the records. A mechanism that is chosen by them
    is chosen from the data; ``public`` and ``synthetic`` read no private record, so that a choice costs nothing.

    Every mechanism is built once for a promise, from public numbers: as its paper prints it ("published"), and with the
    least noise for which the promise is proved here ("exact"). The error is the mean over the folds, on the records
    that a fold leaves out, of coefficients drawn from the others; its interval of 95 % is Student's t over the means of
    the folds. Folds are the same for every line, and a method's random numbers for both its ways and every promise.

    Parameters
    ----------
    data : path, str or Dataset, optional
        A file of records (CSV, TSV, Parquet, NumPy) with ``target``; a configuration of ``certify`` (TOML), whose
        ``[data]`` is used; ``fair``, ``randhie`` or ``anes96``; or a data set. Left out with ``public`` or ``recipe``.
    epsilon : float or sequence of float
        The promised epsilons, natural log.
    delta : float, optional
        The promised delta; by default the smaller of 1e-6 and 1/n^2, n the public number of records.
    loss : {"squared", "logistic"}
        Responses of the logistic loss are -1 and +1. The error is the mean squared error, or the misclassification rate
        (half an error for the prediction 0).
    neighbours : sequence of {"add-remove", "replace"}
        What a promise is about: one record added or removed, or replaced.
    methods : sequence of str, optional
        Names of the column ``method``; all by default.
    target : str, optional
        The response of a file.
    features, drops : sequence of str
        The features of a file, or the columns that are none; by default every column but the target is one.
    log : {"log", "log1p"}, optional
        Of the response, before all else.
    threshold, labels, categories, ranges, x_bound, y_bound, rows, response : optional
    missing, intercept, n_public, delimiter : optional
        As in the ``[data]`` of a configuration; without ``n_public`` mechanisms that need it are set up for the number
        of records that are compared on. Without public bounds columns become z-scores and rows have norm 1, as
        in W18's experiments: read off the data, so no private step.
    public : path, optional
        A public file like the data, compared on instead.
    synthetic : int, optional
        So many records drawn from the public domain, compared on instead (the law is in the header's ``steps``).
    recipe, folder : str and path, optional
        A published set (``w18/airfoil``), and the folder that holds its file.
    as_run : bool
        Also compare what the code of the published experiments does (way "as run").
    folds, draws : int
        Parts of the cross-validation, and draws on each.
    seed : int
        The root of every random stream.
    jobs : int
        Worker processes; the table is the same for any number of them.
    store : path, optional
        A file (SQLite) that keeps rows as they are decided: what is in it is not done again.

    Returns
    -------
    DataFrame
        One row a line (the columns are in docs/compare.md); ``attrs`` is the header of the record.

    Raises
    ------
    UserError
        One line: what is wrong with the data or an argument.

    Examples
    --------
    >>> table = compare("fair", loss="logistic", epsilon=1.0, methods=["trivial", "Gaussian output"], folds=2, draws=5)
    >>> list(table["method"]), float(table["error"].iloc[0])
    (['trivial', 'Gaussian output', 'Gaussian output'], 0.5)
    """
    given = dict(locals())
    _check_kinds(given)
    folds, draws, seed, jobs = int(folds), int(draws), int(seed), int(jobs)
    methods, features, drops = (_names(name, given[name]) for name in ("methods", "features", "drops"))
    options = {name: given[name] for name in _OF_THE_DATA} | {
        "features": list(features),
        "drops": drops,
        "labels": dict(labels or {}),
        "categories": {name: list(_names("categories", levels)) for name, levels in (categories or {}).items()},
        "ranges": dict(ranges or {}),
        "n_public": None if n_public is None else int(n_public),
    }
    found = gathered(
        data, loss=loss, options=options, public=public, synthetic=synthetic, recipe=recipe, folder=folder, seed=seed
    )
    wanted = promises(found, epsilon, delta, neighbours)
    experiment = Experiment(found, loss, wanted, methods, folds, draws, seed, as_run)
    kept = None if store is None else Store(Path(store), private=found.private, many=True)
    try:
        course = Course(experiment, kept)
        with one_blas_thread():
            made = course.run(local(jobs))
    finally:
        if kept is not None:
            kept.close()
    if course.interrupted:
        raise KeyboardInterrupt
    return made.frame()


def _check_kinds(given: Mapping[str, Any]) -> None:
    """Refuse arguments of ``compare`` that are of another kind; what may hold records is not quoted.

    ``UserError`` has one line with the name of the argument and its rule.
    """
    for name, (least, needed) in _WHOLE.items():
        value = given[name]
        if (value is None and not needed) or (
            isinstance(value, Integral) and _is_number(value) and int(value) >= least
        ):
            continue
        raise UserError(f"{name} must be a whole number of at least {least}, got {_shown(name, value)}")
    for name, (kind, rule) in _KINDS.items():
        value = given[name]
        if value is not None and not (isinstance(value, kind) and (kind is not Real or _is_number(value))):
            raise UserError(f"{name} must be {rule}, got {_shown(name, value)}")
    for column, ends in (given["ranges"] or {}).items():
        if not (isinstance(ends, Sequence) and len(ends) == 2 and all(map(_is_number, ends))):
            raise UserError(f"ranges must be two numbers for {column}, got {_shown('ranges', ends)}")
    for level, number in (given["labels"] or {}).items():
        if not _is_number(number):
            raise UserError(f"labels must be a number for {level}, got {_shown('labels', number)}")


def _shown(name: str, value: object) -> str:
    """Return how a wrong argument is quoted: a short text or a number itself, of anything else the type alone."""
    text = str(value) if value is None or isinstance(value, str | Real) else ""
    kind = type(value).__name__
    return (
        f"{name}={text}" if len(text) in range(1, 41) and text.isprintable() else f"a{'n' * (kind[0] in 'aei')} {kind}"
    )


def _is_number(value: object) -> bool:
    return isinstance(value, Real) and not isinstance(value, bool)


def _names(name: str, value: object) -> tuple[Any, ...]:
    """Return the names that were given, a single one as one."""
    if value is None or isinstance(value, str):
        return () if value is None else (value,)
    wrong = value
    if isinstance(value, Sequence | Set) and not isinstance(value, bytes):
        if all(isinstance(each, str) for each in value):
            return tuple(value)
        wrong = next(each for each in value if not isinstance(each, str))
    raise UserError(f"{name} must be a name, or a list of names, got {_shown(name, wrong)}")


def _epsilons(value: object) -> list[float]:
    """Return the epsilons that were given, a single one as one."""
    found: list[Any] = [value]
    if isinstance(value, Sequence | np.ndarray) and not isinstance(value, str | bytes):
        found = list(np.atleast_1d(np.asarray(value))) if isinstance(value, np.ndarray) else list(value)
    for each in found:
        if not _is_number(each):
            raise UserError(f"epsilon must be a positive number, or several, got {_shown('epsilon', each)}")
    return [float(each) for each in found]


def gathered(
    data: str | Path | Dataset | None, *, loss: Loss, options: Mapping[str, Any], seed: int, **others: Any
) -> ChoiceData:
    """Return the records of a comparison; of the ``options`` of ``gather``, those that are not given are left out."""
    if loss not in ("squared", "logistic"):
        raise UserError(f"loss must be squared or logistic, got loss={loss}")
    given = {name: value for name, value in options.items() if value not in (None, (), [], {})}
    rng = StreamKey(seed).child("compare", "synthetic").rng()
    return gather(data, loss=loss, options=given, rng=rng, **others)


def promises(
    data: ChoiceData, epsilon: float | Sequence[float], delta: float | None, neighbours: Sequence[Neighbours]
) -> tuple[Promise, ...]:
    """Return every promise of a comparison; without a delta it is the smaller of 1e-6 and 1/n^2, n public.

    ``UserError`` if one of the numbers is none that a promise may have.
    """
    chosen = min(LARGEST_DELTA, 1.0 / max(data.n_public, 1) ** 2) if delta is None else delta
    each = _epsilons(epsilon)
    if not _is_number(chosen):
        raise UserError(f"delta must be a number in (0, 1), got {_shown('delta', delta)}")
    kinds: tuple[Any, ...] = _names("neighbours", neighbours)
    if not each or not kinds:
        raise UserError("epsilon and neighbours must be given, got none")
    try:
        found = [Promise(float(value), float(chosen), kind) for kind in kinds for value in each]
    except (ValueError, TypeError) as stop:
        raise UserError(str(stop)) from None
    return tuple(dict.fromkeys(found))
