"""Two worlds that differ in private records alone, and everything that the public sees of ``certify`` in each.

The accounted releases are the one thing that may differ. Here they are made from the records, as always, and then
replaced by constants before anything uses them; or they are kept from before, in a folder that both worlds share.
"""

from __future__ import annotations

import contextlib
import io
import os
import shutil
import stat
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from toys.deployments import (
    CLIPPED,
    DRAWN,
    OBJECTIVE,
    QUICK,
    REPORT,
    SCALES,
    SSP,
    claim,
    dp,
    imported,
    mechanism,
    pdp,
    section,
)

from mechanisms import Dataset, make_report
from verify.certificates.config.config import parse
from verify.certificates.config.config_mechanisms import OwnSection
from verify.certificates.release import releases
from verify.cli import invoke

LIMITS = 'response = "clip"\nmissing = "drop"\nn_public = 60\n'
#: About everyone, then about the records: what is found there is the curator's.
EVERYONE = dp(1.0, 1e-5)
RECORDS = pdp(0.02) + claim("ex-post", epsilon=0.05)
COVERAGE = claim("report-coverage", level=0.05)
REPLACING = EVERYONE + 'relation = "replace"\n'
GROUPS = EVERYONE + "group = 3\n"
CURVE = claim("dp", profile="gaussian-dp", mu=0.5)
UTILITY = claim("utility", metric="mean squared error", at_most=0.4)
LABELS = "threshold = 0.0\n"


def configuration(mechanism: str, claims: str, *, data: str = "", more: str = "") -> str:
    return CLIPPED + LIMITS + data + QUICK + DRAWN + mechanism + more + claims


ADAPTIVE: dict[str, Any] = {"epsilon": 0.9, "delta": 1e-6}
IMPORTED = imported("mine.py:Sums") + 'vouched_by = { who = "its author", proof = "10.1000/182" }\n'
ANSWERING = [sys.executable, "-I", "-S", "door.py"]
#: Every mechanism of ours, the data-dependent report, one that is imported, and one behind a command.
MECHANISMS = {
    "objective-perturbation": configuration(OBJECTIVE, EVERYONE + RECORDS, data=LABELS),
    "data-dependent report": configuration(
        OBJECTIVE,
        EVERYONE.replace("1.0", "4.0") + COVERAGE + RECORDS,
        data=LABELS,
        more=REPORT + SCALES,
    ),
    "gaussian-output": configuration(mechanism("gaussian-output", sigma=8.0, lam=1.0), EVERYONE + RECORDS + UTILITY),
    "glm-output": configuration(
        mechanism("glm-output", loss="logistic", sigma=8.0, lam=1.0), EVERYONE + RECORDS, data=LABELS
    ),
    "posterior-sampling": configuration(mechanism("posterior-sampling", gamma=0.02, lam=4.0), EVERYONE + RECORDS),
    "ssp": configuration(SSP, EVERYONE + RECORDS + UTILITY),
    "adassp": configuration(mechanism("adassp", **ADAPTIVE), EVERYONE + RECORDS),
    "adaops-2018": configuration(mechanism("adaops-2018", **ADAPTIVE), EVERYONE + RECORDS),
    "adaops-2019": configuration(mechanism("adaops-2019", kappa=0.1, n_public=60, **ADAPTIVE), EVERYONE + RECORDS),
    "noisy-sgd": configuration(
        mechanism("noisy-sgd", n_steps=3, sigma=400.0, step_size=0.01, clip=2.0, radius=1.0, n_public=60),
        EVERYONE + RECORDS,
    ),
    "dp-sgd": configuration(
        mechanism(
            "dp-sgd", loss="logistic", n_steps=3, rate=0.25, sigma=20.0, clip=1.0, step_size=1.0, count_sigma=20.0
        ),
        EVERYONE + RECORDS,
        data=LABELS,
    ),
    "subsample-aggregate": configuration(
        mechanism("subsample-aggregate", n_blocks=5, epsilon=1.0, radius=1.0), EVERYONE + RECORDS
    ),
    "imported": configuration(IMPORTED, EVERYONE + RECORDS).replace("jobs = 1", "jobs = 1\npairs = 2\ndraws = 3000"),
    "command": configuration(section("[mechanism]", command=ANSWERING), EVERYONE + pdp(0.02))
    .replace(DRAWN, "")
    .replace("jobs = 1", "jobs = 1\npairs = 1\ndraws = 100"),
    "z-scores": configuration(OBJECTIVE, COVERAGE + RECORDS, data=LABELS + "standardise = true\n", more=REPORT),
    "squared loss": configuration(OBJECTIVE.replace("logistic", "squared"), COVERAGE + RECORDS, more=REPORT),
    "ranges and an intercept": configuration(
        mechanism("ssp", sigma_gram=8.0, sigma_moment=8.0, lam=0.0),
        EVERYONE + RECORDS,
        data="ranges = { a = [-1, 1], b = [-1e-3, 1e300] }\nintercept = 0.5\n",
    ),
    "replacing, groups, whole curves": configuration(SSP, REPLACING + GROUPS + CURVE),
}
CODE = '''
import numpy as np
from mechanisms import GaussianProfile

class Sums:
    """The sum of the responses, with noise."""

    name = "noisy sum"

    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + 8.0 * rng.standard_normal((n_draws, 1))

    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs[:, 0] - dataset.y.sum()) / 8.0)

    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(y_bound / 8.0)
'''
DOOR = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request["seed"])
    for _ in range(request["n_draws"]):
        print(sum(request["y"]) + rng.gauss(0, 8))
    sys.stdout.flush()
