"""The run's failure probability is never spent twice, and a share never depends on what else runs."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

import pytest
from toys import load_toy
from toys.sweeps import light_grid

from audits import Budget, StreamKey
from audits.error_budget import Ledger, LedgerError, Part
from mechanisms import NeighbouringPair, PosteriorSampling, load
from verify.calibration import calibration_record as findings
from verify.calibration.calibration_run import all_mutants, all_series
from verify.engine.worker import RunSettings
from verify.kernel.paper import papers
from verify.kernel.shares import SLOTS, case_budgets, id_share, statement_budget, whole
from verify.papers import registry
from verify.plugin.pytest_audit import Auditor
from verify.runs.case_run import CaseWork, decide_case, perform
from verify.sweeps.cell import decide_cell
from verify.sweeps.grid import read_grid


def test_papers_have_no_more_than_all_slots() -> None:
    """What all ids of all papers may spend is at most the total; each committed id keeps one slot of 256."""
    assert sum(paper.slots for paper in papers()) <= SLOTS
    assert sum(paper.share for paper in papers() for entry in paper.entries.values() if not entry.parent) <= 1
    assert {paper.share for paper in papers() if paper.prefix in ("W19", "W18", "RW21")} == {Fraction(1, 256)}


@pytest.mark.parametrize("total", [1e-4, 1e-9, 0.5])
@pytest.mark.parametrize("toy", ["thm_1", "thm_2", "thm_3"])
def test_cases_of_an_id_spend_its_share_and_no_more(toy: str, total: float) -> None:
    statement = load_toy(toy)
    own = statement_budget(whole(total, StreamKey(1)), statement)
    budgets = case_budgets(own, statement)
    sampled = [case.name for case in statement.cases if any(case.draws)]
    assert own.failure_prob == id_share(total) == total / SLOTS
    assert own.ledger is not None
    assert own.ledger[own.place].parts == tuple(sampled)
    for case in statement.cases:
        budget = budgets[case.name]
        assert budget.key == StreamKey(1).child(statement.id, case.name)
        assert (budget.ledger is own.ledger) == any(case.draws)
        if any(case.draws):
            assert budget.failure_prob == float(Fraction(total) / SLOTS / len(sampled))


TOTAL = 1e-4


@pytest.fixture
def trees(monkeypatch: pytest.MonkeyPatch) -> list[Ledger]:
    """Return the tree of every whole from now on; a budget without one gets one, so that nothing is spent twice."""
    found: list[Ledger] = []
    make, check = Ledger.__init__, Budget.__post_init__

    def listed(ledger: Ledger, *args: object, **named: object) -> None:
        make(ledger, *args, **named)  # type: ignore[arg-type]
        found.append(ledger)

    def kept(budget: Budget) -> None:
        if budget.ledger is None:
            object.__setattr__(budget, "ledger", Ledger(budget.failure_prob, budget.place))
        check(budget)

    monkeypatch.setattr(Ledger, "__init__", listed)
    monkeypatch.setattr(Budget, "__post_init__", kept)
    return found


def total(parts: Sequence[Part]) -> float:
    return math.fsum(part.alpha for part in parts)


def spent(tree: Ledger) -> list[Part]:
    """Return what was spent of a tree; all its leaves add up to the whole at most."""
    assert total(tree.leaves()) <= tree.tree()[0].alpha * (1 + 1e-12)
    return [leaf for leaf in tree.leaves() if leaf.decided]


def test_all_looks_of_a_run_add_up_to_its_total() -> None:
    toys = [load_toy(name) for name in ("thm_1", "thm_2", "thm_3")]
    real = [source.load() for source in registry.default().select(("W18-L6", "W18-A2"))]
    run = whole(TOTAL, StreamKey(3))
    assert run.ledger is not None
    shares = 0.0
    for statement in (*toys, *real):
        budgets = case_budgets(statement_budget(run, statement), statement)
        for case in [case for case in statement.cases if case.quick and any(case.draws)]:
            row = decide_case(statement, case, "quick", budgets[case.name])
            assert (row["error"] is None) == (statement.id != "W18-L4")
            shares += row["failure_prob"]
            looks = [part for part in run.ledger.tree() if part.place[:-1] == (statement.id, case.name)]
            assert [part.place[-1] for part in looks] == ["decide", "confirm"]
            assert total(looks) == row["failure_prob"]
            if statement in toys:  # a worker process has a ledger of its own
                module = f"toys.{('thm_1', 'thm_2', 'thm_3')[toys.index(statement)]}"
                assert perform(CaseWork(module, case.name, RunSettings(3, "quick", TOTAL))) == [row]
    assert 0 < shares <= total(run.ledger.leaves()) <= TOTAL
    assert {leaf.place[0] for leaf in spent(run.ledger)} == {statement.id for statement in real}
    with pytest.raises(LedgerError, match=r"must add up to at most 0\.0001"):
        run.part("all the rest", share=0.99)


def test_the_cells_of_a_sweep_add_up_to_what_it_says(tmp_path: Path, trees: list[Ledger]) -> None:
    path = light_grid(tmp_path, "[budget]\nn_draws = 100\n")
    text = path.read_text(encoding="utf-8").replace("0.5, 1, 2, 4", "4")
    path.write_text(text.replace('"squared"', '"squared", "logistic"'), encoding="utf-8")
    grid = read_grid(path)
    shared = grid.shared({})
    rows = [decide_cell(cell, shared) for cell in grid.cells()]
    assert not any(row["error"] for row in rows)
    wholes = [tree.tree()[0].alpha for tree in trees if spent(tree)]
    assert 0 < math.fsum(wholes) <= grid.spends()
    assert set(wholes) == {grid.failure_prob}
    assert math.fsum(row["failure_prob"] for row in rows) == pytest.approx(grid.spends(), rel=1e-12)


def test_the_audits_of_a_test_never_spend_more_than_it_has() -> None:
    audit = Auditor("a test", "", seed=1, n_draws=500, failure_prob=TOTAL)
    pair = NeighbouringPair.remove(load("fair"), 0)
    rows = [audit(PosteriorSampling(1.0, 1.0), pair, (1.0, 1e-3), expect="no violation") for _ in range(4)]
    assert [row["failure_prob"] for row in rows] == [TOTAL / (k * (k + 1)) for k in range(1, 5)]
    assert audit.budget.ledger is not None
    assert total(audit.budget.ledger.leaves()) == pytest.approx(TOTAL * 4 / 5, rel=1e-12)
    assert [leaf.place[0] for leaf in spent(audit.budget.ledger)] == ["1", "1", "2", "2", "3", "3", "4", "4"]


def test_what_is_calibrated_spends_its_level_once(trees: list[Ledger]) -> None:
    """One light series of each auditor: a part that is given out twice, or spent twice, raises."""
    light = [each for each in all_series().values() if each.seconds < 0.05 and each.levels != (0.0,)]
    for series in {each.auditor: each for each in light}.values():
        series.misses(1, series.levels[-1], StreamKey(1))
    assert sum(bool(spent(tree)) for tree in trees) > 20
    for mutant in all_mutants().values():
        if mutant.name.startswith("Gaussian noise divided by 1 + s: ") and mutant.n_draws and mutant.seconds < 0.2:
            budget = whole(TOTAL, StreamKey(1), 4_000)
            mutant.refute(0.0, budget)  # where no early refutation ends it
            assert budget.ledger is not None
            assert spent(budget.ledger)


def test_the_rates_of_a_calibration_add_up(trees: list[Ledger]) -> None:
    some = dict(list(all_series().items())[::8])
    counts = {
        (series.name, str(level), "nan"): Counter(repeats=40) for series in some.values() for level in series.levels
    }
    assert len(list(findings._rate_rows(counts, some))) == len(counts)
    (tree,) = trees
    assert total(spent(tree)) == pytest.approx(findings.FAILURE_PROB, rel=1e-12)
