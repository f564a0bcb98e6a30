"""Exact rational linear algebra: designs of a case, comparisons as evidence, eigenvalues proved by inertia."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb, fmpq, fmpq_mat

from audits import Estimate
from mechanisms import Relation
from mechanisms.numerics.balls import Ball, floats_around

from ..kernel.measure import Measure
from ..kernel.statement import Claim, Evidence, Observer, Value

#: A rational matrix; python-flint ships no types.
Matrix = Any
METHOD = "rational arithmetic"
#: Shapes of ``design``.
SHAPES = ("generic", "nearly collinear", "duplicated rows", "one long row")


def generator(*keys: int) -> np.random.Generator:
    """Return a generator that depends on the numbers of a case alone (data of a case, never noise)."""
    return np.random.Generator(np.random.PCG64DXSM(list(keys)))


def fraction(value: Any) -> Fraction:
    """Return a flint rational as a fraction."""
    value = fmpq(value)
    return Fraction(int(value.p), int(value.q))


def matrix(rows: int, cols: int, entries: Any, *, scale: int = 1) -> Matrix:
    """Return integers (or rationals) over ``scale`` as a matrix."""
    return fmpq_mat(rows, cols, [fmpq(int(e)) / scale if not isinstance(e, fmpq) else e / scale for e in entries])


def random_matrix(rows: int, cols: int, *keys: int, scale: int = 8) -> Matrix:
    """Return a matrix of random multiples of ``1/scale`` between -8 and 8."""
    return matrix(
        rows, cols, generator(rows, cols, *keys).integers(-8 * scale, 8 * scale + 1, rows * cols), scale=scale
    )


def design(shape: str, n: int, dim: int, seed: int) -> Matrix:
    """Return an ``n x dim`` rational design in one of ``SHAPES``."""
    X = random_matrix(n, dim, seed, SHAPES.index(shape))
    if shape == "nearly collinear" and dim > 1:
        for i in range(n):
            X[i, dim - 1] = X[i, 0] + X[i, dim - 1] / 100_000
    if shape == "duplicated rows":
        for i in range(n):
            for j in range(dim):
                X[i, j] = X[i % dim, j]
    if shape == "one long row":
        for j in range(dim):
            X[0, j] = X[0, j] * 100_000
    return X


def stack(X: Matrix, row: Matrix) -> Matrix:
    """Return ``[X; row^T]`` for a column ``row``."""
    return fmpq_mat(X.nrows() + 1, X.ncols(), [*X.entries(), *row.entries()])


def identity(dim: int, scale: Any = 1) -> Matrix:
    """Return ``scale I``."""
    return fmpq_mat(dim, dim, [fmpq(scale) if i == j else fmpq(0) for i in range(dim) for j in range(dim)])


def column(*entries: Any) -> Matrix:
    """Return a column of rationals."""
    exact = [fmpq(e.numerator, e.denominator) if isinstance(e, Fraction) else fmpq(e) for e in entries]
    return fmpq_mat(len(exact), 1, exact)


def scalar(value: Fraction) -> Any:
    """Return a fraction as a flint rational, by which a matrix can be multiplied."""
    return fmpq(value.numerator, value.denominator)


def ball(value: Fraction) -> Ball:
    """Return a fraction as a ball at the working precision."""
    return arb(value.numerator) / value.denominator


def quadratic(x: Matrix, A: Matrix) -> Fraction:
    """Return ``x^T A x``."""
    return fraction((x.transpose() * A * x)[0, 0])


def trace(A: Matrix) -> Fraction:
    """Return the trace."""
    return sum((fraction(A[i, i]) for i in range(A.nrows())), Fraction(0))


def hessian(function: Callable[[Matrix], Fraction], at: Matrix) -> Matrix:
    """Return the Hessian of a quadratic function by its second differences, which are exact."""
    dim = at.nrows()
    units = [column(*(int(i == j) for j in range(dim))) for i in range(dim)]
    ends = [function(at + unit) for unit in units]
    start = function(at)
    seconds = (
        function(at + u + v) - a - b + start
        for u, a in zip(units, ends, strict=True)
        for v, b in zip(units, ends, strict=True)
    )
    return fmpq_mat(dim, dim, column(*seconds).entries())


def proved(low: Fraction, high: Fraction | None = None, method: str = METHOD) -> Estimate:
    """Return an exact estimate of a rational number, or of one between two."""
    return Estimate.proved(floats_around(low)[0], floats_around(low if high is None else high)[1], method)


def at_most(
    quantity: str,
    value: Fraction,
    bound: Fraction,
    *,
    in_domain: bool = True,
    relation: Relation | None = None,
    conditioned_on: str = "",
    notes: Mapping[str, Value] | None = None,
    strict: bool = False,
) -> Evidence:
    """Decide ``value <= bound`` exactly, as a ratio (as a difference where the bound is 0)."""
    share = value / bound if bound > 0 else value - bound
    claim = Claim(
        f"{quantity}: value over bound" if bound > 0 else f"{quantity}: value minus bound",
        -np.inf,
        1.0 if bound > 0 else 0.0,
        float(bound),
        in_domain=in_domain,
        relation=relation,
        observer=Observer.OUTPUT,
        conditioned_on=conditioned_on,
        strict_note="equality: the printed inequality is strict" if strict and value == bound else "",
        measure=Measure.BOUND,
    )
    return Evidence(claim, exact=proved(share), notes={"value": float(value), "bound": float(bound), **(notes or {})})


def same(quantity: str, left: Matrix, right: Matrix, *, relation: Relation | None = None) -> Evidence:
    """Decide an identity of rational matrices: the largest deviation relative to the largest entry must be 0."""
    size = max((abs(fraction(e)) for e in (*left.entries(), *right.entries())), default=Fraction(0)) or Fraction(1)
    gap = max((abs(fraction(e)) for e in (left - right).entries()), default=Fraction(0))
    words = f"relative deviation: {quantity}"
    claim = Claim(words, 0.0, 0.0, 0.0, relation=relation, observer=Observer.OUTPUT, measure=Measure.IDENTITY)
    return Evidence(claim, exact=proved(gap / size), notes={"size": float(size)})


def equal(
    quantity: str,
    value: Fraction,
    truth: Fraction,
    published: float = 1.0,
    *,
    relation: Relation | None = None,
    conditioned_on: str = "",
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide ``value = truth`` exactly, as a ratio that must be 1."""
    claim = Claim(
        quantity, 1.0, 1.0, published, relation=relation, observer=Observer.OUTPUT, conditioned_on=conditioned_on
    )
    return Evidence(claim, exact=proved(value / truth), notes=notes or {})


