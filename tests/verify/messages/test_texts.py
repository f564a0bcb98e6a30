"""Files of records that are not what they are called: exit 2 and one line that names the rule, never a cell."""

from __future__ import annotations

import gzip
import io
import os
import shlex
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from toys.deployments import dp, mechanism, section

from verify.certificates.config.config import DataSection
from verify.certificates.reading import source as files
from verify.certificates.reading.data_files import read_dataset, size
from verify.cli import invoke
from verify.kernel.measure import Measure, excess
from verify.kernel.words import case_sentence, command_lines, times

Captured = pytest.CaptureFixture[str]
SECRET = "31337"
GOOD = "a,b,y\n" + f"0.5,0.25,1\n0.1,0.7,-1\n0.3,0.{SECRET},0.5\n" * 40
MATRIX = np.column_stack([np.full(9, 0.5), np.arange(9) / 10, np.ones(9)])


def saved(array: Any, **more: Any) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, array, **more)
    return buffer.getvalue()


def archive(**arrays: Any) -> bytes:
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def parquet() -> bytes:
    buffer = io.BytesIO()
    pd.read_csv(io.StringIO(GOOD)).to_parquet(buffer)
    return buffer.getvalue()


def one_line(capsys: Captured, message: str) -> None:
    printed = capsys.readouterr()
    assert printed.out == ""
    assert printed.err.startswith("error: ")
    assert printed.err.count("\n") == 1
    assert message in printed.err
    assert SECRET not in printed.err
    assert "defect" not in printed.err


def certify(folder: Path, file: str, more: str = "", *, numbered: bool = False) -> int:
    names = ('["0", "1"]', "2") if numbered else ('["a", "b"]', "y")
    text = f'[data]\nfile = "{file}"\nfeatures = {names[0]}\ntarget = "{names[1]}"\nx_bound = 2.0\ny_bound = 1.0\n'
    text += f'rows = "clip"\nresponse = "clip"\npublic = true\n{more}\n'
    text += mechanism("gaussian-output", sigma=1.0, lam=1.0) + dp(1.0) + section("[budget]", profile="quick")
    (folder / "c.toml").write_text(text, encoding="utf-8")
    return invoke(["certify", str(folder / "c.toml"), "--out", str(folder / "out"), "--jobs", "1"])


WHOLE = "must be gzip data, whole, got data that end too early"
#: Name of the file -> its bytes, and what is said; with and without a header that can be read.
BOTH: dict[str, tuple[bytes, str]] = {
    "short.csv.gz": (gzip.compress(GOOD.encode() * 9)[:-30], WHOLE),
    "tiny.csv.gz": (gzip.compress(GOOD.encode())[:7], WHOLE),
    "plain.csv.gz": (GOOD.encode(), "must be gzip data, as its name says, got another kind of file"),
    "empty.csv.gz": (b"", "must be a table"),
    "binary.csv": (bytes(range(128, 256)) * 9, "must be utf-8 text, got other bytes"),
    "twice.csv": (b"a,b,a,y\n1,2,3,4\n", "columns must have names of their own, got one name in columns 1 and 3"),
    "index.csv": (b"a,,b,y\n0,1,2,1\n", "columns must have names of their own, got none in column 2"),
    "end.csv": (b"a,b,y,\n0,1,1,\n", "columns must have names of their own, got none in column 4"),
    "nothing.csv": (b"", "must be a table"),
    "line.csv": (b"a" * (files.LONGEST_LINE + 2), "must have lines of at most 16 MB, got a longer one"),
    "junk.parquet": (bytes(range(256)), "must be a Parquet file, whole, got something else"),
    "short.parquet": (parquet()[:-9], "must be a Parquet file, whole, got something else"),
    "table.xlsx": (b"PK", "must end in one of .csv, .tsv,"),
    "odd.npy.gz": (gzip.compress(saved(MATRIX)), "must end in one of .csv, .tsv,"),
    "semicolon.csv": (GOOD.replace(",", ";").encode(), '"," the header is one column: try '),
    "blank.csv": (GOOD.replace(",", ", ").encode(), 'the header has it with a blank: " '),
}
NUMPY: dict[str, tuple[bytes, str]] = {
    "junk.npy": (bytes(range(256)), "must be a NumPy file of plain numbers"),
    "short.npy": (saved(MATRIX)[:-9], "must be a NumPy file of plain numbers"),
    "nothing.npy": (b"", "must be a whole file, got data that end too early"),
    "objects.npy": (saved(np.array([[1, "a"]], dtype=object), allow_pickle=True), "a NumPy file of plain numbers"),
    "line.npy": (saved(np.ones(3)), "must hold a matrix of real numbers, got an array of 1 axes"),
    "point.npy": (saved(np.array(1.0)), "must hold a matrix of real numbers, got an array of 0 axes"),
    "complex.npy": (saved(MATRIX + 1j), "must hold a matrix of real numbers, got complex numbers"),
    "structure.npy": (saved(np.zeros((3, 3), dtype=[("a", float)])), "got a structure"),
    "text.npy": (saved(np.array([["a"]])), "must hold a matrix of real numbers, got text"),
    "archive.npy": (archive(X=MATRIX), "got an archive (whose name must end in .npz)"),
    "junk.npz": (bytes(range(256)), "must be a NumPy archive of plain numbers"),
    "short.npz": (archive(X=MATRIX, y=np.ones(9))[:-40], "must be a whole file, got damaged data"),
    "others.npz": (archive(a=MATRIX), "must hold arrays X and y, got other names"),
    "alone.npz": (archive(X=MATRIX), "must hold arrays X and y, got other names"),
    "matrix.npz": (saved(MATRIX), "must be a NumPy archive of arrays X and y, got one array"),
    "odd.npz": (archive(X=MATRIX, y=np.ones(8)), "must hold one real response in y for every row of X"),
}


