"""Write a file whole or not at all; make a folder that is no link."""

from __future__ import annotations

import contextlib
import errno
import os
import secrets
import stat
from pathlib import Path


def write_atomic(path: str | os.PathLike[str], data: bytes, *, mode: int = 0o666) -> None:
    """Write ``data`` to ``path``: a reader sees the old file or the new one, never a part, even after a power cut.

    Parameters
    ----------
    path : path
        The file; its folder must exist. A file or a symbolic link that is there is replaced: a link is never followed.
    data : bytes
        The content.
    mode : int
        Permissions before the umask; 0o600 for a file that only its owner may read.

    Raises
    ------
    OSError
        As the system gives it, with the path in it; the temporary file is gone and an older file is untouched. Also if
        the name is that of a device, a pipe or a folder.

    Examples
    --------
    >>> import tempfile
    >>> from reports import write_atomic
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     write_atomic(Path(folder) / "page.txt", b"whole")
    ...     (Path(folder) / "page.txt").read_bytes()
    b'whole'
    """
    target = Path(path)
    temporary = target.parent / f".{target.name[:80]}.{secrets.token_hex(8)}.tmp"
    try:
        require_replaceable(target)
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


def make_folder(path: str | os.PathLike[str], *, private: bool) -> Path:
    """Make a folder, or take the one that is there, and return it.

    The folders above it are made where they are missing and may be reached through links; the last one may be no link.
    Where it is ``private``, only its owner may look into it: one that is there loses the rights of all others.

    Raises
    ------
    OSError
        As the system gives it, with the path in it; also if the name is that of a link or a file, or if the folder
        must be private and belongs to somebody else who lets others look into it.
    """
    folder = Path(path)
    try:
        folder.mkdir(mode=0o700 if private else 0o777, parents=True)
    except FileExistsError:
        _take_folder(folder, private=private)
    else:
        _sync_folder(folder.parent)
    return folder


def require_room(size: int) -> None:
    """Raise ``MemoryError`` where this process may not have so many bytes more."""
    import mmap

    try:
        mmap.mmap(-1, size).close()
    except OSError as stop:
        raise MemoryError(f"{size >> 20} MB of address space were not to be had") from stop


def require_replaceable(target: Path) -> None:
    """Refuse with ``OSError`` a name behind which there is something else than a file, as /dev/stdout is."""
    if target.exists() and not target.is_file():
        code = errno.EISDIR if target.is_dir() else errno.EINVAL
        raise OSError(code, "no file that can be replaced", str(target))


def _take_folder(folder: Path, *, private: bool) -> None:
    """Check a folder that is there, through one descriptor: what was checked is what is changed."""
    if not stat.S_ISDIR(folder.lstat().st_mode):
        raise NotADirectoryError(errno.ENOTDIR, "a link or a file, not a folder", str(folder))
    if not private or not hasattr(os, "O_DIRECTORY"):
        return
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
    try:
        status = os.fstat(descriptor)
        if status.st_mode & 0o077:
            _tighten(descriptor, status, folder)
    finally:
        os.close(descriptor)


def _tighten(descriptor: int, status: os.stat_result, folder: Path) -> None:
    try:
        os.fchmod(descriptor, stat.S_IMODE(status.st_mode) & ~0o077)
    except PermissionError as stop:
        if status.st_uid != os.geteuid():  # otherwise a file system without permissions
            raise PermissionError(stop.errno, "a folder of somebody else", str(folder)) from stop


def _sync_folder(folder: Path) -> None:
    """Make the new name durable; some systems cannot open a folder, and then it is left to them."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)