def between(
    quantity: str,
    value: Fraction,
    low: float,
    high: float,
    published: float,
    *,
    upper: Fraction | None = None,
    method: str = METHOD,
    in_domain: bool = True,
    notes: Mapping[str, Value] | None = None,
) -> Evidence:
    """Decide whether a rational number (or all between it and ``upper``) lies in ``[low, high]``."""
    claim = Claim(quantity, low, high, published, in_domain, observer=Observer.OUTPUT)
    return Evidence(claim, exact=proved(value, upper, method), notes=notes or {})


def negative_pivots(M: Matrix) -> int | None:
    """Return how many eigenvalues of a symmetric matrix are negative (None if elimination meets a zero pivot)."""
    rows = [list(row) for row in M.tolist()]
    count = 0
    for k in range(len(rows)):
        pivot = rows[k][k]
        if pivot == 0:
            return None
        count += pivot < 0
        for i in range(k + 1, len(rows)):
            if rows[i][k] != 0:
                share = rows[i][k] / pivot
                rows[i] = [a - share * b for a, b in zip(rows[i], rows[k], strict=True)]
    return count


def eigenvalue_bounds(M: Matrix, *, width: float = 1e-14) -> list[tuple[Fraction, Fraction]]:
    """Return proved bounds of the eigenvalues of a symmetric rational matrix, ascending.

    A float guess is widened until the inertia of ``M - c I`` (Sylvester) at both ends confirms it.
    """
    dim = M.nrows()
    guesses = np.linalg.eigvalsh(np.array([[float(fraction(e)) for e in row] for row in M.tolist()]))
    size = float(np.abs(guesses).max(initial=0.0)) or 1.0

    def below(c: Fraction) -> int | None:
        return negative_pivots(M - identity(dim, fmpq(c.numerator, c.denominator)))

    out = []
    for k, guess in enumerate(guesses):
        step = width * max(abs(float(guess)), 1e-4 * size)
        ends = (_edge(below, k, float(guess), side * step) for side in (-1, 1))
        out.append(_narrowed(below, k, *ends, floor=Fraction(1e-28 * size)))
    return out


def _edge(below: Callable[[Fraction], int | None], k: int, guess: float, step: float) -> Fraction:
    """Return a proved bound of the ``k``-th smallest eigenvalue, on the side of ``step``."""
    while True:
        c = Fraction(guess + step)
        count = below(c)
        if count is not None and (count <= k if step < 0 else count > k):
            return c
        step *= 3.0


def _narrowed(
    below: Callable[[Fraction], int | None], k: int, low: Fraction, high: Fraction, *, floor: Fraction
) -> tuple[Fraction, Fraction]:
    """Bisect proved bounds down to a relative width of 1e-11, or to ``floor``."""
    while high - low > max(abs(high) / 10**11, floor):
        middle = Fraction(float((low + high) / 2))
        count = below(middle)
        if count is None or not low < middle < high:
            break
        low, high = (middle, high) if count <= k else (low, middle)
    return low, high


def largest_eigenvalue(M: Matrix) -> tuple[Fraction, Fraction]:
    """Return proved bounds of the largest eigenvalue of a symmetric rational matrix."""
    return eigenvalue_bounds(M)[-1]
