"""The pytest plugin, as its users meet it: pytest in a process of its own, on generated files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.external.fake_server import FakeServer

import verify
from audits import ServiceMechanism
from audits.external import open_door
from mechanisms import Dataset, NeighbouringPair
from reports.row import Badge, Table, Tone
from verify.plugin.pytest_audit import AuditFailure, Auditor
from verify.plugin.pytest_record import Session, document

HOME = Path(verify.__file__).resolve().parent.parent
SUITE = '''
import os

import numpy as np
import pytest
from mechanisms import Dataset, Guarantee, NeighbouringPair, PosteriorSampling, Relation

DATA = Dataset(np.array([[0.6], [-0.8], [0.3]]), np.array([1.0, -1.0, 0.2]), 1.0, 1.0, public=True)
PAIR = NeighbouringPair.remove(DATA, 0)


class Sum:
    """The sum of the features plus normal noise; outputs alone can be seen."""

    def __init__(self, sigma, name="sum"):
        self.sigma, self.name = sigma, name

    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.sum() + self.sigma * rng.standard_normal((n_draws, 1))


class SumWithLoss(Sum):
    def log_density(self, outputs, dataset):
        return -0.5 * ((outputs[:, 0] - dataset.X.sum()) / self.sigma) ** 2

    def privacy_loss(self, outputs, pair):
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)


@pytest.mark.statement("W19-T4.1")
@pytest.mark.parametrize("gamma", [0.1, 0.5, 1.0])
def test_sweep(privacy_audit, gamma):
    row = privacy_audit(PosteriorSampling(gamma, 1.0), PAIR, Guarantee(3.0, 1e-2, Relation.ADD, "pDP", "mine"))
    assert row["outcome"] == "HOLDS"


def test_loss(privacy_audit):
    privacy_audit(SumWithLoss(2.0), PAIR, (1.0, 0.05), vouched_by={"who": "its author", "proof": "10.1000/182"})
    privacy_audit(SumWithLoss(0.2), PAIR, (1.0, 0.05), expect="fail")


def test_outputs_alone(privacy_audit):
    privacy_audit(Sum(2.0), PAIR, (1.0, 0.05), expect="no violation")
    privacy_audit(Sum(0.1), PAIR, (1.0, 0.05), expect="fail")


def test_nothing_of_ours():
    pass
'''
FAILING = """
from test_suite import PAIR, Sum, SumWithLoss
from mechanisms import NeighbouringPair, PosteriorSampling


def test_false_claim(privacy_audit):
    privacy_audit(SumWithLoss(0.2), PAIR, (1.0, 0.05))


def test_nobody_vouches(privacy_audit):
    privacy_audit(SumWithLoss(2.0), PAIR, (1.0, 0.05))


def test_undecidable(privacy_audit):
    privacy_audit(Sum(2.0), PAIR, (1.0, 0.05))


def test_raises(privacy_audit):
    privacy_audit(PosteriorSampling(0.5, 1.0), PAIR, (3.0, 1e-2))
    raise RuntimeError("boom")


def test_claim_that_is_none(privacy_audit):
    privacy_audit(Sum(2.0), PAIR, "1.0")


def test_check_that_stops(privacy_audit):
    mechanism = Sum(2.0)
    mechanism.draw = None
    privacy_audit(mechanism, PAIR, (1.0, 0.05))
"""


@pytest.fixture
def suite(tmp_path: Path) -> Path:
    (tmp_path / "test_suite.py").write_text(SUITE)
    return tmp_path


def run(folder: Path, *arguments: str, environment: dict[str, str] | None = None) -> subprocess.CompletedProcess[str]:
    command = [
        str(Path(sys.executable).parent / "pytest"),
        "-q",
        "-p",
        "no:cacheprovider",
        "--privacy-draws=20000",
        *arguments,
    ]
    variables = {key: value for key, value in os.environ.items() if not key.startswith("PYTEST_")}
    return subprocess.run(
        command, cwd=folder, env=variables | (environment or {}), capture_output=True, text=True, check=False
    )


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


#: A mechanism that ends the process that it runs in, in one of the ways of libraries.
ENDS = """
import ctypes, os, signal, sys
import pytest
from mechanisms import Dataset, NeighbouringPair

PAIR = NeighbouringPair.remove(Dataset([[0.5]], [1.0], 1.0, 1.0), 0)

class Ends:
    name = "ends"
    def draw(self, dataset, n_draws, *, rng):
        {how}

def test_before():
    pass

def test_ends(privacy_audit):
    privacy_audit(Ends(), PAIR, (1.0, 0.0))
