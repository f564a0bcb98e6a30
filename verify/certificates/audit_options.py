"""What an audit asks, as its call takes it, and the configuration of ``certify`` that asks the same."""

from __future__ import annotations

import copy
import math
import re
import shlex
import time
import warnings
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from audits.adapters.records import PublicRecords
from audits.adapters.scikit_learn import SklearnEstimator
from audits.black_box.claims import PrivacyClaim, RenyiCurve, TableCurve, ZcdpCurve
from audits.external.open_door import DoorMechanism
from audits.external.wire import PlainLine
from audits.harness.calls import CallEnded
from audits.harness.output_leaves import Refusal
from audits.harness.returned import WrongRows
from mechanisms import Dataset, GaussianProfile, NeighbouringPair, Relation

from ..messages.errors import UserError
from ..messages.texts import toml_key, toml_value
from .config.config import BudgetSection, Configuration, parse
from .counterexample import pair_row
from .counterexample_toml import pair_table

DEFAULT_SEED: int = BudgetSection.model_fields["seed"].default
#: Draws of each data set from which the pairs are searched as the profile of that name does.
PROFILES = ((200_000, "full"), (20_000, "standard"), (0, "quick"))
#: Pairs and draws of each data set by default; the second where a draw takes more seconds than ``SLOW``: so many draws
#: show every event of probability .05.
SIZES, SLOW = ((8, 4_000), (8, 1_500)), 1e-3
#: Public bounds on the norm of a row of X and on the absolute value of y where nobody states any.
UNIT = (1.0, 1.0)


@dataclass(frozen=True)
class Options:
    """What is claimed and how it is tested, as ``audit`` takes it; ``text`` is the configuration that asks the same."""

    epsilon: float | None
    delta: float = 0.0
    relation: str = "add-remove"
    dim: int = 2
    bounds: tuple[float, float] | None = None
    n_min: int | None = None
    pairs: int | None = None
    draws: int | None = None
    max_seconds: float | None = None
    failure_prob: float = 1e-4
    seed: int = DEFAULT_SEED
    claim: PrivacyClaim | None = None
    records: PublicRecords | None = None
    own_pairs: tuple[Mapping[str, Any], ...] = ()

    @property
    def claimed(self) -> dict[str, Any]:
        """The parameters of ``[[claims]]``."""
        plain = {"epsilon": self.epsilon, "delta": self.delta, "relation": self.relation}
        if self.claim is None:
            return plain
        replaced = self.claim.relations == (Relation.REPLACE,)
        of = {"relation": "replace" if replaced else "add-remove", "group": self.claim.group}
        match self.claim.curve:
            case None:
                return {"epsilon": self.claim.epsilon, "delta": self.claim.delta, **of}
            case GaussianProfile(mu=mu):
                form: dict[str, Any] = {"mu": mu}
            case ZcdpCurve(rho=rho):
                form = {"rho": rho}
            case RenyiCurve(order=order, epsilon=epsilon):
                form = {"alpha": order, "epsilon": epsilon}
            case TableCurve(points=points):
                form = {"points": points}
        return {"profile": self.claim.form, **form, **of}

    def filled(self, mechanism: Any) -> Options:
        """Return the options with those that depend on the mechanism, which is asked a few times."""
        bounds, most, slow = self.bounds or stated_bounds(mechanism, self.dim) or UNIT, self.dim + 2, False
        n_min = most if self.n_min is None else self.n_min
        if isinstance(mechanism, DoorMechanism):
            n_min = _least_answered(mechanism, self.dim, bounds, most) if self.n_min is None else n_min
        elif None in (self.n_min, self.pairs, self.draws):
            tried = ((n, *_try(mechanism, n, self.dim, bounds)) for n in range(most + 1))
            least, _, _ = next((each for each in tried if each[1]), (most, False, 0.0))
            n_min = least if self.n_min is None else n_min
            slow = min(_try(mechanism, max(n_min, 8), self.dim, bounds)[1] for _ in range(3)) > SLOW
        sizes = zip((self.pairs, self.draws), SIZES[slow], strict=True)
        pairs, draws = (usual if given is None else given for given, usual in sizes)
        return replace(self, bounds=bounds, n_min=n_min, pairs=pairs, draws=draws)

    def of(self, pairs: Sequence[NeighbouringPair]) -> Options:
        """Return the options for pairs of one's own, and no others; their data sets say the bounds.

        Raises UserError if one is no pair, or their data sets do not fit together.
        """
        domains = {(each.dataset.dim, each.dataset.x_bound, each.dataset.y_bound) for each in pairs}
        rows = [pair_row(each, private=False) for each in pairs]
        if len(domains) != 1 or None in rows:
            raise UserError("pairs must have data sets of one width and of the same bounds, and not be too long")
        ((dim, *bounds),) = domains
        tables = tuple(pair_table(row, f"pair {i}") for i, row in enumerate(rows, start=1) if row is not None)
        return replace(self, dim=dim, bounds=self.bounds or (bounds[0], bounds[1]), pairs=0, own_pairs=tables)

    def text(self, mechanism: str, data: Sequence[str] = ()) -> str:
        """Return the configuration of ``certify``; ``mechanism`` and ``data`` are the lines of their tables."""
        (x_bound, y_bound), sizes = self.bounds or UNIT, zip((self.pairs, self.draws), SIZES[0], strict=True)
        pairs, draws = (usual if given is None else given for given, usual in sizes)
        lines = [
            *("[mechanism]", mechanism, ""),
            *("[data]", *(data or [f"dim = {toml_value(self.dim)}", "public = true"])),
            f"x_bound = {toml_value(x_bound)}   # public bounds on the norm of a row and on |y|",
            f"y_bound = {toml_value(y_bound)}",
            f"n_min = {toml_value(self.dim + 2 if self.n_min is None else self.n_min)}",
            *([] if self.records is None else [f"records = {toml_value(self.records.plain())}"]),
            *("", "[[claims]]", 'type = "dp"'),
            *(f"{name} = {toml_value(value)}" for name, value in self.claimed.items()),
            *("", "[budget]"),
            f"profile = {toml_value(next(name for least, name in PROFILES if draws >= least))}",
            f"pairs = {toml_value(pairs)}",
            f"draws = {toml_value(draws)}",
            *([] if self.max_seconds is None else [f"max_seconds = {toml_value(self.max_seconds)}"]),
            f"failure_prob = {toml_value(self.failure_prob)}",
            f"seed = {toml_value(self.seed)}",
        ]
        for table in self.own_pairs:
            lines += ["", "[[pairs]]", *(f"{toml_key(key)} = {toml_value(value)}" for key, value in table.items())]
        return "\n".join(lines) + "\n"


