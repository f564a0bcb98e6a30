"""What an entry of the bank is: a mechanism, what its author claims, and what leaks or why nothing does."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

from mechanisms import DataError, Dataset

#: What the numbers of the classes stand for.
CLASSES = {
    0: "honest",
    1: "nothing was drawn",
    2: "density not that of the draws",
    3: "loss or profile believed",
    4: "named mechanism with a wrong constant",
    5: "false worst case",
    6: "state, batch and seed",
    8: "structured outputs and curves",
    9: "digits, grids and gaps",
    10: "regression and matrices with an assumed sensitivity",
    11: "order statistics, means and trees with an assumed sensitivity",
    12: "type, scale or number read off the data",
    13: "rare shapes of data",
    14: "position of a record",
    20: "remembered from one data set to the next",
    21: "noise of few states",
    22: "composition and accounting",
    23: "noisy training with something exact on the way",
    24: "something exact in or around an answer",
}
ORDERS = np.concatenate([np.linspace(1.01, 4, 60), np.linspace(4.5, 64, 120)])


@dataclass(frozen=True)
class Claim:
    """What is claimed, in the forms that a configuration knows."""

    type: str = "point"  # "gaussian-dp", "zcdp", "renyi", "table"
    epsilon: float = 1.0
    delta: float = 1e-6
    mu: float = 0.0
    rho: float = 0.0
    alpha: float = 0.0
    points: tuple[tuple[float, float], ...] = ()
    group: int = 1

    def excess(self, p: float, q: float) -> float:
        """Return by how much an event of probability ``p`` against ``q`` breaks the claim (positive: broken).

        Every form is closed under post-processing, so the two-point law of an event must keep it.
        """
        if self.type == "point":
            return p - np.exp(self.epsilon) * q - self.delta
        if self.type == "table":
            return max(p - np.exp(e) * q - d for e, d in self.points)
        if self.type == "gaussian-dp":
            return p - float(norm.cdf(norm.ppf(q) + self.mu))
        if self.type == "renyi":
            return _renyi(p, q, np.array([self.alpha]))[0] - self.epsilon
        return float((_renyi(p, q, ORDERS) - self.rho * ORDERS).max())

    def toml(self) -> dict[str, Any]:
        """Return the keys of this claim in ``[[claims]]``, but for its relation."""
        keys: dict[str, dict[str, Any]] = {
            "point": {"epsilon": self.epsilon, "delta": self.delta},
            "gaussian-dp": {"profile": "gaussian-dp", "mu": self.mu},
            "zcdp": {"profile": "zcdp", "rho": self.rho},
            "renyi": {"profile": "renyi", "alpha": self.alpha, "epsilon": self.epsilon},
            "table": {"profile": "table", "points": [list(point) for point in self.points]},
        }
        return keys[self.type] | ({"group": self.group} if self.group != 1 else {})


def _renyi(p: float, q: float, orders: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore"):
        logs = [orders * np.log(a) + (1 - orders) * np.log(b) for a, b in ((p, q), (1 - p, 1 - q))]
    return np.logaddexp(*logs) / (orders - 1)


@dataclass(frozen=True)
class Entry:
    """One mechanism with what its author says of it.

    Attributes
    ----------
    factory : callable
        Makes a fresh object, without arguments.
    origin : str
        ``file.py:Class``, the file's name being relative to this folder.
    why : str
        What leaks, or the proof that nothing does.
    visible : bool
        Whether the leak is in at least .5 % of the outputs of data that can be drawn from, or in the bulk.
    law : bool
        Whether an honest mechanism states its density and its worst case.
    misstated : bool
        Whether what an honest mechanism states about itself is wrong, though it keeps its claim.
    budget : mapping
        ``pairs`` and ``draws`` where the mechanism is too slow for the usual number.
    leak : sequence
        What shows the leak of a broken mechanism: a function of ``leaks`` or of the file of leaks of its class, and
        its numbers. Where there is none, that file's ``LEAKS`` has a function of its own.
    """

    name: str
    klass: int
    factory: Callable[[], Any]
    origin: str
    parameters: Mapping[str, Any]
    claim: Claim
    relation: str
    why: str
    x_bound: float = 1.0
    y_bound: float = 1.0
    dim: int = 2
    n_min: int = 0
    visible: bool = True
    law: bool = False
    misstated: bool = False
    budget: Mapping[str, int] = field(default_factory=dict)
    leak: Sequence[Any] = ()

    @cached_property
    def path(self) -> Path:
        """The file that ``certify`` imports."""
        return Path(__file__).parent / self.origin.partition(":")[0]

    def data(self, n: int = 60, seed: int = 11) -> Dataset:
        """Return public records that nobody arranged: uniform directions, lengths and responses."""
        rng = np.random.default_rng(seed)
        n = max(n, self.n_min + 20)
        X = rng.standard_normal((n, self.dim))
        X *= self.x_bound * rng.uniform(0.2, 0.99, (n, 1)) / np.linalg.norm(X, axis=1, keepdims=True)
        return self.dataset(X, self.y_bound * rng.uniform(-0.95, 0.95, n))

    def dataset(self, X: Any, y: Any) -> Dataset:
        """Return records within this entry's public bounds."""
        rows = np.asarray(X, dtype=float).reshape(-1, self.dim)
        if len(rows) < self.n_min:
            raise DataError(f"n_records must be at least n_min={self.n_min}, got n_records={len(rows)}")
        return Dataset(rows, np.asarray(y, dtype=float), self.x_bound, self.y_bound)
