"""What the commands say, kept from one checkout and compared with another: a redesign must leave it byte for byte.

``python .ci/freeze.py keep CHECKOUT FOLDER [NAME ...]`` runs the cases (all, or those whose names begin so) with the
code of a checkout and keeps exit codes, what was printed, records, JSON and schemas. ``python .ci/freeze.py compare
FOLDER OTHER`` says what differs in the cases of the second, and ends with 1 where something does. Left out: versions,
digests of sources, times, and folders of this machine. The cases stand here and import nothing of the project, so that
both sides run the same.
"""

from __future__ import annotations

import ast
import json
import os
import re
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

#: Keys of records that say by what and when they were made.
LEFT_OUT = {"sources", "versions", "version", "commit", "seconds", "duration", "time", "made_at", "n_jobs", "uuid"}
LEFT_OUT |= {"timestamp", "serialNumber", "sha256", "digest"}
KEPT = {".json", ".jsonl", ".sarif"}
MAIN = "import sys; from verify.cli import main; sys.exit(main())"
ROWS = "\n".join(
    f"{'-' if i % 3 == 0 else ''}0.{1 + i % 6},{'-' if i * 5 % 3 == 0 else ''}0.{1 + 5 * i % 6},{1 if i % 3 else -1}"
    for i in range(12)
)
MINE = """
import numpy as np
from mechanisms import GaussianProfile
class Draws:
    def __init__(self, sigma, stated=None):
        self.sigma, self.stated = sigma, stated or sigma
    def centre(self, dataset):
        return dataset.X.T @ dataset.y
    def draw(self, dataset, n_draws, *, rng):
        centre = self.centre(dataset)
        return centre + self.sigma * rng.standard_normal((n_draws, len(centre)))
class Density(Draws):
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - self.centre(dataset)) / self.stated).sum(axis=1)
class Worst(Density):
    def worst_profile(self, x_bound, y_bound, relation="add-remove"):
        return GaussianProfile(x_bound * y_bound * (1 if relation == "add-remove" else 2) / self.stated)
class Clamped(Draws):
    def draw(self, dataset, n_draws, *, rng):
        return np.maximum(super().draw(dataset, n_draws, rng=rng), 0.0)
class Seeded(Draws):
    def draw(self, dataset, n_draws, *, rng):
        return super().draw(dataset, n_draws, rng=np.random.default_rng(1))
"""
DOOR = """
import json, random, sys
for line in sys.stdin:
    request = json.loads(line)
    rng = random.Random(request.get("seed"))
    for _ in range(request["n_draws"]):
        print(sum(request["y"]) + rng.gauss(0, SIGMA))
    sys.stdout.flush()
"""
FILES = {
    "data.csv": f"a,b,y\n{ROWS}\n",
    "mine.py": MINE,
    "door.py": DOOR.replace("SIGMA", "5"),
    "loud.py": DOOR.replace("SIGMA", ".5"),
    "out.json": "[0.1, -0.2]",
    "proof.txt": "a proof\n",
    "me.json": '{"a": 0.5, "b": 0.1, "y": 1}',
}
PRIVATE = '[data]\nfile = "data.csv"\nfeatures = ["a", "b"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 1.0\n'
PUBLIC = PRIVATE + "public = true\n"
EMBEDDED = '[data]\nsource = "anes96"\n'
QUICK = '[budget]\nprofile = "quick"\nseed = 3\n'
SMALL = QUICK + "pairs = 2\ndraws = 1000\n"
DP, REPLACE = (
    f'[[claims]]\ntype = "dp"\nepsilon = 1.0\ndelta = 1e-6\nrelation = "{r}"\n' for r in ("add-remove", "replace")
)
EVERYONE, RECORDS = (
    f'[[claims]]\ntype = "pdp"\nscope = "{s}"\nepsilon = 1.0\ndelta = 1e-6\n' for s in ("everyone", "records")
)
CURVE = '[[claims]]\ntype = "dp"\nprofile = "gaussian-dp"\nmu = 0.25\n'
FILTER = '[[claims]]\ntype = "filter"\nkind = "renyi"\norder = 4\nbudget = 0.5\ndelta = 1e-6\n'
UTILITY = '[[claims]]\ntype = "utility"\nmetric = "mean squared error"\nat_most = 4.0\n'
EX_POST, COVERAGE = (
    '[[claims]]\ntype = "ex-post"\nepsilon = 1.0\n',
    '[[claims]]\ntype = "report-coverage"\nlevel = 0.1\n',
)
DRAWN, REPORT = "[release]\ndraw = true\n", "[report]\nrho = 0.01\nsigma2 = 8.0\nsigma3 = 0.25\n"


