"""False alarms of whole examinations of one pair, and the mechanisms by degrees that they refute.

``audits.examination.examined_claim`` puts the tests together that have series of their own: the contract, the stated
law, delta by it, the black box. Here all of it runs at once (``audits.examination.examine_pair`` on draws that
``audits.examination.recorded`` keeps), on claims that hold with equality; any refutation, and any breach of the
contract, is a false alarm. A claim is one of ``audits.black_box.claims``, whose curves are exact;
``audits.search.pairs``, ``audits.search.pair_designs`` and ``audits.search.data_pairs`` lay out data sets and draw
nothing. ``audits.white_box.exact`` chooses between audits that are calibrated, ``audits.density_tests.stated_worst``
reads what is stated, ``mechanisms.reference`` says whom to believe; ``audits.examination.examine_choose`` names the
pairs and leaves some of them out; ``audits.examination.witnesses`` and ``audits.examination.examined`` hold what was
found.

Sparing audits of the same pair (``audits.sequential.sparing_audit``, ``audits.sequential.sparing_bets``) have series of
their own.

A mechanism whose calls may be open together (``audits.harness.calls``, which says too how a call ends without
outputs) is drawn from in another order (``audits.harness.open_subject``): it has a series too, in this process. What
carries such calls draws nothing and decides nothing: ``audits.external.open_door``, made of ``audits.external.wire``,
``audits.external.channels`` and ``audits.external.connections``. ``audits.adapters.scikit_learn`` and
``audits.adapters.smartnoise_sql`` are other people's mechanisms, ``audits.adapters.releases`` calls a function of
theirs with the records of ``audits.adapters.records``, and ``audits.one_call`` is ``certify``. Calls whose process
may die (``audits.harness.call_note``, ``audits.harness.call_apart``) give the outputs of calls that are made here.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from audits import Budget, StreamKey
from audits.black_box.claims import PrivacyClaim, point_claim
from audits.examination.examined_claim import examine
from audits.search.worst_case import NamedPair
from audits.sequential.sparing_audit import audit_sparingly
from mechanisms import BOTH
from mechanisms.data.dataset import FloatArray

from .series import FINE, PAIR, AuditSeries, BankMutant, Coin, Gaussian, Laplace, one_by_one

Law = Gaussian | Laplace | Coin
LAWS: tuple[Law, ...] = (Gaussian(1.0), Laplace(1.0), Coin(1.0))
#: Evaluations of one examination, and of one that is to refute a mutant.
EXAMINED, REFUTING = 1_000, 50_000
#: Draws of one sparing audit, and of one that is to refute a mutant.
SPARED, SPARING = 120, 2_000
#: By how much noise is too small for sparing audits; 1 is half the noise.
COARSE = (0.25, 0.5, 1.0, 2.0)
#: The epsilon of the claim; delta is the exact one.
EPSILON = 0.7


@dataclass(frozen=True)
class Opened:
    """A law whose calls may be open together, drawn alone: it states no density."""

    law: Law
    name: ClassVar[str] = "open calls"
    concurrency: ClassVar[int] = 2
    batch: ClassVar[int] = 50
    reproducible: ClassVar[bool] = True

    def fresh(self) -> Opened:
        """Return itself: there is no process to start."""
        return self

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs of the law."""
        return self.law.draw(dataset, n_draws, rng=rng)


def _claim(law: Law, epsilon: float = EPSILON) -> PrivacyClaim:
    delta = max(law.profile(PAIR).delta_at(epsilon, direction) for direction in BOTH)
    return point_claim(epsilon, min(1.0, delta * (1 + 1e-9)))


def _refuted(law: Law | Opened, claimed: Law, budget: Budget) -> bool:
    claim = _claim(claimed)
    found = examine(law, [NamedPair("the pair", PAIR)], claim, budget)
    return bool(found.refutations or found.violations)


def _false_alarm(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    return _refuted(law, law, Budget(EXAMINED, level, key)), False


def _open_alarm(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    return _refuted(Opened(law), law, Budget(EXAMINED, level, key)), False


def _sparing_alarm(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    """The Gaussian claim holds with equality at a point, the others as pure ones."""
    claim = _claim(law) if isinstance(law, Gaussian) else point_claim(1.0, 0.0)
    return audit_sparingly(law, [NamedPair("the pair", PAIR)], claim, Budget(SPARED, level, key)).refuted, False


def _sparing_laplace(severity: float, budget: Budget) -> bool:
    pairs = [NamedPair("the pair", PAIR)]
    return audit_sparingly(Laplace(1.0, severity), pairs, point_claim(1.0, 0.0), budget).refuted


def _gaussian(severity: float, budget: Budget) -> bool:
    return _refuted(Gaussian(1.0, severity), Gaussian(1.0), budget)


def _laplace(severity: float, budget: Budget) -> bool:
    return _refuted(Laplace(1.0, severity), Laplace(1.0), budget)


#: Name of a series, what makes a repetition of it, its draws, and about how many seconds these take.
SERIES = (
    ("examination of a pair", _false_alarm, EXAMINED, 0.1),
    ("examination of open calls", _open_alarm, EXAMINED, 0.15),
    ("sparing audit", _sparing_alarm, SPARED, 0.15),
)


def examination_series() -> Iterator[AuditSeries]:
    """Yield the series of whole examinations."""
    for law in LAWS:
        for name, alarm, n_draws, seconds in SERIES:
            repeat = one_by_one(partial(alarm, law))
            yield AuditSeries(name, law.name, n_draws, repeat, halves=False, levels=(0.5, 0.05), seconds=seconds)


def examination_mutants() -> Iterator[BankMutant]:
    """Yield noise that is too small by degrees, with the density of the noise that is claimed."""
    name = "Laplace noise divided by 1 + s: sparing audit"
    yield BankMutant(name, COARSE, _sparing_laplace, 1.0, SPARING, "s", "sparing audit", seconds=0.6)
    for law, refute in (("Gaussian", _gaussian), ("Laplace", _laplace)):
        name = f"{law} noise divided by 1 + s: examination"
        yield BankMutant(name, FINE, refute, 0.1, REFUTING, "s", "examination", seconds=0.4)
