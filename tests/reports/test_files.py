"""Files are written whole or not at all."""

import os
import stat

import pytest

from reports.files import write_atomic


def test_writes_and_replaces(tmp_path):
    path = tmp_path / "a.bin"
    write_atomic(path, b"one")
    write_atomic(str(path), b"two")
    assert path.read_bytes() == b"two"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", fail)
    with pytest.raises(OSError, match=r"No space left on device.*a\.bin"):
        write_atomic(path, b"new")
    assert path.read_bytes() == b"old"
    assert [entry.name for entry in tmp_path.iterdir()] == ["a.bin"]


def test_missing_folder_is_named(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"nowhere.a\.bin"):
        write_atomic(tmp_path / "nowhere" / "a.bin", b"")


def test_permissions(tmp_path):
    write_atomic(tmp_path / "a.bin", b"", mode=0o600)
    assert stat.S_IMODE((tmp_path / "a.bin").stat().st_mode) & 0o077 == 0
