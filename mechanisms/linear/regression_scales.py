"""The scales of linear regression that W18 uses: normalised eigenvalue, Lipschitz constants."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from ..base import check_nonnegative, check_positive
from ..data.dataset import Dataset
from ..numerics.transcripts import check_bounds


def normalised_eigenvalue(dataset: Dataset) -> float:
    """Return ``alpha = lambda_min(X^T X) dim/(n B^2)``, ``B`` the bound of the features; in [0, 1] (W18, section 2).

    Raises
    ------
    ValueError
        If there are no records, or the bound is not finite.
    """
    if dataset.n_records == 0:
        raise ValueError("n_records must be at least 1, got n_records=0")
    x_bound, _ = check_bounds(dataset, response=False)
    if dataset.n_records < dataset.dim:
        return 0.0
    smallest = float(np.linalg.svd(dataset.X, compute_uv=False)[-1]) ** 2
    return smallest * dataset.dim / (dataset.n_records * x_bound**2)


def lipschitz(x_bound: float, y_bound: float, norm: float) -> float:
    """Return ``B^2 norm + B Y``: the largest gradient of one record's loss where ``|theta| <= norm`` (W18, section 2).

    It is ``L*`` for the radius of the parameter domain, and ``L`` for the norm of the least-squares solution.
    """
    x_bound, y_bound = check_nonnegative("x_bound", x_bound), check_nonnegative("y_bound", y_bound)
    return x_bound**2 * check_nonnegative("norm", norm) + x_bound * y_bound


@dataclass(frozen=True)
class RegressionDomain:
    """W18's assumptions A.1 to A.3: bounds of features and responses, of the parameter, and of the conditioning.

    Parameters
    ----------
    x_bound, y_bound : float
        A.1; finite and positive.
    radius : float
        A.2; positive, infinity where it is not assumed.
    alpha : float
        A.3, a restriction of the data sets (not of the records): the smallest eigenvalue of ``X^T X`` is above
        ``alpha n x_bound^2/dim``; in [0, 1), 0 where it is not assumed.
    """

    x_bound: float
    y_bound: float
    radius: float = math.inf
    alpha: float = 0.0

    def __post_init__(self) -> None:
        object.__setattr__(self, "x_bound", check_positive("x_bound", self.x_bound))
        object.__setattr__(self, "y_bound", check_positive("y_bound", self.y_bound))
        if not self.radius > 0:
            raise ValueError(f"radius must be positive (infinity allowed), got radius={self.radius}")
        if not 0 <= self.alpha < 1:
            raise ValueError(f"alpha must be in [0, 1), got alpha={self.alpha}")

    def admits(self, dataset: Dataset) -> bool:
        """Return whether a data set's public bounds and smallest eigenvalue meet A.1 and A.3."""
        if dataset.x_bound > self.x_bound or dataset.y_bound > self.y_bound:
            return False
        return self.alpha == 0 or (dataset.n_records > 0 and normalised_eigenvalue(dataset) > self.alpha)

    @property
    def lipschitz(self) -> float:
        """``L* = B^2 radius + B Y``; infinite without A.2."""
        return math.inf if math.isinf(self.radius) else lipschitz(self.x_bound, self.y_bound, self.radius)
