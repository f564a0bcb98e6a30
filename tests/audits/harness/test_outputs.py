"""Outputs of any kind as float rows: nothing raises, equal outputs are equal rows, unequal ones differ."""

from __future__ import annotations

import datetime
import json
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass
from decimal import Decimal
from enum import Enum
from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audits.outputs import canonical, encode_one_by_one, literal_parts

from audits.harness.forms import Rebuilt
from audits.harness.output_leaves import SYMBOLS, Refusal, symbol, take_apart
from audits.harness.outputs import Layout, _row, encode
from audits.harness.returned import Block, WrongRows, as_outputs, joined, outputs_of, types_apart

SCALARS = (
    st.none() | st.booleans() | st.integers(-(2**70), 2**70) | st.floats() | st.complex_numbers() | st.text(max_size=5)
)
KEYS = st.text(max_size=3)
OUTPUTS = st.recursive(
    SCALARS | st.binary(max_size=4) | st.frozensets(st.integers(0, 9) | KEYS, max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=8,
)


def bits(rows: np.ndarray) -> list[bytes]:
    return [row.tobytes() for row in np.ascontiguousarray(rows)]


@settings(max_examples=80)
@given(st.lists(OUTPUTS, min_size=1, max_size=8), st.lists(OUTPUTS, max_size=3))
def test_any_outputs_are_rows_equal_exactly_where_the_outputs_are(pilot, later):
    """Also those that the layout was not learned from, up to collisions of 52 bits."""
    layout = Layout.learn([pilot])
    outputs = [*pilot, *later]
    rows = layout.encode(outputs)
    assert rows.shape == (len(outputs), layout.width)
    assert rows.dtype == np.float64
    keys, known = bits(rows), [canonical(output) for output in outputs]
    for i in range(len(outputs)):
        for j in range(i):
            assert (keys[i] == keys[j]) == (known[i] == known[j]), (outputs[i], outputs[j])
    assert bits(encode_one_by_one(outputs, layout)) == keys


@settings(max_examples=40)
@given(
    st.lists(
        st.floats() | st.none() | st.integers() | st.lists(st.floats(), min_size=2, max_size=2), min_size=1, max_size=6
    )
)
def test_an_output_is_the_same_row_whatever_else_its_call_returned(outputs):
    layout = Layout.learn([outputs])
    together = layout.encode(as_outputs(list(outputs)))
    apart = np.concatenate([layout.encode(as_outputs([output])) for output in outputs])
    assert bits(together) == bits(apart)


NUMBERS = st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.floats(allow_nan=False)
CELLS = st.lists(NUMBERS | st.none() | st.text("a 1.5e-", max_size=6), min_size=2, max_size=2)
FRAMES = st.builds(
    lambda columns, labels: pd.DataFrame(columns, index=labels),
    st.dictionaries(
        KEYS | st.integers(0, 3),
        st.lists(NUMBERS, min_size=2, max_size=2) | CELLS | st.just(pd.array([1, None])) | st.just(pd.array([1.5, 2])),
        max_size=3,
    ),
    st.just(range(2)) | st.just(["x", "y"]) | st.just(range(1, 3)) | st.just([0, 1]),
)
NESTED = st.recursive(
    NUMBERS | st.none() | st.text("a 1.5e-", max_size=6) | FRAMES,
    lambda inner: st.lists(inner, max_size=3) | st.tuples(inner, inner) | st.dictionaries(KEYS, inner, max_size=3),
    max_leaves=6,
)


@settings(max_examples=150)
@given(NESTED)
def test_what_an_output_holds_is_what_a_literal_reading_finds(output):
    """Frames, nested dicts, lists of mixed length, None and texts: structure, types and leaves, to the bit."""
    structure, types, leaves = literal_parts(output)
    parts = take_apart(output)
    assert (parts.structure, parts.types) == (structure, ",".join(types))
    assert [(leaf.path, leaf.is_number) for leaf in parts.leaves] == [(at, number) for at, _, number in leaves]
    assert bits([leaf.value for leaf in parts.leaves]) == bits([value for _, value, _ in leaves])


def test_a_frame_of_arrays_is_read_without_a_series_for_each_column(monkeypatch):
    """Which took longer than everything else that was done with a data frame of four cells."""
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3, 4]})
    with monkeypatch.context() as patch:
        patch.delattr(pd.DataFrame, "__getitem__")
        leaves = take_apart(frame).leaves
    assert [value for _, value, _ in leaves] == [1.0, 2.0, 3.0, 4.0]


