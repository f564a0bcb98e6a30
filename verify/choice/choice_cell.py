"""One cell: a mechanism, built once from public numbers, cross-validated, and what each record loses to it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from audits import StreamKey
from mechanisms.objective.perturbed_solver import SolverError
from mechanisms.offers import Promise, PromiseStanding, standing

from ..engine.rows import Row, encode
from ..figures.regression_methods import Error, folds, misclassified, splits, squared_errors
from .choice_data import ChoiceData, Loss
from .contenders import (
    AS_RUN,
    MOST_STEPS,
    WITHOUT_PRIVACY,
    Contender,
    DrawnEstimate,
    GivesCoefficients,
    Plain,
    offer_of,
    passes,
    variant,
)
from .record_price import Price, price

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
