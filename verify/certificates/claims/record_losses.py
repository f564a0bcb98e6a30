"""What every record of the data means to the deployment, in one vectorised pass: per-instance and ex-post losses.

Each function is checked in the tests against ``privacy_loss`` and ``profile`` of one pair at a time.
"""

from __future__ import annotations

from collections.abc import Callable
from weakref import WeakKeyDictionary

import numpy as np

from mechanisms import BOTH, Dataset, NeighbouringPair
from mechanisms.capabilities import ExPostLosses
from mechanisms.data.dataset import FloatArray
from mechanisms.records.record_laws import BatchedLaws, batched_laws, dominating_laws
from mechanisms.reference import is_reference

from ..config.mechanism_source import law_of, white_box_of

#: Most records for which a mechanism without a vectorised form is asked one by one.
ONE_BY_ONE = 2_000
#: The last answer about each data set that is still in use: checks and figures of a claim ask the same.
_LAST: WeakKeyDictionary[Dataset, tuple[object, float, object, FloatArray]] = WeakKeyDictionary()


def record_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the exact per-instance epsilon of every record at ``delta`` (worse direction), or None where unknown.

    Parameters
    ----------
    delta : float
        In (0, 1).

    Of more than 65,536 records the largest is exact, and those below are interpolated between exact values.

    Returns
    -------
    (n_records,) array or None
    """
    batched = _batched(mechanism, dataset, delta)
    if batched is not None:
        return batched
    law = law_of(mechanism)
    if law is None or dataset.n_records > ONE_BY_ONE:
        return None
    profiles = (law(NeighbouringPair.remove(dataset, i)) for i in range(dataset.n_records))
    return np.array([max(p.epsilon_at(delta, d) for d in BOTH) for p in profiles])


def dominating_epsilons(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return a proved bound on every record's epsilon where its exact one is not known, or None."""
    if batched_laws(mechanism, dataset) is not None:
        return None
    return _asked_once(mechanism, dataset, delta, dominating_laws)


def _batched(mechanism: object, dataset: Dataset, delta: float) -> FloatArray | None:
    """Return the same from one vectorised pass, None without one."""
    return _asked_once(mechanism, dataset, delta, batched_laws)


def _asked_once(
    mechanism: object, dataset: Dataset, delta: float, laws_of: Callable[[object, Dataset], BatchedLaws | None]
) -> FloatArray | None:
    """Return the larger epsilons of both directions, kept for the next question about these records."""
    known = _LAST.get(dataset)
    if known is not None and known[0] is mechanism and known[1] == delta and known[2] is laws_of:
        return known[3]
    laws = laws_of(mechanism, dataset)
    if laws is None:
        return None
    epsilons = laws.worse_epsilon_at(delta)
    epsilons.setflags(write=False)
    _LAST[dataset] = (mechanism, delta, laws_of, epsilons)
    return epsilons


def ex_post_losses(mechanism: object, output: FloatArray, dataset: Dataset) -> FloatArray | None:
    """Return ``log p_D(o) - log p_{D-z}(o)`` of every record at one output, shape ``(n_records,)``, or None."""
    if isinstance(mechanism, ExPostLosses) and is_reference(mechanism):
        known = mechanism.ex_post_losses(output, dataset)
        if known is not None:
            return known
    white_box = white_box_of(mechanism)
    if white_box is None or dataset.n_records > ONE_BY_ONE:
        return None
    pairs = (NeighbouringPair.remove(dataset, i) for i in range(dataset.n_records))
    return np.array([float(white_box.privacy_loss(output[None], pair)[0]) for pair in pairs])
