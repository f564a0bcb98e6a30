"""A run: every case of the chosen statements, spread over processes, kept as decided, ruled on, and recorded."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

from audits import StreamKey
from mechanisms import Dataset

from ..engine import record as records
from ..engine.executors import Executor
from ..engine.follow import Watcher
from ..engine.store import Store
from ..engine.task import Died, Done, Task, content_hash
from ..engine.versions import header, identity
from ..engine.work import Work, keyed
from ..engine.worker import RunSettings
from ..kernel.paper import Expected, citation, papers
from ..kernel.rows import Row, statement_row
from ..kernel.ruling import rule_statement
from ..kernel.shares import SLOTS, case_budgets, id_share, statement_budget, whole
from ..kernel.statement import Statement
from ..kernel.verdict import Outcome, Reason
from ..papers.ledger import Ledger, compare, verdict_word
from ..papers.registry import DISPLAY, Source, shown_path
from .case_run import CaseWork, died, perform


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
    worker_deaths: int

    @property
    def exit_code(self) -> int:
        """130 interrupted, 4 a defect of ours, 1 something unexpected, 0 otherwise."""
        if self.interrupted:
            return 130
        if self.errors:
            return 4
        return 1 if self.unexpected else 0


@dataclass
class _StatementRun:
    """One statement, its tasks in canonical order, and their rows while they arrive."""

    source: Source
    statement: Statement
    tasks: tuple[Task[CaseWork], ...]
    given: Mapping[str, Dataset]
    done: dict[str, list[Row]] = field(default_factory=dict)
    seconds: float = 0.0

    @property
    def complete(self) -> bool:
        return len(self.done) == len(self.tasks)

    def rows(self, kind: str) -> list[Row]:
        """Return the rows of a kind, in canonical order."""
        return [row for task in self.tasks for row in self.done.get(task.key, []) if row["kind"] == kind]

    def rulings(self, settings: RunSettings, ledger: Ledger) -> list[Row]:
        """Return what the rows that are there decide, each held against what the ledger expects."""
        quick = settings.profile == "quick"
        proofs = {part.display for part in self.statement.parts if part.proof and DISPLAY in part.id}
        rulings = rule_statement(self.statement, self.rows("case"), quick=quick)
        for ruling in rulings:
            expected = ledger.get(ruling["id"])
            ruling["consequence"], ruling["root"] = (expected.consequence, expected.root) if expected else ("", "")
            ruling["expected"] = expected.row() if expected else None
            unexpected: list[str] = []
            still_open: list[str] = []
            if ruling["id"] in proofs:  # it decides nothing and has no table: it must hold
                expected = Expected("SUPPORTED")
            if self.given:  # the ledger expects what is found without the data of others
                ruling["expected"], ruling["data"] = None, list(self.given)
                expected = Expected.found(ruling)
            if DISPLAY not in ruling["id"] or ruling["id"] in proofs:
                unexpected, still_open = compare(ruling, expected, quick=quick, complete=self.complete)
            if ruling["parent"] is None:
                unexpected += defects(self.rows("case"))
            ruling["unexpected"], ruling["still_open"] = unexpected, still_open
        return rulings


def plan(
    source: Source, settings: RunSettings, given: Mapping[str, Dataset] | None = None
) -> tuple[Statement, list[CaseWork]]:
    """Return a statement and what is to be done of it under a profile, in canonical order.

    ``given`` are the published data sets of a run, of which each piece of work takes those that its statement needs.
    """
    statement = source.load()
    own = needed(statement, given or {})
    quick = settings.profile == "quick"
    works = [CaseWork(source.module, case.name, settings, own) for case in statement.cases if case.quick or not quick]
    if statement.figures:
        works.append(CaseWork(source.module, None, settings))
    return statement, works


def needed(statement: Statement, given: Mapping[str, Dataset]) -> dict[str, Dataset]:
    """Return those of the given data sets that decide a statement."""
    return {name: given[name] for name in statement.needs if name in given}


def _begun(source: Source, settings: RunSettings, store: Store, given: Mapping[str, Dataset]) -> _StatementRun:
    """Return a statement with its tasks, and the rows that were kept of them; every task is its content."""
    statement, works = plan(source, settings, given)
    own = needed(statement, given)
    params: Mapping[str | None, Mapping[str, object]] = {case.name: case.params for case in statement.cases}
    tasks = tuple(
        Task(
            content_hash(
                {
                    "id": statement.id,
                    "work": vars(work) | {"settings": vars(settings), "given": digests(own)},
                    "params": dict(params.get(work.case, {})),
                    "identity": identity(),
                }
            ),
            work,
        )
        for work in works
    )
    kept = {task.key: store.finished(task.key) for task in tasks}
    done = {key: rows for key, rows in kept.items() if rows is not None}
    return _StatementRun(source, statement, tasks, own, done)


def _run_header(
    sources: Sequence[Source], settings: RunSettings, given: Mapping[str, Dataset], *, complete: bool
) -> Row:
    """Return the first line of a run's record."""
    own = {
        "complete": complete,
        "seed": settings.seed,
        "profile": settings.profile,
        "failure_prob": settings.failure_prob,
        "failure_prob_per_id": id_share(settings.failure_prob),
        "slots": SLOTS,
        "statements": [source.id for source in sources],
        "papers": {paper.name: paper.row() for paper in papers() if any(s.id in paper.entries for s in sources)},
    }
    data = _data_digests() | digests(given)
    return header(own, schema_version=records.SCHEMA_VERSIONS["record"]) | {"data": data}


