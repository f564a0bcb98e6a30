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
from mechanisms.numerics.goe import MAX_DIM

from ...messages.errors import UserError
from ..config.config import DataSection
from ..config.config_errors import one_line
from ..folder.attestation import as_json
from ..reading.data_files import Preparation

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
    """What a report file of ``PrivacyReport.to_json`` holds."""

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
    """A report as a stranger may use it: the report itself, the bounds of its public domain, the rules for raw records.

    Attributes
    ----------
    x_bound, y_bound : float
        Infinite where none is published.
    data : DataSection or None
        The public rules; None where only prepared records are taken.
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

    Raises
    ------
    ValueError
        In a few words, which quote nothing of the text.
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


def read_published(text: str) -> Published:
    """Return a publishable report, or a bare one of ``PrivacyReport.to_json``, after checking everything in it.

    Raises
    ------
    UserError
        One line.
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
    """Return the public rules as the configuration's own section reads them."""
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
