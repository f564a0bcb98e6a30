"""Two runs of one configuration at the same moment: what they publish was counted, and is in the chain of draws.

The pairs fork from one process that has imported everything and wait for one signal, so that they start together.
"""

from __future__ import annotations

import contextlib
import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from fuzz.calls import unrendered
from toys.deployments import CLIPPED, DRAWN, QUICK, SSP, dp, write_rows

from verify.certificates.release import releases
from verify.cli import invoke

TOML = CLIPPED + SSP + DRAWN + QUICK + dp(3.0)
RUNS = ("o1", "o2")
#: What every run imports sooner or later.
NEEDED = [
    *(
        "verify.certificates.cli_certify",
        "verify.runs.cli_run",
        "verify.runs.statement_run",
        "verify.certificates.folder.output",
        "filelock",
    ),
    *("reports.figures", "matplotlib.figure", "matplotlib.backends.backend_svg", "typst"),
]


def command(folder: Path, out: str, again: bool, reads: int, writes: int) -> int:
    """Certify in a process of its own as soon as everybody has closed ``writes``, and return its number."""
    child = os.fork()
    if child:
        return child
    code = 99
    try:
        os.chdir(folder)
        said = os.open(f"{out}.printed", os.O_WRONLY | os.O_CREAT, 0o600)
        os.dup2(said, 1)
        os.dup2(said, 2)
        os.close(writes)
        os.read(reads, 1)
        more = ["--draw-again"] if again else []
        code = invoke(["certify", "c.toml", "--audience", "release", "--out", out, *more])
        sys.stdout.flush()
    finally:
        os._exit(code)


def race(folder: Path, outs: Sequence[str], again: bool) -> list[int]:
    """Return the exit codes of runs that started together."""
    reads, writes = os.pipe()
    children = [command(folder, out, again, reads, writes) for out in outs]
    os.close(reads)
    os.close(writes)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


def published(folder: Path, out: str) -> dict[str, Any]:
    rows = [json.loads(line) for line in (folder / out / "release" / "audit.jsonl").read_text().splitlines()]
    found = next(row for row in rows if row["kind"] == "release" and row["name"] == "output")
    return {"mechanism": rows[0]["mechanism"], "numbers": found["numbers"], "cost": found["cost"]}


def attested(folder: Path, out: str) -> str:
    statement = json.loads((folder / out / "curator" / "attestation.json").read_bytes())
    return next(str(each["digest"]["sha256"]) for each in statement["subject"] if each["name"] == "output.json")


def problems(folder: Path, again: bool) -> list[str]:
    """Run a pair and return what is wrong with what came out."""
    codes = race(folder, RUNS, again)
    if codes != [0, 0]:
        return [f"ended with {codes}: {[(folder / f'{out}.printed').read_text() for out in RUNS]}"]
    found = []
    spent = [
        each for each in json.loads((folder / "c.releases" / "spent.json").read_bytes()) if each["what"] == "output"
    ]
    outputs = [published(folder, out) for out in RUNS]
    distinct = {tuple(each["numbers"]) for each in outputs}
    if len(distinct) > len(spent):
        found.append(f"{len(distinct)} published, {len(spent)} counted")
    if (len(distinct), len(spent)) != ((2, 3) if again else (1, 1)):
        found.append(f"{len(distinct)} drawn, {len(spent)} counted")
    sealed = [each.get("sha256") for each in spent]
    for out, each in zip(RUNS, outputs, strict=True):
        forms = [releases.output_bytes(each["mechanism"], each["numbers"], draw + 1) for draw in range(len(spent))]
        digests = {hashlib.sha256(data).hexdigest() for data in forms} & set(sealed)
        if digests != {attested(folder, out)}:
            found.append(f"{out} publishes what the chain does not hold, or attests another output")
    if again and sorted(each["cost"][-7:] for each in outputs) != ["2 draws", "3 draws"]:
        found.append(f"costs are {[each['cost'] for each in outputs]}")
    return found


def checked(folder: Path) -> list[str]:
    """Return what ``check`` says about the folders of a pair, where it says something else than that they are right."""
    found = []
    for out in RUNS:
        if os.fork() == 0:
            said = os.open(folder / f"{out}.checked", os.O_WRONLY | os.O_CREAT, 0o600)
            os.dup2(said, 1)
            os.dup2(said, 2)
            code = 99
            try:
                code = invoke(["check", str(folder / out)])
                sys.stdout.flush()
            finally:
                os._exit(code)
        if os.waitstatus_to_exitcode(os.wait()[1]) != 0:
            found.append((folder / f"{out}.checked").read_text())
    return found


def main(pairs: int, again: bool) -> None:
    """Print what was wrong with so many pairs."""
    for name in NEEDED:  # once for all that fork
        importlib.import_module(name)
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    index, found = np.arange(20), []
    rows = np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(index), np.sin(1.7 * index)])
    with tempfile.TemporaryDirectory() as root:
        first = Path(root) / "first"
        first.mkdir()
        write_rows(first, rows)
        (first / "c.toml").write_text(TOML)
        if again:
            assert race(first, ["o0"], again=False) == [0]
        for number in range(pairs):
            folder = Path(shutil.copytree(first, Path(root) / str(number)))
            # what is raced for is drawn long before the pages, which take their time: two pairs set them, one is read
            with contextlib.nullcontext() if number < 2 else unrendered():
                found += problems(folder, again)
            if number == 1:
                found += checked(folder)
    print(json.dumps(found))


def wrong(pairs: int, again: bool) -> list[str]:
    tests = Path(__file__).resolve().parents[3]
    paths = os.pathsep.join([str(tests), str(tests.parent)])
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths}
    done = subprocess.run(
        [sys.executable, __file__, str(pairs), "again" if again else "once"],
        capture_output=True,
        text=True,
        env=environment,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, list)
    return found


def test_two_runs_at_once_publish_one_output_that_is_counted_once() -> None:
    assert wrong(1, again=False) == []


@pytest.mark.slow
@pytest.mark.parametrize(("pairs", "again"), [(20, False), (3, True)])
def test_many_pairs_of_runs_at_once(pairs: int, again: bool) -> None:
    assert wrong(pairs, again) == []


if __name__ == "__main__":
    main(int(sys.argv[1]), sys.argv[2] == "again")
