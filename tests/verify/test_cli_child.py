"""The parent of a command: a code of 1, 3 or 4 is the child's word, and whatever else ends a child is 2 in one line."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from toys.deployments import DATA, DRAWN, SSP, dp, imported, section, write_uniform
from toys.processes import PATIENCE, alive, until

ROOT = Path(__file__).resolve().parents[2]
MAIN = "from verify.cli import main; main()"
#: A command that does ``{work}`` and nothing else.
DOES = """
import atexit, ctypes, os, signal, sys, threading, time
import click
from verify import cli, cli_child
def work():
    {work}
cli.LazyGroup.get_command = lambda *_: click.Command("work", callback=work)
cli.main(["work"])
"""
TALKS = "[click.echo(99 * 'line ', err={error}) for _ in range(999)]; return 1"
SAYS_NO_MORE = "signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGTERM}); print(os.getpid(), flush=True); "
QUICK = section("[budget]", profile="quick", pairs=1, draws=2000)


def started(code: str, *words: str, folder: Path | None = None, **more: str) -> subprocess.Popen[str]:
    """Start a program as a shell would, in a process group of its own."""
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(ROOT), str(ROOT / "tests")])} | more
    return subprocess.Popen(
        [sys.executable, "-c", code, *words],
        cwd=folder,
        env=environment,
        text=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )


def ended(process: subprocess.Popen[str]) -> tuple[int, str]:
    """Return the exit code and the lines of errors."""
    _, err = process.communicate(timeout=PATIENCE)
    assert "Traceback" not in err
    return process.returncode, "\n".join(line for line in err.splitlines() if line.startswith("error: "))


OWN_END = "error: a command must come to its own end, got "


#: What a library does that writes to every descriptor it can find.
WRITES = "[ctypes.CDLL(None).write(fd, b'0\\n', 2) for fd in range(3, 64)]; "


@pytest.mark.parametrize(
    ("work", "code", "words"),
    [
        *((f"return {code}", code, "") for code in (0, 1, 2, 3, 4)),
        ("os.system('exit 1'); return 0", 0, ""),
        ("ctypes.CDLL(None).exit(1)", 2, OWN_END + "exit 1 in the middle"),
        ("os._exit(3)", 2, OWN_END + "exit 3 in the middle"),
        ("os._exit(0)", 2, OWN_END + "exit 0 in the middle"),
        (WRITES + "os._exit(0)", 2, OWN_END + "exit 0 in the middle"),
        (WRITES + "return 3", 3, ""),
        ("os.kill(os.getpid(), signal.SIGKILL)", 2, OWN_END + "SIGKILL in the middle"),
        ("os.abort()", 2, OWN_END + "SIGABRT in the middle"),
        ("sys.exit(1)", 2, "error: the code of a configuration must not end the program"),
        ("threading.Thread(target=sys.exit, args=(1,)).start(); return 3", 3, ""),
        ("os.fork() or os._exit(1); return 3", 3, ""),
        ("atexit.register(os._exit, 1); return 3", 3, ""),
        ("cli_child.GRACE = 1; threading.Thread(target=time.sleep, args=(999,)).start(); return 3", 3, ""),
        ("cli._failed = None; raise ValueError", 2, OWN_END + "exit 2 in the middle"),
        ("raise ValueError('odd')", 4, "error: ValueError: odd (a defect of ours"),
        ("raise MemoryError", 2, "error: memory must suffice, got too little"),
        ("raise ImportError('libx.so: failed to map segment from shared object')", 2, "error: memory must suffice"),
        ("raise ImportError('no module named x')", 4, "error: ImportError: no module named x (a defect of ours"),
        ("os.kill(os.getpid(), signal.SIGINT); return 0", 0, ""),  # what a BLAS sends itself
    ],
)
def test_only_a_code_that_was_said_is_taken(work: str, code: int, words: str) -> None:
    found, error = ended(started(DOES.replace("{work}", work)))
    assert found == code, error
    assert error.startswith(words) if words else error == ""


#: A call of a mechanism that dies, each time that it is made.
DIES = "cli_child.call_note.{first}(); from audits.harness.call_note import calling\n    with calling(): {died}"


@pytest.mark.parametrize(
    ("first", "died", "code"),
    [
        (
            "may_be_done_again",
            "print(1, flush=True); 'PDP_VERIFY_CALLS_APART' in os.environ or os.abort()\n    return 3",
            3,
        ),
        ("may_be_done_again", "print(1, flush=True); os._exit(1)", 2),
        ("process_before", "os.abort()", 2),
        ("may_be_done_again", "os.kill(os.getpid(), signal.SIGKILL)", 2),
        ("may_be_done_again", "pass\n    os.abort()", 2),
    ],
)
def test_a_command_that_dies_in_a_call_is_done_again_once(first: str, died: str, code: int) -> None:
    """Only where it says that it may be, and neither after a death elsewhere nor one that somebody else may cause."""
    process = started(DOES.replace("{work}", DIES.format(first=first, died=died)))
    out, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == code
    assert out == ("1\n1\n" if "print" in died else "")


def test_a_defect_near_the_limit_of_memory_is_the_machines() -> None:
    limit = "import resource; resource.setrlimit(resource.RLIMIT_AS, (1 << 28, 1 << 28)); raise ValueError('odd')"
    assert ended(started(DOES.replace("{work}", limit)))[0] == 2


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("group", [True, False])
def test_a_signal_is_passed_on_and_the_command_ends_itself(number: int, group: bool) -> None:
    """To the parent alone, as ``kill`` does, or to both, as a terminal does: what was done is kept, and that is 130."""
    work = "try: print(1, flush=True); time.sleep(999)\n    finally: print('kept', flush=True)"
    process = started(DOES.replace("{work}", work))
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    (os.killpg if group else os.kill)(process.pid, number)
    out, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, out, err) == (130, "kept\n", "error: interrupted\n")


#: Objects that take their time when they are destroyed, and a native library that calls Python, most of the time.
DESTROYS = "type('Handle', (), {'__del__': lambda self: time.sleep(0.02)})()"
CALLS_BACK = "ctypes.CFUNCTYPE(None)(lambda: time.sleep(0.02))()"


@pytest.mark.parametrize("body", [DESTROYS, CALLS_BACK])
def test_a_stop_is_not_lost_where_nothing_can_be_raised(body: str) -> None:
    body = body.replace("lambda self: time.sleep(0.02)", "destroyed")
    work = f"destroyed = __del__\n    print(1, flush=True)\n    while True: {body}"
    process = started(DOES.replace("{work}", work).replace("def work", "def __del__(self): time.sleep(0.02)\ndef work"))
    assert process.stdout is not None
    assert process.stdout.readline() == "1\n"
    time.sleep(0.1)
    process.terminate()
    _, err = process.communicate(timeout=PATIENCE)
    assert (process.returncode, err) == (130, "error: interrupted\n")


@pytest.mark.parametrize("how", ["again", "grace", "parent"])
def test_a_command_that_does_not_stop_is_killed(how: str) -> None:
    work = f"cli_child.GRACE; {SAYS_NO_MORE} time.sleep(999)"
    code = DOES.replace("{work}", work).replace(
        "cli.main", f"cli_child.GRACE = {1 if how == 'grace' else 999}; cli.main"
    )
    process = started(code)
    assert process.stdout is not None
    child = int(process.stdout.readline())
    process.send_signal(signal.SIGKILL if how == "parent" else signal.SIGTERM)
    while how == "again" and process.poll() is None:
        with contextlib.suppress(ProcessLookupError):
            process.send_signal(signal.SIGTERM)
        time.sleep(0.1)
    if how == "parent":
        process.communicate(timeout=PATIENCE)
        assert process.returncode == -signal.SIGKILL
    else:
        found, error = ended(process)
        assert found == 2
        assert error.startswith(OWN_END + "one that was killed ")
    until(lambda: not alive(child))


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_a_closed_standard_stream_is_no_error(closed: str, deployed: Path) -> None:
    calls = ("list W19-T4.1", "init data.csv --target y -o drafted.toml")
    line = " && ".join(f"{sys.executable} -m verify {call} {closed}" for call in calls)
    done = subprocess.run(
        ["sh", "-c", line], cwd=deployed, env=os.environ | {"PYTHONPATH": str(ROOT)}, check=False, capture_output=True
    )
    assert done.returncode == 0
    assert (deployed / "drafted.toml").exists()
    assert b"error" not in done.stderr
    assert ("W19-T4.1" in done.stdout.decode()) == (">&-" not in closed.replace("2>&-", ""))


@pytest.fixture
def deployed(tmp_path: Path) -> Path:
    write_uniform(tmp_path, 20)
    (tmp_path / "c.toml").write_text(DATA + SSP + DRAWN + dp(400.0) + QUICK)
    return tmp_path


@pytest.mark.parametrize("value", ["²", "-", "1e9", "9" * 30, "9" * 6000, "253402300800"])
def test_a_date_that_is_none_is_refused_by_its_name(value: str, deployed: Path) -> None:
    code, error = ended(
        started(MAIN, "certify", "c.toml", "--out", "out", "--jobs", "1", folder=deployed, SOURCE_DATE_EPOCH=value)
    )
    assert code == 2
    assert error.startswith("error: SOURCE_DATE_EPOCH must be a whole number of seconds")
    assert len(error) <= 500
    assert not (deployed / "c.releases" / "spent.json").exists()


@pytest.mark.slow
def test_a_hostile_environment_and_a_folder_of_odd_digits_are_no_defect(deployed: Path) -> None:
    odd = {"COLUMNS": "²", "LINES": "-1", "TERM": "", "NO_COLOR": "²", "MPLBACKEND": "none", "LANG": "x", "TZ": "²"}
    more = {"OPENBLAS_NUM_THREADS": "²", "TMPDIR": "/none", "HOME": "/none", "MPLCONFIGDIR": "/none"}
    (deployed / "pdp-verify-out" / "²").mkdir(parents=True)
    code, error = ended(started(MAIN, "certify", "c.toml", "--jobs", "1", folder=deployed, **odd, **more))
    assert (code, error) == (0, "")
    assert (deployed / "pdp-verify-out" / "1" / "curator" / "audit.pdf").exists()


MINE = """
class Odd(BaseException):
    pass
