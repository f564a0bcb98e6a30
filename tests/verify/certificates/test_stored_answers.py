"""Answers of a door are kept for one later process each: under threads, kills, full disks and files of another kind."""

from __future__ import annotations

import os
import sqlite3
import stat
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from toys.deployments import DATA, QUICK, SSP, dp, section

from verify.certificates.certify_call import StoredAnswers, kept_answers
from verify.certificates.config.config import load
from verify.engine.store import Store
from verify.messages.errors import UserError


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "d.draws"


def kept(path: Path, *keys: str, about: str = "") -> dict[str, list[str] | None]:
    """What another process would be given."""
    with StoredAnswers(path, about=about) as answers:
        return {key: answers.get(key) for key in keys}


def test_an_answer_is_for_a_later_process_and_for_it_once(file: Path) -> None:
    with StoredAnswers(file) as answers:
        answers.put("a", ["1", "2"])
        assert answers.get("a") is None  # asked again in this process, it is another draw
        answers.put("a", ["3", "4"])
    with StoredAnswers(file) as answers:
        assert answers.n_draws == 2
        assert answers.get("b") is None
        assert [answers.get("a") for _ in range(2)] == [["1", "2"], None]
        answers.put("b", ["5"])
    with StoredAnswers(file) as answers:
        assert (answers.n_draws, answers.get("b")) == (3, ["5"])


def test_answers_of_another_mechanism_are_neither_counted_nor_given_and_stay(file: Path) -> None:
    with StoredAnswers(file, about="old") as answers:
        answers.put("a", ["1"])
    with StoredAnswers(file, about="new") as answers:
        assert (answers.n_draws, answers.get("a")) == (0, None)
        answers.put("a", ["2"])
    assert kept(file, "a", about="old") == {"a": ["1"]}
    assert kept(file, "a", about="new") == {"a": ["2"]}


#: What a line may hold: characters, and bytes that are no UTF-8 as Python escapes them.
CHARACTERS = st.characters(exclude_categories=["Cs"]) | st.characters(min_codepoint=0xDC80, max_codepoint=0xDCFF)


@settings(max_examples=25)
@given(lines=st.lists(st.text(alphabet=CHARACTERS)))
def test_lines_come_back_as_they_are(lines: list[str], tmp_path_factory: pytest.TempPathFactory) -> None:
    path = tmp_path_factory.mktemp("lines") / "d.draws"
    with StoredAnswers(path) as answers:
        answers.put("a", lines)
    assert kept(path, "a") == {"a": lines}


def test_many_threads_add_and_every_answer_is_on_file_when_its_put_returns(file: Path) -> None:
    with StoredAnswers(file) as answers:

        def add(number: int) -> bool:
            answers.put(str(number), [str(number)] * 3)
            with closing(sqlite3.connect(file)) as other:
                found = other.execute("SELECT key FROM rows WHERE key = ?", [f":{number}"]).fetchall()
            return len(found) == 1

        with ThreadPoolExecutor(8) as pool:
            assert all(pool.map(add, range(200)))
    with StoredAnswers(file) as answers, ThreadPoolExecutor(8) as pool:
        assert answers.n_draws == 600
        found = list(pool.map(answers.get, [str(number % 200) for number in range(800)]))
    assert sorted(line[0] for line in found if line is not None) == sorted(map(str, range(200)))


def test_nobody_else_may_read_it_open_or_closed_and_nothing_is_left_of_it(file: Path) -> None:
    old = os.umask(0)
    try:
        answers = StoredAnswers(file)
        answers.put("a", ["1"])
        parts = sorted(file.parent.iterdir())
        assert [path.name for path in parts] == ["d.draws", "d.draws-shm", "d.draws-wal"]
        assert {stat.S_IMODE(path.stat().st_mode) for path in parts} == {0o600}
        answers.close()
        assert [path.name for path in file.parent.iterdir()] == ["d.draws"]
        file.chmod(0o644)
        answers = StoredAnswers(file)
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    finally:
        os.umask(old)
    answers.remove()
    assert list(file.parent.iterdir()) == []
    answers.put("b", ["2"])  # of a thread that is late
    assert answers.get("b") is None
    answers.remove()
    assert list(file.parent.iterdir()) == []


def test_the_log_of_a_file_that_is_gone_is_not_taken_for_that_of_a_new_one(file: Path) -> None:
    with StoredAnswers(file) as answers:
        answers.put("a", ["1"])
        log = file.with_name("d.draws-wal").read_bytes()
    file.unlink()
    file.with_name("d.draws-wal").write_bytes(log)
    assert kept(file, "a") == {"a": None}