RNG = np.random.default_rng(3)
RAGGED = [
    [RNG.standard_normal(n) for n in (3, 5, 3, 4, 5, 5, 3, 2, 1, 9)],
    [RNG.standard_normal(n) * 10.0 ** RNG.integers(-9, 9, n) for n in (70, 71, 70, 90, 71)],
    [np.array([1.0, np.nan]), np.array([np.inf]), np.array([-0.0, 2.0]), np.array([3.0]), np.array([0.5, 0.25])],
    [np.arange(n) for n in (3, 2, 3, 2)] + [np.array([2**60 + 1, 2**61 + 1]), None, "text", 3.5],
    [RNG.standard_normal((n, 2)) for n in (3, 5, 3)] + [list(RNG.standard_normal(3)), (1.0, 2.0), [1.0, "a"]],
    [np.arange(n) + 1j for n in (3, 2, 3, 2)] + [np.ma.masked_array([1.0, 2.0], [True, False]), np.array(1.5)],
]


@pytest.mark.parametrize("outputs", RAGGED)
@pytest.mark.parametrize("types", [True, False])
def test_rows_of_ragged_outputs_are_those_of_each_output_alone(outputs, types):
    outputs = outputs * 3 + [str(i) for i in range(9)]  # more than a symbol can say
    layout = Layout.learn([outputs], types=types)
    slow = np.array([_row(take_apart(output), layout.columns, types) for output in outputs])
    assert bits(layout.encode(outputs)) == bits(slow)
    for output in outputs:
        block = as_outputs([output] * 3)
        assert bits(layout.encode(block)) == bits(np.repeat(layout.encode([output]), 3, axis=0))


def test_an_array_of_floats_is_itself():
    array = np.random.default_rng(1).standard_normal((50, 3))
    outputs = outputs_of(array, 50)
    assert isinstance(outputs, Block)
    layout = Layout.learn([outputs])
    assert layout.plain
    assert np.array_equal(layout.encode(outputs), array)


@pytest.mark.parametrize(
    ("array", "expected"),
    [
        (np.array([[-0.0], [0.0]]), [[0.0], [0.0]]),
        (np.array([1, 2], dtype=np.int8), [[1.0], [2.0]]),
        (np.array([[True, False]]), [[1.0, 0.0]]),
        (np.array([[1 + 2j], [3j]]), [[1.0, 2.0], [0.0, 3.0]]),
        (np.arange(8, dtype=np.float32).reshape(2, 2, 2), [[0, 1, 2, 3], [4, 5, 6, 7]]),
        (np.array([[np.inf], [np.nan]]), [[np.inf], [np.nan]]),
    ],
)
def test_arrays_of_other_numbers_are_their_numbers(array, expected):
    rows = encode(outputs_of(array, len(array)))
    assert np.array_equal(rows, np.array(expected), equal_nan=True)
    assert not np.signbit(rows[rows == 0]).any()


def test_every_nan_is_one_nan():
    payload = np.array([0x7FF8000000000001, 0x7FF8000000000000], dtype=np.uint64).view(np.float64)
    assert len(set(bits(encode(outputs_of(payload, 2))))) == 1


class Colour(Enum):
    RED = 1


@dataclass
class Report:
    total: float
    note: str


class Opaque:
    __slots__ = ()

    def __repr__(self):
        raise RuntimeError("no")


class Unreadable(dict):
    def items(self):
        raise RuntimeError("no")


KINDS = [
    None, True, 1, 1.5, 2**60, 2**60 + 1, np.int64(2**60 + 2), Decimal("0.1"), Fraction(1, 3), np.longdouble("0.1"), 1j,
    Decimal("NaN"), "a", "a 1.5", "a 2.5", b"a", pd.NA, pd.NaT, Colour.RED, datetime.date(2020, 1, 1),
    np.datetime64("2020-01-02"), np.float32(1.75), [], (), [1, "a"], (1, "a"), {"a": 1}, {"b": 1}, frozenset({1}),
    np.zeros(0), np.zeros((2, 2)), np.zeros(4), np.zeros(5000), np.ones(5000), np.array(["a", 1], dtype=object),
    np.ma.masked_array([1.0, 2.0], [True, False]), np.array([(1, 2.0)], dtype=[("a", int), ("b", float)])[0],
    pd.Series([1.0, 2.0]), pd.DataFrame({"a": [1.0, 2.0]}), pd.DataFrame({"a": [1.0, 2.0]}, index=["x", "y"]),
    pd.DataFrame({"b": [1.0, 2.0]}), namedtuple("Pair", "a b")(1, 2), Report(1.0, "x"), Report(2.0, "x"), Opaque(),
    Unreadable(), Refusal("ValueError"), Refusal("KeyError"), {"deep": [{"deeper": (1.0, None)}]}, int, print,
]  # fmt: skip


