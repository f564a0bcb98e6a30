"""RW21, Figure 5: the worst case over a data set, against the dimension."""

import numpy as np

from ...figures.figure_page import stream
from ...kernel.evidence import data_missing
from ..kit import At, Case, Display, Evidence, Form, Mutant, Role, over, statement
from .figures import rw21_fig_5 as drawn
from .figures.rw21_worst_case import LABELS, scales, worst
from .shared.worst_cases import ceiling_evidence


def _plotted(case: Case) -> Evidence:
    """Show what is seen at d = 1, 2 and 60, which labels and budgets change."""
    lam, seen = scales(drawn.DIMS[-1]).lam, dict[str, float]()
    for label, temperature in LABELS.items():
        for dim in (1, 2, 60):
            rng = stream(1, "RW21-F5", label, f"{dim}")
            runs = [worst(drawn.N_RECORDS, dim, temperature, lam, rng) for _ in range(3)]
            seen[f"data-independent, d={dim}, {label}"] = float(np.median([run.independent for run in runs]))
            seen[f"data-dependent, d={dim}, {label}"] = float(np.median([run.dependent for run in runs]))
    missing = "labels and budgets are not stated, and in few dimensions they set the worst bound"
    return data_missing("worst bound over the data set against d", missing, seen)


ALONE = {"what": "one record", "d": 2, "lambda": 27.9, "data": 1, "n": 1}
RANDOM = {"what": ("random data",), "d": drawn.DIMS, "lambda": (0.5, 27.9), "data": (1,), "n": (300,)}

STATEMENT = statement(
    "RW21-F5",
    domain="Logistic regression, n = 1000, d = 1 to 60; labels and budgets not stated. The ceiling: every n and d, unit rows, any released "
    "values, corrected bounds",
    summary="Both bounds lie under a ceiling free of n and d, which one badly predicted record reaches. The worst bound over one "
    "data set is another matter: with budgets of 1 the data-dependent one grows from d = 1 to 60 by a factor 2 (logistic "
    "labels) to 16 (separable labels), and with a noisier gradient release it would not; the setting is not stated.",
    displays={
        "#plotted": Display(
            "the bounds do not depend on d, as plotted",
            Form(
                'max_(z in D) overline(epsilon_1^P) (z) "does not depend on" d in {1, ..., 60}',
                _plotted,
                [At("labels and budgets not stated")],
            ),
        ),
        "#ceiling": Display(
            "a ceiling free of n and d",
            Form(
                "overline(epsilon_1^P) (z) <= max_(0 <= s <= 1) {-log(1 - s(1-s)/lambda) + s^2/(2 sigma^2) + (s Phi^(-1) (1 - rho/2))/sigma}",
                ceiling_evidence,
                [
                    *over("any outputs and releases", RANDOM, quick_every=4),
                    At("where the ceiling is reached", ALONE, Role.EDGE),
                ],
            ),
            mutants={
                "ceiling 5 % lower": Mutant(ceiling_evidence, ALONE | {"share": 0.95}, severity=0.05, lowered=True)
            },
        ),
    },
    figures=lambda seed: drawn.page(seed).figures,
)
