"""A CSV of 1,000,000 rows by 20 columns: time and peak memory of exact per-record losses, against a plain pandas read.

Usage: python benchmarks/certify_csv.py [ROWS]. Each part runs in a process of its own; peaks are above the imports.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

from certify_size import run

FEATURES = 20

PLAIN = """
import pandas as pd
before = peak()
start = time.perf_counter()
frame = pd.read_csv(path)
done(before, start, rows=len(frame))
"""

OURS = """
import numpy as np, scipy.linalg, pandas as pd
from mechanisms import ObjectivePerturbation, LogisticLoss
from verify.certificates.config.config import parse
from verify.certificates.reading.data_files import read_dataset
from verify.certificates.claims.record_losses import ex_post_losses
features = [f"c{i}" for i in range(20)]
ranges = ", ".join(f"{name} = [-1, 1]" for name in features)
config = parse(f'''
[data]
file = "data.csv"
features = {features}
target = "y"
x_bound = 1.0
y_bound = 1.0
ranges = {{ {ranges} }}
[mechanism]
name = "objective-perturbation"
loss = "logistic"
sigma = 11.0
lam = 0.5
[[claims]]
type = "dp"
epsilon = 1.0
delta = 1e-6
''')
np.linalg.cholesky(np.eye(3))
before = peak()
start = time.perf_counter()
dataset = read_dataset(config.data, Path(path).parent)
read = time.perf_counter() - start
mechanism = config.mechanism.build(dataset.dim)
losses = ex_post_losses(mechanism, np.full(dataset.dim, 0.1), dataset)
done(before, start, rows=losses.size, read=read, largest=float(abs(losses).max()))
"""


def write_csv(path: Path, n_rows: int) -> None:
    import numpy as np
    import pandas as pd

    rng = np.random.default_rng(1)
    names = [f"c{i}" for i in range(FEATURES)]
    for start in range(0, n_rows, 100_000):
        X = rng.uniform(-1, 1, size=(min(100_000, n_rows - start), FEATURES))
        frame = pd.DataFrame(X, columns=names)
        frame["y"] = np.where(X[:, 0] + rng.logistic(size=len(X)) > 0, 1, -1)
        frame.to_csv(path, mode="a", header=start == 0, index=False)


def main() -> None:
    n_rows = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.csv"
        start = time.perf_counter()
        write_csv(path, n_rows)
        size, seconds = path.stat().st_size / 1e6, time.perf_counter() - start
        print(f"{n_rows} rows by {FEATURES} columns, {size:.0f} MB (written in {seconds:.0f} s)")
        plain, ours = run(PLAIN, path), run(OURS, path)
    array = n_rows * FEATURES * 8
    memory, ratio = ours["bytes"] / array, ours["seconds"] / plain["seconds"]
    print(f"plain pandas read  {plain['seconds']:6.2f} s  peak {plain['bytes'] / array:5.2f} times the array")
    print(f"exact losses       {ours['seconds']:6.2f} s  peak {memory:5.2f} times the array")
    print(f"of which reading   {ours['read']:6.2f} s")
    print(f"ratio of times {ratio:.2f} (allowed 10), of memory to the array {memory:.2f} (allowed 4)")


if __name__ == "__main__":
    main()
