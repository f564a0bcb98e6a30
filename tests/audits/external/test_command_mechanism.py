"""A command behind a door: what it answers, everything else that it can do, and that nothing of it stays behind."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import select
import signal
import subprocess
import sys
import textwrap
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from oracles.external.fake_command import command
from oracles.external.noisy_sum import Switches, answer

from audits import CommandMechanism
from audits.external.connections import Process
from audits.harness.calls import CallEnded, NoAnswer, ProcessExited
from audits.harness.output_leaves import Refusal
from audits.harness.returned import WrongRows
from mechanisms import Dataset

POISON = 0.75
CLEAN = Dataset([[0.5], [0.25]], [0.5, 0.25], x_bound=1.0, y_bound=1.0)
BAD = Dataset([[0.5], [0.25]], [0.5, POISON], x_bound=1.0, y_bound=1.0)
ROOT = Path(__file__).resolve().parents[3]


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


def script(code: str, *arguments: str) -> list[str]:
    """The command that runs some Python."""
    return [sys.executable, "-I", "-S", "-c", textwrap.dedent(code), *arguments]


def literal(dataset: Dataset, n_draws: int, generator: np.random.Generator, batch: int = 100, **switches: Any) -> Any:
    """The twin: what the fake answers, called in this process."""
    import random

    outputs: list[Any] = []
    while len(outputs) < n_draws:
        n = min(batch, n_draws - len(outputs))
        request = {"X": dataset.X.tolist(), "y": dataset.y.tolist(), "n_draws": n}
        seed = int(generator.integers(2**53))
        lines = answer(request, Switches(**switches), "", random.Random(seed))
        outputs += [json.loads(line) for line in lines]
    return outputs


@pytest.fixture
def door() -> Iterator[Callable[..., CommandMechanism]]:
    """Makes doors that are closed at the end."""
    made: list[CommandMechanism] = []

    def make(words: list[str], **terms: Any) -> CommandMechanism:
        made.append(CommandMechanism(words, **terms))
        return made[-1]

    yield make
    for one in made:
        one.close()


@pytest.fixture(autouse=True)
def _quick(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.external.open_door.PAUSES", (0.0, 0.0, 0.0))
    monkeypatch.setattr("audits.external.connections.DYING", 0.2)


def processes(mechanism: CommandMechanism) -> list[int]:
    """The processes that are idle or at work."""
    state = mechanism._door.channels._state
    return [channel._child.pid for channel in (*state.idle, *state.open)]  # type: ignore[attr-defined]


def gone(pid: int) -> bool:
    """Whether a process ended, within a minute."""
    state = Path(f"/proc/{pid}/stat")  # of one that nobody waits for
    for _ in range(6000):
        try:
            os.kill(pid, 0)
            if state.exists() and state.read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except OSError:
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("shape", ["number", "list", "object"])
def test_outputs_are_those_of_the_command_for_the_seeds_of_rng(door: Any, shape: str) -> None:
    mechanism = door(command(scale=0.5, shape=shape), batch=3)
    generator = rng()
    for n_draws in (0, 1, 8):
        twin = np.random.Generator(type(generator.bit_generator)())
        twin.bit_generator.state = generator.bit_generator.state
        expected = literal(CLEAN, n_draws, twin, batch=3, scale=0.5, shape=shape)
        assert mechanism.draw(CLEAN, n_draws, rng=generator) == expected
        assert generator.bit_generator.state == twin.bit_generator.state
    assert len(processes(mechanism)) == 1


def test_a_seed_that_is_not_sent_is_taken_from_rng_all_the_same(door: Any) -> None:
    code = "import sys\nfor line in sys.stdin: print('[' + line.strip() + ']', flush=True)"
    generators = rng(), rng()
    for reproducible, generator in zip((True, False), generators, strict=True):
        ((request,),) = door(script(code), reproducible=reproducible).draw(CLEAN, 1, rng=generator)
        seed = {"seed": float(rng().integers(2**53))} if reproducible else {}
        assert request == {"X": [[0.5], [0.25]], "y": [0.5, 0.25], "n_draws": 1.0} | seed
    assert generators[0].bit_generator.state == generators[1].bit_generator.state


ENDS = [
    ("exit", ProcessExited, "^exit 3$"),
    ("signal", ProcessExited, "^signal 9$"),
    ("half", ProcessExited, "^exit 0$"),
    ("close", CallEnded, "^closed$"),
    ("long", WrongRows, "got more than 3 lines"),
    (
        "hang",
        NoAnswer,
        r"^a request for 3 draws got no answer in 0.2 s \(mechanism.timeout, or fewer draws a request: ",
    ),
    ("short", NoAnswer, r"^a request for 3 draws got (2 of 3 lines|no answer) in 0.2 s "),
    ("drip", NoAnswer, r"in 0.2 s "),
]


@pytest.mark.parametrize(("fault", "kind", "words"), ENDS, ids=[end[0] for end in ENDS])
def test_what_a_command_does_instead_of_answering(door: Any, fault: str, kind: type[BaseException], words: str) -> None:
    """On one data set it does; on the other it answers, before and after."""
    mechanism = door(command(fault=fault, poison=POISON))
    first = mechanism.draw(CLEAN, 3, rng=rng())
    (pid,) = processes(mechanism)
    mechanism._door.timeout = 0.2 if kind is NoAnswer else 60
    with pytest.raises(kind, match=words):
        mechanism.draw(BAD, 3, rng=rng())
    assert gone(pid)
    assert processes(mechanism) == []
    if kind is NoAnswer:
        with pytest.raises(NoAnswer, match=words):  # at once, and for any request
            mechanism.draw(CLEAN, 1, rng=rng())
        assert processes(mechanism) == []
        mechanism.close()
        mechanism._door.timeout = 60
    assert mechanism.draw(CLEAN, 3, rng=rng()) == first


def test_a_timeout_is_an_output_where_that_is_asked_for(door: Any) -> None:
    mechanism = door(command(fault="hang", poison=POISON), timeout=0.2, timeouts="output")
    with pytest.raises(CallEnded, match=r"^timeout$"):
        mechanism.draw(BAD, 1, rng=rng())
    mechanism._door.timeout = 60
    assert mechanism.draw(CLEAN, 2, rng=rng()) == literal(CLEAN, 2, rng())


def test_errors_and_lines_that_are_no_json_are_outputs_beside_others(door: Any) -> None:
    refused = door(command(fault="error", poison=POISON)).draw(BAD, 2, rng=rng())
    assert all(isinstance(output, Refusal) and output.reason == "" for output in refused)
    public = Dataset(BAD.X, BAD.y, x_bound=1.0, y_bound=1.0, public=True)
    (shown,) = door(command(fault="error", poison=POISON)).draw(public, 1, rng=rng())
    assert (shown, shown.reason) == (refused[0], "no such cell")
    (plain,) = door(command(fault="text", poison=POISON)).draw(BAD, 1, rng=rng())
    assert plain.text == "[1] 1.25"


def test_lines_that_nobody_asked_for_are_seen_before_the_next_request(door: Any) -> None:
    mechanism = door(command(fault="late", poison=POISON))
    mechanism.draw(BAD, 2, rng=rng())
    (channel,) = mechanism._door.channels._state.idle
    assert select.select([channel._from], [], [], 60)[0]
    with pytest.raises(WrongRows, match="got more after it"):
        mechanism.draw(CLEAN, 2, rng=rng())
    assert mechanism.draw(CLEAN, 2, rng=rng()) == literal(CLEAN, 2, rng())


def test_a_request_and_an_answer_that_fill_their_pipes_stop_nobody(door: Any) -> None:
    """The command writes most of a large answer before it reads most of a large request."""
    code = """
        import os, json
        while head := os.read(0, 1):
            os.write(1, b'"' + b"a" * 3_000_000)
            while not head.endswith(b"\\n"):
                head += os.read(0, 1 << 20)
            os.write(1, str(len(json.loads(head)["y"])).encode() + b'"\\r\\n \\n')
    """
    large = Dataset(np.zeros((200_000, 1)), np.zeros(200_000), x_bound=1.0, y_bound=1.0)
    mechanism = door(script(code))
    for _ in range(2):
        assert mechanism.draw(large, 1, rng=rng()) == ["a" * 3_000_000 + "200000"]


def test_a_line_may_come_byte_by_byte_and_be_no_utf8(door: Any) -> None:
    code = """
        import os, sys, time
        for line in sys.stdin:
            for byte in b"\\xff\\xfe\\n\\n[1,2]\\n":
                os.write(1, bytes([byte]))
    """
    plain, row = door(script(code)).draw(CLEAN, 2, rng=rng())
    assert plain.text.encode("utf-8", "surrogateescape") == b"\xff\xfe"
    assert row == [1.0, 2.0]


@pytest.mark.parametrize("ending", ["", "sys.stdin.close(); os.close(0); time.sleep(0.005)"])
def test_a_command_that_answers_once_and_ends_is_started_again_for_each_request(door: Any, ending: str) -> None:
    code = f"import os, sys, time; line = sys.stdin.readline(); print(len(line), flush=True); {ending}"
    mechanism = door(script(code))
    assert len({*mechanism.draw(CLEAN, 1, rng=rng())} | {mechanism.draw(CLEAN, 1, rng=rng())[0] for _ in range(8)}) == 1


def test_an_end_before_anything_was_read_is_no_output(door: Any) -> None:
    mechanism = door(script("raise SystemExit(4)"))
    with pytest.raises(NoAnswer, match=r"^the command ended \(exit 4\) before it read a request$"):
        mechanism.draw(Dataset(np.zeros((40_000, 1)), np.zeros(40_000), x_bound=1.0, y_bound=1.0), 1, rng=rng())
    with pytest.raises(
        NoAnswer, match=r"^the command cannot be started: No such file or directory \(no-such-program\)$"
    ):
        door(["no-such-program"]).draw(CLEAN, 1, rng=rng())
    with pytest.raises(NoAnswer, match=r"cannot be started: No such file or directory \(no-such-folder\)$"):
        door(command(), folder="no-such-folder").draw(CLEAN, 1, rng=rng())


def test_an_end_in_the_middle_of_reading_is_an_output(door: Any) -> None:
    large = Dataset(np.zeros((40_000, 1)), np.zeros(40_000), x_bound=1.0, y_bound=1.0)
    with pytest.raises(ProcessExited, match=r"^exit 5$"):
        door(script("import os; os.read(0, 1); os._exit(5)")).draw(large, 1, rng=rng())


def test_an_answer_without_end_is_an_output(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.external.channels.MOST_BYTES", 1 << 20)
    for text in ("a", r"\n"):
        with pytest.raises(CallEnded, match=r"^too long$"):
            door(script(f"import os\nwhile True: os.write(1, b'{text}' * 4096)")).draw(CLEAN, 1, rng=rng())


def test_calls_of_many_threads_get_their_own_answers_from_few_processes(door: Any) -> None:
    mechanism = door(command(), concurrency=3, batch=2)
    most: list[int] = []

    def call(seed: int) -> Any:
        most.append(len(processes(mechanism)))
        dataset = CLEAN if seed % 2 else BAD
        return copy.deepcopy(mechanism).draw(dataset, 3, rng=rng(seed))

    with ThreadPoolExecutor(8) as pool:
        results = list(pool.map(call, range(60)))
    assert results == [literal(CLEAN if seed % 2 else BAD, 3, rng(seed), batch=2) for seed in range(60)]
    assert max(most) <= 3


#: Answers with its process and how many requests it has answered.
COUNTS = """
    import os, sys
    for n, line in enumerate(sys.stdin):
        print([os.getpid(), n], flush=True)
