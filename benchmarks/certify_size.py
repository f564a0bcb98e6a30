"""A whole certificate of 1,000,000 records by 4 features and a response: time and memory against a plain pandas read.

Usage: python benchmarks/certify_size.py [--rows N] [--repetitions R] [--objective]. A claim over all data sets and one
about every record, profile quick, one process; every part in a process of its own, peaks above what the imports hold.
``--objective``: objective perturbation, which has no exact law, as well; it takes a minute or more.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

from running import options

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


NAMES = ("a", "b", "c", "d")
MECHANISMS = {
    "gaussian-output": 'name = "gaussian-output"\nsigma = 1.0\nlam = 100.0',
    "posterior-sampling": 'name = "posterior-sampling"\ngamma = 0.01\nlam = 100.0',
    "ssp": 'name = "ssp"\nsigma_gram = 40.0\nsigma_moment = 40.0\nlam = 1.0',
    "objective-perturbation": 'name = "objective-perturbation"\nloss = "logistic"\nsigma = 20.0\nlam = 10.0',
}
TOML = """
[data]
file = "data.csv"
features = ["a", "b", "c", "d"]
target = "{target}"
x_bound = 2.0
y_bound = 1.0
n_public = 2000000
[mechanism]
{mechanism}
[[claims]]
type = "dp"
epsilon = 1.0
delta = 1e-6
[[claims]]
type = "pdp"
scope = "records"
epsilon = 0.8
delta = 1e-6
[budget]
profile = "quick"
jobs = 1
"""

QUIET = """
import os, warnings
os.environ["OPENBLAS_NUM_THREADS"] = "1"
warnings.simplefilter("ignore")
import pandas as pd
"""

PLAIN = (
    QUIET
    + """
precise = {"float_precision": "round_trip"} if int(pd.__version__.partition(".")[0]) < 3 else {}
before, start = peak(), time.perf_counter()
frame = pd.read_csv(path, **precise)
done(before, start, rows=len(frame))
"""
)

OURS = (
    QUIET
    + """
import matplotlib.figure, matplotlib.backends.backend_svg, scipy.interpolate, typst
import reports.document, reports.figures, verify.certificates.certify_call
from pathlib import Path
from reports.row import Audience
from verify.certificates.certificate import decide, read_deployment
from verify.certificates.config.config import load
from verify.certificates.folder.output import contents
from verify.engine.worker import one_blas_thread
loaded = load(Path(path))
before, start = peak(), time.perf_counter()
with one_blas_thread():
    deployment, digest = read_deployment(loaded, jobs=1)
    read = time.perf_counter() - start
    certificate = decide(deployment, digest)
    decided = time.perf_counter() - start
    files = contents(certificate, loaded, Audience.CURATOR, date="2026-01-01", jobs=1).files
verdicts = [finding.verdict.words for finding in certificate.findings]
done(before, start, read=read, decided=decided, verdicts=verdicts, pdf=len(files["audit.pdf"]))
"""
)


def write_csv(path: Path, n_rows: int) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(0)
    for start in range(0, n_rows, 100_000):
        X = rng.uniform(-1, 1, (min(100_000, n_rows - start), len(NAMES)))
        score = X @ [1.0, 0.5, -1.0, 0.2]
        frame = pd.DataFrame(X, columns=list(NAMES))
        frame["y"] = np.clip(0.3 * score + 0.1 * rng.normal(size=len(X)), -1, 1)
        frame["label"] = np.where(score + rng.normal(size=len(X)) > 0, 1, -1)
        frame.to_csv(path, mode="a", header=start == 0, index=False)


def measured(
    folder: Path, names: list[str], repetitions: int
) -> tuple[list[dict[str, float]], dict[str, list[dict[str, float]]]]:
    """Return plain reads and certificates, one of each in turn."""
    plain: list[dict[str, float]] = []
    ours: dict[str, list[dict[str, float]]] = {name: [] for name in names}
    for _ in range(repetitions):
        plain.append(run(PLAIN, folder / "data.csv"))
        for name in names:
            ours[name].append(run(OURS, folder / f"{name}.toml"))
    return plain, ours


def main() -> None:
    asked = options(__doc__, rows=1_000_000, repetitions=3, objective=False)
    names = [name for name in MECHANISMS if asked.objective or name != "objective-perturbation"]
    with tempfile.TemporaryDirectory() as held:
        folder = Path(held)
        write_csv(folder / "data.csv", asked.rows)
        for name in names:
            target = "label" if name == "objective-perturbation" else "y"
            (folder / f"{name}.toml").write_text(TOML.format(mechanism=MECHANISMS[name], target=target))
        plain, ours = measured(folder, names, asked.repetitions)
    show(asked.rows, plain, ours)


def show(n_rows: int, plain: list[dict[str, float]], ours: dict[str, list[dict[str, float]]]) -> None:
    array = n_rows * (len(NAMES) + 1) * 8
    whole = median(each["seconds"] for each in plain)

    def part(of: Callable[[dict[str, float]], float], name: str) -> float:
        return median(of(each) for each in ours[name])

    print(f"{n_rows} rows, medians of {len(plain)}; plain pandas read {whole:.2f} s; X and y {array / 1e6:.0f} MB")
    columns = ("read", "decided", "whole", "decided/plain", "whole/plain", "memory")
    print(f"{'mechanism':24s} " + " ".join(f"{column:>13s}" for column in columns))
    for name in ours:
        read, decided = part(lambda e: e["read"], name), part(lambda e: e["decided"], name)
        total, memory = part(lambda e: e["seconds"], name), part(lambda e: e["bytes"], name) / array
        cells = (
            f"{read:.2f} s",
            f"{decided:.2f} s",
            f"{total:.2f} s",
            f"{decided / whole:.1f}x",
            f"{total / whole:.1f}x",
        )
        print(
            f"{name:24s} " + " ".join(f"{cell:>13s}" for cell in (*cells, f"{memory:.2f}x")), ours[name][0]["verdicts"]
        )
    print("aims: 10x, memory 4x")


if __name__ == "__main__":
    main()
