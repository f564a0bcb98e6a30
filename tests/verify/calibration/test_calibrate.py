"""Calibration of the instrument: a reduced run end to end, and that a dishonest auditor would be found out."""

from __future__ import annotations

import json
import math
import signal
import sqlite3
import subprocess
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import mpmath
import numpy as np
import pytest
from oracles.false_alarm import misses_allowed, reaches
from scipy import stats
from scipy.stats import binom
from toys.processes import finish, rows_in, until

import audits
from audits import Budget, StreamKey
from mechanisms import BOTH, Direction
from mechanisms.catalogue import broken_twins
from verify import calibration
from verify.calibration import calibration_record as findings
from verify.calibration import calibration_run as run
from verify.calibration.calibration_pages import document
from verify.calibration.calibration_record import read, write
from verify.calibration.series.exact_series import exact_series
from verify.calibration.series.importance_series import importance_series
from verify.calibration.series.interval_series import exact_rates, interval_series
from verify.calibration.series.one_run_series import one_run_mutants, one_run_series
from verify.calibration.series.series import (
    DEFAULT_FAILURE_PROB,
    GRID,
    PAIR,
    AuditSeries,
    BankMutant,
    Coin,
    Gaussian,
    Laplace,
    OnGrid,
    any_missed,
)
from verify.cli import invoke
from verify.engine.executors import local
from verify.engine.store import Store
from verify.messages.errors import UserError
from verify.schemas.lines import checkers

#: Modules of ``audits`` that serve others, which are calibrated.
PIECES = {
    "estimate",
    "proposals",
    "black_box_samples",
    "black_box_scores",
    "verdict",
    "error_budget",
    "design_search",
    "examine_fresh",
    "fresh_process",
    "forms",
    "stated_law_masses",
}
#: The standard profile of the betting intervals alone: some seconds of work.
BETTING = """
from verify.calibration import calibration_run as run
every = run.tasks
run.tasks = lambda profile, seed: [task for task in every(profile, seed) if task.content.name.startswith("betting")]
from verify.cli import main
main()
"""
Captured = pytest.CaptureFixture[str]


