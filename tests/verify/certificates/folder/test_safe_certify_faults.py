"""A fault at every file operation of a whole ``certify``: the same command finishes with what was drawn first.

What takes long is done once and then taken from a shelf: what is looked at here are the files.
"""

from __future__ import annotations

import contextlib
import functools
import gc
import hashlib
import importlib
import json
import os
import pickle
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import note_draws
from faults import Ended, Faults, ended, every
from toys.deployments import CLIPPED, DRAWN, OBJECTIVE, QUICK, REPORT, SCALES, dp, write_labelled

from verify.certificates import certificate
from verify.certificates.claims.types import DPClaim
from verify.certificates.folder import check_folder, check_pages, output
from verify.certificates.release import releases
from verify.cli import invoke
from verify.engine import versions, worker
from verify.engine.held import held
from verify.engine.worker import hold_blas
from verify.messages import faults as messages

TOML = CLIPPED + OBJECTIVE + DRAWN + REPORT + SCALES + QUICK + dp(40.0, 1e-5)
CERTIFY = ["certify", "d.toml", "--audience", "release", "--out", "out"]
ENDINGS = {".pdf": b"%%EOF", ".html": b"</html>", ".xml": b"</testsuites>", ".jsonl": b"}"}
ENDINGS |= dict.fromkeys((".json", ".md", ".toml"), b"")


def shelved(shelf: Path, work: Callable[..., Any], key: Callable[..., object]) -> Callable[..., Any]:
    """Return what does some work once for each key and then takes it from a shelf, outside of what is watched."""

    def take(*given: Any, **more: Any) -> Any:
        place = shelf / hashlib.sha256(repr((work.__name__, key(*given))).encode()).hexdigest()
        if not place.exists():
            part = place.with_suffix(f".{os.getpid()}")
            part.write_bytes(pickle.dumps(work(*given, **more)))
            part.rename(place)
        return pickle.loads(place.read_bytes())

    return take


def prepare(shelf: Path) -> None:
    """Replace what is slow by a shelf, and the noise by numbers that depend on how often it was drawn."""
    figures, pages = output.drawn_figures, output.rendered

    def set_pages(document: Any, suffix: str, **_: Any) -> bytes:
        return pages(document, suffix, figures=figures(document, 1) if suffix == ".pdf" else {})

    def cost(deployment: Any, *_: Any) -> object:
        return deployment.n_outputs, deployment.mu_report

    set_once = shelved(shelf, set_pages, lambda document, suffix: (document, suffix))
    output.rendered = check_pages.rendered = set_once
    output.drawn_figures = check_folder.drawn_figures = lambda *_: {}
    certificate.FINDINGS[DPClaim] = shelved(shelf, certificate.FINDINGS[DPClaim], cost)
    certificate.budget_figure = shelved(shelf, certificate.budget_figure, lambda made: cost(made.deployment))

    def rng() -> np.random.Generator:
        spent = Path("d.releases/spent.json")
        return np.random.default_rng(len(json.loads(spent.read_bytes())) if spent.exists() else 0)

    about, moment = versions.Clock.about, datetime(2026, 1, 1, tzinfo=UTC).isoformat()

    def timeless(clock: versions.Clock, *given: Any, **more: Any) -> dict[str, Any]:
        return about(clock, *given, **more) | {"started": moment, "finished": moment, "seconds": 0.0}

    versions.Clock.about = timeless
    messages.OURS = messages.OURS | {Faults.__module__, __name__}  # what fails here stands for the system's own calls
    certificate.prepare = functools.partial(releases.prepare, rng_source=rng)


def imported(_: Faults) -> int:
    """Do everything once, which fills the shelf, and print what it imported."""
    code = invoke(CERTIFY) or invoke(CERTIFY) or invoke(["check", "out"])
    print(json.dumps(sorted(sys.modules)))
    return code


def warm(folder: Path) -> None:
    """Import and look up once, for all that fork, what each of them needs; not here, where threads would stay."""
    first = ended(imported, folder)
    assert first.code == 0, first.printed
    for name in json.loads(first.printed.splitlines()[-1]):
        with contextlib.suppress(ImportError):
            importlib.import_module(name)
    versions.identity()
    platform.platform()
    hold_blas()
    worker.hold_blas = contextlib.nullcontext  # it is held
    gc.collect()
    gc.freeze()


def work(faults: Faults) -> int:
    """Certify, noting each draw."""
    note_draws(faults)
    return invoke(CERTIFY)


def finish(_: Faults) -> int:
    """Run the same command once more, then look whether everything belongs together."""
    return invoke(CERTIFY) or invoke(["check", "out"])


def whole(path: Path) -> bool:
    """Whether a file is complete, by its own format."""
    data = path.read_bytes().rstrip(b"\n")
    try:
        for text in data.splitlines() if path.suffix == ".jsonl" else [data] * (path.suffix == ".json"):
            json.loads(text)
    except ValueError:
        return False
    return data.endswith(ENDINGS[path.suffix])


