"""Who is most exposed: a given target, a record of the data, and targets at the edge of the public domain."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from mechanisms import DataError, Dataset, NeighbouringPair
from mechanisms.data.dataset import row_norms

from ...messages.errors import UserError
from .finding import Deployment
from .record_losses import record_epsilons
from .types import PDPClaim


def target_pair(deployment: Deployment, claim: PDPClaim) -> NeighbouringPair:
    """Return the pair that adds the target of a claim."""
    assert claim.x is not None
    assert claim.y is not None
    try:
        return NeighbouringPair.add(deployment.dataset, claim.x, claim.y)
    except DataError as stop:
        raise UserError(f"claims of scope target must have a target in the public domain: {stop}") from None


def most_exposed(mechanism: object, dataset: Dataset, delta: float) -> int:
    """Return the position of the record with the largest exact epsilon, or else of the longest features."""
    exact = record_epsilons(mechanism, dataset, delta) if delta > 0 else None
    return int(np.argmax(row_norms(dataset.X) if exact is None else exact))


def targets_at_the_edge(deployment: Deployment) -> Iterator[NeighbouringPair]:
    """Yield targets of full length along the eigenvectors of the design and along the least squares solution."""
    dataset, domain = deployment.dataset, deployment.domain
    if not math.isfinite(domain.x_bound + domain.y_bound):
        return
    _, vectors = np.linalg.eigh(dataset.X.T @ dataset.X)
    directions = [vectors[:, 0], vectors[:, -1]]
    solution = np.linalg.lstsq(dataset.X, dataset.y, rcond=None)[0] if dataset.n_records else np.zeros(dataset.dim)
    if np.linalg.norm(solution) > 0:
        directions.append(solution / np.linalg.norm(solution))
    for direction in directions:
        for sign in (1.0, -1.0):
            x = direction * domain.x_bound * (1 - 1e-12)
            yield NeighbouringPair.add(dataset, x, sign * domain.y_bound)