def own(name: str, **parameters: Any) -> str:
    """Return the table of a reference mechanism."""
    return "[mechanism]\n" + "".join(f"{k} = {json.dumps(v)}\n" for k, v in {"name": name, **parameters}.items())


def mine(name: str, sigma: float = 5.0, more: str = "", *, word: bool = True) -> str:
    """Return the table of a mechanism of ``mine.py``."""
    vouched = 'vouched_by = { who = "us", proof = "10.1561/0400000042" }\n' if word else ""
    return f'[mechanism]\nimport = "mine.py:{name}"\nparameters = {{ sigma = {sigma}{more} }}\n{vouched}'


OBJECTIVE = own("objective-perturbation", loss="logistic", sigma=8.0, lam=4.0)
SSP = own("ssp", sigma_gram=8.0, sigma_moment=8.0, lam=1.0)
SGD = {"n_steps": 3, "rate": 0.25, "sigma": 4.0, "clip": 1.0, "step_size": 0.5, "normaliser": 3.0}
COMMAND = f"[mechanism]\ncommand = {json.dumps([sys.executable, '-I', '-S', 'door.py'])}\n"
#: Name -> configuration; ``release-`` at the start: for that audience, ``complete-``: with every pair.
CERTIFICATES = {
    "ssp-pass": PRIVATE + SSP + DP + RECORDS + SMALL,
    "ssp-fail": PUBLIC + own("ssp", sigma_gram=0.5, sigma_moment=0.5, lam=1.0) + DP + SMALL,
    "ssp-embedded": EMBEDDED + SSP + DP + EVERYONE + SMALL,
    "objective-everything": PRIVATE + OBJECTIVE + DRAWN + REPORT + DP + EVERYONE + COVERAGE + SMALL,
    "release-objective": PRIVATE + OBJECTIVE + DRAWN + REPORT + DP + COVERAGE + SMALL,
    "objective-squared": PUBLIC + own("objective-perturbation", loss="squared", sigma=8.0, lam=4.0) + DP + SMALL,
    "objective-huber": PUBLIC + own("objective-perturbation", loss="pseudo-huber", sigma=8.0, lam=4.0) + DP + SMALL,
    "glm-output": PUBLIC + own("glm-output", loss="logistic", sigma=8.0, lam=1.0) + DP + SMALL,
    "posterior": PUBLIC + own("posterior-sampling", gamma=0.001, lam=20.0) + DP + RECORDS + SMALL,
    "gaussian": PUBLIC + own("gaussian-output", sigma=8.0, lam=1.0) + DP + REPLACE + SMALL,
    "adassp": PUBLIC + own("adassp", epsilon=1.0, delta=1e-6) + DP + EVERYONE + SMALL,
    "adaops-2018": PUBLIC + own("adaops-2018", epsilon=1.0, delta=1e-6) + DP + SMALL,
    "adaops-2019": PUBLIC + own("adaops-2019", epsilon=1.0, delta=1e-6, kappa=0.3, n_public=20) + DP + SMALL,
    "subsample": PUBLIC + own("subsample-aggregate", n_blocks=3, epsilon=1.0, radius=1.0, lam=1.0) + DP + SMALL,
    "ex-post": PRIVATE + SSP + '[release]\nfile = "out.json"\n' + EX_POST + SMALL,
    "utility": PUBLIC + SSP + UTILITY + SMALL,
    "dp-sgd": PUBLIC + own("dp-sgd", loss="squared", **SGD) + DP + RECORDS + SMALL,
    "dp-sgd-replace": PUBLIC + own("dp-sgd", loss="logistic", **SGD) + REPLACE + SMALL,
    "filtered": PUBLIC
    + own("filtered-dp-sgd", loss="squared", filter="renyi", order=4, budget=0.01, **SGD)
    + FILTER
    + SMALL,
    "release-ssp": PRIVATE + SSP + DP + SMALL,
    "worst-pass": PUBLIC + mine("Worst") + DP + QUICK,
    "worst-private": PRIVATE + mine("Worst") + DP + QUICK,
    "release-worst": PRIVATE + mine("Worst") + DP + QUICK,
    "worst-curve": PUBLIC + mine("Worst") + CURVE + QUICK,
    "worst-records": PUBLIC + mine("Worst") + RECORDS + SMALL,
    "worst-replace": PUBLIC + mine("Worst", 12.0) + REPLACE + QUICK,
    "worst-fail": PUBLIC + mine("Worst", 1.0) + DP + QUICK,
    "complete-fail": PUBLIC + mine("Worst", 1.0) + DP + SMALL,
    "worst-two-claims": PUBLIC + mine("Worst") + DP + CURVE + SMALL,
    "density-unvouched": PUBLIC + mine("Density", word=False) + DP + SMALL,
    "density-misstated": PUBLIC + mine("Worst", 9.0, ", stated = 6.0") + DP + QUICK,
    "draws-alone": PUBLIC + mine("Draws") + DP + SMALL,
    "clamped": PUBLIC + mine("Clamped") + DP + SMALL,
    "seeded": PUBLIC + mine("Seeded") + DP + QUICK,
    "draws-sequential": PUBLIC + mine("Draws", 0.7) + DP + SMALL + "sequential = true\n",
    "command": PUBLIC + COMMAND + DP + SMALL.replace("1000", "300"),
    "command-loud": PUBLIC + COMMAND.replace("door.py", "loud.py") + DP + SMALL.replace("1000", "300"),
    "command-sequential": PUBLIC
    + COMMAND.replace("door.py", "loud.py")
    + DP
    + SMALL.replace("1000", "300")
    + "sequential = true\n",
    "wrong-key": PUBLIC + SSP + DP + SMALL + "none_such = 1\n",
    "not-examined": PUBLIC + mine("Draws") + DP + SMALL + "max_draws = 100\n",
}
AXES = '[grid]\nloss = ["squared"]\nn = [10]\ndim = [2]\nconditioning = [1]\nseed = [0]\ndelta = [1e-5]\n'
GRIDS = {
    "own": AXES + 'mechanism = ["ssp", "gaussian-printed"]\ntarget = ["lonely", "member"]\nepsilon = [0.3, 1.0]\n',
    "imported": AXES
    + 'mechanism = ["ours"]\ntarget = ["lonely"]\nepsilon = [0.1, 1.0]\n[imported.ours]\nimport = "mine.py:Worst"\n'
    + 'parameters = { sigma = 5.0 }\nvouched_by = { who = "us", proof = "10.1561/0400000042" }\n'
    + "[budget]\nseed = 1\nimported_draws = 20000\n",
}


