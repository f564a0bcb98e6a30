"""Mechanisms whose records take part while their own budgets last (Feldman and Zrnic 2021), and who surely spends."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal, Protocol, Self, runtime_checkable

import numpy as np
from pydantic import Field, model_validator

from ..accounting.subsampled_gaussian import renyi_bracket
from ..base import Mechanism, check_draws
from ..capabilities import Bound, Domain, worst_case_of
from ..data.dataset import Dataset, FloatArray, row_norms
from ..linear.sufficient_statistics import SufficientStatistics
from ..numerics.transcripts import BoolArray
from ..parameters import Positive
from ..records.record_laws import BatchedLaws
from ..reference import is_reference
from ..releases.gradient_release import GradientRelease
from ..training.batched_steps import SPARSE_RATE, ClippedRecords, bernoulli, passes
from ..training.dp_sgd import DPSGD, DPSGDParameters
from ..training.training_worst_case import forced_record
from .privacy_filters import GaussianFilter, RenyiFilter, check_filter, gaussian_cost, most_spent

#: Points of the table of costs, and by how much its chords are raised for rounding.
TABLE, ROUNDING = 513, 1e-13


@dataclass(frozen=True)
class FilteredDPSGD:
    """``training`` with an individual filter: a record takes part in a step only while its own budget lasts.

    What a record pays for a step is a function of the norm of its clipped gradient at the iterate, which everybody who
    sees the transcript knows, whether or not it is then sampled: the Renyi divergence of the Poisson-subsampled
    Gaussian, or the squared Gaussian parameter. The released number of records, where there is one, is paid for first,
    by all alike.

    Output: that of ``training``.

    Parameters
    ----------
    filter : RenyiFilter or GaussianFilter
        The Gaussian one is proved for a full batch only (``rate = 1``).

    Examples
    --------
    >>> from mechanisms.catalogue import example_pair
    >>> training = DPSGD("logistic", 20, 0.2, 2.0, 1.0, 0.5, normaliser=6.0)
    >>> mechanism, data = FilteredDPSGD(training, RenyiFilter(4, 0.05)), example_pair("labels").first
    >>> outputs = mechanism.draw(data, 3, rng=np.random.default_rng(1))
    >>> outputs.shape, float(mechanism.spent(outputs, data).max()) <= 0.05
    ((3, 40), True)
    """

    training: DPSGD
    filter: RenyiFilter | GaussianFilter

    def __post_init__(self) -> None:
        if not isinstance(self.training, DPSGD):
            raise ValueError(f"training must be a DPSGD, got {type(self.training).__name__}")
        check_filter(self.filter)
        rate = self.training.rate
        if isinstance(self.filter, GaussianFilter) and rate != 1:
            raise ValueError(f"rate must be 1 for a Gaussian filter, got rate={rate}")
        if not self.filter.admits(self.first_cost):
            count = self.training.count_sigma
            raise ValueError(f"count_sigma must be large enough for the filter's budget, got count_sigma={count}")

    @property
    def name(self) -> str:
        return f"filtered {self.training.name}"

    @property
    def first_cost(self) -> float:
        """What every record pays for the released number of records; 0 where there is none."""
        count = self.training.count_sigma
        return 0.0 if count is None else float(gaussian_cost(self.filter, np.asarray(1 / count)))

    @cached_property
    def _chords(self) -> tuple[FloatArray, FloatArray, float]:
        """Lines above the cost as a function of the squared distance, one a cell, and cells in a unit of it."""
        assert isinstance(self.filter, RenyiFilter)
        order, rate = self.filter.order, self.training.rate
        top = (self.training.clip / self.training.sigma) ** 2 * (1 + 1e-12)
        squares = np.linspace(0.0, top, TABLE)
        costs = np.array([renyi_bracket(rate, math.sqrt(square), order).high for square in squares]) * (1 + ROUNDING)
        slopes = np.diff(costs) / np.diff(squares)
        return costs[:-1] - slopes * squares[:-1] + ROUNDING * costs[1:], slopes, (TABLE - 1) / top

    def costs(self, norms: FloatArray) -> FloatArray:
        """Return what a step costs records whose clipped gradients are so long, rounded upwards.

        At a rate below 1 a chord of the divergence as a function of the squared norm, in which it is convex (the
        logarithm of a sum of exponentials), so that the chord is above it. Norms are at most ``clip``, of any shape.
        """
        training = self.training
        slack = 1 + 1e-12  # what rounding adds to a norm
        mus = np.minimum(norms * slack, training.clip) / training.sigma
        if training.rate == 1:
            return gaussian_cost(self.filter, mus)
        starts, slopes, scale = self._chords
        squares = np.square(mus)
        cells = np.minimum((squares * scale).astype(np.intp), TABLE - 2)
        return np.asarray(starts[cells] + slopes[cells] * squares)

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> FloatArray:
        records = self.training.records(dataset)
        outputs = np.empty((check_draws(n_draws), self.training.width(dataset.dim)))
        for part in passes(n_draws, dataset.n_records, dataset.dim, self.training.rate):
            self.training.train(self._budgeted(records, len(outputs[part])), outputs[part], rng)
        return outputs

    def spent(self, outputs: FloatArray, dataset: Dataset) -> FloatArray:
        """Return what every record had spent by each transcript, ``(n_draws, n_records)``: private."""
        records = self._budgeted(self.training.records(dataset), len(outputs))
        for theta, _ in self.training.iterates(outputs, dataset.dim):
            records.admit(theta)
        return records.spent

    def _budgeted(self, records: ClippedRecords, n_draws: int) -> BudgetedRecords:
        parts = (records.loss, records.X, records.y, records.norms, records.limits)
        spent = np.full((n_draws, len(records.y)), self.first_cost)
        return BudgetedRecords(*parts, spent, self.filter, self.costs)

    def _renyi(self, order: float) -> float:
        """Return the Renyi divergence of an order that the filter proves; it rises with the order."""
        if isinstance(self.filter, GaussianFilter):
            return 0.5 * order * self.filter.mu**2 * (1 + 1e-15)
        return self.filter.budget if order <= self.filter.order else math.inf

    def worst_case(self, domain: Domain) -> Bound:
        """Return what the filter guarantees, or what is proved without it where that is less."""
        return self._bound(worst_case_of(self.training, domain))

    def record_bound(self, domain: Domain, length: float) -> Bound:
        return self._bound(self.training.record_bound(domain, length))

    def records_bound(self, dataset: Dataset) -> Bound:
        return self._bound(self.training.records_bound(dataset))

    def dominating_laws(self, dataset: Dataset) -> BatchedLaws:
        """Return laws that dominate those of leaving each record out: as without a filter, where none sits out."""
        return self.training.dominating_laws(dataset)

    @property
    def _own(self) -> Bound:
        """What the filter alone proves."""
        gaussian = isinstance(self.filter, GaussianFilter)
        theorem = "Koskela, Tobaben and Honkela (2023)" if gaussian else "Feldman and Zrnic (2021)"
        return Bound(
            f"{theorem}: docs/derivations/filters.md",
            "No record takes part in a step that its own budget does not cover: what it spends, and with it the whole "
            "interaction, stays within the budget of the filter, whoever chooses the steps.",
            lambda epsilon, _: self.filter.delta_at(epsilon),
            mu=self.filter.mu if isinstance(self.filter, GaussianFilter) else None,
            renyi=self._renyi,
        )

    def _bound(self, plain: Bound | None) -> Bound:
        """Return the smaller of two bounds, each named: the training's without a filter, and the filter's."""
        own = self._own
        if plain is None:
            return own
        spare = f"{plain.sentence} So much holds without the filter."
        parts = (replace(plain, sentence=spare), own)
        return Bound(
            f"{plain.statement}; {own.statement}",
            f"The smaller of two bounds. {plain.sentence} {own.sentence}",
            lambda epsilon, delta: min(part.delta_at(epsilon, delta) for part in parts),
            mu=min((part.mu for part in parts if part.mu is not None), default=None),
            replaced=plain.replaced,
            renyi=lambda order: min(most_spent(part, order) for part in parts),
            parts=parts,
        )


@dataclass(frozen=True, eq=False)
class BudgetedRecords(ClippedRecords):
    """Records that take part while their budgets last; ``spent``, one row a training, is overwritten step by step."""

    spent: FloatArray
    filter: RenyiFilter | GaussianFilter
    costs: Callable[[FloatArray], FloatArray]

    def admit(self, theta: FloatArray) -> Any:
        """Return who may take part at iterates, ``(n_draws, n_records)``; those who may have paid."""
        after = self.filter.spend(self.spent, self.costs(self.gradient_norms(theta)))
        active = self.filter.admits(after)
        np.copyto(self.spent, after, where=active)
        return active

    def sums(self, theta: FloatArray, rate: float, *, rng: np.random.Generator) -> FloatArray:
        """Return sums of clipped gradients over a Poisson sample of those who may take part."""
        active = self.admit(theta)
        if rate < 1:
            active = active & bernoulli(active.size, rate, rng=rng).reshape(active.shape)
        return self.sums_over(theta, active, sparse=rate < SPARSE_RATE)


class FilteredDPSGDParameters(DPSGDParameters):
    """DP-SGD whose records take part while their own budgets last (Feldman and Zrnic 2021)."""

    name: Literal["filtered-dp-sgd"]  # type: ignore[assignment]
    filter: Literal["renyi", "gaussian"]
    order: int | None = Field(None, ge=2, le=1024, description="Of the Renyi divergences that are added up.")
    budget: Positive | None = Field(None, description="What each record may spend at that order, in nats.")
    mu: Positive | None = Field(None, description="Gaussian parameter of the whole; for rate = 1.")

    @model_validator(mode="after")
    def _form(self) -> Self:
        wanted = ("order", "budget") if self.filter == "renyi" else ("mu",)
        for key in ("order", "budget", "mu"):
            if (getattr(self, key) is not None) != (key in wanted):
                rule = "given" if key in wanted else "absent"
                raise ValueError(f'mechanism.{key}|{rule} for filter = "{self.filter}"|{getattr(self, key)}')
        return self

    def build(self, dim: int) -> FilteredDPSGD:  # type: ignore[override]
        given = self.model_dump(exclude={"name", "filter", "order", "budget", "mu"})
        training = DPSGDParameters(name="dp-sgd", **given).build(dim)
        if self.mu is not None:
            return FilteredDPSGD(training, GaussianFilter(self.mu))
        assert self.order is not None
        assert self.budget is not None
        return FilteredDPSGD(training, RenyiFilter(self.order, self.budget))


@runtime_checkable
class RecordStep(Protocol):
    """A step whose output is a sum over records plus normal noise: each record moves it, whatever the others are."""

    @property
    def mechanism(self) -> Mechanism:
        """What is drawn from, on the records that take part."""

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return how many standard deviations each record moves the output, shape ``(n_records,)``.

        A function of that record alone: never of the other records.
        """


