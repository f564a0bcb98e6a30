"""An event that holds a rare tail of the privacy loss, with known probability, and boxes of normal noise to make it of.

Rare-event sampling draws inside it. Derivations: docs/derivations/rare_events.md.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import chdtri, log_ndtr, logsumexp, ndtri_exp

from ..data.dataset import FloatArray


@dataclass(frozen=True)
class Envelope:
    """An event E that contains ``{L > epsilon}``, with known probability.

    Attributes
    ----------
    epsilon : float
        The threshold (natural log).
    log_mass : float
        ``log P(E)``, exact up to rounding.
    losses : callable
        ``losses(n, rng)`` returns ``n`` independent privacy losses given E, shape ``(n,)``.
    """

    epsilon: float
    log_mass: float
    losses: Callable[[int, np.random.Generator], FloatArray]

    def __post_init__(self) -> None:
        if not self.log_mass <= 0:
            raise ValueError(f"log_mass must be at most 0, got log_mass={self.log_mass}")


@dataclass(frozen=True, eq=False)
class NormalBoxes:
    """A union of disjoint boxes for a standard normal vector with coordinates ``t``, ``q`` and the rest, ``w``.

    Arrays of shape ``(n_boxes,)``; one dimension has no ``q`` and two have no ``w``: ends of -inf and inf, chances of 1
    and 0 leave a coordinate free.

    Attributes
    ----------
    dim : int
        Length of the vector.
    t_low, t_high, q_low, q_high : (n_boxes,) arrays
        The ends of ``t`` and of ``q``.
    beyond_inner, beyond_outer : (n_boxes,) arrays
        The chances that ``||w||`` exceeds the inner and the outer radius.
    """

    dim: int
    t_low: FloatArray
    t_high: FloatArray
    q_low: FloatArray
    q_high: FloatArray
    beyond_inner: FloatArray
    beyond_outer: FloatArray

    @cached_property
    def log_masses(self) -> FloatArray:
        with np.errstate(divide="ignore"):  # a shell without mass
            shells = np.log(self.beyond_inner - self.beyond_outer)
        return log_normal_mass(self.t_low, self.t_high) + log_normal_mass(self.q_low, self.q_high) + shells

    @property
    def log_mass(self) -> float:
        return min(0.0, float(logsumexp(self.log_masses)))

    def draw(self, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent vectors given the union, shape ``(n_draws, dim)``: first t, then q, then w."""
        share = np.exp(self.log_masses - self.log_masses.max())
        box = rng.choice(share.size, size=n_draws, p=share / share.sum())
        noise = rng.standard_normal((n_draws, self.dim))
        noise[:, 0] = truncated_normal(self.t_low[box], self.t_high[box], rng.random(n_draws))
        if self.dim > 1:
            noise[:, 1] = truncated_normal(self.q_low[box], self.q_high[box], rng.random(n_draws))
        if self.dim > 2:
            inner, outer = self.beyond_inner[box], self.beyond_outer[box]
            radius = np.sqrt(chdtri(self.dim - 2, outer + (inner - outer) * (1 - rng.random(n_draws))))
            noise[:, 2:] *= (radius / np.sqrt(np.square(noise[:, 2:]).sum(axis=1)))[:, None]
        return noise


def log_normal_mass(low: ArrayLike, high: ArrayLike) -> FloatArray:
    """Return the log probability that a standard normal variable lies in ``(low, high)``, accurate in both tails."""
    near, far = _towards_the_right(np.asarray(low), np.asarray(high))
    first, last = log_ndtr(-near), log_ndtr(-far)
    with np.errstate(divide="ignore", invalid="ignore"):  # an empty interval has no mass
        return np.asarray(np.where(last < first, first + np.log(-np.expm1(last - first)), -np.inf))


def truncated_normal(low: ArrayLike, high: ArrayLike, uniform: FloatArray) -> FloatArray:
    """Return the values of a standard normal in ``(low, high)`` at the shares ``uniform`` of its mass there.

    The share is counted from the end that lies nearer to the bulk.
    """
    low, high = np.asarray(low), np.asarray(high)
    near, far = _towards_the_right(low, high)
    first, last = log_ndtr(-near), log_ndtr(-far)
    values = -ndtri_exp(first + np.log1p(uniform * np.expm1(last - first)))
    return np.asarray(np.where(-low > high, -values, values))


def _towards_the_right(low: FloatArray, high: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the interval or its mirror image, whichever lies further right: the smaller tails are there."""
    mirrored = -low > high
    return np.where(mirrored, -high, low), np.where(mirrored, -low, high)
