"""``run.json``: what is about a run, not its findings (clock, host, command line); written the same way by all."""

from __future__ import annotations

import json
import platform
import shlex
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from reports.files import write_atomic

from .versions import library_versions

SCHEMA_VERSION = 1


class Clock:
    """When a run began, and how long it has taken."""

    def __init__(self) -> None:
        self._started, self._clock = datetime.now(UTC), time.monotonic()

    def about(self, command: Sequence[str], *, jobs: int, exit_code: int, **more: Any) -> dict[str, Any]:
        """Return what ``run.json`` says now; ``command`` is what was typed after ``pdp-verify``."""
        return {
            "schema_version": SCHEMA_VERSION,
            "started": self._started.isoformat(timespec="seconds"),
            "finished": datetime.now(UTC).isoformat(timespec="seconds"),
            "seconds": round(time.monotonic() - self._clock, 3),
            "command": shlex.join(["pdp-verify", *command]),
            "jobs": jobs,
            "host": platform.node(),
            "system": platform.platform(),
            "versions": library_versions(),
            "exit_code": exit_code,
            **more,
        }


def write_run(folder: Path, about: dict[str, Any]) -> None:
    """Write ``run.json``."""
    write_atomic(folder / "run.json", (json.dumps(about, indent=2) + "\n").encode())
