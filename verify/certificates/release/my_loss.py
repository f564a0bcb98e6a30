"""What any one person learns from a published report and her own record, from nothing else.

A record outside the public domain is refused by name: the report says nothing about it. No message holds a value of the
record, and no number that is not finite leaves this module as if it were a bound.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms import DataError
from mechanisms.data.dataset import BOUND_SLACK, FloatArray, row_norms

from ...messages.errors import UserError
from ..config.config import DataSection
from ..reading.data_files import Preparation, table_records
from .published import UNBOUNDED, Published, read_published, strict_json

#: Levels of a text column that an error names.
SHOWN_LEVELS = 12


@dataclass(frozen=True)
class MyLoss:
    """Her bound on the ex-post loss, the probability that it fails, and what the data-dependent releases cost her.

    ``epsilon1_bar`` is None where the report gives no finite bound for her record.
    """

    epsilon1_bar: float | None
    failure_prob: float
    mu_releases: float
    mode: str


def my_loss(report_text: str, record_text: str) -> MyLoss:
    """Return what a record learns from a report.

    Parameters
    ----------
    report_text : str
        A publishable report, or a bare report of ``PrivacyReport.to_json``.
    record_text : str
        JSON: ``{"x": [...], "y": ...}`` prepared, or ``{"column": value, ...}`` raw.

    Raises
    ------
    UserError
        One line; never a value of the record.
    """
    published = read_published(report_text)
    report = published.report
    x, y = _record(record_text, published)
    if x.shape != (report.dim,):
        raise UserError(f"record must have {report.dim} prepared features, got {x.size}")
    _require_domain(x, y, published)
    with np.errstate(all="ignore"):
        if not np.isfinite([x @ x, np.dot(report.theta, x), y * y]).all():
            raise UserError("record must hold numbers that can be squared and summed, got larger ones")
        try:
            own = report.evaluate(x, y)
        except np.linalg.LinAlgError:
            raise UserError("report must be a report of pdp-verify: its hessian must not be singular") from None
        except ValueError as stop:
            raise UserError(f"record must fit the report's loss: {stop}") from None
        mu = float(np.hypot(own.mu2, own.mu3))
    if math.isnan(own.epsilon1_bar) or not math.isfinite(mu):
        raise UserError(
            "report must give a number for this record, got none: its own numbers are too large or too small"
        )
    bound = own.epsilon1_bar if math.isfinite(own.epsilon1_bar) else None
    return MyLoss(bound, report.failure_prob, mu, report.mode.value)


def _require_domain(x: FloatArray, y: float, published: Published) -> None:
    """Refuse a record that the report says nothing about."""
    about = "record must lie in the public domain of the report, which says nothing about any other"
    if row_norms(x[None])[0] > published.x_bound * (1 + BOUND_SLACK):
        raise UserError(f"{about}: x must have Euclidean norm at most x_bound={published.x_bound:g}, got a longer one")
    if abs(y) > published.y_bound * (1 + BOUND_SLACK):
        raise UserError(f"{about}: y must be between -{published.y_bound:g} and {published.y_bound:g}, got another")


def _record(text: str, published: Published) -> tuple[FloatArray, float]:
    try:
        raw = strict_json(text)
    except ValueError as stop:
        raise UserError(f"record must be JSON with finite numbers: {stop}") from None
    if not isinstance(raw, dict):
        raise UserError('record must be an object {"x": [...], "y": ...} or {"column": value, ...}, got something else')
    if set(raw) == {"x", "y"} and (isinstance(raw["x"], list) or published.data is None):
        x: list[Any] = raw["x"] if isinstance(raw["x"], list) else [None]
        if not all(_is_number(value) for value in (*x, raw["y"])):
            raise UserError("record must hold numbers in x and y, got something else")
        return np.array([float(value) for value in x], dtype=np.float64), float(raw["y"])
    if published.data is None:
        raise UserError(
            'record must be {"x": [...], "y": ...}, prepared, for this report (it has no rules for raw ones)'
        )
    return _prepared(raw, published.data)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool)


def _prepared(raw: dict[str, Any], data: DataSection) -> tuple[FloatArray, float]:
    """Return a raw record as the report's own rules prepare it; what they refuse is refused later, in other words."""
    values: dict[str, float | str] = {}
    for name in (*data.features, str(data.target)):
        if raw.get(name) is None:
            raise UserError(f"record must have every column of the report, got no {name}")
        levels = data.categories.get(name)
        if name == data.target and data.labels:
            levels = list(data.labels)
        values[name] = _cell(raw[name], name, levels)
        if name == data.target and data.labels and values[name] not in data.labels:
            known = ", ".join([*data.labels][:SHOWN_LEVELS]) + (", ..." if len(data.labels) > SHOWN_LEVELS else "")
            raise UserError(f"record: column {name} must be one of {known}, got another")
    lax = {} if data.rows != "refuse" else {"x_bound": UNBOUNDED}
    lax |= {} if data.response != "refuse" else {"y_bound": UNBOUNDED}
    try:
        with np.errstate(all="ignore"):
            X, y = Preparation(data.model_copy(update=lax))(*table_records(values, data))
    except (DataError, ValueError) as stop:
        raise UserError(f"record: {stop}") from None
    if not (np.isfinite(X).all() and np.isfinite(y).all()):
        raise UserError("record must hold numbers that can be prepared, got larger ones")
    return X[0], float(y[0])


def _cell(value: Any, name: str, levels: list[str] | None) -> float | str:
    """Return a value of a raw record: text where the column has levels, a number elsewhere."""
    if levels is None:
        if not _is_number(value):
            raise UserError(f"record: column {name} must be a number, got something else")
        return float(value)
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    raise UserError(f"record: column {name} must be text, one of its public levels, got something else")
