"""Data files of every kind that ``init`` and ``certify`` read, valid and then damaged; hostile names in headers."""

from __future__ import annotations

import gzip
import io
from functools import cache
from typing import Any

import numpy as np
from hypothesis import strategies as st

from fuzz.bases import SECRET, table
from fuzz.promise import KINDS, Case, Edit
from fuzz.trees import written

SUFFIXES = (".csv", ".tsv", ".txt", ".csv.gz", ".tsv.gz", ".parquet", ".npy", ".npz")
WRONG = (".CSV", ".xlsx", ".gz", ".npy.gz", "", ".zip", ".csv.bz2", ".json")
DELIMITERS = (",", ";", "\t", "|", " ", ":", '"', "\n", "é", "a", "0", "\\", "")
ENCODINGS = (
    "utf-8", "utf-8-sig", "latin-1", "utf-16", "cp1252", "ascii", "utf-32", "klingon", "rot13", "idna", "base64",
    "",
)  # fmt: skip
HEADERS = (
    "a", " a", "b ", "", "A", "é", "数", "\u202ea", "#{1+1}", "$x$", "@ref", "<lbl>", "a|b", "=1+1", "../x",
    "a" * 5000, "y", "0", "nan", "Unnamed: 0", "a.1", "a\tb", "'", "`", "\\", "#panic()", "{}", "[a]", "\ufeffa",
    "🙂",
)  # fmt: skip
CELLS = (
    "", "NA", "nan", "inf", "-inf", "1e999", "1" + "0" * 25, "9" * 400, "0,5", "1 000", "0x10", "1_000", "True",
    "red", " 0.5 ", "+0.5", "-0.0", "5e-324", "1e308", "1e-320", "1+2j", "2026-01-01", "\x00", "\x1b[31m", "\r",
    '"', '"a,b"', "\u00a0", "١", "½", "#", "NULL", "🙂",
)  # fmt: skip
CLAIM = '[[claims]]\ntype = "pdp"\nscope = "records"\nepsilon = 1.0\ndelta = 1e-6\n[budget]\nprofile = "quick"\n'
MECHANISM = '[mechanism]\nname = "gaussian-output"\nsigma = 8.0\nlam = 1.0\n'


def _frame() -> dict[str, list[Any]]:
    lines = [line.split(",") for line in table().splitlines()]
    numbers = {name: [float(line[i]) for line in lines[1:]] for i, name in enumerate(lines[0][:4])}
    return numbers | {"w": [line[4] for line in lines[1:]]}


@cache
def binary(suffix: str, flavour: str = "") -> bytes:
    """Return a valid file of a kind that is not text, or one of another shape or type (``flavour``)."""
    frame = _frame()
    X, y = np.column_stack([frame["a"], frame["b"], frame["y"]]), np.array(frame["y"])
    X = SHAPES.get(flavour, lambda value: value)(X)
    out = io.BytesIO()
    if suffix == ".npy":
        np.save(out, X, allow_pickle=True)
    elif suffix == ".npz":
        np.savez(out, **({"A": X} if flavour == "names" else {"X": X, "y": y}))
    else:
        import pandas as pd

        kept = pd.DataFrame(frame)
        kept.astype({"a": "string"} if flavour == "text" else {"c": "Int64"}).to_parquet(out, compression=None)
    return out.getvalue()


SHAPES: dict[str, Any] = {
    "flat": lambda X: X.ravel(),
    "point": lambda X: np.array(0.5),
    "cube": lambda X: X[None],
    "objects": lambda X: X.astype(object),
    "complex": lambda X: X.astype(complex),
    "text": lambda X: X.astype(str),
    "empty": lambda X: X[:0],
    "narrow": lambda X: X[:, :0],
    "bool": lambda X: X > 0,
    "half": lambda X: X.astype(np.float16),
    "record": lambda X: np.zeros(3, dtype=[("a", "f8"), ("b", "f8")]),
    "fortran": np.asfortranarray,
    "swapped": lambda X: X.astype(">f8"),
    "infinite": lambda X: X * np.inf,
    "time": lambda X: np.array([["2026-01-01"] * 3] * 3, dtype="datetime64[D]"),
}


@st.composite
def text_table(draw: st.DrawFn) -> bytes:
    """Return a table as text with one thing wrong or unusual."""
    cells = [line.split(",") for line in table().splitlines()]
    row, column = draw(st.integers(1, len(cells) - 1)), draw(st.integers(0, 2))
    end, delimiter = "\n", ","
    match draw(
        st.sampled_from(
            ("none",) * 3
            + ("cell",) * 4
            + ("header",) * 3
            + ("delimiter", "end", "ragged", "rows", "quotes", "byte", "encoding", "line")
        )
    ):
        case "none":
            pass
        case "cell":
            cells[row][column] = draw(st.sampled_from(CELLS))
        case "header":
            cells[0][column] = draw(st.sampled_from(HEADERS))
        case "delimiter":
            delimiter = draw(st.sampled_from(DELIMITERS))
        case "end":
            end = draw(st.sampled_from(("\r\n", "\r", "\n\n", "\x0b", "\u2028", ",\n", " \n", "")))
        case "ragged":
            cells[row] = draw(st.sampled_from((cells[row][:1], cells[row] + ["0.5"] * 3, [], [""] * 5, ["#"])))
        case "rows":
            cells = cells[: draw(st.integers(0, 3))]
        case "quotes":
            cells[row][column] = draw(st.sampled_from(('"', '"0.5', '"0.5"', '""', "'0.5'", '"0.5""', '"a\nb"')))
        case "line":
            cells.insert(row, [draw(st.sampled_from(("# a note", "a", "a,b,y,c,w", "\x00" * 9, "x" * 9000)))])
        case "encoding":
            encoding = draw(st.sampled_from(("utf-16", "utf-8-sig", "utf-32", "utf-16-le", "cp037")))
            return "\n".join(map(",".join, cells)).encode(encoding)
        case _:
            data = bytearray(table().encode())
            data[draw(st.integers(0, len(data) - 1))] = draw(st.integers(0, 255))
            return bytes(data)
    return (end.join(delimiter.join(line) for line in cells) + end).encode()


