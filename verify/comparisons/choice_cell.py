"""Who is compared, and one cell: a mechanism built once from public numbers, cross-validated, and what records lose."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

import numpy as np

from audits import StreamKey
from mechanisms import Dataset, Mechanism
from mechanisms.base import check_draws
from mechanisms.capabilities import Bound, Domain, RecordBound, coefficients_of, worst_case_of
from mechanisms.data.dataset import FloatArray, row_norms
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from mechanisms.objective.perturbed_solver import SolverError
from mechanisms.offers import Offer, Promise, PromiseStanding, least, offers, standing
from mechanisms.records.record_laws import dominating_laws
from mechanisms.reference import is_reference

from ..certificates.claims.record_losses import record_epsilons
from ..figures.regression_methods import Error, folds, minimum_norm, misclassified, splits, squared_errors
from ..kernel.rows import Row, encode
from ..messages.errors import UserError
from .choice_data import ChoiceData, Loss

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
        at_once = max(1, NUMBERS // (_steps_of(self.mechanism) * dataset.dim))
        parts = []
        for done in range(0, check_draws(n_draws), at_once):
            outputs = self.mechanism.draw(dataset, min(at_once, n_draws - done), rng=rng)
            parts.append(coefficients_of(self.mechanism, outputs, dataset))
        return np.concatenate(parts)


def _steps_of(mechanism: object) -> int:
    """Return how many steps a mechanism takes, each of which is in its transcript."""
    return int(getattr(mechanism, "n_steps", 1))


def passes(mechanism: object, dim: int, n_folds: int, n_draws: int) -> int:
    """Return the steps of all draws on all folds, those of draws made at once counted once."""
    steps = _steps_of(mechanism)
    return n_folds * steps * math.ceil(n_draws / max(1, NUMBERS // (steps * dim)))


def _predict_nothing(dataset: Dataset) -> FloatArray:
    """Return coefficients 0."""
    return np.zeros(dataset.dim)


def _logistic_minimiser(dataset: Dataset) -> FloatArray:
    """Return the minimiser of the logistic loss with the ridge ``LIGHT_RIDGE`` times the squared bound of features."""
    solver = ObjectivePerturbation(LogisticLoss(), 1.0, LIGHT_RIDGE * dataset.x_bound**2)
    return np.asarray(solver.solve(dataset, np.zeros((1, dataset.dim)))[0])


#: What promises nothing, by loss and method.
WITHOUT_PRIVACY = {
    "squared": {TRIVIAL: Plain(_predict_nothing), NON_PRIVATE: Plain(minimum_norm)},
    "logistic": {TRIVIAL: Plain(_predict_nothing), NON_PRIVATE: Plain(_logistic_minimiser)},
}


def contenders(
    loss: str, promises: Sequence[Promise], methods: Sequence[str] = (), *, as_run: bool = False
) -> list[Contender]:
    """Return the lines of a comparison, in order.

    ``methods`` are those that are wanted, none for all (``UserError`` where the loss has none of a name); with
    ``as_run`` the variants of the published experiments' code are compared too (squared loss).
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


#: Lengths of features at which a bound is asked for; a record has that of the next longer one.
LENGTHS = 24


@dataclass(frozen=True)
class Price:
    """Median, 95 % and largest epsilon of the records, and what they rest on; None where nothing is known."""

    median: float | None = None
    high: float | None = None
    largest: float | None = None
    kind: str = ""

    @classmethod
    def of(cls, epsilons: Sequence[float] | FloatArray, kind: str) -> Price:
        """Return order statistics: each is the epsilon of a record, the upper one where two are equally near."""
        table = np.sort(np.asarray(epsilons, dtype=np.float64))
        median, high, largest = (float(table[math.ceil(share * (len(table) - 1))]) for share in (0.5, 0.95, 1.0))
        return cls(median, high, largest, kind)


