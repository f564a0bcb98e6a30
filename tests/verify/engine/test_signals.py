"""Ctrl-C, SIGTERM and SIGKILL mean the same in every command: what is done is kept, and the end is the same."""

from __future__ import annotations

import json
import signal
from functools import partial
from pathlib import Path

import pytest
from toys.deployments import DATA, dp, imported, section, write_uniform
from toys.processes import PATIENCE, alive, children, finish, rows_in, start, until

from verify.engine.record import read

pytestmark = pytest.mark.slow
ENDS = [signal.SIGINT, signal.SIGTERM, signal.SIGKILL]
RUN = ["W19-L2.4", "W18-L6", "--profile", "standard", "--jobs", "2"]
MECHANISM = """
class Noise:
    name = "noise"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.y.sum() + 5.0 * rng.standard_normal((n_draws, 1))
"""


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    finish(start([*RUN, "--out", folder / "out"], log=folder / "log", command="run"), folder / "log", codes=(0,))
    return (folder / "out" / "audit.jsonl").read_bytes()


@pytest.mark.parametrize("end", ENDS)
def test_a_run_is_kept_and_resumed(end: signal.Signals, undisturbed: bytes, tmp_path: Path) -> None:
    log, out = tmp_path / "log", tmp_path / "out"
    process = start([*RUN, "--out", out], log=log, command="run")
    until(lambda: rows_in(out / "store.sqlite") >= 20, process)
    workers = children(process.pid)
    process.send_signal(end)
    code = process.wait(timeout=PATIENCE)
    until(partial(_gone, workers))
    kept = rows_in(out / "store.sqlite")
    assert kept >= 20
    if end is signal.SIGKILL:
        assert not (out / "audit.jsonl").exists()
    else:
        assert code == 130, log.read_text()
        assert "Traceback" not in log.read_text()
        assert not read(out).header["complete"]
        assert "\nnext    pdp-verify run " in log.read_text()
    finish(start([*RUN, "--out", out, "--resume"], log=log, command="run"), log, codes=(0,))
    assert (out / "audit.jsonl").read_bytes() == undisturbed
    assert json.loads((out / "run.json").read_text())["reused_rows"] == kept


def _gone(processes: list[int]) -> bool:
    return not any(alive(process) for process in processes)


@pytest.mark.parametrize("end", ENDS)
def test_a_certificate_is_made_whole_or_not_at_all(
    end: signal.Signals, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "mine.py").write_text(MECHANISM)
    configuration = DATA + imported("mine.py:Noise") + dp(30.0, 0.5)
    (tmp_path / "c.toml").write_text(configuration + section("[budget]", profile="quick", pairs=6, draws=20_000))
    write_uniform(tmp_path)
    monkeypatch.chdir(tmp_path)
    log = tmp_path / "log"
    process = start(["c.toml", "--jobs", "2", "--out", "out"], log=log, command="certify")
    until(lambda: bool(process.poll() is None and children(process.pid)), process)
    workers = children(process.pid)
    process.send_signal(end)
    code = process.wait(timeout=PATIENCE)
    until(partial(_gone, workers))
    assert workers
    assert not (tmp_path / "out" / "curator" / "attestation.json").exists()
    if end is not signal.SIGKILL:
        assert code == 130, log.read_text()
        assert log.read_text().splitlines()[-2:] == [
            "error: interrupted",
            "next    pdp-verify certify c.toml --jobs 2 --out out",
        ]
    for out in ("out", "fresh"):
        finish(start(["c.toml", "--jobs", "1", "--out", out], log=log, command="certify"), log, codes=(3,))
    again, fresh = ((tmp_path / out / "curator" / "audit.jsonl").read_bytes() for out in ("out", "fresh"))
    assert again == fresh


@pytest.mark.quick
@pytest.mark.parametrize("end", [signal.SIGTERM])
def test_a_sweep_takes_sigterm_for_ctrl_c(end: signal.Signals, tmp_path: Path) -> None:
    from toys.processes import write_grid

    cells = write_grid(tmp_path / "grid.toml", 24)
    log = tmp_path / "log"
    process = start([tmp_path / "grid.toml", "--jobs", "2"], log=log)
    until(lambda: rows_in(tmp_path / "grid.sqlite") >= 100, process)
    process.send_signal(end)
    finish(process, log, codes=(130,))
    assert 100 <= rows_in(tmp_path / "grid.sqlite") < cells