"""


@pytest.mark.parametrize(
    ("how", "end"),
    [
        ("os._exit(0)", "exit 0"),
        pytest.param("os._exit(1)", "exit 1", marks=pytest.mark.slow),
        pytest.param("ctypes.CDLL(None).exit(0)", "exit 0", marks=pytest.mark.slow),
        pytest.param("os.abort()", "SIGABRT", marks=pytest.mark.slow),
        pytest.param("os.kill(os.getpid(), signal.SIGKILL)", "SIGKILL", marks=pytest.mark.slow),
    ],
)
def test_code_that_ends_the_test_run_cannot_make_it_green(how: str, end: str, tmp_path: Path) -> None:
    (tmp_path / "test_ends.py").write_text(ENDS.replace("{how}", how))
    done = run(tmp_path)
    assert done.returncode == 2
    last = done.stderr.splitlines()[-1]
    assert last.startswith(f"error: the audit in test_ends.py::test_ends must come to its own end, got {end} in the")


@pytest.mark.slow
def test_a_test_run_inside_a_test_is_not_guarded_again(tmp_path: Path) -> None:
    """As plugins test themselves: the inner run returns to the outer test."""
    text = ENDS.replace("{how}", "return rng.laplace(size=(n_draws, 1))")
    (tmp_path / "test_inner.py").write_text(text)
    outer = "def test_outer():\n    import pytest\n    assert pytest.main(['-q', 'test_inner.py']) == 1\n"
    (tmp_path / "test_outer.py").write_text(outer)
    done = run(tmp_path, "test_outer.py")
    assert done.returncode == 0, done.stdout
    assert "1 passed" in done.stdout


@pytest.mark.slow
def test_record_is_the_same_with_three_workers_and_in_any_selection(suite: Path) -> None:
    """Serial and ``-n 3`` write the same bytes and one PDF; ``-k`` leaves every row as it is."""
    serial = run(suite, "--privacy-record=serial.jsonl")
    assert serial.returncode == 0, serial.stdout + serial.stderr
    chance = "of true claims alone it is red by chance in at most 1 of 512,000 runs (1.95e-06)"
    assert f"7 rows of 5 tests; {chance}" in serial.stdout
    spread = run(suite, "-n", "3", "--privacy-record=spread.jsonl", "--privacy-report=audit.pdf")
    assert spread.returncode == 0, spread.stdout + spread.stderr
    assert (suite / "spread.jsonl").read_bytes() == (suite / "serial.jsonl").read_bytes()
    assert [path.name for path in suite.glob("*.pdf")] == ["audit.pdf"]
    assert (suite / "audit.pdf").read_bytes().startswith(b"%PDF")
    header, *rows = lines(suite / "serial.jsonl")
    assert (header["complete"], header["tests"], len(rows)) == (True, 5, 7)
    assert [row["statement"] for row in rows].count("W19-T4.1") == 3
    assert {row["number"] for row in rows if "test_loss" in row["test"]} == {1, 2}
    for test in {row["test"] for row in rows}:
        assert sum(row["failure_prob"] for row in rows if row["test"] == test) <= header["failure_prob_per_test"]
    assert run(suite, "-k", "loss", "--privacy-record=some.jsonl").returncode == 0
    assert lines(suite / "some.jsonl")[1:] == [row for row in rows if "test_loss" in row["test"]]
    assert run(suite, "-k", "loss", "--privacy-seed=1", "--privacy-record=other.jsonl").returncode == 0
    assert lines(suite / "other.jsonl")[1]["sampled"] != lines(suite / "some.jsonl")[1]["sampled"]


@pytest.mark.slow
def test_failures_are_one_line_and_what_stopped_leaves_an_error_row(suite: Path) -> None:
    (suite / "test_failing.py").write_text(FAILING)
    done = run(suite, "test_failing.py", "--privacy-record=r.jsonl", "--privacy-report=r.pdf")
    assert done.returncode == 1
    out = " ".join(done.stdout.split())
    assert "expected 'pass' of (1, 0.05) for sum, got fails:" in out
    assert "name whoever vouches for it: vouched_by={'who': ..., 'proof': ...}" in out
    assert "expect='no violation' is all that outputs alone can give" in out
    assert "claim must be (epsilon, delta) or a Guarantee, got claim='1.0'" in out
    assert "INCOMPLETE: 1 tests stopped with an error" in out
    header, *rows = lines(suite / "r.jsonl")
    assert header["complete"] is False
    errors = [row for row in rows if row["error"]]
    assert [(row["test"].rpartition("::")[2], row["error"]["type"]) for row in errors] == [
        ("test_raises", "RuntimeError")
    ]
    assert "test_check_that_stops - Failed: mechanism must be an" in out
    from pypdf import PdfReader

    assert "Incomplete" in PdfReader(suite / "r.pdf").pages[0].extract_text()


@pytest.mark.slow
def test_crashed_worker_leaves_an_error_row(suite: Path) -> None:
    with (suite / "test_suite.py").open("a") as file:
        file.write("\n\ndef test_dies(privacy_audit):\n    os._exit(3)\n")
    done = run(suite, "-n", "2", "--privacy-record=r.jsonl", "--privacy-report=r.pdf")
    assert done.returncode == 1
    header, *rows = lines(suite / "r.jsonl")
    assert header["complete"] is False
    assert [row["error"]["type"] for row in rows if row["error"]] == ["WorkerDied"]
    assert len([row for row in rows if row["kind"] == "audit"]) == 7
    from pypdf import PdfReader

    assert "Incomplete" in PdfReader(suite / "r.pdf").pages[0].extract_text()


@pytest.mark.slow
def test_published_statements_are_collected_and_chosen(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text("def test_mine():\n    pass\n")
    both = "--privacy-statements=W19-F2.5,W19-L2.4"
    listed = run(tmp_path, "--collect-only", both)
    assert [line for line in listed.stdout.splitlines() if "pdp-verify::" in line] != []
    serial = run(tmp_path, both, "--privacy-record=serial.jsonl")
    assert "3 passed" in serial.stdout, serial.stdout + serial.stderr
    spread = run(tmp_path, both, "-n", "3", "--privacy-record=spread.jsonl")
    assert "3 passed" in spread.stdout, spread.stdout + spread.stderr
    assert (tmp_path / "serial.jsonl").read_bytes() == (tmp_path / "spread.jsonl").read_bytes()
    rows = lines(tmp_path / "serial.jsonl")[1:]
    assert {row["id"].partition("#")[0] for row in rows if row["kind"] == "verdict"} >= {"W19-F2.5", "W19-L2.4"}
    chosen = run(tmp_path, both, "-k", "L2.4")
    assert "1 passed, 2 deselected" in chosen.stdout
    everything = run(tmp_path, "--collect-only", "--privacy-statements")
    assert everything.stdout.count("pdp-verify::") > 50


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--privacy-statements=W19-T4.2"], "--privacy-statements: id must be in the catalogue, got id=W19-T4.2"),
        (["--privacy-seed=-1"], "--privacy-seed must be at least 0, got --privacy-seed=-1"),
        (["--privacy-draws=0"], "--privacy-draws must be at least 1, got --privacy-draws=0"),
        (["--privacy-failure-prob=0"], "--privacy-failure-prob must be in (0, 1), got --privacy-failure-prob=0.0"),
        (["--privacy-failure-prob=nan"], "--privacy-failure-prob must be in (0, 1), got --privacy-failure-prob=nan"),
        (["--privacy-record=no/r.jsonl"], "--privacy-record must be in a folder that exists, got --privacy-record=no"),
    ],
)
def test_mistakes_are_one_line(arguments: list[str], message: str, tmp_path: Path) -> None:
    done = run(tmp_path, *arguments)
    assert done.returncode == 4
    assert message in done.stderr
    assert done.stderr.count("ERROR") == 1
    assert "Traceback" not in done.stderr


def test_marker_must_name_a_published_statement(tmp_path: Path) -> None:
    text = "import pytest\n@pytest.mark.statement({})\ndef test_it(privacy_audit):\n    pass\n"
    for argument, message in (
        ("'W19-T4.2'", "marker statement: id must be in the catalogue, got id=W19-T4.2; did you mean W19-T4.1"),
        ("", "marker statement must have one id"),
    ):
        (tmp_path / "test_marker.py").write_text(text.format(argument))
        done = run(tmp_path, "--strict-markers")
        assert message in done.stdout


BLOCKED = """
import sys
class Blocked:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in ("verify", "mechanisms", "audits", "reports", "numpy"):
            raise ImportError(name)
