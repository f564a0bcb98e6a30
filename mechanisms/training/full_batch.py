"""Training on all records in every step: the same steps as DP-SGD at rate 1, whose transcript has a density."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from ..capabilities import Bound, Domain, WorstPair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..numerics.transcripts import normal_log_density
from ..records.record_laws import BatchedLaws
from ..releases.gaussian_shift import sum_shift
from .dp_sgd import DPSGD


@dataclass(frozen=True)
class FullBatchGD:
    """The transcript of a training in which every record takes part in every step.

    Given what was seen before it, a noisy sum is normal around the sum of the clipped gradients at a public iterate:
    the density of a transcript is a product of normal ones, and the privacy loss a sum over the steps, exactly.

    Parameters
    ----------
    training : DPSGD
        With ``rate = 1``, its transcript observed.

    Examples
    --------
    >>> pair, steps = example_pair("labels"), DPSGD("logistic", 5, 1.0, 2.0, 1.0, 0.5, normaliser=30.0)
    >>> mechanism = FullBatchGD(steps)
    >>> outputs = mechanism.draw(pair.first, 3, rng=np.random.default_rng(1))
    >>> losses = mechanism.log_density(outputs, pair.first) - mechanism.log_density(outputs, pair.second)
    >>> bool(np.allclose(losses, mechanism.privacy_loss(outputs, pair)))
    True
    """

    training: DPSGD

    def __post_init__(self) -> None:
        for name, value in (("rate", 1.0), ("observer", "transcript")):
            if getattr(self.training, name) != value:
                raise ValueError(f"{name} must be {value} for a density, got {name}={getattr(self.training, name)}")

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"full batch, {self.training.name}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent transcripts, shape ``(n_draws, width(dim))``."""
        return self.training.draw(dataset, n_draws, rng=rng)

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the last iterate of each transcript, shape ``(n_draws, dim)``."""
        return self.training.coefficients(outputs, dataset)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density of each transcript (Lebesgue measure), shape ``(n_draws,)``."""
        total, sigma = np.zeros(len(outputs)), self.training.sigma
        for seen, mean in self._steps(outputs, dataset):
            total += normal_log_density(seen, mean, sigma)
        released = self._released(outputs, dataset.dim)
        return total if released is None else total + normal_log_density(released - dataset.n_records, 0.0, self._scale)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript: a sum over its steps, free of cancellation."""
        first, dim, sigma = pair.first, pair.first.dim, self.training.sigma
        total = np.zeros(len(outputs))
        iterates = self.training.iterates(outputs, dim)
        for (theta, _), (seen, mean) in zip(iterates, self._steps(outputs, first), strict=True):
            shift = sum_shift(pair, partial(self._gradient, theta)) / sigma
            total += np.einsum("ij,ij->i", 0.5 * shift - (seen - mean) / sigma, shift)
        released = self._released(outputs, dim)
        if released is not None:
            more = (pair.second.n_records - first.n_records) / self._scale
            total += more * (0.5 * more - (released[:, 0] - first.n_records) / self._scale)
        return total

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the closed form at the longest clipped gradient of a domain."""
        return self.training.worst_case(domain)

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        """Return no record and the one whose gradient is surely longest."""
        return self.training.worst_pair(domain, epsilon, delta)

    def records_bound(self, dataset: Dataset) -> Bound:
        """Return the bound for the records of one data set, whatever the others are."""
        return self.training.records_bound(dataset)

    def dominating_laws(self, dataset: Dataset) -> BatchedLaws:
        """Return laws that dominate those of leaving each record out, by what its gradients surely do not exceed."""
        return self.training.dominating_laws(dataset)

    @property
    def _scale(self) -> float:
        """Standard deviation of the noise of the number of records; infinite where that is not released."""
        return math.inf if self.training.count_sigma is None else self.training.count_sigma

    def _released(self, outputs: FloatArray, dim: int) -> FloatArray | None:
        released, _ = self.training.split(outputs, dim)
        return None if released is None else released[:, None]

    def _steps(self, outputs: FloatArray, dataset: Dataset) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield the noisy sums of each step and what they are without noise, both ``(n_draws, dim)``."""
        records = self.training.records(dataset)
        for theta, seen in self.training.iterates(outputs, dataset.dim):
            yield seen, records.full_sums(theta)

    def _gradient(self, theta: FloatArray, x: FloatArray, y: float) -> FloatArray:
        """Return one record's clipped gradients at iterates, shape ``(n_draws, dim)``."""
        record = Dataset(x[None], np.array([y]), math.inf, math.inf)
        return self.training.records(record).full_sums(theta)


def examples() -> dict[str, Example]:
    """Return it with either normaliser, on pairs where its loss is of the order of 1."""
    fixed = DPSGD("logistic", 2, 1.0, 1.0, 0.7, 2.0, normaliser=10.0, radius=0.8)
    released = DPSGD("squared", 2, 1.0, 1.0, 0.7, 2.0, count_sigma=3.0)
    return {
        "full-batch": Example(FullBatchGD(fixed), example_pair("labels")),
        "full-batch-released": Example(FullBatchGD(released), example_pair()),
    }