@dataclass(frozen=True)
class StatisticsStep:
    """Sufficient statistics of the records that take part."""

    mechanism: SufficientStatistics

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return the joint distance of both statistics for each record."""
        return self.mechanism.record_laws(dataset).mu


@dataclass(frozen=True)
class GradientStep:
    """The gradient at a parameter that may have been chosen after everything released so far."""

    mechanism: GradientRelease

    def record_mus(self, dataset: Dataset) -> FloatArray:
        """Return the norm of each record's gradient in standard deviations."""
        slopes = self.mechanism.loss.first(dataset.X @ self.mechanism.theta, dataset.y)
        return np.asarray(np.abs(slopes) * row_norms(dataset.X) / self.mechanism.sigma2)


@dataclass(frozen=True, eq=False, repr=False)
class FilteredInteraction:
    """What every record has spent so far; ``ask`` answers a step and returns the interaction after it.

    The steps may be chosen after all answers. A record takes part in a step only while the filter admits its own costs,
    that of the step included; where it does not take part it pays nothing. All answers together are as private as the
    filter says, for one record added or removed (docs/derivations/filters.md). Who takes part is private.

    Parameters
    ----------
    spent : array, optional
        Costs of each record so far; zeros at the start.

    Examples
    --------
    >>> from mechanisms.catalogue import example_pair
    >>> interaction = FilteredInteraction(example_pair().first, GaussianFilter(0.5))
    >>> step, rng = StatisticsStep(SufficientStatistics(4.0, 4.0)), np.random.default_rng(1)
    >>> for _ in range(5):
    ...     answer, interaction = interaction.ask(step, rng=rng)
    >>> answer.shape, float(interaction.spent.max()) <= 0.25
    ((5,), True)
    """

    dataset: Dataset
    filter: RenyiFilter | GaussianFilter
    spent: FloatArray = field(default_factory=lambda: np.empty(0))

    def __post_init__(self) -> None:
        if not isinstance(self.dataset, Dataset):
            raise ValueError(f"dataset must be a Dataset, got {type(self.dataset).__name__}")
        check_filter(self.filter)
        if self.spent.size == 0:
            object.__setattr__(self, "spent", np.zeros(self.dataset.n_records))
        if self.spent.shape != (self.dataset.n_records,):
            raise ValueError(f"spent must have one number a record, got shape={self.spent.shape}")

    def __repr__(self) -> str:
        """Return the filter; what records have spent is private."""
        return f"FilteredInteraction({self.filter}, private)"

    def admitted(self, step: RecordStep) -> tuple[BoolArray, FloatArray]:
        """Return which records a step would be drawn on, and what would be spent after it."""
        after = self.filter.spend(self.spent, gaussian_cost(self.filter, step.record_mus(self.dataset)))
        active: Any = self.filter.admits(after)
        return active, np.where(active, after, self.spent)

    def ask(self, step: RecordStep, *, rng: np.random.Generator) -> tuple[FloatArray, FilteredInteraction]:
        """Return the answer of a step on the records that take part, and the interaction after it."""
        active, spent = self.admitted(step)
        chosen = replace(self.dataset, X=self.dataset.X[active], y=self.dataset.y[active])
        return step.mechanism.draw(chosen, 1, rng=rng)[0], replace(self, spent=spent)