def price(mechanism: object, dataset: Dataset, domain: Domain, promise: Promise, standing: PromiseStanding) -> Price:
    """Return what every record loses, one record added or removed, at the delta of a promise.

    By the exact law of each record's loss; else by a law that dominates it, by what is proved of records of its length,
    or of all records; else by the promise itself, unless that is broken, or about a record replaced.
    """
    exact = record_epsilons(mechanism, dataset, promise.delta)
    if exact is not None:
        return Price.of(exact, "exact law")
    laws = dominating_laws(mechanism, dataset)
    if laws is not None:
        return Price.of(laws.worse_epsilon_at(promise.delta), "proved bound")
    proved = _by_length(mechanism, dataset, domain, promise)
    if proved is None:
        bound = worst_case_of(mechanism, domain)
        epsilon = None if bound is None else _epsilon(bound, promise)
        proved = None if epsilon is None else np.array([epsilon])
    if proved is not None:
        return Price.of(proved, "proved bound")
    if standing is PromiseStanding.BROKEN or promise.neighbours == "replace":
        return Price()
    return Price.of([promise.epsilon], "the promise")


def _by_length(mechanism: object, dataset: Dataset, domain: Domain, promise: Promise) -> FloatArray | None:
    """Return a proved epsilon of every record from the length of its features, or None where some has none."""
    if not (isinstance(mechanism, RecordBound) and is_reference(mechanism) and domain.bounded):
        return None
    norms = row_norms(dataset.X)
    longest = float(norms.max(initial=0.0))
    if longest == 0:
        return None
    shortest = max(float(norms.min()), longest * 1e-3)
    lengths = np.geomspace(shortest, longest, LENGTHS) if shortest < longest * (1 - 1e-9) else np.array([longest])
    lengths[-1] = longest
    places = np.minimum(np.searchsorted(lengths, norms), len(lengths) - 1)
    found = {}
    for place in np.unique(places):
        bound = mechanism.record_bound(domain, float(lengths[place]))
        epsilon = None if bound is None else _epsilon(bound, promise)
        if epsilon is None:
            return None
        found[int(place)] = epsilon
    return np.array([found[int(place)] for place in places])


def _epsilon(bound: Bound, promise: Promise) -> float | None:
    """Return the least epsilon that a bound keeps at the promised delta, a millionth larger at most; None if none."""
    delta = promise.delta
    return least(lambda epsilon: bound.delta_at(epsilon, delta) <= delta, promise.epsilon)


METRICS: Mapping[str, str] = {"squared": "mean squared error", "logistic": "misclassification rate"}
#: The largest that an error can be.
_LARGEST: Mapping[str, float] = {"squared": np.inf, "logistic": 1.0}
#: What a calibration, a draw or a law may say of numbers that it cannot do with; anything else is told by its type.
IN_WORDS = (ValueError, ArithmeticError, np.linalg.LinAlgError, SolverError, MemoryError)


@dataclass(frozen=True, eq=False)
class CellSetting:
    """What all cells of a comparison share, and with the line decides its row."""

    data: ChoiceData
    loss: Loss
    folds: int
    draws: int
    seed: int

    @property
    def key(self) -> StreamKey:
        """Where all random streams of the comparison begin."""
        return StreamKey(self.seed).child("compare")


def decide(setting: CellSetting, line: Contender) -> Row:
    """Return the row of a line; whatever stops it is its reason, so that a comparison goes on."""
    row = blank(setting, line)
    try:
        for part in _of_promise(setting, line) if line.promise and line.way != AS_RUN else _of_none(setting, line):
            row = _joined(row, part)
    except IN_WORDS as stop:
        return _joined(row, {"reason": f"no number here: {_words(stop)}"})
    except Exception as stop:  # a message of another library may quote a record
        return _joined(row, {"reason": f"stopped with {type(stop).__name__}"})
    return row


def _joined(row: Row, part: Row) -> Row:
    """Return a row with further columns; a further reason stands beside the one that is there."""
    return row | part | {"reason": "; ".join(filter(None, (row["reason"], part.get("reason", ""))))}


def _words(stop: BaseException) -> str:
    """Return what an exception says, in one line."""
    return " ".join(str(stop).split()) or type(stop).__name__


