"""Audits of a trained pipeline in numbers: how much of epsilon canaries show, and what certify says of planted errors.

Run with ``python benchmarks/training_audits.py`` (``--only canary``, ``many``, ``bounds``, ``certify``: minutes each).
"""

from __future__ import annotations

import contextlib
import io
import json
import tempfile
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
from running import options
from threadpoolctl import threadpool_limits

from audits import Budget, StreamKey, audit_epsilon
from audits.training import audit_canaries, audit_canary, audit_final_model, final_model_epsilon
from mechanisms import BOTH, DPSGD, Dataset, NeighbouringPair, Relation
from mechanisms.accounting.composed_law import compose
from mechanisms.accounting.subsampled_gaussian import SubsampledGaussianProfile
from verify.cli import invoke

N_RECORDS, DIM, DELTA, FAR = 1000, 10, 1e-5, 1e3
STEPS = DPSGD("squared", 100, 0.05, 1.0, 1.0, 1.0, normaliser=0.05 * N_RECORDS)
SEEDS = 9


def accountant(training: DPSGD, delta: float) -> float:
    """Return the accountant's epsilon for a record more or less."""
    profile = SubsampledGaussianProfile(training.rate, training.clip / training.sigma, Relation.ADD)
    law = compose([(profile, training.n_steps)])
    return max(law.epsilon_bracket(delta, direction).high for direction in BOTH)


def pipeline(n: int, dim: int) -> NeighbouringPair:
    """Return records of a linear rule and a canary that is orthogonal to them, its gradient always clipped."""
    rng = np.random.default_rng(0)
    X = np.zeros((n, dim))
    X[:, : dim - 1] = rng.standard_normal((n, dim - 1)) / np.sqrt(max(dim - 1, 1))
    y = X @ np.ones(dim) + 0.1 * rng.standard_normal(n)
    return NeighbouringPair.add(Dataset(X, y, np.inf, np.inf, name="records"), np.eye(dim)[dim - 1], FAR)


def show(words: str, lows: list[float], of: float, seconds: float) -> None:
    shares = np.sort(lows) / of
    told = f"{shares[0]:.2f}" if len(lows) == 1 else f"{np.median(shares):.2f} ({shares[0]:.2f} to {shares[-1]:.2f})"
    print(f"{words:<58} {np.median(lows):6.3f}   {told:<22} {seconds / len(lows):8.1f}", flush=True)


def measured(words: str, audit, n_runs: int, seeds: int, of: float) -> None:
    start = time.process_time()
    lows = [audit(Budget(n_runs, 0.05, StreamKey(seed))).estimate.low for seed in range(seeds)]
    show(f"{words}, {n_runs:.0e} runs", lows, of, time.process_time() - start)


def ceilings() -> tuple[float, float]:
    stated = accountant(STEPS, DELTA)
    ideal = final_model_epsilon(STEPS.rate, STEPS.clip / STEPS.sigma, STEPS.n_steps, DELTA).value
    print(f"q {STEPS.rate:g}, sigma {STEPS.noise_multiplier:g}, T {STEPS.n_steps}, delta {DELTA:g}, 95 %")
    print(f"accountant's epsilon {stated:.4f}; ceiling of final models (ideal) {ideal:.4f}")
    print("audit".ljust(58) + "  bound   share (least, most)    s of processor an audit")
    return stated, ideal


def canary() -> None:
    """Print the bounds of one record among no others: a gradient canary needs no data."""
    stated, ideal = ceilings()
    alone, shown = pipeline(0, 1), replace(STEPS, observer="final")
    for n_runs, seeds in ((10_000, SEEDS), (100_000, SEEDS), (1_000_000, SEEDS)):
        measured(
            "gradients, no other data", lambda b: audit_canary(STEPS, alone, b, delta=DELTA), n_runs, seeds, stated
        )
    for n_runs in (10_000, 100_000):
        measured(
            "final model, no other data",
            lambda b: audit_final_model(shown, alone, b, delta=DELTA),
            n_runs,
            SEEDS,
            ideal,
        )


