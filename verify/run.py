"""A run: every case of the chosen statements, spread over processes, kept as decided, ruled on, and recorded."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from . import record as records
from .ledger import Ledger, compare
from .pool import spread
from .references import citation
from .registry import DISPLAY, Source, shown_path
from .rows import Row, statement_row
from .ruling import rule_statement
from .shares import SLOTS, id_share
from .statement import Case, Statement
from .store import Store, content_key
from .verdict import Outcome, Reason
from .versions import library_versions, platform_tag, source_digest
from .worker import Settings, Task, timed


class Watcher(Protocol):
    """Whoever follows a run: told how much there is to do, of every task done, and of every statement decided."""

    def begin(self, n_tasks: int) -> None:
        """Be told the number of tasks."""
        ...

    def advance(self, name: str) -> None:
        """Be told that one task is done."""
        ...

    def decided(self, verdict: Row) -> None:
        """Be told a statement's verdict row (and those of its parts)."""
        ...


@dataclass(frozen=True)
class Findings:
    """What a run found: its record, what is unexpected in it, what stayed open, and where our own code failed."""

    record: records.Record
    unexpected: dict[str, list[str]]
    still_open: dict[str, list[str]]
    errors: list[Row]
    interrupted: bool
    reused: int
    seconds: dict[str, float]

    @property
    def exit_code(self) -> int:
        """130 interrupted, 4 a defect of ours, 1 something unexpected, 0 otherwise."""
        if self.interrupted:
            return 130
        if self.errors:
            return 4
        return 1 if self.unexpected else 0


@dataclass
class _Progress:
    """The rows of one statement while they arrive."""

    statement: Statement
    tasks: list[Task]
    done: dict[Task, list[Row]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.tasks)

    def rows(self, kind: str) -> list[Row]:
        """Return the rows of a kind, in canonical order."""
        return [row for task in self.tasks for row in self.done.get(task, []) if row["kind"] == kind]


def plan(source: Source, settings: Settings) -> tuple[Statement, list[Task]]:
    """Return a statement and its tasks under a profile, in canonical order."""
    statement = source.load()
    quick = settings.profile == "quick"
    tasks = [Task(source.module, case.name, settings) for case in statement.cases if case.quick or not quick]
    if statement.figures:
        tasks.append(Task(source.module, None, settings))
    return statement, tasks


def header(sources: Sequence[Source], settings: Settings, *, complete: bool) -> Row:
    """Return the first line of a record: everything that its rows depend on; no clock, no path, no host."""
    return {
        "kind": "header",
        "schema_version": records.SCHEMA_VERSION,
        "complete": complete,
        "seed": settings.seed,
        "profile": settings.profile,
        "failure_prob": settings.failure_prob,
        "failure_prob_per_id": id_share(settings.failure_prob),
        "slots": SLOTS,
        "statements": [source.id for source in sources],
        "versions": library_versions(),
        "platform": platform_tag(),
        "sources": source_digest(),
        "data": data_digests(),
    }


def data_digests() -> dict[str, str]:
    """Return the digest of every embedded data set, as prepared."""
    from mechanisms.embedded import SOURCES, load

    return {name: load(name).digest for name in SOURCES}


def execute(
    sources: Sequence[Source],
    settings: Settings,
    ledger: Ledger,
    *,
    jobs: int,
    store: Store,
    watcher: Watcher,
) -> Findings:
    """Decide every case of ``sources`` and rule on them; Ctrl-C ends it early with what was done so far."""
    progress: dict[str, _Progress] = {}
    keys: dict[Task, str] = {}
    reused = 0
    verdicts: dict[str, list[Row]] = {}
    context = {"sources": source_digest(), "platform": platform_tag(), "versions": library_versions()}
    for source in sources:
        statement, tasks = plan(source, settings)
        mine = progress[source.module] = _Progress(statement, tasks)
        cases: dict[str, Case] = {case.name: case for case in statement.cases}
        for task in tasks:
            keys[task] = content_key(task, statement.id, cases[task.case].params if task.case else {}, context)
            rows = store.get(keys[task])
            if rows is not None:
                mine.done[task] = rows
                reused += 1
    todo = [task for mine in progress.values() for task in mine.tasks if task not in mine.done]
    watcher.begin(len(todo))

    def settle(mine: _Progress, *, complete: bool) -> None:
        rulings = rule_statement(mine.statement, mine.rows("case"), quick=settings.profile == "quick")
        verdicts[mine.statement.id] = rulings
        for ruling in rulings:
            expected = ledger.get(ruling["id"])
            ruling["expected"] = expected.row() if expected else None
            unexpected: list[str] = []
            still_open: list[str] = []
            if DISPLAY not in ruling["id"]:
                unexpected, still_open = compare(ruling, expected, quick=settings.profile == "quick", complete=complete)
            if ruling["parent"] is None:
                unexpected += defects(mine.rows("case"))
            ruling["unexpected"], ruling["still_open"] = unexpected, still_open
            if complete:
                watcher.decided(ruling)

    for mine in progress.values():
        if mine.complete:
            settle(mine, complete=True)
    interrupted = False
    try:
        with closing(spread(timed, todo, jobs)) as results:
            for task, (rows, seconds) in results:
                store.put(keys[task], rows)
                mine = progress[task.module]
                mine.done[task] = rows
                mine.seconds += seconds
                watcher.advance(task.case or f"{mine.statement.id} figures")
                if mine.complete:
                    settle(mine, complete=True)
    except KeyboardInterrupt:
        interrupted = True
        for mine in progress.values():
            if not mine.complete:
                settle(mine, complete=False)
    return _findings(sources, settings, list(progress.values()), verdicts, interrupted, reused)


def defects(rows: Sequence[Row]) -> list[str]:
    """Return what is wrong with our own work in a statement's rows."""
    wrong = (Reason.INCONSISTENT, Reason.ERROR)
    return [
        f"{Reason[row['reason']].value.partition(':')[0]}: {row['case']}"
        for row in rows
        if row["outcome"] == Outcome.UNDECIDED.name and Reason[row["reason"]] in wrong
    ]


def _findings(
    sources: Sequence[Source],
    settings: Settings,
    progress: Sequence[_Progress],
    verdicts: dict[str, list[Row]],
    interrupted: bool,
    reused: int,
) -> Findings:
    record = records.Record(
        header(sources, settings, complete=not interrupted),
        tuple(
            statement_row(mine.statement, file=shown_path(source.path), reference=citation(mine.statement.paper))
            for source, mine in zip(sources, progress, strict=True)
        ),
        tuple(row for mine in progress for row in mine.rows("case")),
        tuple(row for mine in progress for row in mine.rows("figure")),
        tuple(row for mine in progress for row in verdicts[mine.statement.id]),
    )
    return Findings(
        record,
        {row["id"]: row["unexpected"] for row in record.verdicts if row["unexpected"]},
        {row["id"]: row["still_open"] for row in record.verdicts if row["still_open"]},
        [row for row in (*record.cases, *record.figures) if row["error"]],
        interrupted,
        reused,
        {mine.statement.id: round(mine.seconds, 3) for mine in progress},
    )


def fresh_folder(parent: Path = Path("pdp-verify-out")) -> Path:
    """Create and return the next numbered folder under ``parent``."""
    parent.mkdir(parents=True, exist_ok=True)
    number = max((int(path.name) for path in parent.iterdir() if path.name.isdigit()), default=0) + 1
    while True:
        folder = parent / str(number)
        try:
            folder.mkdir()
            return folder
        except FileExistsError:
            number += 1
