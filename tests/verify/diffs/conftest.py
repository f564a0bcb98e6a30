"""One small record of every kind, made once; tests change copies of its rows."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import pytest
from toys.compared import Rows, calibration_rows, read_rows, run_rows, sweep_rows


@pytest.fixture(scope="session")
def records(tmp_path_factory: pytest.TempPathFactory, private_certificate: Path) -> Mapping[str, Rows]:
    """The rows of a run, a certificate for the curator, a sweep and a calibration."""
    folder = tmp_path_factory.mktemp("records")
    return {
        "run": run_rows(folder, profile="standard"),
        "certificate": read_rows(private_certificate / "curator" / "audit.jsonl"),
        "sweep": sweep_rows(folder),
        "calibration": calibration_rows(),
    }


@pytest.fixture(scope="session")
def run(records: Mapping[str, Rows]) -> Rows:
    """The rows of the run."""
    return records["run"]


@pytest.fixture(scope="session")
def certificate(records: Mapping[str, Rows]) -> Rows:
    """The rows of the curator's certificate."""
    return records["certificate"]
