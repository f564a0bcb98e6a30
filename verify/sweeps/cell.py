"""One cell, decided: a pure function of the cell and of what all cells of a sweep share."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache, partial
from typing import Any

import numpy as np

from audits import Budget, StreamKey
from mechanisms import Dataset, NeighbouringPair, RowClip
from mechanisms.objective.perturbed_solver import SolverError
from mechanisms.offers import LABELS

from ..certificates.config.own_code import Factory
from ..kernel.pair_evidence import DRAWS, QUANTITY, pair_evidence
from ..kernel.rows import Looks, Row, decided_row, died_row, dumps, encode, word_of
from ..kernel.shares import whole
from ..kernel.statement import Claim, Evidence
from .mechanism_axis import LOSSES, RECIPES, ImportedMechanism

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


Cell = Mapping[str, Any]
#: Draws of one look at an imported mechanism, both data sets together: what makes an examination of one pair.
IMPORTED_DRAWS = 2 * DRAWS


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
    imported : mapping
        The user's own mechanisms, by their names on the mechanism axis.
    imported_draws : int
        Draws of one look at a cell of one of them.
    """

    seed: int
    n_draws: int
    failure_prob: float
    identity: Mapping[str, Any]
    data: Dataset | None = None
    imported: Mapping[str, ImportedMechanism] = field(default_factory=dict)
    imported_draws: int = IMPORTED_DRAWS

    def hasher(self) -> Hasher:
        """Return a hash of everything but the cell; what one imported mechanism is moves its own cells alone."""
        content = {
            "seed": self.seed,
            "n_draws": self.n_draws,
            "failure_prob": self.failure_prob,
            "identity": dict(self.identity),
            "data": self.data.digest if self.data else None,
        }
        own = {
            name: dumps({"imported": encode(mechanism.identity()), "n_draws": self.imported_draws}).encode()
            for name, mechanism in self.imported.items()
        }
        return Hasher(hashlib.sha256(dumps({"sweep": encode(content)}).encode()), own)


@dataclass(frozen=True, eq=False)
class Hasher:
    """The hash of what all cells share, and what is added to it for the cells of an imported mechanism."""

    common: Any
    imported: Mapping[str, bytes]


def cell_name(cell: Cell) -> str:
    """Return a cell's parameters in one line, in the order of the axes."""
    return ", ".join(
        f"{axis}={value!r}" if isinstance(value, float) else f"{axis}={value}" for axis, value in cell.items()
    )


def cell_key(hasher: Hasher, cell: Cell) -> str:
    """Return the content hash of a cell's row, from ``Shared.hasher``."""
    digest = hasher.common.copy()
    digest.update(cell_name(cell).encode() + hasher.imported.get(cell["mechanism"], b""))
    return str(digest.hexdigest())


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
    n_draws = 0 if _out_of_place(cell, shared) else _draws(cell, shared)
    spent = 0.0 if n_draws == 0 else shared.failure_prob
    own = whole(shared.failure_prob, StreamKey(shared.seed).child("sweep", cell_name(cell)))
    decided = decided_row(partial(check_cell, cell, shared), own, n_draws=n_draws)
    about = {"kind": "cell", "cell": encode(dict(cell)), "n_draws": n_draws, "failure_prob": spent}
    return about | decided | {"ground": _ground(decided)}


def decide(shared: Shared, cell: Cell) -> tuple[str, str]:
    """Return the row of a cell as JSON text, and the word it counts under; nothing but an exit ends the sweep."""
    try:
        row = decide_cell(cell, shared)
    except (Exception, SystemExit):
        raise
    except BaseException as stop:  # of the user's mechanism: a sweep decides in processes, which Ctrl-C does not reach
        return _stopped(shared, cell, Looks(None, error=RuntimeError(type(stop).__name__)).row())
    return dumps(row), word_of(row)


def died(shared: Shared, cell: Cell) -> tuple[str, str]:
    """Return the same for a cell whose worker process died every time."""
    return _stopped(shared, cell, died_row(cell_name(cell)))


def _stopped(shared: Shared, cell: Cell, why: Row) -> tuple[str, str]:
    row: Row = {"kind": "cell", "cell": encode(dict(cell)), "n_draws": 0, "failure_prob": shared.failure_prob}
    row |= why | {"ground": ""}
    return dumps(row), word_of(row)


def check_cell(cell: Cell, shared: Shared, budget: Budget) -> Evidence:
    """Return the evidence for "(epsilon, delta) holds between the two data sets of this cell"."""
    epsilon, delta = cell["epsilon"], cell["delta"]
    wrong = _out_of_place(cell, shared)
    if wrong:
        return _no_claim(cell, wrong)
    pair = pair_of(cell, shared)
    own = shared.imported.get(cell["mechanism"])
    if own is not None:
        vouched = own.vouched is not None
        make, views = Factory(own.source), own.looks()
        return pair_evidence(own.make(), pair, epsilon, delta, budget, vouched=vouched, make=make, views=views)
    try:
        setup = RECIPES[cell["mechanism"]].build(cell["loss"], pair, epsilon, delta)
    except (ValueError, ArithmeticError) as stop:  # a scale that is no finite number above 0, a root that is not there
        return _no_claim(cell, f"the rule gives no mechanism here: {' '.join(str(stop).split())}")
    if setup.mechanism is None:
        return _no_claim(cell, setup.reason)
    try:
        return pair_evidence(setup.mechanism, pair, epsilon, delta, budget, in_domain=not setup.reason)
    except SolverError as stop:
        return _no_claim(cell, f"float64 does not carry these numbers: {stop}")


def _out_of_place(cell: Cell, shared: Shared) -> str:
    """Return why a combination of axes makes no claim; empty where it does."""
    name, loss = cell["mechanism"], cell["loss"]
    if name in shared.imported:
        return "" if loss in LOSSES else f"the loss must be {' or '.join(LOSSES)} (numbers or labels) for {name}"
    losses = RECIPES[name].losses
    if loss not in losses:
        return f"the loss must be {' or '.join(losses)} for {name}"
    return f"the rule is for a record added or removed, not {REPLACED}" if cell["target"] == REPLACED else ""


def _draws(cell: Cell, shared: Shared) -> int:
    """Return the draws of one look at a cell: none where the law of the loss is known."""
    if cell["mechanism"] in shared.imported:
        return shared.imported_draws
    return 0 if RECIPES[cell["mechanism"]].exact else shared.n_draws


def _ground(found: Mapping[str, Any]) -> str:
    """Return what a claim that holds rests on: a law that is ``proved`` here, or one that is ``attested``."""
    if found["outcome"] != "HOLDS":
        return ""
    return str(found["notes"].get("ground", "proved"))


def _no_claim(cell: Cell, reason: str) -> Evidence:
    claim = Claim(QUANTITY, 0.0, cell["delta"], cell["epsilon"], in_domain=False)
    return Evidence(claim, reason=reason)
