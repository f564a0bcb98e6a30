"""Answers that are kept: a stopped audit goes on with them, and nothing else is taken for them."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from oracles.external.fake_command import command
from oracles.external.fake_server import FakeServer

from audits import CommandMechanism, ServiceMechanism
from audits.external.open_door import occurrences_of, recalled
from audits.external.wire import PREFIX, RequestTexts, command_files, command_identity
from audits.harness.calls import CallEnded, NoAnswer, ProcessExited
from audits.harness.returned import WrongRows
from audits.search.pairs import RawDataset
from mechanisms import Dataset

DATA = Dataset([[0.5], [0.25]], [0.5, 0.75], x_bound=1.0, y_bound=1.0)


def rng(seed: int = 1) -> np.random.Generator:
    return np.random.default_rng(seed)


class Kept:
    """Answers in memory; ``again`` is what another process would find."""

    def __init__(self, kept: dict[str, list[str]] | None = None) -> None:
        self.kept, self.found = dict(kept or {}), 0

    def get(self, key: str) -> list[str] | None:
        self.found += key in self.kept
        return self.kept.get(key)

    def put(self, key: str, lines: list[str]) -> None:
        assert key not in self.kept
        self.kept[key] = json.loads(json.dumps(lines))

    def again(self) -> Kept:
        return Kept(self.kept)


@pytest.fixture
def server() -> Iterator[FakeServer]:
    with FakeServer(seeded=False) as fake:
        yield fake


@pytest.mark.parametrize("reproducible", [True, False])
def test_a_second_process_gets_the_same_answers_and_asks_for_the_others_alone(
    server: FakeServer, reproducible: bool
) -> None:
    first, generator = Kept(), rng()
    mechanism = ServiceMechanism(server.url, reproducible=reproducible, batch=2, answers=first)
    drawn = [mechanism.draw(DATA, 3, rng=generator) for _ in range(3)]
    drawn.append(mechanism.draw(DATA, 2, rng=rng()))  # the first request once more: another occurrence
    assert drawn[3] != drawn[0][:2]
    assert server.count == 7 == len(first.kept)
    generator, second = rng(), first.again()
    other = replace(mechanism, answers=second, concurrency=1, timeout=5.0)
    again = [other.draw(DATA, 3, rng=generator) for _ in range(3)] + [other.draw(DATA, 2, rng=rng())]
    assert (again, server.count, second.found) == (drawn, 7, 7)
    assert other.draw(DATA, 3, rng=generator) not in drawn
    assert server.count == 9


def test_two_doors_with_one_cache_never_take_one_draw_for_two(server: FakeServer) -> None:
    kept = Kept()
    first, second = (ServiceMechanism(server.url, answers=kept) for _ in range(2))
    assert first.draw(DATA, 2, rng=rng()) != second.draw(DATA, 2, rng=rng())
    assert (kept.found, server.count) == (0, 2)


def test_another_data_set_number_seed_url_or_version_is_another_question(server: FakeServer) -> None:
    kept = Kept()
    mechanism = ServiceMechanism(server.url, answers=kept)
    mechanism.draw(DATA, 2, rng=rng())
    moved = Dataset(DATA.X, [0.5, np.nextafter(0.75, 1.0)], x_bound=1.0, y_bound=1.0)
    replace(mechanism, answers=kept.again()).draw(moved, 2, rng=rng())
    replace(mechanism, answers=kept.again()).draw(DATA, 3, rng=rng())
    replace(mechanism, answers=kept.again()).draw(DATA, 2, rng=rng(2))
    replace(mechanism, answers=kept.again(), url=f"{server.url}?b=2").draw(DATA, 2, rng=rng())
    replace(mechanism, answers=kept.again(), version="2").draw(DATA, 2, rng=rng())
    assert server.count == 6
    for same in (DATA.X.copy(), np.asfortranarray(DATA.X)):
        bounds = RawDataset(same, DATA.y.copy(), 2.0, 2.0, name="other")
        replace(mechanism, answers=kept.again()).draw(bounds, 2, rng=rng())
    assert server.count == 6


def test_what_ended_a_call_is_kept_as_what_it_is(server: FakeServer) -> None:
    def ends(mechanism: Any) -> list[CallEnded]:
        found = []
        for again in (False, True):
            kept = mechanism.answers.again() if again else mechanism.answers
            with pytest.raises(CallEnded) as stop:
                replace(mechanism, answers=kept).draw(DATA, 2, rng=rng())
            found.append(stop.value)
        return found

    for fault, words, asked in (("close", "closed", 1), ("500", "HTTP 500", 2)):
        server.change(fault=fault, poison=0.75)
        assert [stop.kind for stop in ends(ServiceMechanism(server.url, answers=Kept()))] == [words] * 2
        assert server.count == asked
    exits = Kept()
    stops = ends(CommandMechanism(command(fault="exit", poison=0.75), answers=exits))
    assert [(type(stop), stop.kind) for stop in stops] == [(ProcessExited, "exit 3")] * 2
    assert list(exits.kept.values()) == [["\nexit 3"]]


def test_no_answer_and_answers_of_another_length_are_not_kept(server: FakeServer) -> None:
    kept = Kept()
    server.change(fault="short", poison=0.75)
    with pytest.raises(WrongRows):
        ServiceMechanism(server.url, answers=kept).draw(DATA, 2, rng=rng())
    server.change(fault="hang")
    with pytest.raises(NoAnswer):
        ServiceMechanism(server.url, answers=kept, timeout=0.1).draw(DATA, 2, rng=rng())
    assert kept.kept == {}
    server.change(fault="hang")
    with pytest.raises(CallEnded, match=r"^timeout$"):
        ServiceMechanism(server.url, answers=kept, timeout=0.1, timeouts="output").draw(DATA, 2, rng=rng())
    assert list(kept.kept.values()) == [["\ntimeout"]]


@given(st.lists(st.binary(min_size=1).map(lambda raw: raw.replace(b"\n", b" ")), max_size=3))
def test_lines_that_were_kept_come_back_byte_for_byte(lines: list[bytes]) -> None:
    kept = json.loads(json.dumps([line.decode("utf-8", "surrogateescape") for line in lines]))
    assert recalled(kept) == lines


def test_occurrences_are_counted_for_one_object_that_keeps_answers() -> None:
    kept = Kept()
    keys = [occurrences_of(kept).key(text) for text in ("a", "a", "b")]
    assert len(set(keys)) == 3
    again = kept.again()
    assert [occurrences_of(again).key(text) for text in ("b", "a", "a")] == [keys[2], keys[0], keys[1]]


def test_a_command_is_its_words_and_the_files_among_them(tmp_path: Path) -> None:
    for name in ("release.R", "table.csv", "Rscript"):
        (tmp_path / name).write_text("1")
    words = ["Rscript", "release.R", "--table", "table.csv", "--out=1", ".", "", "a" * 5000]
    assert set(command_files(words, tmp_path)) == {"release.R", "table.csv"}  # the program is found on the path
    assert set(command_files(["./Rscript", str(tmp_path / "table.csv")], tmp_path)) == {
        "./Rscript",
        str(tmp_path / "table.csv"),
    }
    first = command_identity(words, tmp_path)
    assert first == command_identity(list(words), str(tmp_path))
    assert first != command_identity(words, tmp_path, "2")
    assert first != command_identity([*words, "b"], tmp_path)
    (tmp_path / "release.R").write_text("2")
    assert first != command_identity(words, tmp_path)
    (tmp_path / "release.R").write_text("1")
    (tmp_path / "other").write_text("1")
    assert first == command_identity(words, tmp_path)


def test_files_that_cannot_be_read_are_nobodys_output(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> str:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr("audits.external.wire._file_digest", refuse)
    with pytest.raises(NoAnswer, match=r"^the command's files cannot be read \(Permission denied\)$"):
        CommandMechanism(command(), answers=Kept()).draw(DATA, 1, rng=rng())


def test_records_of_any_type_are_written_and_told_apart() -> None:
    def request(X: Any, y: Any, *, in_files: bool = False) -> tuple[dict[str, Any], str]:
        texts = RequestTexts(in_files=in_files)
        records = texts.of(RawDataset(np.array(X), np.array(y), 1.0, 1.0))
        read = json.loads(records.request(5, 7))
        if in_files:
            read = {"csv": Path(read["csv"]).read_text()}
        texts.close()
        return read, records.digest

    nan, inf = float("nan"), float("inf")
    read, digest = request([[nan, inf], [0.1, -0.0]], [-inf, 1e-300])
    assert repr(read) == repr({"X": [[nan, inf], [0.1, -0.0]], "y": [-inf, 1e-300], "n_draws": 5, "seed": 7})
    assert request([["a", "b"]], [1])[0]["X"] == [["a", "b"]]
    mixed = np.array([["a", np.float64(0.5)], [None, np.int64(2**60)]], dtype=object)
    assert request(mixed, [True, False])[0]["X"] == [["a", 0.5], [None, 2**60]]
    assert len({digest, request([[nan, inf], [0.1, 0.0]], [-inf, 1e-300])[1], request([[1]], [1])[1]}) == 3
    file = request([[nan, inf], [0.1, -2]], [-inf, 1e-300], in_files=True)[0]["csv"]
    assert file == "x1,x2,y\nNaN,Inf,-Inf\n0.1,-2.0,1e-300\n"
    assert request(np.empty((0, 2)), [], in_files=True)[0]["csv"] == "x1,x2,y\n"


def test_texts_are_made_once_for_the_last_few_data_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("audits.external.wire.AT_HAND", 2)
    texts = RequestTexts(in_files=False)
    made = [RawDataset(np.array([[float(i)]]), np.array([0.0]), 1.0, 1.0) for i in range(3)]
    first = texts.of(made[0])
    assert texts.of(made[0]) is first
    for dataset in made[1:]:
        texts.of(dataset)
    assert texts.of(made[0]) is not first
    assert texts.of(made[0]) == first


def test_records_that_a_killed_run_left_are_removed_by_a_later_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    one = RequestTexts(in_files=True)
    one.of(Dataset([[1.0]], [1.0], 1.0, 1.0))
    (held,) = tmp_path.iterdir()
    left, young, other = (tmp_path / name for name in (PREFIX + "left", PREFIX + "young", "other"))
    for folder in (left, young, other):
        folder.mkdir()
        (folder / "a.csv").write_text("x1,y\n")
    for folder in (held, left, other):
        os.utime(folder, (1.0, 1.0))
    two = RequestTexts(in_files=True)
    two.of(Dataset([[1.0]], [1.0], 1.0, 1.0))
    assert not left.exists()
    assert len(list(tmp_path.iterdir())) == 4  # the two that are held, the young one, and what is not ours
    assert held.exists()
    one.close()
    two.close()
    assert set(tmp_path.iterdir()) == {young, other}
