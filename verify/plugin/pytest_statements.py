"""The published statements as tests: all cases of one statement, ruled on, and compared with the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from audits import StreamKey

from ..engine.rows import Row
from ..engine.worker import one_blas_thread
from ..kernel.ruling import rule_statement
from ..kernel.shares import case_budgets, whole
from ..papers import ledger, registry
from ..papers.ledger import compare
from ..papers.registry import DISPLAY
from ..runs.case_run import decide_case
from ..runs.statement_run import defects


def select(ids: Sequence[str]) -> list[str]:
    """Return the ids of the statements that decide ``ids`` (all when there are none), in catalogue order."""
    return [source.id for source in registry.default().select(ids)]


def decide(id_: str, *, seed: int, profile: str, share: float) -> tuple[list[Row], list[str]]:
    """Return the rows of a statement, cases then verdicts, and what is unexpected in them.

    ``share`` is the failure probability of the statement; with 1e-4/256 the rows are those of ``pdp-verify run``.
    """
    quick = profile == "quick"
    (source,) = registry.default().select([id_])
    statement = source.load()
    budgets = case_budgets(whole(share, StreamKey(seed).child(statement.id)), statement)
    chosen = [case for case in statement.cases if case.quick or not quick]
    with one_blas_thread():
        cases = [decide_case(statement, case, profile, budgets[case.name]) for case in chosen]
    rulings = rule_statement(statement, cases, quick=quick)
    expected = ledger.default()
    unexpected = defects(cases)
    for ruling in rulings:
        if DISPLAY not in ruling["id"]:
            unexpected += [
                f"{ruling['id']} {text}" for text in compare(ruling, expected.get(ruling["id"]), quick=quick)[0]
            ]
    return [*cases, *rulings], unexpected
