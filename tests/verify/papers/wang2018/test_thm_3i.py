"""W18, Theorem 3(i): one release and all three against the definition of the Gaussian divergence."""

from __future__ import annotations

import math

import pytest
from oracles.formula_cases import decide, exact_value, holds
from oracles.mechanisms.profiles import gaussian_log_delta

from verify.papers.wang2018.thm_3i import STATEMENT

AT = {"epsilon": 2.0, "delta": 1e-5}


@pytest.mark.parametrize(
    ("version", "log", "factor"),
    [
        ("printed", math.log(2e5), 1.0),
        ("corrected", 2 * math.log(1.25e5), 1.0),
        ("any epsilon", 2 * math.log(1.25e5), 1.0),
        ("epsilon 2 % below the least possible", 2 * math.log(1.25e5), 0.98 * 0.8786169183736016),
    ],
)
def test_one_release(version: str, log: float, factor: float) -> None:
    """delta is a third of the budget's: log(6/(3 delta)) printed, 2 log(3.75/(3 delta)) corrected."""
    evidence = decide(STATEMENT, ".p", version, AT)
    assert evidence.claim.published == pytest.approx(factor * 2 / 3)
    assert evidence.exact is not None
    want = gaussian_log_delta(factor * 2 / 3, 2 / 3 / math.sqrt(log))
    assert math.log(evidence.exact.value) == pytest.approx(want, rel=1e-9)


def test_domain_of_the_classical_constant() -> None:
    """epsilon/3 at most 1."""
    for epsilon, inside in ((2.9, True), (3.1, False)):
        assert decide(STATEMENT, ".p", "corrected", AT | {"epsilon": epsilon}).claim.in_domain is inside


@pytest.mark.parametrize("part", ["@hat", "@raw"])
def test_three_releases(part: str) -> None:
    """Distance epsilon/sqrt(3 log(6/delta)); claimed up to epsilon = 15.5."""
    evidence = decide(STATEMENT, part, "corrected", AT)
    assert evidence.exact is not None
    want = gaussian_log_delta(2.0, 2 / math.sqrt(3 * math.log(6e5)))
    assert math.log(evidence.exact.value) == pytest.approx(want, rel=1e-9)
    for epsilon, inside in ((15.4, True), (15.6, False)):
        assert decide(STATEMENT, part, "corrected", AT | {"epsilon": epsilon}).claim.in_domain is inside
    assert decide(STATEMENT, part, "epsilon cut by 5 %", AT).claim.published == pytest.approx(1.9)


@pytest.mark.parametrize(("epsilon", "delta", "true"), [(2.0, 1e-5, True), (15.5, 0.3, True), (17.0, 0.5, False)])
def test_the_released_matrix_promises_every_epsilon(epsilon: float, delta: float, true: bool) -> None:
    assert decide(STATEMENT, "@hat", "printed", epsilon=epsilon, delta=delta).claim.in_domain
    assert holds(STATEMENT, "@hat", "printed", epsilon=epsilon, delta=delta) is true


def test_the_raw_matrix_is_given_away() -> None:
    """Mutually singular laws: the divergence is 1 at every epsilon."""
    at = {"dim": 2, "n": 3, "epsilon": 5.0, "delta": 0.5}
    assert decide(STATEMENT, "@raw", "printed", at).notes == {"recognised under D": 16, "recognised under D'": 0}
    assert exact_value(STATEMENT, "@raw", "printed", at) == 1.0


def test_the_step_of_the_proof_does_not_decide_the_theorem() -> None:
    parts = {part.id: part for part in STATEMENT.parts}
    assert parts["W18-TH3i.p"].proof
    assert parts["W18-TH3i@hat"].damaged
    assert parts["W18-TH3i@raw"].damaged
