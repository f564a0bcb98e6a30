"""Subsample and aggregate for linear regression (W18, S3): a noisy mean of estimates on disjoint blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from ..base import check_draws, check_nonnegative, check_positive
from ..capabilities import Bound, Domain, stated_bound
from ..catalogue import Example, example_pair
from ..data.dataset import Dataset, FloatArray
from ..data.neighbours import NeighbouringPair, Relation
from ..guarantees import Guarantee
from ..laws.gaussian_profile import laplace_product_delta
from ..numerics.transcripts import check_count, check_outputs
from ..offers import LINEAR, NO_SIZE, Offer, Offered, Promise, with_least_noise
from ..parameters import Count, NonNegative, Parameters, Positive, Ways

#: Half the side of the box that the offers clamp coefficients to.
RADIUS = 1.0


def suggested_blocks(n_public: int, epsilon: float) -> int:
    """Return ``n^(3/5)/epsilon^(2/5)`` rounded up, where noise balances a debiased estimator's bias.

    With blocks of ``m = n/k`` records a bias of order ``m^(-3/2)`` is squared ``(k/n)^3``, and the noise variance is
    ``1/(k epsilon)^2``; equal, they give the rate ``(epsilon n)^(-6/5)`` that W18's table 2 quotes.
    """
    n = check_count("n_public", n_public)
    blocks = math.ceil(math.pow(n, 0.6) / math.pow(check_positive("epsilon", epsilon), 0.4))
    return max(1, min(n, blocks))


@dataclass(frozen=True)
class SubsampleAggregate:
    r"""``mean over k blocks of clamp(ridge estimate) + Laplace``, ``epsilon``-DP for one record added or removed.

    The paper names the scheme without constants; these are Dwork and Smith's (2010, section 3): disjoint blocks, each
    coordinate clamped to ``[-radius, radius]``, Laplace noise of scale ``2 radius dim/(k epsilon)`` on each coordinate
    of the mean. Least squares is unbiased in the linear model, so nothing is left to debias. The block of a record is
    a public hash of its content (with ``salt``): it depends neither on the order nor on the other records, so that
    neighbouring data sets differ in one block; equal records share a block. An empty block estimates 0; without a
    ridge the minimum-norm solution is taken.

    Transcript: the ``dim`` released coefficients.

    Parameters
    ----------
    n_blocks : int
        ``k``, public; see ``suggested_blocks``.
    epsilon : float
        Positive.
    radius : float
        Half the side of the public box that coefficients are clamped to; finite and positive.
    lam : float
        Ridge of each block, at least 0.
    salt : int
        Public, at least 0.

    Examples
    --------
    >>> pair, mechanism = example_pair(), SubsampleAggregate(n_blocks=4, epsilon=3.0, radius=1.5, lam=0.1)
    >>> mechanism.pure_epsilon(pair) <= 3.0
    True
    """

    n_blocks: int
    epsilon: float
    radius: float
    lam: float = 0.0
    salt: int = 0

    def __post_init__(self) -> None:
        object.__setattr__(self, "n_blocks", check_count("n_blocks", self.n_blocks))
        object.__setattr__(self, "epsilon", check_positive("epsilon", self.epsilon))
        object.__setattr__(self, "radius", check_positive("radius", self.radius))
        object.__setattr__(self, "lam", check_nonnegative("lam", self.lam))
        object.__setattr__(self, "salt", check_count("salt", self.salt, least=0))

    @property
    def name(self) -> str:
        return f"subsample and aggregate ({self.n_blocks} blocks)"

    @property
    def guarantee(self) -> Guarantee:
        """What the scheme states, for one record added or removed (a replacement may change two blocks: twice that)."""
        return Guarantee(self.epsilon, 0.0, Relation.ADD, "DP", "W18-S3")

    def worst_case(self, domain: Domain) -> Bound:
        """Return that of pure ``epsilon``, or of independent noise in every coordinate where that says more."""
        words = "One record changes one block, whose estimate is clamped to a box; a replacement changes two at most."
        return replace(
            stated_bound(self.epsilon, 0.0, "W18-S3", words),
            delta_at=lambda epsilon, _: self._delta(epsilon, 1, domain.dim),
            replaced=lambda epsilon, _: self._delta(epsilon, 2, domain.dim),
        )

    def _delta(self, epsilon: float, n_changed: int, dim: int) -> float:
        pure = max(0.0, -math.expm1(epsilon - n_changed * self.epsilon))
        return min(pure, laplace_product_delta(n_changed * self.epsilon / dim, dim, epsilon))

    def scale(self, dim: int) -> float:
        """Return the Laplace scale of each coordinate."""
        return 2 * self.radius * dim / (self.n_blocks * self.epsilon)

    def blocks(self, dataset: Dataset) -> NDArray[np.int64]:
        """Return the block of every record, shape ``(n_records,)``, from its content alone."""
        records = np.column_stack([dataset.X, dataset.y]) + 0.0  # -0.0 becomes 0.0
        words = np.ascontiguousarray(records).view(np.uint64)
        state = np.full(len(records), self.salt, dtype=np.uint64)
        for column in words.T:
            state = _mix(state ^ column)
        return (state % np.uint64(self.n_blocks)).astype(np.int64)

    def block_estimates(self, dataset: Dataset) -> FloatArray:
        """Return every block's clamped estimate, shape ``(n_blocks, dim)``."""
        estimates, block_of = np.zeros((self.n_blocks, dataset.dim)), self.blocks(dataset)
        for block in np.unique(block_of):
            X, y = dataset.X[block_of == block], dataset.y[block_of == block]
            if self.lam > 0:
                estimates[block] = np.linalg.solve(X.T @ X + self.lam * np.eye(dataset.dim), X.T @ y)
            else:
                estimates[block] = np.linalg.lstsq(X, y, rcond=None)[0]
        return np.clip(estimates, -self.radius, self.radius)

    def mean(self, dataset: Dataset) -> FloatArray:
        """Return the output without noise, shape ``(dim,)``."""
        return np.asarray(self.block_estimates(dataset).mean(axis=0))

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        noise = rng.laplace(scale=self.scale(dataset.dim), size=(check_draws(n_draws), dataset.dim))
        return np.asarray(self.mean(dataset) + noise)

    def output(self, outputs: FloatArray, dim: int) -> FloatArray:
        """Return the coefficients, which are the whole transcript."""
        return check_outputs(outputs, dim)

    def log_density(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        scale = self.scale(dataset.dim)
        distance = np.abs(check_outputs(outputs, dataset.dim) - self.mean(dataset)).sum(axis=1)
        return np.asarray(-distance / scale - dataset.dim * math.log(2 * scale))

    def privacy_loss(self, outputs: FloatArray, pair: NeighbouringPair) -> FloatArray:
        outputs, first, second = check_outputs(outputs, pair.first.dim), self.mean(pair.first), self.mean(pair.second)
        difference = np.abs(outputs - second) - np.abs(outputs - first)
        return np.asarray(difference.sum(axis=1) / self.scale(pair.first.dim))

    def pure_epsilon(self, pair: NeighbouringPair) -> float:
        """Return the largest loss over all outputs, ``|mean(D) - mean(D')|_1/scale``: exact pure pDP."""
        return float(np.abs(self.mean(pair.first) - self.mean(pair.second)).sum() / self.scale(pair.first.dim))


def _mix(state: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """Return one round of the SplitMix64 finaliser, a bijection of 64 bits that scatters them."""
    state = (state + np.uint64(0x9E3779B97F4A7C15)).astype(np.uint64)
    state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return state ^ (state >> np.uint64(31))


class SubsampleParameters(Parameters):
    """Subsample and aggregate (W18-S3)."""

    protection: ClassVar[Ways] = ({"epsilon": -1},)

    name: Literal["subsample-aggregate"]
    n_blocks: Count
    epsilon: Positive
    radius: Positive
    lam: NonNegative = 0.0
    salt: int = Field(0, ge=0)

    def build(self, dim: int) -> SubsampleAggregate:
        return SubsampleAggregate(self.n_blocks, self.epsilon, self.radius, self.lam, self.salt)


def examples() -> dict[str, Example]:
    """Return the mechanism on a pair where its loss is of the order of 1."""
    return {"subsample-aggregate": Example(SubsampleAggregate(4, 3.0, 1.5, lam=0.1), example_pair())}


def _published(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    one = promise.for_one.epsilon
    return Offered(SubsampleAggregate(suggested_blocks(domain.n_public, one), one, RADIUS))


def _exact(_: str, domain: Domain, promise: Promise) -> Offered:
    if domain.n_public is None:
        return NO_SIZE
    blocks, start = suggested_blocks(domain.n_public, promise.for_one.epsilon), 1 / promise.epsilon
    return with_least_noise(lambda level: SubsampleAggregate(blocks, 1 / level, RADIUS), domain, promise, start)


def offers() -> Sequence[Offer]:
    """Return Dwork and Smith's pure scale, and the least for the promise's delta, in a box of side 2."""
    return (
        Offer("Sub-Agg", "published", _published, LINEAR, "W18-S3, Dwork and Smith (2010), section 3: delta = 0"),
        Offer("Sub-Agg", "exact", _exact, LINEAR, "docs/derivations/compare.md, section 6"),
    )