@pytest.mark.parametrize("command", ["init", "certify"])
@pytest.mark.parametrize("name", [*BOTH, *NUMPY])
def test_init_and_certify_refuse_the_same_files(name: str, command: str, tmp_path: Path, capsys: Captured) -> None:
    content, message = (BOTH | NUMPY)[name]
    (tmp_path / name).write_bytes(content)
    if command == "init":
        code = invoke(["init", str(tmp_path / name), "--target", "y", "-o", str(tmp_path / "draft.toml")])
        assert not (tmp_path / "draft.toml").exists()
    else:
        code = certify(tmp_path, name, numbered=name in NUMPY)
    assert code == 2
    one_line(capsys, message)


def _folder(path: Path) -> None:
    path.mkdir()


def _nothing(path: Path) -> None:
    path.unlink(missing_ok=True)


@pytest.mark.parametrize(
    ("make", "found"), [(os.mkfifo, "no regular file"), (_folder, "a folder"), (_nothing, "nothing")]
)
def test_what_is_no_file_is_not_opened(
    make: Callable[[Path], None], found: str, tmp_path: Path, capsys: Captured
) -> None:
    make(tmp_path / "d.csv")
    assert certify(tmp_path, "d.csv") == 2
    one_line(capsys, f"data.file must be a readable file, got {found} in data.file=d.csv")
    assert invoke(["init", str(tmp_path / "d.csv"), "--target", "y"]) == 2
    one_line(capsys, f"data must be a readable file, got {found}")


@pytest.mark.parametrize("encoding", ["klingon", "rot13", "hex", "undefined", "", "\\u0000"])
def test_what_is_no_encoding_of_text_is_refused_by_name(encoding: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "d.csv").write_text(GOOD)
    assert certify(tmp_path, "d.csv", f'encoding = "{encoding}"') == 2
    one_line(capsys, "data.encoding must be a text encoding, as utf-8 or latin-1 are, got data.encoding=")


@pytest.mark.parametrize("encoding", ["utf-16", "utf-32", "utf-8-sig", "latin-1"])
def test_an_encoding_is_read_as_it_is_named_and_other_bytes_are_refused(
    encoding: str, tmp_path: Path, capsys: Captured
) -> None:
    section = {"file": "d.csv", "features": ["a", "b"], "target": "y", "x_bound": 2.0, "y_bound": 1.0}
    (tmp_path / "d.csv").write_bytes(GOOD.encode(encoding))
    found = read_dataset(DataSection.model_validate(section | {"encoding": encoding}), tmp_path)
    assert found.n_records == 120
    if "16" in encoding or "32" in encoding:
        (tmp_path / "d.csv").write_bytes(GOOD.encode()[:-1])
        assert certify(tmp_path, "d.csv", f'encoding = "{encoding}"') == 2
        one_line(capsys, f"data.file must be {encoding} text, got other bytes")


@pytest.mark.parametrize("delimiter", ["\\n", "\\r", '\\"', "ä", "\\u0000"])
def test_what_cannot_delimit_is_refused_before_anything_is_read(
    delimiter: str, tmp_path: Path, capsys: Captured
) -> None:
    assert certify(tmp_path, "missing.csv", f'delimiter = "{delimiter}"') == 2
    one_line(
        capsys, "data.delimiter must be one ASCII character that is neither a quotation mark nor the end of a line"
    )


