"""RW21's figures on data: all records' bounds against the literal report, what decides a claim, and all claims run."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

import numpy as np
import pytest

from audits import Budget, StreamKey
from audits.stats.coverage import proportion
from mechanisms import Dataset, LogisticLoss, NeighbouringPair, ObjectivePerturbation, SquaredLoss
from mechanisms.objective.losses import GlmLoss
from mechanisms.releases.report_terms import corrected_terms, draw_releases, printed_terms
from verify.kernel.statement import Statement
from verify.kernel.verdict import Outcome, Reason, judge
from verify.papers.redberg_wang2021 import fig_3, fig_6, fig_7, fig_8, fig_9, fig_10
from verify.papers.redberg_wang2021.shared.credit_and_uci import (
    ReportRun,
    RunCount,
    Shares,
    VariantCount,
    closer_for_small,
    comparable,
    decided,
    one_run,
    prepared,
    runs,
    scales,
    seen_again,
)

FIGURES = (fig_3, fig_6, fig_7, fig_8, fig_9, fig_10)


def data(n: int = 40, dim: int = 3, seed: int = 1) -> Dataset:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, dim)) * (1.0, 10.0, 0.1)[:dim]
    return Dataset(X, np.where(X[:, 0] + rng.standard_normal(n) > 0, 1.0, 0.0), math.inf, math.inf)


@pytest.mark.parametrize("loss", [LogisticLoss(), SquaredLoss()])
def test_bounds_of_all_records_are_those_of_the_literal_report(loss: GlmLoss) -> None:
    chosen = scales(loss, 3, Shares(0.5, 0.4, 0.1), required=True)
    chosen.require(3)
    for _, prepared_data in prepared(data(12), loss):
        mechanism = ObjectivePerturbation(loss, chosen.sigma, chosen.lam)
        releases = draw_releases(mechanism, prepared_data, chosen, 1, rng=np.random.default_rng(2))
        found = one_run(mechanism, prepared_data, chosen, releases)
        free = replace(chosen, sigma2=None, sigma3=None)
        for i, (x, y) in enumerate(zip(prepared_data.X, prepared_data.y, strict=True)):
            printed, corrected = (form(chosen, releases, x, y) for form in (printed_terms, corrected_terms))
            independent = corrected_terms(free, replace(releases, gradient=None, hessian=None), x, y)
            assert found.dependent["printed"][i] == pytest.approx(printed.epsilon1_bar[0], rel=1e-12)
            assert found.dependent["corrected"][i] == pytest.approx(corrected.epsilon1_bar[0], rel=1e-12)
            assert found.independent[i] == pytest.approx(independent.epsilon1_bar[0], rel=1e-12)
            loss_of = mechanism.privacy_loss(releases.theta, NeighbouringPair.remove(prepared_data, i))
            assert found.loss[i] == pytest.approx(abs(loss_of[0]), rel=1e-9, abs=1e-12)


def test_preparations_are_public_domains_of_bound_1() -> None:
    for loss in (LogisticLoss(), SquaredLoss()):
        for _, each in prepared(data(), loss):
            assert np.linalg.norm(each.X, axis=1).max() == pytest.approx(1.0)
            assert np.abs(each.y).max() == pytest.approx(1.0)
    constant = Dataset(np.ones((4, 2)), np.array([0.0, 1.0, 0.0, 1.0]), math.inf, math.inf)
    assert all(np.isfinite(each.X).all() for _, each in prepared(constant, LogisticLoss()))


def variant(words: str, count: RunCount, n_runs: int = 40) -> VariantCount:
    return VariantCount(words, count, count.probability(n_runs, 1e-4))


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        ((40, 39), (Outcome.HOLDS, Reason.NONE)),
        ((0, 1), (Outcome.FAILS, Reason.NONE)),
        ((0, 22), (Outcome.UNDECIDED, Reason.READING)),
        ((40, 24), (Outcome.UNDECIDED, Reason.BUDGET)),
        ((15, 26), (Outcome.UNDECIDED, Reason.BUDGET)),
    ],
)
def test_a_claim_is_decided_where_all_preparations_agree(
    counts: tuple[int, int], outcome: tuple[Outcome, Reason]
) -> None:
    counted = [variant(f"preparation {i}", RunCount(count)) for i, count in enumerate(counts)]
    evidence = decided(fig_9.STATEMENT.cases[0], "a claim", counted, {})
    assert judge(evidence) == outcome
    assert {name: evidence.notes[name] for name in evidence.notes} == {
        f"seen with preparation {i}": count for i, count in enumerate(counts)
    }


@pytest.mark.parametrize(
    ("counts", "outcome"),
    [
        (((0, 40), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((40, 0), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((0, 0), (0, 40)), (Outcome.UNDECIDED, Reason.READING)),
        (((40, 0), (0, 0)), (Outcome.UNDECIDED, Reason.READING)),  # the preparations differ, all speak
        (((30, 10), (40, 0)), (Outcome.UNDECIDED, Reason.BUDGET)),
        (((39, 1), (40, 0)), (Outcome.HOLDS, Reason.NONE)),
        (((0, 2), (1, 0)), (Outcome.FAILS, Reason.NONE)),
    ],
)
def test_a_run_that_says_nothing_refutes_nothing_and_supports_nothing(
    counts: tuple[tuple[int, int], ...], outcome: tuple[Outcome, Reason]
) -> None:
    """It counts as seen for the upper end of the interval, and as not seen for the lower one."""
    for seen, silent in counts:
        interval = RunCount(seen, silent).probability(40, 1e-4)
        assert interval.low == proportion(seen, 40, 1e-4).low
        assert interval.high == proportion(seen + silent, 40, 1e-4).high
    counted = [variant(f"preparation {i}", RunCount(*count)) for i, count in enumerate(counts)]
    evidence = decided(fig_9.STATEMENT.cases[0], "a claim", counted, {})
    assert judge(evidence) == outcome
    assert [evidence.notes.get(f"silent with preparation {i}", 0) for i in (0, 1)] == [count[1] for count in counts]


def test_records_with_a_small_loss_are_compared_where_both_runs_have_some() -> None:
    def run(loss: list[float], independent: list[float], dependent: list[float]) -> ReportRun:
        return ReportRun(np.array(loss), np.array(independent), {"printed": np.array(dependent)}, np.zeros(len(loss)))

    tight = run([0.05, 0.1, 1.0], [0.2, 0.2, 1.0], [0.1, 0.1, 9.0])
    loose = run([0.05, 0.1, 1.0], [0.1, 0.1, 9.0], [0.2, 0.2, 1.0])
    silent = run([0.11, 1.0], [0.2, 1.0], [0.1, 1.0])
    said = [closer_for_small(a, b, "printed", largest=0.1) for a in (tight, silent) for b in (tight, loose, silent)]
    assert said == [True, False, None, None, None, None]
    assert RunCount.of(said) == RunCount(1, 4)


@pytest.mark.parametrize("statement", [fig_7.STATEMENT, fig_8.STATEMENT], ids=lambda each: each.id)
def test_no_small_loss_at_all_decides_nothing(statement: Statement) -> None:
    case = replace(statement.cases[0], given={name: data(seed=i) for i, name in enumerate(statement.needs)})
    never = partial(closer_for_small, largest=-1.0)
    evidence = seen_again(case, Budget(12, 1e-2, StreamKey(1)), "a claim", never)
    assert judge(evidence) == (Outcome.UNDECIDED, Reason.READING)
    assert "12 of 12 runs" in evidence.reason


def test_ratios_where_the_loss_underflows_and_what_is_comparable() -> None:
    zero = np.zeros(1)
    run = ReportRun(np.array([0.0, 0.0, 2.0]), np.ones(3), {"printed": np.ones(3)}, np.zeros(3))
    assert run.ratio(np.array([0.0, 1.0, 1.0])).tolist() == [1.0, math.inf, 0.5]
    reports = [
        ReportRun(zero, np.ones(1), {"printed": np.full(1, size)}, np.full(1, 0.2)) for size in (0.31, 0.29, 1.79, 1.81)
    ]
    assert [comparable(reports[0], each, "printed") for each in reports] == [True, False, True, False]


@pytest.mark.parametrize("statement", [each.STATEMENT for each in FIGURES], ids=lambda each: each.id)
def test_every_claim_is_decided_on_given_data(statement: Statement) -> None:
    """No check stops; what it finds has a witness or the reading that decides."""
    given: Mapping[str, Dataset] = {name: data(seed=i) for i, name in enumerate(statement.needs)}
    for case in statement.cases:
        evidence = statement.check(replace(case, given=given), Budget(12, 1e-2, StreamKey(1)))
        assert evidence.sampled or evidence.reason.startswith("reading: ")
        assert any(name.startswith("seen with ") for name in evidence.notes)


def test_runs_are_those_of_their_own_noise() -> None:
    loss = LogisticLoss()
    (_, each), *_ = prepared(data(), loss)
    chosen = scales(loss, 3, Shares(1.0, 1.0, 1.0), required=True)
    first, again = (runs(each, chosen, 3, np.random.default_rng(1)) for _ in range(2))
    assert [run.loss.tolist() for run in first] == [run.loss.tolist() for run in again]
    assert len({run.loss[0] for run in first}) == 3
