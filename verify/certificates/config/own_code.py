"""A user's own code, loaded by path in every process; little is imported here, since each of them does."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from ...messages.errors import UserError


@dataclass(frozen=True)
class OwnCode:
    """A name in somebody's module, and its parameters; picklable, so that a worker loads it for itself."""

    origin: str
    folder: str
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @property
    def path(self) -> Path | None:
        """The file, for ``file.py:factory``; None for an installed module."""
        place = self.origin.partition(":")[0]
        return Path(self.folder) / place if place.endswith(".py") else None

    def digest(self) -> str:
        """Return the SHA-256 of the module's file."""
        file = self.path or Path(str(self._module().__file__))
        return hashlib.sha256(file.read_bytes()).hexdigest()

    def digests(self) -> dict[str, str]:
        """Return it by the name under which it is attested."""
        return {self.origin.partition(":")[0]: self.digest()}

    def _module(self, key: str = "mechanism.import") -> Any:
        place = self.origin.partition(":")[0]
        try:
            if self.path is None:
                return importlib.import_module(place)
            if not self.path.is_file():
                raise UserError(f"{key} must name a file that exists, got {key}={self.origin}")
            name = f"pdp_verify_user_{hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:16]}"
            spec = importlib.util.spec_from_file_location(name, self.path)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[name] = module  # a dataclass looks its own module up
            spec.loader.exec_module(module)
            return module
        except UserError:
            raise
        except Exception as stop:
            raise UserError(
                f"{key} must be importable, got {key}={self.origin} ({type(stop).__name__}: {stop})"
            ) from stop

    def attribute(self, key: str = "mechanism.import") -> Any:
        """Return what the origin names; ``key`` is how an error names it."""
        module, name = self._module(key), self.origin.partition(":")[2]
        if not hasattr(module, name):
            raise UserError(f"{key} must name a function of its module, got {key}={self.origin}")
        return getattr(module, name)


class Factory:
    """Makes pristine mechanisms of one source; the module is executed once a process."""

    def __init__(self, code: OwnCode) -> None:
        self.code = OwnCode(code.origin, code.folder, code.parameters)
        self._make: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        """Return a new mechanism, as its author made it."""
        if self._make is None:
            self._make = partial(self.code.attribute(), **self.code.parameters)
        return self._make()

    def __getstate__(self) -> dict[str, Any]:
        return {"code": self.code, "_make": None}


@dataclass
class View:
    """A function of one output; picklable, so that a worker loads it for itself."""

    source: OwnCode
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
