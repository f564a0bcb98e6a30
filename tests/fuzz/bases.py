"""Folders that cases start from, each made once: inputs of a deployment, and what the commands leave behind."""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache, lru_cache
from pathlib import Path
from unittest import mock

from toys.deployments import DATA, DRAWN, OBJECTIVE, QUICK, REPORT, SCALES, claim, dp, pdp

from fuzz.calls import call

#: Stands in every private number of ``data.csv``; the start of it is what a message with few digits would show.
SECRET, SECRET_SHOWN = "313373133731", "31337"
N_RECORDS = 12

MECHANISMS = """
import numpy as np
from mechanisms import GaussianProfile
class Draws:
    def __init__(self, sigma, shift=0.0):
        self.sigma, self.shift = sigma, shift
    def centre(self, dataset):
        return dataset.X.T @ dataset.y + self.shift
    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        return centre + self.sigma * rng.standard_normal((n_draws, len(centre)))
class Density(Draws):
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.sigma).sum(axis=1)
class Worst(Density):
    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / self.sigma)
def view(output):
    return float(output[0])
"""

#: A command that reads requests and writes answers.
DOOR = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    if "csv" in request:
        total = sum(float(row.split(",")[-1]) for row in open(request["csv"]).read().splitlines()[1:])
    else:
        total = sum(request["y"])
    rng = random.Random(request.get("seed"))
    for _ in range(request["n_draws"]):
        print(total + rng.gauss(0, 5))
    sys.stdout.flush()
"""

DEPLOYMENT = DATA + OBJECTIVE + DRAWN + REPORT + SCALES + dp(4.0, 1e-4) + claim("report-coverage", level=0.1)
DEPLOYMENT += pdp(1.0, 1e-4) + QUICK

GRID = """[grid]
mechanism = ["ssp", "gaussian-printed"]
loss = ["squared"]
n = [10]
dim = [2]
conditioning = [1]
seed = [0]
target = ["lonely"]
delta = [1e-5]
epsilon = [1.0]
"""


def table() -> str:
    """Return the records: features ``a`` and ``b`` with the secret in every cell, labels, counts, words."""
    lines = ["a,b,y,c,w"]
    for i in range(N_RECORDS):
        a, b = (f"{'-' if (i * k) % 3 == 0 else ''}0.{1 + (k * i) % 6}{SECRET}" for k in (1, 5))
        lines.append(f"{a},{b},{1 if i % 3 else -1},{i % 4},{'red' if i % 2 else 'blue'}")
    return "\n".join(lines) + "\n"


@lru_cache(maxsize=1)
def _root() -> Path:
    name = tempfile.mkdtemp(prefix="fuzz-bases-")
    atexit.register(shutil.rmtree, name, ignore_errors=True)
    return Path(name)


@cache
def base(name: str, rendered: bool) -> Path:
    """Return a prepared folder; whoever changes anything copies it first."""
    folder = Path(tempfile.mkdtemp(prefix=f"{name}-", dir=_root()))
    {"empty": _empty, "deployment": _deployment, "certificate": _certificate, "run": _run, "sweep": _sweep}.get(
        name, _calibration
    )(folder, rendered)
    return folder


def _made(arguments: list[str], folder: Path, rendered: bool, *codes: int) -> None:
    scratch = _root() / "scratch"
    scratch.mkdir(exist_ok=True)
    ran = call(tuple(arguments), folder, scratch, rendered=rendered)
    if ran.code not in codes:
        raise AssertionError(f"{arguments}: {ran}")


def _empty(folder: Path, _: bool) -> None:
    folder.joinpath("notes.txt").write_text("theirs\n")


def _deployment(folder: Path, _: bool) -> None:
    (folder / "data.csv").write_text(table())
    (folder / "mine.py").write_text(MECHANISMS)
    (folder / "door.py").write_text(DOOR)
    (folder / "out.json").write_text("[0.1, -0.2]")
    (folder / "proof.txt").write_text("a proof\n")


def _certificate(folder: Path, rendered: bool) -> None:
    _deployment(folder, rendered)
    (folder / "c.toml").write_text(DEPLOYMENT)
    (folder / "me.json").write_text(json.dumps({"a": 0.5, "b": 0.1, "y": 1}))
    _made(["certify", "c.toml", "--audience", "release", "--out", "out", "--jobs", "1"], folder, rendered, 0, 1, 3)


def _run(folder: Path, rendered: bool) -> None:
    ids = ["RW21-L31", "W18-L4", "W19-D2.1", "W19-LA.1"]
    _made(["run", *ids, "--profile", "quick", "--jobs", "1", "--out", "out"], folder, rendered, 0)


def _sweep(folder: Path, rendered: bool) -> None:
    _deployment(folder, rendered)
    (folder / "grid.toml").write_text(GRID)
    _made(["sweep", "grid.toml", "--jobs", "1"], folder, False, 0, 1, 3)


def _calibration(folder: Path, rendered: bool) -> None:
    """A small calibration: three series and a mutant, few repetitions."""
    from verify.calibration import calibration_run as run
    from verify.calibration.series.interval_series import interval_series
    from verify.calibration.series.series import BankMutant

    names = ("Clopper-Pearson: Bernoulli 0.5", "Holm: true", "CONTROL unpaid looks")
    few = {each.name: each for each in interval_series() if each.name.startswith(names)}
    sure = BankMutant("sure", (0.1, 1.0), lambda strength, _: strength > 0.5, 1.0, 1)
    with (
        mock.patch.object(run, "all_series", return_value=few),
        mock.patch.object(run, "all_mutants", return_value={"sure": sure}),
        mock.patch.object(run, "REPETITIONS", {"quick": (20, 20, 20)}),
    ):
        _made(["calibrate", "--profile", "quick", "--jobs", "1", "--out", "out"], folder, rendered, 0, 1)
