"""Files are written whole or not at all, folders are no links."""

import os
import stat

import pytest

from reports.files import make_folder, write_atomic


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


def test_a_link_is_replaced_and_never_followed(tmp_path):
    victim = tmp_path / "victim"
    victim.write_bytes(b"theirs")
    (tmp_path / "in").mkdir()
    for name, target in {"link": victim, "dangling": tmp_path / "new", "loop": tmp_path / "in" / "loop"}.items():
        path = tmp_path / "in" / name
        path.symlink_to(target)
        write_atomic(path, b"ours")
        assert path.read_bytes() == b"ours"
        assert not path.is_symlink()
    assert victim.read_bytes() == b"theirs"
    assert not (tmp_path / "new").exists()


def test_what_is_no_file_is_not_replaced(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "link").symlink_to(tmp_path / "pipe")
    (tmp_path / "folder").mkdir()
    for name in ("pipe", "link", "folder"):
        with pytest.raises(OSError, match=rf"no file that can be replaced.*{name}"):
            write_atomic(tmp_path / name, b"")
    assert (tmp_path / "link").is_symlink()
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["folder", "link", "pipe"]


def test_a_folder_is_made_or_taken(tmp_path):
    plain, private = tmp_path / "a" / "b", tmp_path / "a" / "c"
    assert make_folder(plain, private=False) == plain
    make_folder(plain, private=False)
    before = os.umask(0o022)
    try:
        make_folder(private, private=True)
    finally:
        os.umask(before)
    assert stat.S_IMODE(private.stat().st_mode) == 0o700
    os.chmod(plain, 0o2755)
    make_folder(plain, private=True)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o2700
    make_folder(plain, private=False)
    assert stat.S_IMODE(plain.stat().st_mode) == 0o2700
    (tmp_path / "reached").symlink_to(tmp_path / "a")
    make_folder(tmp_path / "reached" / "c", private=True)  # above the last part, links are followed


@pytest.mark.parametrize("private", [False, True])
def test_a_link_or_a_file_is_no_folder(private, tmp_path):
    (tmp_path / "theirs").mkdir(mode=0o755)
    (tmp_path / "link").symlink_to(tmp_path / "theirs")
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    (tmp_path / "file").write_bytes(b"")
    for name in ("link", "dangling", "file"):
        with pytest.raises(NotADirectoryError, match=rf"a link or a file, not a folder.*{name}"):
            make_folder(tmp_path / name, private=private)
    assert stat.S_IMODE((tmp_path / "theirs").stat().st_mode) & 0o077
    assert not (tmp_path / "nowhere").exists()


@pytest.mark.parametrize("owner", ["this user", "another"])
def test_rights_that_cannot_be_taken_matter_in_the_folder_of_somebody_else(owner, tmp_path, monkeypatch):
    """A file system without permissions is left alone; a folder that somebody else laid out is not used."""
    folder = tmp_path / "laid-out"
    folder.mkdir(mode=0o755)

    def refused(*_):
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(os, "fchmod", refused)
    if owner == "this user":
        make_folder(folder, private=True)
    else:
        monkeypatch.setattr(os, "geteuid", lambda: folder.stat().st_uid + 1)
        with pytest.raises(PermissionError, match=r"a folder of somebody else.*laid-out"):
            make_folder(folder, private=True)
    assert stat.S_IMODE(folder.stat().st_mode) & 0o077
