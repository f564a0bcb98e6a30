"""The privacy footprint: per-instance losses as a distribution (W19, section 2.2 and definition 2.7)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import ArrayLike

from ..base import BOTH, ExactLaw, check_delta
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair
from ..numerics.transcripts import check_count

#: The per-instance loss of one pair at some delta, natural log, both directions.
PairLoss = Callable[[NeighbouringPair], float]

#: What a footprint is taken over, in W19's words.
OF_A_DATA_SET: Final = "pDP of a data set: each record, against the others"
FOR_ALL: Final = "pDP for all: one data set, many targets"
FOR_ONE: Final = "pDP for one: one target, many data sets"
WITH_A_PRIOR: Final = "pDP with a data-set prior: one target, data sets drawn from a prior"


@dataclass(frozen=True, repr=False)
class Footprint:
    """A (finite) law of the per-instance epsilon at one delta.

    Attributes
    ----------
    epsilons : (m,) array
        At least 0, natural log; may be infinite.
    delta : float
        The delta they are stated at.
    kind : str
        What they are taken over.
    """

    epsilons: FloatArray
    delta: float
    kind: str

    def __post_init__(self) -> None:
        epsilons = np.array(self.epsilons, dtype=np.float64)
        if epsilons.ndim != 1 or epsilons.size == 0:
            raise ValueError(f"epsilons must be a vector with at least one entry, got shape {epsilons.shape}")
        if not (epsilons >= 0).all():
            raise ValueError("epsilons must be at least 0")
        epsilons.setflags(write=False)
        object.__setattr__(self, "epsilons", epsilons)
        object.__setattr__(self, "delta", check_delta(self.delta))

    @property
    def worst(self) -> float:
        return float(self.epsilons.max())

    def moments(self, k: int) -> FloatArray:
        """Return ``(E epsilon, …, E epsilon^k)`` (W19-D2.7), shape ``(k,)``."""
        powers = np.arange(1, check_count("k", k) + 1)
        return np.asarray((self.epsilons[:, None] ** powers).mean(axis=0))

    def exponential_moment(self, order: float = 1.0) -> float:
        """Return ``E exp(order epsilon)``, which bounds generalisation (W19-P2.9)."""
        return float(np.exp(order * self.epsilons).mean())

    def quantiles(self, levels: ArrayLike) -> FloatArray:
        """Return the smallest epsilon that at least the given share of the law does not exceed."""
        levels = np.asarray(levels, dtype=np.float64)
        if not ((levels >= 0) & (levels <= 1)).all():
            raise ValueError("levels must be in [0, 1]")
        return np.asarray(np.quantile(self.epsilons, levels, method="inverted_cdf"))

    def share_above(self, epsilon: float) -> float:
        return float((self.epsilons > epsilon).mean())


def pair_loss(mechanism: ExactLaw, delta: float) -> PairLoss:
    """Return the exact per-instance epsilon of a pair: the larger of the two directions at ``delta``."""
    delta = check_delta(delta)

    def loss(pair: NeighbouringPair) -> float:
        profile = mechanism.profile(pair)
        return max(profile.epsilon_at(delta, direction) for direction in BOTH)

    return loss


def of_dataset(loss: PairLoss, dataset: Dataset, delta: float) -> Footprint:
    """Return pDP of a data set: ``epsilon(Z_{-i}, z_i)`` for every record.

    Mechanisms that know all their records' losses in one pass give the vector directly to ``Footprint``.
    """
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return _collect(loss, pairs, delta, OF_A_DATA_SET)


def for_all(loss: PairLoss, dataset: Dataset, X: ArrayLike, y: ArrayLike, delta: float) -> Footprint:
    """Return pDP for all: ``epsilon(Z, z)`` for one data set and the given targets ``X (m, dim)``, ``y (m,)``.

    Its ``Footprint.worst`` is the supremum over these targets only.
    """
    targets = zip(np.asarray(X, dtype=np.float64), np.asarray(y, dtype=np.float64), strict=True)
    return _collect(loss, (NeighbouringPair.add(dataset, x, value) for x, value in targets), delta, FOR_ALL)


def for_one(loss: PairLoss, datasets: Iterable[Dataset], x: ArrayLike, y: float, delta: float) -> Footprint:
    """Return pDP for one: ``epsilon(Z, z)`` for one target and the given data sets."""
    return _collect(loss, (NeighbouringPair.add(dataset, x, y) for dataset in datasets), delta, FOR_ONE)


def with_prior(
    loss: PairLoss,
    draw_dataset: Callable[[np.random.Generator], Dataset],
    n_datasets: int,
    x: ArrayLike,
    y: float,
    delta: float,
    *,
    rng: np.random.Generator,
) -> Footprint:
    """Return pDP with a data-set prior: ``n_datasets`` independent data sets from ``draw_dataset``, one target."""
    datasets = (draw_dataset(rng) for _ in range(check_count("n_datasets", n_datasets)))
    pairs = (NeighbouringPair.add(dataset, x, y) for dataset in datasets)
    return _collect(loss, pairs, delta, WITH_A_PRIOR)


def _collect(loss: PairLoss, pairs: Iterable[NeighbouringPair], delta: float, kind: str) -> Footprint:
    return Footprint(np.array([loss(pair) for pair in pairs], dtype=np.float64), delta, kind)