class Noise:
    name = "noise"
    def draw(self, dataset, n_draws, *, rng):
        {draw}
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
    def log_density(self, outputs, dataset):
        {log_density}
        return -((outputs[:, 0] - dataset.y.sum()) ** 2) / 50.0
"""


@pytest.mark.slow
@pytest.mark.parametrize("where", ["draw", "log_density"])
@pytest.mark.parametrize("kind", ["Odd", "MemoryError", "KeyboardInterrupt", "SystemExit", "GeneratorExit"])
def test_what_the_code_of_a_mechanism_raises_is_its_fault(where: str, kind: str, tmp_path: Path) -> None:
    """It never is a defect of ours, nor Ctrl-C; a ``MemoryError`` of a draw may be an output, as any exception is."""
    write_uniform(tmp_path, 20)
    bodies = {"{draw}": "pass", "{log_density}": "pass"} | {f"{{{where}}}": f"raise {kind}('record 0.4711')"}
    mine = MINE
    for name, body in bodies.items():
        mine = mine.replace(name, body)
    (tmp_path / "mine.py").write_text(mine)
    (tmp_path / "c.toml").write_text(DATA + imported("mine.py:Noise") + dp(30.0, 0.5) + QUICK)
    code, error = ended(started(MAIN, "certify", "c.toml", "--out", "out", "--jobs", "1", folder=tmp_path))
    if kind == "MemoryError":
        assert code in (2, 3)
    elif kind == "SystemExit" and where == "draw":  # as an exception is, at every call
        assert code == 3
    else:
        assert code == 2
        assert error.startswith("error: the code of a configuration must ")
    assert "0.4711" not in error


#: Draws of a mechanism that ends its process on one of two neighbours, or on every data set.
ENDS = """
import ctypes, os
class Ends:
    def draw(self, dataset, n_draws, *, rng):
        if {on}:
            {how}
        return dataset.y.sum() + 50.0 * rng.standard_normal((n_draws, 1))
