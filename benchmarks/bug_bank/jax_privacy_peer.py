"""The lower bound on epsilon of jax-privacy's canary auditor, from scores; runs in an environment of its own.

Reads one object of JSON, ``{"first": [...], "second": [...], "delta": d, "failure_prob": p}``. The auditor takes high
scores for the data set with the canary; which one that is, and the sign, it is not told here: it is asked all four
ways, each at a quarter of the failure probability.
"""

from __future__ import annotations

import json
import sys

import numpy as np
from jax_privacy.auditing import CanaryScoreAuditor

asked = json.load(sys.stdin)
first, second = (np.array(asked[name]) for name in ("first", "second"))
bounds = [
    CanaryScoreAuditor(inside, outside).epsilon_clopper_pearson(asked["failure_prob"] / 4, asked["delta"])
    for inside, outside in ((first, second), (second, first), (-first, -second), (-second, -first))
]
print(json.dumps({"jax-privacy": max(map(float, bounds))}))
