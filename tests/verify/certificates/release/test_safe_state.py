"""The folder of private releases: what is there is what was sealed; nothing is drawn silently, however it is used."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from drawn import DATA, TOML, entries, prepared

from mechanisms import Dataset
from verify.certificates.config.config import load
from verify.certificates.release import release_state, releases
from verify.engine.held import held
from verify.messages.errors import UserError


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


def of_before(folder: Path) -> Path:
    """Make a state as it was before there were a lock, digests and numbers of draws."""
    prepared(folder)
    kept = folder / "d.releases"
    (kept / ".lock").unlink()
    kept.chmod(0o755)
    (kept / "output.json").write_text((kept / "output.json").read_text().replace('"draw": 1, ', ""))
    spent = [{key: each for key, each in entry.items() if key != "sha256"} for entry in entries(folder)]
    (kept / "spent.json").write_text(json.dumps(spent))
    return kept


# --- sealed, and what came before -------------------------------------------------------------------------------------


def test_every_draw_is_sealed_with_what_was_written(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    kept = tmp_path / "d.releases"
    before = [digest(kept / "output.json"), digest(kept / "report.json")]
    assert [entry["sha256"] for entry in entries(tmp_path)] == before
    again = prepared(tmp_path, draw_again=True)
    after = [digest(kept / "output.json"), digest(kept / "report.json")]
    assert [entry["sha256"] for entry in entries(tmp_path)] == before + after
    assert (first.digest, again.digest) == (before[0], after[0])
    assert list(again.chain) == releases.chain(load(tmp_path / "d.toml")) == release_state.read_chain(kept)
    assert kept.stat().st_mode & 0o077 == 0
    output = json.loads((kept / "output.json").read_bytes())
    assert output["draw"] == 2
    assert releases.output_bytes(output["mechanism"], output["output"], 2) == (kept / "output.json").read_bytes()


def test_what_others_keep_there_is_left_alone(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    (tmp_path / "d.releases" / "notes").mkdir()
    (tmp_path / "d.releases" / "README").write_text("mine")
    assert prepared(tmp_path).digest == first.digest
    assert (tmp_path / "d.releases" / "README").read_text() == "mine"


def test_nothing_drawn_is_an_empty_chain(tmp_path: Path) -> None:
    (tmp_path / "d.toml").write_text(TOML)
    assert releases.chain(load(tmp_path / "d.toml")) == []
    assert not (tmp_path / "d.releases").exists()


def test_a_state_of_before_is_used_and_sealed(tmp_path: Path) -> None:
    kept = of_before(tmp_path)
    written = {name: (kept / name).read_bytes() for name in ("output.json", "report.json")}
    found = prepared(tmp_path)
    assert {name: (kept / name).read_bytes() for name in written} == written
    assert (found.n_outputs, len(found.mu_reports)) == (1, 1)
    assert [entry["sha256"] for entry in entries(tmp_path)] == [digest(kept / name) for name in written]
    assert kept.stat().st_mode & 0o077 == 0


def test_a_state_of_before_that_was_stopped_between_its_two_writes_is_counted(tmp_path: Path) -> None:
    kept = of_before(tmp_path)
    (kept / "spent.json").unlink()
    data = (kept / "output.json").read_bytes()
    assert prepared(tmp_path).n_outputs == 1
    assert (kept / "output.json").read_bytes() == data
    assert [entry["what"] for entry in entries(tmp_path)] == ["output", "report"]


def test_a_count_without_a_file_of_before_is_drawn_and_counted_again(tmp_path: Path) -> None:
    kept = of_before(tmp_path)
    (kept / "output.json").unlink()
    (kept / "report.json").unlink()
    assert (prepared(tmp_path).n_outputs, len(entries(tmp_path))) == (2, 4)


def test_a_second_draw_that_was_stopped_before_its_report_is_finished(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The report that is kept is about the first output: another is drawn, counted, and about the second."""
    prepared(tmp_path)

    def stopped(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(releases, "make_report", stopped)
        with pytest.raises(KeyboardInterrupt):
            prepared(tmp_path, draw_again=True)
    found = prepared(tmp_path)
    assert found.output is not None
    assert found.dependent is not None
    assert found.dependent.theta == tuple(found.output.tolist())
    assert (found.n_outputs, len(found.mu_reports)) == (2, 3)


# --- damaged ----------------------------------------------------------------------------------------------------------


def link(path: Path) -> None:
    path.rename(path.with_name("elsewhere"))
    path.symlink_to(path.with_name("elsewhere"))


def folder_instead(path: Path) -> None:
    path.unlink()
    path.mkdir()


def older(path: Path) -> None:
    path.write_bytes(path.read_bytes().replace(b"]", b", 1.0]"))


DAMAGE: list[tuple[str, str | Callable[[Path], None], str]] = [
    ("spent.json", "junk", "spent.json must be the list of draws as it was written"),
    ("spent.json", "", "spent.json must be the list of draws as it was written"),
    ("spent.json", "\xff", "spent.json must be the list of draws as it was written"),
    ("spent.json", "[" * 100_000, "spent.json must be the list of draws as it was written"),
    ("spent.json", "{}", "spent.json must be the list of draws as it was written"),
    ("spent.json", "[]", "spent.json must list every draw"),
    ("spent.json", '[{"what": "report"}]', "spent.json must be the list of draws as it was written"),
    ("spent.json", '[{"what": "report", "mu": NaN}]', "spent.json must be the list of draws as it was written"),
    ("spent.json", '[{"what": "output", "mechanism": 1}]', "spent.json must be the list of draws as it was written"),
    ("spent.json", '[{"what": "cake", "mechanism": "x"}]', "spent.json must be the list of draws as it was written"),
    ("spent.json", '[{"what": "output", "mechanism": "x", "sha256": "0"}]', "spent.json must be the list of draws"),
    ("spent.json", link, "spent.json must be a file, got a link"),
    ("spent.json", folder_instead, "spent.json must be a file, got something else"),
    ("spent.json", Path.unlink, "spent.json must list every draw, got fewer than the output in d.releases/output.json"),
    ("output.json", "junk", "output.json must be the file whose digest spent.json holds, got another"),
    ("output.json", older, "output.json must be the file whose digest spent.json holds, got another"),
    ("output.json", Path.unlink, "output.json must be there, for it was drawn, got no such file"),
    ("output.json", link, "output.json must be a file, got a link"),
    ("output.json", folder_instead, "output.json must be a file, got something else"),
    ("report.json", "junk", "report.json must be the file whose digest spent.json holds, got another"),
    ("report.json", Path.unlink, "report.json must be there, for it was drawn, got no such file"),
    ("report.json", link, "report.json must be a file, got a link"),
    (".lock", link, ".lock must be a file, got a link"),
    ("", link, "d.releases must be a folder, got a link"),
]


def hurt(path: Path, how: str | Callable[[Path], None]) -> None:
    if isinstance(how, str):
        path.write_bytes(how.encode("latin-1"))
    else:
        how(path)


@pytest.mark.parametrize("dry", [False, True])
@pytest.mark.parametrize(("name", "how", "words"), DAMAGE)
def test_damage_is_one_line_and_never_another_draw(
    name: str, how: str | Callable[[Path], None], words: str, dry: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    prepared(tmp_path)
    hurt(tmp_path / "d.releases" / name, how)
    before = {path: path.read_bytes() for path in tmp_path.rglob("*.json") if path.is_file()}

    def drawn(*_: object, **__: object) -> None:
        raise AssertionError("drawn")

    monkeypatch.setattr(releases, "draw_as_audited", drawn)
    monkeypatch.setattr(releases, "make_report", drawn)
    with pytest.raises(UserError, match=words) as stop:
        prepared(tmp_path, dry=dry)
    assert "\n" not in str(stop.value)
    assert {path: path.read_bytes() for path in tmp_path.rglob("*.json") if path.is_file()} == before


@pytest.mark.parametrize("name", ["output.json", "report.json"])
def test_junk_of_before_is_not_sealed(name: str, tmp_path: Path) -> None:
    kept = of_before(tmp_path)
    (kept / name).write_text('{"format": "pdp-verify release", "mechanism": "x", "output": [1e999]}')
    spent = (kept / "spent.json").read_bytes()
    with pytest.raises(UserError, match=f"d.releases/{name} must be "):
        prepared(tmp_path)
    if name == "output.json":
        assert (kept / "spent.json").read_bytes() == spent
    assert not [entry for entry in entries(tmp_path) if entry["what"] == name[:6] and "sha256" in entry]


def test_what_is_gone_is_drawn_again_when_asked(tmp_path: Path) -> None:
    prepared(tmp_path)
    (tmp_path / "d.releases" / "output.json").unlink()
    assert prepared(tmp_path, draw_again=True).n_outputs == 2


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "d.releases").write_text("")
    with pytest.raises(UserError, match=r"^d\.releases must be a folder, got a file$"):
        prepared(tmp_path)


def test_a_folder_that_cannot_be_written_draws_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A full disk from the first byte on: one line, and nothing was drawn."""

    def full(path: Path, *_: object, **__: object) -> None:
        raise OSError(28, "No space left on device", str(path))

    monkeypatch.setattr(release_state, "write_atomic", full)
    monkeypatch.setattr(releases, "draw_as_audited", lambda *_: pytest.fail("drawn"))
    with pytest.raises(UserError, match=r"got No space left on device \(.*spent\.json\); the same command goes on"):
        prepared(tmp_path)


def test_a_draw_that_is_refused_counts_and_leaves_what_a_good_one_leaves_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refused(*_: object) -> None:
        raise UserError("release.draw must be false for a mechanism that gives no vectors, got ValueError")

    monkeypatch.setattr(releases, "draw_as_audited", refused)
    with pytest.raises(UserError, match=r"got ValueError; the attempt is counted in d\.releases/spent\.json$"):
        prepared(tmp_path)
    assert [entry["what"] for entry in entries(tmp_path)] == ["output"]


# --- a file of the user's own -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("mine", ["the kept one", "the first one", "its numbers", "another"])
def test_a_file_of_ones_own_does_not_uncount_what_was_drawn(mine: str, tmp_path: Path) -> None:
    prepared(tmp_path)
    first = (tmp_path / "d.releases" / "output.json").read_bytes()
    again = prepared(tmp_path, draw_again=True)
    assert again.output is not None
    data = {
        "the kept one": (tmp_path / "d.releases" / "output.json").read_bytes(),
        "the first one": first,
        "its numbers": json.dumps(again.output.tolist()).encode(),
        "another": b"[1.0, 2.0]",
    }[mine]
    (tmp_path / "mine.json").write_bytes(data)
    text = TOML.replace("draw = true", 'file = "mine.json"').replace("sigma2 = 8.0\nsigma3 = 0.25\n", "")
    found = prepared(tmp_path, text)
    assert found.n_outputs == (3 if mine == "another" else 2)
    assert found.digest == hashlib.sha256(data).hexdigest()
    assert len(found.mu_reports) == 2


@pytest.mark.parametrize(
    ("name", "data"),
    [
        ("o.npy", b""),
        ("o.npy", b"junk"),
        ("o.npy", b"PK\x05\x06" + bytes(18)),
        ("o.npy", b"\x93NUMPY\x01\x00v\x00{'descr': '<f8', 'fortran_order': False, 'shape': (99999999999999999,), }"),
        ("o.json", b"[" * 100_000),
        ("o.json", b"\xff"),
        ("o.json", b'{"output": [1' + b"0" * 400 + b"]}"),
        ("o.json", b'{"output": {}}'),
    ],
)
def test_junk_for_an_output_is_one_line(name: str, data: bytes, tmp_path: Path) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=rf"^release\.file must be .*got release\.file={name}$"):
        prepared(tmp_path, TOML.replace("draw = true", f'file = "{name}"'))
    assert not (tmp_path / "d.releases").exists()


def test_a_dry_run_draws_and_writes_nothing(tmp_path: Path) -> None:
    foreseen = prepared(tmp_path, dry=True)
    assert (foreseen.output, foreseen.made, foreseen.n_outputs) == (None, ("output", "report"), 1)
    assert not (tmp_path / "d.releases").exists()
    drawn = prepared(tmp_path, TOML.replace("sigma2 = 8.0\nsigma3 = 0.25\n", ""))
    assert prepared(tmp_path, dry=True).made == ("report",)
    prepared(tmp_path)
    before = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "d.releases").glob("*.json")}
    with held(tmp_path / "d.releases", "the folder", wait=0):
        found = prepared(tmp_path, dry=True)
    np.testing.assert_array_equal(found.output, drawn.output)
    after = {path.name: path.stat().st_mtime_ns for path in (tmp_path / "d.releases").glob("*.json")}
    assert after == before


def test_a_report_of_a_loss_without_a_bound_costs_infinitely_much(tmp_path: Path) -> None:
    """Its gradient has no bound over the public domain; the list stays strict JSON, and an old one is read."""
    text = TOML.replace('"logistic"', '"squared"')
    assert prepared(tmp_path, text).mu_report == np.inf
    spent = tmp_path / "d.releases" / "spent.json"
    assert entries(tmp_path)[1]["mu"] == "inf"
    spent.write_text(spent.read_text().replace('"inf"', "Infinity"))
    assert prepared(tmp_path, text).chain[1]["mu"] == "inf"
    assert prepared(tmp_path, text, draw_again=True).mu_report == np.inf
    assert "Infinity" not in spent.read_text()


@pytest.mark.parametrize("how", ["file", "kept"])
def test_an_output_of_another_length_is_refused(how: str, tmp_path: Path) -> None:
    """The columns of the configuration are others than those that the output was made from."""
    prepared(tmp_path)
    (tmp_path / "o.json").write_text("[1.0, 2.0, 3.0]")
    text = TOML.replace("draw = true", 'file = "o.json"') if how == "file" else TOML
    (tmp_path / "d.toml").write_text(text)
    loaded = load(tmp_path / "d.toml")
    data = Dataset(np.full((3, 2 if how == "file" else 1), 0.1), DATA.y, 1.0, 1.0)
    with pytest.raises(UserError, match=r"^the output must hold [12] numbers, one for each column, got .* with [32]$"):
        releases.prepare(loaded, loaded.config.mechanism.build(data.dim), data)


def test_a_link_to_a_configuration_shares_its_draws(tmp_path: Path) -> None:
    first = prepared(tmp_path)
    (tmp_path / "link.toml").symlink_to("d.toml")
    loaded = load(tmp_path / "link.toml")
    again = releases.prepare(loaded, loaded.config.mechanism.build(2), DATA)
    np.testing.assert_array_equal(again.output, first.output)
    assert not (tmp_path / "link.releases").exists()
    (tmp_path / "d.releases").rename(tmp_path / "link.releases")  # as it was before
    with pytest.raises(UserError, match=r"d\.releases must be the one folder of draws of d\.toml, got link\.releases"):
        releases.prepare(loaded, loaded.config.mechanism.build(2), DATA)


# --- several at once --------------------------------------------------------------------------------------------------


def test_who_draws_is_waited_for_and_the_second_reuses_what_it_drew(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The first is held up inside its draw until the second has said that it waits."""
    inside, waits = threading.Event(), threading.Event()
    honest, said = releases.draw_as_audited, []

    def slow(*given: Any) -> Any:
        inside.set()
        assert waits.wait(60)
        return honest(*given)

    def say(_: Path) -> str:
        said.append(1)
        waits.set()
        return "process 1"

    monkeypatch.setattr(releases, "draw_as_audited", slow)
    monkeypatch.setattr("verify.engine.held._holder", say)
    found: list[releases.Released] = []
    first = threading.Thread(target=lambda: found.append(prepared(tmp_path)))
    first.start()
    assert inside.wait(60)
    second = prepared(tmp_path)
    first.join()
    np.testing.assert_array_equal(second.output, found[0].output)
    assert (second.n_outputs, second.dependent) == (1, found[0].dependent)
    assert len(said) == 1
    assert capsys.readouterr().err == "waiting for process 1, which holds d.releases\n"


def test_who_has_waited_too_long_is_told_for_whom(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    prepared(tmp_path)
    monkeypatch.setattr(release_state, "WAIT_SECONDS", 0.2)
    with (
        held(tmp_path / "d.releases", "the folder", wait=0),
        pytest.raises(UserError, match=r"^d\.releases must not be in use by another run, got process \d+ \(started "),
    ):
        prepared(tmp_path)


def test_draws_asked_for_at_once_are_all_counted(tmp_path: Path) -> None:
    prepared(tmp_path)
    found: list[releases.Released] = []
    loaded = load(tmp_path / "d.toml")

    def draw() -> None:
        found.append(releases.prepare(loaded, loaded.config.mechanism.build(2), DATA, draw_again=True))

    threads = [threading.Thread(target=draw) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(each.n_outputs for each in found) == [2, 3, 4, 5]
    assert len({each.digest for each in found}) == 4
    assert {each.digest for each in found} <= {entry.get("sha256") for entry in entries(tmp_path)}