"""
PAIR = section("[[pairs]]", name="poison", X=[[0.1, 0.1]], y=[0.5], target_x=[0.2, 0.2], target_y=0.875)


@pytest.mark.slow
@pytest.mark.parametrize(("how", "jobs"), [("os.abort()", "1"), ("ctypes.string_at(0)", "2")])
@pytest.mark.parametrize(("on", "code"), [("0.875 in dataset.y", 1), ("True", 3)])
def test_a_death_on_one_data_set_alone_refutes(how: str, on: str, code: int, jobs: str, tmp_path: Path) -> None:
    write_uniform(tmp_path, 20)
    (tmp_path / "ends.py").write_text(ENDS.format(on=on, how=how))
    budget = section("[budget]", profile="quick", pairs=1, draws=100)
    (tmp_path / "c.toml").write_text(DATA + imported("ends.py:Ends") + dp(0.5, 1e-3) + budget + PAIR)
    found, error = ended(started(MAIN, "certify", "c.toml", "--jobs", jobs, folder=tmp_path))
    assert (found, error) == (code, "")
    assert [path.name for path in (tmp_path / "pdp-verify-out").iterdir()] == ["1"]
    rows = (tmp_path / "pdp-verify-out" / "1" / "curator" / "audit.jsonl").read_text()
    assert ("poison" if code == 1 else "every call ended with") in rows


#: Bytes of address space that the commands are given, the last enough for all (``MEMORY_STEPS=1`` asks for all forty,
#: of which docs/reliability.md says what came out); and what each is called with.
EVERY = int(os.environ.get("MEMORY_STEPS", "5"))
LIMITS = [*(round(200e6 + 800e6 * step / 39) for step in range(0, 40, EVERY)), 1_500_000_000]
COMMANDS = {
    "certify": ["certify", "c.toml", "--jobs", "1", "--out", "out"],
    "run": ["run", "W19-L2.4", "--profile", "quick", "--jobs", "1", "--out", "out"],
    "compare": [
        *("compare", "data.csv", "--target", "y", "--epsilon", "1", "--method", "SSP", "--folds", "2", "--draws", "2"),
        *("--x-bound", "1", "--y-bound", "1", "--jobs", "1", "--out", "out"),
    ],
}


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_with_too_little_memory_a_command_is_done_or_refused(command: str, deployed: Path) -> None:
    """Limits from far too little to enough: 0 where the work was done, else 2, no hang, and a draw counted once."""
    codes: Counter[int] = Counter()
    for limit in LIMITS:
        folder = deployed / str(limit)
        folder.mkdir()
        for name in ("c.toml", "data.csv"):
            (folder / name).write_bytes((deployed / name).read_bytes())
        limited = f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({limit}, {limit})); {MAIN}"
        process = started(limited, *COMMANDS[command], folder=folder)
        try:
            code, error = ended(process)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
        assert code in (0, 2), (limit, error)
        assert (error == "") == (code == 0), (limit, error)
        assert len(error) <= 500
        codes[code] += 1
        spent = folder / "c.releases" / "spent.json"
        assert not spent.exists() or len(json.loads(spent.read_text())) == 1
        assert code == 2 or any((folder / "out").rglob("*.pdf"))
    print(f"{command}: {dict(codes)}")
    assert codes[2] >= 5
    assert code == 0


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_a_command_whose_reader_has_gone_ends_its_work_and_says_its_code(stream: str) -> None:
    process = started(DOES.format(work=TALKS.format(error=stream == "stderr")))
    with process:
        getattr(process, stream).close()
        assert process.wait(PATIENCE) == 1
