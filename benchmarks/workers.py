"""Two workers of ours against a bare ProcessPoolExecutor on the same work: ``python benchmarks/workers.py``.

One task is an audit of tails (25 ms to 50 ms). Both sides start their own two spawned processes, run the same tasks
and stop them; interleaved pairs, the median of the ratios is printed with the gain over one process. Heavy libraries
are imported inside the task, as in our commands: a worker sets BLAS to one thread before it loads one.
"""

from __future__ import annotations

import multiprocessing
import statistics
import time
from concurrent.futures import ProcessPoolExecutor

from running import options

from verify.engine.work import mapped
from verify.engine.worker import one_blas_thread, quiet_worker

EPSILONS = (0.0, 0.5, 1.0)


def task(number: int) -> float:
    from audits import Budget, StreamKey
    from audits.white_box.tails import audit_tails
    from mechanisms.catalogue import example_pair
    from mechanisms.linear.posterior_sampling import PosteriorSampling

    budget = Budget(100_000, 1e-4, StreamKey(1, ("workers", str(number))))
    return audit_tails(PosteriorSampling(3.0, 1.0), example_pair(), EPSILONS, budget).points[0].delta.value


def ours(n_tasks: int, jobs: int) -> float:
    start = time.perf_counter()
    mapped(task, range(n_tasks), jobs)
    return time.perf_counter() - start


def bare(n_tasks: int, jobs: int) -> float:
    start = time.perf_counter()
    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(jobs, mp_context=context, initializer=quiet_worker) as pool:
        list(pool.map(task, range(n_tasks)))
    return time.perf_counter() - start


def main() -> None:
    arguments = options(__doc__, tasks=200, pairs=7)
    with one_blas_thread():
        alone = ours(arguments.tasks, 1)
    ratios, gains = [], []
    for pair in range(arguments.pairs):
        order = (ours, bare) if pair % 2 else (bare, ours)
        times = {run: run(arguments.tasks, 2) for run in order}
        ratios.append(times[bare] / times[ours])
        gains.append(alone / times[ours])
        print(
            f"pair {pair + 1}: ours {times[ours]:.2f} s, bare {times[bare]:.2f} s, ratio {ratios[-1]:.3f}", flush=True
        )
    print(f"one process {alone:.2f} s; two workers gain {statistics.median(gains):.2f}")
    print(f"median speed against a bare ProcessPoolExecutor: {statistics.median(ratios):.3f}")


if __name__ == "__main__":
    main()
