"""A sweep: every cell once, resumed after anything, crashes recorded, differing workers refused."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest
from toys.sweeps import Here, Listener, light_grid

from reports.row import Table
from verify.engine.store import Store
from verify.messages.errors import Defect
from verify.sweeps.grid import read_grid
from verify.sweeps.sweep_pages import Tally, document, exit_code, tally
from verify.sweeps.sweep_run import Sweep, export, flat, rows

CELLS = 48


def sweep(folder: Path, store: Store, listener: Listener | None = None) -> Sweep:
    return Sweep(read_grid(light_grid(folder)), store, listener or Listener())


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    folder = tmp_path_factory.mktemp("undisturbed")
    with Store(folder / "s.sqlite") as store:
        work = sweep(folder, store)
        work.run(Here())
        export(work, folder / "table.jsonl")
    return (folder / "table.jsonl").read_bytes()


def headline(work: Sweep, found: Tally) -> str:
    summary = document(work, found, date="").summary
    assert summary is not None
    return summary.title


def table(work: Sweep, folder: Path) -> bytes:
    export(work, folder / "table.jsonl")
    return (folder / "table.jsonl").read_bytes()


def test_every_cell_has_one_row_in_the_order_of_the_grid(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        listener, here = Listener(), Here()
        work = sweep(tmp_path, store, listener)
        work.run(here)
        assert work.counts.total() == len(set(here.names)) == len(here.names) == CELLS
        assert [row["cell"] for row in rows(work)] == list(work.grid.cells())
        assert here.closed == 1
        assert listener.estimates[0][0] <= CELLS
        assert math.isfinite(listener.estimates[0][1] or 0.0)
        assert max(here.sizes) > 1
        counted = [int(part.split()[0]) for part in listener.last.split(", ")]
        assert sum(counted) == listener.done == listener.estimates[0][0]  # of the cells that it was told are left
        again = Here()
        work.run(again)
        assert again.names == []


def test_rows_do_not_depend_on_slots_or_batches(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(slots=7))
        assert table(work, tmp_path) == undisturbed


def test_interrupted_sweep_keeps_what_is_done_and_resumes(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store, Listener(stop_after=20))
        here = Here()
        work.run(here)
        assert work.interrupted
        assert here.closed == 1
        assert exit_code(work, tally(work).counts) == 130
        done = len(store.keys())
        assert 20 <= done < CELLS
        work = sweep(tmp_path, store)
        here = Here()
        work.run(here)
        assert len(here.names) == CELLS - done
        assert table(work, tmp_path) == undisturbed


def test_cells_not_reached_in_time_stay_absent(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(), max_time=1e-9)
        assert work.timed_out
        assert len(store.keys()) < CELLS
        assert headline(work, tally(work)).startswith("Incomplete")
        work = sweep(tmp_path, store)
        work.run(Here())
        assert table(work, tmp_path) == undisturbed


def test_a_cell_that_kills_its_worker_is_recorded_and_the_others_are_decided(
    undisturbed: bytes, tmp_path: Path
) -> None:
    deadly = "mechanism=gaussian-printed, loss=squared, n=10, dim=2, conditioning=1.0, seed=0, target=member"
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here(deadly=deadly))
        assert len(store.keys()) == CELLS
        crashed = [row for row in rows(work) if row["error"]]
        assert [row["cell"]["epsilon"] for row in crashed] == [0.5, 1.0, 2.0, 4.0]
        assert {row["error"]["type"] for row in crashed} == {"WorkerDied"}
        found = tally(work)
        assert found.counts["ERROR"] == 4
        assert exit_code(work, found.counts) == 4
        assert headline(work, found).startswith("Incomplete")
        here = Here()
        work.run(here)
        assert here.names == []  # a crash is tried again only when asked
        work.run(here, retry_failed=True)
        assert len(here.names) == 4
        assert table(work, tmp_path) == undisturbed
        work.run(here, retry_failed=True)
        assert len(here.names) == 4  # a verdict never is


def test_batch_that_reached_a_differing_worker_is_handed_in_again(undisturbed: bytes, tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        here = Here(different=3)
        work.run(here)
        assert here.refusals == 3
        assert table(work, tmp_path) == undisturbed


def test_any_other_exception_of_a_batch_is_a_defect_of_ours(tmp_path: Path) -> None:
    with Store(tmp_path / "s.sqlite") as store, pytest.raises(Defect, match="what is done is kept") as stop:
        sweep(tmp_path, store).run(Here(broken="no such thing"))
    assert "RuntimeError: no such thing" in str(stop.value)


def test_cells_of_another_process_are_not_decided_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The second sweep planned all cells before the first one began; it looks again before each batch."""
    with Store(tmp_path / "s.sqlite") as store:
        first, second = sweep(tmp_path, store), sweep(tmp_path, store)
        places = second.missing(retry_failed=False)
        first.run(Here())
        monkeypatch.setattr(second, "missing", lambda *, retry_failed: places)
        here = Here()
        second.run(here)
        assert len(here.names) <= 12  # the pilot
        assert len(store.keys()) == CELLS


def test_summary_tells_where_it_breaks_and_where_it_is_tight(undisturbed: bytes, tmp_path: Path) -> None:
    found = [json.loads(line) for line in undisturbed.decode().splitlines()]
    assert (found[0]["complete"], found[0]["cells"]) == (True, CELLS)
    columns = [flat(row) for row in found[1:]]
    failing = [each for each in columns if each["outcome"] == "FAILS"]
    assert failing
    assert all(each["log10_ratio"] > 0 for each in failing)
    assert all(each["log10_ratio"] <= 0 for each in columns if each["outcome"] == "HOLDS")
    assert {each["mechanism"] for each in columns if each["outcome"] == "OUT_OF_DOMAIN"} >= {"objective-perturbation"}
    with Store(tmp_path / "s.sqlite") as store:
        work = sweep(tmp_path, store)
        work.run(Here())
        paper = document(work, tally(work), date="2031-12-31")
    assert paper.summary is not None
    assert paper.summary.title == "The claim breaks in some cells"
    maps = [block for section in paper.sections for block in section.blocks if type(block).__name__ == "HeatMap"]
    assert len(maps) == 4
    worst = paper.sections[-1].blocks[0]
    assert isinstance(worst, Table)
    ratios = [each["log10_ratio"] for each in columns if not math.isnan(each["log10_ratio"])]
    assert len(worst.rows) == min(25, len(ratios))
