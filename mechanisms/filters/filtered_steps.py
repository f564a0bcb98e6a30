"""An interaction of steps asked one after the other, in which each record takes part while its own budget lasts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol, runtime_checkable

import numpy as np

from ..base import Mechanism
from ..data.dataset import Dataset, FloatArray, row_norms
from ..linear.sufficient_statistics import SufficientStatistics
from ..numerics.transcripts import BoolArray
from ..releases.gradient_release import GradientRelease
from .privacy_filters import GaussianFilter, RenyiFilter, check_filter, gaussian_cost


@runtime_checkable
class RecordStep(Protocol):
    """A step whose output is a sum over records plus normal noise: each record moves it, whatever the others are."""

    @property
    def mechanism(self) -> Mechanism:
        """What is drawn from, on the records that take part."""

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return how many standard deviations each record moves the output, shape ``(n_records,)``.

        A function of that record alone: never of the other records.
        """


@dataclass(frozen=True)
class StatisticsStep:
    """Sufficient statistics of the records that take part."""

    mechanism: SufficientStatistics

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return the joint distance of both statistics for each record."""
        return self.mechanism.record_laws(dataset).mu


@dataclass(frozen=True)
class GradientStep:
    """The gradient at a parameter that may have been chosen after everything released so far."""

    mechanism: GradientRelease

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return the norm of each record's gradient in standard deviations."""
        slopes = self.mechanism.loss.first(dataset.X @ self.mechanism.theta, dataset.y)
        return np.asarray(np.abs(slopes) * row_norms(dataset.X) / self.mechanism.sigma2)


@dataclass(frozen=True, eq=False, repr=False)
class FilteredInteraction:
    """What every record has spent so far; ``ask`` answers a step and returns the interaction after it.

    The steps may be chosen after all answers. A record takes part in a step only while the filter admits its own costs,
    that of the step included; where it does not take part it pays nothing. All answers together are as private as the
    filter says, for one record added or removed (docs/derivations/filters.md). Who takes part is private.

    Parameters
    ----------
    dataset : Dataset
    filter : RenyiFilter or GaussianFilter
    spent : array, optional
        Costs of each record so far; zeros at the start.

    Examples
    --------
    >>> from mechanisms.catalogue import example_pair
    >>> interaction = FilteredInteraction(example_pair().first, GaussianFilter(0.5))
    >>> step, rng = StatisticsStep(SufficientStatistics(4.0, 4.0)), np.random.default_rng(1)
    >>> for _ in range(5):
    ...     answer, interaction = interaction.ask(step, rng=rng)
    >>> answer.shape, float(interaction.spent.max()) <= 0.25
    ((5,), True)
    """

    dataset: Dataset
    filter: RenyiFilter | GaussianFilter
    spent: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, Dataset):
            raise ValueError(f"dataset must be a Dataset, got {type(self.dataset).__name__}")
        check_filter(self.filter)
        if self.spent.size == 0:
            object.__setattr__(self, "spent", np.zeros(self.dataset.n_records))
        if self.spent.shape != (self.dataset.n_records,):
            raise ValueError(f"spent must have one number a record, got shape={self.spent.shape}")

    def __repr__(self) -> str:
        """Return the filter; what records have spent is private."""
        return f"FilteredInteraction({self.filter}, private)"

    def admitted(self, step: RecordStep) -> tuple[BoolArray, FloatArray]:
        """Return which records a step would be drawn on, and what would be spent after it."""
        after = self.filter.spend(self.spent, gaussian_cost(self.filter, step.record_mus(self.dataset)))
        active: Any = self.filter.admits(after)
        return active, np.where(active, after, self.spent)

    def ask(self, step: RecordStep, *, rng: np.random.Generator) -> tuple[FloatArray, FilteredInteraction]:
        """Return the answer of a step on the records that take part, and the interaction after it."""
        active, spent = self.admitted(step)
        chosen = replace(self.dataset, X=self.dataset.X[active], y=self.dataset.y[active])
        return step.mechanism.draw(chosen, 1, rng=rng)[0], replace(self, spent=spent)
