"""Data of the figures that statement files share; drawing them is the business of `reports`."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from audits import Budget, StreamKey
from audits.white_box.attack import likelihood_ratio_attack
from audits.white_box.tails import loss_sample
from mechanisms import BOTH, Direction, NeighbouringPair, PrivacyProfile, WhiteBox
from reports.row import Figure, Mark, Series, Style

#: Confidence of the bands in a figure: they illustrate, no verdict rests on them.
FIGURE_FAILURE_PROB = 0.05


def _floats(values: object) -> tuple[float, ...]:
    return tuple(float(v) for v in np.asarray(values, dtype=np.float64).ravel())


def profile_figure(
    name: str, title: str, profile: PrivacyProfile, delta: float, epsilons: Mapping[str, float], setting: str
) -> Figure:
    """Return exact delta(epsilon) in both directions, with the claimed epsilons and the claimed delta marked."""
    largest = 1.15 * max(*epsilons.values(), *(profile.epsilon_at(delta, d) for d in BOTH))
    grid = np.linspace(0.0, largest, 161)
    series = []
    for direction in BOTH:
        logs = np.array([profile.log_delta_at(float(e), direction) for e in grid])
        seen = logs > math.log(delta) - 12.0
        series.append(Series(direction.value, _floats(grid[seen]), _floats(np.exp(logs[seen]))))
    marks = [Mark("y", delta, f"claimed delta {delta:g}")]
    marks += [Mark("x", value, label) for label, value in epsilons.items()]
    return Figure(
        name,
        title,
        f"{setting}. Where a curve crosses the horizontal line is the true epsilon; a vertical line to the left of it "
        "promises too much.",
        "Exact privacy profile in both directions on a logarithmic scale, with the claimed delta as a horizontal line "
        "and the claimed epsilons as vertical lines: " + ", ".join(f"{k} at {v:.4g}" for k, v in epsilons.items()),
        "epsilon",
        "delta(epsilon)",
        tuple(series),
        tuple(marks),
        y_scale="log",
    )


def loss_figure(
    name: str,
    title: str,
    mechanism: WhiteBox,
    pair: NeighbouringPair,
    bounds: Mapping[str, float],
    seed: int,
    setting: str,
    *,
    n_draws: int = 20_000,
) -> Figure:
    """Return histograms of the privacy loss drawn in both directions, with claimed bounds marked."""
    samples = {
        d: loss_sample(mechanism, pair, d, n_draws, rng=StreamKey(seed).child("figure", name, d.name).rng())
        for d in BOTH
    }
    edges = np.linspace(
        min(float(s.min()) for s in samples.values()), max(float(s.max()) for s in samples.values()), 61
    )
    middles = 0.5 * (edges[1:] + edges[:-1])
    series = tuple(
        Series(d.value, _floats(middles), _floats(np.histogram(s, edges, density=True)[0]), style=Style.STEPS)
        for d, s in samples.items()
    )
    return Figure(
        name,
        title,
        f"{setting}; {n_draws} draws in each direction. The loss of an output is the log of its density under the data "
        "set it was drawn from over the other.",
        "Histograms of the privacy loss in both directions, with vertical lines at "
        + ", ".join(f"{k} ({v:.4g})" for k, v in bounds.items()),
        "privacy loss (natural log)",
        "density",
        series,
        tuple(Mark("x", value, label) for label, value in bounds.items()),
    )


def roc_figure(
    name: str,
    title: str,
    mechanism: WhiteBox,
    pair: NeighbouringPair,
    theory: PrivacyProfile | None,
    seed: int,
    setting: str,
    *,
    n_draws: int = 20_000,
) -> Figure:
    """Return the likelihood-ratio attack's ROC with its simultaneous band, beside the exact trade-off curve."""
    budget = Budget(n_draws, FIGURE_FAILURE_PROB, StreamKey(seed).child("figure", name))
    audit = likelihood_ratio_attack(mechanism, pair, budget)
    keep = np.unique(np.linspace(0, len(audit.roc.fpr) - 1, 121).astype(int))
    series = [
        Series(
            "measured, 95 % simultaneous band",
            _floats(audit.roc.fpr[keep]),
            _floats(audit.roc.tpr[keep]),
            _floats(audit.roc.tpr_band.low[keep]),
            _floats(audit.roc.tpr_band.high[keep]),
            Style.BAND,
        )
    ]
    if theory is not None:
        levels = np.linspace(-12.0, 12.0, 241)
        fpr = [_second_above(theory, float(t)) for t in levels]
        tpr = [theory.tail_at(float(t), Direction.FORWARD) for t in levels]
        series.append(Series("exact trade-off", _floats(fpr), _floats(tpr)))
    series.append(Series("no information", (0.0, 1.0), (0.0, 1.0)))
    return Figure(
        name,
        title,
        f"{setting}; {audit.n_draws} draws. Advantage {audit.advantage.value:.3f} "
        f"[{audit.advantage.low:.3f}, {audit.advantage.high:.3f}].",
        "Receiver operating characteristic of the likelihood-ratio attack with its confidence band, above the diagonal"
        + (" and on the exact trade-off curve" if theory is not None else ""),
        "false-positive rate",
        "true-positive rate",
        tuple(series),
    )


def _second_above(profile: PrivacyProfile, level: float) -> float:
    """Return ``P_D'(L > level)`` from the backward law, whose loss is ``-L`` (the laws are continuous)."""
    return 1.0 - profile.tail_at(-level, Direction.BACKWARD)


def coverage_figure(
    name: str,
    title: str,
    rhos: Sequence[float],
    coverages: Mapping[str, Sequence[tuple[float, float, float]]],
    setting: str,
) -> Figure:
    """Return miscoverage against its nominal level, each point as (value, low, high) of the probability of failure."""
    series = [
        Series(
            label,
            _floats(rhos),
            _floats([p[0] for p in points]),
            _floats([p[1] for p in points]),
            _floats([p[2] for p in points]),
            Style.POINTS,
        )
        for label, points in coverages.items()
    ]
    series.append(Series("failure probability = nominal level", _floats(rhos), _floats(rhos)))
    return Figure(
        name,
        title,
        f"{setting}. A point above the line fails more often than promised.",
        "Probability that the bound fails against its nominal level, on logarithmic scales, with confidence bars: "
        + ", ".join(coverages),
        "nominal failure probability",
        "actual failure probability",
        tuple(series),
        x_scale="log",
        y_scale="log",
    )


def curve_figure(
    name: str,
    title: str,
    caption: str,
    alt: str,
    axes: tuple[str, str],
    xs: Sequence[float],
    curves: Mapping[str, Callable[[float], float]],
    marks: Mapping[str, tuple[str, float]],
    *,
    y_scale: str = "linear",
    x_scale: str = "linear",
) -> Figure:
    """Return curves of several functions on one grid, with labelled marks (axis, value)."""
    return Figure(
        name,
        title,
        caption,
        alt,
        *axes,
        tuple(Series(label, _floats(xs), _floats([f(float(x)) for x in xs])) for label, f in curves.items()),
        tuple(Mark(axis, value, label) for label, (axis, value) in marks.items()),
        x_scale,
        y_scale,
    )
