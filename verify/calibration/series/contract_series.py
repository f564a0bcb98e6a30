"""False alarms of the contract checks, and of encodings of outputs that are not rows of numbers.

The checks (``audits.harness.contract``) run on mechanisms that
keep the contract, discrete ones and such that refuse at random included; any finding of a violation is a false alarm.
The encoding (``audits.harness.outputs`` of what ``audits.harness.output_leaves`` and ``audits.harness.returned`` read,
drawn by ``audits.harness.guarded_subject`` through ``audits.harness.calls``) is a fixed map, so that it cannot make a
claim false: randomised response in every kind of output is audited through it against its own epsilon, which holds with
equality. Data sets come from ``audits.search.pairs``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import audit_claim
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from audits.harness.contract import contract_findings
from audits.harness.guarded_subject import Subject
from audits.search.pairs import BlackBoxPair, RawDataset
from mechanisms import Dataset, Relation

from .series import PAIR, AuditSeries, one_by_one

Bools = NDArray[np.bool_]

#: Evaluations of one round of checks, and of one audit of encoded outputs.
CHECKED, AUDITED = 400, 800


@dataclass(frozen=True)
class Honest:
    """Independent outputs ``wrap(values, rng)`` of values from ``law(n_draws, rng)``, the same for every data set."""

    name: str
    law: Callable[[int, np.random.Generator], Any]

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return ``n_draws`` outputs."""
        return self.law(n_draws, rng)


def _refusing(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Return numbers, or refuse the whole call where one draw of it is refused."""
    if (rng.random(n) < 0.2).any():
        raise ValueError("too close to the threshold")
    return rng.standard_normal((n, 1))


def _ragged(n: int, rng: np.random.Generator) -> list[list[float]]:
    return [rng.standard_normal(1 + size).tolist() for size in rng.poisson(1.0, n).tolist()]


HONEST = (
    Honest("Gaussian, 2 columns", lambda n, rng: rng.standard_normal((n, 2))),
    Honest("fair coin", lambda n, rng: rng.random((n, 1)) < 0.5),
    Honest("geometric", lambda n, rng: rng.geometric(0.3, n)),
    Honest("rare atom", lambda n, rng: np.where(rng.random(n) < 0.01, 0.0, rng.standard_normal(n))),
    Honest("constant", lambda n, rng: np.zeros((n, 1))),
    Honest("refused one time in five", _refusing),
    Honest("lists of varying length", _ragged),
)


def _some(kinds: tuple[Any, Any]) -> Callable[[bool], Any]:
    return lambda bit: kinds[int(bit)]


#: Kinds of outputs that a bit may be told by.
KINDS: Mapping[str, Callable[[bool], Any]] = {
    "text": _some(("no", "yes")),
    "bytes": _some((b"\0", b"\1")),
    "boolean": bool,
    "None": _some((None, 0.5)),
    "integers beyond 2^53": lambda bit: 2**53 + int(bit),
    "complex": lambda bit: complex(0.0, bit),
    "NaN": _some((math.nan, 1.0)),
    "infinity": _some((math.inf, 1.0)),
    "mapping": lambda bit: {"value": 1.0, **({"warning": True} if bit else {})},
    "tuple": lambda bit: ("a", int(bit), None),
    "ragged": lambda bit: [1.0] * (1 + int(bit)),
    "data frame": lambda bit: pd.DataFrame({"a": [1.0] * (1 + int(bit))}),
    "type of a number": _some((1, 1.0)),
    "object array": lambda bit: np.array([int(bit), "a"], dtype=object),
}


@dataclass(frozen=True)
class EncodedCoin:
    """Randomised response at ``epsilon``: the true bit, whether there is a record, kept with the largest odds."""

    kind: str
    epsilon: float = 1.0

    @property
    def name(self) -> str:
        """Short name for reports."""
        return f"randomised response as {self.kind}"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> list[Any]:
        """Return ``n_draws`` outputs of the kind; an exception is one for all of a call."""
        told = (rng.random(n_draws) < 1 / (1 + math.exp(-self.epsilon))) == (dataset.n_records > 1)
        if self.kind == "exception":
            if told.any():
                raise ValueError("refused")
            return [0.5] * n_draws
        return [KINDS[self.kind](bit) for bit in told.tolist()]


def _checked(law: Honest, level: float, key: StreamKey) -> tuple[bool, bool]:
    findings, _ = contract_findings(Subject(law), [PAIR], Budget(CHECKED, level, key))
    return any(finding.violated for finding in findings if finding.failure_prob), False


#: Two data sets one record apart of which one has a value missing.
RAW = BlackBoxPair(
    RawDataset(np.ones((1, 1)), np.array([math.nan]), 1.0, 1.0),
    RawDataset(np.ones((2, 1)), np.array([math.nan, 0.0]), 1.0, 1.0),
    Relation.ADD,
    "a missing response, and one record more",
)


def _encoded(kind: str, level: float, key: StreamKey) -> tuple[bool, bool]:
    encoded = Subject(EncodedCoin(kind)).encoded(
        RAW.first, RAW.second, key.child("pilot"), one_by_one=kind == "exception"
    )
    claim = BlackBoxClaim(1.0, 0.0, (Relation.ADD, Relation.REMOVE))
    pair: Any = RAW  # an audit of outputs alone reads its two data sets and nothing else
    found = audit_claim(encoded, pair, claim, Budget(AUDITED, level, key))
    return found.outcome is BlackBoxOutcome.REFUTED, False


def contract_series() -> Iterator[AuditSeries]:
    """Yield the series of contract checks and of encodings."""
    for law in HONEST:
        checked, levels = one_by_one(partial(_checked, law)), (0.5, 0.05)
        yield AuditSeries("contract checks", law.name, CHECKED, checked, halves=False, levels=levels, seconds=5e-2)
    for kind in (*KINDS, "exception"):
        words, name = "black box, outputs as they are", f"randomised response as {kind}"
        encoded = one_by_one(partial(_encoded, kind))
        yield AuditSeries(words, name, AUDITED, encoded, halves=False, levels=(0.1,), seconds=6e-2)
