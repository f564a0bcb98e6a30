"""RW21, Figure 4: worst-case ex-post loss and bounds against the number of records."""

from collections.abc import Callable, Sequence

import numpy as np

from mechanisms.releases.report_terms import ReportScales
from reports.row import Figure, Mark, Series, Style

from ....figures.figure_page import Page, floats, listed, stream
from .rw21_worst_case import DELTA, EPSILON, LABELS, Worst, ceiling, scales, worst

#: As printed.
DIM, SIZES = 50, (100, 316, 1000, 3162, 10_000)
#: Chosen.
N_RUNS = 7

#: From the varying number, the temperature of the labels and a generator to one worst case.
Run = Callable[[int, float, np.random.Generator], Worst]
KINDS = {"ex-post loss": "exact", "data-independent bound": "independent", "data-dependent bound": "dependent"}
CHOSEN_LABELS = "labels: sign of the score, or the logistic model (both shown); bounds in their corrected form"


def worst_case_figures(
    name: str, against: str, x_label: str, grid: Sequence[int], run: Run, seed: int, cap: float, *, log: bool
) -> tuple[tuple[Figure, ...], dict[str, list[list[float]]]]:
    """Return a figure for each rule of labels, and by rule the medians of loss and both bounds along ``grid``."""
    figures, medians = [], {}
    for label, temperature in LABELS.items():
        name_of_rule = f"{name}-{temperature:g}"
        runs = [
            [run(value, temperature, stream(seed, name_of_rule, f"{value} {i}")) for i in range(N_RUNS)]
            for value in grid
        ]
        tables = [
            np.array([[getattr(worst_of_run, kind) for worst_of_run in row] for row in runs]) for kind in KINDS.values()
        ]
        medians[label] = [[float(v) for v in np.median(table, axis=1)] for table in tables]
        series = tuple(
            Series(
                kind,
                floats(grid),
                floats(np.median(table, axis=1)),
                floats(table.min(axis=1)),
                floats(table.max(axis=1)),
                style=Style.POINTS,
            )
            for kind, table in zip(KINDS, tables, strict=True)
        )
        figures.append(
            Figure(
                name_of_rule,
                f"Worst case against {against}; labels: {label}",
                f"Largest value over the records of the data set: median and range of {N_RUNS} runs.",
                "Three bands of points with bars: the exact worst loss below, the data-dependent and the data-independent bound "
                "above it, all under a ceiling that does not depend on the data.",
                x_label,
                "worst case over the data set",
                series,
                (Mark("y", cap, "ceiling of both bounds"),),
                x_scale="log" if log else "linear",
            )
        )
    return tuple(figures), medians


def chosen_scales(chosen: ReportScales) -> str:
    """Return the noise scales in words."""
    return (
        f"each release has epsilon = {EPSILON:g}, delta = rho = {DELTA:g}; sigma = {chosen.sigma:.3g} (Theorem 5, "
        f"corrected), sigma_2 = {chosen.sigma2:.3g}, sigma_3 = {chosen.sigma3:.3g} (analytic Gaussian mechanism)"
    )


def spread(values: Sequence[float]) -> float:
    """Return the largest value over the smallest."""
    return max(values) / min(values)


def page(seed: int) -> Page:
    """Return one figure for each rule of labels, and what they show."""
    chosen = scales(DIM)
    cap = ceiling(chosen)
    figures, medians = worst_case_figures(
        "rw21-f4",
        "n",
        "number of records n",
        SIZES,
        lambda size, temperature, rng: worst(size, DIM, temperature, 0.0, rng),
        seed,
        cap,
        log=True,
    )
    words = [f"{label}: {listed([spread(values) for values in several])}" for label, several in medians.items()]
    return Page(
        "RW21-F4",
        "RW21, Figure 4: worst case against the size of the data",
        (
            ("Data", "synthetic logistic regression, d = 50, n = 100 to 10000"),
            ("Drawn", "largest ex-post loss over the data set, data-independent and data-dependent bound"),
            ("Reported", "the bounds do not depend on n"),
        ),
        (chosen_scales(chosen), f"lambda = {chosen.lam:.3g}, the least that Algorithm 2 admits", CHOSEN_LABELS),
        "Largest over smallest median along n, for loss, data-independent and data-dependent bound: "
        + "; ".join(words)
        + f". No bound can exceed {cap:.3g}, whatever n, d and the data are.",
        figures,
    )
