"""One cell, decided: a pure function of the cell and of what all cells of a sweep share."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from audits import Budget, StreamKey
from mechanisms import Dataset, NeighbouringPair

from ..pair_evidence import QUANTITY, pair_evidence
from ..rows import Row, dumps, encode
from ..shares import CaseShare
from ..statement import Claim, Evidence
from ..worker import look_twice
from .places import make_pair
from .recipes import LABELS, RECIPES

Cell = Mapping[str, Any]


@dataclass(frozen=True, eq=False)
class Shared:
    """What all cells of a sweep share, and with the cell decides its row.

    Attributes
    ----------
    seed : int
        The root seed of every stream.
    n_draws : int
        Draws of one look at a sampled cell.
    failure_prob : float
        What one sampled cell may spend: half on its look, half on the confirmation of a failure.
    identity : mapping
        Digest of our sources, platform tag and library versions.
    data : Dataset or None
        The user's own data, when the targets are records of it.
    """

    seed: int
    n_draws: int
    failure_prob: float
    identity: Mapping[str, Any]
    data: Dataset | None = None

    def hasher(self) -> Any:
        """Return a hash of everything but the cell, to be copied and updated with a cell."""
        content = {
            "seed": self.seed,
            "n_draws": self.n_draws,
            "failure_prob": self.failure_prob,
            "identity": dict(self.identity),
            "data": self.data.digest if self.data else None,
        }
        return hashlib.sha256(dumps({"sweep": encode(content)}).encode())


def cell_name(cell: Cell) -> str:
    """Return a cell's parameters in one line, in the order of the axes."""
    return ", ".join(
        f"{axis}={value!r}" if isinstance(value, float) else f"{axis}={value}" for axis, value in cell.items()
    )


def cell_key(hasher: Any, cell: Cell) -> str:
    """Return the content hash of a cell's row, from :meth:`Shared.hasher`."""
    mine = hasher.copy()
    mine.update(cell_name(cell).encode())
    return str(mine.hexdigest())


def pair_of(cell: Cell, shared: Shared) -> NeighbouringPair:
    """Return the two data sets of a cell."""
    if shared.data is not None:
        return NeighbouringPair.remove(shared.data, cell["target"])
    labels = cell["loss"] in LABELS
    return make_pair(
        shared.seed, cell["seed"], cell["n"], cell["dim"], cell["conditioning"], cell["target"], labels=labels
    )


def decide_cell(cell: Cell, shared: Shared) -> Row:
    """Return the row of a cell; an exception becomes an outcome, so that a sweep goes on."""
    recipe = RECIPES[cell["mechanism"]]
    applies = cell["loss"] in recipe.losses
    n_draws = 0 if recipe.exact or not applies else shared.n_draws
    spent = 0.0 if n_draws == 0 else shared.failure_prob
    half = CaseShare(0.5 * shared.failure_prob, 0.5 * shared.failure_prob)
    key = StreamKey(shared.seed).child("sweep", cell_name(cell))
    found = look_twice(partial(check_cell, cell, shared), n_draws=n_draws, share=half, key=key)
    return {"kind": "cell", "cell": encode(dict(cell)), "n_draws": n_draws, "failure_prob": spent} | found


def check_cell(cell: Cell, shared: Shared, budget: Budget) -> Evidence:
    """Return the evidence for "(epsilon, delta) holds between the two data sets of this cell"."""
    recipe = RECIPES[cell["mechanism"]]
    epsilon, delta = cell["epsilon"], cell["delta"]
    if cell["loss"] not in recipe.losses:
        return _no_claim(cell, f"the loss must be {' or '.join(recipe.losses)} for {cell['mechanism']}")
    pair = pair_of(cell, shared)
    setup = recipe.build(cell["loss"], pair, epsilon, delta)
    mechanism = setup.mechanism
    if mechanism is None:
        return _no_claim(cell, setup.out_of_domain)
    return pair_evidence(mechanism, pair, epsilon, delta, budget, in_domain=not setup.out_of_domain)


def _no_claim(cell: Cell, reason: str) -> Evidence:
    claim = Claim(QUANTITY, 0.0, cell["delta"], cell["epsilon"], in_domain=False)
    return Evidence(claim, reason=reason)
