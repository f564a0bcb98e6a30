"""The pytest plugin of pdp-verify: audits inside anybody's test suite, and the published statements as tests.

pytest imports this module in every run of the environment, so it imports pytest and the standard library alone; the
rooms are imported when the fixture, an option or a marker asks for them. What a test found travels as text on its
report, so that the workers of pytest-xdist hand it to the controller, which writes the record as a serial run does.
"""

from __future__ import annotations

import importlib.util
import json
import math
import mmap
import os
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest

ROOMS = ("verify", "mechanisms", "audits", "reports")
FIXTURE = "privacy_audit"
#: Name under which a test's rows, as JSON text, stand among the properties of its reports.
PROPERTY = "pdp_verify_rows"
#: Undecided claims that the summary names.
SHOWN = 20
DEFAULT_SEED = 20210527
DEFAULT_DRAWS = 20_000
#: Share of one test; 256 of them are the default total of ``pdp-verify run``, whose statements have one share each.
DEFAULT_FAILURE_PROB = 1e-4 / 256
COLLECTED = pytest.StashKey["Collected"]()
GUARD = pytest.StashKey["Guard"]()
#: Processes that run tests: a test run inside a test, as plugins test themselves, is guarded by the outer one.
_RUNNING: set[int] = set()


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add one group of options, all with one prefix."""
    group = parser.getgroup("privacy", "pdp-verify: audits of differential privacy")
    group.addoption("--privacy-seed", type=int, default=DEFAULT_SEED, metavar="N", help="root seed of all audits")
    group.addoption(
        "--privacy-draws", type=int, default=DEFAULT_DRAWS, metavar="N", help="draws of one look of an audit"
    )
    group.addoption(
        "--privacy-failure-prob",
        type=float,
        default=DEFAULT_FAILURE_PROB,
        metavar="P",
        help="failure probability of each test, whatever else runs [default: 1e-4/256]",
    )
    group.addoption("--privacy-record", metavar="FILE", help="write what was found as JSON lines")
    group.addoption("--privacy-report", metavar="FILE", help="write what was found as PDF")
    group.addoption(
        "--privacy-statements",
        nargs="?",
        const="",
        metavar="ID,...",
        help="collect the published statements as tests (with =ID,... these alone)",
    )
    group.addoption(
        "--privacy-profile",
        choices=("quick", "standard", "full"),
        default="quick",
        help="how much the published statements draw [default: quick]",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker, check what was asked for, and begin to collect rows (on the controller alone)."""
    config.addinivalue_line("markers", "statement(id): the published statement that this test is about")
    options = config.option
    for name, value, allowed, rule in (
        ("seed", options.privacy_seed, options.privacy_seed >= 0, "at least 0"),
        ("draws", options.privacy_draws, options.privacy_draws >= 1, "at least 1"),
        ("failure-prob", options.privacy_failure_prob, 0 < options.privacy_failure_prob < 1, "in (0, 1)"),
    ):
        if not allowed:
            raise pytest.UsageError(f"--privacy-{name} must be {rule}, got --privacy-{name}={value}")
    if options.privacy_record or options.privacy_report or options.privacy_statements is not None:
        _rooms_or_usage_error()
    if options.privacy_statements is not None:
        _chosen(options.privacy_statements)  # a mistake is told before anything is collected
    for name in ("record", "report"):
        path = getattr(options, f"privacy_{name}")
        if path and not (config.invocation_params.dir / path).parent.is_dir():
            raise pytest.UsageError(f"--privacy-{name} must be in a folder that exists, got --privacy-{name}={path}")
    if not hasattr(config, "workerinput"):
        config.stash[COLLECTED] = Collected(config)
        config.pluginmanager.register(config.stash[COLLECTED], "pdp-verify-collected")


def shadowed() -> str:
    """Return one line about a room that is not ours, or nothing when all four stand beside this module."""
    home = Path(__file__).resolve().parent
    for room in ROOMS:
        try:
            spec = importlib.util.find_spec(room)
        except ValueError:  # a module that was made by hand
            spec = None
        places = [spec.origin] if spec and spec.origin else list(spec.submodule_search_locations or []) if spec else []
        found = Path(places[0]).resolve() if places else None
        if found is None or home / room not in (found, found.parent):
            got = f"{found.parent if found and found.suffix == '.py' else found}"
            return (
                f"pdp-verify: the package {room} must be the one of pdp-verify, got {got}; a folder of that name in "
                "this project hides it: rename it, or keep it off sys.path (pytest --import-mode=importlib)"
            )
    return ""


def _rooms_or_usage_error() -> None:
    words = shadowed()
    if words:
        raise pytest.UsageError(words)


def statement_of(item: pytest.Item) -> str:
    """Return the id of the marker of a test, or nothing."""
    marker = item.get_closest_marker("statement")
    if marker is None:
        return ""
    if len(marker.args) != 1 or marker.kwargs or not isinstance(marker.args[0], str):
        pytest.fail("marker statement must have one id, as in @pytest.mark.statement('W19-T4.1')", pytrace=False)
    return str(marker.args[0])


