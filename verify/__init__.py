"""Every published statement, decided: the registry, the run, the record, the command line.

The public names are loaded when they are first used, so that the command line starts at once.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Public name -> the module that holds it.
_PUBLIC = {
    "Statement": "statement",
    "Verdict": "verdict",
    "certify": "deployment.certify",
    "read": "record",
    "statements": "registry",
}

__all__ = ["Statement", "Verdict", "certify", "read", "statements"]


def __getattr__(name: str) -> Any:
    """Import a public name from its module."""
    if name not in _PUBLIC:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(importlib.import_module(f".{_PUBLIC[name]}", __name__), name)
