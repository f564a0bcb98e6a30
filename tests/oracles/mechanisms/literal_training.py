"""DP-SGD as it is written down: record by record, its exact density, filters, realised costs, laws of one step."""

from __future__ import annotations

import itertools
import math
from itertools import pairwise
from typing import Any

import mpmath
import numpy as np
from flint import acb, arb, ctx

from mechanisms import Dataset
from mechanisms.accounting.subsampled_gaussian import renyi_divergence
from mechanisms.filters.filtered_training import FilteredDPSGD
from mechanisms.filters.privacy_filters import RenyiFilter
from mechanisms.training.batched_steps import bernoulli


def gradients(training, theta, x, y):
    """Return one record's clipped gradients at iterates, shape ``(n_draws, dim)``."""
    u = theta @ x
    with np.errstate(over="ignore"):
        slope = u - y if training.loss == "squared" else -y / (1.0 + np.exp(y * u))
    whole = slope[:, None] * x
    norms = np.linalg.norm(whole, axis=1)
    longer = norms > training.clip
    whole[longer] *= (training.clip / norms[longer])[:, None]
    return whole


def sums(training, theta, dataset, chosen):
    """Return the sums of clipped gradients over given samples, shape ``(n_draws, dim)``."""
    found = np.zeros(theta.shape)
    for i in range(dataset.n_records):
        found += chosen[:, i, None] * gradients(training, theta, dataset.X[i], dataset.y[i])
    return found


def step(training, theta, noisy, released):
    """Return the next iterates; ``released`` is a column, or None."""
    normaliser = training.normaliser if released is None else training.rate * np.maximum(released, 1.0)
    theta = theta - training.step_size * noisy / normaliser
    norms = np.linalg.norm(theta, axis=1)
    outside = norms > training.radius
    theta[outside] *= (training.radius / norms[outside])[:, None]
    return theta


class EnumeratedTraining:
    """The density of a transcript of few records: every step is a mixture over all subsets of them.

    Outputs are drawn by ``drawn``, or by the training itself.
    """

    def __init__(self, training, drawn=None):
        self.training, self.name = training, f"enumerated {training.name}"
        self.draw = (drawn or training).draw

    def log_density(self, outputs, dataset):
        training, n, dim = self.training, dataset.n_records, dataset.dim
        counted = training.count_sigma is not None
        if outputs.shape[1] != training.n_steps * dim + counted:
            raise ValueError("outputs must have the width of a transcript")
        if np.isnan(outputs).any():
            raise ValueError("outputs must be numbers")
        total, released, theta = np.zeros(len(outputs)), None, np.zeros((len(outputs), dim))
        if counted:
            released, outputs = outputs[:, :1], outputs[:, 1:]
            total += _normal(released - n, training.count_sigma)
        for t in range(training.n_steps):
            seen = outputs[:, t * dim : (t + 1) * dim]
            each = [gradients(training, theta, dataset.X[i], dataset.y[i]) for i in range(n)]
            parts = []
            for members in itertools.product((False, True), repeat=n):
                chance = math.prod(training.rate if member else 1 - training.rate for member in members)
                mean = sum((g for g, member in zip(each, members, strict=True) if member), np.zeros(dim))
                if chance:
                    parts.append(math.log(chance) + _normal(seen - mean, training.sigma))
            total += np.logaddexp.reduce(parts)
            theta = step(training, theta, seen, released)
        return total

    def privacy_loss(self, outputs, pair):
        return self.log_density(outputs, pair.first) - self.log_density(outputs, pair.second)


def _normal(values, sigma):
    constant = math.log(sigma) + 0.5 * math.log(2 * math.pi)
    return (-0.5 * np.square(values / sigma) - constant).sum(axis=1)


def gradient(loss: str, theta: np.ndarray, x: np.ndarray, y: float, clip: float) -> np.ndarray:
    """Return one record's clipped gradient."""
    at = float(theta @ x)
    slope = at - y if loss == "squared" else -y / (1 + math.exp(y * at))
    norm = abs(slope) * float(np.linalg.norm(x))
    return slope * x * min(1.0, clip / norm) if norm > 0 else 0.0 * x


