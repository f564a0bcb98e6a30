"""What some record of a public domain surely spends in a training: a proved lower bound, against too small a budget."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..accounting.renyi_cost import renyi_bracket
from ..capabilities import Domain
from ..reference import is_reference
from ..training.dp_sgd import DPSGD
from ..training.sure_norms import forced_record
from .filtered_training import FilteredDPSGD

#: What float64 may add to the few products below.
ROUNDING = 1e-12


@dataclass(frozen=True)
class Spender:
    """One record of the domain, alone, and what it surely spends.

    Attributes
    ----------
    length : float
        Norm of its features; its response is ``y_bound``, or the label 1.
    norm : float
        Its clipped gradient is at least so long in each of ``steps`` steps, the first ones.
    steps : int
    spent : float
        Renyi divergence in nats, or the Gaussian ``mu``: of what is released with it and without it, at least.
    """

    length: float
    norm: float
    steps: int
    spent: float

    @property
    def words(self) -> str:
        """How the pair is built."""
        return (
            f"no record, and one of features {self.length:g} long whose clipped gradient is at least {self.norm:g} "
            f"long in the first {self.steps} step{'s' * (self.steps > 1)}"
        )


def least_renyi(mechanism: object, domain: Domain, order: int) -> Spender | None:
    """Return a record that surely spends, and its Renyi divergence at ``order``; None where none is known.

    Of DP-SGD with and without a filter, for an observer of the transcript: moments of the likelihood ratio multiply
    over the steps, and each rises with the norm of the record's gradient.
    """
    training = _training(mechanism, domain)
    if training is None:
        return None

    def spent(norm: float, steps: int) -> float:
        counted = 0.0 if training.count_sigma is None else 0.5 * order / training.count_sigma**2
        return (steps * renyi_bracket(training.rate, norm / training.sigma, order).low + counted) * (1 - ROUNDING)

    found = [Spender(length, norm, n, spent(norm, n)) for length, norm, n in _records(mechanism, training, domain)]
    return max(found, key=lambda each: each.spent)


def least_mu(mechanism: object, domain: Domain) -> Spender | None:
    """Return a record that surely spends, and its Gaussian parameter; None where none is known, and below rate 1."""
    training = _training(mechanism, domain)
    if training is None or training.rate < 1:
        return None

    def spent(norm: float, steps: int) -> float:
        counted = 0.0 if training.count_sigma is None else 1 / training.count_sigma
        return math.hypot(math.sqrt(steps) * norm / training.sigma, counted) * (1 - ROUNDING)

    found = [Spender(length, norm, n, spent(norm, n)) for length, norm, n in _records(mechanism, training, domain)]
    return max(found, key=lambda each: each.spent)


def _training(mechanism: object, domain: Domain) -> DPSGD | None:
    inner = mechanism.training if isinstance(mechanism, FilteredDPSGD) else mechanism
    known = isinstance(inner, DPSGD) and inner.observer == "transcript" and domain.bounded and is_reference(mechanism)
    return inner if known and isinstance(inner, DPSGD) else None


def _records(mechanism: object, training: DPSGD, domain: Domain) -> list[tuple[float, float, int]]:
    """Return records with a least norm of their clipped gradients, and for how many steps these surely take part.

    One for every step, whose gradient is surely long in the whole ball; one for the first step, taken at 0.
    """
    found = []
    for radius, steps in ((training.radius, training.n_steps), (0.0, 1)):
        length, least = forced_record(training.loss, domain, radius)
        found.append((length, min(least, training.clip), min(steps, _admitted(mechanism, training))))
    return found


def _admitted(mechanism: object, training: DPSGD) -> int:
    """Return for how many steps, at least, any record takes part: those that it could pay at the longest gradient."""
    if not isinstance(mechanism, FilteredDPSGD):
        return training.n_steps
    one = float(mechanism.costs(np.array(training.clip)))
    left = mechanism.filter.limit - mechanism.first_cost
    return int(left / one * (1 - 1e-9)) if one > 0 else training.n_steps