"""


def test_a_fresh_one_starts_a_process_for_its_first_request_alone(door: Any) -> None:
    mechanism = door(script(COUNTS))
    first = mechanism.draw(CLEAN, 1, rng=rng())[0]
    assert mechanism.draw(CLEAN, 1, rng=rng()) == [[first[0], 1.0]]
    fresh = mechanism.fresh()
    second = fresh.draw(CLEAN, 1, rng=rng())[0]
    assert second[0] != first[0]
    assert second[1] == 0.0
    assert gone(int(first[0]))
    assert fresh.draw(CLEAN, 1, rng=rng()) == [[second[0], 1.0]]
    assert mechanism.draw(CLEAN, 1, rng=rng()) == [[second[0], 2.0]]
    assert processes(mechanism) == [int(second[0])]


def test_copies_are_the_same_door_and_a_pickle_opens_its_own(door: Any) -> None:
    mechanism = door(script(COUNTS), timeout=30, version="3")
    first = mechanism.draw(CLEAN, 1, rng=rng())[0]
    assert copy.deepcopy(mechanism) is mechanism is copy.copy(mechanism)
    other = pickle.loads(pickle.dumps(mechanism.fresh()))
    assert (other.command, other.timeout, other.version) == (mechanism.command, 30, "3")
    assert other.draw(CLEAN, 1, rng=rng())[0][0] != first[0]
    other.close()
    assert mechanism.draw(CLEAN, 1, rng=rng()) == [[first[0], 1.0]]


def test_a_door_that_nobody_holds_ends_its_processes() -> None:
    mechanism = CommandMechanism(command())
    mechanism.draw(CLEAN, 1, rng=rng())
    (pid,) = processes(mechanism)
    del mechanism
    gc.collect()
    assert gone(pid)


def test_closing_ends_requests_that_are_open_and_a_later_one_begins_anew(door: Any) -> None:
    mechanism = door(command(fault="hang", poison=POISON), concurrency=2)
    with ThreadPoolExecutor(4) as pool:
        waiting = [pool.submit(mechanism.draw, BAD, 1, rng=rng()) for _ in range(4)]
        while len(processes(mechanism)) < 2:
            time.sleep(0.001)
        pids = processes(mechanism)
        mechanism.close()
        for call in waiting:
            with pytest.raises(NoAnswer, match=r"^the door was closed$"):
                call.result()
    assert all(gone(pid) for pid in pids)
    assert mechanism.draw(CLEAN, 1, rng=rng()) == literal(CLEAN, 1, rng())


def test_what_a_command_has_started_ends_with_it(door: Any, tmp_path: Path) -> None:
    code = """
        import subprocess, sys
        child = subprocess.Popen([sys.executable, "-I", "-S", "-c", "import time; time.sleep(3600)"])
        for line in sys.stdin:
            print(child.pid, flush=True)
    """
    mechanism = door(script(code))
    (pid,) = mechanism.draw(CLEAN, 1, rng=rng())
    mechanism.close()
    assert gone(int(pid))


def test_an_interrupt_is_ours_and_not_the_commands(door: Any) -> None:
    mechanism = door(command(fault="hang", poison=POISON))
    mechanism.draw(CLEAN, 1, rng=rng())
    (pid,) = processes(mechanism)
    assert os.getpgid(pid) == pid  # the keyboard's signal goes to our group
    timer = threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        mechanism.draw(BAD, 1, rng=rng())
    timer.join()
    assert gone(pid)
    assert mechanism.draw(CLEAN, 1, rng=rng()) == literal(CLEAN, 1, rng())


OURS = """
    import os, sys, threading, time
    sys.path[:0] = [{root!r}, {tests!r}]
    import numpy as np
    from audits import CommandMechanism
    from mechanisms import Dataset
    from oracles.external.fake_command import command

    data = Dataset([[0.5]], [0.5], x_bound=1.0, y_bound=1.0)
    door = CommandMechanism(command(), concurrency=2, data="csv")
    rng = np.random.default_rng(1)
    door.draw(data, 1, rng=rng)
    if os.fork() == 0:
        assert not door._door.channels._state.idle
        assert len(door.draw(data, 2, rng=rng)) == 2
        sys.exit(0)
    assert os.wait()[1] == 0
    assert len(door.draw(data, 2, rng=rng)) == 2
    (channel,) = door._door.channels._state.idle
    folder = door._door.texts._files._folder
    assert folder.stat().st_mode & 0o777 == 0o700 and len(list(folder.iterdir())) == 1
    print(channel._child.pid, folder, flush=True)
    {ending}