@st.composite
def damaged(draw: st.DrawFn, data: bytes) -> bytes:
    """Return bytes cut, flipped, doubled or replaced."""
    at = draw(st.integers(0, max(len(data) - 1, 0)))
    match draw(st.sampled_from(("none", "none", "cut", "flip", "tail", "random"))):
        case "cut":
            return data[:at]
        case "flip":
            return data[:at] + bytes([data[at] ^ (1 << draw(st.integers(0, 7)))]) + data[at + 1 :]
        case "tail":
            return data + data[:at]
        case "random":
            return draw(st.binary(max_size=64))
        case _:
            return data


@st.composite
def content(draw: st.DrawFn, suffix: str) -> bytes:
    """Return the bytes of a file that its suffix fits more or less."""
    if suffix in (".npy", ".npz"):
        flavours = ["", *SHAPES, "names"]
        return draw(damaged(binary(suffix, draw(st.sampled_from(flavours)))))
    if suffix == ".parquet":
        return draw(damaged(binary(suffix, draw(st.sampled_from(("", "", "text"))))))
    text = draw(text_table())
    if not suffix.endswith(".gz"):
        return text
    packed = gzip.compress(text, mtime=0)
    return draw(
        st.sampled_from((packed, text, packed[:-8], packed[: len(packed) // 2], packed[:3], packed + b"x", packed * 2))
    )


@st.composite
def data_files(draw: st.DrawFn, *, rendered: st.SearchStrategy[bool]) -> Case:
    """Return a data file for ``init`` or ``certify``."""
    suffix = draw(st.sampled_from((*SUFFIXES, ".csv", ".csv", ".csv.gz")))
    data = draw(content(suffix))
    if draw(st.integers(0, 11)) == 0:
        suffix = draw(st.sampled_from((*WRONG, *SUFFIXES)))
    name = f"records{suffix}"
    edits = (Edit(name, draw(st.sampled_from(sorted(KINDS)))),) if draw(st.integers(0, 24)) == 24 else ()
    if draw(st.integers(0, 2)) == 0:
        target = draw(st.sampled_from(("y", "y", "y", "a", "c", "2", "Y", "")))
        more = draw(
            st.sampled_from(
                (
                    (),
                    (),
                    ("--delimiter", ";"),
                    ("--delimiter", "\t"),
                    ("-o", "new.toml"),
                    ("--delimiter", ""),
                    ("-o", "x/y.toml"),
                )
            )
        )
        return Case(
            "data", "empty", (("init", name, "--target", target, *more),), ((name, data),), edits, rendered=False
        )
    numbered = suffix in (".npy", ".npz")
    section: dict[str, Any] = {"file": name, "features": ["0", "1"] if numbered else ["a", "b"]}
    section |= {"target": "2" if suffix == ".npy" else "y", "x_bound": 1.0, "y_bound": 1.0}
    if draw(st.integers(0, 3)) == 0:
        key, value = draw(st.sampled_from(OPTIONS))
        section[key] = value
    elif suffix in (".tsv", ".tsv.gz"):
        section["delimiter"] = draw(st.sampled_from((",", "\t")))
    text = written({"data": section}) + MECHANISM + CLAIM
    commands = (("certify", "c.toml", "--out", "out", "--jobs", "1"), ("check", "out"))
    return Case("data", "empty", commands, ((name, data), ("c.toml", text)), edits, rendered=draw(rendered))


OPTIONS: tuple[tuple[str, Any], ...] = (
    *(("delimiter", each) for each in DELIMITERS), *(("encoding", each) for each in ENCODINGS), ("header", False),
    ("missing", "drop"), ("rows", "clip"), ("rows", "unit"), ("response", "clip"), ("standardise", True),
    ("features", ["0", "1"]), ("features", ["a", "w"]), ("features", []), ("target", "w"), ("target", "2"),
    ("intercept", 1.0), ("categories", {"a": ["red"]}), ("labels", {"1": 1.0, "-1": -1.0}), ("threshold", 0.0),
    ("public", True), ("n_min", 5), ("ranges", {"a": [-1, 1]}), ("ranges", {"a": [0, 1e-320]}), ("x_bound", 1e-300),
    ("response_scale", 1e-320),
)  # fmt: skip
assert SECRET in table()
