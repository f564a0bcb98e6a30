"""A certificate that several files look at: made once."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest
from toys.deployments import QUICK, SSP, dp, section

from verify.cli import invoke


@pytest.fixture(scope="session")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """One finished certificate of public data, for both audiences; nobody writes there."""
    folder = tmp_path_factory.mktemp("finished")
    (folder / "d.toml").write_text(section("[data]", source="anes96") + SSP + dp(1.0) + QUICK, encoding="utf-8")
    assert invoke(["certify", str(folder / "d.toml"), "--out", str(folder / "out")]) == 0
    return folder / "out"


@pytest.fixture
def copy(finished: Path, tmp_path: Path) -> Path:
    """The same, to be written to."""
    return Path(shutil.copytree(finished, tmp_path / "copy"))
