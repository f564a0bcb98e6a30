"""On whose word the law of an imported mechanism rests, and the proof they point at."""

from __future__ import annotations

import hashlib
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ....messages.errors import UserError

if TYPE_CHECKING:
    from ...config.config import Loaded

#: A digital object identifier, bare or as people write it.
DOI = re.compile(r"(?:doi:\s*|https?://(?:dx\.)?doi\.org/)?(10\.\d{4,9}/\S+)", re.IGNORECASE)
URL = re.compile(r"https?://[^\s/.]+(?:\.[^\s/.]+)+(?:[/:?#]\S*)?", re.IGNORECASE)
KEY = "mechanism.vouched_by"


@dataclass(frozen=True)
class Vouched:
    """Who vouches that an imported mechanism is as it says over all data sets, and where the proof is.

    What a user gives is read by ``read``, which also looks whether the proof can be there.

    Attributes
    ----------
    who : str
        A person or an organisation, in one line; not empty.
    proof : str
        A file relative to the configuration, a DOI or a URL; not empty.
    digest : str
        SHA-256 of the proof where it is a file.

    Raises
    ------
    ValueError
        If a part is empty: half of it vouches for nothing.
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
        """Return what was vouched, a file's digest read now.

        Parameters
        ----------
        folder : Path
            Where a relative file starts from.
        key : str
            How an error names it.

        Raises
        ------
        UserError
            One line: the key, the rule and the value.
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


def vouched_by(loaded: Loaded) -> Vouched | None:
    """Return who vouches for a configuration's imported mechanism, or None; raises as ``Vouched.read``."""
    section = getattr(loaded.config.mechanism, "vouched_by", None)
    return None if section is None else Vouched.read(section.who, section.proof, loaded.folder)
