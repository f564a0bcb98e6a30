"""A piece of Python in a process of its own, timed, with its peak of memory above what it held before."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

#: Defined for the piece: ``path``, ``peak()`` in bytes, and ``done(before, start, **more)``, which it calls at its end.
HEAD = """
import json, sys, time
from pathlib import Path
path = sys.argv[1]
def peak():  # of this program alone: getrusage would count what its parent held before it started
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("VmHWM"))
def done(before, start, **more):
    print(json.dumps({"seconds": time.perf_counter() - start, "bytes": peak() - before, **more}))
"""


def run(code: str, path: Path) -> dict[str, Any]:
    """Return what the piece says of itself: ``seconds``, ``bytes`` and whatever else it gave to ``done``."""
    done = subprocess.run([sys.executable, "-c", HEAD + code, str(path)], capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(done.stderr)
    result: dict[str, Any] = json.loads(done.stdout)
    return result
