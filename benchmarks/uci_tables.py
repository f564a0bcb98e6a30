"""W18's Tables 3 and 4: cross-validated error of seven methods on regression files, as mean±half-width.

Usage: python benchmarks/uci_tables.py [FOLDER] [--epsilon 0.1] [--target COLUMN] [--folds 10] [--draws 20] [--seed 1]

FOLDER holds the UCI files (CSV, whitespace, ARFF, MATLAB; the response is the last column unless --target says
otherwise). Without it the embedded set randhie is used. Table 3 is --epsilon 0.1, Table 4 is --epsilon 1; delta is
min(1e-6, 1/n^2). Preprocessing as in the paper: z-scores (read off the data, so no private step), then rows of norm 1.
Not stated in the paper and chosen here: the number of folds, the response's bound, the ball of ObjPert (radius 1), and
that a cell averages several draws.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from audits import StreamKey
from mechanisms import DataError, Dataset
from mechanisms.data.embedded import load
from mechanisms.data.uci import as_in_wang2018, read_regression, regression_files
from verify.figures.cross_validation import cross_validated, folds
from verify.figures.regression_methods import TABLE_METHODS, Wanted


def data_sets(folder: Path | None, target: str | int) -> Iterator[Dataset]:
    if folder is None:
        yield without_constants(load("randhie"))
        return
    for path in regression_files(folder):
        try:
            yield read_regression(path, target=target)
        except DataError as wrong:
            print(f"left out: {path.name}: {wrong}", file=sys.stderr)


def without_constants(dataset: Dataset) -> Dataset:
    """Leave out constant columns: a z-score of theirs says nothing."""
    return replace(dataset, X=dataset.X[:, dataset.X.std(axis=0) > 0])


def row_of(dataset: Dataset, arguments: argparse.Namespace) -> list[str]:
    scaled = as_in_wang2018(dataset)
    target = Wanted(arguments.epsilon, min(1e-6, 1.0 / scaled.n_records**2))
    key = StreamKey(arguments.seed).child("uci tables", dataset.name)
    parts = folds(scaled.n_records, arguments.folds, key.child("folds").rng())
    cells = [dataset.name]
    for name, method in TABLE_METHODS.items():
        rng = key.child(name, f"{arguments.epsilon:g}").rng()
        cells.append(str(cross_validated(scaled, method, target, parts, n_draws=arguments.draws, rng=rng)))
    return cells


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", type=Path)
    parser.add_argument("--epsilon", type=float, default=0.1)
    parser.add_argument("--target", default="-1")
    parser.add_argument("--folds", type=int, default=10)
    parser.add_argument("--draws", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(words)
    target = int(arguments.target) if arguments.target.lstrip("-").isdigit() else arguments.target
    print(f"epsilon = {arguments.epsilon:g}, delta = min(1e-6, 1/n^2), {arguments.folds} folds, seed {arguments.seed}")
    print("\t".join(["data set", *TABLE_METHODS]))
    notes: dict[str, None] = {}
    for dataset in data_sets(arguments.folder, target):
        print("\t".join(row_of(dataset, arguments)), flush=True)
        notes |= dict.fromkeys(as_in_wang2018(dataset).data_dependent)
    print("Data-dependent preprocessing, not paid for in the budget:")
    for note in notes:
        print(f"- {note}")


if __name__ == "__main__":
    try:
        main()
    except DataError as wrong:
        sys.exit(f"error: {wrong}")
