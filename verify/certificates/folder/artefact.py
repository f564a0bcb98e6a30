"""The file that is shipped, by name and digest: it is named in the attestation, not examined."""

from __future__ import annotations

import hashlib
from pathlib import Path

from ...messages.errors import UserError
from ..config.config import Loaded


def artefact_of(loaded: Loaded) -> dict[str, str] | None:
    """Return name and SHA-256 of the artefact that a configuration names, or None.

    Raises
    ------
    UserError
        If it is no file that can be read.
    """
    section = loaded.config.artefact
    if section is None:
        return None
    digest = digest_of(loaded.folder / section.file, "artefact.file", section.file)
    return {"name": Path(section.file).name, "sha256": digest}


def digest_of(path: Path, key: str, shown: str) -> str:
    """Return the SHA-256 of a file of any size; ``key`` and ``shown`` are how an error names it."""
    why = "no file"
    try:
        if path.is_file():
            with path.open("rb") as file:
                return hashlib.file_digest(file, "sha256").hexdigest()
    except (OSError, ValueError) as stop:
        why = getattr(stop, "strerror", None) or "no file name"
    raise UserError(f"{key} must be a file that can be read, got {key}={shown} ({why})")
