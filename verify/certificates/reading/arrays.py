"""NumPy files as they are, nothing of them executed: a matrix (``.npy``), or arrays ``X`` and ``y`` (``.npz``)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...messages.errors import UserError
from .source import ReadSource, check_memory, reading

#: Kinds of numbers that are real: floating point, whole with and without sign, true and false.
REAL = "fiub"


def open_arrays(source: ReadSource) -> tuple[Any, Any]:
    """Return the matrix of a NumPy file, and the responses that an archive has beside it (else None).

    Raises
    ------
    UserError
        If the file holds anything else than real numbers in these shapes.
    """
    with reading(source):
        X, y = _archive(source) if source.kind == "npz" else (_matrix(source), None)
        if getattr(X, "ndim", None) != 2 or X.dtype.kind not in REAL:
            raise source.must("hold a matrix of real numbers", _what(X))
        if y is not None and (y.shape not in ((len(X),), (len(X), 1)) or y.dtype.kind not in REAL):
            got = "another number" if y.dtype.kind in REAL else _what(y)
            raise source.must("hold one real response in y for every row of X", got)
    return X, y


def column(name: str, n_columns: int) -> int:
    """Return the number that names a column where columns have no other names."""
    if not (name.isascii() and name.isdigit() and len(name) < 10 and int(name) < n_columns):
        raise UserError(f"data.features must be column numbers below {n_columns} as text, got {name}")
    return int(name)


def _matrix(source: ReadSource) -> Any:
    return np.load(source.path, allow_pickle=False, mmap_mode="r")


def _archive(source: ReadSource) -> tuple[Any, Any]:
    with source.path.open("rb") as file:
        archive = np.load(file, allow_pickle=False)
        if not isinstance(archive, np.lib.npyio.NpzFile):
            raise source.must("be a NumPy archive of arrays X and y", "one array (whose name must end in .npy)")
        if not {"X", "y"} <= set(archive.files):
            raise source.must("hold arrays X and y", "other names")
        assert archive.zip is not None
        sizes = {info.filename: info.file_size for info in archive.zip.infolist()}
        check_memory(source, sizes.get("X.npy", 0) + sizes.get("y.npy", 0))
        return archive["X"], archive["y"]


def _what(array: Any) -> str:
    if not isinstance(array, np.ndarray):
        return "an archive (whose name must end in .npz)"
    kinds = {"c": "complex numbers", "O": "objects", "V": "a structure", "U": "text", "S": "text"}
    return kinds.get(
        array.dtype.kind, f"an array of {array.ndim} axes" if array.dtype.kind in REAL else "something else"
    )