#: What float64 may add to the few products below.
PRODUCTS = 1e-12


@dataclass(frozen=True)
class Spender:
    """One record of the domain, alone, and what it surely spends.

    Attributes
    ----------
    length : float
        Norm of its features; its response is ``y_bound``, or the label 1.
    norm : float
        Its clipped gradient is at least so long in each of ``steps`` steps, the first ones.
    spent : float
        Renyi divergence in nats, or the Gaussian ``mu``: of what is released with it and without it, at least.
    """

    length: float
    norm: float
    steps: int
    spent: float

    @property
    def words(self) -> str:
        return (
            f"no record, and one of features {self.length:g} long whose clipped gradient is at least {self.norm:g} "
            f"long in the first {self.steps} step{'s' * (self.steps > 1)}"
        )


def least_renyi(mechanism: object, domain: Domain, order: int) -> Spender | None:
    """Return a record that surely spends, and its Renyi divergence at ``order``; None where none is known.

    Of DP-SGD with and without a filter, for an observer of the transcript: moments of the likelihood ratio multiply
    over the steps, and each rises with the norm of the record's gradient.
    """
    training = _training(mechanism, domain)
    if training is None:
        return None

    def spent(norm: float, steps: int) -> float:
        counted = 0.0 if training.count_sigma is None else 0.5 * order / training.count_sigma**2
        return (steps * renyi_bracket(training.rate, norm / training.sigma, order).low + counted) * (1 - PRODUCTS)

    found = [Spender(length, norm, n, spent(norm, n)) for length, norm, n in _records(mechanism, training, domain)]
    return max(found, key=lambda each: each.spent)


