"""White-box gradient canaries: scores of a training's transcript, and the certified bounds that any score gives.

Who sees a transcript knows the iterates, hence the clipped gradient that a record would have at each of them. The score
of a transcript is the sum over steps of the log likelihood ratio of two normal laws along that gradient, one of them
shifted with the probability of the sample. It is the exact log ratio where the other records add nothing along the
canary's gradient (there are none, or they are orthogonal to it), and a weaker score elsewhere.

A score is post-processing of an output: ``audits.black_box`` certifies with it whatever it is worth, and a bad one
costs power and never validity. Nothing about the training is believed for the bounds: its numbers shape the score only.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, Protocol

import numpy as np
from numpy.typing import ArrayLike

from mechanisms.base import Mechanism, check_delta
from mechanisms.data.dataset import Dataset, FloatArray
from mechanisms.data.neighbours import NeighbouringPair, Relation, without_old

from ..black_box.black_box_audit import audit_claim, audit_epsilon
from ..black_box.black_box_results import BlackBoxClaim, ClaimTest, LowerBound
from ..estimate import Budget, StreamKey
from ..examination.recorded import Recorded
from .planned_event import ScoredMechanism, check_given, planned_epsilon

#: Beyond this an exponential is taken for all of a sum.
LARGEST_EXPONENT = 500.0
#: What the other records are taken to add along a canary's gradient.
Others = Literal["nothing", "expected"]


class Gradients(Protocol):
    """Clipped gradients of some records: a weight at each iterate, times the record's row."""

    @property
    def X(self) -> FloatArray:
        """The rows, shape ``(n_records, dim)``."""
        ...

    def weights(self, theta: FloatArray) -> FloatArray:
        """Return the weights at iterates ``(n_draws, dim)``, shape ``(n_draws, n_records)``."""
        ...


class ClippedTraining(Mechanism, Protocol):
    """A training by noisy sums of clipped gradients, whatever of it is seen.

    ``sigma`` is the standard deviation of the noise of a sum, ``rate`` the chance of a record to be in it.
    """

    @property
    def rate(self) -> float:
        """Probability that a record takes part in a step."""
        ...

    @property
    def n_steps(self) -> int:
        """Number of steps."""
        ...

    @property
    def clip(self) -> float:
        """Bound on the norm of a record's gradient."""
        ...

    @property
    def sigma(self) -> float:
        """Standard deviation of the noise of a sum of gradients."""
        ...

    def records(self, dataset: Dataset) -> Gradients:
        """Return the records of a data set with their clipped gradients."""
        ...


