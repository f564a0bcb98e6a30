"""Numbers about single records that hold for no promise and may not be published: for the curator alone."""

from __future__ import annotations

from typing import Any, Final, NoReturn

import numpy as np

from ..data.dataset import FloatArray

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
