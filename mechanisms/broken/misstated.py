"""How a broken implementation looks: it draws from one law and states the density, loss or profile of another."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, TypeVar

import numpy as np

from ..base import Mechanism, PrivacyProfile, WhiteBox, check_positive
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair

Sample = Callable[[Dataset, int, np.random.Generator], FloatArray]
AnyMechanism = TypeVar("AnyMechanism", bound=Any)


@dataclass(frozen=True)
class Drawn:
    """A way to draw, with a name: the law that a broken implementation really has."""

    name: str
    sample: Sample

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs."""
        return self.sample(dataset, n_draws, rng)


@dataclass(frozen=True)
class Misstated:
    """Draws from ``actual`` and states the density and loss of ``claimed``, or those given instead.

    Parameters
    ----------
    claimed : WhiteBox
    actual : Mechanism
    label : str
        Short name for reports, instead of one made of the two names.
    density, loss : callable
        What is stated instead of ``claimed.log_density`` and ``claimed.privacy_loss``.
    """

    claimed: WhiteBox
    actual: Mechanism
    label: str = ""
    density: Callable[[FloatArray, Dataset], FloatArray] | None = None
    loss: Callable[[FloatArray, NeighbouringPair], FloatArray] | None = None

    @property
    def name(self) -> str:
        """Short name for reports."""
        return self.label or f"{self.actual.name}, stated as {self.claimed.name}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return outputs of ``actual``."""
        return self.actual.draw(dataset, n_draws, rng=rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is stated."""
        return (self.density or self.claimed.log_density)(outputs, dataset)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss that is stated."""
        return (self.loss or self.claimed.privacy_loss)(outputs, pair)


@dataclass(frozen=True)
class MisstatedLaw(Misstated):
    """The same with a stated law of the loss, ``law(pair)``."""

    law: Callable[[NeighbouringPair], PrivacyProfile] | None = None

    def profile(self, pair: NeighbouringPair) -> PrivacyProfile:
        """Return the law that is stated."""
        assert self.law is not None
        return self.law(pair)


def understated(claimed: AnyMechanism, *noise: str, factor: float = 1.1) -> AnyMechanism:
    """Return the law that is really drawn from when the ``noise`` of ``claimed`` is divided by ``factor``."""
    factor = check_positive("factor", factor)
    made: AnyMechanism = replace(claimed, **{name: getattr(claimed, name) / factor for name in noise})
    return made


def check_severity(severity: float, most: float = 1.0) -> float:
    """Return a severity in [0, ``most``]: how much is broken, 0 being sound."""
    if not 0 <= severity <= most:
        raise ValueError(f"severity must be in [0, {most:g}], got severity={severity}")
    return severity
