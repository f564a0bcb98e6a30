"""OpenDP (tested: 0.16.0) behind our ``draw``; install the extra ``opendp``.

OpenDP draws from the operating system and cannot be seeded: a seed fixes our part of an audit, not its outputs.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray

from .diffprivlib import count_records

#: Scalars are released as one vector per this many draws where that gives the same law.
BLOCK = 4096


def _response_list(dataset: Dataset) -> list[float]:
    """Return the responses as the list that most measurements take."""
    return [float(y) for y in dataset.y]


def _prelude() -> Any:
    import opendp.prelude as dp

    dp.enable_features("contrib", "idealized-numerics", "honest-but-curious")
    return dp


@dataclass(frozen=True)
class OpenDPCurve:
    """The curve that OpenDP claims for Gaussian noise: concentrated DP turned into ``delta(epsilon)``."""

    profile: Any

    def delta(self, epsilon: float) -> float:
        """Return the claimed delta at ``epsilon``."""
        return min(1.0, float(self.profile.delta(epsilon)))

    def epsilon(self, delta: float) -> float:
        """Return the claimed epsilon at ``delta``."""
        return float(self.profile.epsilon(delta))


def zcdp_curve(sigma: float, sensitivity: float = 1.0) -> OpenDPCurve:
    """Return the library's own claim for Gaussian noise of standard deviation ``sigma``."""
    dp = _prelude()
    noise = dp.m.make_gaussian(dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float), sigma)
    return OpenDPCurve(dp.c.make_zCDP_to_approxDP(noise).map(sensitivity))


@dataclass(frozen=True)
class OpenDPNoise:
    """Additive noise of ``opendp.measurements`` on a scalar query."""

    kind: str
    #: noise scale (the standard deviation for ``gaussian``); ``canonical`` takes ``epsilon`` and ``delta`` instead
    scale: float = 1.0
    #: target of ``canonical``, whose sensitivity is 1
    epsilon: float = 0.0
    delta: float = 0.0
    query: Callable[[Dataset], float] = count_records  #: data set to number

    def __post_init__(self) -> None:
        if self.kind not in ("laplace", "gaussian", "geometric", "canonical"):
            raise ValueError(f"kind must be laplace, gaussian, geometric or canonical, got kind={self.kind}")

    @property
    def name(self) -> str:
        """Library and constructor."""
        return f"OpenDP {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs, shape ``(n_draws, 1)``; ``rng`` is not used, the library cannot be seeded."""
        dp = _prelude()
        value = self.query(dataset)
        if self.kind == "canonical":
            space = dp.atom_domain(T=float, nan=False), dp.absolute_distance(T=float)
            release = dp.m.make_canonical_noise(*space, d_in=1.0, d_out=(self.epsilon, self.delta))
            return np.array([release(value) for _ in range(n_draws)], dtype=np.float64)[:, None]
        release, item = self._vector(dp), (int(value) if self.kind == "geometric" else value)
        sizes = [BLOCK] * (n_draws // BLOCK) + ([n_draws % BLOCK] if n_draws % BLOCK else [])
        return np.concatenate([np.asarray(release([item] * size), dtype=np.float64) for size in sizes])[:, None]

    def _vector(self, dp: Any) -> Any:
        """Return the vector measurement, which adds independent noise of the same law to each entry."""
        if self.kind == "geometric":
            return dp.m.make_geometric(dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int), self.scale)
        domain = dp.vector_domain(dp.atom_domain(T=float, nan=False))
        if self.kind == "laplace":
            return dp.m.make_laplace(domain, dp.l1_distance(T=float), self.scale)
        return dp.m.make_gaussian(domain, dp.l2_distance(T=float), self.scale)


@lru_cache(maxsize=16)
def _made(make: Callable[[], Any]) -> Any:
    """Return the measurement of a function, once a process: it cannot be copied, and may take seconds to make."""
    return make()


@dataclass(frozen=True)
class OpenDPMeasurement:
    """Any measurement of OpenDP, whole pipelines too; what it returns is the output, of whatever type.

    Parameters
    ----------
    make : callable
        Takes nothing and returns the measurement. It is asked once a process; the features that it needs are enabled by
        whoever wrote it (``dp.enable_features``).
    argument : callable
        Data set to what the measurement takes. A list of numbers is what most take, hence the default: the responses.
        Under ``ADD`` a measurement whose input domain fixes the size shows the number of records, or refuses it.

    Examples
    --------
    >>> import opendp.prelude as dp
    >>> dp.enable_features("contrib")
    >>> def make():
    ...     space = dp.vector_domain(dp.atom_domain(T=float, nan=False)), dp.symmetric_distance()
    ...     return space >> dp.t.then_clamp((0.0, 1.0)) >> dp.t.then_sum() >> dp.m.then_laplace(scale=2.0)
    >>> mechanism = OpenDPMeasurement(make)
    >>> round(mechanism.claimed(1), 6)
    0.5
    """

    make: Callable[[], Any]
    argument: Callable[[Dataset], Any] = _response_list

    @property
    def name(self) -> str:
        """Library and interface."""
        return "OpenDP measurement"

    def claimed(self, d_in: Any = 1) -> Any:
        """Return what the library's own map claims at input distance ``d_in``, in the measure of the measurement."""
        return _made(self.make).map(d_in)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return outputs one by one; ``rng`` is not used, the library cannot be seeded."""
        measurement, argument = _made(self.make), self.argument(dataset)
        return [measurement(argument) for _ in range(n_draws)]


@dataclass(frozen=True)
class OpenDPTheilSen:
    """``opendp.extras.sklearn.linear_model.LinearRegression`` (Theil-Sen); outputs are the slope and the intercept.

    Data sets must have one feature. The library shuffles rows with the global generator of numpy and draws its noise
    from the operating system, so nothing here can be seeded.
    """

    #: public bounds
    x_bounds: tuple[float, float]
    y_bounds: tuple[float, float]
    scale: float  #: noise scale of the private medians
    candidates_count: int = 100

    @property
    def name(self) -> str:
        """Library and class."""
        return "OpenDP LinearRegression (Theil-Sen)"

    def claimed_epsilon(self, d_in: int = 1) -> float:
        """Return the epsilon that the library's own map claims when ``d_in`` records are added or removed."""
        return float(self._model().measurement.map(d_in))

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return slopes and intercepts, shape ``(n_draws, 2)``; ``rng`` is not used, the library cannot be seeded."""
        model = self._model()
        data = np.column_stack([dataset.X[:, 0], dataset.y])
        return np.array([np.ravel(model.measurement(data)) for _ in range(n_draws)], dtype=np.float64)

    def _model(self) -> Any:
        dp = _prelude()
        return dp.sklearn.linear_model.LinearRegression(
            dp.max_divergence(),
            x_bounds=[self.x_bounds],
            y_bounds=self.y_bounds,
            scale=self.scale,
            candidates_count=self.candidates_count,
        )
