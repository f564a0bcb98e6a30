"""The folder of ``--out``: held by one run, with nothing foreign in it, and gone again if nothing came of it."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from pathlib import Path

from ..cli_work import DEFAULT_FOLDER, prepare_folder
from ..engine.held import HOLDER, LOCK, held
from ..messages.errors import UserError
from .folder.certificate_files import PARTS, foreign, is_left_over, kind_of, refuse_links, shown


@contextlib.contextmanager
def certificate_folder(out: Path | None) -> Iterator[Path]:
    """Make the folder if it is not there, and hold it for as long as the block runs.

    A block that stops before anything was written leaves no folder behind that was made here.

    Raises
    ------
    UserError
        If it cannot be written, is in use, or holds a link or anything that is no part of a certificate.
    """
    wanted = DEFAULT_FOLDER if out is None else out
    made = [path for path in (wanted, *wanted.parents) if not path.exists() and not path.is_symlink()]
    try:
        if out is not None and out.is_dir():
            _require_ours(out)
        folder = prepare_folder(out, resume=out is not None)
        made = made if out is not None else [folder, *made]
        with held(folder, f"out={shown(folder)}", wait=0):
            try:
                yield folder
            except BaseException:
                _forget(folder)
                raise
    except BaseException:
        for path in made:
            with contextlib.suppress(OSError):
                path.rmdir()
        raise


def _require_ours(out: Path) -> None:
    refuse_links(out)
    for path in foreign(out):
        name = shown(path.relative_to(out.resolve()))
        raise UserError(f"out must be new, empty or hold a certificate alone, got out={shown(out)} with {name}")


def _forget(folder: Path) -> None:
    """Take away what a run left that wrote nothing: its own lock, and folders with nothing in them."""
    for part in (folder / name for name in PARTS if kind_of(folder / name) == "folder"):
        with contextlib.suppress(OSError):
            for path in part.iterdir():
                if is_left_over(path.name):
                    path.unlink()
            part.rmdir()
    with contextlib.suppress(OSError):
        if {path.name for path in folder.iterdir()} <= {LOCK, HOLDER}:
            (folder / LOCK).unlink(missing_ok=True)