def digests(given: Mapping[str, Dataset]) -> dict[str, str]:
    """Return the digest of every data set that a run was given, as prepared."""
    return {name: dataset.digest for name, dataset in given.items()}


def _data_digests() -> dict[str, str]:
    """Return the digest of every embedded data set, as prepared."""
    from mechanisms.data.embedded import SOURCES, load

    return {name: load(name).digest for name in SOURCES}


def execute(
    sources: Sequence[Source],
    settings: RunSettings,
    ledger: Ledger,
    *,
    executor: Executor,
    store: Store,
    watcher: Watcher,
    tell: Callable[[Row], None] = lambda _: None,
    given: Mapping[str, Dataset] | None = None,
) -> Findings:
    """Decide every case of ``sources`` and rule on them; Ctrl-C ends it early with what was done so far.

    ``tell`` is given every verdict as soon as its statement is complete; ``given`` are published data sets, by name.
    """
    given = dict(given or {})
    runs = [_begun(source, settings, store, given) for source in sources]
    total = whole(settings.failure_prob, StreamKey(settings.seed))
    for run in runs:  # it refuses to give out more than there is
        case_budgets(statement_budget(total, run.statement), run.statement)
    reused = sum(len(run.done) for run in runs)
    owners = {task.key: run for run in runs for task in run.tasks}
    tasks = keyed(task for run in runs for task in run.tasks)
    todo = [task for task in tasks.values() if task.key not in owners[task.key].done]
    verdicts: dict[str, list[Row]] = {}

    def settle(run: _StatementRun) -> None:
        if run.complete:
            verdicts[run.statement.id] = run.rulings(settings, ledger)
            for ruling in verdicts[run.statement.id]:
                tell(ruling)

    def take(part: Sequence[Done[CaseWork, list[Row]] | Died[CaseWork]]) -> None:
        for one in part:
            run, key = owners[one.task.key], one.task.key
            run.done[key] = died(one.task.content) if isinstance(one, Died) else one.result
            run.seconds += 0.0 if isinstance(one, Died) else one.seconds
            store.put(key, run.done[key])
            watcher.advance(one.task.content.case or f"{run.statement.id} figures")
            settle(run)

    watcher.begin(len(todo))
    for run in runs:
        settle(run)
    work = Work(perform, todo, executor, name=CaseWork.named)
    interrupted = work.through(take)
    rulings = [verdicts.get(run.statement.id) or run.rulings(settings, ledger) for run in runs]
    return _findings(runs, settings, given, rulings, interrupted, reused, work.worker_deaths)


def statement_line(verdict: Row) -> str:
    """Return the one line that tells what was decided about a statement."""
    printed = verdict_word(verdict["printed"])
    corrected = f"; corrected: {verdict_word(verdict['corrected'])}" if verdict["corrected"] else ""
    data = f"decided with {', '.join(verdict['data'])}" if verdict.get("data") else ""
    note = "UNEXPECTED" if verdict["unexpected"] else ("open at this budget" if verdict["still_open"] else data)
    return f"{verdict['id']:<14} as printed: {printed}{corrected}{'   ' + note if note else ''}"


def defects(rows: Sequence[Row]) -> list[str]:
    """Return what is wrong with our own work in a statement's rows."""
    wrong = (Reason.INCONSISTENT, Reason.ERROR)
    return [
        f"{Reason[row['reason']].value.partition(':')[0]}: {row['case']}"
        for row in rows
        if row["outcome"] == Outcome.UNDECIDED.name and Reason[row["reason"]] in wrong
    ]


def _findings(
    runs: Sequence[_StatementRun],
    settings: RunSettings,
    given: Mapping[str, Dataset],
    rulings: Sequence[list[Row]],
    interrupted: bool,
    reused: int,
    worker_deaths: int,
) -> Findings:
    record = records.Record(
        _run_header([run.source for run in runs], settings, given, complete=not interrupted),
        tuple(
            statement_row(run.statement, file=shown_path(run.source.path), reference=citation(run.statement.paper))
            for run in runs
        ),
        tuple(row for run in runs for row in run.rows("case")),
        tuple(row for run in runs for row in run.rows("figure")),
        tuple(row for rows in rulings for row in rows),
    )
    return Findings(
        record,
        {row["id"]: row["unexpected"] for row in record.verdicts if row["unexpected"]},
        {row["id"]: row["still_open"] for row in record.verdicts if row["still_open"]},
        [row for row in (*record.cases, *record.figures) if row["error"]],
        interrupted,
        reused,
        {run.statement.id: round(run.seconds, 3) for run in runs},
        worker_deaths,
    )
