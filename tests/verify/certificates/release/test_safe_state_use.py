"""The folder of private releases in use: with a file of one's own, by a link, dry, and by several at once."""

from __future__ import annotations

import hashlib
import json
import threading
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
    with pytest.raises(UserError, match="--dry-run must not draw a private release"):
        prepared(tmp_path, dry=True)
    assert not (tmp_path / "d.releases").exists()
    drawn = prepared(tmp_path, TOML.replace("sigma2 = 8.0\nsigma3 = 0.25\n", ""))
    with pytest.raises(UserError, match="--dry-run must not draw a private release"):
        prepared(tmp_path, dry=True)
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
