"""False alarms and power of the audits of a stated law: density, loss, profile.

They are ``audits.density_tests.stated_law`` with its pieces: what is moved, which values repeat
(``audits.density_tests.stated_law_columns``, ``audits.density_tests.stated_law_moves``), what is bet on
(``audits.density_tests.stated_law_bets``) and whether draws reach as far (``audits.density_tests.stated_law_range``).
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np
from scipy.special import log_ndtr

from audits import Budget, StreamKey
from audits.density_tests.stated_law import audit_law, audit_loss, audit_profile
from audits.density_tests.stated_law_range import audit_range
from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray

from .series import FINE, PAIR, AuditSeries, BankMutant, Gaussian, Laplace, one_by_one

#: Draws of one repetition: of one data set, and of a pair.
ONE, BOTH_SETS = 1200, 1600
#: Draws of a mutant's audit, all from one data set.
MUTANT_DRAWS = 20_000

Sampler = Callable[[float, int, np.random.Generator], FloatArray]
Density = Callable[[FloatArray, float], FloatArray]


@dataclass(frozen=True)
class Law:
    """Draws around the number of records, and the log density that is stated, up to a constant."""

    name: str
    sampler: Sampler
    density: Density

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        """Return independent outputs, shape ``(n_draws, k)``."""
        return self.sampler(float(dataset.n_records), n_draws, rng)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return the log density that is stated, shape ``(n,)``."""
        return self.density(outputs, float(dataset.n_records))