@pytest.fixture
def privacy_audit(request: pytest.FixtureRequest) -> Iterator[Any]:
    """Return ``audit(release, epsilon=..., delta=...)``: fail the test where a pair of data sets refutes the claim.

    ``release`` and the options are those of ``audits.audit``, and so are the pairs, which are searched.
    ``expect="pass"`` asks for a proof, ``expect="fail"`` for a refutation (a negative control). The message of a
    failure is the summary of the audit.

    ``audit(mechanism, pair, claim)`` decides the claim between two data sets. ``claim`` is ``(epsilon, delta)``, a
    ``Guarantee`` or a ``PrivacyClaim`` of ``audits.black_box.claims``. With ``expect="fail"`` the test fails unless the
    claim is refuted. A reference mechanism is decided by its own law. Any other one is examined: its ``log_density`` is
    held against its draws, the black box always runs, and the claim can hold only with ``vouched_by={"who": ...,
    "proof": ...}``; ``expect="no violation"`` asks for no more than that nothing was found.

    The row of the audit is returned.
    """
    words = shadowed()
    if words:
        pytest.fail(words, pytrace=False)
    from verify.plugin.pytest_audit import AuditFailure, Auditor

    option = request.config.option
    if guard := request.config.stash.get(GUARD, None):
        guard.begin(request.node.nodeid)
    auditor = Auditor(
        test=request.node.nodeid,
        statement=statement_of(request.node),
        seed=option.privacy_seed,
        n_draws=option.privacy_draws,
        failure_prob=option.privacy_failure_prob,
    )
    try:
        auditor.check_statement()
    except AuditFailure as stop:
        pytest.fail(str(stop), pytrace=False)

    def audit(mechanism: Any, *pair_and_claim: Any, **options: Any) -> dict[str, Any]:
        try:
            return auditor(mechanism, *pair_and_claim, **options)
        except AuditFailure as stop:
            message = str(stop)
        pytest.fail(message, pytrace=False)

    yield audit
    if guard:
        guard.begin("")
    if auditor.rows:
        _attach(request.node, auditor.rows)


def _attach(item: pytest.Item, rows: list[dict[str, Any]]) -> None:
    item.user_properties.append((PROPERTY, json.dumps(rows)))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item, call: pytest.CallInfo[None]) -> Iterator[None]:
    """Leave an ERROR row when a test that audits stops for another reason than a verdict."""
    outcome: Any = yield
    report: pytest.TestReport = outcome.get_result()
    audits = FIXTURE in getattr(item, "fixturenames", ()) or isinstance(item, StatementItem)
    if not audits or not report.failed or call.excinfo is None:
        return
    stop = call.excinfo.value
    if isinstance(stop, (pytest.fail.Exception, AssertionError)) and call.when == "call":
        return
    row = _error_row(item.nodeid, statement_of(item), type(stop).__name__, str(stop))
    report.user_properties.append((f"{PROPERTY}_error", json.dumps(row)))


def _error_row(test: str, statement: str, kind: str, message: str) -> dict[str, Any]:
    error = {"type": kind, "message": " ".join(message.split())}
    return {"kind": "error", "test": test, "statement": statement, "error": error}


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(session: pytest.Session, config: pytest.Config, items: list[pytest.Item]) -> None:
    """Add the published statements that were asked for; ``-k`` and ``--lf`` then choose among them too."""
    if config.option.privacy_statements is not None:
        chosen = _chosen(config.option.privacy_statements)
        items.extend(StatementItem.from_parent(session, name=f"pdp-verify::{id_}", id_=id_) for id_ in chosen)


def _chosen(ids: str) -> list[str]:
    """Return the ids of the statements that an option asks for."""
    from verify.messages.errors import UserError
    from verify.plugin.pytest_audit import select

    try:
        return select([each for each in ids.split(",") if each])
    except UserError as stop:
        raise pytest.UsageError(f"--privacy-statements: {stop}") from None


