"""A fault at every file operation of a draw: nothing half-written, nothing uncounted, the next run goes on.

The state folder alone is here; the whole of ``certify`` is in test_safe_certify_faults.py.
"""

from __future__ import annotations

import hashlib
import importlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import pytest
from drawn import DATA, TOML, note_draws
from faults import FAIL, KILL, Ended, Faults, ended, every

from verify.certificates.config.config import load
from verify.certificates.release import releases
from verify.engine.held import held
from verify.messages.errors import UserError

STATES = [
    "output alone",
    *(pytest.param(state, marks=pytest.mark.slow) for state in ("new", "again", "of before", "of before, stopped")),
]


def work(faults: Faults, *, again: bool) -> int:
    """Prepare the releases, noting each draw."""
    note_draws(faults)
    loaded = load(Path("d.toml"))
    try:
        found = releases.prepare(loaded, loaded.config.mechanism.build(2), DATA, draw_again=again)
    except UserError as stop:
        print(stop)
        return 2
    kept = Path("d.releases")
    assert found.digest == hashlib.sha256((kept / "output.json").read_bytes()).hexdigest()
    assert found.output is not None
    assert found.dependent is None or found.dependent.theta == tuple(found.output.tolist())
    assert (found.n_outputs, len(found.mu_reports)) == (counted(kept, "output"), counted(kept, "report"))
    assert list(found.chain) == releases.chain(loaded)
    assert found.digest in [entry.get("sha256") for entry in found.chain]
    return 0


def counted(folder: Path, what: str) -> int:
    spent = folder / "spent.json"
    return sum(entry["what"] == what for entry in json.loads(spent.read_bytes())) if spent.exists() else 0


def laid_out(root: Path, state: str) -> Callable[[str], Path]:
    """Return what makes a folder in that state."""
    kept = root / "kept"
    kept.mkdir()
    (kept / "d.toml").write_text(TOML.replace("sigma2 = 8.0\nsigma3 = 0.25\n", "") if state == "output alone" else TOML)
    if state not in ("new", "output alone"):
        assert ended(lambda faults: work(faults, again=False), kept).code == 0
        files = kept / "d.releases"
        if state != "again":
            (files / ".lock").unlink()
            spent = [
                {k: v for k, v in e.items() if k != "sha256"} for e in json.loads((files / "spent.json").read_bytes())
            ]
            (files / "spent.json").write_text(json.dumps(spent))
            text = (files / "output.json").read_text().replace('"draw": 1, ', "")
            (files / "output.json").write_text(text)
        if state == "of before, stopped":
            (files / "spent.json").unlink()
            (files / "report.json").unlink()

    def lay_out(name: str) -> Path:
        shutil.copytree(kept, root / name)
        return root / name

    return lay_out


def problems(folder: Path, end: Ended, before: Path, *, again: bool) -> list[str]:
    """Return what is wrong after a fault, and after the same command has run once more."""
    kept, found = folder / "d.releases", []
    if end.code not in (None, 0, 2) or end.printed.count("\n") > 1 or "Traceback" in end.printed:
        found.append(f"ended with {end.code}: {end.printed}")
    for path in kept.glob("[!.]*"):
        if not isinstance(json.loads(path.read_bytes()), list | dict):
            found.append(f"{path.name} is half-written")
    for what in ("output", "report"):
        if counted(kept, what) < counted(before, what) + end.noted(what):
            found.append(f"{what}: {counted(kept, what)} counted, {end.noted(what)} drawn")
    seen = {path.name: path.read_bytes() for path in kept.glob("[or]*.json")}
    after = ended(lambda faults: work(faults, again=again), folder)
    if after.code != 0 or after.printed:
        found.append(f"does not go on: {after.code}, {after.printed}")
        return found
    for name, data in seen.items():
        if not again and (kept / name).read_bytes() != data:
            found.append(f"{name} was read once and is another now")
    left = sorted(path.name for path in kept.iterdir())
    reports = ["report.json"] if counted(kept, "report") else []
    if left != [".lock", "output.json", *reports, "spent.json"] or any(
        path.stat().st_mode & 0o077 for path in (kept, *kept.iterdir())
    ):
        found.append(f"left are {left}")
    return found


def main(state: str) -> None:
    """Print what was tried and what was wrong."""
    again, found, tried = state == "again", [], 0
    kinds = (KILL,) if state == "output alone" else (FAIL, KILL)  # the fast one of the tests
    with tempfile.TemporaryDirectory() as root:
        with held(Path(root), "the folder", wait=0):  # imports once what every child needs
            importlib.import_module("scipy.optimize")  # as does a law of noise when it is first asked
        lay_out = laid_out(Path(root), state)
        for name, folder, end in every(lambda faults: work(faults, again=again), lay_out, kinds):
            tried += 1
            found += [
                f"{name}: {each}" for each in problems(folder, end, Path(root) / "kept" / "d.releases", again=again)
            ]
    print(json.dumps({"tried": tried, "found": found}))


@pytest.mark.parametrize("state", STATES)
def test_a_draw_survives_a_failure_and_a_kill_at_every_operation(state: str) -> None:
    tests = Path(__file__).resolve().parents[3]
    environment = os.environ | {
        "OPENBLAS_NUM_THREADS": "1",
        "PYTHONPATH": os.pathsep.join([str(tests), str(tests.parent)]),
    }
    done = subprocess.run(
        [sys.executable, __file__, state], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["found"] == []
    assert said["tried"] > {"output alone": 30, "new": 90, "again": 90}.get(state, 50)


if __name__ == "__main__":
    main(sys.argv[1])
