"""How far the two data sets of a pair are told apart, from a few draws and what is stated: an indication, never proof.

It guides a search (``audits.search.design_search``). The pairs that the search finds are examined like any others, on
other draws.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from mechanisms import NeighbouringPair
from mechanisms.base import BOTH
from mechanisms.data.dataset import FloatArray

from ..black_box.claims import PrivacyClaim
from ..search.pairs import NamedGroupPair
from ..search.worst_case import NamedPair
from ..streams import StreamKey
from ..subject.guarded_subject import Call, Subject, always_refused
from ..subject.outputs import Layout
from .examine_pair import MULTIPLES

#: Draws that lie that much further apart than what is stated says count for themselves; those of one law hardly do.
TELLS = 0.6
#: Decimals that are counted, and columns of which they are.
DECIMALS, ROUNDED = 9, 8


class PairValue:
    """The value of a pair: the sum of its deltas at 0 and at parts of the claimed epsilon, worse direction.

    Exact where the mechanism states a profile; by its density, at draws of both data sets; otherwise how far the draws
    lie apart. All pairs are drawn on one stream, so that pairs that are equally bad have equal values.

    Parameters
    ----------
    subject : Subject
    claim : PrivacyClaim
        Its epsilon is looked at.
    n_draws : int
        Draws of each data set.
    key : StreamKey
    one_by_one : bool
        Whether every draw must be a call of its own.
    """

    def __init__(
        self, subject: Subject, claim: PrivacyClaim, n_draws: int, key: StreamKey, *, one_by_one: bool = False
    ) -> None:
        self.subject, self.key = subject, key
        self.calls = [Call(1, False)] * n_draws if one_by_one else [Call(n_draws, False)]
        self.epsilons = [part * claim.epsilon for part in (0.0, *MULTIPLES) if part <= 1]

    def __call__(self, named: NamedPair | NamedGroupPair) -> float:
        """Return the value: at least 0, infinite where one data set is refused and the other is not."""
        pair, inner = named.pair, self.subject.mechanism
        members = {"first": pair.first, "second": pair.second}
        parts = [self.subject.made(each, self.calls, self.key.child(name).rng()) for name, each in members.items()]
        refusals = [always_refused(part) for part in parts]
        if any(refusals):
            return 0.0 if refusals[0] == refusals[1] else math.inf
        layout = Layout.learn([outputs for part in parts for outputs in part], views=self.subject.views)
        first, second = (np.concatenate([layout.encode(outputs) for outputs in part]) for part in parts)
        states = any(callable(getattr(inner, name, None)) for name in ("log_density", "profile"))
        stated = max(self._exact(inner, pair), self._sampled(inner, pair, first, second) if layout.plain else 0.0)
        apart = _apart(first, second)
        return stated if states and apart <= stated + TELLS else max(stated, apart * len(self.epsilons))

    def _exact(self, inner: Any, pair: Any) -> float:
        if not (callable(getattr(inner, "profile", None)) and isinstance(pair, NeighbouringPair)):
            return 0.0
        try:
            profile = inner.profile(pair)
            return max(sum(float(profile.delta_at(epsilon, way)) for epsilon in self.epsilons) for way in BOTH)
        except Exception:
            return 0.0  # what an examined pair raises is reported

    def _sampled(self, inner: Any, pair: Any, first: FloatArray, second: FloatArray) -> float:
        """Return the value by the stated density, the mean over draws of either law; each term is bounded."""
        if not callable(getattr(inner, "log_density", None)):
            return 0.0
        rows = np.concatenate([first, second])
        try:
            with np.errstate(all="ignore"):
                losses = np.asarray(inner.log_density(rows, pair.first)) - np.asarray(
                    inner.log_density(rows, pair.second)
                )
                losses = np.nan_to_num(losses.astype(np.float64), nan=0.0)
                return max(sum(_delta(way * losses, epsilon) for epsilon in self.epsilons) for way in (1, -1))
        except Exception:
            return 0.0


def _delta(losses: FloatArray, epsilon: float) -> float:
    """Return ``integral of (p - e^epsilon q)_+`` from losses ``log p/q`` of as many draws of p as of q."""
    shares = 2 / (1 + np.exp(-losses))  # of p, in the even mixture of both
    return float(np.mean(np.maximum(shares - math.exp(min(epsilon, 700.0)) * (2 - shares), 0.0)))


def _decimals(values: FloatArray) -> FloatArray:
    """Return the fewest decimals of each number; one more than the most that are looked at where it has more."""
    scaled = values[..., None] * 10.0 ** np.arange(DECIMALS)
    whole = np.abs(scaled - np.rint(scaled)) <= 1e-12 * np.maximum(1.0, np.abs(scaled))
    return np.where(whole.any(axis=-1), whole.argmax(axis=-1), DECIMALS).astype(np.float64)


def _apart(first: FloatArray, second: FloatArray) -> float:
    """Return the largest distance of two samples' distribution functions, or frequencies of a value, over columns.

    The numbers of decimals are further columns: a rounding that depends on the data moves no distribution function.
    """
    with np.errstate(all="ignore"):
        first, second = (np.column_stack([rows, _decimals(rows[:, :ROUNDED])]) for rows in (first, second))
    most = 0.0
    for a, b in zip(first.T, second.T, strict=True):
        _, values = np.unique(np.concatenate([a, b]), return_inverse=True)
        counts = [np.bincount(part, minlength=values.max() + 1) / a.size for part in np.split(values, [a.size])]
        gaps = counts[0] - counts[1]
        most = max(most, float(np.abs(np.cumsum(gaps)).max()), float(np.abs(gaps).max()))
    return most
