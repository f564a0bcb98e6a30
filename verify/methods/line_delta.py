"""The hockey-stick divergence of objective perturbation with the logistic loss in one dimension, enclosed by balls.

The output is at most ``theta`` exactly when ``b >= -J'(theta)``, so ``J'(theta)/sigma`` is standard normal. The line is
cut into cells; on a cell where the loss is proved to be above epsilon the divergence is a difference of normal
probabilities, where it is proved to be below it is 0, and elsewhere it is between 0 and the cell's probability. Cells
are cut until the undecided ones weigh little.
"""

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from flint import arb, ctx

from mechanisms import Bracket
from mechanisms.numerics.balls import ndtr_ball, outward

#: A record: its feature and its label, -1 or +1.
Record = tuple[float, float]

BITS = 96
#: Cells at most, and the weight of undecided cells relative to the divergence (or the target) that is good enough.
MAX_CELLS, ENOUGH = 2_000, 1e-2


@dataclass(frozen=True)
class _End:
    """An end of a cell: ``1/(1 + exp(y u))`` of every record, ``J'`` and distribution function of both data sets."""

    probabilities: tuple[Any, ...]
    slopes: tuple[Any, Any]
    levels: tuple[Any, Any]


@dataclass(frozen=True)
class _Line:
    """Shared records first, the target last; ``added`` says that the target is in the second data set only."""

    records: Sequence[Record]
    added: bool
    sigma: float
    lam: float

    def end(self, theta: float) -> _End:
        point = arb(theta)
        probabilities = tuple(1 / (1 + (arb(y) * arb(x) * point).exp()) for x, y in self.records)
        parts = [-arb(y) * arb(x) * s for (x, y), s in zip(self.records, probabilities, strict=True)]
        shared = sum(parts[:-1], arb(self.lam) * point)
        slopes = (shared, shared + parts[-1]) if self.added else (shared + parts[-1], shared)
        first, second = (ndtr_ball(slope / arb(self.sigma)) for slope in slopes)
        return _End(probabilities, slopes, (first, second))

    def loss(self, low: _End, high: _End) -> Any:
        """Enclose the loss on a cell: all slopes, and their difference, grow with theta, so the ends enclose them."""
        curvatures = [
            arb(x) ** 2 * (arb(0.25) - (a.union(b) - 0.5) ** 2)
            for (x, _), a, b in zip(self.records, low.probabilities, high.probabilities, strict=True)
        ]
        ratio = (1 + curvatures[-1] / sum(curvatures[:-1], arb(self.lam))).log()
        (g, k), (a, b) = low.slopes, high.slopes
        squares = (k - g).union(b - a) * (k + g).union(b + a) / (2 * arb(self.sigma) ** 2)
        return squares - ratio if self.added else squares + ratio


def line_delta(
    shared: Sequence[Record],
    target: Record,
    *,
    added: bool,
    sigma: float,
    lam: float,
    epsilon: float,
    resolution: float,
) -> Bracket:
    """Return a proved enclosure of ``E_D[(1 - exp(epsilon - L))_+]``; ``D'`` is ``D`` with the target added or removed.

    Parameters
    ----------
    shared : sequence of records
        The records that both data sets have.
    target : record
        Added to ``D = shared`` if ``added``, otherwise removed from ``D``, which has it.
    sigma, lam, epsilon : float
        Noise, regularisation and privacy parameter.
    resolution : float
        Undecided weight that is of no interest (a fraction of the delta that is claimed).
    """
    line = _Line([*shared, target], added, sigma, lam)
    reach = sigma * (math.sqrt(-2.0 * math.log(min(resolution, 0.1) * ENOUGH)) + 1.0)
    bound = (reach + sum(abs(x) for x, _ in line.records)) / lam  # |J'| >= lam |theta| - sum |x|
    with ctx.workprec(BITS):
        points = [bound * (i / 8.0 - 1.0) for i in range(17)]
        ends = {point: line.end(point) for point in points}
        sure, undecided = arb(0), list[tuple[float, float, float]]()

        def weigh(low: float, high: float) -> Any:
            """Return the sure part of a cell; keep the cell where its side is not proved."""
            p, q = (ends[high].levels[k] - ends[low].levels[k] for k in (0, 1))
            loss = line.loss(ends[low], ends[high])
            if loss > epsilon:
                return p - arb(epsilon).exp() * q
            if not loss < epsilon:
                heapq.heappush(undecided, (-float(p.upper()), low, high))
            return arb(0)

        for low, high in pairwise(points):
            sure += weigh(low, high)
        weight = -math.fsum(cell[0] for cell in undecided)
        while len(ends) < MAX_CELLS and undecided and weight > ENOUGH * max(resolution, float(sure.mid())):
            _, low, high = heapq.heappop(undecided)
            middle = 0.5 * (low + high)
            ends[middle] = line.end(middle)
            sure += weigh(low, middle) + weigh(middle, high)
            weight = -math.fsum(cell[0] for cell in undecided)
        outside = ends[points[0]].levels[0] + (1 - ends[points[-1]].levels[0])
        loose = sum((ends[high].levels[0] - ends[low].levels[0] for _, low, high in undecided), outside)
        lowest, highest = outward(sure), outward(sure + loose)
    return Bracket(max(lowest.low, 0.0), min(max(highest.high, 0.0), 1.0))
