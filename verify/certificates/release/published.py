"""The publishable report as a file: what is in it, and reading one that a stranger may have damaged or made up.

It holds the report (released numbers and public constants), the public domain that the report is about, and the public
rules by which a raw record is prepared. Nothing in it is read off the data.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from mechanisms import DataError, PrivacyReport
from mechanisms.capabilities import Domain
from mechanisms.data.dataset import BOUND_SLACK, FloatArray, row_norms
from mechanisms.numerics.goe import MAX_DIM

from ...messages.errors import UserError
from ..config.config import DataSection, one_line
from ..folder.attestation import as_json
from ..reading.data_files import Preparation, table_records

FORMAT = "pdp-verify publishable report"
#: What a reader needs to prepare a record; no path, no size, nothing read off the data.
PUBLIC_KEYS = (
    *("features", "target", "x_bound", "y_bound", "ranges", "categories", "labels", "log", "threshold"),
    *("response_scale", "intercept", "rows", "response"),
)
#: Where a rule says "refuse", the bound is checked after the preparation, in words that fit one record.
UNBOUNDED = 1e300

Finite = Annotated[float, Field(allow_inf_nan=False)]
Positive = Annotated[float, Field(gt=0, allow_inf_nan=False)]
Probability = Annotated[float, Field(gt=0, lt=1)]
Vector = Annotated[list[Finite], Field(min_length=1)]


class _Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", strict=True)


class _Loss(_Strict):
    kind: str
    parameters: dict[str, Positive]


class _Report(_Strict):
    format: str
    schema_version: int
    mode: str
    relations: list[Literal["ADD", "REMOVE"]]
    loss: _Loss
    sigma: Positive
    lam: Positive
    failure_prob: Probability
    sigma2: Positive | None
    sigma3: Positive | None
    tau: Finite
    theta: Vector
    gradient: Vector | None
    hessian: list[Vector] | None


class _Domain(_Strict):
    """The public domain: a bound is null where there is none."""

    dim: int
    x_bound: Positive | None
    y_bound: Positive | None


class _File(_Strict):
    """A publishable report; ``domain`` is younger than the format, and files without it stay valid."""

    format: str
    schema_version: int
    preparation: dict[str, Any] | None
    report: dict[str, Any]
    domain: _Domain | None = None


@dataclass(frozen=True, eq=False)
class Published:
    """A report as a stranger may use it: the report itself, the bounds of its public domain (infinite where none is
    published), the rules for raw records (None where only prepared ones are taken).
    """

    report: PrivacyReport
    x_bound: float
    y_bound: float
    data: DataSection | None


def publishable(report: PrivacyReport, data: DataSection, domain: Domain) -> bytes:
    """Return the bytes of a publishable report."""
    plain = data.model_dump(mode="json", exclude_none=True)
    return published_bytes(json.loads(report.to_json()), plain, (domain.dim, domain.x_bound, domain.y_bound))


def published_bytes(report: Mapping[str, Any], data: Mapping[str, Any], domain: tuple[int, float, float]) -> bytes:
    """Return the same from plain values: a report row, the ``data`` table of a configuration, dimension and bounds."""
    preparation = None
    if "source" not in data and not data.get("standardise"):
        preparation = {key: data[key] for key in PUBLIC_KEYS if key in data}
    dim, *bounds = domain
    x_bound, y_bound = (bound if math.isfinite(bound) else None for bound in bounds)
    return as_json(
        {
            "format": FORMAT,
            "schema_version": 1,
            "preparation": preparation,
            "domain": {"dim": dim, "x_bound": x_bound, "y_bound": y_bound},
            "report": dict(report),
        }
    )


def strict_json(text: str) -> Any:
    """Return what JSON says: finite numbers, each key once, no more nesting than Python can hold.

    Raises ValueError: in a few words, which quote nothing of the text.
    """

    def number(digits: str) -> float:
        value = float(digits)
        if not math.isfinite(value):
            raise ValueError("numbers must be finite")
        return value

    def table(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        unique = dict(pairs)
        if len(unique) != len(pairs):
            raise ValueError("each key must be given once")
        return unique

    def whole(digits: str) -> float | int:
        return int(digits) if len(digits) < 16 else number(digits)

    try:
        return json.loads(text, parse_constant=number, parse_float=number, parse_int=whole, object_pairs_hook=table)
    except json.JSONDecodeError as stop:
        raise ValueError(f"it must be JSON, got something else in line {stop.lineno}") from None
    except RecursionError:
        raise ValueError("it must be JSON, got something nested too deeply") from None


def _read_published(text: str) -> Published:
    """Return a publishable report, or a bare one of ``PrivacyReport.to_json``, after checking everything in it.

    Raises UserError: one line.
    """
    try:
        document = strict_json(text)
        if not (isinstance(document, dict) and document.get("format") == FORMAT):
            return Published(_report(document), math.inf, math.inf, None)
        return _published(_File.model_validate(document))
    except ValidationError as stop:
        raise UserError(f"report must be a report of pdp-verify: {_shown(one_line(stop))}") from None
    except (ValueError, TypeError, ArithmeticError) as stop:
        raise UserError(f"report must be a report of pdp-verify: {_shown(str(stop))}") from None


def _report(document: Any) -> PrivacyReport:
    if not isinstance(document, dict):
        raise ValueError("it must be an object, got something else")
    if "loss" not in document and "sigma" not in document:
        raise ValueError(f"format must be {FORMAT!r}, got something else")
    if len(_Report.model_validate(document).theta) > MAX_DIM:
        raise ValueError(f"theta must be a list of at most {MAX_DIM}, got more")
    with np.errstate(all="ignore"):
        return PrivacyReport.from_json(json.dumps(document))


def _published(file: _File) -> Published:
    if file.schema_version != 1:
        raise ValueError(f"schema_version must be 1, got schema_version={file.schema_version}")
    report, data = _report(file.report), _rules(file.preparation)
    dims = {report.dim}
    x_bound = y_bound = None
    if data is not None:
        dims.add(Preparation(data).dim)
        x_bound, y_bound = data.x_bound, data.y_bound
    if file.domain is not None:
        dims.add(file.domain.dim)
        if data is not None and (x_bound, y_bound) != (file.domain.x_bound, file.domain.y_bound):
            raise ValueError("domain must have the bounds of the preparation, got others")
        x_bound, y_bound = file.domain.x_bound, file.domain.y_bound
    if len(dims) > 1:
        raise ValueError("report, domain and preparation must have one number of features, got several")
    return Published(report, x_bound or math.inf, y_bound or math.inf, data)


def _rules(preparation: dict[str, Any] | None) -> DataSection | None:
    if preparation is None:
        return None
    for key in preparation:
        if key not in PUBLIC_KEYS:
            raise DataError(f"preparation must hold known keys, got {key}")
    return DataSection.model_validate_json(json.dumps(preparation | {"file": "record"}), strict=True)


def _shown(words: str) -> str:
    """Return words that may quote a stranger's file: printable, of bounded length."""
    plain = "".join(c if c.isprintable() else " " for c in words)
    return plain if len(plain) <= 200 else plain[:197] + "..."


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

    ``report_text`` is a publishable report, or a bare one of ``PrivacyReport.to_json``; ``record_text`` is JSON:
    ``{"x": [...], "y": ...}`` prepared, or ``{"column": value, ...}`` raw. Raises UserError: never a value of the
    record.
    """
    published = _read_published(report_text)
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