class NoisyTraining(ClippedTraining, Protocol):
    """A training whose transcript shows its noisy sums (``mechanisms.training.dp_sgd.DPSGD`` is one).

    ``count_sigma`` is the standard deviation of a number of records that is released first, or None.
    """

    @property
    def count_sigma(self) -> float | None:
        """Standard deviation of the noise of the released number of records; None where none is released."""
        ...

    def split(self, outputs: FloatArray, dim: int) -> tuple[FloatArray | None, FloatArray]:
        """Return the released numbers of records (or None) and the noisy sums."""
        ...

    def iterates(self, outputs: FloatArray, dim: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, a step at a time, the iterates before it and the noisy sums seen, both ``(n_draws, dim)``."""
        ...


@dataclass(frozen=True, eq=False)
class GradientCanary:
    """The score of a transcript along the gradients of the records in which two data sets differ."""

    training: NoisyTraining  #: as stated: its rate, noise and clipping shape the score
    pair: NeighbouringPair  #: the data sets to be told apart; larger scores mean more like the first
    #: whether what the other records are expected to add is subtracted (and what their sampling adds to the variance is
    #: counted): dearer, and more powerful where they are not orthogonal to the canary
    others: Others = "nothing"

    def __post_init__(self) -> None:
        if self.others not in ("nothing", "expected"):
            raise ValueError(f"others must be nothing or expected, got others={self.others}")

    def __call__(self, outputs: FloatArray) -> FloatArray:
        """Return one score per transcript, shape ``(n_draws,)``."""
        training, dim = self.training, self.pair.first.dim
        canaries = [(sign, training.records(alone)) for sign, alone in differing(self.pair)]
        others = training.records(_shared(self.pair)) if self.others == "expected" else None
        score = self._released(outputs, dim)
        for theta, seen in training.iterates(outputs, dim):
            background = None if others is None else (others.weights(theta), others.X)
            for sign, canary in canaries:
                gradient = canary.weights(theta)[:, :1] * canary.X[0]
                score += sign * self._step(seen, gradient, background)
        return score

    def _released(self, outputs: FloatArray, dim: int) -> FloatArray:
        """Return what a released number of records tells, which is nothing where none is released or n is the same."""
        first, second = self.pair.first.n_records, self.pair.second.n_records
        released, seen = self.training.split(outputs, dim)
        if released is None or self.training.count_sigma is None:
            return np.zeros(len(seen))
        return np.asarray((first - second) * (released - 0.5 * (first + second)) / self.training.count_sigma**2)

    def _step(
        self, seen: FloatArray, gradient: FloatArray, background: tuple[FloatArray, FloatArray] | None
    ) -> FloatArray:
        """Return the log likelihood ratio of one step with a canary against the step without it."""
        rate, variance = self.training.rate, self.training.sigma**2
        square = np.einsum("ij,ij->i", gradient, gradient)
        along = np.einsum("ij,ij->i", seen, gradient)
        if background is None:
            return step_log_odds(along, square, rate, variance)
        weights, X = background
        parts = weights * (gradient @ X.T)  # of each other record along the canary's gradient, if it takes part
        along = along - rate * parts.sum(axis=1)
        spread = rate * (1 - rate) * np.square(parts).sum(axis=1) / np.maximum(square, 1e-300)
        return step_log_odds(along, square, rate, variance + spread)


def step_log_odds(along: FloatArray, square: FloatArray, rate: float, variance: FloatArray | float) -> FloatArray:
    """Return ``log((1 - rate) + rate exp((along - square/2)/variance))``, any shape.

    ``along``: inner products of what is seen with the canary's clipped gradient. ``square``: squared norms of that
    gradient. ``rate``: in (0, 1]. ``variance``: of one coordinate of what is seen.
    """
    exponent = np.asarray((along - 0.5 * square) / variance)
    if rate == 1:
        return exponent
    below = np.minimum(exponent, LARGEST_EXPONENT)
    return np.asarray(np.log1p(rate * np.expm1(below)) + (exponent - below))


def differing(pair: NeighbouringPair) -> Sequence[tuple[float, Dataset]]:
    """Return data sets of the one record that only the first (sign 1) and only the second (-1) member has."""
    first = pair.first

    def alone(x: FloatArray, y: float) -> Dataset:
        return Dataset(x[None], np.array([y]), first.x_bound, first.y_bound, name="canary", public=first.public)

    new = alone(pair.x, pair.y)
    if pair.relation is Relation.ADD:
        return ((-1.0, new),)
    if pair.relation is Relation.REMOVE:
        return ((1.0, new),)
    assert pair.index is not None
    return (1.0, alone(first.X[pair.index], float(first.y[pair.index]))), (-1.0, new)


def _shared(pair: NeighbouringPair) -> Dataset:
    return pair.first if pair.relation is Relation.ADD else without_old(pair)


def gradient_canary(
    training: NoisyTraining, pair: NeighbouringPair, *, drawn: Mechanism | None = None, others: Others = "nothing"
) -> ScoredMechanism:
    """Return a training of which the score along a canary's gradients is looked at: what black-box audits are given.

    Parameters
    ----------
    training, drawn, others
        As of ``audit_canary``.
    pair : NeighbouringPair, the canary is the record in which its members differ

    Returns
    -------
    ScoredMechanism
        For ``audit_epsilon``, ``audit_claim``, ``sequential_claim`` and ``black_box_audit`` with the same pair.

    Examples
    --------
    >>> import numpy as np
    >>> from audits import Budget, StreamKey, point_claim
    >>> from audits.black_box import audit_claim
    >>> from audits.training import gradient_canary
    >>> from mechanisms import DPSGD, Dataset, NeighbouringPair
    >>> nobody = Dataset(np.empty((0, 1)), np.empty(0), 1.0, 4.0, name="nobody", public=True)
    >>> pair = NeighbouringPair.add(nobody, [1.0], 4.0)  # one record, whose gradient is always clipped
    >>> stated = DPSGD("squared", 20, 0.2, 1.0, 1.0, 0.01, normaliser=1.0)
    >>> half = DPSGD("squared", 20, 0.2, 0.5, 1.0, 0.01, normaliser=1.0)  # half the noise
    >>> claim, budget = point_claim(3.8, 1e-3).black_box(), Budget(20_000, failure_prob=0.05, key=StreamKey(1))
    >>> audit_claim(gradient_canary(stated, pair, drawn=half), pair, claim, budget).outcome.name
    'REFUTED'
    """
    score = GradientCanary(training, pair, others)
    return ScoredMechanism(training if drawn is None else drawn, score, "the score of a gradient canary")


@dataclass(frozen=True)
class CanaryLaw:
    """The log likelihood ratio that a training states of a canary whose gradient is always clipped, as draws of it.

    Of a replaced record, the other one has the opposite gradient.
    """

    training: NoisyTraining
    relation: Relation

    def __call__(self, n: int, rng: np.random.Generator) -> tuple[FloatArray, FloatArray]:
        """Return the log ratios, first over second, of ``n`` transcripts of each data set, shape ``(n,)`` each."""
        mu = self.training.clip / self.training.sigma
        shifts = {Relation.ADD: (0.0, mu), Relation.REMOVE: (mu, 0.0), Relation.REPLACE: (mu, -mu)}[self.relation]
        return self._ratios(shifts, 0, n, rng), self._ratios(shifts, 1, n, rng)

    def _ratios(self, shifts: tuple[float, float], drawn: int, n: int, rng: np.random.Generator) -> FloatArray:
        rate, total = self.training.rate, np.zeros(n)
        for _ in range(self.training.n_steps):
            seen = rng.standard_normal(n)
            if shifts[drawn]:
                seen += shifts[drawn] * (rng.random(n) < rate)
            for sign, shift in zip((1.0, -1.0), shifts, strict=True):
                if shift:
                    total += sign * step_log_odds(shift * seen, np.full(n, shift * shift), rate, 1.0)
        return total


def audit_canary(
    training: NoisyTraining,
    pair: NeighbouringPair,
    budget: Budget,
    *,
    delta: float,
    drawn: Mechanism | None = None,
    others: Others = "nothing",
) -> LowerBound:
    """Return a certified lower bound on epsilon from the gradients of a canary, for an observer of the transcript.

    The event that is counted, and how the runs are shared between the data sets, are planned on the law that the
    training states, before anything is drawn; no run is spent on learning. Nothing stated is believed for the bound.

    Parameters
    ----------
    training : NoisyTraining, as stated, with the transcript as observer
    pair : NeighbouringPair
        The canary is the record in which its members differ. Best a record whose gradient is always clipped, and
        orthogonal to those of the others.
    budget : Budget
        ``n_draws`` counts trainings, with and without the canary together; at least 100.
    delta : float, in [0, 1]
    drawn : Mechanism, optional
        What is really drawn from, whose outputs are laid out in the same way; by default ``training``.
    others : {"nothing", "expected"}, see ``GradientCanary``

    Returns
    -------
    LowerBound
        ``estimate.low`` is at most the true epsilon of the pair except with the failure probability of the budget.

    Raises
    ------
    ValueError
        If there are fewer than 100 runs, ``delta`` is outside [0, 1], or an argument is of another kind.

    Examples
    --------
    >>> import numpy as np
    >>> from audits import Budget, StreamKey
    >>> from audits.training import audit_canary
    >>> from mechanisms import DPSGD, Dataset, NeighbouringPair
    >>> nobody = Dataset(np.empty((0, 1)), np.empty(0), 1.0, 4.0, name="nobody", public=True)
    >>> pair = NeighbouringPair.add(nobody, [1.0], 4.0)  # one record, whose gradient is always clipped
    >>> training = DPSGD("squared", 20, 0.2, 1.0, 1.0, 0.01, normaliser=1.0)
    >>> budget = Budget(20_000, failure_prob=0.05, key=StreamKey(1))
    >>> bool(1.5 < audit_canary(training, pair, budget, delta=1e-3).estimate.low < 3.8)
    True
    """
    check_given(budget, training, "iterates", drawn, pair)
    scored = gradient_canary(training, pair, drawn=drawn, others=others)
    law = CanaryLaw(training, pair.relation)
    return planned_epsilon(scored, pair, law, 2 * training.n_steps, budget, check_delta(delta))


#: Two data sets that stand for "without the canary" and "with it" where the trainings were made elsewhere.
ELSEWHERE = NeighbouringPair.add(
    Dataset(np.empty((0, 1)), np.empty(0), 1.0, 1.0, name="elsewhere", public=True), [1], 0
)


@dataclass(frozen=True, eq=False)
class _GivenScores:
    """Scores that exist already, handed out in random order, each once."""

    without_canary: FloatArray
    with_canary: FloatArray
    name: str = "scores made elsewhere"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return as many of the scores, none twice, shape ``(n_draws, k)``."""
        rows = self.with_canary if dataset.n_records else self.without_canary
        return rows[rng.permutation(len(rows))[:n_draws]]


def _given(with_canary: ArrayLike, without_canary: ArrayLike, key: StreamKey) -> tuple[Mechanism, int]:
    """Return a mechanism that reads given scores once, and how many of each kind it has."""
    if not isinstance(key, StreamKey):
        raise ValueError(f"key must be a StreamKey, got key of type {type(key).__name__}")
    columns = []
    for name, values in (("with_canary", with_canary), ("without_canary", without_canary)):
        array = np.asarray(values, dtype=np.float64)
        array = array[:, None] if array.ndim == 1 else array
        if array.ndim != 2 or not array.shape[1]:
            raise ValueError(f"{name} must have shape (n,) or (n, k), got {name}.shape={np.shape(values)}")
        columns.append(array)
    if columns[0].shape[1] != columns[1].shape[1]:
        widths = f"{columns[0].shape[1]} and {columns[1].shape[1]}"
        raise ValueError(f"with_canary and without_canary must have as many columns, got {widths}")
    n = min(len(columns[0]), len(columns[1]))
    given = _GivenScores(columns[1], columns[0])
    return Recorded(given, ELSEWHERE, n, key.child("order")).view(), n


def epsilon_from_scores(
    with_canary: ArrayLike, without_canary: ArrayLike, *, delta: float, failure_prob: float, key: StreamKey
) -> LowerBound:
    """Return a certified lower bound on epsilon from scores of trainings that were made elsewhere (Opacus, JAX, …).

    Parameters
    ----------
    with_canary, without_canary : (n,) or (n, k) array_like
        One row for each training with the canary among its data and for each without it: any number, or several
        numbers, computed from what the observer sees of that training alone. The trainings are independent, the data
        the same but for the canary; several canaries of one training are not independent trainings. A NaN is a score
        like any other: where a mistake in the scoring makes NaN on one side alone, it reads as a violation.
    delta : float, in [0, 1]
    failure_prob : float
        Probability with which the bound may lie above the truth, in (0, 1).
    key : StreamKey
        Of the random order in which scores are read: sorted arrays do no harm.

    Returns
    -------
    LowerBound
        ``estimate.low`` is at most the epsilon of the training at ``delta``, whatever the score, except with
        ``failure_prob``. ``n_draws`` counts the trainings used: twice the smaller of the two numbers.

    Raises
    ------
    ValueError
        If there are fewer than 50 scores of a kind, or the shapes do not agree.

    Examples
    --------
    >>> import numpy as np
    >>> from audits import StreamKey
    >>> from audits.training import epsilon_from_scores
    >>> noise = np.random.default_rng(1).normal(size=(2, 5000))
    >>> bound = epsilon_from_scores(2 + noise[0], noise[1], delta=1e-5, failure_prob=0.05, key=StreamKey(1))
    >>> bool(2.5 < bound.estimate.low < 10.1)  # the truth: 10.09
    True
    """
    scores, n = _given(with_canary, without_canary, key)
    return audit_epsilon(scores, ELSEWHERE, Budget(2 * n or 1, failure_prob, key), delta=delta)


def claim_from_scores(
    with_canary: ArrayLike, without_canary: ArrayLike, claim: BlackBoxClaim, *, failure_prob: float, key: StreamKey
) -> ClaimTest:
    """Return the test of a privacy claim by scores of trainings that were made elsewhere (Opacus, JAX, …).

    Parameters
    ----------
    with_canary, without_canary : (n,) or (n, k) array_like, see ``epsilon_from_scores``
    claim : BlackBoxClaim
        A point, or a whole curve; it must cover adding a record (``point_claim(epsilon, delta).black_box()``).
    failure_prob : float, probability with which a true claim may be refuted, in (0, 1)
    key : StreamKey, of the random order in which scores are read

    Returns
    -------
    ClaimTest
        Refuted or not; never supported.

    Raises
    ------
    ValueError
        If there are fewer than 50 scores of a kind, or the shapes do not agree.
    UnsupportedRelation
        If the claim does not cover adding a record.
    """
    scores, n = _given(with_canary, without_canary, key)
    return audit_claim(scores, ELSEWHERE, claim, Budget(2 * n or 1, failure_prob, key))
