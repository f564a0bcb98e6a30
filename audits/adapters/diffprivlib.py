"""diffprivlib (tested: 0.6.6 with scikit-learn 1.6.1) behind our ``draw``; install the extra ``diffprivlib``.

Its mechanisms are seeded through ``random_state``, so audits of it repeat exactly. In production it draws from the
operating system instead, through the same formulas.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray


def count_records(dataset: Dataset) -> float:
    """Return the number of records: sensitivity 1 under ADD and REMOVE."""
    return float(dataset.n_records)


def sum_responses(dataset: Dataset) -> float:
    """Return the sum of the responses: sensitivity ``y_bound`` under ADD and REMOVE."""
    return float(dataset.y.sum())


def _random_state(rng: np.random.Generator) -> Any:
    """Return the legacy generator that diffprivlib takes, seeded from ours."""
    return np.random.RandomState(np.random.MT19937(int(rng.integers(2**63))))


@dataclass(frozen=True)
class DiffprivlibMechanism:
    """A scalar mechanism of ``diffprivlib.mechanisms`` applied to a query of the data.

    Parameters
    ----------
    kind : str
        Class name, for example ``"Laplace"``, ``"GaussianAnalytic"``, ``"Snapping"``.
    parameters : mapping
        Keyword arguments of the class (``epsilon``, ``delta``, ``sensitivity``, …).
    query : callable
        Data set to number; its sensitivity is what ``parameters`` must state.
    integer : bool
        Whether the mechanism takes and returns whole numbers.
    """

    kind: str
    parameters: Mapping[str, float]
    query: Callable[[Dataset], float] = count_records
    integer: bool = False

    @property
    def name(self) -> str:
        """Library and class."""
        return f"diffprivlib {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``; the library draws them one by one."""
        from diffprivlib import mechanisms

        mechanism = getattr(mechanisms, self.kind)(**self.parameters, random_state=_random_state(rng))
        value: float | int = self.query(dataset)
        if self.integer:
            value = int(value)
        return np.array([mechanism.randomise(value) for _ in range(n_draws)], dtype=np.float64)[:, None]


@dataclass(frozen=True)
class DiffprivlibRegression:
    """``LinearRegression`` or ``LogisticRegression`` of ``diffprivlib.models``; the output is every fitted coefficient.

    Parameters
    ----------
    kind : {"LinearRegression", "LogisticRegression"}
    parameters : mapping
        Keyword arguments of the class. Bounds must be given: the library reads missing ones off the data.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        needed = {"LinearRegression": ("bounds_X", "bounds_y"), "LogisticRegression": ("data_norm",)}
        if self.kind not in needed:
            raise ValueError(f"kind must be LinearRegression or LogisticRegression, got kind={self.kind}")
        for name in needed[self.kind]:
            if name not in self.parameters:
                raise ValueError(f"parameters must contain {name} (a public bound), got none")

    @property
    def name(self) -> str:
        """Library and class."""
        return f"diffprivlib {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return coefficients (and the intercept, when one is fitted), shape ``(n_draws, k)``; one fit per draw."""
        from diffprivlib import models

        state = _random_state(rng)
        rows = []
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's solvers report non-convergence on noisy objectives
            for _ in range(n_draws):
                model = getattr(models, self.kind)(**self.parameters, random_state=state)
                model.fit(dataset.X, dataset.y)
                intercept = np.ravel(model.intercept_) if self.parameters.get("fit_intercept", True) else np.empty(0)
                rows.append(np.r_[np.ravel(model.coef_), intercept])
        return np.asarray(rows, dtype=np.float64)
