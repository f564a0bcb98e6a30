"""Random streams keyed by name: a new statement or another order of work moves nobody's draws."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class StreamKey:
    """Root seed and a path of names (statement, case, purpose, shard); equal keys give equal draws.

    Parameters
    ----------
    seed : int
        The run's one root seed, at least 0.
    path : tuple of str
        Names from the outermost to the innermost.
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
