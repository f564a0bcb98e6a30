"""The mechanism behind the fakes: the sum of the responses with Laplace noise, and what can be wrong with it.

Standard library only, so that a process of it starts in 20 ms.
"""

from __future__ import annotations

import csv
import json
import random
from dataclasses import dataclass
from typing import Any


@dataclass
class Switches:
    """What a fake does.

    Attributes
    ----------
    scale : float
        Laplace scale of the noise: 1 for epsilon = 1 at ``y_bound`` = 1 under add-remove, 2 under replace.
    poison : float
        A response that is poison: a data set that has it meets ``fault``. NaN: none has. Infinity: all have.
    fault : str
        "" (none), "exit" (code 3), "signal" (SIGKILL), "hang", "close" (no answer), "error" (an error line), "text" (a
        line that is no JSON), "short" (one line fewer), "long" (one line more), "half" (the answer breaks off), "500",
        "503", "raw" (no noise), "drip" (a byte at a time), "late" (one more line after the answer).
    rate : float
        Probability of the fault on data sets that have the poison.
    elsewhere : float
        Probability of the fault on the others.
    pause : float
        Seconds that every request takes.
    shape : str
        "number", "list", "object": what an output is.
    seeded : bool
        Whether it uses the seed that it is sent.
    """

    scale: float = 1.0
    poison: float = float("nan")
    fault: str = ""
    rate: float = 1.0
    elsewhere: float = 0.0
    pause: float = 0.0
    shape: str = "number"
    seeded: bool = True


def responses(request: dict[str, Any]) -> list[float]:
    if "csv" not in request:
        return list(request["y"])
    with open(request["csv"], encoding="utf-8", newline="") as file:
        return [float(row["y"]) for row in csv.DictReader(file)]


def generator(request: dict[str, Any], switches: Switches) -> random.Random:
    return random.Random(request["seed"] if switches.seeded and "seed" in request else None)


def fault_of(request: dict[str, Any], switches: Switches, rng: random.Random) -> str:
    if not switches.fault:
        return ""
    poisoned = switches.poison == float("inf") or switches.poison in responses(request)
    rate = switches.rate if poisoned else switches.elsewhere
    return switches.fault if rate and rng.random() < rate else ""


def answer(request: dict[str, Any], switches: Switches, fault: str, rng: random.Random) -> list[str]:
    total, n_draws = sum(responses(request)), request["n_draws"]
    if fault == "error":
        return [json.dumps({"error": "no such cell"})] * n_draws
    if fault == "text":
        return [f"[1] {total}"] * n_draws
    scale = 0.0 if fault == "raw" else switches.scale
    n_lines = n_draws + {"short": -1, "long": 1}.get(fault, 0)
    noisy = [total + scale * (rng.expovariate(1.0) - rng.expovariate(1.0)) for _ in range(n_lines)]
    shaped: list[Any] = [
        {"number": value, "list": [value], "object": {"sum": value, "unit": "kg"}}[switches.shape] for value in noisy
    ]
    return [json.dumps(value) for value in shaped]
