"""Who is compared: what promises nothing, every offer for a promise, and what the published experiments ran."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from mechanisms import Dataset, Mechanism
from mechanisms.base import check_draws
from mechanisms.capabilities import Domain, coefficients_of
from mechanisms.data.dataset import FloatArray
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.offers import Offer, Promise, offers

from ..figures.regression_methods import minimum_norm
from ..messages.errors import UserError

if TYPE_CHECKING:
    from mechanisms.as_run.as_run_methods import AsRun

TRIVIAL, NON_PRIVATE, AS_RUN = "trivial", "non-private", "as run"
#: Ridge of the non-private logistic minimiser: without one, classes that can be told apart have none.
LIGHT_RIDGE = 1e-3
#: Numbers of a transcript, over the draws that are made at once (256 MB), and steps of a mechanism over all folds and
#: draws, beyond which a cell is refused: each step is a pass of Python.
NUMBERS, MOST_STEPS = 1 << 25, 3 * 10**7


@dataclass(frozen=True)
class Contender:
    """One line of the table: a method, how it is calibrated, and for which promise (None: it promises nothing)."""

    method: str
    way: str
    promise: Promise | None

    @property
    def name(self) -> str:
        """What a reader calls it."""
        promise = self.promise
        about = "" if promise is None else f"epsilon {promise.epsilon:g} ({promise.neighbours})"
        return ", ".join(filter(None, (self.method, self.way, about)))


class GivesCoefficients(Protocol):
    """Whatever gives regression coefficients."""

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``; of one draw where they are not random."""


@dataclass(frozen=True)
class Plain:
    """A deterministic estimate."""

    function: Callable[[Dataset], FloatArray]

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return the estimate, shape ``(1, dim)``."""
        return self.function(dataset)[None]


@dataclass(frozen=True)
class DrawnEstimate:
    """A mechanism, drawn from a few times at once where its transcript is long."""

    mechanism: Mechanism

    def coefficients(self, dataset: Dataset, n_draws: int, rng: np.random.Generator) -> FloatArray:
        """Return independent coefficients, shape ``(n_draws, dim)``."""
        at_once = max(1, NUMBERS // (steps_of(self.mechanism) * dataset.dim))
        parts = []
        for done in range(0, check_draws(n_draws), at_once):
            outputs = self.mechanism.draw(dataset, min(at_once, n_draws - done), rng=rng)
            parts.append(coefficients_of(self.mechanism, outputs, dataset))
        return np.concatenate(parts)


def steps_of(mechanism: object) -> int:
    """Return how many steps a mechanism takes, each of which is in its transcript."""
    return int(getattr(mechanism, "n_steps", 1))


def passes(mechanism: object, dim: int, n_folds: int, n_draws: int) -> int:
    """Return the steps of all draws on all folds, those of draws made at once counted once."""
    steps = steps_of(mechanism)
    return n_folds * steps * math.ceil(n_draws / max(1, NUMBERS // (steps * dim)))


def predict_nothing(dataset: Dataset) -> FloatArray:
    """Return coefficients 0."""
    return np.zeros(dataset.dim)


def logistic_minimiser(dataset: Dataset) -> FloatArray:
    """Return the minimiser of the logistic loss with the ridge ``LIGHT_RIDGE`` times the squared bound of features."""
    solver = ObjectivePerturbation(LogisticLoss(), 1.0, LIGHT_RIDGE * dataset.x_bound**2)
    return np.asarray(solver.solve(dataset, np.zeros((1, dataset.dim)))[0])


#: What promises nothing, by loss and method.
WITHOUT_PRIVACY = {
    "squared": {TRIVIAL: Plain(predict_nothing), NON_PRIVATE: Plain(minimum_norm)},
    "logistic": {TRIVIAL: Plain(predict_nothing), NON_PRIVATE: Plain(logistic_minimiser)},
}


def contenders(
    loss: str, promises: Sequence[Promise], methods: Sequence[str] = (), *, as_run: bool = False
) -> list[Contender]:
    """Return the lines of a comparison, in order.

    Parameters
    ----------
    methods : sequence of str
        Those that are wanted; none for all.
    as_run : bool
        Whether the variants of the published experiments' code are compared too (squared loss).

    Raises
    ------
    UserError
        If there is no such method for this loss.
    """
    lines = [Contender(method, "", None) for method in WITHOUT_PRIVACY[loss]]
    lines += [Contender(offer.method, offer.way, promise) for offer in offers(loss) for promise in promises]
    if as_run:
        lines += list(_as_run(promises))
    known = list(dict.fromkeys(line.method for line in lines))
    for method in methods:
        if method not in known:
            raise UserError(f"methods must be of {', '.join(known)} for the {loss} loss, got {method}")
    return [line for line in lines if not methods or line.method in methods]


def _as_run(promises: Sequence[Promise]) -> Iterator[Contender]:
    """Yield the variants of the published code, which know of one record added or removed alone."""
    for method in variants():
        if method == NON_PRIVATE:
            yield Contender(method, AS_RUN, None)
            continue
        for promise in promises:
            if promise.neighbours == "add-remove":
                yield Contender(method, AS_RUN, promise)


def offer_of(line: Contender, loss: str) -> Offer:
    """Return the offer behind a line."""
    return next(offer for offer in offers(loss) if (offer.method, offer.way) == (line.method, line.way))


def variants() -> Mapping[str, AsRun]:
    """Return the variants of the published experiments' code, by method."""
    from mechanisms.as_run.as_run_methods import as_run_methods

    return as_run_methods()


def variant(line: Contender, domain: Domain) -> tuple[str, GivesCoefficients]:
    """Return what is to be known of the variant behind a line, and the variant, built for its promise."""
    method = variants()[line.method]
    # what promises nothing is the same for every promise
    estimate = method.build(domain, line.promise or Promise(1.0, 1e-6))
    return ": ".join(filter(None, (method.statement, "; ".join(method.differs)))), estimate
