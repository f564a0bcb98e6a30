"""The folder of private releases: what is there is what was sealed, and nothing is drawn silently or uncounted."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from pathlib import Path

import pytest
from drawn import TOML, entries, prepared

from verify.certificates.config.config import load
from verify.certificates.release import release_state, releases
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
