"""Answers that are the worst of their (epsilon, delta), and what SmartNoise's odometer says they cost together."""

from __future__ import annotations

from math import exp
from typing import Any

import numpy as np
from snsql.sql.odometer import Odometer
from snsql.sql.privacy import Privacy


def price(epsilon: float, delta: float, answers: int) -> dict[str, Any]:
    """Return the claim: what the odometer says after that many answers."""
    odometer = Odometer(Privacy(epsilon=epsilon, delta=delta))
    odometer.spend(answers)
    spent = odometer.spent
    return {"form": "point", "epsilon": float(spent[0]), "delta": float(spent[1])}


def counted(bit: bool, epsilon: float, delta: float, answers: int, n_draws: int, seed: int) -> list[list[int]]:
    """Return, for each draw, how many answers name the bit outright, and how many of the others say 1.

    An answer names the bit with chance ``delta`` and otherwise says it rightly with odds ``exp(epsilon)``: the sums
    keep all that the answers tell.
    """
    rng = np.random.default_rng(seed)
    named = rng.binomial(answers, delta, n_draws)
    odds = exp(epsilon)
    said = rng.binomial(answers - named, (odds if bit else 1.0) / (1.0 + odds))
    sign = 1 if bit else -1
    return [[sign * int(n), int(s)] for n, s in zip(named, said, strict=True)]
