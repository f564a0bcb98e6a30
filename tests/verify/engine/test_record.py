"""The record: strict, complete, valid against its schema, and refused in one line when it is not ours."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from toys import LEDGER, toy_registry

from verify.engine import record as records
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record
from verify.engine.rows import number
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.messages.errors import UserError
from verify.papers.registry import statements
from verify.runs.statement_run import execute

SCHEMA = json.loads(files("verify").joinpath("schemas/record.schema.json").read_text(encoding="utf-8"))


@pytest.fixture(scope="module")
def toy_record(tmp_path_factory: pytest.TempPathFactory) -> Record:
    """The record of a run of all toys, a broken check among them."""
    store = Store(tmp_path_factory.mktemp("store") / "store.sqlite")
    sources = toy_registry("W19-T4.1", "RW21-T17", "W18-L4").select()
    settings = RunSettings(3, "standard", 1e-4)
    record = execute(sources, settings, LEDGER, executor=local(1), store=store, watcher=Follower()).record
    store.close()
    return record


def test_every_line_obeys_the_schema(toy_record: Record) -> None:
    validator = jsonschema.Draft202012Validator(SCHEMA)
    validator.check_schema(SCHEMA)
    for line in toy_record.lines():
        validator.validate(json.loads(line))


@pytest.mark.parametrize(
    "spoil",
    [
        lambda row: row.pop("margin"),
        lambda row: row.update(margin="infinite"),
        lambda row: row.update(clock="now"),
        lambda row: row.update(outcome="MAYBE"),
        lambda row: row["claim"].update(observer="NOBODY"),
    ],
)
def test_schema_refuses_a_spoilt_row(toy_record: Record, spoil: Callable[[dict[str, Any]], Any]) -> None:
    row = json.loads(json.dumps(toy_record.cases[0]))
    spoil(row)
    assert not jsonschema.Draft202012Validator(SCHEMA).is_valid(row)


def test_reading_gives_back_what_was_written(toy_record: Record, tmp_path: Path) -> None:
    records.write(toy_record, tmp_path / "audit.jsonl")
    assert records.read(tmp_path / "audit.jsonl") == toy_record
    assert records.read(tmp_path) == toy_record
    assert [path.name for path in tmp_path.iterdir()] == ["audit.jsonl"]


def test_record_has_no_clock_path_or_host(toy_record: Record, tmp_path: Path) -> None:
    import platform
    import time

    text = "\n".join(toy_record.lines())
    for word in (time.strftime("%Y-%m-%d"), str(Path.home()), str(Path(__file__).parent), f'"{platform.node()}"'):
        assert word not in text


def test_non_finite_numbers_come_back() -> None:
    assert [number(value) for value in ("inf", "-inf", 0.5, 3)] == [math.inf, -math.inf, 0.5, 3.0]
    assert math.isnan(number("nan"))


def lines_of(record: Record) -> list[str]:
    return list(record.lines())


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda lines: [], "record must not be empty"),
        (lambda lines: lines[1:], "record must begin with its header"),
        (lambda lines: [lines[0].replace('"schema_version":2', '"schema_version":1'), *lines[1:]], "schema_version=1"),
        (lambda lines: [*lines[:2], lines[2][:40]], "line 3"),
        (lambda lines: [*lines, '{"kind":"case","margin":NaN}'], "strict JSON has no NaN"),
        (lambda lines: [*lines, "[1]"], "not an object"),
        (lambda lines: [*lines, '{"kind":"rumour"}'], "no row of a known kind"),
        (lambda lines: [*lines, '{"kind":"case"}'], "no key '"),
        (lambda lines: [lines[0].replace('"seed"', '"sid"'), *lines[1:]], "no key 'seed'"),
        (lambda lines: [lines[0].replace('"seed":3', '"seed":"3"'), *lines[1:]], "'seed' is not a whole number"),
        (lambda lines: [lines[0].replace('"standard"', '"slow"'), *lines[1:]], "'profile' has another value"),
        (
            lambda lines: [lines[0].replace('"failure_prob":0.0001', '"failure_prob":2'), *lines[1:]],
            "'failure_prob' has another value",
        ),
    ],
)
def test_broken_record_is_refused_in_one_line(
    toy_record: Record, tmp_path: Path, spoil: Callable[[list[str]], list[str]], message: str
) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text("".join(f"{line}\n" for line in spoil(lines_of(toy_record))))
    with pytest.raises(UserError, match=message) as stop:
        records.read(path)
    assert "\n" not in str(stop.value)


def test_missing_or_binary_record_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="No such file"):
        records.read(tmp_path / "none.jsonl")
    (tmp_path / "binary").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="not UTF-8"):
        records.read(tmp_path / "binary")


def test_a_record_and_a_statement_read_in_a_line(toy_record: Record) -> None:
    """Their fields fill megabytes."""
    (statement,) = statements("W19-T4.1")
    for shown in (repr(toy_record), repr(statement)):
        assert len(shown) < 200
        assert "\n" not in shown
    assert f"cases       {len(toy_record.cases)}" in toy_record.summary()
    assert toy_record._repr_html_().startswith("<table><caption>Record</caption>")