"""


@pytest.mark.parametrize(("ending", "kill"), [("sys.exit(0)", 0), ("time.sleep(3600)", signal.SIGKILL)])
def test_no_process_outlives_ours_and_a_forked_one_leaves_them_alone(ending: str, kill: int) -> None:
    code = textwrap.dedent(OURS).format(root=str(ROOT), tests=str(ROOT / "tests"), ending=ending)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as ours:
        assert ours.stdout is not None
        pid, folder = ours.stdout.readline().split()
        if kill:
            ours.send_signal(kill)
        assert ours.wait() == -kill
    assert gone(int(pid))
    assert Path(folder).exists() is bool(kill)  # nobody can clear up after a kill
    for file in Path(folder).glob("*"):
        file.unlink()
    if kill:
        Path(folder).rmdir()


def test_records_in_a_file_are_the_records(door: Any) -> None:
    mechanism = door(command(), data="csv")
    assert mechanism.draw(CLEAN, 2, rng=rng()) == literal(CLEAN, 2, rng())
    files = mechanism._door.texts._files
    (file,) = files._folder.iterdir()
    assert file.read_text() == "x1,y\n0.5,0.5\n0.25,0.25\n"
    assert mechanism.draw(BAD, 2, rng=rng()) == literal(BAD, 2, rng())
    assert len(list(files._folder.iterdir())) == 2
    mechanism.close()
    assert not file.parent.exists()
    assert mechanism.draw(CLEAN, 2, rng=rng()) == literal(CLEAN, 2, rng())


def test_a_full_disk_is_nobodys_output(door: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", full)
    with pytest.raises(NoAnswer, match=r"cannot be written for the mechanism \(No space left"):
        door(command(), data="csv").draw(CLEAN, 1, rng=rng())


@pytest.mark.parametrize(
    ("terms", "words"),
    [
        ({"command": "Rscript release.R"}, "command must be a program and its arguments"),
        ({"command": []}, "command must be a program and its arguments"),
        ({"command": [""]}, "command must begin with a program"),
        ({"command": ["a", 1]}, "command must be a program and its arguments"),
        ({"command": ["a", "b\0"]}, "command must be a program and its arguments"),
        ({"concurrency": 0}, "concurrency must be a whole number of at least 1, got concurrency=0"),
        ({"batch": True}, "batch must be a whole number of at least 1, got batch=True"),
        ({"timeout": float("inf")}, "timeout must be a positive number of seconds, got timeout=inf"),
        ({"timeouts": "go on"}, "timeouts must be stop or output, got timeouts='go on'"),
        ({"data": "xml"}, "data must be json or csv, got data='xml'"),
    ],
)
def test_terms_without_a_meaning_are_refused(terms: dict[str, Any], words: str) -> None:
    with pytest.raises(ValueError, match=words):
        CommandMechanism(**({"command": ["a"]} | terms))


def test_a_process_that_is_interrupted_while_it_is_asked_says_so() -> None:
    process = Process(command(), None)
    process.interrupt()
    with pytest.raises(Exception, match=r"interrupted|ended"):
        process.ask(b"{}\n", 1, time.monotonic() + 60)
    process.end(gently=False)
