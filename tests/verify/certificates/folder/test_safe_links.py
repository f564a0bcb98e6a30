"""No writer of ours follows a link that somebody laid where it writes."""

from __future__ import annotations

from pathlib import Path

import pytest

from verify.engine.store import Store
from verify.messages.errors import UserError


@pytest.mark.parametrize("there", [True, False])
def test_a_store_that_is_a_link_is_refused(there: bool, tmp_path: Path) -> None:
    """SQLite would take an empty file for a store of its own, or make one where the link points."""
    victim = tmp_path / "victim"
    if there:
        victim.touch()
    (tmp_path / "store.sqlite").symlink_to(victim)
    with pytest.raises(UserError, match=r"^store must be a file, got store=.*store\.sqlite \(a link\)"):
        Store(tmp_path / "store.sqlite")
    assert victim.exists() is there
    assert not there or victim.read_bytes() == b""
    assert sorted(path.name for path in tmp_path.iterdir()) == ["store.sqlite"] + ["victim"] * there
