"""Lines of an answer: what they hold, however their bytes arrive, and what is no answer."""

from __future__ import annotations

import json
import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from audits.external.channels import AnswerLines, TooLong
from audits.external.wire import PlainLine, read_answer, read_line
from audits.harness.output_leaves import Refusal, take_apart
from audits.harness.outputs import Layout
from audits.harness.returned import Block, WrongRows, outputs_of


@pytest.mark.parametrize(
    ("line", "value"),
    [
        (b"2", 2.0),
        (b"2.0", 2.0),
        (b"-0.0", 0.0),
        (b"9007199254740993", 9007199254740993),
        (b"9007199254740992", 9007199254740992.0),
        (b"100000000000000000000", 1e20),
        (b"1e400", Decimal("1e400")),
        (b"0.10000000000000000001", Decimal("0.10000000000000000001")),
        (b"0.1000000000000000055511151231257827021181583404541015625", 0.1),
        (b"0.10000000000000000", 0.1),
        (b"0.29999999999999999", 0.3),
        (b"3.0000000000000001", Decimal("3.0000000000000001")),
        (b"1e-400", Decimal("1e-400")),
        (b"0.0000e-400", 0.0),
        (b"-Infinity", -math.inf),
        (b"[1, [2]]", [1.0, [2.0]]),
        (b'{"a": 1, "b": null}', {"a": 1.0, "b": None}),
        (b"true", True),
        (b'"text"', "text"),
        ('"é"'.encode(), "é"),
        (b'{"error": 1}', {"error": 1.0}),
        (b'{"error": "a", "b": 1}', {"error": "a", "b": 1.0}),
    ],
)
def test_a_line_of_json_is_its_value(line: bytes, value: Any) -> None:
    assert read_line(line) == value
    assert type(read_line(line)) is type(value)


@pytest.mark.parametrize(
    ("first", "second"),
    [
        (b"5.5", b"[5.5]"),
        (b"[[1.5], 2.5]", b"[1.5, [2.5]]"),
        (b'{"p": 5.5}', b'{"p": [5.5]}'),
        (b"0.10000000000000000001", b"0.10000000000000000002"),
        (b"1e400", b"1e500"),
        (b"1e-400", b"0"),
        (b"1e999999999", b"1e999999998"),
        (b"1e9999999999999999999", b"1e9999999999999999998"),
        (b"0.30000000000000001", b"0.3"),
        (b'{"p": 1.5, "q:(1,),.r": 2.5}', b'{"p:(1,),.q": 1.5, "r": 2.5}'),
        (b'{"p": 1.5, "q": 2.5}', b'{"p:(1,),.q": 2.5}'),
        (b'{"p": "text"}', b'{"p length": 4}'),
    ],
)
def test_different_values_are_different_outputs(first: bytes, second: bytes) -> None:
    assert take_apart(read_line(first)).whole() != take_apart(read_line(second)).whole()
    both = outputs_of([read_line(first), read_line(second)] * 30, 60)
    rows = Layout.learn([both]).encode(both)
    assert len(np.unique(rows, axis=0)) == 2


def test_equal_decimals_are_equal_outputs_and_none_is_worked_out() -> None:
    ones = [take_apart(read_line(line)).whole() for line in (b"1e999999999", b"10e999999998", b"1.0e999999999")]
    assert len(set(ones)) == 1


def test_what_an_error_says_is_shown_without_what_a_terminal_obeys() -> None:
    refusal = read_line(rb'{"error": "\u001b[2Kall is well \ud800"}', public=True)
    assert refusal.reason == "?[2Kall is well ?"


def test_nan_is_read() -> None:
    assert math.isnan(read_line(b"NaN"))


@pytest.mark.parametrize(
    "line",
    [b"[1] 0.5", b"abc", b"1 2", b"[1,", b'{"a": 1, "a": 2}', b"\xff", b"[" * 100_000, b"9" * 5000, b"'a'", b"01"],
)
def test_what_is_no_json_is_an_output_of_its_own(line: bytes) -> None:
    read = read_line(line)
    assert isinstance(read, PlainLine)
    assert read.text.encode("utf-8", "surrogateescape") == line
    as_text = json.dumps(read.text).encode()
    assert take_apart(read).whole() != take_apart(read_line(as_text)).whole()
    assert take_apart(read).whole() != take_apart(read_line(line + b"!")).whole()


