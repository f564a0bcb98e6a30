"""RW21, Figure 5: worst-case ex-post loss and bounds against the dimension."""

from ....figures.figure_page import Page, listed
from .rw21_fig_4 import CHOSEN_LABELS, chosen_scales, spread, worst_case_figures
from .rw21_worst_case import ceiling, scales, worst

#: As printed: n, and the range of the dimension.
N_RECORDS, DIMS = 1000, (1, 2, 5, 10, 20, 40, 60)


def page(seed: int) -> Page:
    """Return one figure for each rule of labels, and what they show."""
    lam = scales(DIMS[-1]).lam
    cap = ceiling(scales(1, lam))
    figures, medians = worst_case_figures(
        "rw21-f5",
        "d",
        "dimension d",
        DIMS,
        lambda dim, temperature, rng: worst(N_RECORDS, dim, temperature, lam, rng),
        seed,
        cap,
        log=False,
    )
    words = [
        f"{label}: {listed([spread(v) for v in several])} over all d, {listed([spread(v[2:]) for v in several])} from d = 5"
        for label, several in medians.items()
    ]
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
            chosen_scales(scales(DIMS[-1], lam)),
            f"lambda = {lam:.3g} for every d: what Algorithm 2 needs at d = 60",
            CHOSEN_LABELS,
        ),
        "Largest over smallest median along d, for loss, data-independent and data-dependent bound: "
        + "; ".join(words)
        + f". What does not depend on d is the ceiling of the bounds, {cap:.3g}; in few dimensions the worst record of "
        "these data stays below it.",
        figures,
    )