def test_all_kinds_differ_from_one_another():
    rows = encode(KINDS)
    assert len(set(bits(rows))) == len(KINDS)
    assert bits(rows) == bits(encode(KINDS))


def test_a_symbol_is_the_same_in_every_process():
    code = "from audits.harness.output_leaves import symbol; print(symbol('text').hex())"
    told = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == symbol("text").hex()
    assert SYMBOLS <= symbol("text") < 2 * SYMBOLS


def test_numbers_with_a_few_atoms_keep_their_columns():
    pilot = [*np.random.default_rng(1).standard_normal(20).tolist(), None, Refusal("ValueError")]
    layout = Layout.learn([pilot])
    rows = layout.encode([0.5, None, Refusal("ValueError"), Refusal("KeyError"), "never seen"])
    assert layout.width == 1
    assert rows[0, 0] == 0.5
    assert (rows[1:] >= SYMBOLS).all()
    assert len(np.unique(rows)) == 5


def test_ragged_outputs_get_counts_and_sums():
    pilot = [[1.0, 2.0], [4.0], [1.0, 2.0, 3.0], [7.0, 1.0]] * 5
    layout = Layout.learn([[*pilot, *([float(i)] * (i % 4 + 1) for i in range(20))]])
    kinds = dict(zip(layout.columns, layout.encode([[1.0, 2.0, 6.0, 5.0, 9.0]])[0], strict=True))
    assert kinds["group", "[*] count"] == 5.0
    assert kinds["group", "[*] sum"] == 23.0
    assert ("whole", "") in kinds


def test_kinds_of_numbers_are_a_column_where_they_differ_and_none_otherwise():
    truth, wide = (outputs_of(np.ones((3, 1), dtype=kind), 3) for kind in (np.bool_, np.float64))
    layout = Layout.learn([truth, wide])
    assert layout.width == 2
    assert not set(bits(layout.encode(truth))) & set(bits(layout.encode(wide)))
    alone = Layout.learn([wide])
    assert alone.width == 1
    assert alone.encode(truth)[0, 0] >= SYMBOLS
    assert Layout.learn([truth, wide], types=False).width == 1


#: The same value twice, in different types of numbers.
SAME = [
    (0, 0.0), (np.float32(0.5), 0.5), (np.int32(3), 3), (Decimal(2), 2.0), ([0, 0.5], [0.0, 0.5]), ((1, 2), (1.0, 2.0)),
    ({"a": 1, "b": [1, 2]}, {"a": 1.0, "b": [1.0, 2.0]}), (np.arange(3), np.arange(3.0)), ({1}, {1.0}),
    (pd.DataFrame({"a": [1, 2]}), pd.DataFrame({"a": [1.0, 2.0]})), ({"a": 1, "b": "text"}, {"a": 1.0, "b": "text"}),
]  # fmt: skip


@pytest.mark.parametrize(("one", "other"), SAME, ids=str)
def test_numbers_of_one_value_are_one_output_whatever_their_type(one, other):
    for outputs in ([one, other], [one, other, None, "text", 7.5]):
        assert len(set(bits(encode(outputs)[:2]))) == 1
    assert take_apart(one).whole() == take_apart(other).whole()
    words = types_apart([as_outputs([one])], [as_outputs([other])])
    assert "on the first data set" in words
    assert types_apart([as_outputs([one])], [as_outputs([one])]) == ""


@pytest.mark.parametrize(("one", "other"), [(1, True), (0, False), (1.0, 1j), (2**53, 2**53 + 1), (1, "1"), (0, None)])
def test_what_is_printed_otherwise_is_another_output(one, other):
    assert len(set(bits(encode([one, other])))) == 2
    assert types_apart([as_outputs([one])], [as_outputs([other])]) == ""


