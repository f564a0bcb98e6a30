"""(epsilon, delta) claims over an exact profile: at given numbers, at the worst point of the box, and on real data."""

from __future__ import annotations

import math

import numpy as np
import pytest

from audits import Budget, StreamKey
from mechanisms import GaussianProfile
from mechanisms.linear.gaussian_output import GaussianOutput
from verify.kernel.box_search import Axis, Point
from verify.kernel.declare import At, search
from verify.kernel.formal import FormalClaim, PairAtPoint, on_data, pair_of
from verify.kernel.statement import Case, Observer, Role, Standing
from verify.kernel.verdict import Outcome, judge

BUDGET = Budget(2_000, 1e-6, StreamKey(3))


def classical(p: Point) -> float:
    """The classical bound of the Gaussian mechanism, true where it is at most 1."""
    return p["mu"] * math.sqrt(2.0 * math.log(1.25 / p["delta"]))


def at_most_one(p: Point, epsilon: float) -> bool:
    return epsilon <= 1.0


def on_record(case: Case) -> PairAtPoint:
    pair = pair_of(case)
    mechanism = GaussianOutput(precision=np.eye(pair.dataset.dim), gamma=case.number("gamma"))
    mu = math.sqrt(mechanism.gamma) * mechanism.sensitivity(pair)
    return PairAtPoint(mechanism, pair, {"mu": mu, "delta": case.number("delta")})


CLAIM = FormalClaim(
    profile=lambda p: GaussianProfile(p["mu"]),
    box={"mu": Axis(1e-3, 10.0), "delta": Axis(1e-9, 0.5)},
    observer=Observer.TRANSCRIPT,
    instance=on_record,
)


def case_of(at: At) -> Case:
    return Case("X", "case", Standing.PRINTED, at.params, at.role, at.regime, at.draws)


def numbers(mu: float, delta: float) -> Case:
    return case_of(At("here", {"mu": mu, "delta": delta}))


@pytest.mark.parametrize(
    ("factor", "outcome"), [(1.0, Outcome.HOLDS), (0.5, Outcome.FAILS), (1000.0, Outcome.OUT_OF_DOMAIN)]
)
def test_a_version_is_decided_at_the_numbers_of_its_case(factor: float, outcome: Outcome) -> None:
    evidence = CLAIM.of(lambda p: factor * classical(p), at_most_one)(numbers(0.1, 1e-3), BUDGET)
    assert judge(evidence)[0] is outcome
    assert evidence.claim.published == pytest.approx(factor * 0.1 * math.sqrt(2.0 * math.log(1250.0)))
    assert evidence.claim.observer is Observer.TRANSCRIPT
    assert evidence.found == {}


def test_a_search_finds_where_the_classical_bound_breaks() -> None:
    """Without the condition epsilon <= 1 the bound fails for large mu; with it there is no such point."""
    evidence = CLAIM.of(classical)(case_of(search()), BUDGET)
    assert judge(evidence)[0] is Outcome.FAILS
    assert set(evidence.found) == {"mu", "delta"}
    assert judge(CLAIM.of(classical, at_most_one)(case_of(search()), BUDGET))[0] is Outcome.HOLDS


def test_a_record_of_real_data_has_both_witnesses() -> None:
    """The exact law decides, the Monte Carlo interval holds its value."""
    case = case_of(on_data("fair", 0, {"gamma": 100.0, "delta": 1e-2}, draws=(2_000, 2_000, 2_000)))
    assert (case.params["data"], case.params["record"], case.role) == ("fair", 0, Role.REGIME)
    evidence = CLAIM.of(classical, at_most_one)(case, BUDGET)
    assert evidence.exact is not None
    assert evidence.sampled is not None
    assert evidence.sampled.low <= evidence.exact.value <= evidence.sampled.high
    assert judge(evidence)[0] is Outcome.HOLDS
    assert judge(CLAIM.of(lambda p: 0.01 * classical(p))(case, BUDGET))[0] is Outcome.FAILS
