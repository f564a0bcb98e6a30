"""Views of an output that the user gives: functions loaded by path, like the mechanism, in every process."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ...messages.errors import UserError
from .config import Loaded
from .config_section import OwnSection
from .mechanism_source import MechanismSource


@dataclass
class View:
    """A function of one output; picklable, so that a worker loads it for itself."""

    source: MechanismSource
    _function: Callable[[Any], Any] | None = field(default=None, init=False, repr=False, compare=False)

    def load(self) -> Callable[[Any], Any]:
        """Return the function.

        Raises
        ------
        UserError
            If there is none of that name.
        """
        if self._function is None:
            found = self.source.attribute("mechanism.views")
            if not callable(found):
                raise UserError(f"mechanism.views must name functions, got mechanism.views={self.source.origin}")
            self._function = found
        return self._function

    def __call__(self, output: Any) -> Any:
        """Return what the function makes of an output."""
        return self.load()(output)

    def __getstate__(self) -> dict[str, Any]:
        """Leave the function itself behind."""
        return {"source": self.source, "_function": None}


def views_of(loaded: Loaded) -> tuple[View, ...]:
    """Return the views of a configuration, each loaded once to see that it is there; raises as ``View.load``."""
    section = loaded.config.mechanism
    if not isinstance(section, OwnSection):
        return ()
    made = tuple(View(MechanismSource(origin, str(loaded.folder))) for origin in section.views)
    for view in made:
        view.load()
    return made