def cost(mechanism: FilteredDPSGD, norm: float) -> float:
    """Return what a step costs a record whose clipped gradient is so long, without any rounding up."""
    mu = norm / mechanism.training.sigma
    if isinstance(mechanism.filter, RenyiFilter):
        return float(renyi_divergence(mechanism.training.rate, mu, mechanism.filter.order))
    return mu * mu


def limit(mechanism: FilteredDPSGD) -> float:
    """Return what a record may spend."""
    return mechanism.filter.budget if isinstance(mechanism.filter, RenyiFilter) else mechanism.filter.mu**2


def filtered_draws(mechanism: FilteredDPSGD, dataset: Dataset, n_draws: int, rng: np.random.Generator):
    """Return transcripts and what every record spent, for a public normaliser; random numbers as the fast code's."""
    training = mechanism.training
    theta = np.zeros((n_draws, dataset.dim))
    spent = np.zeros((n_draws, dataset.n_records))
    seen = []
    for _ in range(training.n_steps):
        sums = training.sigma * rng.standard_normal(theta.shape)
        sampled = np.ones(spent.shape, dtype=bool)
        if training.rate < 1:
            sampled = bernoulli(spent.size, training.rate, rng=rng).reshape(spent.shape)
        for run in range(n_draws):
            for i in range(dataset.n_records):
                g = gradient(training.loss, theta[run], dataset.X[i], float(dataset.y[i]), training.clip)
                one = cost(mechanism, float(np.linalg.norm(g)))
                if spent[run, i] + one > limit(mechanism):
                    continue
                spent[run, i] += one
                if sampled[run, i]:
                    sums[run] += g
        seen.append(sums)
        theta = theta - training.step_size / training.normaliser * sums
        norms = np.linalg.norm(theta, axis=1, keepdims=True)
        theta = theta * np.minimum(1.0, training.radius / np.maximum(norms, 1e-300))
    return np.concatenate(seen, axis=1), spent


def renyi(rate: float, mu: float, order: int) -> float:
    """Return Mironov, Talwar and Zhang's sum (2019, section 3.3), term by term."""
    terms = (
        math.comb(order, k) * (1 - rate) ** (order - k) * rate**k * math.exp(0.5 * k * (k - 1) * mu**2)
        for k in range(order + 1)
    )
    return math.log(math.fsum(terms)) / (order - 1)


def logistic_gradient(x: np.ndarray, y: float, theta: np.ndarray, clip: float) -> np.ndarray:
    gradient = -y * x / (1 + math.exp(y * float(x @ theta)))
    norm = float(np.linalg.norm(gradient))
    return gradient if norm <= clip else gradient * clip / norm


def realised_epsilons(
    dataset: Dataset,
    sums: np.ndarray,
    delta: float,
    orders: tuple[int, ...],
    *,
    rate: float,
    sigma: float,
    clip: float,
    step: float,
) -> list[float]:
    """Return the least epsilon over the orders for every record; ``step``: step size over normaliser, no ball."""
    found = []
    for x, y in zip(dataset.X, dataset.y, strict=True):
        theta, totals = np.zeros(dataset.dim), dict.fromkeys(orders, 0.0)
        for noisy in sums:
            mu = float(np.linalg.norm(logistic_gradient(x, float(y), theta, clip))) / sigma
            for order in orders:
                totals[order] += renyi(rate, mu, order)
            theta = theta - step * noisy
        found.append(
            min(cost + math.log((a - 1) / a) - (math.log(delta) + math.log(a)) / (a - 1) for a, cost in totals.items())
        )
    return found


#: Standard deviations beyond which nothing is integrated.
FAR = 40
#: Points of the square on which ``plane_delta`` sums, a side.
SIDE = 361