def start_tasks(out: Path, *words: str, log: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-c", BETTING, "calibrate", "--profile", "standard", "--out", str(out), *words]
    with log.open("ab") as file:
        return subprocess.Popen(command, stdout=file, stderr=file)


def kept(store: Path) -> int:
    """Return the number of tasks in a store that may not have its table yet."""
    try:
        return rows_in(store)
    except sqlite3.OperationalError:
        return 0


def some(*names: str) -> dict[str, AuditSeries]:
    return {s.name: s for s in interval_series() if s.name.startswith(names)}


def liar(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    """Misses twice as often as it says, at each end half of the time."""
    side = key.rng().random(n_repeats)
    return np.column_stack([side < level, side > 1 - level])


MUTANTS = {
    "coin": BankMutant("coin", (0.1, 1.0), lambda s, budget: budget.key.rng().random() < s, 1.0, 1),
    "sure": BankMutant("sure", (math.nan,), lambda _, budget: True, math.nan, 1),
}


class Watcher:
    """Stops the calibration as Ctrl-C does after ``patience`` tasks."""

    def __init__(self, patience: int = 10_000) -> None:
        self.total, self.done, self.patience = 0, 0, patience

    def begin(self, n_tasks: int, seconds: float | None = None) -> None:
        self.total = n_tasks

    def advance(self, name: str, n_tasks: int = 1) -> None:
        self.done += 1
        if self.done >= self.patience:
            raise KeyboardInterrupt


def measure(folder: Path, seed: int = 1, *, jobs: int = 1, watcher: Watcher | None = None) -> run.Calibrated:
    folder.mkdir(exist_ok=True)
    store = Store(folder / "store.sqlite")
    try:
        return run.calibrate("quick", seed, executor=local(jobs), store=store, watcher=watcher or Watcher())
    finally:
        store.close()


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    series = some("Clopper-Pearson: Bernoulli 0.5", "Holm: true", "CONTROL unpaid looks")
    monkeypatch.setattr(run, "all_series", lambda: series)
    monkeypatch.setattr(run, "all_mutants", lambda: MUTANTS)
    monkeypatch.setattr(run, "REPETITIONS", {"quick": (100, 60, 60), "standard": (1, 1, 1), "full": (1, 1, 1)})


def test_calibrate_leaves_record_report_and_run_json(small: None, tmp_path: Path, capsys: Captured) -> None:
    out = tmp_path / "out"
    assert invoke(["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(out)]) == 0
    assert sorted(path.name for path in out.iterdir()) == [
        "calibration.jsonl",
        "calibration.pdf",
        "run.json",
        "store.sqlite",
    ]
    assert (out / "calibration.pdf").read_bytes().startswith(b"%PDF")
    checkers("run")["run"].validate_python(json.loads((out / "run.json").read_text()))
    lines = [json.loads(line) for line in (out / "calibration.jsonl").read_text().splitlines()]
    assert (lines[0]["kind"], lines[0]["record"], lines[0]["complete"]) == ("header", "calibration", True)
    assert lines[0]["tasks"] == lines[0]["tasks_done"]
    assert {line["kind"] for line in lines[1:]} == {"exact", "rate", "control", "mutant"}
    printed = capsys.readouterr()
    assert "every rate is compatible with its level" in printed.out.splitlines()
    assert "tasks of repetitions to do" in printed.err


@pytest.mark.parametrize("folder", [False, True])
def test_report_renders_the_record_to_the_byte(small: None, tmp_path: Path, folder: bool) -> None:
    out = tmp_path / "out"
    assert invoke(["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(out)]) == 0
    record = out if folder else out / "calibration.jsonl"
    assert invoke(["report", str(record), "-o", str(tmp_path / "again.pdf")]) == 0
    assert (tmp_path / "again.pdf").read_bytes() == (out / "calibration.pdf").read_bytes()


def test_the_same_seed_gives_the_same_rows_and_another_does_not(small: None, tmp_path: Path) -> None:
    first, again, other = (measure(tmp_path / str(i), seed).calibration for i, seed in enumerate((1, 1, 2)))
    assert first == again
    assert first.rows != other.rows


def test_interrupted_calibration_is_kept_and_resumed_to_the_same_record(small: None, tmp_path: Path) -> None:
    stopped = measure(tmp_path / "1", watcher=Watcher(patience=5))
    assert stopped.interrupted
    assert (stopped.calibration.header["complete"], stopped.calibration.header["tasks_done"]) == (False, 5)
    assert 0 < len(stopped.calibration.rows) < len(measure(tmp_path / "2").calibration.rows)

    watcher = Watcher()
    resumed = measure(tmp_path / "1", watcher=watcher)
    assert (resumed.reused, watcher.total, watcher.done) == (5, resumed.calibration.header["tasks"] - 5, watcher.total)
    assert resumed.calibration == measure(tmp_path / "2").calibration


def test_what_an_interrupted_calibration_says(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its pages say so first; what was not found yet is nothing unexpected, a rate that is too high is."""
    stopped = measure(tmp_path / "1", watcher=Watcher(patience=5)).calibration
    pages = document(stopped, date="2031-01-01")
    assert pages.summary is not None
    assert pages.summary.title.startswith("Interrupted: 5 of ")
    control = {"kind": "control", "auditor": "CONTROL", "compatible": True}
    assert findings.unexpected([control], complete=False) == []
    rate = {"kind": "rate", "auditor": "a", "law": "b", "any": 9, "repeats": 9, "level": 0.05, "compatible": False}
    assert findings.unexpected([rate], complete=False) == ["a: b: 9 false alarms in 9 at level 0.05"]


@pytest.mark.quick
def test_calibrate_wants_a_folder_of_its_own(tmp_path: Path, capsys: Captured) -> None:
    (tmp_path / "audit.jsonl").write_text("{}")
    assert invoke(["calibrate", "--profile", "quick", "--out", str(tmp_path), "--resume"]) == 2
    assert "must not be the folder of a run" in capsys.readouterr().err
    (tmp_path / "other" / "calibration.pdf").mkdir(parents=True)
    assert invoke(["calibrate", "--profile", "quick", "--out", str(tmp_path / "other"), "--resume"]) == 2
    lines = capsys.readouterr().err.splitlines()
    assert len(lines) == 1
    assert "no file that can be replaced" in lines[0]  # before anything is measured


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "must not be empty"),
        ('{"kind":"header","record":"calibration","schema_version":9}', "schema_version must be 1"),
        ('{"kind":"header","record":"calibration","schema_version":1}', "no key '"),
    ],
)
def test_a_record_that_is_not_whole_is_refused(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "calibration.jsonl").write_text(text)
    with pytest.raises(UserError, match=message):
        read(tmp_path / "calibration.jsonl")


def test_replay_refuses_the_record_of_a_calibration(small: None, tmp_path: Path, capsys: Captured) -> None:
    write(measure(tmp_path).calibration, tmp_path / "calibration.jsonl")
    assert invoke(["replay", str(tmp_path), "W19-T4.1"]) == 2
    assert "got a calibration" in capsys.readouterr().err


def test_an_auditor_that_misses_twice_as_often_is_named(
    small: None, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Level 0.05, rate 0.1, 2,000 audits: refused unless a Binomial(2000, 0.1) stays below about 130 (1e-7)."""
    monkeypatch.setattr(run, "all_series", lambda: {"liar: coin": AuditSeries("liar", "coin", 1, liar, times=20)})
    assert invoke(["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 1
    assert "UNEXPECTED  liar: coin:" in capsys.readouterr().out


def test_a_control_that_is_not_found_out_and_a_missed_mutant_are_named() -> None:
    control = {"kind": "control", "auditor": "CONTROL", "compatible": True}
    mutant = {"kind": "mutant", "name": "early stop", "found": False}
    assert findings.unexpected([control, mutant]) == [
        "early stop: not refuted often enough at its stated strength",
        "CONTROL: an invalid auditor was not found out",
    ]


def test_one_end_alone_may_be_refused() -> None:
    """Both halves at the lower end: the whole rate is right, the end is not."""
    one = AuditSeries("one end", "coin", 1, liar, levels=(0.5,))
    counts = {("one end: coin", "0.5", "nan"): Counter(low=500, any=500, repeats=1000)}
    (row,) = (row for row in findings.rows_of(counts, {one.name: one}, {}) if row["kind"] == "rate")
    assert row["compatible"] is False
    whole = replace(one, halves=False)
    (row,) = (row for row in findings.rows_of(counts, {one.name: whole}, {}) if row["kind"] == "rate")
    assert row["compatible"] is True


@pytest.mark.parametrize(("count", "compatible"), [(300, True), (230, False), (370, False)])
def test_a_predicted_chance_must_be_met_from_both_sides(count: int, compatible: bool) -> None:
    """Predicted 0.3, 1,000 audits, 1e-3: a rate of 0.23 or of 0.37 is about five standard deviations off."""
    one = AuditSeries("power", "coin", 1, liar, halves=False, predicted=True, levels=(0.3,))
    counts = {("power: coin", "0.3", "nan"): Counter(low=count, any=count, repeats=1000)}
    (row,) = (row for row in findings.rows_of(counts, {one.name: one}, {}) if row["kind"] == "prediction")
    assert row["compatible"] is compatible
    assert bool(findings.unexpected([row])) is not compatible


def test_a_proved_enclosure_may_never_miss() -> None:
    one = AuditSeries("proved", "law", 0, liar, halves=False, levels=(0.0,))
    for count in (0, 1):
        counts = {("proved: law", "0.0", "nan"): Counter(low=count, any=count, repeats=1000)}
        (row,) = (row for row in findings.rows_of(counts, {one.name: one}, {}) if row["kind"] == "rate")
        assert row["compatible"] is (count == 0)


def test_mutants_count_as_found_by_the_exact_lower_end(small: None, tmp_path: Path) -> None:
    rows = {r["name"]: r for r in measure(tmp_path, 3).calibration.rows if r["kind"] == "mutant"}
    assert rows["coin"]["smallest_found"] == 1.0
    assert rows["coin"]["found"] is True  # at its stated strength
    assert rows["sure"]["grades"][0]["lower"] == pytest.approx(0.05 ** (1 / 60))  # 60 of 60


@pytest.mark.parametrize(("n", "level", "share"), [(100, 0.05, 1e-5), (1000, 0.5, 1e-6), (10, 0.5, 1e-9)])
def test_smallest_refused_rate(n: int, level: float, share: float) -> None:
    """The least count whose exact tail probability is below the share; 10 of 10 is not enough at 1e-9."""
    tails = stats.binom.sf(np.arange(-1, n + 1), n, level)  # P(X >= k), k = 0, …, n + 1
    expected = int(np.argmax(tails < share))
    assert findings.smallest_refused(n, level, share) == pytest.approx(expected / n)


def test_exact_rates_never_exceed_half_of_the_level() -> None:
    rows = exact_rates()
    assert max(max(r["low"], r["high"]) / r["level"] for r in rows) <= 0.5
    assert max(max(r["low"], r["high"]) / r["level"] for r in rows) > 0.49  # and the bound is nearly reached


@pytest.mark.parametrize("law", [Gaussian(1.0), Laplace(1.0)])
def test_profiles_of_the_laws_fit_their_draws(law: Gaussian | Laplace) -> None:
    """Null: draws have the stated law. 8 proportions of 20,000 draws, two-sided 1e-7 each."""
    profile = law.profile(PAIR)
    for direction in BOTH:
        data, sign = (PAIR.first, 1) if direction is Direction.FORWARD else (PAIR.second, -1)
        losses = sign * law.privacy_loss(law.draw(data, 20_000, rng=np.random.default_rng(8)), PAIR)
        for epsilon in (-0.4, 0.1, 0.6, 0.9):
            p = profile.tail_at(epsilon, direction)
            assert stats.binomtest(int((losses > epsilon).sum()), 20_000, p).pvalue > 1e-7
            grid = np.linspace(epsilon, 10.0, 4001)  # delta is the integral of e^(epsilon - t) P(L > t)
            tails = [profile.tail_at(t, direction) for t in grid.tolist()]
            rough = np.trapezoid(np.exp(epsilon - grid) * tails, grid)
            assert profile.delta_at(epsilon, direction) == pytest.approx(rough, abs=3e-3)


def test_any_missed_keeps_the_ends_apart() -> None:
    assert any_missed([(False, True), (False, False)]) == (False, True)


def test_layout_without_mutants(small: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The quick profile audits no mutant."""
    monkeypatch.setattr(run, "REPETITIONS", {"quick": (20, 0, 0)})
    pages = document(measure(tmp_path).calibration, date="2031-01-01")
    assert [section.title for section in pages.sections] == [
        "False alarms on true claims",
        "What is exact",
        "How to make this page again",
    ]


def test_every_broken_twin_is_in_the_bank() -> None:
    twins = broken_twins()
    assert len(twins) > 20
    assert set(twins) - {name for name, mutant in run.all_mutants().items() if not mutant.graded} == set()


def test_every_auditor_is_calibrated_or_a_series_file_says_why_not() -> None:
    text = "".join(path.read_text("utf-8") for path in Path(str(calibration.__file__)).parent.rglob("*.py"))
    room = Path(str(audits.__file__)).parent
    modules = {path for path in room.rglob("*.py") if path.stem not in {*PIECES, "__init__"}}
    assert len(modules) > 40
    dotted = {".".join(("audits", *path.relative_to(room).with_suffix("").parts)) for path in modules}
    assert {name for name in dotted if name not in text} == set()


@pytest.mark.parametrize("law", [Gaussian(1.0), Laplace(1.0)])
def test_the_grid_of_the_black_box_laws_hides_the_last_bits(law: Gaussian | Laplace) -> None:
    """All outputs are multiples of one step, whichever data set they come from."""
    for dataset in (PAIR.first, PAIR.second):
        outputs = OnGrid(law).draw(dataset, 1000, rng=np.random.default_rng(1)) * GRID
        assert (outputs == np.rint(outputs)).all()


def test_profile_of_randomised_response() -> None:
    profile = Coin(1.0).profile(PAIR)
    assert profile.delta_at(1.0, BOTH[0]) == pytest.approx(0.0, abs=1e-15)
    assert profile.delta_at(0.0, BOTH[0]) == pytest.approx(math.tanh(0.5))


@pytest.mark.parametrize("series", list(exact_series()), ids=lambda series: series.law)
def test_proved_enclosures_hold_over_random_laws(series: AuditSeries) -> None:
    assert not series.misses(30, 0.0, StreamKey(3, (series.name,))).any()


def test_a_wrong_closed_form_misses_the_proved_enclosures(monkeypatch: pytest.MonkeyPatch) -> None:
    """The exact series sees a relative error of 1e-13."""
    ncdf = mpmath.ncdf
    monkeypatch.setattr(mpmath, "ncdf", lambda x: ncdf(x) * (1 + mpmath.mpf("1e-13")))
    series = next(iter(exact_series()))
    assert series.misses(10, 0.0, StreamKey(3, (series.name,))).any(axis=1).all()


@pytest.mark.slow
def test_quick_profile_of_the_real_instrument(tmp_path: Path) -> None:
    """Every auditor; the page's own failure probability is 1e-3, and the seed is the default, never tuned."""
    assert invoke(["calibrate", "--profile", "quick", "--out", str(tmp_path / "out")]) == 0


@pytest.mark.slow
def test_ctrl_c_on_a_real_process_then_resumed_with_two_workers(tmp_path: Path) -> None:
    """Interrupted with one worker and resumed with two: the record of a calibration that nobody disturbed."""
    log, out, straight = tmp_path / "log", tmp_path / "out", tmp_path / "straight"
    process = start_tasks(out, "--jobs", "1", log=log)
    until(lambda: kept(out / "store.sqlite") >= 5, process)
    process.send_signal(signal.SIGINT)
    finish(process, log, codes=(130,))
    assert "Traceback" not in log.read_text()
    assert "\nnext    pdp-verify calibrate " in log.read_text()
    stopped = read(out / "calibration.jsonl")
    assert not stopped.complete
    assert stopped.header["tasks_done"] >= 5
    assert invoke(["report", str(out), "-o", str(tmp_path / "stopped.pdf")]) == 0
    assert (tmp_path / "stopped.pdf").read_bytes() == (out / "calibration.pdf").read_bytes()

    finish(start_tasks(out, "--jobs", "2", "--resume", log=log), log, codes=(0,))
    finish(start_tasks(straight, "--jobs", "1", log=log), log, codes=(0,))
    assert (out / "calibration.jsonl").read_bytes() == (straight / "calibration.jsonl").read_bytes()
    assert json.loads((out / "run.json").read_text())["reused_tasks"] == stopped.header["tasks_done"]


@pytest.mark.slow
@pytest.mark.parametrize("name", [m for m in run.all_mutants() if not run.all_mutants()[m].graded])
def test_every_mutant_of_the_bank_is_refuted_at_the_default_budget(name: str) -> None:
    """Null: refuted with probability at least 0.95. Five runs; two misses have probability below 0.03 then."""
    mutant = run.all_mutants()[name]
    key = StreamKey(11, ("bank", name))
    found = (mutant.refute(math.nan, Budget(mutant.n_draws, 1e-4, key.child(str(i)))) for i in range(5))
    assert reaches(5 - misses_allowed(5, 0.05, 1e-3), found)


SERIES = {series.name: series for series in one_run_series()}


@pytest.mark.parametrize("name", SERIES)
def test_false_alarms_are_within_their_level_and_the_control_is_found_out(name):
    """Null: the lower ends miss with probability at most 0.1. Level 1e-7 by the binomial law."""
    series = SERIES[name]
    n = 200 if series.control else 60
    found = series.misses(n, 0.1, StreamKey(4, ("test",)))
    assert found.shape == (n, 2)
    assert not found[:, 1].any()  # nothing is claimed above
    assert (found[:, 0].sum() > binom.isf(1e-7, n, 0.1)) == series.control


def test_the_bound_is_attained():
    """Its own worst mechanism is refuted about as often as the level says: 0.5, at most one number of guesses less."""
    worst = SERIES["one run: the mechanism that attains the bound"]
    assert 0.25 < worst.misses(150, 0.5, StreamKey(4, ("test",)))[:, 0].mean() < 0.65


@pytest.mark.parametrize("mutant", list(one_run_mutants()), ids=lambda mutant: mutant.name)
def test_each_mutant_is_refuted_at_its_strength(mutant):
    for i in range(3):
        budget = Budget(mutant.n_draws, DEFAULT_FAILURE_PROB, StreamKey(1, ("mutant", str(i))))
        assert mutant.refute(mutant.stated, budget)
        assert not mutant.refute(mutant.strengths[0], budget)


SERIES_OF_IMPORTANCE_SERIES = {series.name: series for series in importance_series()}


@pytest.mark.parametrize("name", SERIES_OF_IMPORTANCE_SERIES)
def test_false_alarms_are_within_their_level_and_the_control_is_found_out_of_importance_series(name):
    """Null: the lower ends miss with probability at most 0.1. Level 1e-7 by the binomial law, 80 repetitions."""
    series = SERIES_OF_IMPORTANCE_SERIES[name]
    found = series.misses(80, 0.1, StreamKey(4, ("test",)))
    assert found.shape == (80, 2)
    assert not found[:, 1].any()  # nothing is claimed above
    assert (found[:, 0].sum() > binom.isf(1e-7, 80, 0.1)) == series.control
