"""Do a mechanism's draws follow its log density? An audit that needs nothing but the two.

For a smooth bijection f with Jacobian J put r(o) = p(f(o)) J(o) / p(o) and w = 1/(1 + r). If the draws have density p,

    E[w(f^{-1}(o))] = integral of p(f(o)) J(o) w(o) do = E[r(o) w(o)],

and both terms lie in [0, 1], so the difference of the two at one draw lies in [-1, 1] and has mean 0. As f tends to
the identity this is the score test for the parameter that f moves, so that it is as sensitive as the likelihood allows
to first order. Here f scales or shifts one coordinate, or shears it along the next one, which sees dependence that
the density leaves out. Draws on an atom, and infinite ones, stay where they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

from mechanisms.base import WhiteBox
from mechanisms.data.dataset import Dataset, FloatArray

from ..stats.intervals import empirical_bernstein
from ..stats.multiplicity import even_share

#: Largest factor of a scale and largest shift in standard deviations (best near there for normal and Laplace noise).
SCALE, SHIFT = 1.8, 1.2


@dataclass(frozen=True)
class Transport:
    """Moves one coordinate: ``centre + scale (o - centre) + shift + slope (other - other_centre)``."""

    column: int
    centre: float
    scale: float = 1.0
    shift: float = 0.0
    atom: float | None = None
    other: int = 0
    slope: float = 0.0
    other_centre: float = 0.0

    def __call__(self, outputs: FloatArray, *, back: bool = False) -> FloatArray:
        """Return the outputs moved (or moved back), same shape."""
        column: FloatArray = outputs[:, self.column]
        shift: FloatArray | float = self.shift
        if self.slope:
            lever = outputs[:, self.other]
            shift = shift + self.slope * np.where(np.isfinite(lever), lever - self.other_centre, 0.0)
        if back:
            moved = self.centre + (column - shift - self.centre) / self.scale
        else:
            moved = self.centre + self.scale * (column - self.centre) + shift
        result = outputs.copy()
        result[:, self.column] = np.where(self.movable(column), moved, column)
        return result

    def movable(self, column: FloatArray) -> NDArray[np.bool_]:
        """Return which entries move: not those on the atom, nor infinite ones."""
        return np.asarray(np.isfinite(column) & (column != self.atom))

    def log_jacobian(self, outputs: FloatArray) -> FloatArray:
        """Return the log of the Jacobian at each output, shape ``(n,)``."""
        return np.asarray(np.where(self.movable(outputs[:, self.column]), np.log(self.scale), 0.0))


@dataclass(frozen=True)
class Gap:
    """Mean of the statistic and the interval that contains 0 for honest draws."""

    transport: Transport
    value: float
    low: float
    high: float

    @property
    def honest(self) -> bool:
        """Whether the interval contains 0."""
        return self.low <= 0 <= self.high


def transports(
    mechanism: WhiteBox, dataset: Dataset, pilot: FloatArray, atoms: Mapping[int, float]
) -> Iterator[Transport]:
    """Yield three moves of each coordinate, no larger than keeps half of the mass in common (on a pilot sample)."""
    log_pilot = mechanism.log_density(pilot, dataset)
    for column in range(pilot.shape[1]):
        atom = atoms.get(column)
        values = pilot[:, column]
        values = values[np.isfinite(values) & (values != atom)]
        if values.size < 0.05 * len(pilot):
            continue  # an atom, as good as all of it: nothing to move
        size = 1.0
        while size > 1e-6:
            centre, spread = float(np.median(values)), float(values.std())
            if atom is None:
                moves = [
                    Transport(column, centre, scale=SCALE**size),
                    Transport(column, centre, shift=SHIFT * size * spread),
                ]
                other = (column + 1) % pilot.shape[1]
                lever = pilot[:, other][np.isfinite(pilot[:, other])]
                if other != column and lever.size and lever.std() > 0:
                    slope, mid = 0.8 * size * spread / float(lever.std()), float(np.median(lever))
                    moves.append(Transport(column, centre, other=other, slope=slope, other_centre=mid))
            else:  # scale about the atom only: the rest would cross it
                moves = [Transport(column, atom, scale=SCALE**size, atom=atom)]
            moved = [mechanism.log_density(m(pilot), dataset) + m.log_jacobian(pilot) for m in moves]
            overlaps = [np.exp(np.minimum(log_moved - log_pilot, 0.0)).mean() for log_moved in moved]
            if min(overlaps) >= 0.45:
                break
            size *= 0.6
        yield from moves


def gaps(
    mechanism: WhiteBox, dataset: Dataset, outputs: FloatArray, moves: Sequence[Transport], failure_prob: float
) -> list[Gap]:
    """Return one gap for each move; all are honest except with ``failure_prob`` if the draws follow the density."""
    log_outputs = mechanism.log_density(outputs, dataset)
    results = []
    for move in moves:
        out = mechanism.log_density(move(outputs), dataset) + move.log_jacobian(outputs) - log_outputs
        back = move(outputs, back=True)
        into = log_outputs + move.log_jacobian(outputs) - mechanism.log_density(back, dataset)
        values = expit(-into) - expit(out)
        interval = empirical_bernstein(
            values.mean(), values.var(ddof=1), values.size, even_share(failure_prob, len(moves)), low=-1.0, high=1.0
        )
        results.append(Gap(move, float(values.mean()), interval.low, interval.high))
    return results
