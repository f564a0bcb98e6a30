"""Any estimator with scikit-learn's interface behind our ``draw`` (tested: 1.6.1); the extra ``trees`` installs it.

A fit without noise is no private mechanism: this is for estimators that promise to be one. What an estimator reads off
the data without noise (its classes, its bounds, how many records there are) is part of its output and passes through
as it is, whatever its shape.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechanisms import Dataset

from .records import PublicRecords


def random_state(rng: np.random.Generator) -> Any:
    """Return the legacy generator that scikit-learn and what is built on it take, seeded from ours."""
    return np.random.RandomState(np.random.MT19937(int(rng.integers(2**63))))


#: What a linear model has learned, and attributes of a fitted estimator that are names or counts.
LINEAR, NOT_LEARNED = ("coef_", "intercept_"), ("classes_", "feature_names_in_", "n_features_in_", "n_iter_")


@dataclass(frozen=True, eq=False)
class SklearnEstimator:
    """An estimator that is made and fitted anew for every draw; what it has learned is the output.

    Parameters
    ----------
    make : callable
        Takes ``random_state``, a legacy generator (each draw has its own), and returns an unfitted estimator. An
        estimator that clones its parts copies the generator with them, and their noise is the same: give such parts
        ``random_state=None``.
    outputs : tuple of str, optional
        Attributes of the fitted estimator, and methods, which are called with ``at``. One is the output itself,
        several are a mapping from names. Left out: ``("predict",)`` where there is ``at``, else ``("coef_",
        "intercept_")`` where the fitted estimator has both, else all that it learned (names that end in ``_``) but the
        names of classes and columns and how long it took.
    at : array_like, optional, public points, shape ``(n_points, dim)``
    label : str, what the estimator is called
    records : PublicRecords, optional, what ``fit`` takes in place of rows: all columns but the last, and the last

    Raises
    ------
    ValueError
        If ``outputs`` is empty.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> mechanism = SklearnEstimator(lambda random_state: Ridge(fit_intercept=False), at=[[1.0], [2.0]])
    >>> dataset = Dataset([[1.0], [0.0]], [1.0, 0.0], 1.0, 1.0)
    >>> mechanism.draw(dataset, 2, rng=np.random.default_rng(1))
    [array([0.5, 1. ]), array([0.5, 1. ])]
    """

    make: Callable[[Any], Any]
    outputs: tuple[str, ...] | None = None
    at: ArrayLike | None = None
    label: str = "scikit-learn estimator"
    records: PublicRecords | None = None

    def __post_init__(self) -> None:
        if self.outputs is not None and not self.outputs:
            raise ValueError("outputs must name an attribute or a method, got none")

    @property
    def name(self) -> str:
        """What it is called, and what is read of it where that is chosen."""
        return ", ".join([self.label, *(self.outputs or (("predict",) if self.at is not None else ()))])

    def _names(self, fitted: Any) -> tuple[str, ...]:
        if self.outputs is not None or self.at is not None:
            return self.outputs or ("predict",)
        if all(hasattr(fitted, name) for name in LINEAR):
            return LINEAR
        return tuple(n for n in vars(fitted) if n.endswith("_") and not n.startswith("_") and n not in NOT_LEARNED)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return what was learned, one fit to a copy of the records a draw; what ``fit`` raises is raised."""
        return [self._learned(dataset, random_state(rng)) for _ in range(n_draws)]

    def _learned(self, dataset: Dataset, state: Any) -> Any:
        given = dataset if self.records is None else self.records.of_rows(dataset)
        fitted = self.make(state).fit(copy.copy(given.X), copy.copy(given.y))
        read = {name: self._read(fitted, name) for name in self._names(fitted)}
        if not read:
            raise ValueError(f"a fitted {self.label} must have an attribute that ends in _, or outputs must name one")
        return read if len(read) > 1 else next(iter(read.values()))

    def _read(self, fitted: Any, name: str) -> Any:
        value = getattr(fitted, name)
        return value(np.asarray(self.at, dtype=np.float64)) if callable(value) else value

    def stated_bounds(self, dim: int) -> tuple[float, float] | None:
        """Return bounds on a row's norm and on the response that the estimator clips to, by diffprivlib's names.

        They are ``data_norm``, or the corner of ``bounds_X`` (or ``bounds``); and ``bounds_y``, or 1. None where the
        estimator names neither, or no finite ones.
        """
        estimator = self.make(None)
        norm, box = getattr(estimator, "data_norm", None), _box(estimator, "bounds_X", "bounds")
        if norm is None and box is None:
            return None
        answers = _box(estimator, "bounds_y")
        row = float(np.linalg.norm(np.broadcast_to(box, (dim,)))) if norm is None else float(norm)
        found = row, 1.0 if answers is None else float(answers.max())
        return found if all(0 < bound < np.inf for bound in found) else None


def _box(estimator: Any, *names: str) -> Any:
    """Return the largest sizes that the first attribute (lower bounds, upper bounds) allows; None without one."""
    bounds = next((value for name in names if (value := getattr(estimator, name, None)) is not None), None)
    return None if bounds is None else np.maximum(*np.abs(np.broadcast_arrays(*bounds)).astype(np.float64))