sys.meta_path.insert(0, Blocked())
import pytest
code = pytest.main(sys.argv[1:])
assert "pdp_verify_pytest" in sys.modules
sys.exit(code)
"""


def test_harmless_to_strangers(tmp_path: Path) -> None:
    """With our rooms (and numpy) unimportable the plugin loads, and a stranger's suite runs and says nothing of us."""
    (tmp_path / "test_theirs.py").write_text("def test_theirs():\n    pass\n")
    command = [sys.executable, "-c", BLOCKED, "-q", "-p", "no:cacheprovider", str(tmp_path)]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed" in done.stdout
    assert "pdp-verify" not in done.stdout
    helped = run(tmp_path, "--help")
    assert "--privacy-failure-prob" in helped.stdout
    assert "statement(id)" in run(tmp_path, "--markers").stdout


@pytest.mark.slow
@pytest.mark.parametrize("room", ["verify", "reports"])
def test_project_with_a_folder_of_our_name(room: str, tmp_path: Path) -> None:
    """One clear line where the fixture is used; nothing where it is not; and fine where nothing is hidden."""
    (tmp_path / room).mkdir()
    (tmp_path / room / "__init__.py").write_text("")
    (tmp_path / "conftest.py").write_text("")  # makes pytest put this folder first on the path
    (tmp_path / "test_theirs.py").write_text(f"import {room}\ndef test_theirs():\n    assert {room}.__file__\n")
    assert "1 passed" in run(tmp_path).stdout
    (tmp_path / "test_ours.py").write_text("def test_ours(privacy_audit):\n    pass\n")
    done = run(tmp_path, "test_ours.py")
    words = (
        f"pdp-verify: the package {room} must be the one of pdp-verify, got {tmp_path / room}; a folder of that name"
    )
    assert words in done.stdout
    assert "Traceback" not in done.stdout
    asked = run(tmp_path, "--privacy-record=r.jsonl", environment={"PYTHONPATH": str(tmp_path)})
    assert asked.returncode == 4
    assert words in asked.stderr
    assert "1 passed" in run(tmp_path, "test_ours.py", "--import-mode=importlib").stdout


