"""What an audit is given (a budget, a random stream) and what it returns: an estimate, and how a result reads."""

from __future__ import annotations

import hashlib
import html
import math
from collections.abc import Mapping, Sequence, Sized
from dataclasses import dataclass, field, fields, replace
from enum import Enum
from fractions import Fraction
from typing import Any

import numpy as np

from .error_budget import ROUNDING, Ledger, LedgerError, Part, Place

#: Most characters of one value, and of a whole ``repr``.
LONGEST_VALUE, LONGEST_REPR = 120, 240


class Result:
    """A result that can be read; a subclass is a dataclass with ``repr=False`` and may choose its own ``entries``."""

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name; by default every field."""
        of: Any = self
        return {field.name: getattr(self, field.name) for field in fields(of)}

    def brief(self) -> str:
        """Return the result as one value among others; by default only what it is."""
        return type(self).__name__

    def summary(self) -> str:
        """Return the result in a few lines of words and numbers.

        Examples
        --------
        >>> from audits import Estimate
        >>> print(Estimate(0.1, 0.05, 0.2, 1e-6, 1000, "Clopper-Pearson").summary())
        Estimate
          value         0.1
          interval      [0.05, 0.2]
          failure prob  1e-06
          n draws       1000
          method        Clopper-Pearson
        """
        lines = self._lines()
        width = max(len(name) for name, _ in lines)
        return "\n".join([type(self).__name__, *(f"  {name:<{width}}  {words}" for name, words in lines)])

    def __repr__(self) -> str:
        inside = ", ".join(f"{name.replace(' ', '_')}={_words(value)}" for name, value in self.entries().items())
        return f"{type(self).__name__}({_cut(inside, LONGEST_REPR)})"

    def _repr_html_(self) -> str:
        cells = "".join(
            f"<tr><th>{html.escape(name)}</th><td>{html.escape(words)}</td></tr>" for name, words in self._lines()
        )
        return f"<table><caption>{html.escape(type(self).__name__)}</caption>{cells}</table>"

    def _lines(self) -> list[tuple[str, str]]:
        lines = ((name.replace("_", " "), _words(value)) for name, value in self.entries().items())
        return [(name, words) for name, words in lines if words]


def _words(value: Any) -> str:
    """Return one value in words; of an array, a sequence or an object only what it is."""
    if isinstance(value, Enum):
        return value.name
    if isinstance(value, float):
        return f"{value:.6g}"
    if value is None or isinstance(value, bool | int | str):
        return _cut(str(value), LONGEST_VALUE)
    if isinstance(value, Result):
        return value.brief()
    if hasattr(value, "shape"):
        return f"array of shape {value.shape}"
    if isinstance(value, Sequence) and value and all(type(item) is type(value[0]) for item in value):
        return f"{len(value)} × {type(value[0]).__name__}"
    return f"{len(value)} items" if isinstance(value, Sized) else type(value).__name__


def _cut(words: str, longest: int) -> str:
    return words if len(words) <= longest else f"{words[: longest - 1]}…"


@dataclass(frozen=True)
class StreamKey:
    """Root seed and a path of names (statement, case, purpose, shard); equal keys give equal draws.

    Parameters
    ----------
    seed : int, the run's one root seed, at least 0
    path : tuple of str, names from the outermost to the innermost
    """

    seed: int
    path: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if isinstance(self.seed, bool) or int(self.seed) != self.seed or self.seed < 0:
            raise ValueError(f"seed must be a whole number of at least 0, got seed={self.seed}")

    def child(self, *names: str) -> StreamKey:
        """Return the key one or more names further down."""
        return StreamKey(self.seed, (*self.path, *names))

    def sequence(self) -> np.random.SeedSequence:
        """Return the ``SeedSequence`` of this key (128 bits of the path's SHA-256 as spawn key)."""
        text = "\x1f".join(self.path).encode()
        words = np.frombuffer(hashlib.sha256(text).digest()[:16], dtype="<u4")
        return np.random.SeedSequence(self.seed, spawn_key=tuple(int(w) for w in words))

    def rng(self) -> np.random.Generator:
        """Return a fresh generator at the start of this key's stream."""
        return np.random.Generator(np.random.PCG64DXSM(self.sequence()))


@dataclass(frozen=True)
class Budget:
    """What one audit may spend. Everything an audit returns is a pure function of it.

    Parameters
    ----------
    n_draws : int, number of mechanism draws, at least 1 (never a time)
    failure_prob : float
        Probability with which the whole returned interval may miss the truth, in (0, 1).
    key : StreamKey
        Root seed and the names (statement, case, purpose) that make this audit's random stream its own.
    ledger : Ledger, optional
        Writes down what it is split into and spent on, and refuses to spend a part twice; without one nobody does.
    place : tuple of str, which part of the ledger's tree it is
    """

    n_draws: int
    failure_prob: float
    key: StreamKey
    ledger: Ledger | None = field(default=None, compare=False, repr=False)
    place: Place = field(default=(), compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.ledger is not None and self.failure_prob != self.ledger[self.place].alpha:
            owned = self.ledger[self.place].alpha
            raise LedgerError(f"failure_prob must be {owned}, as in the ledger, got failure_prob={self.failure_prob}")
        if isinstance(self.n_draws, bool) or int(self.n_draws) != self.n_draws or self.n_draws < 1:
            raise ValueError(f"n_draws must be a whole number of at least 1, got n_draws={self.n_draws}")
        if not 0 < self.failure_prob < 1:
            raise ValueError(f"failure_prob must be in (0, 1), got failure_prob={self.failure_prob}")

    def part(
        self, name: str, *, share: float | Fraction = 1.0, n_draws: int | None = None, private: bool = False
    ) -> Budget:
        """Return the budget of a named part: its own stream and ``share`` (in (0, 1]) of the failure probability.

        A ``Fraction`` is an exact share. ``private``: whether it decides on records that may not be published.
        """
        if not 0 < share <= 1:
            raise ValueError(f"share must be in (0, 1], got share={share}")
        alpha, place = float(Fraction(self.failure_prob) * Fraction(share)), self.place
        if self.ledger is not None:
            place = self.ledger.take(place, name, alpha, private=private)
        n_draws = self.n_draws if n_draws is None else n_draws
        return Budget(n_draws, alpha, self.key.child(name), self.ledger, place)

    def split(self, shares: Mapping[str, float | Fraction], *, n_draws: int | None = None) -> dict[str, Budget]:
        """Return the budgets of named parts, each with its own stream and its share of the failure probability.

        Parameters
        ----------
        shares : mapping, name to share, each in (0, 1]; they add up to 1 at most
        n_draws : int, optional, draws of each part; as many as the whole has by default

        Raises
        ------
        LedgerError
            If the shares add up to more than 1, or the ledger refuses a part.

        Examples
        --------
        >>> from audits import Budget, StreamKey
        >>> parts = Budget(100, 0.01, StreamKey(1)).split({"contract": 0.25, "pairs": 0.75})
        >>> [(name, part.failure_prob) for name, part in parts.items()]
        [('contract', 0.0025), ('pairs', 0.0075)]
        """
        total = math.fsum(shares.values())
        if total > 1 + ROUNDING:
            raise LedgerError(f"shares must add up to at most 1, got total={total:.6g}")
        return {name: self.part(name, share=share, n_draws=n_draws) for name, share in shares.items()}

    def spend(self, decided: str) -> float:
        """Return the failure probability, which is spent with this; ``decided`` says on what."""
        if self.ledger is not None:
            self.ledger.spend(self.place, decided)
        return self.failure_prob

    def apart(self) -> Budget:
        """Return the same budget with a ledger of its own, which another process may fill."""
        if self.ledger is None:
            return self
        private = self.ledger[self.place].private
        return replace(self, ledger=Ledger(self.failure_prob, self.place, private=private))

    def tree(self) -> tuple[Part, ...]:
        """Return what a ledger of its own has written down; nothing without one."""
        return () if self.ledger is None else self.ledger.tree()

    def adopt(self, tree: tuple[Part, ...]) -> None:
        """Write down what was done elsewhere with a part that was given away ``apart``."""
        if self.ledger is not None:
            self.ledger.adopt(tree)


@dataclass(frozen=True)
class Estimate(Result):
    """A number with an interval that contains the truth except with probability ``failure_prob``.

    Attributes
    ----------
    value : float, point estimate; inside the interval
    low, high : float
        The interval (either end may be infinite). A lower bound alone has ``high`` = the largest possible value.
    failure_prob : float
        0 for an exact computation, whose interval is a proved numerical error bound.
    n_draws : int, mechanism evaluations spent; 0 for an exact computation
    method : str
        How it was made, in words ("Clopper-Pearson", "ball arithmetic, 128 bits", …).
    """

    value: float
    low: float
    high: float
    failure_prob: float
    n_draws: int
    method: str

    def __post_init__(self) -> None:
        if math.isnan(self.low) or math.isnan(self.high) or not self.low <= self.high:
            raise ValueError(f"interval must satisfy low <= high, got low={self.low}, high={self.high}")
        if not self.low <= self.value <= self.high:
            raise ValueError(f"value must lie in [{self.low}, {self.high}], got value={self.value}")
        if not 0 <= self.failure_prob < 1:
            raise ValueError(f"failure_prob must be in [0, 1), got failure_prob={self.failure_prob}")

    @property
    def exact(self) -> bool:
        """Whether the interval is a proved numerical enclosure rather than a confidence interval."""
        return self.failure_prob == 0.0

    @classmethod
    def proved(cls, low: float, high: float, method: str) -> Estimate:
        """Return an exact estimate from a proved enclosure."""
        middle = low if low == high else min(max(0.5 * (low + high), low), high)
        return cls(middle, low, high, 0.0, 0, method)

    def brief(self) -> str:
        """Return the value with its interval."""
        return f"{self.value:.6g} [{self.low:.6g}, {self.high:.6g}]"

    def entries(self) -> dict[str, Any]:
        """Return what is shown, by name."""
        return {
            "value": self.value,
            "interval": f"[{self.low:.6g}, {self.high:.6g}]",
            "failure_prob": self.failure_prob,
            "n_draws": self.n_draws,
            "method": self.method,
        }
