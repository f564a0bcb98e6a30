"""What a record depends on besides its seed: versions, the processor, our sources; and ``run.json`` beside it."""

from __future__ import annotations

import hashlib
import json
import platform
import shlex
import time
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import cache
from importlib import import_module, metadata
from pathlib import Path
from typing import Any

from reports.files import write_atomic

#: Rooms whose code can change a number; ``reports`` cannot.
ROOMS = ("audits", "mechanisms", "verify")
LIBRARIES = ("numpy", "python-flint", "scipy", "statsmodels")


def _own_version() -> str:
    """Return the version of pdp-verify."""
    return metadata.version("pdp-verify")


@cache
def library_versions() -> dict[str, str]:
    """Return the versions that numbers depend on, by name."""
    versions = {"pdp-verify": _own_version(), "python": platform.python_version()}
    return versions | {name: metadata.version(name) for name in LIBRARIES}


@cache
def platform_tag() -> str:
    """Return system, processor and BLAS kernel: where it is equal, records are equal to the byte."""
    import numpy as np
    from threadpoolctl import threadpool_info

    import_module("scipy.linalg")  # SciPy's own BLAS belongs to the tag
    blas = sorted(
        {
            f"{pool['internal_api']} {pool.get('version')} {pool.get('architecture', '')}".strip()
            for pool in threadpool_info()
            if pool["user_api"] == "blas"
        }
    )
    simd = np.show_config(mode="dicts")
    levels = simd.get("SIMD Extensions", {}).get("found", []) if isinstance(simd, dict) else []
    return " / ".join([platform.system(), platform.machine(), *blas, *[str(level) for level in levels[-1:]]])


@cache
def source_digest() -> str:
    """Return the SHA-256 of every Python file of the rooms that can change a number."""
    digest = hashlib.sha256()
    for room in ROOMS:
        origin = import_module(room).__file__
        folder = Path(str(origin)).parent
        for path in sorted(folder.rglob("*.py")):
            digest.update(f"{room}/{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()


@cache
def identity() -> dict[str, Any]:
    """Return what decides the bytes of a row besides its task: versions, platform and sources of this process."""
    return {"versions": library_versions(), "platform": platform_tag(), "sources": source_digest()}


def difference(ours: Mapping[str, Any], theirs: Mapping[str, Any]) -> str:
    """Return in words how two identities differ, or nothing."""
    named = {"sources": "digest of our sources", "platform": "platform", "versions": "versions"}
    for name, words in named.items():
        own, other = ours.get(name), theirs.get(name)
        if own != other:
            if isinstance(own, Mapping) and isinstance(other, Mapping):
                name = next(key for key in [*own, *other] if own.get(key) != other.get(key))
                words, own, other = f"version of {name}", own.get(name), other.get(name)
            return f"{words} {str(other)[:60]}, here {str(own)[:60]}"
    return ""


def header(own: Mapping[str, Any], *, schema_version: int, kind: str = "header", record: str = "") -> dict[str, Any]:
    """Return the first line of a record: what kind it is, what is its ``own``, and what decides the bytes of its rows.

    No clock, no path, no host.
    """
    named = {"kind": kind} | ({"record": record} if record else {})
    return {**named, "schema_version": schema_version, **own, **identity()}


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
