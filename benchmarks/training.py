"""DP-SGD in numbers: how long a training takes, beside a plain loop and other libraries.

Run with ``python benchmarks/training.py``. One thread, processor time. jax and Opacus are measured where they are
installed by hand. ``python benchmarks/training.py records`` says instead what every record of ``fair`` and of 100,000
simulated ones surely loses, what it was estimated to lose in one training, and how long that takes.
"""

from __future__ import annotations

import argparse
import importlib.util
import time
import warnings
from collections.abc import Callable

import numpy as np
from running import timed
from threadpoolctl import threadpool_limits

from mechanisms import BOTH, DPSGD, Dataset
from mechanisms.data.embedded import load
from mechanisms.training import realised_epsilons
from mechanisms.training.training_worst_case import StepLaws, training_laws

N_RECORDS, DIM, N_STEPS, SIGMA, CLIP, STEP_SIZE = 1000, 10, 100, 1.0, 1.0, 1.0
RATES = (0.001, 0.01, 0.03, 0.05, 0.2, 0.5, 1.0)
LOOPED = (0.01, 0.05, 0.2)


def labels(seed: int = 0) -> Dataset:
    """Return the records: normal rows of norm about 1, labels of a noisy linear rule."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((N_RECORDS, DIM)) / np.sqrt(DIM)
    y = np.sign(X @ rng.standard_normal(DIM) + 0.3 * rng.standard_normal(N_RECORDS))
    return Dataset(X, y, np.inf, 1.0)


def training(loss: str, rate: float) -> DPSGD:
    numbers = {"normaliser": rate * N_RECORDS, "observer": "final"}
    return DPSGD(loss, N_STEPS, rate, SIGMA, CLIP, STEP_SIZE, **numbers)


def seconds(task: Callable[[], object], repetitions: int = 3) -> float:
    """Return the least processor time of a few runs."""
    return min(timed(task, time.process_time)[1] for _ in range(repetitions))


def by_record(data: Dataset, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Train once, record by record."""
    theta = np.zeros(DIM)
    for _ in range(N_STEPS):
        total = SIGMA * rng.standard_normal(DIM)
        for i in np.flatnonzero(rng.random(N_RECORDS) < rate):
            gradient = -data.y[i] / (1.0 + np.exp(data.y[i] * (data.X[i] @ theta))) * data.X[i]
            total += gradient * min(1.0, CLIP / np.linalg.norm(gradient))
        theta = theta - STEP_SIZE / (rate * N_RECORDS) * total
    return theta


def by_step(data: Dataset, rate: float, rng: np.random.Generator) -> np.ndarray:
    """Train once, a step's sample at a time."""
    theta, norms = np.zeros(DIM), np.linalg.norm(data.X, axis=1)
    for _ in range(N_STEPS):
        chosen = np.flatnonzero(rng.random(N_RECORDS) < rate)
        X, y = data.X[chosen], data.y[chosen]
        slopes = np.minimum(1.0 / (1.0 + np.exp(y * (X @ theta))), CLIP / norms[chosen])
        total = SIGMA * rng.standard_normal(DIM) - (slopes * y) @ X
        theta = theta - STEP_SIZE / (rate * N_RECORDS) * total
    return theta


def by_jax(data: Dataset, rate: float, n_draws: int) -> Callable[[], object]:
    """Return many trainings by ``jax.vmap`` over ``lax.scan``, compiled; float32, as is usual there."""
    import jax
    import jax.numpy as jnp

    X, y = jnp.asarray(data.X, jnp.float32), jnp.asarray(data.y, jnp.float32)
    limits = CLIP / jnp.linalg.norm(X, axis=1)

    def one(key):
        def step(theta, key):
            first, second = jax.random.split(key)
            slopes = jnp.minimum(jax.nn.sigmoid(-y * (X @ theta)), limits)
            slopes = jnp.where(jax.random.uniform(first, (N_RECORDS,)) < rate, slopes, 0.0)
            total = SIGMA * jax.random.normal(second, (DIM,)) - (slopes * y) @ X
            return theta - STEP_SIZE / (rate * N_RECORDS) * total, None

        return jax.lax.scan(step, jnp.zeros(DIM), jax.random.split(key, N_STEPS))[0]

    run = jax.jit(jax.vmap(one))
    keys = jax.random.split(jax.random.key(0), n_draws)
    return lambda: run(keys).block_until_ready()