def _normal_at(x: Any, mean: Any) -> Any:
    return (-((x - mean) ** 2) / 2).exp() / (2 * arb.pi()).sqrt()


def _mixture(x: Any, parts: list[tuple[Any, Any]]) -> Any:
    return sum((weight * _normal_at(x, mean) for weight, mean in parts), acb(0))


def worst_pair(rate: float, mu: float, relation: str) -> tuple[list[tuple[Any, Any]], list[tuple[Any, Any]]]:
    """Return the laws of D and D' as lists of (weight, mean): add, remove or replace one record."""
    q, m = arb(rate), arb(mu)
    absent, present, opposite = [(arb(1), arb(0))], [(1 - q, arb(0)), (q, m)], [(1 - q, arb(0)), (q, -m)]
    return {"ADD": (absent, present), "REMOVE": (present, absent), "REPLACE": (present, opposite)}[relation]


def line_delta_and_tail(p: Any, q: Any, epsilon: float, bits: int = 160) -> tuple[float, float]:
    """Integrate ``(p - e^epsilon q)_+`` and ``p`` where ``p > e^epsilon q``, for a ratio p/q that is monotone."""
    with ctx.workprec(bits):
        factor = arb(epsilon).exp()

        def gap(x: Any, _analytic: bool = False) -> Any:
            return _mixture(x, p) - factor * _mixture(x, q)

        low, high = arb(-FAR), arb(FAR)
        rising = bool(gap(high).real > 0)
        if bool(gap(low).real > 0) == rising:  # of one sign everywhere (as far as one looks)
            if not rising:
                return 0.0, 0.0
            edge = low
        else:
            for _ in range(bits):
                middle = ((low + high) / 2).mid()
                low, high = (low, middle) if bool(gap(middle).real > 0) == rising else (middle, high)
            edge = low
        ends = [edge + step if rising else edge - step for step in (0, 1, 4, 12, FAR, 2 * FAR)]
        pieces = [(a, b) if rising else (b, a) for a, b in pairwise(ends)]
        delta = sum((acb.integral(gap, a, b).real for a, b in pieces), arb(0))
        tail = sum((acb.integral(lambda x, _: _mixture(x, p), a, b).real for a, b in pieces), arb(0))
        return float(delta), float(tail)


def plane_delta(rate: float, u: Any, v: Any, epsilon: float) -> float:
    """Sum ``(p - e^epsilon q)_+`` over a fine square: ``p`` moved to ``u`` with probability rate, ``q`` to ``v``.

    Vectors of two numbers, at most 4 long. The kink of the integrand costs about the square of the grid's width.
    """
    side = np.linspace(-9.0, 9.0, SIDE)
    x, y = side[:, None], side[None, :]

    def density(mean: Any) -> Any:
        return np.exp(-0.5 * ((x - mean[0]) ** 2 + (y - mean[1]) ** 2)) / (2 * np.pi)

    p = (1 - rate) * density((0.0, 0.0)) + rate * density(u)
    q = (1 - rate) * density((0.0, 0.0)) + rate * density(v)
    return float(np.maximum(p - np.exp(epsilon) * q, 0.0).sum() * (side[1] - side[0]) ** 2)


def renyi_by_quadrature(rate: float, mu: float, order: float, *, backward: bool = False) -> float:
    """Integrate ``p^order q^(1 - order)``, p the mixture and q the normal law at 0 (backward: the other way round)."""
    with mpmath.workdps(25):
        weight, shift = mpmath.mpf(rate), mpmath.mpf(mu)

        def integrand(x: Any) -> Any:
            normal = mpmath.npdf(x)
            mixture = (1 - weight) * normal + weight * mpmath.npdf(x, shift)
            top, bottom = (normal, mixture) if backward else (mixture, normal)
            return top**order * bottom ** (1 - order)

        reach = order * shift
        pieces = [-reach - 15, -4, 0, shift, reach / 2 + 2, reach + 4, reach + 15]
        return float(mpmath.log(mpmath.quad(integrand, sorted(pieces))) / (order - 1))
