"""Commands as processes of their own, for tests that kill them."""

from __future__ import annotations

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path

#: Seconds that a test waits for anything.
PATIENCE = 180.0
GRID = """
[grid]
mechanism = ["ops-diffuse", "gaussian-printed", "gaussian-analytic", "ssp"]
loss = ["squared"]
n = [10, 20]
dim = [2]
conditioning = [1, 10.0, 100.0]
seed = {seeds}
target = ["lonely", "member"]
delta = [1e-5]
epsilon = [0.5, 1, 2]
"""


def write_grid(path: Path, n_seeds: int) -> int:
    """Write a grid of exact cells and return how many they are."""
    path.write_text(GRID.format(seeds=list(range(n_seeds))))
    return 144 * n_seeds


def start(
    arguments: Sequence[str | Path],
    *,
    log: Path,
    environment: dict[str, str] | None = None,
    command: str = "sweep",
    code: str = "from verify.cli import main; main()",
) -> subprocess.Popen[bytes]:
    """Start a command with these arguments; what it prints goes to a file."""
    words = [sys.executable, "-c", code, command, *map(str, arguments)]
    with log.open("ab") as file:
        return subprocess.Popen(words, stdout=file, stderr=file, env={**os.environ, **(environment or {})})


def finish(process: subprocess.Popen[bytes], log: Path, codes: Sequence[int] = (1,)) -> None:
    """Wait for the end of a process; some cells of the grid fail, so the code is 1."""
    assert process.wait(timeout=PATIENCE) in codes, log.read_text()


def rows_in(store: Path) -> int:
    """Return the number of rows so far."""
    if not store.exists():
        return 0
    with closing(sqlite3.connect(store.as_uri() + "?mode=ro", uri=True, timeout=60)) as db:
        return int(db.execute("SELECT count(*) FROM rows").fetchone()[0])


def until(condition: Callable[[], bool], process: subprocess.Popen[bytes] | None = None) -> None:
    """Wait until a condition holds, or the process has ended."""
    deadline = time.monotonic() + PATIENCE
    while not condition() and (process is None or process.poll() is None):
        assert time.monotonic() < deadline
        time.sleep(0.01)


def children(pid: int) -> list[int]:
    """Return the processes of a local pool that a command has started; its own child does its work."""
    found = [
        int(child)
        for thread in Path(f"/proc/{pid}/task").iterdir()
        for child in (thread / "children").read_text().split()
    ]
    own = [child for child in found if b"spawn_main" in Path(f"/proc/{child}/cmdline").read_bytes()]
    return own + [below for child in found if child not in own for below in children(child)]


def alive(pid: int) -> bool:
    """Return whether a process runs."""
    try:
        return "\nState:\tZ" not in Path(f"/proc/{pid}/status").read_text()
    except OSError:
        return False


def kill(process: subprocess.Popen[bytes]) -> None:
    """End a process with SIGKILL."""
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=PATIENCE)