@dataclass(frozen=True)
class Case:
    """Commands that are run one after the other in a folder of their own, beside its files."""

    commands: tuple[tuple[str, ...], ...]
    files: dict[str, str] = field(default_factory=dict)


def cases() -> dict[str, Case]:
    """Return every case by its name."""
    found: dict[str, Case] = {}
    for name, text in CERTIFICATES.items():
        way = ("--audience", "release") if name.startswith("release-") else ()
        way += ("--complete",) if name.startswith("complete-") else ()
        certify = ("certify", "c.toml", "--out", "out", "--jobs", "1", *way)
        dry = () if "[release]\ndraw" in text else (("certify", "c.toml", "--dry-run"),)
        found[f"certify-{name}"] = Case((*dry, certify, ("check", "out")), {"c.toml": text})
    for name, text in GRIDS.items():
        sweep = ("sweep", "grid.toml", "--jobs", "1", "--export", "rows.jsonl")
        found[f"sweep-{name}"] = Case((sweep,), {"grid.toml": text})
    for profile in ("quick", "standard"):
        run = ("run", "--profile", profile, "--jobs", "1", "--out", "out", "--json")
        found[f"run-{profile}"] = Case((run, ("errata", "out", "-o", "errata.md"), ("diff", "out", "out", "--json")))
    chosen = ("--method", "SSP", "--method", "OPS", "--folds", "2", "--draws", "3", "--epsilon", "1")
    found["compare"] = Case((("compare", "fair", *chosen, "--jobs", "1", "--out", "out"),))
    found["calibrate"] = Case((("calibrate", "--profile", "quick", "--jobs", "1", "--out", "out"),))
    words = (("list", "--json"), ("init",), ("certify", "none.toml"), ("run", "none"), ("--help",))
    found["words"] = Case((*words, ("show", "W19-T4.1"), ("show", "RW21-L20")))
    return found


def keep(checkout: Path, name: str, case: Case, kept: Path) -> None:
    """Run a case with the code of a checkout, and keep what came of it."""
    folder = kept / name
    folder.mkdir(parents=True)
    with tempfile.TemporaryDirectory() as place:
        work = Path(place)
        for file, text in {**FILES, **case.files}.items():
            (work / file).write_text(text, encoding="utf-8")
        given = set(work.iterdir())
        environment = {**os.environ, "PYTHONPATH": str(checkout), "NO_COLOR": "1", "COLUMNS": "120"}
        environment["SOURCE_DATE_EPOCH"] = "1700000000"
        said = []
        for command in case.commands:
            done = subprocess.run(
                [sys.executable, "-c", MAIN, *command], cwd=work, env=environment, capture_output=True, text=True
            )
            said += [f"$ {' '.join(command)}\n", done.stdout, done.stderr, f"exit code {done.returncode}\n"]
        (folder / "said.txt").write_text(plain("".join(said), work), encoding="utf-8")
        for file in sorted(work.rglob("*")):
            if file.is_file() and file.suffix in KEPT and file not in given and file.name != "run.json":
                to = folder / file.relative_to(work)
                to.parent.mkdir(parents=True, exist_ok=True)
                to.write_text(plain(record(file), work), encoding="utf-8")


