"""How RW21-F4 and F5 are decided: medians over data sets of the worst case, and the ceiling of the bounds."""

import math

import numpy as np
from scipy.stats import binom

from audits import Budget, Estimate, StreamKey
from mechanisms import Dataset
from mechanisms.data.dataset import FloatArray
from mechanisms.data.synthetic import sphere_labels
from mechanisms.releases.report_terms import Releases

from ....kernel.evidence import float_evidence
from ...kit import Case, Claim, Evidence, Observer
from ..figures import rw21_worst_case as drawn
from ..figures.rw21_fig_4 import DIM

#: What "does not depend on" is taken to mean for the median worst case: within this factor.
FACTOR = 2.0
REFERENCE = 1000


def median_interval(values: FloatArray, failure_prob: float) -> tuple[float, float, float]:
    """Return the sample median and an interval of order statistics that holds for every law.

    Both ends fail with probability at most ``failure_prob/2``: ``P(Bin(n, 1/2) <= k)``.

    Raises
    ------
    ValueError
        If there are too few values for any order statistic to do.
    """
    ordered = np.sort(values)
    below = int(binom.ppf(0.5 * failure_prob, len(ordered), 0.5)) - 1  # P(Bin <= below) <= failure_prob/2
    if below < 0:
        raise ValueError(f"values must be more for this failure_prob, got {len(ordered)}")
    return float(ordered[below]), float(np.median(ordered)), float(ordered[len(ordered) - 1 - below])


def samples(case: Case, n_records: int, n_runs: int, key: StreamKey) -> FloatArray:
    """Return both worst bounds of independent data sets and runs, shape ``(n_runs, 2)``."""
    rng, temperature = key.child(f"n={n_records}").rng(), case.number("temperature")
    return np.array([drawn.worst_bounds(n_records, DIM, temperature, 0.0, rng) for _ in range(n_runs)])


def size_evidence(case: Case, budget: Budget, *, growing: bool = False) -> Evidence:
    """Decide whether the median worst case of both bounds at ``n`` is within ``FACTOR`` of that at ``REFERENCE``.

    ``growing`` noise has ``sigma_n = sigma (n/REFERENCE)^power``, read as bounds divided by that factor (their third and
    largest term).
    """
    n = case.whole("n")
    growth = (n / REFERENCE) ** -case.number("power") if growing else 1.0
    at_n = samples(case, n, budget.n_draws, budget.key) * growth
    at_reference = samples(case, REFERENCE, budget.n_draws, budget.key.child("reference"))
    low, middle, high = 0.0, 0.0, 0.0
    for column, bound in enumerate(("first bound", "second bound")):
        here, there = (budget.part(f"{bound} {where}", share=0.25) for where in ("at n", "at the reference"))
        a_low, a, a_high = median_interval(at_n[:, column], here.spend("median"))
        b_low, b, b_high = median_interval(at_reference[:, column], there.spend("median"))
        smallest, largest = math.log(a_low / b_high), math.log(a_high / b_low)
        nearest = 0.0 if smallest <= 0 <= largest else min(abs(smallest), abs(largest))
        low, middle = max(low, nearest), max(middle, abs(math.log(a / b)))
        high = max(high, abs(smallest), abs(largest))
    ends = math.exp(middle), math.exp(low), math.exp(high)
    factor = Estimate(*ends, budget.failure_prob, 2 * budget.n_draws, "order statistics of the median")
    quantity = f"factor between the median worst bounds at n and at n = {REFERENCE}, the worse of both bounds"
    return Evidence(Claim(quantity, 1.0, FACTOR, 1.0, observer=Observer.OUTPUT), sampled=factor)


def ceiling_evidence(case: Case, *, lowered: bool = False) -> Evidence:
    """Decide whether a bound exceeds the ceiling, or a share of it: on random data, or on one record at its worst prediction."""
    dim, lam = case.whole("d"), case.number("lambda")
    scales = drawn.scales(dim, lam)
    rng = StreamKey(case.whole("data")).child("RW21 ceiling", f"{dim}").rng()
    if case.params["what"] == "random data":
        dataset = sphere_labels(case.whole("n"), dim, temperature=1.0, rng=rng).dataset
        thetas = [rng.standard_normal(dim) * size for size in (0.1, 1.0, 30.0)]
    else:  # one unit record, predicted wrongly by every margin up to 30
        dataset = Dataset(np.eye(dim)[:1], np.array([-1.0]), 1.0, 1.0)
        thetas = [t * np.eye(dim)[0] for t in np.linspace(0.0, 30.0, 301)]
    largest = 0.0
    for theta in thetas:
        releases = Releases(theta[None], 100.0 * rng.standard_normal((1, dim)), scales.lam * np.eye(dim)[None])
        largest = max(largest, *(float(bound.max()) for bound in drawn.bounds(scales, releases, dataset)))
    ceiling = (case.number("share") if lowered else 1.0) * drawn.ceiling(scales)
    return float_evidence("largest bound over the ceiling", largest / ceiling, 0.0, 1.0 + 1e-6, 1.0)
