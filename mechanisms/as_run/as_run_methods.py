"""What the experiments' code of W18 ran, by the columns of its tables, and in what each differs from the paper.

Read in the authors' repository ``yuxiangw/optimal_dp_linear_regression`` at commit
a14dbe53d18281b52a1f4d75ef90d5105f304af9; nothing is copied. Which of the variants keep their promise: W18-X1,
``docs/derivations/wang2018_experiments.md``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Protocol

import numpy as np

from ..capabilities import Domain
from ..data.dataset import Dataset, FloatArray
from ..offers import Promise
from .code_variants import AsRunAdaOPS, AsRunAdaSSP, AsRunLeastSquares, AsRunObjPert, AsRunOPS, AsRunSSP

RIDGE = "every method starts from X^T X + I"
FIXED = "delta is 1e-6 for every number of records, where the captions have min(1e-6, 1/n^2)"
FACTOR = "the noise is (R^T)^-1 z with H = R^T R: covariance (R R^T)^-1, where the paper has H^-1"
OWN_N = "the number of records is taken from the data"


class DrawsCoefficients(Protocol):
    """It draws regression coefficients of a data set."""

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return coefficients, shape ``(n_draws, dim)``."""


@dataclass(frozen=True)
class AsRun:
    """One method as the experiments' code has it.

    Attributes
    ----------
    name : str
        The column of W18's Tables 3 and 4.
    make : callable
        Of epsilon.
    statement : str
        The part of W18-X1 that decides its promise; empty for the non-private line.
    differs : tuple of str
        In what it differs from the paper, a sentence each.
    """

    name: str
    make: Callable[[float], DrawsCoefficients]
    statement: str
    differs: tuple[str, ...]

    def build(self, domain: Domain, promise: Promise) -> DrawsCoefficients:
        """Return the method at the promise's epsilon; delta is the code's own, whatever is promised.

        Raises
        ------
        ValueError
            If the bounds are not 1, to which the code scales its data, or the promise is about a replaced record.
        """
        for bound in ("x_bound", "y_bound"):
            if getattr(domain, bound) != 1:
                raise ValueError(f"{bound} must be 1 for the methods as run, got {bound}={getattr(domain, bound)}")
        if promise.neighbours != "add-remove":
            raise ValueError(
                f"neighbours must be add-remove for the methods as run, got neighbours={promise.neighbours}"
            )
        return self.make(promise.epsilon)


_METHODS = (
    AsRun("non-private", lambda epsilon: AsRunLeastSquares(), "", (RIDGE,)),
    AsRun(
        "ObjPert",
        AsRunObjPert,
        "W18-X1#code ObjPert",
        (
            "noise and ridge are divided by epsilon once more",
            "the solver minimises |R theta - v/2|: half of the minimiser over the ball of radius 2",
            "the noise is made for gradients up to 2 in length, and they are as long as 3 there",
            "the variance has 4 log(2/delta) + 2 epsilon, half of RW21-T5's",
            FIXED,
        ),
    ),
    AsRun(
        "OPS",
        AsRunOPS,
        "W18-X1#code OPS",
        (
            RIDGE,
            FACTOR,
            "lambda is (C_1 n/2)^(1/3) with C_1 at min(epsilon/2, sqrt(epsilon/2)), where the paper minimises (24)",
            "the quadratic term of gamma is counted twice",
            OWN_N,
            FIXED,
        ),
    ),
    AsRun(
        "SSP",
        AsRunSSP,
        "W18-X1#code SSP",
        (
            RIDGE,
            "the noise is sqrt(log(4/delta))/epsilon, half of appendix C.1's",
            "the noise matrix is not symmetric",
            FIXED,
        ),
    ),
    AsRun(
        "AdaOPS",
        AsRunAdaOPS,
        "W18-X1#code AdaOPS",
        (
            RIDGE,
            FACTOR,
            "step 3 has the coefficient log(6/delta)/2 in place of 1/(2 log(6/delta))",
            "the Lipschitz constant is cut at 1 + sqrt(2 sqrt(n)/(lambda + eigenvalue))",
            "the ridge is at least 2 (1 + log(6/delta))/epsilon, four times the paper's",
            "gamma is the root of the rule of appendix F at epsilon/2, where step 7 has a closed form",
            OWN_N,
            FIXED,
        ),
    ),
    AsRun(
        "AdaSSP",
        AsRunAdaSSP,
        "W18-X1#code AdaSSP",
        (RIDGE, "the noise matrix is (Z + Z^T)/2: half the variance off the diagonal", FIXED),
    ),
)


def as_run_methods() -> Mapping[str, AsRun]:
    """Return the methods of the experiments' code by their columns in W18's Tables 3 and 4.

    Examples
    --------
    >>> method = as_run_methods()["SSP"]
    >>> round(method.build(Domain(2, 1.0, 1.0), Promise(1.0, 1e-6)).scale, 3)
    3.899
    """
    return MappingProxyType({method.name: method for method in _METHODS})