def visible(folder: Path) -> dict[str, bytes]:
    """Return the files that somebody may read, by name."""
    found = [*(folder / "out").rglob("[!.]*.*"), *(folder / "d.releases").glob("[!.]*.*")]
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in found}


def state(folder: Path) -> tuple[tuple[str, str], ...]:
    """Return what a next run can tell apart: names, and the content of what it reads."""
    found = []
    for path in sorted(path for path in folder.rglob("*") if path.is_file()):
        name, temporary = re.subn(r"[0-9a-f]{16}\.tmp$", "tmp", path.relative_to(folder).as_posix())
        unread = temporary or path.name == ".holder.json"
        found.append((name, "" if unread else hashlib.sha256(path.read_bytes()).hexdigest()))
    return tuple(found)


def problems_at_once(folder: Path, end: Ended) -> list[str]:
    """Return what is wrong after a fault."""
    found = []
    errors = [line for line in end.printed.splitlines() if line.startswith("error: ")]
    if end.code not in (None, 0, 2) or "Traceback" in end.printed or len(errors) != (end.code == 2):
        found.append(f"ended with {end.code}: {end.printed}")
    before = visible(folder)
    found += [f"{name} is half-written" for name in before if not whole(folder / name)]
    spent = json.loads(before.get("d.releases/spent.json", b"[]"))
    for what in ("output", "report"):
        if sum(entry["what"] == what for entry in spent) < end.noted(what):
            found.append(f"{what} was drawn and not counted")
    return found


def problems_later(folder: Path, expected: set[str]) -> list[str]:
    """Return what is wrong after the same command has run once more."""
    found, before = [], visible(folder)
    after_all = ended(finish, folder)
    if after_all.code != 0:
        return [f"does not finish: {after_all.code}, {after_all.printed}"]
    after = visible(folder)
    if set(after) != expected:
        found.append(f"other files: {sorted(set(after) ^ expected)}")
    for name in ("d.releases/output.json", "d.releases/report.json"):
        if before.get(name, after[name]) != after[name]:
            found.append(f"{name} was read once and is another now")
    kept = json.loads(after["d.releases/output.json"])["output"]
    for part in ("curator", "release"):
        rows = [json.loads(line) for line in after[f"out/{part}/audit.jsonl"].splitlines()]
        if [row["numbers"] for row in rows if row.get("name") == "output"] != [kept]:
            found.append(f"{part} publishes another output")
    left = [path.name for path in folder.rglob("*.tmp")]
    return found + ([f"left are {left}"] if left else [])


def main() -> None:
    """Print what was tried and what was wrong."""
    os.environ["SOURCE_DATE_EPOCH"] = "1700000000"
    found, operations, expected = [], [], set()
    states: set[tuple[tuple[str, str], ...]] = set()
    with tempfile.TemporaryDirectory() as place:
        root, shelf = Path(place) / "runs", Path(place) / "shelf"
        first = root / "first"
        for folder in (root, shelf, first):
            folder.mkdir()
        write_labelled(first)
        (first / "d.toml").write_text(TOML)
        with held(root, "the folder", wait=0):
            prepare(shelf)
        warm(Path(shutil.copytree(first, root / "now")))
        shutil.rmtree(root / "now")
        for name, folder, end in every(work, lambda _: Path(shutil.copytree(first, root / "now"))):
            expected = expected or set(visible(folder))
            operations = operations or end.operations
            wrong, left = problems_at_once(folder, end), state(folder)
            if left not in states:  # what the next run does hangs on what it finds
                states.add(left)
                wrong += problems_later(folder, expected)
            found += [f"{name}: {each}" for each in wrong]
            shutil.rmtree(folder)
    print(json.dumps({"operations": operations, "states": len(states), "found": found}))


def test_half_a_file_and_a_draw_that_is_not_counted_are_noticed(tmp_path: Path) -> None:
    file = tmp_path / "out" / "run.json"
    file.parent.mkdir()
    file.write_text('{"half": ', encoding="utf-8")
    found = problems_at_once(tmp_path, Ended(0, ["note output"]))
    assert found == ["out/run.json is half-written", "output was drawn and not counted"]
    file.write_text("{}\n", encoding="utf-8")
    assert problems_at_once(tmp_path, Ended(0)) == []


@pytest.mark.slow
def test_certify_survives_a_fault_at_every_operation() -> None:
    tests = Path(__file__).resolve().parents[3]
    paths = os.pathsep.join([str(tests), str(tests.parent)])
    environment = os.environ | {"OPENBLAS_NUM_THREADS": "1", "PYTHONPATH": paths}
    done = subprocess.run([sys.executable, __file__], capture_output=True, text=True, env=environment, check=False)
    assert done.returncode == 0, done.stderr
    said = json.loads(done.stdout)
    assert said["found"] == []
    assert len(said["operations"]) > 150
    assert {"open", "write", "fsync", "os.rename", "os.mkdir", "fcntl.flock"} <= set(said["operations"])
    assert said["states"] > 50


if __name__ == "__main__":
    main()
