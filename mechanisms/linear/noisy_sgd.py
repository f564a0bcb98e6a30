"""NoisySGD for least squares (W18, S5; Bassily, Smith and Thakurta 2014, algorithm 1): one record a step."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Literal

import numpy as np
import scipy
from pydantic import Field

from ..base import check_draws, check_positive
from ..capabilities import Bound, Domain
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray, RowClip, row_norms
from ..data.neighbours import NeighbouringPair, Relation
from ..guarantees import Guarantee
from ..laws.gaussian_calibration import check_open_delta
from ..numerics.ticks import tick
from ..numerics.transcripts import batches, check_count, check_outputs
from ..offers import LINEAR, NO_SIZE, Offer, Offered, Promise
from ..parameters import MOST_RECORDS, Count, Parameters, Positive

#: Radius of the parameter ball of the offers.
RADIUS = 1.0
#: Most numbers in a transcript for which the published number of steps is offered.
MOST_NUMBERS = 2_000_000
#: Most steps of the exact calibration.
MOST_STEPS = 1000


@dataclass(frozen=True)
class NoisySGD:
    r"""Steps ``theta <- project(theta - step_size/sqrt(t) (N g + b))``, ``b ~ N(0, sigma^2 I)``, from ``theta = 0``.

    ``g = -x (y - x^T theta)``, scaled down to norm at most ``clip``, is the gradient of half the squared residual at
    one record drawn uniformly from ``N`` slots; records fill the first slots and an empty slot has gradient 0. With
    ``n_public = None`` there are as many slots as records (as printed). Iterates stay in the ball of radius ``radius``.

    Observer: sees every noisy gradient, ``u_t = N g + b``, but not which record was drawn; the iterates follow from
    these by public arithmetic. The density of a step is thus a mixture over the records.

    Transcript: ``u_1, …, u_T``, each ``dim`` numbers: ``n_steps * dim`` in all.

    Parameters
    ----------
    n_steps : int
        At least 1.
    sigma : float
        Standard deviation of each coordinate of the noise added to ``N g``; positive.
    step_size : float
        Positive.
    clip : float
        Bound on the norm of one record's gradient; positive, may be infinite (then no guarantee follows from it).
    radius : float
        Of the parameter domain; positive, may be infinite.
    n_public : int or None
        Number of slots ``N``; no data set may have more records.

    Examples
    --------
    >>> data, mechanism = example_pair().first, NoisySGD(50, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32)
    >>> mechanism.coefficients(mechanism.draw(data, 3, rng=np.random.default_rng(1)), data).shape
    (3, 2)
    """

    n_steps: int
    sigma: float
    step_size: float
    clip: float = math.inf
    radius: float = math.inf
    n_public: int | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_steps", check_count("n_steps", self.n_steps))
        object.__setattr__(self, "sigma", check_positive("sigma", self.sigma))
        object.__setattr__(self, "step_size", check_positive("step_size", self.step_size))
        for name in ("clip", "radius"):
            if not float(getattr(self, name)) > 0:
                raise ValueError(f"{name} must be positive (infinity allowed), got {name}={getattr(self, name)}")
        if self.n_public is not None:
            object.__setattr__(self, "n_public", check_count("n_public", self.n_public))

    @classmethod
    def published(
        cls, epsilon: float, delta: float, *, n_records: int, dim: int, x_bound: float, y_bound: float, radius: float
    ) -> NoisySGD:
        """Return Bassily et al.'s constants for the squared loss on a ball: ``n^2 - 1`` steps.

        ``sigma^2 = 32 L^2 n^2 log(n/delta) log(1/delta)/epsilon^2`` with ``L = B (B radius + Y)``, which is also the
        clip (it never acts inside the ball), and step size ``2 radius/sqrt(n^2 L^2 + dim sigma^2)``; n is public.
        """
        n = check_count("n_records", n_records, least=2)
        epsilon, delta = check_positive("epsilon", epsilon), check_open_delta(delta)
        x_bound, y_bound = check_positive("x_bound", x_bound), check_positive("y_bound", y_bound)
        lipschitz = x_bound * (x_bound * check_positive("radius", radius) + y_bound)
        sigma = lipschitz * n * math.sqrt(32 * math.log(n / delta) * math.log(1 / delta)) / epsilon
        step_size = 2 * radius / math.sqrt((n * lipschitz) ** 2 + check_count("dim", dim) * sigma**2)
        return cls(n * n - 1, sigma, step_size, clip=lipschitz, radius=radius, n_public=n)

    @property
    def name(self) -> str:
        return f"NoisySGD ({self.n_steps} steps)"

    def slots(self, dataset: Dataset) -> int:
        """Return ``N``, the number of slots a step draws from."""
        if self.n_public is None:
            return dataset.n_records
        if dataset.n_records > self.n_public:
            raise ValueError(f"n_records must be at most n_public={self.n_public}, got n_records={dataset.n_records}")
        return self.n_public

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        n, dim, slots = dataset.n_records, dataset.dim, self.slots(dataset)
        theta = np.zeros((check_draws(n_draws), dim))
        outputs = np.empty((n_draws, self.n_steps, dim))
        for t in range(self.n_steps):
            noisy = self.sigma * rng.standard_normal((n_draws, dim))
            if n:
                slot = rng.integers(0, slots, n_draws)
                rows = dataset.X[np.minimum(slot, n - 1)]
                residual = dataset.y[np.minimum(slot, n - 1)] - np.einsum("ij,ij->i", rows, theta)
                weight = self._clipped(residual, row_norms(rows))
                noisy -= (slots * weight * (slot < n))[:, None] * rows
            outputs[:, t] = noisy
            theta = self._step(theta, noisy, t)
            tick(n_draws / self.n_steps)
        return outputs.reshape(n_draws, -1)

    def _clipped(self, residual: FloatArray, norms: FloatArray) -> FloatArray:
        """Return the residual scaled so that ``|residual| norms <= clip``: the gradient is minus it times the row."""
        if math.isinf(self.clip):
            return residual
        return np.asarray(residual * np.minimum(1.0, self.clip / np.maximum(np.abs(residual) * norms, 1e-300)))

    def _step(self, theta: FloatArray, noisy: FloatArray, t: int) -> FloatArray:
        moved = theta - self.step_size / math.sqrt(t + 1) * noisy
        return RowClip(self.radius)(moved)

    def split(self, outputs: FloatArray, dim: int) -> FloatArray:
        """Return the noisy gradients, shape ``(n_draws, n_steps, dim)``."""
        return check_outputs(outputs, self.n_steps * dim).reshape(-1, self.n_steps, dim)

    def iterates(self, outputs: FloatArray, dim: int) -> Iterator[tuple[FloatArray, FloatArray]]:
        """Yield, a step at a time, the iterate before it and the noisy gradient seen, both ``(n_draws, dim)``."""
        seen = self.split(outputs, dim)
        theta = np.zeros((len(seen), dim))
        for t in range(self.n_steps):
            yield theta, seen[:, t]
            theta = self._step(theta, seen[:, t], t)

    def output(self, outputs: FloatArray, dim: int) -> FloatArray:
        """Return the last iterate, shape ``(n_draws, dim)``."""
        *_, (theta, seen) = self.iterates(outputs, dim)
        return self._step(theta, seen, self.n_steps - 1)

    def coefficients(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        return self.output(outputs, dataset.dim)

    def _log_sum(self, theta: FloatArray, seen: FloatArray, X: FloatArray, y: FloatArray, slots: int) -> FloatArray:
        """Return ``log sum_i N(u; N g_i, sigma^2 I)/N(u; 0, sigma^2 I)`` over records, shape ``(n_draws,)``."""
        result = np.full(len(theta), -math.inf)
        norms = row_norms(X)
        for part in batches(len(theta), 32 * len(X)) if len(X) else ():  # about 1 MB an array: the cache's size
            # |u - N g|^2 - |u|^2 = 2 N w u^T x + N^2 w^2 |x|^2 with g = -w x
            weight = slots * self._clipped(y - theta[part] @ X.T, norms)
            exponent = seen[part] @ X.T
            exponent += 0.5 * weight * norms**2
            exponent *= weight / -(self.sigma**2)
            top = exponent.max(axis=1)
            exponent -= top[:, None]
            result[part] = top + np.log(np.exp(exponent, out=exponent).sum(axis=1))
        return result

    def _mixture(self, log_sum: FloatArray, n_records: int, slots: int) -> FloatArray:
        """Return the log of a step's density over that of ``N(0, sigma^2 I)``: records and empty slots."""
        if n_records == 0:
            return np.zeros(len(log_sum))
        empty = math.log1p(-n_records / slots) if n_records < slots else -math.inf
        return np.logaddexp(log_sum - math.log(slots), empty)

    def _log_ratio(self, theta: FloatArray, seen: FloatArray, dataset: Dataset) -> FloatArray:
        slots = self.slots(dataset)
        log_sum = self._log_sum(theta, seen, dataset.X, dataset.y, slots)
        return self._mixture(log_sum, dataset.n_records, slots)

    def _step_loss(self, theta: FloatArray, seen: FloatArray, pair: NeighbouringPair) -> FloatArray:
        first, second = pair.first, pair.second
        if pair.relation is Relation.REPLACE or self.n_public is None:
            return self._log_ratio(theta, seen, first) - self._log_ratio(theta, seen, second)
        # one pass over the records that both have; the target is one term more
        smaller, slots = (first if pair.sign > 0 else second), self.slots(first)
        shared = self._log_sum(theta, seen, smaller.X, smaller.y, slots)
        joined = np.logaddexp(shared, self._log_sum(theta, seen, pair.x[None], np.array([pair.y]), slots))
        n = smaller.n_records
        return pair.sign * (self._mixture(shared, n, slots) - self._mixture(joined, n + 1, slots))

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        outputs = check_outputs(outputs, self.n_steps * dataset.dim)
        total = -0.5 * np.square(outputs / self.sigma).sum(axis=1)
        total -= outputs.shape[1] * (math.log(self.sigma) + 0.5 * math.log(2 * math.pi))
        for theta, seen in self.iterates(outputs, dataset.dim):
            total += self._log_ratio(theta, seen, dataset)
        return np.asarray(total)

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        """Return ``log p_D(o) - log p_D'(o)`` of each transcript, summed over its steps."""
        outputs = check_outputs(outputs, self.n_steps * pair.first.dim)
        _ = self.slots(pair.first), self.slots(pair.second)  # refuses more records than slots
        total = np.zeros(len(outputs))
        for theta, seen in self.iterates(outputs, pair.first.dim):
            total += self._step_loss(theta, seen, pair)
            tick(len(outputs) / self.n_steps)
        return total

    def guarantee_at(self, delta: float) -> Guarantee:
        """Return the guarantee of the transcript from the Renyi accountant of dp-accounting.

        One of ``N`` slots drawn without replacement, one slot's content replaced, at a noise of ``sigma/(2 N clip)``
        times the sensitivity ``2 N clip``; adding or removing a record replaces an empty slot, so it is covered.
        ``ValueError`` if ``clip`` is infinite or ``n_public`` is None (the slots would differ between neighbours);
        ``ImportError`` if dp-accounting is not installed (``pip install 'pdp-verify[accounting]'``).
        """
        delta = check_open_delta(delta)
        if math.isinf(self.clip) or self.n_public is None:
            raise ValueError("clip must be finite and n_public given for a guarantee")
        epsilon = _renyi_epsilon(self.sigma / (2 * self.n_public * self.clip), self.n_public, self.n_steps, delta)
        return Guarantee(epsilon, delta, Relation.REPLACE, "DP", "dp-accounting, RdpAccountant")

    def worst_case(self, domain: Domain) -> Bound | None:
        """Return the accountant's bound, where gradients are clipped and the number of slots is public."""
        if math.isinf(self.clip) or self.n_public is None:
            return None

        def delta_at(epsilon: float, delta: float) -> float:
            try:
                return delta if delta > 0 and self.guarantee_at(delta).epsilon <= epsilon else 1.0
            except ImportError:
                return 1.0

        return Bound(
            "the Renyi accountant of dp-accounting for subsampled normal noise",
            "Clipped gradients of one slot of a public number, composed over the steps.",
            delta_at,
            ("the accountant of dp-accounting (the extra 'accounting') is right",),
            replaced=delta_at,
        )


