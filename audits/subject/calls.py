"""One guarded call of a mechanism: a copy of the data, global generators reseeded, exceptions as outputs."""

from __future__ import annotations

import copy
import random
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np

#: Data sets up to this many bytes are copied for every call; larger ones again only after they were written to.
SMALL_DATA = 1 << 16


class Handed:
    """Writable copies of one data set, and whether a mechanism wrote to one of them."""

    def __init__(self, dataset: Any) -> None:
        self._original = dataset
        self.public = bool(getattr(dataset, "public", False))
        self._copy: Any = None
        self._small = sum(getattr(array, "nbytes", 0) for array in _arrays(dataset).values()) <= SMALL_DATA

    def give(self) -> Any:
        """Return a copy that a call may keep and write to."""
        if self._copy is None or self._small:
            self._copy = _copied(self._original)
        return self._copy

    def take_back(self) -> bool:
        """Return whether the copy handed out last was written to; such a copy is not handed out again."""
        before, after = _arrays(self._original), _arrays(self._copy)
        written = any(not _same(array, after.get(name)) for name, array in before.items())
        if written:
            self._copy = None
        return written


def _arrays(dataset: Any) -> dict[str, Any]:
    parts = {name: getattr(dataset, name, None) for name in ("X", "y")}
    return {name: array for name, array in parts.items() if isinstance(array, np.ndarray)}


def _copied(dataset: Any) -> Any:
    arrays = _arrays(dataset)
    if not arrays:
        return copy.deepcopy(dataset)
    made = copy.copy(dataset)
    for name, array in arrays.items():
        object.__setattr__(made, name, array.copy())
    return made


def _same(first: Any, second: Any) -> bool:
    if not isinstance(second, np.ndarray) or first.shape != second.shape or first.dtype != second.dtype:
        return False
    if first.nbytes <= SMALL_DATA and not first.dtype.hasobject and first.tobytes() == second.tobytes():
        return True  # the usual case, ten times as fast
    if first.dtype.kind in "fc":
        return bool(np.array_equal(first, second, equal_nan=True))
    return bool(np.array_equal(first, second))


def generator(seed: int) -> np.random.Generator:
    """Return the generator of one call."""
    return np.random.Generator(np.random.PCG64DXSM(seed))


def reseed_globals(seed: int) -> None:
    """Put the global generators of ``random``, ``numpy.random`` and torch, if loaded, to a state of our own."""
    random.seed(seed)
    np.random.seed(seed % 2**32)  # noqa: NPY002
    torch = sys.modules.get("torch")
    if torch is not None and hasattr(torch, "manual_seed"):
        torch.manual_seed(seed)


def global_state() -> tuple[Any, ...]:
    """Return the state of the global generators, comparable."""
    name, words, *rest = np.random.get_state()  # noqa: NPY002
    torch = sys.modules.get("torch")
    more = bytes(torch.get_rng_state().numpy()) if torch is not None and hasattr(torch, "get_rng_state") else b""
    return random.getstate(), name, np.asarray(words).tobytes(), *rest, more


@contextmanager
def guarded() -> Iterator[None]:
    """Put the global generators back afterwards; a warning is no output and is not shown."""
    python_state, old = random.getstate(), np.random.get_state()  # noqa: NPY002
    torch = sys.modules.get("torch")
    torch_state = torch.get_rng_state() if torch is not None and hasattr(torch, "get_rng_state") else None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        random.setstate(python_state)
        np.random.set_state(old)  # noqa: NPY002
        if torch is not None and torch_state is not None:
            torch.set_rng_state(torch_state)