def many() -> None:
    """Print the bounds of ten orthogonal canaries, one at a time, among no other records (some minutes)."""
    stated, _ = ceilings()
    nobody = Dataset(np.empty((0, DIM)), np.empty(0), np.inf, np.inf, name="nobody")

    def audit(budget: Budget):
        return audit_canaries(STEPS, nobody, np.eye(DIM), np.full(DIM, FAR), budget, delta=DELTA)

    for n_runs, seeds in ((10_000, SEEDS), (100_000, SEEDS), (1_000_000, 3)):
        measured("gradients of 10 canaries, no other data", audit, n_runs, seeds, stated)


def bounds() -> None:
    """Print the bounds of real trainings: 1,000 records, 10 features, the canary orthogonal to them."""
    stated, ideal = ceilings()
    pair, shown = pipeline(N_RECORDS, DIM), replace(STEPS, observer="final")
    for n_runs in (10_000, 100_000):
        measured("gradients, n 1,000", lambda b: audit_canary(STEPS, pair, b, delta=DELTA), n_runs, 1, stated)
        measured("final model, n 1,000", lambda b: audit_final_model(shown, pair, b, delta=DELTA), n_runs, 1, ideal)
    measured("final model, learned score", lambda b: audit_epsilon(shown, pair, b, delta=DELTA), 10_000, 1, ideal)


#: The transcript of 5 steps, and the final model where noise is large and only a normaliser can give a record away.
SUMS = {"loss": "squared", "n_steps": 5, "rate": 0.5, "sigma": 4.0, "clip": 2.0, "step_size": 1.0, "normaliser": 10.0}
MODELS = SUMS | {"sigma": 16.0, "observer": "final"}
NAMES = ("HalfNoise", "TwiceTheRate", "UnclippedTraining", "UnscaledNoise", "OwnCount", "OwnBatch")


def configuration(name: str, parameters: dict[str, object], features: str, epsilon: float) -> str:
    """Return the deployment of a training that is imported as a user's own."""
    module = "mechanisms.training.dp_sgd" if name == "DPSGD" else "mechanisms.broken.broken_training"
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
    return f"""[data]
file = "data.csv"
features = {json.dumps(list(features))}
target = "y"
x_bound = 1.0
y_bound = 4.0
n_public = 400
public = true
[mechanism]
import = "{module}:{name}"
parameters = {{ {given} }}
[[claims]]
type = "dp"
epsilon = {epsilon}
delta = 0.01
relation = "add-remove"
[budget]
jobs = 1
"""


def certify() -> None:
    """Print what certify says of the right training and of each planted error, at the standard profile."""
    words = {0: "PASS", 1: "FAIL", 3: "UNDECIDED"}
    with tempfile.TemporaryDirectory() as folder:
        index = np.arange(30)[:, None]
        np.savetxt(
            Path(folder) / "data.csv",
            np.sin(index * np.arange(1, 6)) * [0.4, 0.4, 0.4, 0.4, 3.5],
            delimiter=",",
            header="a,b,c,d,y",
            comments="",
        )
        for parameters, features, names in (
            (SUMS, "ab", ("DPSGD", *NAMES)),
            (MODELS, "abcd", ("DPSGD", "OwnCount", "OwnBatch")),
        ):
            stated = accountant(DPSGD(**parameters), 0.01)
            print(f"{parameters}, {len(features)} features; claimed: epsilon {stated:.4f} at delta 0.01")
            for name in names:
                path = Path(folder) / "deployment.toml"
                path.write_text(configuration(name, parameters, features, round(stated + 5e-5, 4)), encoding="utf-8")
                start = time.process_time()
                with contextlib.redirect_stdout(io.StringIO()) as told, contextlib.redirect_stderr(io.StringIO()):
                    code = invoke(["certify", str(path), "--out", str(Path(folder) / "out"), "--overwrite"])
                seconds = time.process_time() - start
                first = told.getvalue().splitlines()[0]
                print(f"  {name:<18} {words.get(code, code)!s:<10} {seconds:5.1f} s  {first[35:150]}", flush=True)


def main() -> None:
    only = options(__doc__, only=("canary", "many", "bounds", "certify")).only
    with threadpool_limits(1):
        for name, part in (("canary", canary), ("many", many), ("bounds", bounds), ("certify", certify)):
            if only in (None, name):
                part()


if __name__ == "__main__":
    main()