@pytest.mark.parametrize(
    ("content", "more", "message"),
    [
        (
            "a,b,y\n18446744073709551615,1,1\n-1,1,1\n",
            "",
            "got whole numbers beyond 64 bits; write them with a decimal",
        ),
        ('a,b,y\n"1,5",2,1\n"2,5",1,1\n', "", 'got numbers with a decimal comma; data.decimal = "," reads them'),
        (f"a;b;y\n1,{SECRET};2;1\n", 'delimiter = ";"', "got numbers with a decimal comma"),
        (f"a,b,y\n{SECRET}x,2,1\n", "", "got text; list its public levels in data.categories"),
        ("a;b;y\n1;2;3\n", "", 'the header is one column: try data.delimiter = ";"'),
        ("a\tb\ty\n1\t2\t3\n", "", 'the header is one column: try data.delimiter = "\\t"'),
        ("a|b|y\n1|2|3\n", "", 'the header is one column: try data.delimiter = "|"'),
        ("a, b, y\n1,2,3\n", "", 'got b; the header has it with a blank: " b"'),
        (f"{SECRET};2\n", "header = false", "without a file header"),
        (GOOD, "threshold = nan", "data.threshold must be a finite number"),
        (GOOD, "intercept = inf", "data.intercept must be a finite number"),
        (GOOD, "ranges = { a = [0, 5e-324] }", "data.ranges.a must be two finite numbers, the lower first"),
        (GOOD, "n_min = " + "9" * 30, "data.n_min must be a number of at most 64 bits"),
        (GOOD, "n_min = " + "9" * 5000, "must be TOML"),
        (GOOD, "labels = " + "{a=" * 90 + "1" + "}" * 90, "configuration must be TOML of a few levels"),
    ],
)
def test_the_line_names_the_remedy(content: str, more: str, message: str, tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "d.csv").write_text(content)
    if message == "without a file header":
        message = "data.features must be column numbers as text, from '0', for a file without a header"
    assert certify(tmp_path, "d.csv", more) == 2
    one_line(capsys, message)


def test_init_takes_a_tab_as_a_shell_writes_it_and_another_encoding(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "d.tsv").write_bytes("ä\ty\n1\t2\n".encode("latin-1"))
    assert (
        invoke(["init", str(tmp_path / "d.tsv"), "--target", "y", "--delimiter", "\\t", "--encoding", "latin-1"]) == 0
    )
    draft = capsys.readouterr().out
    assert 'delimiter = "\\t"\nencoding = "latin-1"\n' in draft
    assert 'features = ["ä"]' in draft


def test_a_table_that_does_not_fit_into_memory_is_refused(
    tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 1, "SC_PAGE_SIZE": 1000}.__getitem__)
    (tmp_path / "d.csv").write_text(GOOD)
    assert certify(tmp_path, "d.csv") == 2
    one_line(capsys, "data.file must fit into memory, got more")
    (tmp_path / "d.npz").write_bytes(archive(X=np.ones((99, 3)), y=np.ones(99)))
    assert certify(tmp_path, "d.npz", numbered=True) == 2
    one_line(capsys, "data.file must fit into memory, got more")


