"""Black-box audits of outputs hardly random, infinite, huge or no numbers: leaks are refuted, nothing breaks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import audit_claim, black_box_audit
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from mechanisms import Dataset, NeighbouringPair, Relation
from verify.plugin.pytest_audit import Auditor

PAIR = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0), [1.0], 0.0)
SIZES = (800, 8_000)  # preset events only; learned and chosen ones


@dataclass(frozen=True)
class Odd:
    """``outputs(extra, n, rng)`` for 0 or 1 extra record."""

    outputs: Callable[[int, int, np.random.Generator], np.ndarray]
    name: str = "odd"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator):
        return np.asarray(self.outputs(dataset.n_records - 1, n_draws, rng), dtype=np.float64).reshape(n_draws, -1)


def audit(outputs, n_draws, epsilon=1.0):
    claim = BlackBoxClaim(epsilon, 0.0, (Relation.ADD,))
    return black_box_audit(Odd(outputs), PAIR, claim, Budget(n_draws, 1e-6, StreamKey(2, ("odd",))))


LEAKS = {
    "no noise": lambda extra, n, rng: np.full(n, float(extra)),
    "hardly any noise": lambda extra, n, rng: rng.random(n) < (0.9995 if extra else 0.0005),
    "huge": lambda extra, n, rng: 1e308 * (rng.random(n) - 0.5 + extra),
    "infinite": lambda extra, n, rng: np.where(rng.random((n, 2)) < 0.4, np.inf if extra else -np.inf, 0.0),
}


@pytest.mark.parametrize("name", LEAKS)
@pytest.mark.parametrize("n_draws", SIZES)
def test_what_leaks_is_refuted(name, n_draws):
    assert audit(LEAKS[name], n_draws).outcome is BlackBoxOutcome.REFUTED


def test_one_atom_among_continuous_outputs_is_a_cell_to_test():
    """Half of the outputs on one data set are "no result", none on the other; all else has the same law."""

    def outputs(extra, n, rng):
        return np.where(rng.random(n) < 0.5 * extra, np.nan, rng.laplace(size=n))

    assert audit(outputs, 8_000).epsilon.estimate.low > 4.0


HARMLESS = {
    "constant": lambda extra, n, rng: np.zeros((n, 3)),
    "infinite at random": lambda extra, n, rng: np.where(rng.random((n, 3)) < 0.5, np.inf, -np.inf),
    "mostly infinite": lambda extra, n, rng: np.where(rng.random(n) < 0.6, np.inf, extra + rng.laplace(size=n)),
    "no result at random": lambda extra, n, rng: np.where(rng.random(n) < 0.1, np.nan, extra + rng.laplace(size=n)),
    "huge and alike": lambda extra, n, rng: 1e308 * (rng.random((n, 2)) - 0.5),
}


@pytest.mark.parametrize("name", HARMLESS)
@pytest.mark.parametrize("n_draws", SIZES)
def test_what_does_not_leak_is_not_refuted(name, n_draws):
    """Null: (1, 0) holds on the real line. Level 1e-6 a line, at most 8000 draws."""
    assert audit(HARMLESS[name], n_draws).outcome is BlackBoxOutcome.NOT_REFUTED


@pytest.mark.parametrize("n_draws", SIZES)
@pytest.mark.parametrize("outputs", [LEAKS["no noise"], lambda extra, n, rng: extra + rng.laplace(size=n)])
def test_an_epsilon_whose_exponential_overflows_is_a_claim_like_any_other(outputs, n_draws):
    result = audit(outputs, n_draws, epsilon=800.0)
    assert result.outcome is BlackBoxOutcome.NOT_REFUTED
    assert result.point.p_value == 1.0


def test_a_refutation_by_few_discrete_outputs_lies_above_the_claim_and_fails_a_user_s_test():
    """Barnard's test has no bound of its own: the lower end of delta is just above the claimed one."""

    def outputs(extra, n, rng):
        return rng.random(n) < (0.95 if extra else 0.05)

    for delta in (0.0, 0.1):
        claim = BlackBoxClaim(1.0, delta, (Relation.ADD,))
        test = audit_claim(Odd(outputs), PAIR, claim, Budget(700, 1e-6, StreamKey(2, ("few",))))
        assert test.outcome is BlackBoxOutcome.REFUTED
        assert test.delta.low > delta
    row = Auditor("a test", "", seed=1, n_draws=700, failure_prob=1e-6)(Odd(outputs), PAIR, (1.0, 0.0), expect="fails")
    assert row["outcome"] == "FAILS"
