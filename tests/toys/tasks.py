"""Tasks for worker processes: right ones, and some that do what no task should."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms import Dataset, NeighbouringPair


class Picky(Exception):
    """An exception that cannot be made again from its message."""

    def __init__(self, one: str, two: str) -> None:
        super().__init__(f"{one} and {two}")


class Unusual(BaseException):
    """An exception that is no ``Exception``."""


def _of_no_file() -> None:
    raise EOFError("read too far")


class Unreadable:
    """Can be sent; making it again raises what the end of a pipe raises."""

    def __reduce__(self) -> Any:
        return _of_no_file, ()


class Unwritable:
    """Cannot be sent, for a reason of the system."""

    def __reduce__(self) -> Any:
        raise OSError("no such device")


def square(number: int) -> int:
    return number * number


def noted(place: tuple[Path, int]) -> int:
    """Leave a line for every call; 3 ends its process."""
    folder, number = place
    with (folder / str(number)).open("a") as file:
        file.write("called\n")
    if number == 3:
        os._exit(7)
    time.sleep(0.05)
    return number * number


def dies_once(marker: Path) -> str:
    """End the process at the first call, and succeed at the second."""
    if not marker.exists():
        marker.touch()
        os._exit(9)
    return "done"


def misbehave(how: str) -> Any:
    match how:
        case "value":
            raise ValueError("no such number")
        case "picky":
            raise Picky("this", "that")
        case "exit":
            sys.exit(3)
        case "unsendable":
            return lambda: None
        case "interrupt":
            raise KeyboardInterrupt("0.4711")
        case "unusual":
            raise Unusual("0.4711")
        case "unreadable":
            return Unreadable()
        case "unwritable":
            return Unwritable()
        case "deep":
            nested: list[Any] = []
            for _ in range(5000):
                nested = [nested]
            return nested
    return how


def dies_childed(marker: Path) -> str:
    """As ``dies_once``, and leave a child that holds everything open for ten minutes."""
    if not marker.exists():
        child = os.fork()
        if child == 0:
            time.sleep(600)
            os._exit(0)
        marker.write_text(str(child))
        os._exit(9)
    return "done"


def sleep(seconds: float) -> float:
    time.sleep(seconds)
    return seconds


class DeadlyNoise:
    """Normal noise; ``deadly`` ends the process that draws it."""

    name = "noise"

    def __init__(self, *, deadly: bool) -> None:
        self.deadly = deadly

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        if self.deadly:
            os._exit(4)
        return np.asarray(dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1)))

    def privacy_loss(self, outputs: np.ndarray, pair: NeighbouringPair) -> np.ndarray:
        first, second = (float(data.y.sum()) for data in (pair.first, pair.second))
        return np.asarray((np.square(outputs[:, 0] - second) - np.square(outputs[:, 0] - first)) / 50.0)