def blank(setting: CellSetting, line: Contender, reason: str = "") -> Row:
    """Return a row of which nothing is known but its line, and why."""
    promise = line.promise
    return {
        "kind": "choice",
        "data": setting.data.dataset.name,
        "origin": setting.data.origin,
        "loss": setting.loss,
        "method": line.method,
        "way": line.way,
        "neighbours": "" if promise is None else promise.neighbours,
        "epsilon": None if promise is None else promise.epsilon,
        "delta": None if promise is None else promise.delta,
        "rule": "",
        "standing": "",
        "error": None,
        "error_low": None,
        "error_high": None,
        "metric": METRICS[setting.loss],
        "folds": setting.folds,
        "draws": setting.draws,
        "record_epsilon_median": None,
        "record_epsilon_95": None,
        "record_epsilon_largest": None,
        "record_epsilon_kind": "",
        "reason": reason,
    }


def _of_none(setting: CellSetting, line: Contender) -> Iterator[Row]:
    """Yield the columns of a line without a promise of ours: a plain estimate, or a variant of the published code."""
    if line.promise is None:
        yield {"draws": 0}
    if line.way != AS_RUN:
        yield _errors(setting, line, WITHOUT_PRIVACY[setting.loss][line.method])
        return
    rule, estimate = variant(line, setting.data.domain)
    yield {"rule": rule}
    yield _errors(setting, line, estimate)


def _of_promise(setting: CellSetting, line: Contender) -> Iterator[Row]:
    """Yield the columns of an offer, as they become known."""
    assert line.promise is not None
    data, promise = setting.data, line.promise
    offer = offer_of(line, setting.loss)
    yield {"rule": offer.rule}
    offered = offer.build(setting.loss, data.domain, promise)
    if offered.mechanism is None:
        yield {"reason": offered.reason}
        return
    mechanism = offered.mechanism
    found = standing(mechanism, data.domain, promise)
    yield {"standing": found.value}
    yield _prices(mechanism, setting, promise, found)
    steps = passes(mechanism, data.dataset.dim, setting.folds, setting.draws)
    if steps > MOST_STEPS:
        yield {"reason": f"not drawn: {steps:.3g} steps over folds and draws, and at most {MOST_STEPS:.3g} are taken"}
        return
    yield _errors(setting, line, DrawnEstimate(mechanism))


def _prices(mechanism: object, setting: CellSetting, promise: Promise, found: PromiseStanding) -> Row:
    each, why = Price(), ""
    try:
        each = price(mechanism, setting.data.dataset, setting.data.domain, promise, found)
    except IN_WORDS as stop:  # the law is not known on these records; the error still is
        why = f"no epsilon of the records: {_words(stop)}"
    return {
        "reason": why,
        "record_epsilon_median": encode(each.median),
        "record_epsilon_95": encode(each.high),
        "record_epsilon_largest": encode(each.largest),
        "record_epsilon_kind": each.kind,
    }


def _errors(setting: CellSetting, line: Contender, estimate: GivesCoefficients) -> Row:
    """Return the cross-validated error; the folds are those of every line, and so is a method's noise at every promise.

    A draw that gives no finite coefficients predicts 0. An interval is cut where no error can be: it stays as valid.
    """
    dataset, key = setting.data.dataset, setting.key
    parts = folds(dataset.n_records, setting.folds, key.child("folds").rng())
    error, means, lost = squared_errors if setting.loss == "squared" else misclassified, [], 0
    for number, (learned, held_out) in enumerate(splits(dataset, parts)):
        rng = key.child("draws", line.method, str(number)).rng()
        with np.errstate(all="ignore"):
            theta = estimate.coefficients(learned, setting.draws, rng)
            none = np.asarray(~np.isfinite(theta).all(axis=1))
            lost += int(none.sum())
            means.append(float(error(held_out, np.where(none[:, None], 0.0, theta)).mean()))
    found = Error.of(means)
    n_drawn = setting.folds * (1 if isinstance(estimate, Plain) else setting.draws)
    ends = (found.mean - found.half_width, found.mean + found.half_width)
    low, high = ends if np.isfinite(found.mean) else (-np.inf, np.inf)
    low, high = max(low, 0.0), min(high, _LARGEST[setting.loss])
    return {
        "error": encode(found.mean),
        "error_low": encode(float(low)),
        "error_high": encode(float(high)),
        "reason": f"{lost} of {n_drawn} draws gave no output, and predict 0" if lost else "",
    }