@pytest.mark.parametrize("name", ["d.csv", "d.csv.gz", "d.parquet", "d.npy", "d.npz"])
def test_what_is_told_while_reading_adds_up_to_the_file(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(files, "CHUNK", 7)
    monkeypatch.setattr(files, "BLOCK", 64)
    content = {
        "d.csv": GOOD.encode(),
        "d.csv.gz": gzip.compress(GOOD.encode()),
        "d.parquet": parquet(),
        "d.npy": saved(np.tile(MATRIX, (9, 1))),
        "d.npz": archive(X=MATRIX, y=np.ones(9)),
    }[name]
    (tmp_path / name).write_bytes(content)
    names = (["0", "1"], "2") if name[2:] in ("npy", "npz") else (["a", "b"], "y")
    section = {"file": name, "features": names[0], "target": names[1], "x_bound": 2.0, "y_bound": 1.0}
    data = DataSection.model_validate(section)
    told: list[int] = []
    read_dataset(data, tmp_path, tell=told.append)
    assert sum(told) == size(data, tmp_path) == len(content)
    assert len(told) > 1


@pytest.mark.parametrize("name", [name for name in BOTH if name not in ("blank.csv",)])
def test_a_grid_refuses_the_same_files(name: str, tmp_path: Path, capsys: Captured) -> None:
    content, message = BOTH[name]
    (tmp_path / name).write_bytes(content)
    table = f'[data]\nfile = "{name}"\nresponse = "y"\nx_bound = 2.0\ny_bound = 1.0\npublic = true\n'
    (tmp_path / "g.toml").write_text(f"[grid]\n{table}")
    assert invoke(["sweep", str(tmp_path / "g.toml"), "--status"]) == 2
    one_line(capsys, "nothing but commas delimits here" if name == "semicolon.csv" else message)


def row(measure: Measure, quantity: str, low: float, high: float, published: float, **more: Any) -> dict[str, Any]:
    """A failing row as the record has it."""
    claim = {"measure": measure.name, "quantity": quantity, "low": low, "high": high, "published": published}
    about: dict[str, Any] = {"outcome": "FAILS", "standing": "PRINTED", "params": {}, "notes": {}, "error": None}
    return about | {"claim": claim, "exact": None, "sampled": None} | more


def exactly(value: float, low: float | None = None, high: float | None = None) -> dict[str, float]:
    return {"value": value, "low": value if low is None else low, "high": value if high is None else high}


INF = float("inf")
DELTA = row(Measure.DELTA, "hockey-stick delta", 0.0, 0.001, 0.0267037, exact=exactly(0.0283167))
SENTENCES = [
    (
        DELTA,
        "At epsilon 0.0267 (the printed formula) the true delta is 0.0283, where 0.001 was promised: 28 times as much.",
    ),
    (
        DELTA | {"params": {"epsilon": 0.0267037}},
        "At epsilon 0.0267 the true delta is 0.0283, where 0.001 was promised: 28 times as much.",
    ),
    (
        DELTA | {"outcome": "HOLDS", "standing": "CORRECTED", "exact": exactly(0.0009)},
        "At epsilon 0.0267 (the corrected formula) the true delta is 9e-4, where 0.001 is promised.",
    ),
    (
        DELTA | {"exact": exactly(0.5, 0.25, 1.0)},
        "At epsilon 0.0267 (the printed formula) the true delta is at least 0.25, where 0.001 was promised: at least "
        "250 times as much.",
    ),
    (
        row(Measure.COVERAGE, "probability that it holds", 0.97, INF, 0.97, sampled=exactly(0.612, 0.55, 0.67)),
        "The probability that it holds is 0.61 [0.55, 0.67], where at least 0.97 was promised.",
    ),
    (
        row(Measure.FAILURE, "probability that this fails: the bound", -INF, 0.01, 0.01, exact=exactly(0.0213)),
        "The probability that this fails (the bound) is 0.0213, where at most 0.01 was promised.",
    ),
    (
        row(Measure.BOUND, "norm: value over bound", 0.0, 1.0, 2.0, exact=exactly(2.0), notes={"value": 4, "bound": 2}),
        "Norm: 4, where at most 2 is promised.",
    ),
    (
        row(Measure.GROWTH, "decades by which A over its order grows, n from 1 to 1e5", -INF, 1.0, 0.0,
            exact=exactly(3.0)),
        "A over its order grows by a factor of 1000, n from 1 to 1e5, where at most 10 is allowed.",
    ),
    (
        row(Measure.IDENTITY, "relative deviation: both sides", 0.0, 0.0, 0.0, exact=exactly(0.5)),
        "The two sides differ by 50% (both sides), where they are said to be equal.",
    ),
    (row(Measure.NUMBER, "solutions", 1.0, 1.0, 1.0, exact=exactly(2.0)), "Solutions: 2, where 1 is stated."),
    (
        row(Measure.NUMBER, "ratio", 1.0, 1.0, 1.0, exact=exactly(1.0), outcome="HOLDS"),
        "Ratio: 1, where 1 is stated.",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("case", "sentence"), SENTENCES)
def test_a_case_is_a_sentence_with_one_unit(case: dict[str, Any], sentence: str) -> None:
    assert case_sentence(case) == sentence


def test_a_number_is_never_rounded_to_what_it_must_not_be() -> None:
    """A failure by one part in ten thousand keeps the digits that show it."""
    case = row(Measure.DELTA, "delta", 0.0, 0.1, 2.0, exact=exactly(0.10004))
    assert "the true delta is 0.10004, where 0.1 was promised" in case_sentence(case)


def test_an_excess_is_in_the_unit_of_its_measure() -> None:
    """A coverage of 0.7 where 0.97 was promised fails ten times as often; an enclosure counts by its nearer end."""
    case = row(Measure.COVERAGE, "probability", 0.97, INF, 0.97, exact=exactly(0.7))
    assert excess(case) == pytest.approx(10.0)
    assert excess(DELTA | {"exact": exactly(0.5, 0.25, 1.0)}) == 250.0
    assert times(row(Measure.IDENTITY, "x", 0.0, 0.0, 0.0, exact=exactly(0.5))) == ""
    assert times(DELTA | {"exact": exactly(0.0005)}) == ""
    growth = row(Measure.GROWTH, "x", -0.5, 0.5, 0.0, exact=exactly(900.0))
    assert excess(growth) == INF


@pytest.mark.parametrize("case", ["printed", "a | b = 'c' \"d\" $HOME `x` \\", " ".join(["word=1e-06"] * 40)])
def test_a_command_on_a_page_is_short_lines_that_a_shell_reads_as_one(case: str) -> None:
    words = ["pdp-verify", "replay", "audit.jsonl", "W19-T4.1#4.3", "--case", case]
    lines = command_lines(words)
    assert all(len(line) <= 95 for line in lines.splitlines())
    assert shlex.split(lines.replace("\\\n", "")) == words
