"""What a training that was run cost each record: realised Renyi sums, an estimate and never a promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.renyi_cost import renyi_divergence, renyi_to_epsilon
from ..data.dataset import Dataset, FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..numerics.ticks import tick
from .private_estimate import PrivateEstimate

if TYPE_CHECKING:
    from .dp_sgd import DPSGD

#: Orders among which each record's is chosen, and norms at which a step's cost is known (interpolated between them).
ORDERS: Final = (*range(2, 17), 20, 24, 28, 32, 40, 48, 64, 96, 128, 192, 256)
NORMS: Final = 65


def realised_epsilons(training: DPSGD, output: ArrayLike, dataset: Dataset, delta: float) -> PrivateEstimate:
    """Return the realised epsilon of every record at one transcript: its Renyi costs at the norms it had, added up.

    An estimate, and no (epsilon, delta)-DP of anything: the norms depend on the records, so that epsilon is itself
    private and random, and the order is chosen after the run, for which no theorem holds (an exact game breaks it by
    half, docs/dp_sgd.md). A filter promises what this only measures (``mechanisms.filters``).

    Parameters
    ----------
    training : DPSGD
        Whose observer sees the transcript.
    output : array_like
        One transcript.
    dataset : Dataset
        The records that it was trained on.
    delta : float
        In (0, 1).

    Returns
    -------
    PrivateEstimate

    Raises
    ------
    ValueError
        If the observer sees the last iterate alone, or the transcript has another length.
    """
    delta = check_open_delta(delta)
    records = training.records(dataset)
    times = np.zeros((dataset.n_records, NORMS))
    everyone = np.arange(dataset.n_records)
    for theta, _ in training.iterates(np.atleast_2d(np.asarray(output, dtype=np.float64)), dataset.dim):
        square = np.minimum(np.square(records.gradient_norms(theta[:1])[0] / training.clip), 1.0) * (NORMS - 1)
        node = np.minimum(square.astype(np.intp), NORMS - 2)
        times[everyone, node] += 1 - (square - node)
        times[everyone, node + 1] += square - node
        tick(1 / training.n_steps)
    epsilons = np.full(dataset.n_records, math.inf)
    for order in ORDERS:
        total = times @ _costs(training, order)
        if training.count_sigma is not None:
            total += 0.5 * order / training.count_sigma**2
        np.minimum(epsilons, total + renyi_to_epsilon(order, 0.0, delta), out=epsilons)
    return PrivateEstimate("realised epsilon of every record", np.maximum(epsilons, 0.0))


def _costs(training: DPSGD, order: int) -> FloatArray:
    """Return the Renyi divergence of a step at norms whose squares are evenly spaced up to that of the clip."""
    mus = np.sqrt(np.linspace(0.0, 1.0, NORMS)) * training.clip / training.sigma
    return renyi_divergence(training.rate, mus, order)
