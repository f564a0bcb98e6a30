"""DP-SGD for linear and logistic models (Abadi et al. 2016): clipped gradients of a Poisson sample, and noise."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import ClassVar, Literal

import numpy as np
from pydantic import Field

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain, WorstPair
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, RowClip
from ..data.neighbours import NeighbouringPair
from ..numerics.ticks import tick
from ..numerics.transcripts import check_count, check_outputs, normal_log_density
from ..parameters import REACH, Parameters, Positive, Ways
from ..records.record_laws import BatchedLaws
from ..releases.gaussian_shift import sum_shift
from .batched_steps import LOSSES, ClippedRecords, LossName, passes
from .training_worst_case import domain_bound, records_bound, training_laws, training_worst_pair

#: Most steps of a configuration.
MOST_STEPS = 100_000


@dataclass(frozen=True)
class DPSGD:
    r"""Steps ``theta <- project(theta - step_size/normaliser (sum g_i + b))``, ``b ~ N(0, sigma^2 I)``, from 0.

    In each step every record takes part independently with probability ``rate`` (Poisson sampling); ``g_i`` is the
    gradient of its loss at ``theta``, scaled down to norm at most ``clip``. The loss is half the squared residual or
    the logistic loss (labels -1 and +1). Iterates stay in the ball of radius ``radius``.

    The normaliser must not read the data: it is a public constant, or is made of the number of records as it was
    released with noise before the first step, ``rate * max(released, 1)``. A normaliser that reads the number of
    records, or the size of a batch, leaks it.

    Observer: sees every noisy sum, ``u_t = sum g_i + b``, but not who took part (``"transcript"``; the iterates follow
    from these by public arithmetic), or the last iterate alone (``"final"``).

    Output: ``[released,] u_1, …, u_T``, each ``dim`` numbers; or ``dim`` numbers.

    Parameters
    ----------
    loss : {"squared", "logistic"}
    n_steps : int
        At least 1.
    rate : float
        Probability that a record takes part in a step; in (0, 1].
    sigma : float
        Standard deviation of each coordinate of the noise added to a sum of gradients; positive.
    clip : float
        Bound on the norm of one record's gradient; positive.
    step_size : float
        Positive.
    normaliser : float or None
        A public positive constant, such as ``rate`` times a public number of records.
    count_sigma : float or None
        Standard deviation of the noise of the released number of records; positive. Exactly one of the two is given.
    radius : float
        Of the parameter domain; positive, may be infinite.
    observer : {"transcript", "final"}

    Examples
    --------
    >>> from mechanisms.catalogue import example_data
    >>> data, mechanism = example_data(kind="labels"), DPSGD("logistic", 20, 0.2, 2.0, 1.0, 0.5, normaliser=6.0)
    >>> mechanism.noise_multiplier
    2.0
    >>> mechanism.coefficients(mechanism.draw(data, 3, rng=np.random.default_rng(1)), data).shape
    (3, 2)
    """

    loss: LossName
    n_steps: int
    rate: float
    sigma: float
    clip: float
    step_size: float
    normaliser: float | None = None
    count_sigma: float | None = None
    radius: float = math.inf
    observer: Literal["transcript", "final"] = "transcript"

    def __post_init__(self) -> None:
        for name, words in (("loss", tuple(LOSSES)), ("observer", ("transcript", "final"))):
            if getattr(self, name) not in words:
                raise ValueError(f"{name} must be {' or '.join(words)}, got {name}={getattr(self, name)}")
        object.__setattr__(self, "n_steps", check_count("n_steps", self.n_steps))
        for name in ("rate", "sigma", "clip", "step_size", "normaliser", "count_sigma"):
            if (value := getattr(self, name)) is not None:
                object.__setattr__(self, name, check_positive(name, value))
                if not REACH[0] <= value <= REACH[1]:
                    raise ValueError(f"{name} must be between {REACH[0]:g} and {REACH[1]:g}, got {name}={value}")
        if self.rate > 1:
            raise ValueError(f"rate must be in (0, 1], got rate={self.rate}")
        if (self.normaliser is None) == (self.count_sigma is None):
            raise ValueError(
                "normaliser must be given, or else count_sigma, "
                f"got normaliser={self.normaliser}, count_sigma={self.count_sigma}"
            )
        if not float(self.radius) > 0:
            raise ValueError(f"radius must be positive (infinity allowed), got radius={self.radius}")

    @property
    def name(self) -> str:
        return f"DP-SGD ({self.loss}, {self.n_steps} steps)"

    @property
    def noise_multiplier(self) -> float:
        """``sigma/clip``, as accountants count noise."""
        return self.sigma / self.clip

    def width(self, dim: int) -> int:
        """Return how many numbers an output has."""
        return dim if self.observer == "final" else self.n_steps * dim + (self.count_sigma is not None)

    def records(self, dataset: Dataset) -> ClippedRecords:
        """Return the records of a data set with their clipped gradients."""
        return ClippedRecords.of(self.loss, dataset, self.clip)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        records = self.records(dataset)
        outputs = np.empty((check_draws(n_draws), self.width(dataset.dim)))
        for part in passes(n_draws, dataset.n_records, dataset.dim, self.rate):
            self.train(records, outputs[part], rng)
        return outputs

    def train(self, records: ClippedRecords, outputs: FloatArray, rng: np.random.Generator) -> None:
        """Overwrite ``outputs`` with the outputs of as many trainings."""
        n, dim = records.X.shape
        theta = np.zeros((len(outputs), dim))
        released = None
        if self.count_sigma is not None:
            released = n + self.count_sigma * rng.standard_normal(len(outputs))
        seen = outputs[:, self.width(dim) - self.n_steps * dim :] if self.observer == "transcript" else None
        for t in range(self.n_steps):
            noisy = self.sigma * rng.standard_normal(theta.shape)
            noisy += records.sums(theta, self.rate, rng=rng)
            if seen is not None:
                seen[:, t * dim : (t + 1) * dim] = noisy
            theta = self.step(theta, noisy, released)
            tick(len(outputs) / self.n_steps)
        if seen is None:
            outputs[:] = theta
        elif released is not None:
            outputs[:, 0] = released

    def step(self, theta: FloatArray, noisy: FloatArray, released: FloatArray | None) -> FloatArray:
        """Return the iterates after a step, from those before it, the noisy sums and the released numbers.

        This is public arithmetic. ``released`` has shape ``(n_draws,)``, or is None where the normaliser is a constant.
        """
        normaliser = self.normaliser if released is None else self.rate * np.maximum(released, 1.0)[:, None]
        assert normaliser is not None
        return RowClip(self.radius)(theta - self.step_size / normaliser * noisy)

    def split(self, outputs: FloatArray, dim: int) -> tuple[FloatArray | None, FloatArray]:
        """Return the released numbers of records (None without) and the noisy sums, ``(n_draws, n_steps, dim)``.

        Raises
        ------
        ValueError
            If the observer sees the last iterate alone.
        """
        if self.observer == "final":
            raise ValueError("observer must be transcript for noisy sums to be seen, got observer=final")
        outputs = check_outputs(outputs, self.width(dim))
        sums = outputs[:, outputs.shape[1] - self.n_steps * dim :].reshape(-1, self.n_steps, dim)
        return (None if self.count_sigma is None else outputs[:, 0]), sums

    def iterates(self, outputs: FloatArray, dim: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, a step at a time, the iterates before it and the noisy sums seen, both ``(n_draws, dim)``."""
        released, seen = self.split(outputs, dim)
        theta = np.zeros((len(seen), dim))
        for t in range(self.n_steps):
            yield theta, seen[:, t]
            theta = self.step(theta, seen[:, t], released)

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        if self.observer == "final":
            return check_outputs(outputs, dataset.dim)
        *_, (theta, seen) = self.iterates(outputs, dataset.dim)
        return self.step(theta, seen, self.split(outputs, dataset.dim)[0])

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the composition of steps at the longest clipped gradient of a domain, for either observer."""
        return domain_bound(self, domain)

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        """Return no record and the one whose gradient is surely longest; None where the last iterate alone is seen."""
        return training_worst_pair(self, domain, epsilon, delta)

    def record_bound(self, domain: Domain, length: float) -> Bound | None:
        return domain_bound(self, domain, length)

    def records_bound(self, dataset: Dataset) -> Bound:
        return records_bound(self, dataset)

    def dominating_laws(self, dataset: Dataset) -> BatchedLaws:
        """Return laws that dominate those of leaving each record out, by what its gradients surely do not exceed.

        Returns
        -------
        BatchedLaws
            ``worse_epsilon_at(delta)`` has an upper bound on every record's epsilon (natural log) that serves both
            directions, shape ``(n_records,)``; ``epsilon_at`` and ``delta_at`` have one direction's. The laws are
            composed when they are asked for, at most 64 of them. The numbers depend on the records: they are private.

        Examples
        --------
        >>> from mechanisms.catalogue import example_data
        >>> data, mechanism = example_data(kind="labels"), DPSGD("logistic", 5, 1.0, 2.0, 1.0, 0.5, normaliser=6.0)
        >>> epsilons = mechanism.dominating_laws(data).worse_epsilon_at(1e-5)
        >>> epsilons.shape == (data.n_records,)
        True
        """
        return training_laws(self, dataset)


class DPSGDParameters(Parameters):
    """DP-SGD (Abadi et al. 2016) for linear and logistic models."""

    protection: ClassVar[Ways] = ({"sigma": 1}, {"sigma": 1, "count_sigma": 1})

    name: Literal["dp-sgd"]
    loss: LossName
    n_steps: int = Field(ge=1, le=MOST_STEPS)
    rate: Positive = Field(le=1, description="Probability that a record takes part in a step.")
    sigma: Positive = Field(description="Standard deviation of the noise added to a sum of clipped gradients.")
    clip: Positive = Field(description="Bound on the norm of one record's gradient.")
    step_size: Positive
    normaliser: Positive | None = Field(None, description="Public constant that a noisy sum is divided by.")
    count_sigma: Positive | None = Field(
        None, description="Noise of the released number of records, of which the normaliser is made instead."
    )
    radius: Positive | None = Field(None, description="Of the ball that iterates stay in; none without.")
    observer: Literal["transcript", "final"] = "transcript"

    def build(self, dim: int) -> DPSGD:
        radius = math.inf if self.radius is None else self.radius
        return DPSGD(**self.model_dump(exclude={"name", "radius"}), radius=radius)

    def check(self, dataset: Dataset, *, everywhere: bool) -> bool:
        LOSSES[self.loss].check_response(dataset.y)
        return True


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
        return f"full batch, {self.training.name}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        return self.training.draw(dataset, n_draws, rng=rng)

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return self.training.coefficients(outputs, dataset)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
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
        return self.training.worst_case(domain)

    def worst_pair(self, domain: Domain, epsilon: float, delta: float) -> WorstPair | None:
        return self.training.worst_pair(domain, epsilon, delta)

    def records_bound(self, dataset: Dataset) -> Bound:
        return self.training.records_bound(dataset)

    def dominating_laws(self, dataset: Dataset) -> BatchedLaws:
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
