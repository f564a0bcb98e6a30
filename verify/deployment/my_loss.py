"""What any one person learns from a published report and her own record, from nothing else.

A publishable report is the report (released numbers and public constants) with the public rules by which a raw record is
prepared, so that a record may be given as it is.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import numpy as np

from mechanisms import DataError, PrivacyReport
from mechanisms.data import FloatArray

from ..errors import UserError
from .attestation import as_json
from .config import DataSection
from .data_files import Preparation, table_records

FORMAT = "pdp-verify publishable report"
#: What a reader needs to prepare a record; no path, no size, nothing read off the data.
PUBLIC_KEYS = (
    *("features", "target", "x_bound", "y_bound", "ranges", "categories", "labels", "threshold", "response_scale"),
    *("intercept", "rows", "response"),
)


def publishable(report: PrivacyReport, data: DataSection) -> bytes:
    """Return the bytes of a publishable report."""
    preparation = None
    if data.file is not None and not data.standardise:
        plain = data.model_dump(mode="json", exclude_none=True)
        preparation = {key: plain[key] for key in PUBLIC_KEYS if key in plain}
    return as_json(
        {"format": FORMAT, "schema_version": 1, "preparation": preparation, "report": json.loads(report.to_json())}
    )


@dataclass(frozen=True)
class MyLoss:
    """Her bound on the ex-post loss, the probability that it fails, and what the data-dependent releases cost her."""

    epsilon1_bar: float
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
    try:
        document = json.loads(report_text)
        wrapped = isinstance(document, dict) and document.get("format") == FORMAT
        if wrapped and document.get("schema_version") != 1:
            raise ValueError(f"schema_version must be 1, got schema_version={document.get('schema_version')}")
        report = PrivacyReport.from_json(json.dumps(document["report"]) if wrapped else report_text)
    except (ValueError, KeyError, TypeError) as stop:
        raise UserError(f"report must be a report of pdp-verify: {stop}") from None
    x, y = _record(record_text, document.get("preparation") if wrapped else None)
    if x.shape != (report.dim,):
        raise UserError(f"record must have {report.dim} prepared features, got {x.size}")
    try:
        own = report.evaluate(x, y)
    except ValueError as stop:
        raise UserError(f"record must fit the report's loss: {stop}") from None
    return MyLoss(own.epsilon1_bar, report.failure_prob, float(np.hypot(own.mu2, own.mu3)), report.mode.value)


def _record(text: str, preparation: dict[str, Any] | None) -> tuple[FloatArray, float]:
    try:
        raw = json.loads(text)
    except ValueError:
        raise UserError("record must be JSON, got something else") from None
    if not isinstance(raw, dict):
        raise UserError('record must be an object {"x": [...], "y": ...} or {"column": value, ...}, got something else')
    if set(raw) == {"x", "y"}:
        try:
            return np.asarray(raw["x"], dtype=np.float64).reshape(-1), float(raw["y"])
        except (TypeError, ValueError):
            raise UserError("record must hold numbers in x and y, got something else") from None
    if preparation is None:
        raise UserError(
            'record must be {"x": [...], "y": ...}, prepared, for this report (it has no rules for raw ones)'
        )
    try:
        data = DataSection.model_validate(preparation | {"file": "record"})
        missing = [name for name in (*data.features, str(data.target)) if name not in raw]
        if missing:
            raise UserError(f"record must have every column of the report, got no {missing[0]}")
        X, y = Preparation(data)(*table_records(raw, data))
    except (DataError, ValueError) as stop:
        raise UserError(f"record: {stop}") from None
    return X[0], float(y[0])