@lru_cache(maxsize=64)
def _renyi_epsilon(noise: float, n_public: int, n_steps: int, delta: float) -> float:
    """Return the accountant's epsilon; it takes a second, and a figure asks for it at one delta all along."""
    try:
        import dp_accounting
        from dp_accounting.rdp import RdpAccountant
    except ImportError as error:
        raise ImportError("the accountant needs: pip install 'pdp-verify[accounting]'") from error
    step = dp_accounting.GaussianDpEvent(min(noise, 1e4))  # it fails beyond 1e7; more noise is no less private
    event = dp_accounting.SampledWithoutReplacementDpEvent(n_public, 1, step)
    accountant = RdpAccountant(neighboring_relation=dp_accounting.NeighboringRelation.REPLACE_ONE)
    return float(accountant.compose(event, n_steps).get_epsilon(delta))


class NoisySGDParameters(Parameters):
    """NoisySGD (W18-S5)."""

    name: Literal["noisy-sgd"]
    n_steps: Count
    sigma: Positive
    step_size: Positive
    clip: Positive
    radius: Positive
    n_public: int = Field(ge=1, le=MOST_RECORDS)  # pydantic 2.11 shares the default of an annotated type

    def build(self, dim: int) -> NoisySGD:
        return NoisySGD(self.n_steps, self.sigma, self.step_size, self.clip, self.radius, self.n_public)


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    return {"noisy-sgd": Example(NoisySGD(2, 8.0, 0.02, clip=0.3, radius=0.6, n_public=32), example_pair())}


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    n, dim = domain.n_public, domain.dim
    if n is None:
        return NO_SIZE
    if n < 2 or n * n * dim > MOST_NUMBERS:
        return Offered(None, f"n^2 - 1 steps are too {'few' if n < 2 else 'many'} here, n = {n}")
    bounds = {"x_bound": domain.x_bound, "y_bound": domain.y_bound, "radius": RADIUS}
    return Offered(NoisySGD.published(promise.epsilon, promise.delta, n_records=n, dim=dim, **bounds))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    n, lipschitz = domain.n_public, domain.x_bound * (domain.x_bound * RADIUS + domain.y_bound)
    if n is None:
        return NO_SIZE
    n_steps = min(n, MOST_STEPS)
    try:
        noise = _least_noise(n, n_steps, promise.epsilon, promise.delta)
    except ImportError:
        return Offered(None, "it needs pdp-verify[accounting]")
    if noise is None:
        return Offered(None, "the accountant proves no epsilon so small")
    sigma = noise * 2 * n * lipschitz
    step_size = 2 * RADIUS / math.sqrt((n * lipschitz) ** 2 + domain.dim * sigma**2)
    return Offered(NoisySGD(n_steps, sigma, step_size, clip=lipschitz, radius=RADIUS, n_public=n))


@lru_cache(maxsize=256)
def _least_noise(n_public: int, n_steps: int, epsilon: float, delta: float) -> float | None:
    """Return the least noise per sensitivity, a thousandth larger at most, in few calls of the accountant."""

    def excess(log_noise: float) -> float:
        return math.log(_renyi_epsilon(math.exp(log_noise), n_public, n_steps, delta) / epsilon)

    low = high = 0.0
    while excess(high) > 0:
        low, high = high, high + 1.0
        if high > 9:
            return None
    while low == high or excess(low) <= 0:
        low, high = low - 1.0, low
    root = scipy.optimize.brentq(excess, low, high, xtol=2e-4)
    return math.exp(float(root) + 5e-4)


def offers() -> Sequence[Offer]:
    """Return Bassily et al.'s constants, and a pass of so many steps as records with the accountant's least noise."""
    return (
        Offer(
            "NoisySGD",
            "published",
            _published,
            LINEAR,
            "W18-S5, Bassily et al. (2014): n^2 - 1 steps, ball of radius 1",
        ),
        Offer("NoisySGD", "exact", _exact, LINEAR, f"dp-accounting; min(n, {MOST_STEPS}) steps, ball of radius 1"),
    )
