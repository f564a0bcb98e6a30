"""dpmm 18: a model without a domain takes each column's largest value for its size.

One record of ten has the value 3, all others 0 to 2. A table written by the model can hold a 3 only where the data did:
noise is added to the counts of the values that there are. The right use of the same version gives the domain.

The noise is drawn by OpenDP and cannot be seeded, the rows of the table can.
"""

from __future__ import annotations

import copy

import numpy as np
import pandas as pd
from dpmm.models.mst import MSTGM
from lines import Bug, Rows, point, serve

EPSILON, DELTA = 1.0, 1e-5
OTHERS = [[0.0]] * 3 + [[1.0]] * 3 + [[2.0]] * 3


def release(X: Rows, y: list[float], n_draws: int, seed: int, right: bool) -> list[list[int]]:
    domain = {"value": 4} if right else None
    noise = np.random.RandomState(seed % 2**32)
    records = pd.DataFrame({"value": [int(row[0]) for row in X]})
    begun = MSTGM(epsilon=EPSILON, delta=DELTA, domain=domain, n_iters=10, compress=False, n_jobs=1)
    tables = []
    for _ in range(n_draws):
        model = copy.deepcopy(begun)
        model.set_random_state(noise)
        model.fit(records)
        drawn = [int(value) for value in model.generate(10)["value"]]
        tables.append([drawn.count(value) for value in range(4)])
    return tables


serve("dpmm", {"dpmm_18": Bug([*OTHERS, [3.0]], [*OTHERS, [2.0]], point(EPSILON, DELTA), release)})
