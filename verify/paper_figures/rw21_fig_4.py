"""RW21, Figure 4: worst-case ex-post loss and bounds against the number of records."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from reports.row import Figure, Mark, Series, Style

from .page import Page, floats, listed, stream
from .rw21_worst_case import DELTA, EPSILON, LABELS, Worst, ceiling, scales, worst

#: As printed.
DIM, SIZES = 50, (100, 316, 1000, 3162, 10_000)
#: Chosen.
N_RUNS = 7

#: From the varying number and a generator to one worst case.
Run = Callable[[int, np.random.Generator], Worst]


def worst_case_figure(
    name: str, title: str, x_label: str, grid: Sequence[int], run: Run, seed: int, cap: Sequence[float], *, log: bool
) -> tuple[Figure, dict[str, list[float]]]:
    """Return medians over ``N_RUNS`` runs, with the range of the runs as bars, and the medians by name."""
    runs = [[run(value, stream(seed, name, f"{value} {i}")) for i in range(N_RUNS)] for value in grid]
    kinds = {"ex-post loss": "exact", "data-independent bound": "independent", "data-dependent bound": "dependent"}
    series, medians = [], {}
    for label, field in kinds.items():
        table = np.array([[getattr(each, field) for each in row] for row in runs])
        middle = np.median(table, axis=1)
        medians[label] = [float(v) for v in middle]
        bars = (floats(table.min(axis=1)), floats(table.max(axis=1)))
        series.append(Series(label, floats(grid), floats(middle), *bars, style=Style.POINTS))
    marks: tuple[Mark, ...] = ()
    if min(cap) == max(cap):
        marks = (Mark("y", cap[0], "ceiling of both bounds"),)
    else:
        series.append(Series("ceiling of both bounds", floats(grid), floats(cap)))
    figure = Figure(
        name,
        title,
        f"Largest value over the records of the data set: median and range of {N_RUNS} runs.",
        "Three bands of points with bars: the exact worst loss below, the data-dependent and the data-independent bound "
        "above it, all under a ceiling that does not depend on the data.",
        x_label,
        "worst case over the data set",
        tuple(series),
        marks,
        x_scale="log" if log else "linear",
    )
    return figure, medians


def spread(values: Sequence[float]) -> float:
    """Return the largest value over the smallest."""
    return max(values) / min(values)


def page(seed: int) -> Page:
    """Return one figure for each rule of labels, and what they show."""
    cap = ceiling(scales(DIM))
    figures, words = [], []
    for label, temperature in LABELS.items():

        def run(size: int, rng: np.random.Generator, temperature: float = temperature) -> Worst:
            return worst(size, DIM, temperature, 0.0, rng)

        figure, medians = worst_case_figure(
            f"rw21-f4-{temperature:g}",
            f"Worst case against n; labels: {label}",
            "number of records n",
            SIZES,
            run,
            seed,
            [cap] * len(SIZES),
            log=True,
        )
        figures.append(figure)
        factors = [spread(values) for values in medians.values()]
        words.append(f"{label}: {listed(factors)}")
    chosen = scales(DIM)
    return Page(
        "RW21-F4",
        "RW21, Figure 4: worst case against the size of the data",
        (
            ("Data", "synthetic logistic regression, d = 50, n = 100 to 10000"),
            ("Drawn", "largest ex-post loss over the data set, data-independent and data-dependent bound"),
            ("Reported", "the bounds do not depend on n"),
        ),
        (
            f"each release has epsilon = {EPSILON:g}, delta = rho = {DELTA:g}; sigma = {chosen.sigma:.3g} (Theorem 5, "
            f"corrected), sigma_2 = {chosen.sigma2:.3g}, sigma_3 = {chosen.sigma3:.3g} (analytic Gaussian mechanism)",
            f"lambda = {chosen.lam:.3g}, the least that Algorithm 2 admits",
            "labels: sign of the score, or the logistic model (both shown); bounds in their corrected form",
        ),
        "Largest over smallest median along n, for loss, data-independent and data-dependent bound: "
        + "; ".join(words)
        + f". No bound can exceed {cap:.3g}, whatever n, d and the data are.",
        tuple(figures),
    )
