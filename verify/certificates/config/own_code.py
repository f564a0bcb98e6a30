"""A user's own code, loaded by path in every process, and who vouches for it; little is imported here."""

from __future__ import annotations

import hashlib
import importlib
import importlib.util
import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from audits.adapters.records import PublicRecords
from audits.adapters.releases import made_of

from ...messages.errors import UserError
from ...messages.faults import OWN_CODE


@dataclass(frozen=True)
class OwnCode:
    """A name in somebody's module, and its parameters; picklable, so that a worker loads it for itself."""

    origin: str
    folder: str
    parameters: Mapping[str, Any] = field(default_factory=dict)
    records: PublicRecords | None = None

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
                OWN_CODE.add(place.partition(".")[0])
                return importlib.import_module(place)
            if not self.path.is_file():
                raise UserError(f"{key} must name a file that exists, got {key}={self.origin}")
            name = f"pdp_verify_user_{hashlib.sha256(str(self.path.resolve()).encode()).hexdigest()[:16]}"
            OWN_CODE.add(name)
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
        self.code = OwnCode(code.origin, code.folder, code.parameters, code.records)
        self._make: Callable[[], Any] | None = None

    def __call__(self) -> Any:
        """Return a new mechanism, as its author made it."""
        if self._make is None:
            self._make = partial(made_of, self.code.attribute(), self.code.parameters, self.code.records)
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

        Raises UserError if there is none of that name.
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


#: A digital object identifier, bare or as people write it.
DOI = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
URL = re.compile(r"https?://[^\s/.]+(?:\.[^\s/.]+)+(?:[/:?#]\S*)?", re.IGNORECASE)
KEY = "mechanism.vouched_by"


@dataclass(frozen=True)
class Vouched:
    """Who vouches that an imported mechanism is as it says over all data sets, and where the proof is.

    ``proof`` is a file relative to the configuration, a DOI or a URL, ``digest`` the SHA-256 of a file. What a user
    gives is read by ``read``, which also looks whether the proof can be there. ValueError if a part is empty: half of
    it vouches for nothing.
    """

    who: str
    proof: str
    digest: str = ""

    def __post_init__(self) -> None:
        for name in ("who", "proof"):
            value = getattr(self, name)
            if not isinstance(value, str) or not value.strip() or not value.isprintable():
                raise ValueError(f"{name} must be one line of text that is not empty, got {name}={value!r}")

    @classmethod
    def read(cls, who: str, proof: str, folder: Path, *, key: str = KEY) -> Vouched:
        """Return what was vouched, a file's digest read now; ``folder``: where a relative file starts from.

        Raises UserError, in which the key is ``key``.
        """
        try:
            given = cls(who, proof)
        except ValueError as stop:
            raise UserError(f"{key}.{stop}") from None
        who, proof = given.who.strip(), given.proof.strip()
        doi = DOI.fullmatch(proof)
        if doi is not None or URL.fullmatch(proof):
            return cls(who, proof if doi is None else doi.group(1))
        try:
            content = (folder / proof).read_bytes()
        except OSError as stop:
            raise UserError(
                f"{key}.proof must be a file that can be read, a DOI (10.…/…) or a URL, got {key}.proof={proof} "
                f"({stop.strerror})"
            ) from None
        if not content.strip():
            raise UserError(f"{key}.proof must be a file that is not empty, got {key}.proof={proof}")
        return cls(who, proof, hashlib.sha256(content).hexdigest())

    @property
    def kind(self) -> str:
        """What the proof is: ``file``, ``DOI`` or ``URL``."""
        return "file" if self.digest else "DOI" if DOI.fullmatch(self.proof) else "URL"

    def row(self, *, names: bool) -> dict[str, str]:
        """Return it for a record.

        Without ``names``, nothing that could name a person or a place: the kind of the proof and its SHA-256 (of its
        text, where it is no file), and a DOI itself.
        """
        digest = self.digest or hashlib.sha256(self.proof.encode()).hexdigest()
        shown = {"kind": self.kind, "digest": digest}
        if names:
            return {"who": self.who, "proof": self.proof} | shown
        return shown | ({"proof": self.proof} if self.kind == "DOI" else {})


def is_link(proof: str) -> bool:
    """Return whether a proof is a DOI or a URL, and so no file."""
    return DOI.fullmatch(proof.strip()) is not None or URL.fullmatch(proof.strip()) is not None