"""


# --- worlds -----------------------------------------------------------------------------------------------------------


def base(n: int = 25) -> np.ndarray:
    index = np.arange(n)
    X = np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(2.5 * index)])
    return np.column_stack([X, 0.9 * np.sin(1.7 * index)])


def table(rows: np.ndarray, more: str = "") -> str:
    return "a,b,y\n" + "".join(",".join(repr(float(v)) for v in row) + "\n" for row in rows) + more


def _with(rows: np.ndarray, place: Any, value: Any) -> np.ndarray:
    changed = rows.copy()
    changed[place] = value
    return changed


def worlds() -> dict[str, str]:
    """Return data files that keep every stated public rule, the first of them the one to compare with."""
    rows = base()
    longest = int(np.argmax(np.square(rows[:, :2]).sum(axis=1)))
    shuffled = rows[np.random.default_rng(5).permutation(len(rows))]
    return {
        "base": table(rows),
        "one removed": table(rows[:-1]),
        "first removed": table(rows[1:]),
        "most extreme removed": table(np.delete(rows, longest, axis=0)),
        "one added at the edge": table(rows, "1.0,0.0,1.0\n"),
        "one added, clipped from 1e300": table(rows, "-1e300,1e300,-1e300\n"),
        "one changed": table(_with(rows, 3, [0.9, -0.4, -1.0])),
        "one response changed": table(_with(rows, (3, 2), 0.77)),
        "one record": table(rows[:1]),
        "two records": table(rows[:2]),
        "as many as are allowed": table(base(60)),
        "all alike": table(np.tile(rows[:1], (25, 1))),
        "all zero": table(np.zeros((25, 3))),
        "responses alike": table(_with(rows, (slice(None), 2), 1.0)),
        "responses zero": table(_with(rows, (slice(None), 2), 0.0)),
        "responses turned": table(rows * [1.0, 1.0, -1.0]),
        "a constant column": table(_with(rows, (slice(None), 0), 0.25)),
        "a column of zeros": table(_with(rows, (slice(None), 1), 0.0)),
        "singular": table(np.column_stack([rows[:, 0], 2 * rows[:, 0], rows[:, 2]])),
        "almost singular": table(np.column_stack([rows[:, 0], rows[:, 0] * (1 + 1e-13), rows[:, 2]])),
        "huge": table(rows * 1e300),
        "tiny": table(rows * 1e-300),
        "the largest that there is": table(np.sign(rows) * 1.7976931348623157e308),
        "permuted": table(shuffled),
        "duplicated": table(np.repeat(rows, 2, axis=0)),
        "one with a missing value": table(rows, "0.5,,1.0\n"),
        "all but one dropped": table(rows[:1], "nan,0.1,0.5\n" * 24),
        "empty after the drop": table(rows[:0], ",,\n" * 5),
        "negative zeros": table(_with(rows, 4, [-0.0, 0.0, -0.0])),
        "further columns and fields": "id,a,b,y\n"
        + "".join(f"Anna {i},{a!r},{b!r},{y!r}\n" for i, (a, b, y) in enumerate(rows.tolist())),
        "lines of Windows, blanks": table(rows).replace("\n", "\r\n").replace(",", ", ").replace("a, b, y", "a,b,y"),
    }


#: Worlds that break a stated rule: the one exception. Whichever record breaks it, and by how much, must not be seen.
BROKEN = {
    "more records than are allowed": ("", (table(base(61)), table(base(75)))),
    "fewer records than are allowed": ("n_min = 20", (table(base(19)), table(base(3)))),
    "rows too long": ('rows = "refuse"', (table(base(), "3,4,0\n"), table(_with(base(), 7, [1e200, 0, 0])))),
    "responses too large": ('response = "refuse"', (table(base(), "0,0,7\n"), table(_with(base(), 2, [0, 0, -88])))),
    "a missing value": ('missing = "refuse"', (table(base(), "0,,0\n"), table(base()[:3], "0,nan,0\n" * 4))),
}


def strict(text: str, line: str) -> str:
    """Return a configuration with one line of its data section replaced, or added."""
    key = line.partition(" = ")[0]
    kept = [each for each in text.splitlines() if not (key and each.startswith(f"{key} = "))]
    return "\n".join(kept).replace("[budget]", f"{line}\n[budget]", 1) + "\n"


# --- what is seen -----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Seen:
    """What the public sees of one command: exit code, both streams, every name, size and mode, what may be read."""

    code: int
    out: str
    err: str
    files: dict[str, Any] = field(default_factory=dict)

    def differences(self, other: Seen) -> list[str]:
        """Return the doors at which two worlds differ."""
        doors = [name for name in ("code", "out", "err") if getattr(self, name) != getattr(other, name)]
        names = sorted({*self.files, *other.files})
        return doors + [f"file {name}" for name in names if self.files.get(name) != other.files.get(name)]


def _public_part(folder: Path) -> dict[str, Any]:
    """Return of everything below a folder what others may see: nothing of what lies in a folder closed to them."""
    found: dict[str, Any] = {}
    for path in sorted(folder.iterdir()):
        about = path.lstat()
        if path.name in ("data.csv", "__pycache__"):
            continue
        kind = (stat.filemode(about.st_mode), about.st_size if path.is_file() else 0)
        readable = about.st_mode & 0o004
        found[path.name] = (*kind, path.read_bytes() if path.is_file() and readable else b"")
        if path.is_dir() and about.st_mode & 0o005:
            found |= {f"{path.name}/{name}": each for name, each in _public_part(path).items()}
    return found


def seen(folder: Path, text: str, data: str, *options: str, kept: Path | None = None) -> Seen:
    """Return what is seen of ``certify --audience release`` in a world; ``folder`` is emptied first.

    ``kept`` is a folder of releases from before, put beside the configuration.
    """
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    (folder / "data.csv").write_text(data, encoding="utf-8")
    (folder / "d.toml").write_text(text, encoding="utf-8")
    (folder / "mine.py").write_text(CODE, encoding="utf-8")
    (folder / "door.py").write_text(DOOR, encoding="utf-8")
    if kept is not None:
        shutil.copytree(kept, folder / "d.releases")
    return seen_again(folder, *options)


def seen_again(folder: Path, *options: str) -> Seen:
    """Return the same in a folder as it stands."""
    out, err, before = io.StringIO(), io.StringIO(), Path.cwd()
    try:
        os.chdir(folder)
        with (
            contextlib.redirect_stdout(out),
            contextlib.redirect_stderr(err),
            warnings.catch_warnings(),
            mock.patch.dict(os.environ, {"SOURCE_DATE_EPOCH": "1700000000"}),
        ):
            warnings.simplefilter("always")  # each world shows its own
            code = invoke(["certify", "d.toml", "--audience", "release", "--out", "out", *options])
    finally:
        os.chdir(before)
    return Seen(code, out.getvalue(), err.getvalue(), _public_part(folder))


@contextlib.contextmanager
def constant_releases(text: str) -> Iterator[None]:
    """Let every accounted release be made from the records, and then be another one, which comes from no data."""
    config = parse(text)
    honest_draw, honest_report = releases.draw_as_audited, make_report
    dim = 2 + (config.data.intercept is not None)
    X = np.column_stack([base(5)[:, :2], np.full(5, 0.1)])[:, :dim]
    fixed = Dataset(X, np.where(base(5)[:, 2] > 0, 1.0, -1.0), 1.0, 1.0)
    if isinstance(config.mechanism, OwnSection):
        constant = np.array([0.5])
    else:
        constant = config.mechanism.build(dim).draw(fixed, 1, rng=np.random.default_rng(7))[0]

    def draw(*arguments: Any) -> Any:
        honest_draw(*arguments)
        return constant

    def report(theta: Any, dataset: Dataset, scales: Any, *, rng: np.random.Generator) -> Any:
        honest_report(theta, dataset, scales, rng=rng)
        return honest_report(constant, fixed, scales, rng=np.random.default_rng(8))

    with mock.patch.object(releases, "draw_as_audited", draw), mock.patch.object(releases, "make_report", report):
        yield


def kept_releases(folder: Path, text: str) -> Path:
    """Return a folder of releases that were drawn, for good, from other records."""
    before = seen(folder, text, table(base(9)))
    assert before.code in (0, 1, 3), before.err
    return folder / "d.releases"


#: The ways in which the command is called: fresh, with a kept release, once more, after it finished, as a dry run.
Call = Callable[[Path, str, str, Path], Seen]


def drawn(folder: Path, text: str, data: str, _: Path) -> Seen:
    with constant_releases(text):
        return seen(folder, text, data)


def reused(folder: Path, text: str, data: str, kept: Path) -> Seen:
    return seen(folder, text, data, kept=kept)


def drawn_again(folder: Path, text: str, data: str, kept: Path) -> Seen:
    with constant_releases(text):
        return seen(folder, text, data, "--draw-again", kept=kept)


def finished(folder: Path, text: str, data: str, kept: Path) -> Seen:
    """Return what a second run says, into the folder of one that finished; the records may be others by then."""
    seen(folder, text, table(base()), kept=kept)
    (folder / "data.csv").write_text(data, encoding="utf-8")
    return seen_again(folder)


def dry(folder: Path, text: str, data: str, kept: Path) -> Seen:
    return seen(folder, text, data, "--dry-run", kept=kept)


CALLS: dict[str, Call] = {
    "drawn": drawn,
    "reused": reused,
    "drawn again": drawn_again,
    "finished": finished,
    "dry run": dry,
}
