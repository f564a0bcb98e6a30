"""Write a file whole or not at all."""

from __future__ import annotations

import contextlib
import os
import secrets
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o666) -> None:
    """Write ``data`` to ``path``: a reader sees the old file or the new one, never a part, even after a power cut.

    Parameters
    ----------
    path : path
        The file; its folder must exist. A file that is there is replaced (a symbolic link is followed).
    data : bytes
        The content.
    mode : int
        Permissions before the umask; 0o600 for a file that only its owner may read.

    Raises
    ------
    OSError
        As the system gives it, with the path in it; the temporary file is gone and an older file is untouched.
    """
    target = Path(os.path.realpath(path))
    temporary = target.parent / f".{target.name[:80]}.{secrets.token_hex(8)}.tmp"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0), mode)
        try:
            with os.fdopen(descriptor, "wb") as file:
                file.write(data)
                file.flush()
                os.fsync(file.fileno())
            os.replace(temporary, target)
        except BaseException:
            with contextlib.suppress(OSError):
                temporary.unlink()
            raise
    except OSError as error:
        raise type(error)(error.errno, error.strerror, str(path)) from error
    _sync_folder(target.parent)


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; some systems cannot open a folder, and then it is left to them."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