def test_a_view_that_names_the_type_tells_types_apart():
    layout = Layout.learn([[0, 0.0]], views=(lambda output: type(output).__name__,))
    assert len(set(bits(layout.encode([0, 0.0])))) == 2


def test_views_are_further_columns():
    outputs = outputs_of(np.arange(6.0).reshape(3, 2), 3)
    layout = Layout.learn([outputs], views=(lambda row: row.sum(), lambda row: "odd" if row[0] % 4 else "even"))
    rows = layout.encode(outputs)
    assert rows[:, 2].tolist() == [1.0, 5.0, 9.0]
    assert rows[0, 3] == rows[2, 3] != rows[1, 3]
    assert not layout.plain
    broken = Layout.learn([outputs], views=(lambda row: 1 / 0,)).encode([Refusal("ValueError")])
    assert np.isfinite(broken).all()


@pytest.mark.parametrize(
    ("returned", "n", "expected"),
    [
        (np.zeros((3, 2)), 3, 3),
        (np.zeros(3), 3, 3),
        ([1, "a", None], 3, 3),
        (pd.DataFrame({"a": [1, 2, 3], "b": ["x", "y", "z"]}), 3, 3),
        (pd.Series([1.0, 2.0]), 2, 2),
        ({"a": np.zeros(2), "b": ["x", "y"]}, 2, 2),
        (iter([1.0, 2.0]), 2, 2),
        (0.5, 1, 1),
        ("text", 1, 1),
        (np.zeros(4), 1, 1),
        ({"a": 1.0}, 1, 1),
        (None, 1, 1),
        (np.zeros((0, 2)), 1, 1),
    ],
)
def test_what_a_call_may_return(returned, n, expected):
    outputs = outputs_of(returned, n)
    assert len(outputs) == expected
    assert encode(outputs).shape[0] == expected


@pytest.mark.parametrize("returned", [np.zeros((2, 1)), [1.0], None, 0.5, "abc", iter([1.0] * 5), pd.Series([1.0])])
def test_another_number_of_rows_is_told(returned):
    with pytest.raises(WrongRows, match="n_draws outputs"):
        outputs_of(returned, 3)


def test_the_rows_of_a_frame_are_the_same_whether_its_columns_are_numbers_or_not():
    frame = pd.DataFrame({"a": [1.0, 2.0], "b": [3.0, 4.0]})
    mixed = frame.astype({"b": object})
    layout = Layout.learn([outputs_of(frame, 2)])
    assert np.array_equal(layout.encode(outputs_of(mixed, 2)), frame.to_numpy())
    twice = pd.DataFrame([[1.0, 2.0]], columns=["a", "a"])
    assert encode(outputs_of(twice, 1)).tolist() == [[1.0, 2.0]]


def test_pieces_are_joined_in_order():
    pieces = [outputs_of(np.array([[float(i)]]), 1) if i % 3 else [None] for i in range(7)]
    together = joined(pieces)
    assert len(together) == 5
    layout = Layout.learn(together)
    assert np.array_equal(*(np.concatenate([layout.encode(p) for p in each]) for each in (pieces, together)))


def test_parts_name_what_an_output_is_made_of():
    parts = take_apart({"b": [1, None], "a": "x2"})
    assert [leaf.path for leaf in parts.leaves][:2] == [".a", ".a length"]
    assert parts.types == "i8"
    assert not parts.numeric


@dataclass(frozen=True)
class Answer:
    total: float
    count: int


Both = namedtuple("Both", "low high")
VALUES = np.random.default_rng(1).laplace(scale=3, size=80).tolist()


def moved(outputs, step=1.0):
    """The first output with all of its numbers moved by a step; None where that is no output."""
    rebuilt = Rebuilt.of(outputs)
    row = rebuilt.rows(outputs[:1])
    row[:, :-1] += step
    made, _ = rebuilt.outputs(row)
    return made[0] if made else None


