"""What `compare` adds to a loop over the mechanisms' public classes: both do the same cells, one after the other.

Usage: python benchmarks/compare_loop.py [ROUNDS]

On the embedded set randhie (20,190 records, 10 columns), 10 folds, 20 draws, epsilon 1, delta 1e-6, one process. The
loop builds each mechanism, draws on each fold, predicts what the fold leaves out, and asks for the exact laws of all
records where there are any; it writes no row, keeps no store and checks no promise. NoisySGD is left out: its
accountant takes seconds on both sides. The smallest time of all rounds counts. Exits with 1 above 1.1.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import numpy as np

from mechanisms import Dataset, load
from mechanisms.capabilities import coefficients_of
from mechanisms.offers import Offer, Promise, offers
from mechanisms.records.record_laws import batched_laws
from verify.comparisons.choice_data import ChoiceData
from verify.comparisons.experiment import Course, Experiment
from verify.engine.executors import InProcess
from verify.engine.store import Store
from verify.engine.worker import one_blas_thread
from verify.figures.regression_methods import folds

PROMISE, FOLDS, DRAWS = Promise(1.0, 1e-6), 10, 20


def loop(data: ChoiceData, offer: Offer) -> float:
    """Return the mean error of one offer, by the public classes alone."""
    dataset = data.dataset
    mechanism = offer.build("squared", data.domain, PROMISE).mechanism
    assert mechanism is not None
    errors = []
    for number, part in enumerate(folds(dataset.n_records, FOLDS, np.random.default_rng(1))):
        rest = np.ones(dataset.n_records, dtype=bool)
        rest[part] = False
        learned = Dataset(dataset.X[rest], dataset.y[rest], dataset.x_bound, dataset.y_bound)
        outputs = mechanism.draw(learned, DRAWS, rng=np.random.default_rng(number))
        predicted = dataset.X[part] @ coefficients_of(mechanism, outputs, learned).T
        errors.append(float(np.square(dataset.y[part][:, None] - predicted).mean()))
    laws = batched_laws(mechanism, dataset)
    if laws is not None:
        laws.worse_epsilon_at(PROMISE.delta)
    return float(np.mean(errors))


def main(words: list[str]) -> int:
    """Print both times and their ratio."""
    rounds = int(words[0]) if words else 5
    data = ChoiceData(load("randhie"), "records")
    chosen = [offer for offer in offers("squared") if offer.method != "NoisySGD"]
    methods = tuple(dict.fromkeys(offer.method for offer in chosen))
    ours, theirs = [], []
    with one_blas_thread():
        for number in range(rounds):
            start = time.perf_counter()
            for offer in chosen:
                loop(data, offer)
            theirs.append(time.perf_counter() - start)
            with tempfile.TemporaryDirectory() as folder, Store(Path(folder) / "store.sqlite") as store:
                start = time.perf_counter()
                fresh = ChoiceData(load("randhie"), "records")
                Course(Experiment(fresh, "squared", (PROMISE,), methods, FOLDS, DRAWS, number), store).run(InProcess())
                ours.append(time.perf_counter() - start)
    ratio = min(ours) / min(theirs)
    print(f"{len(chosen)} cells: compare {min(ours):.2f} s, the loop {min(theirs):.2f} s, ratio {ratio:.2f}")
    return int(ratio > 1.1)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