def test_a_full_disk_is_told_once_and_stops_nothing(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with StoredAnswers(file) as answers:
        answers.put("a", ["1"])

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device", str(file))

    told: list[str] = []
    with StoredAnswers(file, tell=told.append) as answers:
        with monkeypatch.context() as patch:
            patch.setattr(Store, "put_texts", full)
            answers.put("b", ["2"])
            answers.put("c", ["3"])
        answers.put("d", ["4"])
        assert answers.get("a") == ["1"]
    assert told == [f"note: draws are not kept in {file} any more (No space left on device)"]
    assert kept(file, "a", "b", "c", "d") == {"a": ["1"], "b": None, "c": None, "d": None}


def test_a_folder_that_nobody_may_write_to_is_told_and_stops_nothing(tmp_path: Path) -> None:
    told: list[str] = []
    with StoredAnswers(tmp_path / "gone" / "d.draws", tell=told.append) as answers:
        answers.put("a", ["1"])
        answers.put("b", ["2"])
    assert len(told) == 1
    assert told[0].startswith("note: draws are not kept in ")


def test_nothing_is_written_before_there_is_an_answer(file: Path) -> None:
    with StoredAnswers(file) as answers:
        assert (answers.n_draws, answers.get("a")) == (0, None)
        assert list(file.parent.iterdir()) == []


def test_a_damaged_answer_is_refused_when_it_is_opened_and_asked_again_later(file: Path) -> None:
    def damage() -> None:
        with closing(sqlite3.connect(file)) as db:
            db.execute("UPDATE rows SET rows = replace(rows, '1', '0')")
            db.commit()

    with StoredAnswers(file) as answers:
        answers.put("a", ["1"])
    told: list[str] = []
    with StoredAnswers(file, tell=told.append) as answers:
        damage()
        assert answers.get("a") is None
    assert len(told) == 1
    with pytest.raises(UserError, match="a row is not as it was written"):
        StoredAnswers(file)
    assert [path.name for path in file.parent.iterdir()] == ["d.draws"]


def test_a_file_of_another_kind_is_refused_and_stays(file: Path) -> None:
    file.write_text("my notes\n" * 100)
    with pytest.raises(UserError, match="move it away to begin afresh"):
        StoredAnswers(file)
    assert file.read_text() == "my notes\n" * 100
    file.rename(file.with_name("elsewhere"))
    file.symlink_to("elsewhere")
    with pytest.raises(UserError, match="a link"):
        StoredAnswers(file)


# --- beside a configuration -------------------------------------------------------------------------------------------


def told_of(folder: Path, key: str = "k", *, script: str = "pass", **door: Any) -> tuple[bool, list[str]]:
    """Whether there is an answer beside a configuration by now, which gets one, and what was told."""
    (folder / "release.py").write_text(script, encoding="utf-8")
    given = ({} if "url" in door else {"command": [sys.executable, "release.py"]}) | door
    seed = given.pop("seed", 3)
    text = DATA + section("[mechanism]", **given) + dp(1.0) + section("[budget]", seed=seed)
    (folder / "d.toml").write_text(text, encoding="utf-8")
    told: list[str] = []
    with kept_answers(load(folder / "d.toml"), told.append) as answers:
        assert answers is not None
        found = answers.get("k") is not None
        answers.put("k", ["1.0", "2.0"])
    return found, told


def test_answers_beside_a_configuration_are_of_its_door_as_it_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Another script, url, version, seed, or limit of what is too late: other answers."""
    monkeypatch.chdir(tmp_path)
    goes_on = ["going on with 2 draws (d.draws; delete it to begin afresh)"]
    assert told_of(tmp_path) == (False, [])
    assert told_of(tmp_path) == (True, goes_on)
    assert told_of(tmp_path, timeout=5.0, concurrency=2) == (True, goes_on)
    others: list[dict[str, Any]] = [
        {"script": "pass  # another"},
        {"seed": 4},
        {"timeouts": "output"},
        {"timeouts": "output", "timeout": 5.0},
        {"version": "2"},
    ]
    assert [told_of(tmp_path, **other) for other in others] == [(False, [])] * len(others)
    assert told_of(tmp_path) == (True, goes_on)


def test_a_service_of_another_version_has_other_answers(tmp_path: Path) -> None:
    services = [{"url": "http://127.0.0.1:9/", "version": version} for version in "12"]
    assert [told_of(tmp_path, **service)[0] for service in (*services, *services)] == [False, False, True, True]


def test_a_mechanism_of_ours_has_none(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(DATA + SSP + dp(1.0) + QUICK, encoding="utf-8")
    with kept_answers(load(tmp_path / "d.toml")) as answers:
        assert answers is None


def test_what_was_cut_short_stays_and_says_so(file: Path) -> None:
    told: list[str] = []
    answers = StoredAnswers(file, tell=told.append)
    answers.finish(cut=True)
    assert told == []  # there is nothing
    answers = StoredAnswers(file, tell=told.append)
    answers.put("a", ["1"])
    answers.finish(cut=True)
    assert told == [f"note: the draws so far stay in {file}; certify goes on with them (--overwrite or a new --out)"]
    assert file.exists()
    answers.finish(cut=False)
    assert not file.exists()