@pytest.mark.parametrize(
    "output",
    [
        {"sum": 1.5, "count": 3},
        {"z": 1.0, "a": {"value": 2.0, "row": [1, 2.5]}},
        [1.0, 2.0],
        (1.0, {"a": 2}),
        Both(1.0, 2.0),
        Answer(1.5, 2),
        {"matrix": np.arange(4.0).reshape(2, 2), "counts": np.array([1, 2])},
        2.5,
        np.float32(0.5),
        True,
        pd.Series([1.5, 2.0], index=["a", "b"], name="q"),
        pd.DataFrame({"n": [1, 2], "value": [0.5, 1.5]}, index=[3, 7]),
    ],
    ids=str,
)
def test_an_object_of_numbers_is_rebuilt(output) -> None:
    leaves = [leaf.value for leaf in take_apart(output).leaves if "index" not in leaf.path]
    again, other = moved([output, output], 0.0), moved([output, output], 0.25)
    assert take_apart(again)[::2] == take_apart(output)[::2]
    found = [leaf.value for leaf in take_apart(other).leaves if "index" not in leaf.path]
    assert found == [value + 0.25 for value in leaves]


def test_whole_numbers_stay_whole_and_keys_keep_their_order() -> None:
    output = moved([{"z": 1, "a": 2.0}], 2.0)
    assert list(output.items()) == [("z", 3), ("a", 4.0)]
    assert type(output["z"]) is int


def test_a_frame_keeps_its_columns_index_and_dtypes() -> None:
    frame = pd.DataFrame({"of": ["answer", "error"], "n": [1, 2], "value": [0.5, 1.5]}, index=["x", "y"])
    other = moved([frame, frame])
    expected = pd.DataFrame({"of": ["answer", "error"], "n": [2, 3], "value": [1.5, 2.5]}, index=["x", "y"])
    pd.testing.assert_frame_equal(other, expected)


@pytest.mark.parametrize(
    ("shown", "first", "one_more"),
    [
        (lambda v: f"y={v:.2f}", 0.25, "y=0.26"),
        (lambda v: f"{round(v)} of 12", -1.4, "0 of 13"),
        (lambda v: json.dumps({"sum": round(v, 3)}), 0.049, '{"sum": 0.05}'),
        (lambda v: json.dumps({"sum": v}), 0.125, '{"sum": 1.125}'),
        (lambda v: f"{v:.1f}", -0.1, "0.0"),
    ],
    ids=["fixed", "whole", "rounded", "float", "one decimal"],
)
def test_printed_numbers_are_printed_as_they_are_printed(shown, first, one_more) -> None:
    """One unit of the last decimal more, or 1 where there is no last one."""
    assert moved([shown(value) for value in (first, *VALUES)]) == one_more


def test_a_number_that_is_not_printed_again_belongs_to_the_form() -> None:
    """Significant digits, leading zeros, signs of zero: no unit, and half a unit of a fixed decimal is no output."""
    rebuilt = Rebuilt.of([f"{value:.2f}" for value in VALUES])
    assert rebuilt.outputs(np.array([[12.5, rebuilt.rows(["0.25"])[0, 1]]]))[1].tolist() == [False]
    rows = rebuilt.rows(["0.00", "-0.00", "007"])
    assert rows[0, 0] == 0
    assert (rows[1:, 0] == np.inf).all()
    assert rebuilt.outputs(rows)[0] == ["0.00", "-0.00", "007"]


def test_indices_in_lists_of_any_length_belong_to_the_form() -> None:
    rng = np.random.default_rng(2)
    outputs = [[[j, v] for j, v in enumerate(row) if v > 0] for row in rng.standard_normal((80, 3)).tolist()]
    rebuilt = Rebuilt.of(outputs)
    assert len(rebuilt.known) == 8
    assert rebuilt.width == 4
    made, possible = rebuilt.outputs(rebuilt.rows(outputs))
    assert made == outputs
    assert possible.all()


def test_numbers_that_lack_or_are_too_many_make_no_output() -> None:
    rebuilt = Rebuilt.of([None, *VALUES])
    (nothing, number) = rebuilt.rows([None, 1.5])
    swapped = np.array([[number[0], nothing[1]], [nothing[0], number[1]]])
    assert rebuilt.outputs(swapped) == ([], pytest.approx([0, 0]))
    assert (rebuilt.rows([Refusal("ValueError")]) == rebuilt.rows([{1.0}])).all()


KINDS_rebuilt = {
    "nothing": [],
    "a set": [{1.0, 2.0}],
    "complex": [1j],
    "an object": [object()],
    "a refusal": [Refusal("ValueError"), 1.0],
}


@pytest.mark.parametrize("outputs", KINDS_rebuilt.values(), ids=KINDS_rebuilt)
def test_what_its_numbers_do_not_make_again_is_not_rebuilt(outputs) -> None:
    assert Rebuilt.of(outputs) is None
