"""Which mechanisms may be asked for their own law: those of this project, and no others."""

from __future__ import annotations

import sys
from pathlib import Path

import mechanisms

#: What an object of a reference class must not carry itself.
LAWS = {"draw", "log_density", "privacy_loss", "profile", "worst_profile"}


def is_reference(mechanism: object) -> bool:
    """Return whether a mechanism is one of ours, whose law is proved here and not merely stated.

    A class that only says that it is from ``mechanisms``, and an object with functions of its own, is not.
    """
    kind = type(mechanism)
    if kind.__module__.partition(".")[0] != "mechanisms":
        return False
    module = sys.modules.get(kind.__module__)
    home, file = Path(str(mechanisms.__file__)).parent, getattr(module, "__file__", None)
    ours = file is not None and Path(file).is_relative_to(home) and getattr(module, kind.__qualname__, None) is kind
    return ours and not LAWS & set(getattr(mechanism, "__dict__", ()))
