"""True divergences of leaving one record out: rational linear algebra on the floats given, normal laws by mpmath.

Nothing is shared with the package: the others are fitted without the record, and the hockey-stick divergence is the
difference of the probabilities of ``{log p/q > epsilon}`` under the two laws, to 120 digits.
"""

from __future__ import annotations

from fractions import Fraction

import mpmath as mp
import numpy as np
from flint import fmpq, fmpq_mat

from mechanisms import Dataset

DIGITS = 120


def rational(value: float) -> fmpq:
    part = Fraction(float(value))
    return fmpq(part.numerator, part.denominator)


def _real(value: fmpq) -> mp.mpf:
    return mp.mpf(int(value.p)) / int(value.q)


def fit_without(dataset: Dataset, index: int, lam: float) -> tuple[fmpq, fmpq, fmpq_mat]:
    """Leverage and residual out of sample, and what adding the record does to the estimate."""
    d = dataset.dim
    x = fmpq_mat(d, 1, [rational(v) for v in dataset.X[index]])
    rest = [i for i in range(dataset.n_records) if i != index]
    X = fmpq_mat(len(rest), d, [rational(v) for i in rest for v in dataset.X[i]])
    y = fmpq_mat(len(rest), 1, [rational(dataset.y[i]) for i in rest])
    H = X.transpose() * X
    for j in range(d):
        H[j, j] += rational(lam)
    solved, theta = H.solve(x), H.solve(X.transpose() * y)
    leverage = (x.transpose() * solved)[0, 0]
    residual = rational(dataset.y[index]) - (x.transpose() * theta)[0, 0]
    return leverage, residual, solved * (residual / (1 + leverage))


def ops_delta(leverage: fmpq, residual: fmpq, gamma: float, epsilon: float, *, with_it: bool) -> mp.mpf:
    """N(0, mu) against N(shift, mu/(1 + mu)) on the line through the record, the second drawn with it."""
    with mp.workdps(DIGITS):
        mu, r, e = _real(leverage), mp.sqrt(mp.mpf(gamma)) * abs(_real(residual)), mp.mpf(epsilon)
        if mu == 0:
            return mp.mpf(0)
        one = 1 + mu
        # W = scaled residual of the output: log(with/without) = (log(1 + mu) + r^2/(1 + mu) - W^2)/2
        square = mp.log(one) + r**2 / one - 2 * e if with_it else mp.log(one) + r**2 / one + 2 * e
        if square <= 0:
            return mp.mpf(0)
        w = mp.sqrt(square)

        def inside(mean: mp.mpf, variance: mp.mpf) -> mp.mpf:
            spread = mp.sqrt(variance)
            return mp.ncdf((w - mean) / spread) - mp.ncdf((-w - mean) / spread)

        def outside(mean: mp.mpf, variance: mp.mpf) -> mp.mpf:
            spread = mp.sqrt(variance)
            return mp.ncdf((mean - w) / spread) + mp.ncdf((-w - mean) / spread)

        before, after = (r, mu), (r / one, mu / one)
        if with_it:
            return inside(*after) - mp.exp(e) * inside(*before)
        return outside(*before) - mp.exp(e) * outside(*after)


def output_delta(moved: fmpq_mat, metric: np.ndarray, gamma: float, epsilon: float) -> mp.mpf:
    """Two normal laws of precision ``gamma metric``, ``moved`` apart."""
    d = len(metric)
    A = fmpq_mat(d, d, [rational(v) for v in metric.ravel()])
    with mp.workdps(DIGITS):
        mu, e = mp.sqrt(mp.mpf(gamma) * _real((moved.transpose() * A * moved)[0, 0])), mp.mpf(epsilon)
        if mu == 0:
            return mp.mpf(0)
        return mp.ncdf(mu / 2 - e / mu) - mp.exp(e) * mp.ncdf(-mu / 2 - e / mu)
