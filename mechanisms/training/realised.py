"""What a training that was run cost each record: realised Renyi sums, an estimate and never a promise."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any, Final, NoReturn

import numpy as np
from numpy.typing import ArrayLike

from ..accounting.subsampled_gaussian import renyi_divergence, renyi_to_epsilon
from ..data.dataset import Dataset, FloatArray
from ..laws.gaussian_calibration import check_open_delta
from ..numerics.ticks import tick

if TYPE_CHECKING:
    from .dp_sgd import DPSGD

_WORDS: Final = "a PrivateEstimate is for the curator alone"


class PrivateEstimate:
    """Numbers made from private records, without an interval, that nothing of a release can hold.

    It is no ``Estimate`` and none can be made of it without reading the numbers on purpose: it has no ends, no failure
    probability, no float, no array and no JSON; it shows no number, and is neither pickled nor copied to a worker.

    Parameters
    ----------
    name : str
        What is estimated, in words that give no number away.
    values : (n_records,) array
        A number for each record.

    Examples
    --------
    >>> PrivateEstimate("realised epsilon", np.array([0.5, 0.25]))
    PrivateEstimate('realised epsilon', for the curator alone)
    """

    __slots__ = ("_values", "name")
    # no numpy function and no comparison reads the numbers
    __array_ufunc__ = None
    __hash__ = None  # type: ignore[assignment]

    def __init__(self, name: str, values: FloatArray) -> None:
        held = np.array(values, dtype=np.float64)
        held.setflags(write=False)
        self.name: Final = name
        self._values: Final = held

    def for_the_curator(self) -> FloatArray:
        """Return the numbers: to the curator, or one of them to the person whose record it is. Never publish them."""
        return self._values

    def __repr__(self) -> str:
        return f"PrivateEstimate({self.name!r}, for the curator alone)"

    def __eq__(self, other: object) -> bool:
        return self is other

    def __array__(self, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"{_WORDS}: it is no array (for_the_curator has the numbers)")

    def __reduce_ex__(self, _: object) -> NoReturn:
        raise TypeError(f"{_WORDS}: it is neither pickled nor copied")

    def __getstate__(self) -> NoReturn:
        raise TypeError(f"{_WORDS}: it has no state to be stored")


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
