"""The packages that have public names: the four rooms, and the parts of them that list some of their own."""

from __future__ import annotations

import importlib
from pathlib import Path

ROOMS = ("mechanisms", "audits", "verify", "reports")


def public_packages(*rooms: str) -> list[str]:
    """Return the rooms (all by default), each followed by its parts with a stub."""
    found = []
    for room in rooms or ROOMS:
        folder = Path(str(importlib.import_module(room).__file__)).parent
        found += [room, *(f"{room}.{stub.parent.name}" for stub in sorted(folder.glob("*/__init__.pyi")))]
    return found
