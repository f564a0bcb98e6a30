"""The bank of bugs: its entries, an environment of its own for each, and the audits behind a row of the table.

A bug is audited at doubling numbers of draws, look ``k`` at the share ``FAILURE_PROB / (k (k + 1))``, until its claim
is refuted or the entry's ``max_draws`` are spent; the variant that is right by one look at all of them.
"""

from __future__ import annotations

import hashlib
import json
import shlex
import subprocess
import time
import tomllib
import venv
from collections.abc import Sequence
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from datetime import date
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np

from audits import Budget, CommandMechanism, StreamKey, gaussian_dp_claim, point_claim, renyi_claim, zcdp_claim
from audits.black_box.black_box_audit import black_box_audit
from audits.black_box.black_box_results import BlackBoxResult
from audits.black_box.claims import PrivacyClaim
from audits.examination.recorded import Recorded
from audits.harness.open_subject import subject_of
from audits.search.pairs import BlackBoxPair, RawDataset
from audits.stats.coverage import look_sizes
from audits.stats.intervals import look_share
from mechanisms import Relation

HERE = Path(__file__).parent
#: Probability that a claim that holds is refuted, for a bug with all its looks; the right variant has as much again.
FAILURE_PROB = 0.01
#: Mechanism evaluations of the first look.
FIRST_LOOK = 400
SEED = 1
#: Seconds that one request may take, and most draws of one.
TIMEOUT, BATCH = 120.0, 1000
#: What the peers' environments hold; dp-recorder itself is on no index, and is run from a checkout.
JAX_PRIVACY = ("jax-privacy==2.0.0",)
RECORDER = ("numpy==1.26.4", "pandas==2.3.3", "scikit-learn==1.6.1", "tqdm==4.67.1", "dp-accounting==0.4.4")


@dataclass(frozen=True)
class Bug:
    """An entry of ``bugs.toml``, whose head says what the fields are."""

    id: str
    library: str
    version: str
    issue: str
    wrong: str
    relation: str
    pair: str
    claim: str
    requirements: tuple[str, ...]
    max_draws: int
    right: dict[str, Any]
    distance: int = 1
    published: bool = True
    outcome: str = "refuted"
    note: str = ""
    recorder: str = ""
    score: tuple[float, ...] = (1.0,)


class Steady(CommandMechanism):
    """A command whose processes are not started anew: these libraries keep nothing, and take seconds to be imported."""

    def fresh(self) -> Steady:
        """Return itself."""
        return self


@dataclass(frozen=True)
class Verdict:
    """What one series of looks said.

    Attributes
    ----------
    refuted : bool
    n_draws : int
        Mechanism evaluations of both data sets and all looks, those that learn what outputs look like included.
    seconds : float
        With the start of the processes; a pinned library may take seconds to be imported.
    epsilon, delta : float
        What is claimed, for a claim of one point; otherwise the point of the curve that was attacked.
    low : float
        Certified epsilon at ``delta`` of a claim of one point; certified delta at ``epsilon`` of a curve.
    event : str
        Which outputs came too often, in words, and how often.
    """

    refuted: bool
    n_draws: int
    seconds: float
    epsilon: float
    delta: float
    low: float
    event: str


@dataclass(frozen=True)
class Row:
    """What is known of one bug."""

    id: str
    version: str
    claim: str
    form: str
    bug: Verdict
    right: Verdict
    right_version: str
    peers: dict[str, float]
    day: str


def bugs(file: Path = HERE / "bugs.toml") -> tuple[Bug, ...]:
    """Return the entries of the bank."""
    entries = tomllib.loads(file.read_text(encoding="utf-8"))["bug"]
    lists = ("requirements", "score")
    return tuple(Bug(**{name: tuple(v) if name in lists else v for name, v in entry.items()}) for entry in entries)


