"""The published statements as tests: all cases of one statement, ruled on, and compared with the ledger."""

from __future__ import annotations

from collections.abc import Sequence

from . import ledger, registry
from .ledger import compare
from .registry import DISPLAY
from .rows import Row
from .ruling import rule_statement
from .run import defects, plan
from .shares import SLOTS
from .worker import Settings, perform


def select(ids: Sequence[str]) -> list[str]:
    """Return the ids of the statements that decide ``ids`` (all when there are none), in catalogue order."""
    return [source.id for source in registry.default().select(ids)]


def decide(id_: str, *, seed: int, profile: str, share: float) -> tuple[list[Row], list[str]]:
    """Return the rows of a statement, cases then verdicts, and what is unexpected in them.

    ``share`` is the failure probability of the statement; with 1e-4/256 the rows are those of ``pdp-verify run``.
    """
    quick = profile == "quick"
    (source,) = registry.default().select([id_])
    statement, tasks = plan(source, Settings(seed, profile, share * SLOTS))
    cases = [row for task in tasks if task.case is not None for row in perform(task)]
    rulings = rule_statement(statement, cases, quick=quick)
    expected = ledger.default()
    unexpected = defects(cases)
    for ruling in rulings:
        if DISPLAY not in ruling["id"]:
            unexpected += [
                f"{ruling['id']} {text}" for text in compare(ruling, expected.get(ruling["id"]), quick=quick)[0]
            ]
    return [*cases, *rulings], unexpected
