"""Cholesky factors of Hessians, and when one is singular to working precision."""

from __future__ import annotations

from typing import Final

import numpy as np
from scipy.linalg import LinAlgError, cholesky

from ..data.dataset import FloatArray

#: Times the size of the matrix: what rounding leaves of a pivot that is 0, relative to its diagonal entry.
_ROUNDING: Final = 4 * float(np.finfo(float).eps)


def regular_factor(matrix: FloatArray) -> FloatArray | None:
    """Return the lower Cholesky factor of a symmetric matrix, or None where it is singular to working precision.

    A pivot is what is left of a diagonal entry beside the columns before it, and it is compared with that entry: so
    units of the columns do not matter, as they do not to the factor. (Scaling by powers of 2 changes no bit of it.)
    """
    try:
        factor = np.asarray(cholesky(matrix, lower=True))
    except LinAlgError:
        return None
    left = np.diag(factor) ** 2 / np.diag(matrix)
    return factor if left.min() > _ROUNDING * len(matrix) else None
