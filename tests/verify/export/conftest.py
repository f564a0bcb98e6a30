"""The finished certificate's rows, as each audience has them."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys.recorded import Rows, read_rows


@pytest.fixture
def released(private_certificate: Path) -> Rows:
    """What everybody may read."""
    return read_rows(private_certificate / "release")


@pytest.fixture
def kept(private_certificate: Path) -> Rows:
    """What the curator reads."""
    return read_rows(private_certificate / "curator")
