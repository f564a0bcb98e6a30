"""The two data sets of a cell: made from the grid's axes, or a record removed from the user's own data."""

from __future__ import annotations

import math
from functools import lru_cache

import numpy as np

from audits import StreamKey
from mechanisms import Dataset, NeighbouringPair, RowClip

TARGETS = ("member", "typical", "lonely", "extreme")
#: A record replaced: no published rule is about it, so it is for imported mechanisms alone.
REPLACED = "replaced"


@lru_cache(maxsize=4)
def make_data(
    root: int, seed: int, n: int, dim: int, conditioning: float, labels: bool
) -> tuple[Dataset, NeighbouringPair]:
    """Return a data set, and the pair that adds one record more of the same law.

    Features are normal with standard deviations that fall geometrically, so that the population's second moment has
    the condition number ``conditioning``, scaled to a mean square norm of 1/2 and clipped to the unit ball. Responses
    are a planted linear model plus noise of standard deviation 0.3, clipped to [-1, 1], or its sign.
    """
    key = StreamKey(root).child("sweep data", str(seed), str(n), str(dim), repr(conditioning))
    rng = key.rng()
    spread = conditioning ** (-0.5 * np.arange(dim) / max(dim - 1, 1))
    spread = spread / math.sqrt(2.0 * float(spread @ spread))
    X = RowClip(1.0)(rng.standard_normal((n + 1, dim)) * spread)
    theta = rng.standard_normal(dim)
    score = X @ (theta / np.linalg.norm(theta)) + 0.3 * rng.standard_normal(n + 1)
    y = np.where(score > 0, 1.0, -1.0) if labels else np.clip(score, -1.0, 1.0)
    name = f"normal features (n={n}, d={dim}, condition {conditioning:g}, seed {seed})"
    data = Dataset(X[:n], y[:n], 1.0, 1.0, name=name, public=True)
    return data, NeighbouringPair.add(data, X[n], float(y[n]))


def make_pair(
    root: int, seed: int, n: int, dim: int, conditioning: float, target: str, *, labels: bool
) -> NeighbouringPair:
    """Return the pair of a target: a ``member`` removed, or a ``typical``, ``lonely`` or ``extreme`` record added.

    The added unit vector of ``lonely`` lies where the data know least, that of ``extreme`` where they know most; the
    response is the end of its range that is farther from the prediction of ridge regression with ``lam = 1``. At
    ``replaced`` the lonely record takes the place of the first one.
    """
    data, typical = make_data(root, seed, n, dim, conditioning, labels)
    if target == "member":
        return NeighbouringPair.remove(data, 0)
    if target == "typical":
        return typical
    gram = data.X.T @ data.X
    x = np.linalg.eigh(gram)[1][:, -1 if target == "extreme" else 0]
    x = x / np.linalg.norm(x) * (1 - 1e-15)
    prediction = x @ np.linalg.solve(gram + np.eye(dim), data.X.T @ data.y)
    y = -1.0 if prediction > 0 else 1.0
    return NeighbouringPair.replace(data, 0, x, y) if target == REPLACED else NeighbouringPair.add(data, x, y)