def least_mu(mechanism: object, domain: Domain) -> Spender | None:
    """Return a record that surely spends, and its Gaussian parameter; None where none is known, and below rate 1."""
    training = _training(mechanism, domain)
    if training is None or training.rate < 1:
        return None

    def spent(norm: float, steps: int) -> float:
        counted = 0.0 if training.count_sigma is None else 1 / training.count_sigma
        return math.hypot(math.sqrt(steps) * norm / training.sigma, counted) * (1 - PRODUCTS)

    found = [Spender(length, norm, n, spent(norm, n)) for length, norm, n in _records(mechanism, training, domain)]
    return max(found, key=lambda each: each.spent)


def _training(mechanism: object, domain: Domain) -> DPSGD | None:
    inner = mechanism.training if isinstance(mechanism, FilteredDPSGD) else mechanism
    known = isinstance(inner, DPSGD) and inner.observer == "transcript" and domain.bounded and is_reference(mechanism)
    return inner if known and isinstance(inner, DPSGD) else None


def _records(mechanism: object, training: DPSGD, domain: Domain) -> list[tuple[float, float, int]]:
    """Return records with a least norm of their clipped gradients, and for how many steps these surely take part.

    One for every step, whose gradient is surely long in the whole ball; one for the first step, taken at 0.
    """
    found = []
    for radius, steps in ((training.radius, training.n_steps), (0.0, 1)):
        length, least = forced_record(training.loss, domain, radius)
        found.append((length, min(least, training.clip), min(steps, _admitted(mechanism, training))))
    return found


def _admitted(mechanism: object, training: DPSGD) -> int:
    """Return for how many steps, at least, any record takes part: those that it could pay at the longest gradient."""
    if not isinstance(mechanism, FilteredDPSGD):
        return training.n_steps
    one = float(mechanism.costs(np.array(training.clip)))
    left = mechanism.filter.limit - mechanism.first_cost
    return int(left / one * (1 - 1e-9)) if one > 0 else training.n_steps
