"""Calibration of the instrument: a reduced run end to end, and that a dishonest auditor would be found out."""

from __future__ import annotations

import json
import math
from pathlib import Path

import numpy as np
import pytest
from oracles.false_alarm import misses_allowed
from scipy import stats

from audits import Budget, StreamKey
from mechanisms import BOTH, Direction
from verify.calibration import run
from verify.calibration.bank import Mutant
from verify.calibration.interval_series import exact_rates, interval_series
from verify.calibration.laws import PAIR, Gaussian, Laplace
from verify.calibration.layout import document
from verify.calibration.series import Series, any_missed
from verify.cli import invoke

Captured = pytest.CaptureFixture[str]


def some(*names: str) -> dict[str, Series]:
    return {s.name: s for s in interval_series() if s.auditor in names}


def liar(n_repeats: int, level: float, key: StreamKey) -> np.ndarray:
    """Misses twice as often as it says, at each end half of the time."""
    side = key.rng().random(n_repeats)
    return np.column_stack([side < level, side > 1 - level])


MUTANTS = {
    "coin": Mutant("coin", (0.1, 1.0), lambda s, budget: budget.key.rng().random() < s, 1.0, 1),
    "sure": Mutant("sure", (math.nan,), lambda _, budget: True, math.nan, 1),
}


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(
        run, "all_series", lambda: some("Clopper-Pearson", "Dvoretzky-Kiefer-Wolfowitz", "CONTROL unpaid looks")
    )
    monkeypatch.setattr(run, "all_mutants", lambda: MUTANTS)
    monkeypatch.setattr(run, "REPETITIONS", {"quick": (100, 60, 60), "standard": (1, 1, 1), "full": (1, 1, 1)})


def test_calibrate_leaves_record_report_and_run_json(small: None, tmp_path: Path, capsys: Captured) -> None:
    assert invoke(["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 0
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == [
        "calibration.jsonl",
        "calibration.pdf",
        "run.json",
    ]
    assert (tmp_path / "out" / "calibration.pdf").read_bytes().startswith(b"%PDF")
    lines = [json.loads(line) for line in (tmp_path / "out" / "calibration.jsonl").read_text().splitlines()]
    assert lines[0]["kind"] == "calibration"
    assert {line["kind"] for line in lines[1:]} == {"exact", "rate", "control", "mutant"}
    assert "every rate is compatible with its level" in capsys.readouterr().out.splitlines()


def test_the_same_seed_gives_the_same_rows_and_another_does_not(small: None) -> None:
    first, again, other = (run.calibrate("quick", seed, 1, lambda *_: None) for seed in (1, 1, 2))
    assert first == again != other


def test_an_auditor_that_misses_twice_as_often_is_named(
    small: None, tmp_path: Path, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Level 0.05, rate 0.1, 2,000 audits: refused unless a Binomial(2000, 0.1) stays below about 130 (1e-7)."""
    monkeypatch.setattr(run, "all_series", lambda: {"liar: coin": Series("liar", "coin", 1, liar, times=20)})
    assert invoke(["calibrate", "--profile", "quick", "--jobs", "1", "--out", str(tmp_path / "out")]) == 1
    assert "UNEXPECTED  liar: coin:" in capsys.readouterr().out


def test_a_control_that_is_not_found_out_and_a_missed_mutant_are_named() -> None:
    control = {"kind": "control", "auditor": "CONTROL", "compatible": True}
    mutant = {"kind": "mutant", "name": "early stop", "found": False}
    assert run.unexpected([control, mutant]) == [
        "early stop: not refuted often enough at its stated strength",
        "CONTROL: an invalid auditor was not found out",
    ]


def test_one_end_alone_may_be_refused() -> None:
    """Both halves at the lower end: the whole rate is right, the end is not."""
    counts = {"one end: coin": Series("one end", "coin", 1, liar, levels=(0.5,))}
    share = run.FAILURE_PROB / 3
    assert run.clopper_pearson_lower(500, 1000, share) <= 0.5
    assert run.clopper_pearson_lower(500, 1000, share) > 0.25
    assert counts["one end: coin"].halves


def test_mutants_count_as_found_by_the_exact_lower_end(small: None) -> None:
    rows = {r["name"]: r for r in run.calibrate("quick", 3, 1, lambda *_: None) if r["kind"] == "mutant"}
    assert rows["coin"]["smallest_found"] == 1.0
    assert rows["coin"]["found"] is True  # at its stated strength
    assert rows["sure"]["grades"][0]["lower"] == pytest.approx(0.05 ** (1 / 60))  # 60 of 60


@pytest.mark.parametrize(("n", "level", "share"), [(100, 0.05, 1e-5), (1000, 0.5, 1e-6), (10, 0.5, 1e-9)])
def test_smallest_refused_rate(n: int, level: float, share: float) -> None:
    """The least count whose exact tail probability is below the share; 10 of 10 is not enough at 1e-9."""
    tails = stats.binom.sf(np.arange(-1, n + 1), n, level)  # P(X >= k), k = 0, …, n + 1
    expected = int(np.argmax(tails < share))
    assert run.smallest_refused(n, level, share) == pytest.approx(expected / n)


def test_exact_rates_never_exceed_half_of_the_level() -> None:
    rows = list(exact_rates())
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


def test_layout_without_mutants() -> None:
    """The quick profile audits no mutant."""
    row = {"auditor": "a", "law": "b", "level": 0.5, "n_draws": 1, "repeats": 10, "low": 1, "high": 1, "any": 2}
    extra = {"interval": [0.0, 1.0], "smallest_rate_refused": 0.9, "compatible": True}
    rows = [{"kind": "rate", **row, "level": level, **extra} for level in (0.5, 0.1, 0.05)]
    rows += [{"kind": "exact", "auditor": "c", **each, "compatible": True} for each in exact_rates()]
    pages = document({"profile": "quick", "seed": 1}, rows, date="2031-01-01")
    assert [section.title for section in pages.sections] == [
        "False alarms on true claims",
        "Rates that need no repetition",
    ]


@pytest.mark.slow
def test_quick_profile_of_the_real_instrument(tmp_path: Path) -> None:
    """Every auditor; the page's own failure probability is 1e-3, and the seed is the default, never tuned."""
    assert invoke(["calibrate", "--profile", "quick", "--out", str(tmp_path / "out")]) == 0


@pytest.mark.slow
@pytest.mark.parametrize("name", [m for m in run.all_mutants() if not run.all_mutants()[m].graded])
def test_every_mutant_of_the_bank_is_refuted_at_the_default_budget(name: str) -> None:
    """Null: refuted with probability at least 0.95. Five runs; two misses have probability below 0.03 then."""
    mutant = run.all_mutants()[name]
    key = StreamKey(11, ("bank", name))
    hits = sum(mutant.refute(math.nan, Budget(mutant.n_draws, 1e-4, key.child(str(i)))) for i in range(5))
    assert 5 - hits <= misses_allowed(5, 0.05, 1e-3)
