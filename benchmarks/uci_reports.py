"""RW21's Figures 3 and 6 to 10 on a file of the user: ex-post losses, and both private bounds on them.

Usage: python benchmarks/uci_reports.py [FILE] [--target COLUMN] [--loss logistic|squared] [--independent 1]
       [--dependent 0.2 0.7 0.1] [--seed 1]

Prints quantiles over the records of: the ex-post loss, the bound, their ratio, and for the data-dependent release the
bound plus what the releases of gradient and Hessian cost. Without FILE the embedded set fair is used. Both failure
probabilities are 1e-6; sigma and lambda from Theorem 5 (corrected), lambda no less than Algorithm 2 needs; features as
z-scores with rows scaled to norm 1 (read off the data, so no private step). A logistic response is +1 above its median.
The paper's squared loss lives on an unbounded domain, where Theorem 5 has no finite sigma; here its slope is bounded
over |theta| <= 1.
"""

from __future__ import annotations

import argparse
import math
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np

from audits import StreamKey
from mechanisms import DataError, Dataset, LogisticLoss, ObjectivePerturbation, SquaredLoss
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.data.embedded import load
from mechanisms.data.uci import as_in_wang2018, read_regression
from mechanisms.laws.gaussian_calibration import analytic_sigma, gaussian_epsilons
from mechanisms.numerics.goe import goe_tau
from mechanisms.objective.objective_calibration import variance_t5
from mechanisms.releases.report_terms import ReportScales, draw_releases
from verify.papers.redberg_wang2021.figures.rw21_worst_case import bounds

DELTA = 1e-6
LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95, 1.0)


def prepared(arguments: argparse.Namespace) -> Dataset:
    if arguments.file is None:
        return load("fair")
    target = int(arguments.target) if arguments.target.lstrip("-").isdigit() else arguments.target
    raw = read_regression(arguments.file, target=target)
    scaled = as_in_wang2018(raw)
    if arguments.loss == "logistic":
        scaled = replace(scaled, y=np.where(raw.y > np.median(raw.y), 1.0, -1.0))
    return scaled


def line(label: str, values: FloatArray) -> None:
    print("\t".join([label, *(f"{v:.4g}" for v in np.quantile(values, LEVELS))]))


def report(dataset: Dataset, loss: str, budget: tuple[float, float, float], key: StreamKey, *, dependent: bool) -> None:
    glm = LogisticLoss() if loss == "logistic" else SquaredLoss()
    xi = glm.xi(1.0, 1.0) if loss == "logistic" else 2.0
    epsilon, epsilon2, epsilon3 = budget
    sigma, lam = math.sqrt(variance_t5(xi, epsilon, DELTA)), 2 * glm.beta / epsilon
    sigma2 = analytic_sigma(xi, epsilon2, DELTA)
    sigma3 = analytic_sigma(glm.beta / math.sqrt(2.0), epsilon3, DELTA)
    if dependent:
        lam = max(lam, 2 * sigma3 * goe_tau(dataset.dim, DELTA))
    scales = ReportScales(glm, sigma, lam, DELTA, sigma2, sigma3)
    mechanism = ObjectivePerturbation(glm, sigma, lam)
    releases = draw_releases(mechanism, dataset, scales, 1, rng=key.rng())
    free, released = bounds(scales, releases, dataset)
    chosen = released if dependent else free
    exact = np.abs(mechanism.ex_post_losses(releases.theta[0], dataset))
    name = f"DATA-DEP {budget}" if dependent else f"DATA-INDEP ({epsilon:g})"
    print(f"{name}: sigma {sigma:.4g}, lambda {lam:.4g}")
    line("ex-post loss", exact)
    line("bound", chosen)
    line("bound / loss", chosen / exact)
    if dependent:
        predictor = dataset.X @ releases.theta[0]
        norms = row_norms(dataset.X)
        u = np.abs(glm.first(predictor, dataset.y)) * norms / sigma2
        v = glm.second(predictor, dataset.y) * norms**2 / (math.sqrt(2.0) * sigma3)
        line("bound + releases", chosen + gaussian_epsilons(u, DELTA) + gaussian_epsilons(v, DELTA))


def main(words: list[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--target", default="-1")
    parser.add_argument("--loss", choices=("logistic", "squared"), default="logistic")
    parser.add_argument("--independent", type=float, default=1.0)
    parser.add_argument("--dependent", type=float, nargs=3, default=(0.2, 0.7, 0.1))
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args(words)
    dataset = prepared(arguments)
    key = StreamKey(arguments.seed).child("uci reports", dataset.name)
    print(f"{dataset.name}: n = {dataset.n_records}, d = {dataset.dim}; quantiles over the records")
    print("\t".join(["", *(f"{level:g}" for level in LEVELS)]))
    whole = arguments.independent
    report(dataset, arguments.loss, (whole, whole, whole), key.child("independent"), dependent=False)
    report(dataset, arguments.loss, tuple(arguments.dependent), key.child("dependent"), dependent=True)


if __name__ == "__main__":
    try:
        main()
    except DataError as wrong:
        sys.exit(f"error: {wrong}")
