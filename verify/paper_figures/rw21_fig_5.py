"""RW21, Figure 5: worst-case ex-post loss and bounds against the dimension."""

from __future__ import annotations

import numpy as np

from .page import Page, listed
from .rw21_fig_4 import spread, worst_case_figure
from .rw21_worst_case import DELTA, EPSILON, LABELS, Worst, ceiling, scales, worst

#: As printed: n, and the range of the dimension.
N_RECORDS, DIMS = 1000, (1, 2, 5, 10, 20, 40, 60)


def page(seed: int) -> Page:
    """Return one figure for each rule of labels, and what they show."""
    lam = scales(DIMS[-1]).lam
    cap = ceiling(scales(1, lam))
    figures, words = [], []
    for label, temperature in LABELS.items():

        def run(dim: int, rng: np.random.Generator, temperature: float = temperature) -> Worst:
            return worst(N_RECORDS, dim, temperature, lam, rng)

        figure, medians = worst_case_figure(
            f"rw21-f5-{temperature:g}",
            f"Worst case against d; labels: {label}",
            "dimension d",
            DIMS,
            run,
            seed,
            [cap] * len(DIMS),
            log=False,
        )
        figures.append(figure)
        words.append(
            f"{label}: {listed([spread(v) for v in medians.values()])} over all d, "
            f"{listed([spread(v[2:]) for v in medians.values()])} from d = 5"
        )
    chosen = scales(DIMS[-1], lam)
    return Page(
        "RW21-F5",
        "RW21, Figure 5: worst case against the dimension",
        (
            ("Data", "synthetic logistic regression, n = 1000, d = 1 to 60"),
            (
                "Drawn",
                "largest ex-post loss over the data set, data-independent and data-dependent bound (axis 0 to 0.25)",
            ),
            ("Reported", "the bounds do not depend on d"),
        ),
        (
            f"each release has epsilon = {EPSILON:g}, delta = rho = {DELTA:g}; sigma = {chosen.sigma:.3g} (Theorem 5, "
            f"corrected), sigma_2 = {chosen.sigma2:.3g}, sigma_3 = {chosen.sigma3:.3g} (analytic Gaussian mechanism)",
            f"lambda = {lam:.3g} for every d: what Algorithm 2 needs at d = 60",
            "labels: sign of the score, or the logistic model (both shown); bounds in their corrected form",
        ),
        "Largest over smallest median along d, for loss, data-independent and data-dependent bound: "
        + "; ".join(words)
        + f". What does not depend on d is the ceiling of the bounds, {cap:.3g}; in few dimensions the worst record of "
        "these data stays below it.",
        tuple(figures),
    )
