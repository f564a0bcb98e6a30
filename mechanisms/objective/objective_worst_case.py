r"""What is proved about objective perturbation over all data sets, and the worst pair of no record and one record.

The bound names the statement whose printed or corrected form it rests on. With ``D`` empty and ``D' = {(x, y)}`` only
the coefficient ``t`` along ``x`` tells them apart: its distribution functions are ``Phi(lam t/sigma)`` and
``Phi((lam t + s f'(s t; y))/sigma)``, ``s = |x|``, and the divergence is a sum of their increments over the cells on
which the loss is above epsilon. Derivations: docs/derivations/deployment.md, sections 1 and 2.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import TYPE_CHECKING

import numpy as np
from flint import arb, ctx
from numpy.typing import ArrayLike
from scipy.special import ndtr

from ..base import BOTH, Bracket, Direction
from ..capabilities import Bound, Domain, WorstPair, one_record_pair
from ..data.dataset import FloatArray
from ..laws.gaussian_profile import ROUNDING, gaussian_delta, gaussian_log_delta
from ..numerics.balls import Ball, ndtr_ball, outward
from .losses import ExactLoss, Range, RelatedLoss, SignedLoss
from .objective_calibration import variance_t5

if TYPE_CHECKING:
    from .objective_perturbation import ObjectivePerturbation

#: Outputs beyond this many standard deviations of the noise are counted in full.
REACH = 40.0
#: Cells whose sign is open at this mass, as a share of the tolerance, are counted in full.
SHARE = 1e-5
BITS = 128
#: Standard deviations of the noise within which the fine sum is taken.
WIDE = 14.0


def _product(first: Range, second: Range) -> Range:
    """Return the least and the largest product of two numbers in their ranges."""
    corners = [a * b for a in first for b in second]
    return reduce(arb.min, corners), reduce(arb.max, corners)


def _square(values: Range) -> Range:
    ends = values[0] ** 2, values[1] ** 2
    across = not (values[0] > 0 or values[1] < 0)
    return (arb(0) if across else ends[0].min(ends[1])), ends[0].max(ends[1])


@dataclass(frozen=True)
class OneRecord:
    """The pair: no record, and one record with features of norm ``x_norm`` and response ``y``."""

    loss: ExactLoss
    sigma: float
    lam: float
    x_norm: float
    y: float

    def delta(self, epsilon: float, direction: Direction, *, scale: float) -> Bracket:
        """Return a proved enclosure of the divergence at ``epsilon``, about ``SHARE * scale`` wide.

        ``scale`` is the divergence that matters (the claimed delta), positive; ``epsilon >= 0`` is in natural log.
        FORWARD: drawn without the record.
        """
        with ctx.workprec(BITS):
            low, high = self._cells(arb(epsilon), direction, arb(SHARE * scale))
            return Bracket(max(0.0, outward(low).low), min(1.0, outward(high).high))

    def _cells(self, epsilon: Ball, direction: Direction, tolerance: Ball) -> tuple[Ball, Ball]:
        slopes = self.loss.slopes(arb(self.y))
        sigma, lam, s = arb(self.sigma), arb(self.lam), arb(self.x_norm)
        sign = 1 if direction is Direction.FORWARD else -1

        def edges(t: Ball) -> tuple[Ball, Ball]:
            """The two distribution functions' arguments at ``t``: the data set drawn from, then the other."""
            without, with_record = lam * t / sigma, (lam * t + s * slopes.first(s * t)) / sigma
            return (without, with_record) if sign > 0 else (with_record, without)

        def loss(left: Ball, right: Ball) -> Range:
            """The least and the largest loss between two outputs."""
            # (2 lam t + p) p/(2 sigma^2) - log(1 + s^2 f''/lam)
            first, second = slopes.over(s * left, s * right)
            pull = s * first[0], s * first[1]
            square, cross = _square(pull), _product((2 * lam * left, 2 * lam * right), pull)
            bent = [(s * s * each / lam).log1p() for each in second]
            least = (square[0] + cross[0]) / (2 * sigma**2) - bent[1]
            largest = (square[1] + cross[1]) / (2 * sigma**2) - bent[0]
            return (least, largest) if sign > 0 else (-largest, -least)

        def mass(low: Ball, high: Ball) -> Ball:
            return ndtr_ball(-low) - ndtr_ball(-high) if low > 0 else ndtr_ball(high) - ndtr_ball(low)

        # beyond the reach, under the law drawn from, whichever it is
        end = arb(REACH * self.sigma / self.lam)
        ends = edges(-end)[0], edges(end)[0]
        below, above = arb(0), ndtr_ball(ends[0]) + ndtr_ball(-ends[1])
        growth = epsilon.exp()
        stack = [(-end, end)]
        while stack:
            left, right = stack.pop()
            least, largest = loss(left, right)
            if largest <= epsilon:
                continue
            (p_low, q_low), (p_high, q_high) = edges(left), edges(right)
            drawn = mass(p_low, p_high)
            if least > epsilon:
                gain = drawn - growth * mass(q_low, q_high)
                below, above = below + gain, above + gain
            elif drawn < tolerance / 64 or right - left < arb(2) ** (-BITS // 2):
                above += drawn
            else:
                middle = (left + right) / 2
                middle = arb(middle.mid())
                stack += [(left, middle), (middle, right)]
        return below, above

    def delta_at(self, epsilon: float, direction: Direction) -> float:
        """Return the same in float64 by a fine sum: a guess for searches, not a bound."""
        t = self._grid()
        z = t * self.lam / self.sigma
        response = np.asarray(self.y)
        with np.errstate(over="ignore", invalid="ignore"):
            first = self.x_norm * self.loss.first(self.x_norm * t, response)
            second = self.x_norm**2 * self.loss.second(self.x_norm * t, response) / self.lam
            moved = z + first / self.sigma
            loss = (first * (2 * self.lam * t + first)) / (2 * self.sigma**2) - np.log1p(second)
            if direction is Direction.FORWARD:
                log_density = -0.5 * z**2
            else:
                loss, log_density = -loss, -0.5 * moved**2 + np.log1p(second)
            gains = np.exp(log_density) * -np.expm1(np.minimum(epsilon - loss, 0.0))
        return float(np.trapezoid(np.nan_to_num(gains, nan=0.0), z) / np.sqrt(2 * np.pi))

    def _grid(self) -> FloatArray:
        """Return coefficients that are close where the noise is spread, and on every scale around the loss's bend.

        The bend of a narrow loss under much noise lies between two points of any even grid.
        """
        spread = np.linspace(-WIDE, WIDE, 6001) * self.sigma / self.lam
        width = getattr(self.loss, "width", 1.0)
        bend = self.loss.slopes(arb(self.y)).bend
        near = np.concatenate([np.linspace(-60.0, 60.0, 2401), np.sinh(np.linspace(-40.0, 40.0, 3001))])
        around = (float(bend or 0) + width * near) / self.x_norm
        return np.unique(np.concatenate([spread, around[np.abs(around) <= spread[-1]]]))


#: Cells of the slope over which the curvature is bounded.
CELLS = 20_000


def objective_tail(mechanism: ObjectivePerturbation, domain: Domain, epsilon: ArrayLike) -> FloatArray:
    """Return ``P(L > epsilon)`` at most, over all data sets, from the relation between a loss's slope and curvature.

    ``L <= F a Z + F^2 a^2/2 + log(1 + f'' B^2/lam)`` with ``F = |f'|``, ``a = B/sigma`` and ``Z`` standard normal; the
    edge in ``Z`` is the least over cells of ``F``, each at its worst. Where the slope changes its sign, either tail of
    the noise may count, without the curvature, when drawn from the data without the record. Shape of ``epsilon``.
    """
    levels = np.asarray(epsilon, dtype=np.float64)
    parts = _loss_parts(mechanism, domain)
    if parts is None:
        return np.ones(levels.shape)
    constant, slope = parts
    edges = np.array([float(((level - constant) / slope).min()) for level in levels.ravel()]).reshape(levels.shape)
    tail = _normal_tail(edges)
    if not keeps_sign(mechanism.loss):
        mu = float(slope[-1])
        tail = np.maximum(tail, np.minimum(1.0, 2 * _normal_tail(levels / mu - 0.5 * mu)))
    return tail


def _normal_tail(edges: FloatArray) -> FloatArray:
    """Return the normal tail beyond each edge, rounded up (below 1e-300 nothing is said); 1 where it is negative."""
    return np.asarray(np.where(edges <= 0, 1.0, np.maximum(ndtr(-edges * (1 - 1e-9)) * (1 + 1e-9), 1e-300)))


def keeps_sign(loss: object) -> bool:
    """Return whether a loss says that its slope has one sign for each response; if it says nothing, it has not."""
    return isinstance(loss, SignedLoss) and loss.keeps_sign


@lru_cache(maxsize=8)
def _loss_parts(mechanism: ObjectivePerturbation, domain: Domain) -> tuple[FloatArray, FloatArray] | None:
    """Return, for each cell of the slope, the loss's constant part and its factor on the noise, both at their worst."""
    top = mechanism.loss.xi(domain.y_bound, domain.x_bound) / domain.x_bound
    if not math.isfinite(top) or mechanism.lam == 0 or not isinstance(mechanism.loss, RelatedLoss):
        return None
    cells = np.linspace(0.0, top, CELLS + 1)
    curvature = mechanism.loss.curvature(cells[:-1], cells[1:])
    a = domain.x_bound / mechanism.sigma
    return np.log1p(curvature * domain.x_bound**2 / mechanism.lam) + 0.5 * (cells[1:] * a) ** 2, cells[1:] * a


def objective_domination(
    mu: float, shift: float, epsilon: float, mu_report: float = 0.0, *, two_sided: bool = False
) -> float:
    """Return a bound on delta where the loss is at most ``shift + max(0, mu^2/2 + mu Z)``, reports included.

    ``delta_2(epsilon - shift)`` counts where the noise is below ``-mu/2``, with ``delta_2`` the report's profile.
    ``two_sided``: drawn from the data without the record the loss may be as long as ``mu^2/2 + mu |Z|`` instead.
    """
    rest, joint = epsilon - shift, math.hypot(mu, mu_report)
    low = float(ndtr(-0.5 * mu * (1 - ROUNDING))) * (1 + ROUNDING) * gaussian_delta(mu_report, rest)
    one_sided = gaussian_delta(joint, rest) + low
    return min(1.0, max(one_sided, 2 * gaussian_delta(joint, epsilon)) if two_sided else one_sided)


def objective_replaced(mu: float, shift: float, epsilon: float) -> float:
    """Return a bound on delta for one record replaced: the loss is at most ``shift + 2 mu^2 + 2 mu R``.

    The change of the noise has length ``2 mu`` at most, in the plane of the two records, in which the noise has a
    Rayleigh length ``R``; so ``P(L > epsilon) <= exp(-r^2/2)`` at ``r = (epsilon - shift)/(2 mu) - mu``.
    """
    edge = ((epsilon - shift) / (2 * mu) - mu) * (1 - ROUNDING) - ROUNDING
    return math.exp(-0.5 * edge**2) * (1 + ROUNDING) if edge > 0 else 1.0


def objective_bound(mechanism: ObjectivePerturbation, domain: Domain, mu_report: float = 0.0) -> Bound | None:
    """Return the bound for objective perturbation, with ``mu_report`` for Gaussian releases made after it."""
    xi = mechanism.loss.xi(domain.y_bound, domain.x_bound)
    beta = mechanism.loss.beta * domain.x_bound**2
    if not (math.isfinite(xi) and math.isfinite(beta)) or mechanism.lam == 0 or mechanism.regulariser is not None:
        return None
    shift, mu = math.log1p(beta / mechanism.lam), xi / mechanism.sigma
    two_sided = not keeps_sign(mechanism.loss)

    def delta_at(epsilon: float, delta: float) -> float:
        dominated = objective_domination(mu, shift, epsilon, mu_report, two_sided=two_sided)
        if mu_report == 0.0:
            return min(dominated, float(objective_tail(mechanism, domain, epsilon)))
        splits = np.linspace(0.0, epsilon, 65)[1:-1]
        rest = np.exp(gaussian_log_delta(epsilon - splits, mu_report)) * (1 + 1e-9)
        tails = objective_tail(mechanism, domain, splits) + rest
        return min(1.0, dominated, float(tails.min(initial=1.0)))

    def needs(epsilon: float, delta: float) -> dict[str, float | str]:
        sigma, lam = t5_domain(mechanism, domain, epsilon, delta)
        inside = mu_report == 0 and mechanism.sigma >= sigma and mechanism.lam >= lam
        return {
            "least sigma of the statement": sigma,
            "least lam": lam,
            "inside its domain": "yes" if inside else "no",
        }

    ends = " A slope of either sign may lose at both ends of the noise: twice its tail where that is more."
    return Bound(
        "RW21-T5, corrected (the noise scale is the root of the printed one; generalised linear losses)",
        "The privacy loss is at most log(1 + beta/lam) plus the positive part of that of normal noise, drawn from "
        "either data set; the bound takes this, or the sharper relation between slope and curvature of the loss."
        + ends
        * two_sided,
        delta_at,
        needs=needs,
        replaced=None if mu_report else lambda epsilon, _: objective_replaced(mu, shift, epsilon),
    )


def t5_domain(mechanism: ObjectivePerturbation, domain: Domain, epsilon: float, delta: float) -> tuple[float, float]:
    """Return the least ``sigma`` and ``lam`` of RW21's Theorem 5, corrected (infinite where it claims nothing)."""
    xi = mechanism.loss.xi(domain.y_bound, domain.x_bound)
    beta = mechanism.loss.beta * domain.x_bound**2
    if not (math.isfinite(xi) and math.isfinite(beta)) or epsilon <= 0 or delta <= 0:
        return math.inf, math.inf
    return math.sqrt(variance_t5(xi, epsilon, delta)), 2 * beta / epsilon


def objective_worst_pair(
    mechanism: ObjectivePerturbation, domain: Domain, epsilon: float, delta: float
) -> WorstPair | None:
    """Return the worst pair of no record and one record, or None where no such pair can be enclosed."""
    loss = mechanism.loss
    if mechanism.lam == 0 or mechanism.regulariser is not None or not isinstance(loss, ExactLoss):
        return None
    candidates = [
        OneRecord(loss, mechanism.sigma, mechanism.lam, float(share) * domain.x_bound, float(y))
        for share, y in itertools.product(np.linspace(1.0, 0.05, 20), loss.responses(domain.y_bound))
    ]
    if not candidates:
        return None
    values = [max(record.delta_at(epsilon, d) for d in BOTH) for record in candidates]
    best = candidates[int(np.argmax(values))]
    # delta = 0 or tiny claims are decided on the divergence's own scale
    scale = max(delta, 1e-9 * max(values), 1e-30)
    both = {d: best.delta(epsilon, d, scale=scale) for d in BOTH}  # the guess chooses the pair alone
    direction = max(BOTH, key=lambda d: both[d].low)
    enclosed = Bracket(both[direction].low, max(bracket.high for bracket in both.values()))
    return WorstPair(
        one_record_pair(domain, best.x_norm, best.y),
        direction,
        enclosed,
        "no record (or records of zero features), and one record more, of the longest features that matter",
        {"x_norm": best.x_norm, "y": best.y, "n_records": 0, "direction": direction.name},
        best,
    )
