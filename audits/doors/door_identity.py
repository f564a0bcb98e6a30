"""What stands behind a door, as a digest: answers of another program, url or version are others."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from urllib.parse import SplitResult, urlsplit


def command_files(command: Sequence[str], folder: str | Path | None = None) -> dict[str, Path]:
    """Return the arguments of a command that are files, as it sees them from the folder that it runs in.

    Parameters
    ----------
    command : sequence of str
        The program itself is left out where it is found by its bare name.
    folder : path, optional
        By default where this process runs.

    Returns
    -------
    dict
        From the argument to its path.
    """
    place = Path(folder) if folder is not None else Path()
    named = [word for i, word in enumerate(command) if word and (i or "/" in word)]
    return {word: place / word for word in named if _is_file(place / word)}


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that is too long: an argument that is no path
        return False


def command_identity(command: Sequence[str], folder: str | Path | None = None, version: str = "") -> str:
    """Return the SHA-256 of a command: of its words, and of the contents of those that are files.

    Parameters
    ----------
    command : sequence of str
    folder : path, optional
        Where it runs.
    version : str
        What the user says that it is.
    """
    return command_digest(command, file_digests(command, folder), version)


def file_digests(command: Sequence[str], folder: str | Path | None = None) -> dict[str, str]:
    """Return the SHA-256 of the contents of each argument that is a file, by the argument; as of ``command_files``."""
    return {word: _file_digest(path) for word, path in command_files(command, folder).items()}


def command_digest(command: Sequence[str], digests: Mapping[str, str], version: str = "") -> str:
    """Return the same digest where those of the files are known; ``digests`` may hold those of other names too."""
    files = {word: digests[word] for word in command if word in digests}
    return _digest({"command": list(command), "files": files, "version": version})


def service_identity(url: str, version: str = "") -> str:
    """Return the SHA-256 of a url and of what the user says that runs there."""
    return _digest({"url": url, "version": version})


def _digest(parts: dict[str, object]) -> str:
    return hashlib.sha256(json.dumps(parts, sort_keys=True).encode()).hexdigest()


def _file_digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def checked_url(url: str) -> SplitResult:
    """Return the parts of a url that a service may have.

    Raises
    ------
    ValueError
        If it is not of http or https, has no host, or has a user and password, which no message repeats.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise ValueError("url must be a url of http or https, got something else") from None
    if parts.username is not None or parts.password is not None:
        raise ValueError("url must be without user and password, got one with them")
    if (
        parts.scheme not in ("http", "https")
        or not parts.hostname
        or port == 0
        or not url.isascii()
        or any(c <= " " or c == "\x7f" for c in url)
    ):
        raise ValueError(f"url must be a url of http or https with a host, got url={parts.scheme}:…")
    return parts


def shown_url(url: str) -> str:
    """Return scheme, host, port and path of a url: nothing of its query, which may hold a token."""
    parts = checked_url(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path}"
