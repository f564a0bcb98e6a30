"""W18, Figure 5: one-posterior sampling under its four calibrations."""

from collections.abc import Mapping, Sequence

import numpy as np

from mechanisms import Dataset
from mechanisms.data.embedded import load
from reports.row import Figure, Series

from ....figures.figure_page import Page, floats, stream
from ....figures.regression_methods import CALIBRATIONS, N_FOLDS, Wanted, cross_validated, folds, least_squares, trivial

#: Chosen.
EPSILONS = tuple(float(e) for e in np.geomspace(0.05, 10.0, 8))
DATA = ("randhie", "anes96")
N_DRAWS = 50


def delta_of(n_records: int) -> float:
    """Return ``min(1e-6, 1/n^2)``, the delta of W18's Tables 3 and 4."""
    return min(1e-6, 1.0 / n_records**2)


def alt_text(series: Sequence[Series]) -> str:
    """Return what a panel shows: how each curve runs, and where it lies beside the horizontal lines."""
    curves = [each for each in series if each.low]
    lines = {each.label: each.y[0] for each in series if not each.low}
    first, last = curves[0].x[0], curves[0].x[-1]
    told = [f"{curve.label} {_course(curve.y)}{_beside(curve.y, lines)}" for curve in curves]
    level = " and ".join(f"{label} at {value:.3g}" for label, value in lines.items())
    return (
        f"{len(curves)} curves of the error against epsilon from {first:g} to {last:g}, on logarithmic axes, with "
        f"horizontal lines: {level}. {'; '.join(told)}."
    )


def _course(values: Sequence[float]) -> str:
    """Return how a curve runs from its first to its last value; by less than 2 % it stays."""
    ends = f"from {values[0]:.3g} to {values[-1]:.3g}"
    ratio = values[-1] / values[0]
    return f"{'stays' if abs(ratio - 1.0) < 0.02 else 'rises' if ratio > 1.0 else 'falls'}, {ends}"


def _beside(values: Sequence[float], lines: Mapping[str, float]) -> str:
    """Return which lines a curve stays above, stays below, or crosses."""
    places: dict[str, list[str]] = {}
    for label, level in lines.items():
        where = "above" if min(values) > level else "below" if max(values) < level else "on both sides of"
        places.setdefault(where, []).append(label)
    return "".join(f", {where} {' and '.join(labels)}" for where, labels in places.items())


def _panel(dataset: Dataset, name: str, seed: int) -> tuple[Figure, dict[str, float]]:
    delta = delta_of(dataset.n_records)
    series, at_one = [], {}
    parts = folds(dataset.n_records, N_FOLDS, stream(seed, "w18-fig5", name, "folds"))
    for label, method in CALIBRATIONS.items():
        errors = [
            cross_validated(
                dataset,
                method,
                Wanted(epsilon, delta),
                parts,
                n_draws=N_DRAWS,
                rng=stream(seed, "w18-fig5", name, label, f"{epsilon:.6g}"),
            )
            for epsilon in EPSILONS
        ]
        middle = np.array([error.mean for error in errors])
        width = np.array([error.half_width for error in errors])
        series.append(Series(label, EPSILONS, floats(middle), floats(middle - width), floats(middle + width)))
        at_one[label] = float(np.interp(0.0, np.log(EPSILONS), middle))
    for label, method in (("trivial", trivial), ("non-private", least_squares)):
        rng = stream(seed, "w18-fig5", name, label)
        value = cross_validated(dataset, method, Wanted(1.0, delta), parts, n_draws=1, rng=rng).mean
        series.append(Series(label, EPSILONS, floats([value] * len(EPSILONS))))
    figure = Figure(
        f"w18-fig5-{name}",
        f"Data set {name} (n = {dataset.n_records}, d = {dataset.dim})",
        "Cross-validated mean squared error; shaded: 95 % intervals over the folds.",
        alt_text(series),
        "epsilon",
        "mean squared error",
        tuple(series),
        x_scale="log",
        y_scale="log",
    )
    return figure, at_one


def page(seed: int) -> Page:
    """Return one panel a data set, and what they show."""
    figures, words = [], []
    for name in DATA:
        figure, at_one = _panel(load(name), name, seed)
        figures.append(figure)
        ranked = sorted(at_one, key=at_one.__getitem__)
        words.append(f"{name}: " + ", ".join(f"{label} {at_one[label]:.3g}" for label in ranked))
    return Page(
        "W18-X3",
        "W18, Figure 5: four calibrations of one-posterior sampling",
        (
            ("Methods", "OPS-Diffuse, -Concentrated (gamma = 1), -Balanced (B = 1, rho = 0.05), -Conservative"),
            ("Data", "UCI regression sets (not shipped); z-scores, unit rows"),
            ("Reported", "none dominates; concentrated and balanced do better than diffuse and conservative"),
        ),
        (
            "embedded data sets instead, with public ranges and bounds 1 instead of z-scores",
            "delta = min(1e-6, 1/n^2), as in the paper's tables; calibrations as printed, from the training set's own n",
            f"{N_FOLDS} folds, mean of {N_DRAWS} draws a fold; conservative: lambda = ||X||^2 sqrt(C_1), a reading of the text",
        ),
        "Error at epsilon = 1, the best first. " + "; ".join(words) + ".",
        tuple(figures),
    )
