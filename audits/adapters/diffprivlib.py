"""diffprivlib (tested: 0.6.6 with scikit-learn 1.6.1) behind our ``draw``; install the extra ``diffprivlib``.

Its mechanisms are seeded through ``random_state``, so audits of it repeat exactly. In production it draws from the
operating system instead, through the same formulas.

Its tools and models take the number of records as public: they divide by it, cut noise off at it (``sum``,
``count_nonzero``) or show it (``n_samples_seen_``), so that their claims are about ``REPLACE`` and an audit under
``ADD`` or ``REMOVE`` finds the number. ``histogram`` is the other way round: its noise is for one record added or
removed, and a replaced one, which changes two cells, costs twice its epsilon. Classes that were not given are read off
the data: the last record of a class is seen.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray

from .scikit_learn import SklearnEstimator, random_state

#: The public parameters that each tool needs; where bounds are missing, the library reads them off the data.
TOOLS = {
    "count_nonzero": (),
    "histogram": ("range",),
    "mean": ("bounds",),
    "median": ("bounds",),
    "percentile": ("percent", "bounds"),
    "quantile": ("quant", "bounds"),
    "std": ("bounds",),
    "sum": ("bounds",),
    "var": ("bounds",),
}
#: The public parameters that each model needs, and what it has learned, where that is a few arrays.
MODELS = {
    "DecisionTreeClassifier": (("bounds", "classes"), ()),
    "GaussianNB": (("bounds",), ("classes_", "class_prior_", "theta_", "var_")),
    "KMeans": (("bounds",), ("cluster_centers_",)),
    "LinearRegression": (("bounds_X", "bounds_y"), ("coef_", "intercept_")),
    "LogisticRegression": (("data_norm",), ("coef_", "intercept_")),
    "PCA": (("bounds", "data_norm"), ("mean_", "components_", "explained_variance_")),
    "RandomForestClassifier": (("bounds", "classes"), ()),
    "StandardScaler": (("bounds",), ("mean_", "var_", "n_samples_seen_")),
}


def count_records(dataset: Dataset) -> float:
    """Return the number of records: sensitivity 1 under ADD and REMOVE."""
    return float(dataset.n_records)


def sum_responses(dataset: Dataset) -> float:
    """Return the sum of the responses: sensitivity ``y_bound`` under ADD and REMOVE."""
    return float(dataset.y.sum())


def responses(dataset: Dataset) -> FloatArray:
    """Return the responses: what a tool is applied to unless it is told otherwise."""
    return dataset.y


def _check(kind: str, parameters: Mapping[str, Any], needed: Mapping[str, Sequence[str]]) -> None:
    if kind not in needed:
        raise ValueError(f"kind must be one of {', '.join(needed)}, got kind={kind}")
    for name in needed[kind]:
        if name not in parameters:
            raise ValueError(f"parameters must contain {name} (public), got none")


def _arguments(parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Return keyword arguments; the library wants tuples where a configuration has lists."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in parameters.items()}


@dataclass(frozen=True)
class DiffprivlibMechanism:
    """A scalar mechanism of ``diffprivlib.mechanisms`` applied to a query of the data."""

    kind: str  #: class name, for example ``"Laplace"``, ``"GaussianAnalytic"``, ``"Snapping"``
    parameters: Mapping[str, float]  #: keyword arguments of the class (``epsilon``, ``delta``, ``sensitivity``, …)
    #: data set to number; its sensitivity is what ``parameters`` must state
    query: Callable[[Dataset], float] = count_records
    integer: bool = False  #: whether the mechanism takes and returns whole numbers

    @property
    def name(self) -> str:
        """Library and class."""
        return f"diffprivlib {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``; the library draws them one by one."""
        from diffprivlib import mechanisms

        mechanism = getattr(mechanisms, self.kind)(**self.parameters, random_state=random_state(rng))
        value: float | int = self.query(dataset)
        if self.integer:
            value = int(value)
        return np.array([mechanism.randomise(value) for _ in range(n_draws)], dtype=np.float64)[:, None]


@dataclass(frozen=True)
class DiffprivlibTool:
    """A function of ``diffprivlib.tools`` applied to an array made of the data; what it returns is the output.

    Parameters
    ----------
    kind : str
        Name of the function: ``"mean"``, ``"var"``, ``"quantile"``, ``"histogram"``, …
    parameters : mapping, its keyword arguments (``epsilon``, ``bounds``, ``range``, …)
    argument : callable, data set to array; the responses unless said otherwise

    Raises
    ------
    ValueError
        If the function is unknown, or a public parameter is missing, which the library would read off the data.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    argument: Callable[[Dataset], Any] = responses

    def __post_init__(self) -> None:
        _check(self.kind, self.parameters, TOOLS)

    @property
    def name(self) -> str:
        """Library and function."""
        return f"diffprivlib {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return what the function returns, one call a draw."""
        from diffprivlib import tools

        state = random_state(rng)
        release = partial(getattr(tools, self.kind), self.argument(dataset), **_arguments(self.parameters))
        return [release(random_state=state) for _ in range(n_draws)]


@dataclass(frozen=True, eq=False)
class DiffprivlibModel:
    """A model of ``diffprivlib.models`` that is fitted anew for every draw; what it has learned is the output.

    Parameters
    ----------
    kind : str
        Name of the class: ``"GaussianNB"``, ``"KMeans"``, ``"LinearRegression"``, ``"LogisticRegression"``, ``"PCA"``,
        ``"StandardScaler"``, ``"DecisionTreeClassifier"`` or ``"RandomForestClassifier"``.
    parameters : mapping
        Keyword arguments of the class. Bounds must be given: the library reads missing ones off the data.
    outputs, at
        As in ``SklearnEstimator``; all that the class has learned unless said otherwise. Trees need ``at``.

    Raises
    ------
    ValueError
        If the class is unknown, a public parameter is missing, or a tree has no points to predict at.
    """

    kind: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    outputs: tuple[str, ...] | None = None
    at: ArrayLike | None = None

    def __post_init__(self) -> None:
        _check(self.kind, self.parameters, {kind: needed for kind, (needed, _) in MODELS.items()})
        if not self._outputs:
            raise ValueError("at must be public points to predict at, got at=None")

    @property
    def name(self) -> str:
        """Library and class."""
        return f"diffprivlib {self.kind}"

    @property
    def _outputs(self) -> tuple[str, ...]:
        if self.outputs is not None:
            return self.outputs
        return ("predict",) if self.at is not None else MODELS[self.kind][1]

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return what was learned, one fit a draw."""
        from diffprivlib import models

        make = partial(getattr(models, self.kind), **_arguments(self.parameters))
        estimator = SklearnEstimator(lambda state: make(random_state=state), self._outputs, self.at)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the library's solvers report non-convergence on noisy objectives
            return estimator.draw(dataset, n_draws, rng=rng)
