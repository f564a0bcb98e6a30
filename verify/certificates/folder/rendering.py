"""By what a certificate's pages were made: where all of it is equal, the bytes are."""

from __future__ import annotations

import hashlib
from functools import cache
from importlib import import_module, metadata
from pathlib import Path

RENDERERS = ("matplotlib", "typst")
SOURCES = (".py", ".typ", ".css", ".js", ".woff")


@cache
def rendered_with() -> dict[str, str]:
    """Return the versions of what sets pages and figures, and the digest of our own sources that do."""
    versions = {name: metadata.version(name) for name in RENDERERS}
    return versions | {"reports": _reports_digest()}


def _reports_digest() -> str:
    """Return the SHA-256 of the room ``reports``, templates included."""
    folder = Path(str(import_module("reports").__file__)).parent
    digest = hashlib.sha256()
    for path in sorted(folder.rglob("*")):
        if path.suffix in SOURCES:
            digest.update(f"{path.relative_to(folder).as_posix()}\0".encode())
            digest.update(path.read_bytes() + b"\0")
    return digest.hexdigest()
