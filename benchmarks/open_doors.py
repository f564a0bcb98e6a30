"""What a door costs: draws a second and milliseconds a request through a command and a service, beside other ways.

Run ``python benchmarks/open_doors.py [--seconds 2]``. The mechanism is everywhere the same few lines of Python (a sum
with Laplace noise); the service is a thread of this process, so its figures are upper ends.
"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
from running import options

from audits import CommandMechanism, ServiceMechanism
from mechanisms import Dataset

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests"))

from oracles.external.fake_command import command  # noqa: E402
from oracles.external.fake_server import FakeServer  # noqa: E402
from oracles.external.noisy_sum import Switches, answer  # noqa: E402

SIZES = {
    "4 records": Dataset(np.full((4, 2), 0.5), np.full(4, 0.25), x_bound=1.0, y_bound=1.0),
    "10,000 records of 5": Dataset(np.full((10_000, 5), 0.4), np.full(10_000, 0.25), x_bound=1.0, y_bound=1.0),
}
Call = Callable[[], object]


def ways(dataset: Dataset, n_draws: int, server: FakeServer) -> Iterator[tuple[str, int, Call]]:
    """Yield the name of each way, how many requests it makes, and the call that makes them."""
    request = {"y": dataset.y.tolist(), "n_draws": n_draws, "seed": 1}
    yield "in this process", 1, lambda: answer(request, Switches(), "", random.Random(1))
    for concurrency in (1, 4):
        doors = {
            "command": CommandMechanism(command(), concurrency=concurrency),
            "service": ServiceMechanism(server.url, concurrency=concurrency),
        }
        for name, door in doors.items():
            yield f"{name}, {concurrency} at once", 25 * concurrency, many(door, dataset, n_draws, concurrency)
            door.close()
    line = (json.dumps(request) + "\n").encode()
    yield "a Python process each", 1, lambda: subprocess.run(command(), input=line, stdout=subprocess.PIPE, check=True)
    if shutil.which("awk"):
        words = ["awk", f"{{for (i = 0; i < {n_draws}; i++) print rand()}}"]
        yield "an awk process each", 1, lambda: subprocess.run(words, input=line, stdout=subprocess.PIPE, check=True)


def many(door: CommandMechanism | ServiceMechanism, dataset: Dataset, n_draws: int, concurrency: int) -> Call:
    """Return a call that makes 25 requests for each that may be open, from as many threads."""

    def one(seed: int) -> object:
        return door.draw(dataset, n_draws, rng=np.random.default_rng(seed))

    def all_of_them() -> object:
        if concurrency == 1:
            return [one(seed) for seed in range(25)]
        with ThreadPoolExecutor(concurrency) as pool:
            return list(pool.map(one, range(25 * concurrency)))

    return all_of_them


def main() -> None:
    seconds = options(__doc__, seconds=2.0).seconds  # of each row
    for size, dataset in SIZES.items():
        for n_draws in (1, 100):
            print(f"{size}, {n_draws} draw{'s' * (n_draws > 1)} a request: draws a second, milliseconds a request")
            with FakeServer() as server:
                for name, n_requests, call in ways(dataset, n_draws, server):
                    call()
                    n, start = 0, time.perf_counter()
                    while (taken := time.perf_counter() - start) < seconds:
                        call()
                        n += n_requests
                    print(f"    {name:26}{n * n_draws / taken:12,.0f}{1000 * taken / n:10.3g}", flush=True)


if __name__ == "__main__":
    main()