@pytest.mark.parametrize(
    ("text", "kind"),
    [
        ("record 7 is bad", "error"),
        ("", "error"),
        ("TypeError", "TypeError"),
        ("TypeError: cannot use [0.5]", "TypeError"),
        ("numpy.linalg.LinAlgError: Singular matrix\nmore", "numpy.linalg.LinAlgError"),
        ("java.lang.IllegalArgumentException: 7", "java.lang.IllegalArgumentException"),
        ("TypeErrors: 7", "error"),
        ("7Error: x", "error"),
        ("Error in solve(7)", "error"),
    ],
)
def test_an_error_is_a_refusal_by_its_type_and_only_public_data_show_its_text(text: str, kind: str) -> None:
    line = json.dumps({"error": text}).encode()
    assert read_line(line) == Refusal(kind)
    assert read_line(line).reason == ""
    assert read_line(line, public=True).reason == text.partition("\n")[0]


@given(st.integers())
def test_a_whole_number_is_a_float_where_a_float_holds_it(number: int) -> None:
    """The twin compares exact fractions."""
    read = read_line(str(number).encode())
    held = abs(number) < 2**1024 and Fraction(float(number)) == number
    assert isinstance(read, float) is held
    assert read == number


@given(st.floats())
def test_a_float_comes_back_as_it_was(number: float) -> None:
    read = read_line(json.dumps(number).encode())
    assert read == number or (math.isnan(read) and math.isnan(number))


JSON = st.recursive(
    st.none() | st.booleans() | st.floats(allow_nan=False) | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
    max_leaves=5,
)


@given(st.lists(JSON, max_size=5), st.data())
def test_lines_are_the_same_however_their_bytes_arrive(values: list[Any], data: st.DataObject) -> None:
    """The twin splits the whole answer at once."""
    ends = [data.draw(st.sampled_from(["\n", "\r\n", "\n\n", " \n\t\n"])) for _ in values]
    raw = "".join(json.dumps(value) + end for value, end in zip(values, ends, strict=True)).encode()
    cuts = sorted(data.draw(st.lists(st.integers(0, len(raw)), max_size=5)))
    answer = AnswerLines(len(values))
    for start, stop in zip([0, *cuts], [*cuts, len(raw)], strict=True):
        answer.add(raw[start:stop])
    answer.nothing_more()
    assert answer.whole == [line.strip(b" \t\r") for line in raw.split(b"\n") if line.strip(b" \t\r")]
    assert [json.loads(line) for line in answer.whole] == values


def test_too_many_lines_are_seen_in_the_middle_and_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    answer = AnswerLines(2)
    answer.add(b"1\n2\n")
    answer.nothing_more()
    answer.add(b"3")
    with pytest.raises(WrongRows, match="got more"):
        answer.nothing_more()
    with pytest.raises(WrongRows, match="more than 2 lines"):
        answer.finish()
    with pytest.raises(WrongRows, match="more than 2 lines"):
        AnswerLines(2).add(b"1\n2\n3\n")
    with pytest.raises(WrongRows, match="got 1 line for 2 draws"):
        read_answer([b"1"], 2)
    monkeypatch.setattr("audits.external.channels.MOST_BYTES", 10)
    endless = AnswerLines(1)
    endless.add(b"1234567890")
    with pytest.raises(TooLong):
        endless.add(b"\n")


def test_answers_of_numbers_and_of_lists_become_one_block() -> None:
    for lines in ([b"1", b"2.5"], [b"[1, 2]", b"[3, 4.5]"]):
        assert isinstance(outputs_of(read_answer(lines, 2), 2), Block)
    mixed = outputs_of(read_answer([b"1", b'{"error": "x"}'], 2), 2)
    assert isinstance(mixed, list)
    assert isinstance(mixed[1], Refusal)