def by_opacus(data: Dataset, rate: float) -> Callable[[], object]:
    """Return one training by Opacus, its data loader drawing the Poisson samples."""
    import torch
    from opacus import PrivacyEngine

    torch.set_num_threads(1)
    X, y = torch.tensor(data.X, dtype=torch.float32), torch.tensor((data.y > 0)[:, None], dtype=torch.float32)

    def run() -> None:
        model = torch.nn.Linear(DIM, 1, bias=False)
        loader = torch.utils.data.DataLoader(torch.utils.data.TensorDataset(X, y), batch_size=int(rate * N_RECORDS))
        model, optimiser, loader = PrivacyEngine().make_private(
            module=model,
            optimizer=torch.optim.SGD(model.parameters(), lr=STEP_SIZE),
            data_loader=loader,
            noise_multiplier=SIGMA / CLIP,
            max_grad_norm=CLIP,
        )
        loss, done = torch.nn.BCEWithLogitsLoss(), 0
        while done < N_STEPS:
            for features, target in loader:
                optimiser.zero_grad()
                loss(model(features), target).backward()
                optimiser.step()
                done += 1
                if done == N_STEPS:
                    break

    return run


def speed(n_draws: int) -> None:
    """Print milliseconds a training."""
    data = labels()
    linear = Dataset(data.X, data.X @ np.ones(DIM), np.inf, np.inf)
    print(f"n={N_RECORDS} dim={DIM} steps={N_STEPS}, {n_draws} trainings at a time, ms a training, one thread")
    print("rate    logistic  squared  by step  by record  jax.vmap  (of wall time)  Opacus")
    for rate in RATES:
        row = [
            1e3 / n_draws * seconds(lambda m=mechanism, d=of: m.draw(d, n_draws, rng=np.random.default_rng(1)))
            for mechanism, of in ((training("logistic", rate), data), (training("squared", rate), linear))
        ]
        text = f"{rate:5g}   {row[0]:8.3f} {row[1]:8.3f}"
        if rate in LOOPED:
            loops = [
                1e3 * seconds(lambda f=f, q=rate: f(data, q, np.random.default_rng(1))) for f in (by_step, by_record)
            ]
            text += f" {loops[0]:8.2f} {loops[1]:10.1f} " + libraries(data, rate, n_draws)
        print(text, flush=True)


def libraries(data: Dataset, rate: float, n_draws: int) -> str:
    """Return the times of other libraries, or that they are not installed."""
    told = "not installed".rjust(25)
    if importlib.util.find_spec("jax"):
        run = by_jax(data, rate, n_draws)
        run()  # compiles
        start = time.perf_counter()
        processor = seconds(run, 1)
        told = f"{1e3 * processor / n_draws:9.2f} {1e3 * (time.perf_counter() - start) / n_draws:15.2f}"
    if not importlib.util.find_spec("opacus"):
        return told + "  not installed"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return told + f" {1e3 * seconds(by_opacus(data, rate)):8.0f}"


def simulated(n_records: int) -> Dataset:
    """Return labels with rows of many lengths up to 1."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((n_records, DIM))
    X *= (rng.random(n_records) / np.linalg.norm(X, axis=1))[:, None]
    return Dataset(X, np.sign(X @ rng.standard_normal(DIM) + 0.1 * rng.standard_normal(n_records)), 1.0, 1.0)


def records(delta: float = 1e-5) -> None:
    """Print what is proved of every record's epsilon, beside the worst case and the estimate from one training."""
    print(f"logistic, clip 1, sigma 1, rate 0.01, 1,000 steps, delta {delta:g}; processor seconds, one thread")
    print(
        "data        records  worst case      s  proved min   median      max      s  estimated median      max      s"
    )
    for name, data in (("fair", load("fair")), ("simulated", simulated(100_000))):
        mechanism = DPSGD("logistic", 1000, 0.01, 1.0, 1.0, 0.5, normaliser=0.01 * data.n_records)
        worst, first = timed(lambda m=mechanism: StepLaws.of(m).upper(m.clip), time.process_time)
        proved, second = timed(
            lambda m=mechanism, d=data: training_laws(m, d).worse_epsilon_at(delta), time.process_time
        )
        output = mechanism.draw(data, 1, rng=np.random.default_rng(3))
        found, third = timed(lambda m=mechanism, d=data, o=output: realised_epsilons(m, o, d, delta), time.process_time)
        guess = found.for_the_curator()  # both data sets are public
        epsilon = max(worst.epsilon_at(delta, direction) for direction in BOTH)
        print(
            f"{name:10s} {data.n_records:8d} {epsilon:11.3f} {first:6.1f} {proved.min():11.3f} "
            f"{np.median(proved):8.3f} {proved.max():8.3f} {second:6.1f} "
            f"{np.median(guess):17.3f} {guess.max():8.3f} {third:6.1f}",
            flush=True,
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", nargs="?", choices=("speed", "records"), default="speed")
    parser.add_argument("--draws", type=int, default=2000)
    options = parser.parse_args()
    with threadpool_limits(1):
        records() if options.what == "records" else speed(options.draws)


if __name__ == "__main__":
    main()
