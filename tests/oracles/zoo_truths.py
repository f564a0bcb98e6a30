"""What the honest laws of the zoo truly are: every output with its weight, so that sums decide a claim.

A law is a product over coordinates. Of each one the atoms are listed, and the rest of the line is cut at every point
where a density or a likelihood ratio has a kink and covered by Gauss-Legendre nodes; far ends are mapped by a sinh.
"""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.polynomial.legendre import leggauss
from oracles.bank_laws import WHOLE
from oracles.trust_bank import Entry, zoo, zoo_finite
from scipy.stats import laplace

NODES, WEIGHTS = leggauss(10)
#: Noise scales that are looked at where the tail falls exponentially: beyond lies e^-30 of the mass.
REACH = 30.0


@dataclass(frozen=True)
class Line:
    """One coordinate: atoms, and the nodes of ``panels`` between ``edges``.

    ``right`` are the panels' right ends, ``weights`` those of atoms (1) and nodes together, in the order of ``points``.
    """

    atoms: np.ndarray
    points: np.ndarray
    weights: np.ndarray
    right: np.ndarray

    def masses(self, log_density: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the masses of atoms and panels."""
        masses = self.weights * np.exp(log_density)
        n = len(self.atoms)
        return masses[:n], masses[n:].reshape(len(self.right), len(NODES)).sum(axis=1)


def line(
    atoms: Any, cuts: Any = (), ends: tuple[float, float] = (0.0, 0.0), scale: float = 1.0, far: float = 0.0
) -> Line:
    """Return atoms and the nodes on ``ends``, cut at ``cuts``; ``far`` is where an infinite end is cut off."""
    atoms = np.unique(np.asarray(atoms, dtype=float))
    if ends[0] == ends[1]:
        return Line(atoms, atoms, np.ones(len(atoms)), np.empty(0))
    inner = [c for c in (*cuts, *atoms, *ends) if ends[0] <= c <= ends[1] and math.isfinite(c)]
    inner = np.unique(np.round(inner, 10))  # no panels between cuts that only rounding tells apart
    left, right, sign = [], [], []  # of panels in t: the point itself, or a sinh beyond the outermost cut
    for a, b in pairwise(inner):
        grid = np.linspace(a, b, max(2, math.ceil((b - a) / (0.5 * scale)) + 1))
        left.append(grid[:-1]), right.append(grid[1:]), sign.append(np.zeros(len(grid) - 1))
    grid = np.linspace(0, math.asinh(far / scale), math.ceil(math.asinh(far / scale) / 0.25) + 1)
    for end, way in ((ends[0], -1.0), (ends[1], 1.0)):
        if math.isinf(end):
            left.append(grid[:-1]), right.append(grid[1:]), sign.append(np.full(len(grid) - 1, way))
    a, b, way = (np.concatenate(each)[:, None] for each in (left, right, sign))
    t, w = (a + b) / 2 + (b - a) / 2 * NODES, (b - a) / 2 * WEIGHTS
    outer = np.where(way < 0, inner[0], inner[-1])
    x = np.where(way == 0, t, outer + way * scale * np.sinh(t))
    w = np.where(way == 0, w, w * scale * np.cosh(t))
    ends_of = np.where(way == 0, b, outer + way * scale * np.sinh(np.where(way < 0, a, b)))[:, 0]
    points = np.concatenate([atoms, x.ravel()])
    return Line(atoms, points, np.concatenate([np.ones(len(atoms)), w.ravel()]), ends_of)


def true_law(entry: Entry) -> Any:
    """Return the mechanism whose density is that of the draws, whatever this one says of itself."""
    made = entry.factory()
    made = getattr(made, "inner", made)
    if getattr(made, "extra", 1.0) != 1.0:
        return dataclasses.replace(made, scale=made.scale * made.extra, extra=1.0)
    return made


def grid(centres: Any, scale: float, decimals: int, low: float | None, high: float | None) -> np.ndarray:
    """Return every multiple of 10^-decimals within reach of the centres, and the clamps."""
    step = 10.0**-decimals
    first = min(centres) - REACH * scale if low is None else low
    last = max(centres) + REACH * scale if high is None else high
    k = np.arange(math.ceil(first / step - 1e-6), math.floor(last / step + 1e-6) + 1)
    return np.round(k * step, max(decimals, 0)) + 0.0


def cuts(made: Any, centres: Any, epsilons: Any) -> list[float]:
    """Return where the loss between two centres is +-epsilon, the centres, and the steps of a staircase."""
    if made.noise == "staircase":
        n, (gamma, _) = np.arange(math.ceil(REACH * made.scale)), made.stated.steps()
        return list(np.add.outer(centres, np.concatenate([-n - gamma, n + gamma, [0.0]])).ravel())
    a, b = min(centres), max(centres)
    found = [a, b]
    for e in epsilons:
        away = e * made.scale**2 / max(b - a, 1e-9) if made.noise == "gaussian" else e * made.scale / 2
        found += [(a + b) / 2 - away, (a + b) / 2 + away] if away < 1e3 * made.scale else []
    return found


def noisy(made: zoo.Release, centres: Any, epsilons: Any) -> Line:
    """Return the line of one number with additive noise, rounded, clamped, thresholded or mixed with a value."""
    extra = [made.value] if isinstance(made, (zoo.Spiked, zoo.RareSpike)) else []
    if isinstance(made, zoo.SometimesRounded):
        extra = list(grid(centres, made.scale, 0, None, None))
    decimals = 0 if made.noise in WHOLE else made.decimals
    if decimals is not None:
        return line(np.append(grid(centres, made.scale, decimals, made.low, made.high), extra))
    ends = (-np.inf if made.low is None else made.low, np.inf if made.high is None else made.high)
    atoms = [*(e for e in ends if math.isfinite(e)), *extra]
    if made.least is not None:
        ends, atoms = (made.least, np.inf), [np.nan]
    if isinstance(made, zoo.Truncated):
        ends = (-made.bound, made.bound)
    scale, far = (1.0, 1.0) if made.noise == "staircase" else (made.scale, REACH * made.scale)
    far = 1e14 if made.noise == "student" else far
    return line(
        atoms, [*cuts(made, centres, epsilons), centres[0] if made.least is None else made.least], ends, scale, far
    )


def lines(made: Any, sets: Any, epsilons: Any = ()) -> list[Line]:
    """Return the coordinates of a law, cut for the data sets in ``sets``."""
    if isinstance(made, zoo_finite.LocalAnswers):
        return [line([0, 1])] * sets[0].n_records
    if isinstance(made, zoo_finite.SampledCount):
        return [line(grid([0, max(d.n_records for d in sets)], 1 / made.epsilon, 0, None, None))]
    if isinstance(made, zoo_finite.Whole):
        return [line(np.arange(len(made.log_masses(sets[0]))))]
    if isinstance(made, zoo.CountAndSum):
        return [each for part in made.parts() for each in lines(part, sets, epsilons)]
    return [noisy(made, column, epsilons) for column in np.array([made.centre(d) for d in sets]).T]


def sections(made: Any, parts: list[Line], at: np.ndarray, sets: Any) -> list[list[np.ndarray]]:
    """Return log densities along each coordinate through the row ``at``, for each data set."""
    found = []
    for j, part in enumerate(parts):
        rows = np.repeat(at[None, :], len(part.points), axis=0)
        rows[:, j] = part.points
        outputs = made.pack(rows)
        found.append([np.asarray(made.log_density(outputs, d), dtype=float) for d in sets])
    return found


def above_threshold(made: Any, counts: np.ndarray) -> np.ndarray:
    """Return the chances of "none" and of each level, by quadrature over the noisy level."""
    part = line([], [made.least, *(counts)], (-np.inf, np.inf), 2 / made.epsilon, 40 * 2 / made.epsilon)
    noise = laplace(scale=2 / made.epsilon)
    below = noise.cdf(part.points[:, None] - counts)
    before = np.cumprod(np.column_stack([np.ones(len(below)), below]), axis=1)
    chances = np.column_stack([before[:, -1], before[:, :-1] * (1 - below)])
    return (part.weights * noise.pdf(part.points - made.least)) @ chances


def noisy_max(made: Any, counts: np.ndarray) -> np.ndarray:
    """Return the chance of each bin to be the largest, by quadrature over its noisy count."""
    part, noise = (
        line([], counts, (-np.inf, np.inf), 1 / made.epsilon, 40 / made.epsilon),
        laplace(scale=1 / made.epsilon),
    )
    below, density = noise.cdf(part.points[:, None] - counts), noise.pdf(part.points[:, None] - counts)
    others = [np.delete(below, j, axis=1).prod(axis=1) for j in range(len(counts))]
    return np.array([part.weights @ (density[:, j] * others[j]) for j in range(len(counts))])
