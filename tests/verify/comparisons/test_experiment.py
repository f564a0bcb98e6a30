"""A comparison as tasks: the same rows for any number of workers, nothing done twice, a death and Ctrl-C cost a row."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from concurrent.futures import Future
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rows import for_each

from mechanisms.capabilities import Domain
from mechanisms.data.synthetic import linear_unit_rows
from mechanisms.offers import Offer, Offered, Promise
from verify.comparisons import choice_cell, choice_table, experiment
from verify.comparisons.choice_cell import CellSetting, Contender
from verify.comparisons.choice_data import ChoiceData
from verify.comparisons.experiment import DIED, Course, Experiment
from verify.engine import record
from verify.engine.executors import InProcess, Processes, WorkerDied
from verify.engine.store import Store
from verify.engine.task import Batch
from verify.engine.worker import one_blas_thread
from verify.kernel.rows import Row, dumps
from verify.messages.errors import UserError
from verify.schemas.lines import trouble

ONE = Promise(1.0, 1e-6)


def data(seed: int = 3) -> ChoiceData:
    return ChoiceData(linear_unit_rows(40, 2, noise_sd=0.3, rng=np.random.default_rng(seed)).dataset, "records")


def small(*methods: str, **more: Any) -> Experiment:
    chosen = methods or ("trivial", "non-private", "SSP", "AdaSSP")
    return Experiment(data(), "squared", (ONE, Promise(0.1, 1e-6)), chosen, folds=3, draws=2, **more)


def text(rows: tuple[Row, ...]) -> str:
    return "\n".join(map(dumps, rows))


def test_the_rows_are_the_same_for_one_worker_and_for_two() -> None:
    with one_blas_thread():
        one, two = Course(small()).run(InProcess()), Course(small()).run(Processes(2))
    assert one.complete
    assert len(one.rows) == 2 + 2 * 2 * 2
    assert text(one.rows) == text(two.rows)
    assert one.header == two.header
    for number, row in enumerate((one.header, *one.rows), start=1):
        assert trouble(row, "comparison", number) == ""


def counted(monkeypatch: pytest.MonkeyPatch) -> Counter[str]:
    done: Counter[str] = Counter()

    def decide(setting: CellSetting, line: Contender) -> Row:
        done[line.name] += 1
        return choice_cell.decide(setting, line)

    monkeypatch.setattr(experiment, "decide", decide)
    return done


@pytest.mark.quick
def test_what_is_in_the_store_is_not_done_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    done = counted(monkeypatch)
    with Store(tmp_path / "rows.sqlite") as store:
        first = Course(small("trivial", "SSP"), store).run(InProcess())
    with Store(tmp_path / "rows.sqlite") as store:
        course = Course(small("trivial", "SSP", "AdaSSP"), store)
        second = course.run(InProcess())
        again = Course(small("trivial", "SSP", "AdaSSP"), store).run(InProcess())
    assert set(done.values()) == {1}
    assert course.reused == len(first.rows) == 5
    assert text(second.rows[:5]) == text(first.rows)
    assert text(again.rows) == text(second.rows)
    assert again.seconds == second.seconds


@for_each("change", [{"seed": 1}, {"draws": 3}, {"folds": 4}, {"data": data(4)}])
def test_another_setting_is_another_task(change: dict[str, Any]) -> None:
    given: dict[str, Any] = {"data": data(), "loss": "squared", "promises": (ONE,), "folds": 3, "draws": 2}
    before = {task.key for task in Experiment(**given).tasks()}
    assert len(before) == len(Experiment(**given).lines)
    assert before.isdisjoint(task.key for task in Experiment(**given | change).tasks())


class Deadly(InProcess):
    """Every worker that is given SSP dies."""

    def submit(self, batch: Batch[Any, Any]) -> Future[Any]:
        if any(line.method == "SSP" for line in batch.contents):
            future: Future[Any] = Future()
            future.set_exception(WorkerDied("a worker process died (exit code -9)"))
            return future
        return super().submit(batch)


def test_a_dead_worker_is_a_row_that_is_tried_again(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Store(tmp_path / "rows.sqlite") as store:
        made = Course(small("trivial", "SSP"), store).run(Deadly())
        assert [row["reason"] for row in made.rows] == ["", DIED, DIED, DIED, DIED]
        assert all(trouble(row, "comparison", 2) == "" for row in made.rows)
        course = Course(small("trivial", "SSP"), store)
        healed = course.run(InProcess())
    assert course.reused == 1
    assert text(healed.rows) == text(Course(small("trivial", "SSP")).run(InProcess()).rows)
    assert "tried again" in capsys.readouterr().err


def test_ctrl_c_keeps_what_was_done(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def offered(loss: str) -> Iterator[Offer]:
        def stop(loss: str, domain: Domain, promise: Promise) -> Offered:
            raise KeyboardInterrupt

        return iter([Offer("Toy", "published", stop, ("squared",), "none")])

    monkeypatch.setattr(choice_cell, "offers", offered)
    with Store(tmp_path / "rows.sqlite") as store:
        course = Course(small("trivial", "non-private", "Toy"), store)
        made = course.run(InProcess())
        assert course.interrupted
        assert [row["method"] for row in made.rows] == ["trivial", "non-private"]
        assert (made.complete, made.header["cells_done"], made.header["cells"]) == (False, 2, 4)
        assert len(store.keys()) == 2


class Told:
    """It keeps what it is told."""

    def __init__(self) -> None:
        self.begun: list[int] = []
        self.done = 0

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        self.begun.append(n_tasks)

    def advance(self, name: str, n_tasks: int = 1) -> None:
        self.done += n_tasks


def test_whoever_follows_is_told_what_is_left() -> None:
    told = Told()
    made = Course(small(), watcher=told).run(InProcess())
    assert told.begun[0] == len(made.rows)
    assert told.begun[-1] >= told.done > 0


@for_each(
    ("change", "words"),
    [
        ({"folds": 1}, "folds must be at least 2"),
        ({"folds": 41}, "folds must be at least 2 and at most the number of records, got folds=41"),
        ({"draws": 0}, "draws must be at least 1"),
        ({"seed": -1}, "seed must be at least 0"),
        ({"methods": ("OPs",)}, "methods must be of trivial, non-private"),
        ({"promises": ()}, "promises must be given"),
        ({"loss": "hinge"}, "loss must be squared or logistic"),
        ({"loss": "logistic", "as_run": True}, "as_run must be left out"),
    ],
)
def test_a_mistake_is_one_line(change: dict[str, Any], words: str) -> None:
    given: dict[str, Any] = {"data": data(), "loss": "squared", "promises": (ONE,)}
    with pytest.raises(UserError, match=words):
        Experiment(**given | change)


def test_record_and_table_hold_the_same_rows(tmp_path: Path) -> None:
    made = Course(small()).run(InProcess())
    path = tmp_path / "comparison.jsonl"
    choice_table.write(made, path, private=True)
    assert path.stat().st_mode & 0o077 == 0
    read = choice_table.read(tmp_path)
    assert (read.header, read.rows) == (made.header, made.rows)
    frame, bare = made.frame(), read.frame()
    assert list(frame.columns) == list(choice_table.COLUMNS)
    assert frame.drop(columns="seconds").equals(bare.drop(columns="seconds"))
    assert (frame["seconds"] > 0).all()
    assert bare["seconds"].isna().all()
    assert frame["error"].dtype == float
    assert (frame["way"].iloc[0], frame["neighbours"].iloc[0]) == ("", "")
    choice_table.write_tables(made, [tmp_path / "t.csv", tmp_path / "t.parquet"], private=False)
    import pandas as pd

    csv = pd.read_csv(tmp_path / "t.csv", keep_default_na=True)
    assert csv["error"].to_numpy() == pytest.approx(frame["error"].to_numpy(), rel=1e-15)
    assert pd.read_parquet(tmp_path / "t.parquet").equals(frame)
    with pytest.raises(UserError, match=r"table must end in \.csv or \.parquet"):
        choice_table.check_table(tmp_path / "t.xlsx")


def test_who_reads_other_records_refuses_it_in_a_line(tmp_path: Path) -> None:
    made = Course(small("trivial")).run(InProcess())
    path = tmp_path / "comparison.jsonl"
    choice_table.write(made, path, private=False)
    with pytest.raises(UserError, match="record must be that of a run, got a comparison in"):
        record.read(tmp_path)
    for other in ("calibration", "certificate", "sweep"):
        with pytest.raises(UserError, match=f"record must begin with the header of a {other}"):
            record.checked_rows(path, other)
    path.write_text(path.read_text().replace('"schema_version":1', '"schema_version":9'), encoding="utf-8")
    with pytest.raises(UserError, match="schema_version must be 1, got schema_version=9"):
        choice_table.read(tmp_path)


def test_the_folds_give_an_interval_that_covers() -> None:
    """Null: the interval holds the true error of predicting 0, here 1/3, with probability 0.95; 400 data sets.

    Fewer than 365 of 400 have a probability below 1e-3 under it.
    """
    held = 0
    for seed in range(400):
        rng = np.random.default_rng(seed)
        made = linear_unit_rows(600, 2, noise_sd=0.3, rng=rng).dataset
        uniform = type(made)(made.X, rng.uniform(-1, 1, 600), 1.0, 1.0)
        row = choice_cell.decide(
            CellSetting(ChoiceData(uniform, "records"), "squared", 6, 1, seed), Contender("trivial", "", None)
        )
        held += row["error_low"] <= 1 / 3 <= row["error_high"]
    assert held >= 365
