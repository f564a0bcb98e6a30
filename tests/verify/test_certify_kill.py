"""Killed at any moment: no file is half-written, and a second run finishes what the first began."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

CONFIGURATION = """
[data]
file = "data.csv"
features = ["a", "b"]
target = "y"
x_bound = 1.0
y_bound = 1.0
rows = "clip"
[mechanism]
name = "objective-perturbation"
loss = "logistic"
sigma = 8.0
lam = 4.0
[release]
draw = true
[report]
rho = 0.01
sigma2 = 8.0
sigma3 = 0.25
[budget]
profile = "quick"
jobs = 1
[[claims]]
type = "dp"
epsilon = 4.0
delta = 1e-5
"""


def start(folder: Path) -> subprocess.Popen[bytes]:
    arguments = ["certify", "d.toml", "--audience", "release", "--out", "out", "--overwrite"]
    code = f"from verify.cli import main; main({arguments})"
    environment = os.environ | {"SOURCE_DATE_EPOCH": "1700000000", "OPENBLAS_NUM_THREADS": "1"}
    return subprocess.Popen([sys.executable, "-c", code], cwd=folder, env=environment, stdout=subprocess.PIPE)


def whole(path: Path) -> bool:
    """Whether a file is complete, by its own format."""
    data = path.read_bytes()
    if path.suffix == ".json":
        json.loads(data)
    if path.suffix == ".jsonl":
        assert all(json.loads(line) for line in data.decode().splitlines())
    endings = {".pdf": b"%%EOF", ".xml": b"</testsuites>", ".jsonl": b"}", ".json": b"", ".md": b"", ".toml": b""}
    return data.rstrip(b"\n").endswith(endings[path.suffix])


#: Files (parts of their names) after whose appearance the run is killed, in the order in which they are written.
MOMENTS = (
    *("output.json", "report.json", "curator/.audit.jsonl", "curator/.audit.pdf", "curator/.predicate.json"),
    *("curator/.attestation.json", "release/.audit.jsonl", "release/.attestation.json"),
)


@pytest.mark.slow
def test_a_killed_run_leaves_whole_files_and_a_second_run_finishes(tmp_path: Path) -> None:
    """SIGKILL as soon as each of these files appears; what the first run drew is what the last one publishes."""
    index = np.arange(25)
    rows = np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(index), np.where(index % 3 > 0, 1, -1)])
    np.savetxt(tmp_path / "data.csv", rows, delimiter=",", header="a,b,y", comments="")
    (tmp_path / "d.toml").write_text(CONFIGURATION)
    drawn, killed = b"", 0
    for moment in (*MOMENTS, None):
        process = start(tmp_path)
        before = set(tmp_path.rglob("*"))
        while process.poll() is None:
            new = [path.as_posix() for path in tmp_path.rglob("*") if path not in before]
            if moment is not None and any(moment in path for path in new):
                process.send_signal(signal.SIGKILL)
                killed += 1
                break
            time.sleep(0.001)
        code = process.wait()
        if process.stdout is not None:
            process.stdout.close()
        for path in tmp_path.rglob("*.*"):
            if path.is_file() and path.suffix != ".csv" and not path.name.startswith("."):
                assert whole(path), path
        kept = tmp_path / "d.releases" / "output.json"
        if kept.is_file():
            drawn = drawn or kept.read_bytes()
            assert kept.read_bytes() == drawn
    assert code == 0
    assert killed >= 4  # a moment may be over before it is seen
    assert not list((tmp_path / "out").rglob("*.tmp"))
    spent = json.loads((tmp_path / "d.releases" / "spent.json").read_bytes())
    assert [entry["what"] for entry in spent] == ["output", "report"]
    check = subprocess.run(
        [sys.executable, "-c", "from verify.cli import main; main(['check', 'out'])"], cwd=tmp_path, check=False
    )
    assert check.returncode == 0