def environment(requirements: Sequence[str], envs: Path) -> Path:
    """Return the Python of an environment with these requirements; it is made once and kept."""
    name = hashlib.sha256("\n".join(sorted(requirements)).encode()).hexdigest()[:12]
    folder = envs.absolute() / name
    python, done = folder / "bin" / "python", folder / "made"
    if not done.exists():
        venv.create(folder, clear=True, with_pip=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", *requirements], check=True)
        done.write_text("\n".join(requirements) + "\n", encoding="utf-8")
    return python


def script_of(id_: str, scripts: Path) -> Path:
    """Return the script of the library whose table has a bug."""
    return next(file for file in sorted(scripts.glob("of_*.py")) if f'"{id_}"' in file.read_text(encoding="utf-8"))


def described(command: Sequence[str], *options: str) -> dict[str, Any]:
    """Return what a script says of a bug: the two data sets, the claim, the library's version."""
    told = subprocess.run([*command, "describe", *options], check=True, capture_output=True, text=True)
    answer: dict[str, Any] = json.loads(told.stdout.splitlines()[-1])
    return answer


def stated(told: dict[str, Any], relation: Relation) -> PrivacyClaim:
    """Return the claim that a script told."""
    numbers = {name: value for name, value in told.items() if name != "form"}
    makers = {"point": point_claim, "zcdp": zcdp_claim, "gdp": gaussian_dp_claim, "renyi": renyi_claim}
    claim: PrivacyClaim = makers[told["form"]](**numbers, relations=(relation,))
    return claim


def dataset(told: dict[str, Any]) -> RawDataset:
    """Return the records that a script told."""
    X = np.array(told["X"], dtype=np.float64)
    return RawDataset(X.reshape(len(told["X"]), -1 if X.size else 1), np.array(told["y"], dtype=np.float64), 1.0, 1.0)


def looks_of(bug: Bug) -> list[tuple[int, float]]:
    """Return after how many draws a bug is looked at, and with which failure probability."""
    sizes = look_sizes(bug.max_draws, FIRST_LOOK)
    return [(total, float(Fraction(FAILURE_PROB) * look_share(k))) for k, total in enumerate(sizes, 1)]


def judged(
    command: Sequence[str], pair: BlackBoxPair, claim: PrivacyClaim, looks: Sequence[tuple[int, float]], key: StreamKey
) -> tuple[Verdict, list[tuple[Any, Any]]]:
    """Return the verdict of some looks, each (total draws, failure probability), and the rows that they drew.

    Raises
    ------
    RuntimeError
        If there is no output of either data set: such a script is broken, and nothing it claims is refuted by that.
    """
    start, done, drawn = time.perf_counter(), 0, []
    with closing(Steady(command, timeout=TIMEOUT, batch=BATCH)) as mechanism:
        subject = subject_of(mechanism)
        encoded = subject.encoded(pair.first, pair.second, key.child("pilot"))
        if all(encoded.refusals):
            raise RuntimeError(f"{shlex.join(command)} must answer, got {encoded.refusals[0]} for every draw")
        for number, (total, failure_prob) in enumerate(looks, start=1):
            budget = Budget(total - done, failure_prob, key.child(f"look {number}"))
            recorded = Recorded(encoded, pair, budget.n_draws // 2, budget.key.child("sample"))
            spent = replace(budget, failure_prob=failure_prob * recorded.share)
            result = black_box_audit(recorded.view(), pair, claim.black_box(), spent)
            drawn.append((recorded.first, recorded.second))
            done = total
            if result.claim_test.refuted:
                break
    return _verdict(result, claim, subject.ledger.evaluations, time.perf_counter() - start), drawn


def _verdict(result: BlackBoxResult, claim: PrivacyClaim, n_draws: int, seconds: float) -> Verdict:
    test = result.claim_test
    low = result.epsilon.estimate.low if claim.curve is None else test.delta.low
    event = f"{test.event}: {test.hits}" if test.hits else test.event
    return Verdict(test.refuted, n_draws, seconds, test.epsilon, test.claimed_delta, low, event)


def row(bug: Bug, envs: Path, scripts: Path = HERE / "mechanisms", *, peers: bool = True, recorder: str = "") -> Row:
    """Return what is found about one bug, in environments kept under ``envs``; ``recorder``: dp-recorder's checkout."""
    script = str(script_of(bug.id, scripts))
    about = [str(environment(bug.requirements, envs)), script, bug.id]
    told = described(about)
    relation = Relation[bug.relation.upper()]
    claim = stated(told["claim"], relation)
    pair = BlackBoxPair(dataset(told["first"]), dataset(told["second"]), relation, bug.pair, bug.distance)
    key = StreamKey(SEED).child("bug bank", bug.id)
    command = [*about, "release"]
    wrong, drawn = judged(command, pair, claim, looks_of(bug), key.child("bug"))
    options = ["--right"] if "variant" in bug.right else []
    other = [str(environment(bug.right.get("requirements", bug.requirements), envs)), script, bug.id]
    once = [(bug.max_draws, FAILURE_PROB)]
    right, _ = judged([*other, "release", *options], pair, claim, once, key.child("right"))
    bounds = canary_bound(bug, drawn, wrong, envs) if peers else {}
    if peers and recorder:
        bounds |= recorder_bound(command, told, wrong, envs, recorder)
    version = described(other, *options)["version"]
    return Row(
        bug.id, told["version"], claim.sentence, claim.form, wrong, right, version, bounds, date.today().isoformat()
    )


def canary_bound(bug: Bug, drawn: Sequence[tuple[Any, Any]], wrong: Verdict, envs: Path) -> dict[str, float]:
    """Return jax-privacy's lower bound on epsilon at the claimed delta from the same draws, if they are one score."""
    sides = [np.concatenate([rows[side] for rows in drawn]) for side in (0, 1)]
    if not bug.score or sides[0].shape[1] != len(bug.score):
        return {}
    first, second = (side @ np.array(bug.score) for side in sides)
    asked = {"first": first.tolist(), "second": second.tolist(), "delta": wrong.delta, "failure_prob": FAILURE_PROB}
    return asked_of(environment(JAX_PRIVACY, envs), "jax_privacy_peer.py", asked)


def recorder_bound(
    command: Sequence[str], told: dict[str, Any], wrong: Verdict, envs: Path, recorder: str
) -> dict[str, float]:
    """Return dp-recorder's lower bound on delta at the claimed epsilon from as many draws of its own."""
    asked = {name: told[name] for name in ("first", "second")} | {"command": list(command), "checkout": recorder}
    asked |= {"epsilon": wrong.epsilon, "n_draws": wrong.n_draws, "failure_prob": FAILURE_PROB}
    return asked_of(environment(RECORDER, envs), "dp_recorder_peer.py", asked)


def asked_of(python: Path, script: str, asked: dict[str, Any]) -> dict[str, float]:
    """Return what a peer answers; nothing where it cannot."""
    done = subprocess.run([python, HERE / script], input=json.dumps(asked), capture_output=True, text=True, check=False)
    if done.returncode:
        print(f"    {script}: {done.stderr.strip().splitlines()[-1]}", flush=True)
        return {}
    answer: dict[str, float] = json.loads(done.stdout.splitlines()[-1])
    return answer


def kept(file: Path) -> Row:
    """Return a row that was kept."""
    told = json.loads(file.read_text(encoding="utf-8"))
    return Row(**{**told, "bug": Verdict(**told["bug"]), "right": Verdict(**told["right"])})


def keep(found: Row, file: Path) -> None:
    """Keep a row."""
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(asdict(found), indent=1) + "\n", encoding="utf-8")
