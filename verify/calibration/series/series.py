"""What is repeated: true claims of laws that are known exactly, how often an audit misses them; and false claims."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from audits import Budget, Estimate, StreamKey
from mechanisms import Dataset, Direction, GaussianProfile, LaplaceProfile, NeighbouringPair
from mechanisms.data.dataset import FloatArray

#: Nominal levels at which every auditor is tried.
LEVELS = (0.5, 0.1, 0.05)

#: Repetitions of one task. Part of the definition of the streams, so that workers change nothing.
BLOCK = 50

#: ``misses(n_repeats, level, key)``: for each repetition, whether the lower end lay above the truth, and the upper
#: end below it (somewhere, where an audit has several intervals); shape ``(n_repeats, 2)``.
Misses = Callable[[int, float, StreamKey], NDArray[np.bool_]]


@dataclass(frozen=True)
class AuditSeries:
    """Repetitions of one auditor on one law, where what it estimates is known exactly.

    Attributes
    ----------
    n_draws : int
        Of one repetition.
    halves : bool
        Whether each end may miss with half of the level only (otherwise with all of it).
    control : bool
        A deliberately invalid auditor: its rate must *not* be compatible with its level.
    predicted : bool
        The rate must be equal to the level, which was computed beforehand, and not only at most.
    times : int
        The repetitions of a profile are multiplied by it (where they are rows of an array and cost nothing).
    seconds : float
        What one repetition costs, roughly; it decides the order of the work and nothing else.
    """

    auditor: str
    law: str
    n_draws: int
    misses: Misses
    halves: bool = True
    control: bool = False
    predicted: bool = False
    levels: tuple[float, ...] = LEVELS
    times: int = 1
    seconds: float = 0.0

    @property
    def name(self) -> str:
        """Unique name of the series and of its random stream."""
        return f"{self.auditor}: {self.law}"

    @property
    def kind(self) -> str:
        """Kind of its rows."""
        return "control" if self.control else "prediction" if self.predicted else "rate"


def one_by_one(audit: Callable[[float, StreamKey], tuple[bool, bool]]) -> Misses:
    """Return the misses of an audit that is a run of its own, each repetition on its own stream."""

    def misses(n_repeats: int, level: float, key: StreamKey) -> NDArray[np.bool_]:
        return np.array([audit(level, key.child(str(i))) for i in range(n_repeats)], dtype=np.bool_).reshape(-1, 2)

    return misses


def missed(estimate: Estimate, truth: float, *, rounding: float = 1e-12) -> tuple[bool, bool]:
    """Return whether the lower end lies above the truth, and whether the upper end lies below it."""
    return estimate.low > truth + rounding, estimate.high < truth - rounding


def any_missed(misses: list[tuple[bool, bool]]) -> tuple[bool, bool]:
    """Return whether some lower end, and some upper end, of several intervals missed."""
    return any(low for low, _ in misses), any(high for _, high in misses)


#: Draws and failure probability of one audit of a mutant: the default budget of this bank.
DEFAULT_DRAWS, DEFAULT_FAILURE_PROB = 50_000, 1e-4

#: Grades of what can be seen when it is slight.
FINE = (0.01, 0.02, 0.03, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class BankMutant:
    """A mutant and the audit that is to refute it.

    Attributes
    ----------
    strengths : tuple of float
        Of a mutant by degrees, rising; a mutant of one strength has ``(nan,)``.
    refute : callable
        ``refute(strength, budget)`` returns whether this one run refutes it.
    stated : float
        The strength at which the bank promises refutation; nan when it has only one, or when the grades only map out
        where an auditor stops seeing.
    auditor : str
        Who is responsible for it.
    seconds : float
        What one audit costs, roughly; it decides the order of the work and nothing else.
    """

    name: str
    strengths: tuple[float, ...]
    refute: Callable[[float, Budget], bool]
    stated: float
    n_draws: int
    unit: str = "strength"
    auditor: str = "all questions"
    seconds: float = 0.05

    @property
    def graded(self) -> bool:
        """Whether it breaks by degrees."""
        return len(self.strengths) > 1


#: One record and two; every law below looks at the number of records only.
PAIR = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0, name="one record", public=True), [1.0], 0.0)


@dataclass(frozen=True)
class Gaussian:
    """``mu`` times the number of records plus standard normal noise, divided by ``1 + severity`` when it is drawn.

    Loss and profile are those of the noise that is claimed, so ``severity > 0`` is a mutant.
    """

    mu: float
    severity: float = 0.0

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Gaussian, mu {self.mu:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return self.mu * dataset.n_records + rng.standard_normal((n_draws, 1)) / (1 + self.severity)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is claimed."""
        z = outputs[:, 0] - self.mu * dataset.n_records
        return np.asarray(-0.5 * z * z - 0.5 * math.log(2 * math.pi))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss that is claimed."""
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile:
        """Return the law of the loss that is claimed."""
        return GaussianProfile(self.mu)


@dataclass(frozen=True)
class Laplace:
    """``size`` times the number of records plus Laplace noise of scale 1, divided by ``1 + severity`` when drawn."""

    size: float
    severity: float = 0.0

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"Laplace, epsilon {self.size:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return self.size * dataset.n_records + rng.laplace(size=(n_draws, 1)) / (1 + self.severity)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is claimed."""
        return np.asarray(-np.abs(outputs[:, 0] - self.size * dataset.n_records) - math.log(2))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return the loss that is claimed."""
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)

    def profile(self, pair: NeighbouringPair) -> LaplaceProfile:
        """Return the law of the loss that is claimed."""
        return LaplaceProfile(self.size)


@dataclass(frozen=True)
class CoinProfile:
    """The loss of randomised response: one of the two values ``-epsilon`` and ``epsilon``, in both directions."""

    epsilon: float

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the hockey-stick divergence."""
        heads = 1 / (1 + math.exp(-self.epsilon))
        tails = 1 / (1 + math.exp(self.epsilon))
        factor = math.exp(epsilon)
        return max(0.0, heads - factor * tails) + max(0.0, tails - factor * heads)


@dataclass(frozen=True)
class Coin:
    """Randomised response: whether there is more than one record, told truly with odds ``e^epsilon`` to 1."""

    epsilon: float

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"randomised response, epsilon {self.epsilon:g}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs 0 and 1, shape ``(n_draws, 1)``."""
        heads = 1 / (1 + math.exp(-self.epsilon if dataset.n_records > 1 else self.epsilon))
        return np.asarray(rng.random((n_draws, 1)) < heads, dtype=np.float64)

    def profile(self, pair: NeighbouringPair) -> CoinProfile:
        """Return the law of the loss."""
        return CoinProfile(self.epsilon)


#: Points of the common grid between two whole numbers.
GRID = 2.0**24


@dataclass(frozen=True)
class OnGrid:
    """The outputs of another law, rounded to a common grid.

    Noise that is added in floating point betrays the data set by its last bits (Mironov 2012), and an audit that reads
    bits is right to say so. On a grid that fine the profile changes by less than a millionth.
    """

    law: Gaussian | Laplace

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"{self.law.name}, on a grid"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        return np.asarray(np.rint(GRID * self.law.draw(dataset, n_draws, rng=rng)) / GRID, dtype=np.float64)

    def profile(self, pair: NeighbouringPair) -> GaussianProfile | LaplaceProfile:
        """Return the law of the loss before rounding, which can only make it smaller."""
        return self.law.profile(pair)
