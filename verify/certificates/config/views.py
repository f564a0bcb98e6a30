"""The views of an output that a configuration names."""

from __future__ import annotations

from .config import Loaded
from .config_section import OwnSection
from .own_code import OwnCode, View


def views_of(loaded: Loaded) -> tuple[View, ...]:
    """Return the views of a configuration, each loaded once to see that it is there; raises as ``View.load``."""
    section = loaded.config.mechanism
    if not isinstance(section, OwnSection):
        return ()
    made = tuple(View(OwnCode(origin, str(loaded.folder))) for origin in section.views)
    for view in made:
        view.load()
    return made