class StatementItem(pytest.Item):
    """One published statement: all its cases, ruled on, and compared with the ledger."""

    def __init__(self, *, id_: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.statement_id = id_
        self.add_marker(pytest.mark.statement(id_))

    def runtest(self) -> None:
        """Decide the statement; unexpected verdicts fail the test."""
        from verify.plugin.pytest_audit import decide

        option = self.config.option
        rows, unexpected = decide(
            self.statement_id,
            seed=option.privacy_seed,
            profile=option.privacy_profile,
            share=option.privacy_failure_prob,
        )
        _attach(self, [{"test": self.nodeid, **row} for row in rows])
        if unexpected:
            pytest.fail("; ".join(unexpected), pytrace=False)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """Return one line for a verdict, the traceback for anything else."""
        if isinstance(excinfo.value, pytest.fail.Exception):
            return f"{self.statement_id}: {excinfo.value.msg}"
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Return where the statement stands in the summary."""
        return self.path, None, self.name


@pytest.hookimpl(tryfirst=True)
def pytest_runtestloop(session: pytest.Session) -> None:
    """Go on in a child process where tests audit: code under test that ends the process cannot make the run green."""
    config = session.config
    audits = any(FIXTURE in getattr(item, "fixturenames", ()) for item in session.items)
    spread = hasattr(config, "workerinput") or config.getoption("numprocesses", None)  # pytest-xdist sees a death
    unguarded = spread or config.option.collectonly or config.option.usepdb or os.getpid() in _RUNNING
    if audits and not unguarded and hasattr(os, "fork") and not shadowed():
        config.stash[GUARD] = Guard()
    _RUNNING.add(os.getpid())


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session) -> None:
    """Note the exit code, which the child says at its very end."""
    if guard := session.config.stash.get(GUARD, None):
        guard.code = int(session.exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """Say the exit code: the test run has come to its end."""
    if guard := config.stash.get(GUARD, None):
        guard.say(guard.code)


class Guard:
    """The test run is in a child process; its parent knows the test whose audit has begun, and the code it said."""

    def __init__(self) -> None:
        from verify.cli_child import become_child

        self.code = 2
        self._test = mmap.mmap(-1, 4096)
        self.say = become_child(self._what)

    def begin(self, test: str) -> None:
        """Note the test whose audits begin, or that they have ended (an empty name)."""
        self._test.seek(0)
        self._test.write(test.encode()[:4000].ljust(4096, b"\0"))

    def _what(self) -> str:
        os.write(2, b"\n")  # after the dots of the tests
        name = self._test[:].rstrip(b"\0").decode(errors="replace")
        return f"the audit in {name}" if name else "a test run with audits"


class Collected:
    """The rows of all tests, on the process that runs serially or controls the workers."""

    def __init__(self, config: pytest.Config) -> None:
        self.config = config
        self.rows: dict[str, list[dict[str, Any]]] = {}
        self.errors: dict[str, dict[str, Any]] = {}
        self.complete = True
        self._written: list[str] = []

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Take the rows from a report; that of a crashed worker has none, and becomes an ERROR row."""
        for name, value in report.user_properties:
            if name == PROPERTY:
                self.rows[report.nodeid] = json.loads(str(value))
            elif name == f"{PROPERTY}_error":
                self.errors[report.nodeid] = json.loads(str(value))
        if report.when not in ("setup", "call", "teardown"):
            message = "the worker process died during this test; whether it audits anything is not known"
            self.errors[report.nodeid] = _error_row(report.nodeid, "", "WorkerDied", message)

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        """Be told that something could not be collected: its audits are missing."""
        self.complete &= not report.failed

    def pytest_keyboard_interrupt(self) -> None:
        """Be told that the session was stopped."""
        self.complete = False

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        """Write the record and the report."""
        option = self.config.option
        if not (option.privacy_record or option.privacy_report):
            return
        if session.shouldstop or session.shouldfail:
            self.complete = False
        from verify.plugin.pytest_record import Session, write_record, write_report

        found = Session(
            tuple(self._ordered()),
            seed=option.privacy_seed,
            n_draws=option.privacy_draws,
            failure_prob=option.privacy_failure_prob,
            profile=option.privacy_profile,
            complete=self.complete and not self.errors,
        )
        folder = self.config.invocation_params.dir
        for name, write in (("record", write_record), ("report", write_report)):
            path = getattr(option, f"privacy_{name}")
            if path:
                write(found, folder / path)
                self._written.append(f"{name} {path}")

    def _ordered(self) -> Iterable[dict[str, Any]]:
        """Yield the rows in an order that does not depend on who ran them: by test, then as found."""
        for test in sorted({*self.rows, *self.errors}):
            yield from self.rows.get(test, ())
            if test in self.errors:
                yield self.errors[test]

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Print what was spent, and where it was written, if anything was audited."""
        if not self.rows and not self.errors:
            return
        audits = sum(len(rows) for rows in self.rows.values())
        share = self.config.option.privacy_failure_prob
        spent = (sum(row.get("failure_prob", 0.0) for row in rows) for rows in self.rows.values())
        total = math.fsum(max(share, each) for each in spent)
        terminalreporter.write_sep("-", "pdp-verify")
        chance = f"of true claims alone it is red by chance in at most 1 of {math.floor(1 / total + 1e-6):,} runs"
        terminalreporter.write_line(f"{audits} rows of {len(self.rows)} tests; {chance} ({total:.3g})")
        undecided = [row for rows in self.rows.values() for row in rows if row.get("outcome") == "UNDECIDED"]
        for row in undecided[:SHOWN]:
            found = row.get("notes", {})
            bound = f"; epsilon is at least {found['epsilon at least']:.3g}" if found.get("epsilon at least") else ""
            terminalreporter.write_line(f"{row.get('test', '')}: {found.get('verdict', 'UNDECIDED')}{bound}")
        if undecided:
            more = f"and {len(undecided) - SHOWN} more; " if len(undecided) > SHOWN else ""
            terminalreporter.write_line(f"{more}that no violation is found is no proof: expect='pass' asks for one")
        if self.errors:
            terminalreporter.write_line(f"INCOMPLETE: {len(self.errors)} tests stopped with an error")
        for line in self._written:
            terminalreporter.write_line(line)