def test_plugin_stands_beside_the_rooms() -> None:
    import pdp_verify_pytest

    assert Path(pdp_verify_pytest.__file__).resolve().parent == HOME
    assert pdp_verify_pytest.shadowed() == ""


def test_an_unclear_text_is_neither_good_nor_bad_in_the_report() -> None:
    """Its verdict is written in words, and has no colour of a refuted statement."""
    printed = {"verdict": "TEXT_UNCLEAR", "reason": "NONE", "outcomes": {"FAILS": 1}}
    row = {"kind": "verdict", "id": "T-1", "parent": None, "test": "t", "printed": printed}
    session = Session((row, row | {"parent": "T"}), 1, 100, 1e-4, "quick", complete=True)
    (section,) = document(session, date="2031-01-01").sections
    (table,) = section.blocks
    assert isinstance(table, Table)
    assert [line[:2] for line in table.rows] == [("T-1", Badge("text unclear", Tone.NEUTRAL))]


def test_a_service_is_a_mechanism_like_any_other(monkeypatch: pytest.MonkeyPatch) -> None:
    """Its row says what was asked without its token; that nobody answers is a failure that names why, in one line."""
    monkeypatch.setattr(open_door, "PAUSES", (0.0,))
    data = Dataset(np.ones((2, 1)), np.array([0.25, 0.5]), 1.0, 1.0)
    pair = NeighbouringPair.add(data, [1.0], 1.0)
    with FakeServer() as server:
        audit = Auditor("a test", "", seed=1, n_draws=4000, failure_prob=1e-4)
        service = ServiceMechanism(f"{server.url}?token=s31337")
        row = audit(service, pair, (1.0, 0.0), expect="no violation")
        server.change(scale=0.25)
        assert audit(service, pair, (1.0, 0.0), expect="fail")["outcome"] == "FAILS"
        assert row["mechanism"] == server.url
        service.close()
    with pytest.raises(AuditFailure, match=r"not tested: no pair of data sets was reached: the service .*sides$"):
        audit(service, pair, (1.0, 0.0), expect="no violation")
    assert "31337" not in json.dumps(audit.rows)


class Drawn:
    """A mechanism, whose class is none."""

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        return rng.standard_normal((n_draws, 1))


@pytest.mark.parametrize(
    ("given", "rule"),
    [
        (Drawn.draw, "an object of a class with the method draw"),
        (lambda dataset, n_draws, rng: None, "an object of a class with the method draw"),
        (Drawn, "an instance with the method draw"),
        (Drawn().draw, "got method"),
        (3, "got int"),
        (None, "got NoneType"),
    ],
)
def test_what_has_no_draw_is_a_wrong_call_that_leaves_no_row(given: Any, rule: str) -> None:
    auditor = Auditor("t.py::one", "", 1, 200, 1e-4)
    pair = NeighbouringPair.add(Dataset([[0.5]], [0.5], 1.0, 1.0), [0.5], 0.5)
    with pytest.raises(AuditFailure, match=rule) as stop:
        auditor(given, pair, (1.0, 0.0))
    assert "(self, dataset, n_draws, *, rng)" in str(stop.value)
    assert auditor.rows == []
