"""The record: strict, complete, valid against its schema, and refused in one line when it is not ours."""

from __future__ import annotations

import json
import math
import os
import random
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from toys import LEDGER, toy_registry
from toys.deployments import dp, mechanism, section

from verify.calibration import calibration_record as calibrations
from verify.certificates.certify_call import certify
from verify.cli import invoke
from verify.engine import record as records
from verify.engine.executors import local
from verify.engine.follow import Follower
from verify.engine.record import Record, checked_rows
from verify.engine.store import Store
from verify.engine.worker import RunSettings
from verify.kernel.rows import number
from verify.messages.errors import UserError
from verify.papers import registry
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


Captured = pytest.CaptureFixture[str]
SECRET = "31337"
CERTIFIED = section("[data]", source="fair") + mechanism("adassp", epsilon=1.0, delta=1e-6) + dp(1.0)
CERTIFIED += section("[budget]", profile="quick")
RATE = {
    "kind": "rate",
    "auditor": "tails",
    "law": "a coin",
    "level": 0.05,
    "n_draws": 100,
    "repeats": 40,
    "low": 1,
    "high": 1,
    "any": 2,
    "interval": [0.01, 0.2],
    "smallest_rate_refused": 0.3,
    "compatible": True,
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """The lines of a run, a certificate and a calibration."""
    folder = tmp_path_factory.mktemp("written")
    store = Store(folder / "store.sqlite")
    sources = toy_registry("W19-T4.1", "RW21-T17").select()
    settings = RunSettings(3, "standard", 1e-4)
    run = execute(sources, settings, LEDGER, executor=local(1), store=store, watcher=Follower()).record
    store.close()
    (folder / "c.toml").write_text(CERTIFIED)
    rows = certify(folder / "c.toml").rows
    header = calibrations.first_line("quick", 3, n_tasks=1, n_done=1)
    return {
        "run": list(run.lines()),
        "certificate": [json.dumps(row) for row in rows],
        "calibration": [json.dumps(header), json.dumps(RATE)],
    }


def test_verdicts_of_before_are_read_in_the_words_of_now(written: dict[str, list[str]], tmp_path: Path) -> None:
    old, path = tmp_path / "audit.jsonl", tmp_path
    for ground, words, now in (
        ("vouched", "PASS (vouched)", "PASS (attested)"),
        ("examined", "UNDECIDED (examined)", "UNDECIDED (no violation found)"),
        ("not examined", "UNDECIDED (not examined)", "UNDECIDED (not tested)"),
        ("proved", "PASS (proved)", "PASS (proved)"),
    ):
        rows = [json.loads(line) for line in written["certificate"]]
        header = rows[0] | {"words": words}
        claims = [row | ({"ground": ground, "words": words} if row["kind"] == "claim" else {}) for row in rows[1:]]
        old.write_text("".join(json.dumps(row) + "\n" for row in [header, *claims]), encoding="utf-8")
        read = checked_rows(old, "certificate")
        claim = next(row for row in read if row["kind"] == "claim")
        assert (read[0]["words"], claim["words"], claim["ground"]) == (now, now, now[now.index("(") + 1 : -1])
        assert invoke(["report", str(path), "-o", str(tmp_path / "again.md")]) == 0
        assert now in (tmp_path / "again.md").read_text(encoding="utf-8")


def commands(of: str, path: Path, folder: Path) -> Iterator[list[str]]:
    """Yield the commands that read a record of a run, a certificate or a calibration."""
    yield ["report", str(path), "-o", str(folder / "again.pdf")]
    if of == "run":
        yield ["list", str(path)]
        yield ["show", "RW21-T17", "--record", str(path)]
        yield ["replay", str(path), "RW21-T17"]
        yield ["errata", str(path), "-o", str(folder / "errata.md")]


def change(line: str, *keys: str | int, to: Any = None, name: str = "") -> str:
    """Return a line with one value changed, or, without ``to``, its key renamed."""
    row = json.loads(line)
    inside = row
    for key in keys[:-1]:
        inside = inside[key]
    if name:
        inside[name] = inside.pop(keys[-1])
    else:
        inside[keys[-1]] = to
    return json.dumps(row)


def first(lines: list[str], kind: str) -> int:
    return next(i for i, line in enumerate(lines) if json.loads(line)["kind"] == kind)


def spoilt(lines: list[str], kind: str, spoil: Callable[[str], str]) -> tuple[list[str], int]:
    """Return the lines with the first of a kind spoilt, and its number."""
    place = first(lines, kind)
    return [spoil(line) if i == place else line for i, line in enumerate(lines)], place + 1


DEEP = "[" * 100_000
DAMAGE: dict[str, tuple[str, str, Callable[[str], str], str]] = {
    "nested": ("run", "case", lambda line: DEEP, "nested too deeply"),
    "nested header": ("run", "header", lambda line: DEEP, "nested too deeply"),
    "renamed formula": (
        "run",
        "statement",
        lambda line: change(line, "parts", 0, "printed", "text", name="t"),
        "'text'",
    ),
    "renamed ruling": ("run", "verdict", lambda line: change(line, "printed", "verdict", name="v"), "'verdict'"),
    "text for a table": ("run", "verdict", lambda line: change(line, "printed", to="REFUTED"), "'printed' is not"),
    "list for an id": ("run", "verdict", lambda line: change(line, "id", to=[]), "'id' is not text"),
    "number for parts": ("run", "statement", lambda line: change(line, "parts", to=3), "'parts' is not a list"),
    "nothing for a margin": ("run", "case", lambda line: change(line, "margin", to=None), "'margin'"),
    "cut": ("run", "case", lambda line: line[:50], "must be strict JSON lines"),
    "not a number": ("run", "case", lambda line: line.replace('"margin":', '"margin":NaN,"m":', 1), "has no NaN"),
    "long number": ("run", "case", lambda line: line.replace('"margin":', f'"margin":{"9" * 5000},"m":', 1), "digits"),
    "twice": ("run", "case", lambda line: f"{line}\n{line}", "must have no line twice"),
    "nothing": ("run", "case", lambda line: "", "must be strict JSON lines"),
    "no object": ("run", "case", lambda line: "[]", "not an object"),
    "nested check": ("certificate", "check", lambda line: DEEP, "nested too deeply"),
    "renamed words": ("certificate", "claim", lambda line: change(line, "words", name="w"), "no key 'words'"),
    "renamed axis": (
        "certificate",
        "figure",
        lambda line: change(line, "figure", "series", name="s"),
        "'series' in 'fig",
    ),
    "text for a claim": (
        "certificate",
        "check",
        lambda line: change(line, "about", to=SECRET),
        "'about' is not an obj",
    ),
    "number for a word": (
        "certificate",
        "header",
        lambda line: change(line, "contains_private", to=-1),
        "true or false",
    ),
    "short curve": (
        "certificate",
        "figure",
        lambda line: change(line, "figure", "series", 0, "x", to=[1.0]),
        "lists that do not fit together",
    ),
    "cut claim": ("certificate", "claim", lambda line: line[:40], "line"),
    "renamed rate": ("calibration", "rate", lambda line: change(line, "any", name="all"), "no key 'any'"),
    "text for a rate": (
        "calibration",
        "rate",
        lambda line: change(line, "any", to=SECRET),
        "'any' is not a whole number",
    ),
    "short interval": ("calibration", "rate", lambda line: change(line, "interval", to=[]), "'interval'"),
}


@pytest.mark.parametrize("damage", list(DAMAGE))
def test_damage_is_told_with_file_line_and_key(
    damage: str, written: dict[str, list[str]], toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    of, kind, spoil, message = DAMAGE[damage]
    lines, number = spoilt(written[of], kind, spoil)
    path = tmp_path / "record.jsonl"
    path.write_text("".join(f"{line}\n" for line in lines))
    codes = []
    for command in commands(of, path, tmp_path):
        codes.append(invoke(command))
        printed = capsys.readouterr().err
        if codes[-1] == 2:
            assert printed.count("\n") == 1
            assert str(path) in printed
            assert SECRET not in printed
            if message in printed:
                assert f"line {number + (damage == 'twice')}" in printed or damage == "nested header"
        assert "defect" not in printed
        message = message if codes[-1] == 2 and message not in printed else ""
    assert set(codes) <= {0, 1, 2}
    assert 2 in codes
    assert message == "", "no command said what is wrong"
    assert not list(tmp_path.glob(".*.tmp"))


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (os.mkfifo, "no regular file"),
        (lambda path: path.write_bytes(b"\xff\x00" * 99), "not UTF-8 text"),
        (lambda path: path.symlink_to("/dev/zero"), "no regular file"),
        (lambda path: path.symlink_to(path), "Too many levels"),
        (lambda path: None, "No such file"),
    ],
)
def test_what_is_no_record_is_not_read(
    make: Callable[[Path], None], why: str, toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    make(tmp_path / "record.jsonl")
    for command in commands("run", tmp_path / "record.jsonl", tmp_path):
        assert invoke(command) == 2
        printed = capsys.readouterr().err
        assert printed.count("\n") == 1
        assert why in printed or "record" in printed


def _places(value: Any, place: tuple[str | int, ...] = ()) -> Iterator[tuple[str | int, ...]]:
    if place:
        yield place
    inside = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, each in inside:
        yield from _places(each, (*place, key))


@pytest.mark.parametrize("of", ["run", "certificate", "calibration"])
def test_a_good_record_obeys_its_schema(of: str, written: dict[str, list[str]], tmp_path: Path) -> None:
    path = tmp_path / "record.jsonl"
    path.write_text("".join(f"{line}\n" for line in written[of]))
    rows = checked_rows(path, "record" if of == "run" else of)
    assert rows == [json.loads(line) for line in written[of]]


@pytest.mark.slow
@pytest.mark.parametrize("of", ["run", "certificate", "calibration"])
def test_any_value_anywhere_may_be_another(
    of: str, written: dict[str, list[str]], toys: registry.Registry, tmp_path: Path, capsys: Captured
) -> None:
    """A sample of all places of all lines, each with a value of another type, or without its key."""
    draw = random.Random(12)
    places = [(i, place) for i, line in enumerate(written[of]) for place in _places(json.loads(line))]
    path = tmp_path / "record.jsonl"
    for row_number, place in draw.sample(places, min(35, len(places))):
        value = draw.choice([None, [], {}, "", "#x", -1, 1e308, True, "inf"])
        lines = list(written[of])
        lines[row_number] = change(lines[row_number], *place, to=value)
        path.write_text("".join(f"{line}\n" for line in lines))
        for command in commands(of, path, tmp_path):
            assert invoke(command) in (0, 1, 2), (row_number, place, value, command)
            assert "defect" not in capsys.readouterr().err


def test_the_name_of_the_exception_stands_where_no_schema_is_broken(
    written: dict[str, list[str]],
    toys: registry.Registry,
    tmp_path: Path,
    capsys: Captured,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def stumble(*_: object, **__: object) -> None:
        raise ZeroDivisionError("in the page")

    path = tmp_path / "record.jsonl"
    path.write_text("".join(f"{line}\n" for line in written["run"]))
    monkeypatch.setattr("verify.runs.publish.publish", stumble)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert invoke(["report", str(path), "-o", str(tmp_path / "x.pdf")]) == 2
    printed = capsys.readouterr().err
    assert (
        f"record must be as pdp-verify wrote it, got record={path} (ZeroDivisionError, details in {tmp_path}" in printed
    )


def test_a_day_that_is_none_leaves_a_report_undated(written: dict[str, list[str]], tmp_path: Path) -> None:
    (tmp_path / "audit.jsonl").write_text("\n".join(written["run"]))
    for text, expected in (
        ('{"finished": "soon", "host": 1}', {"host": 1}),
        ('{"finished": "2026-11-22T09:00:00+00:00"}', {"finished": "2026-11-22T09:00:00+00:00"}),
        (DEEP, {}),
        ("[]", {}),
    ):
        (tmp_path / "run.json").write_text(text)
        assert records.read_run(tmp_path) == expected


def test_line_ends_inside_a_text_do_not_end_a_line(written: dict[str, list[str]], tmp_path: Path) -> None:
    lines = [
        change(line, "title", to="a\u2028b\x85c") if '"statement"' in line[:25] else line for line in written["run"]
    ]
    path = tmp_path / "audit.jsonl"
    path.write_text("\n".join(json.dumps(json.loads(line), ensure_ascii=False) for line in lines), encoding="utf-8")
    assert records.read(path).statements[0]["title"] == "a\u2028b\x85c"


@pytest.mark.parametrize("version", [1, 3])
def test_a_record_of_another_version_is_refused_by_its_version(
    written: dict[str, list[str]], tmp_path: Path, version: int
) -> None:
    path = tmp_path / "audit.jsonl"
    path.write_text("\n".join([change(written["run"][0], "schema_version", to=version), *written["run"][1:]]))
    with pytest.raises(UserError, match=f"^schema_version must be 2, got schema_version={version} in "):
        records.read(path)
