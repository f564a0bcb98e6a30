"""The printed and the corrected constants of AdaOPS at the numbers of a case."""

import numpy as np

from mechanisms.data.dataset import Dataset
from mechanisms.linear.adaops_wang2019 import CorrectedRule2019, PublishedRule2019

from ...kit import Case


def zero_records(n: int, dim: int) -> Dataset:
    """Return n records that are 0, with bounds 1."""
    return Dataset(np.zeros((n, dim)), np.zeros(n), 1.0, 1.0)


def published_rule(case: Case, n: int | None = None) -> PublishedRule2019:
    """Return the printed rule; ``n`` is public if given."""
    return PublishedRule2019(case.number("epsilon"), case.number("delta"), case.number("kappa"), n)


def corrected_rule(case: Case, n: int | None = None) -> CorrectedRule2019:
    """Return the corrected rule for ``n`` public records (the case's); kappa is the case's, or a share of the largest."""
    epsilon, delta, n = case.number("epsilon"), case.number("delta"), case.whole("n") if n is None else n
    if "kappa share" not in case.params:
        return CorrectedRule2019(epsilon, delta, case.number("kappa"), n)
    largest = CorrectedRule2019(epsilon, delta, 1.0, n).largest_kappa(case.whole("dim"))
    return CorrectedRule2019(epsilon, delta, case.number("kappa share") * largest, n)