def plain(text: str, folder: Path) -> str:
    """Return a text without what is of this machine and this minute."""
    text = text.replace(str(folder), "FOLDER")
    text = re.sub(r"\b[0-9a-f]{40,64}\b", "DIGEST", text)
    text = re.sub(r"^.*(\d %, about|: about) .*\n", "", text, flags=re.MULTILINE)
    return re.sub(r"\b[\d.,]+ (s|min|ms|MB)\b", "SOME", text)


def record(file: Path) -> str:
    """Return a JSON file, or a file of such lines, without what is left out; its keys stay in their order."""
    text = file.read_text(encoding="utf-8")
    parts = text.splitlines() if file.suffix == ".jsonl" else [text]
    return "\n".join(json.dumps(lean(json.loads(part)), ensure_ascii=False) for part in parts) + "\n"


def lean(value: Any) -> Any:
    """Return a JSON value without the keys that are left out."""
    if isinstance(value, dict):
        return {key: lean(inner) for key, inner in value.items() if key not in LEFT_OUT}
    return [lean(inner) for inner in value] if isinstance(value, list) else value


def keep_names(checkout: Path, kept: Path) -> None:
    """Keep the names that the stubs export, and the JSON Schemas."""
    folder = kept / "names"
    folder.mkdir(parents=True)
    for stub in sorted(checkout.glob("*/__init__.pyi")):
        tree = ast.parse(stub.read_text(encoding="utf-8"))
        names = [
            alias.asname or alias.name for n in ast.walk(tree) if isinstance(n, ast.ImportFrom) for alias in n.names
        ]
        (folder / f"{stub.parent.name}.txt").write_text("\n".join(sorted(names)) + "\n", encoding="utf-8")
    for schema in sorted((checkout / "verify").rglob("*.schema.json")):
        (folder / schema.name).write_bytes(schema.read_bytes())


def held(file: Path) -> list[str]:
    """Return the lines of a file that must be equal: neither progress nor what the system's noise is in."""
    if ".releases" in str(file) or file.name.startswith("report-"):
        return []
    lines = file.read_text(encoding="utf-8").splitlines()
    return [line for line in lines if not re.fullmatch(r'.*: SOME( so far)?|\{"kind": "release", .*', line)]


def compare(one: Path, other: Path) -> int:
    """Print the files that differ, each with its first line that does; return whether there are any."""
    files = [{str(file.relative_to(side)) for file in side.rglob("*") if file.is_file()} for side in (one, other)]
    tried = {Path(name).parts[0] for name in files[1]}
    files[0] = {name for name in files[0] if Path(name).parts[0] in tried}
    wrong = [f"{name}: on one side alone" for name in sorted(files[0] ^ files[1])]
    for name in sorted(files[0] & files[1]):
        old, new = (held(side / name) for side in (one, other))
        if old != new:
            at = next((i for i, (a, b) in enumerate(zip(old, new, strict=False)) if a != b), min(len(old), len(new)))
            wrong.append(
                f"{name}:{at + 1}\n  - {(old[at : at + 1] or [''])[0][:400]}\n  + {(new[at : at + 1] or [''])[0][:400]}"
            )
    print("\n".join(wrong) or f"{len(files[0])} files are equal")
    return int(bool(wrong))


def main(arguments: list[str]) -> int:
    """Keep, or compare."""
    if len(arguments) == 3 and arguments[0] == "compare":
        return compare(Path(arguments[1]), Path(arguments[2]))
    if len(arguments) < 3 or arguments[0] != "keep":
        print(__doc__, file=sys.stderr)
        return 2
    checkout, kept = Path(arguments[1]).resolve(), Path(arguments[2]).resolve()
    chosen = {name: case for name, case in cases().items() if name.startswith(tuple(arguments[3:]) or "")}
    with ThreadPoolExecutor(int(os.environ.get("FREEZE_JOBS", "2"))) as pool:
        waiting = {name: pool.submit(keep, checkout, name, case, kept) for name, case in chosen.items()}
        for name, each in waiting.items():
            each.result()
            print(name, file=sys.stderr)
    keep_names(checkout, kept)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