def _normal(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return m + rng.standard_normal((n, 1))


def _normal_density(o: FloatArray, m: float) -> FloatArray:
    return np.asarray(-0.5 * np.square(o - m).sum(axis=1))


def _correlated(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    z = rng.standard_normal((n, 3))
    return m + np.cumsum(z, axis=1)


def _correlated_density(o: FloatArray, m: float) -> FloatArray:
    return _normal_density(np.diff(o - m, axis=1, prepend=0.0), 0.0)


def _geometric(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    p = -math.expm1(-0.5)
    return np.asarray(m + rng.geometric(p, (n, 1)) - rng.geometric(p, (n, 1)), dtype=np.float64)


def _coin(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray((rng.random((n, 1)) < 0.7) == (m > 1), dtype=np.float64)


def _coin_density(o: FloatArray, m: float) -> FloatArray:
    return np.log(np.where((o[:, 0] == 1) == (m > 1), 0.7, 0.3))


def _clipped(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return np.clip(_normal(m, n, rng), -0.5, 3.0)


def _clipped_density(o: FloatArray, m: float) -> FloatArray:
    x = o[:, 0]
    inside = -0.5 * np.square(x - m) - 0.5 * math.log(2 * math.pi)
    return np.where(x <= -0.5, log_ndtr(-0.5 - m), np.where(x >= 3.0, log_ndtr(m - 3.0), inside))


def _cauchy(m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(m + rng.standard_cauchy((n, 1)))


LAWS = (
    Law("normal", _normal, _normal_density),
    Law("Laplace", lambda m, n, rng: m + rng.laplace(size=(n, 1)), lambda o, m: -np.abs(o[:, 0] - m)),
    Law("normal, three correlated columns", _correlated, _correlated_density),
    Law("geometric", _geometric, lambda o, m: -0.5 * np.abs(o[:, 0] - m)),
    Law("randomised response", _coin, _coin_density),
    Law("normal, clipped, with atoms", _clipped, _clipped_density),
    Law("Cauchy", _cauchy, lambda o, m: -np.log1p(np.square(o[:, 0] - m))),
    Law("normal, rounded to 1e-3", lambda m, n, rng: np.rint(1e3 * _normal(m, n, rng)) / 1e3, _normal_density),
)


def _law(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    return audit_law(law, PAIR.second, Budget(ONE, level, key)).refuted, False


def _range(law: Law, level: float, key: StreamKey) -> tuple[bool, bool]:
    return audit_range(law, PAIR.second, Budget(ONE, level, key)).refuted, False


def _loss(law: Law | Gaussian | Laplace, level: float, key: StreamKey) -> tuple[bool, bool]:
    return audit_loss(law, PAIR, Budget(BOTH_SETS, level, key)).refuted, False


def _profile(law: Gaussian | Laplace, level: float, key: StreamKey) -> tuple[bool, bool]:
    return audit_profile(law, PAIR, Budget(BOTH_SETS, level, key)).refuted, False


def stated_law_series() -> Iterator[AuditSeries]:
    """Yield the series of the audits of what a mechanism states."""
    for law in LAWS:
        yield AuditSeries("stated density", law.name, ONE, one_by_one(partial(_law, law)), halves=False, seconds=3e-2)
    for law in (*LAWS[:3], *LAWS[5:]):
        yield AuditSeries("stated range", law.name, ONE, one_by_one(partial(_range, law)), halves=False, seconds=1e-2)
    for named in (*LAWS[2:6], Gaussian(1.0), Laplace(1.0)):
        audit = one_by_one(partial(_loss, named))
        yield AuditSeries("stated loss", named.name, BOTH_SETS, audit, halves=False, seconds=1e-2)
    for exact in (Gaussian(1.0), Laplace(1.0)):
        audit = one_by_one(partial(_profile, exact))
        yield AuditSeries("stated profile", exact.name, BOTH_SETS, audit, halves=False, seconds=2e-2)


def _atom(p: float, m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return np.where(rng.random((n, 1)) < p, m, _normal(m, n, rng))


def _less_noise(p: float, m: float, n: int, rng: np.random.Generator) -> FloatArray:
    return np.asarray(m + rng.standard_normal((n, 5)) / np.where(rng.random((n, 1)) < p, 100.0, 1.0))


def _cut(beyond: float, m: float, n: int, rng: np.random.Generator) -> FloatArray:
    noise = -np.log1p(rng.random((n, 1)) * math.expm1(-beyond))
    return np.asarray(m + rng.choice((-1.0, 1.0), (n, 1)) * noise)


def _stops(strength: float, budget: Budget) -> bool:
    law = Law("", partial(_cut, -math.log(strength)), LAWS[1].density)
    return audit_range(law, PAIR.first, budget).refuted


def _refuted(law: Callable[[float], Law | Gaussian | Laplace], strength: float, budget: Budget) -> bool:
    return audit_law(law(strength), PAIR.first, budget).refuted


def stated_law_mutants() -> list[BankMutant]:
    """Return the mutants by degrees of the audit of a stated density, each seen at the strength stated."""
    rare = (0.001, 0.002, 0.005, 0.01, 0.02)
    made: tuple[tuple[str, tuple[float, ...], Callable[[float], Law | Gaussian | Laplace], float, str], ...] = (
        ("Gaussian noise divided by 1 + s: stated density", FINE, lambda s: Gaussian(1.0, s), 0.1, "s"),
        ("Laplace noise divided by 1 + s: stated density", FINE, lambda s: Laplace(1.0, s), 0.1, "s"),
        ("raw now and then: stated density", rare, lambda p: Law("", partial(_atom, p), _normal_density), 0.005, "p"),
        (
            "a hundredth of the noise now and then: stated density",
            rare,
            lambda p: Law("", partial(_less_noise, p), _normal_density),
            0.005,
            "p",
        ),
    )
    found = [
        BankMutant(name, grades, partial(_refuted, law), stated, MUTANT_DRAWS, unit, "stated density", seconds=0.1)
        for name, grades, law, stated, unit in made
    ]
    words = "Laplace noise cut off where the mass p goes on: stated range"
    grades = (0.0005, 0.001, 0.002, 0.005, 0.01)
    found.append(BankMutant(words, grades, _stops, 0.002, MUTANT_DRAWS, "p", "stated range", seconds=0.03))
    return found