def target_line(target: str) -> str:
    """Return the line of ``[mechanism]`` for a url, ``file.py:name``, ``package.module:name`` or a command.

    Raises UserError if it is none of these.
    """
    if target.startswith(("http://", "https://")):
        return f"url = {toml_value(target)}"
    if " " not in target and re.fullmatch(r"[^:]+\.py:\w+|[\w.]+:\w+", target):
        return f"import = {toml_value(target)}"
    if " " not in target and target.endswith(".py"):
        raise UserError(f"TARGET must name what is audited in its file, got TARGET={target} (write {target}:NAME)")
    try:
        return f"command = {toml_value(shlex.split(target))}"
    except ValueError as stop:
        raise UserError(f"TARGET must be file.py:name, a command or a url, got TARGET={target} ({stop})") from None


def checked(text: str) -> Configuration:
    """Return the configuration of a text; what is wrong names the parameters of ``audit``."""
    try:
        return parse(text)
    except UserError as stop:
        raise UserError(as_parameters(str(stop))) from None


def as_parameters(words: str) -> str:
    """Return words that name keys of a configuration with the names of the parameters of ``audit``."""
    return re.sub(r"\b(?:data|budget|mechanism|claims\[0\])\.(?=\w)|\[budget\] ", "", words)


def stated_bounds(mechanism: Any, dim: int) -> tuple[float, float] | None:
    """Return the bounds that an estimator states; None where it is none, or cannot be made."""
    with suppress(Exception, SystemExit):
        return mechanism.stated_bounds(dim) if isinstance(mechanism, SklearnEstimator) else None
    return None


def _plain(n_records: int, dim: int, bounds: tuple[float, float], rng: np.random.Generator) -> Dataset:
    x_bound, y_bound = (min(float(bound), 1.0) for bound in bounds)
    rows = rng.uniform(-x_bound, x_bound, (n_records, dim)) / math.sqrt(dim)
    return Dataset(rows, rng.uniform(-y_bound, y_bound, n_records), float(bounds[0]), float(bounds[1]))


def _least_answered(door: DoorMechanism, dim: int, bounds: tuple[float, float], most: int) -> int:
    """Return the least number of records of which a command or a service makes something finite; ``most`` of none."""
    try:
        for n in range(most):
            rng = np.random.default_rng(n)
            with suppress(CallEnded, WrongRows):  # it ends, or says too little, of so few
                if _finite(door.draw(_plain(n, dim, bounds, rng), 1, rng=rng)):
                    return n
    except Exception:  # nobody answers, which the audit says
        return most
    finally:
        door.close()
    return most


def _try(mechanism: Any, n_records: int, dim: int, bounds: tuple[float, float]) -> tuple[bool, float]:
    """Return whether the mechanism makes something finite of so many records, and the seconds of a draw.

    A copy is asked: one that remembers its calls starts the audit with none.
    """
    rng, begun = np.random.default_rng(n_records), time.perf_counter()
    dataset = _plain(n_records, dim, bounds, rng)
    finite = False
    with warnings.catch_warnings(), suppress(Exception, SystemExit):
        warnings.simplefilter("ignore")
        finite = _finite(copy.deepcopy(mechanism).draw(dataset, 1, rng=rng))
    return finite, time.perf_counter() - begun


def _finite(output: Any) -> bool:
    """Return whether an output is an answer, and no number in it is nan or infinite."""
    if isinstance(output, Refusal | PlainLine):
        return False
    if isinstance(output, Mapping | list | tuple):
        return all(map(_finite, output.values() if isinstance(output, Mapping) else output))
    try:
        return bool(np.isfinite(np.asarray(output, dtype=np.float64)).all())
    except (TypeError, ValueError):
        return True
