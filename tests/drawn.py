"""A configuration that draws an output and a report, and what its release folder holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from faults import Faults
from toys import deployments
from toys.deployments import DRAWN, OBJECTIVE, REPORT, SCALES, dp

from mechanisms import Dataset
from verify.certificates.config.config import load
from verify.certificates.release import releases

TOML = deployments.DATA + OBJECTIVE + DRAWN + REPORT + SCALES + dp(4.0, 1e-5)
DATA = Dataset(np.array([[0.5, 0.1], [0.2, -0.4], [0.1, 0.3]]), np.array([1.0, -1.0, 1.0]), 1.0, 1.0)


def prepared(folder: Path, text: str = TOML, **more: Any) -> releases.Released:
    folder.mkdir(exist_ok=True)
    (folder / "d.toml").write_text(text)
    loaded = load(folder / "d.toml")
    return releases.prepare(loaded, loaded.config.mechanism.build(2), DATA, **more)


def note_draws(faults: Faults) -> None:
    """Note each output and report that this process draws from now on."""
    drawn, reported = releases.draw_as_audited, releases.make_report

    def noted(*given: Any) -> Any:
        faults.note("output")
        return drawn(*given)

    def noted_report(*given: Any, **more: Any) -> Any:
        faults.note("report")
        return reported(*given, **more)

    releases.draw_as_audited, releases.make_report = noted, noted_report


def entries(folder: Path) -> list[Any]:
    found = json.loads((folder / "d.releases" / "spent.json").read_bytes())
    assert isinstance(found, list)
    return found
