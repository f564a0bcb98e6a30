"""A release of an imported mechanism is drawn as it was examined; a file with too few records is refused; a dry run."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from toys.deployments import DATA, QUICK, dp, imported, write_uniform

from mechanisms import Dataset
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from verify.certificates.config.config import parse
from verify.certificates.config.mechanism_source import Imported
from verify.certificates.release.releases import audited_block, draw_as_audited
from verify.cli import invoke
from verify.messages.errors import UserError

Captured = pytest.CaptureFixture[str]
DATASET = Dataset(np.full((4, 2), 0.3), np.full(4, 0.5), 1.0, 1.0)
TOML = DATA + imported("mine.py:Mine") + dp(1.0) + QUICK
CODE = """
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return rng.normal(size=(n_draws, 1))
"""


def fixed() -> np.random.Generator:
    return np.random.default_rng(5)


@dataclass
class Numbered:
    """Each row of a call holds its own place and how many rows were asked for."""

    name: str = "numbered"

    def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
        dataset.X[:] = 0.0  # a copy, as in the examination
        return np.column_stack([np.arange(n_draws), np.full(n_draws, n_draws)])


@pytest.mark.parametrize(
    ("budget", "block"),
    [
        ("", 3_840),  # 4,000 less 40 draws on fresh objects, 40 single ones on a used one and 8 calls for ten
        ("draws = 200", 100),
        ("draws = 200\nmax_draws = 320000", 100),
        ("pairs = 8\ndraws = 200\nmax_draws = 3200", 100),
        ("draws = 1", 1),
        ("draws = 200000", 1 << 14),
    ],
)
def test_the_block_is_the_examinations_largest_call(budget: str, block: int) -> None:
    assert audited_block(parse(TOML + budget)) == block


def test_a_release_is_a_uniformly_chosen_row_of_such_a_call() -> None:
    """Null: every place is as likely; 400 releases of blocks of 5, chi-squared below its 1e-9 quantile."""
    rng = np.random.default_rng(1)
    places = []
    for _ in range(400):
        place, asked = draw_as_audited(Imported(Numbered()), DATASET, 5, lambda: rng)
        assert asked == 5
        places.append(int(place))
    counts = np.bincount(places, minlength=5)
    assert ((counts - 80) ** 2 / 80).sum() < 48.0
    assert DATASET.X.min() == 0.3


def test_raw_when_one_is_asked_for_is_not_released_raw() -> None:
    """Mutant of the examination: the raw sum where one draw is asked for; and in the first row of every call."""

    class Raw:
        name = "raw"

        def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
            rows = 1_000.0 + rng.normal(size=(n_draws, 1))
            rows[0] = dataset.y.sum()
            return rows

    assert draw_as_audited(Imported(Raw()), DATASET, 1_000, fixed)[0] > 900
    assert draw_as_audited(Imported(Raw()), DATASET, 1, fixed)[0] == 2.0


def test_a_reference_mechanism_is_drawn_once() -> None:
    ours = SufficientStatistics(8.0, 8.0, 1.0)
    np.testing.assert_array_equal(
        draw_as_audited(ours, DATASET, 1, fixed), ours.draw(DATASET, 1, rng=np.random.default_rng(5))[0]
    )


@pytest.mark.parametrize("returned", ["raise", "text", "nan"])
def test_what_cannot_be_released_is_one_line_that_quotes_nothing(returned: str) -> None:
    class Odd:
        name = "odd"

        def draw(self, dataset: Any, n_draws: int, *, rng: np.random.Generator) -> Any:
            if returned == "raise":
                raise ValueError("record 31337")
            return [["31337x"]] * n_draws if returned == "text" else np.full((n_draws, 1), np.nan)

    with pytest.raises(UserError, match=r"release\.draw must be false for a mechanism that gives no") as stop:
        draw_as_audited(Imported(Odd()), DATASET, 7, fixed)
    assert "31337" not in str(stop.value)


@pytest.fixture
def work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_uniform(tmp_path, 9)
    (tmp_path / "mine.py").write_text(CODE, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_fewer_records_than_the_public_least_are_refused_without_their_number(work: Path, capsys: Captured) -> None:
    (work / "d.toml").write_text(TOML.replace("y_bound = 1.0", "y_bound = 1.0\nn_min = 10"))
    assert invoke(["certify", "d.toml"]) == 2
    assert capsys.readouterr().err.endswith("data.n_min must be at most the number of records, got a larger one\n")


def test_a_dry_run_of_a_slow_mechanism_draws_little(work: Path, capsys: Captured) -> None:
    """Ten draws of 10 ms each stand for 2 x 40 x (1 + 5) of them."""
    code = "import time\n" + CODE.replace("        return", "        time.sleep(0.01 * n_draws)\n        return")
    (work / "mine.py").write_text(code, encoding="utf-8")
    (work / "d.toml").write_text(TOML + "pairs = 1\ndraws = 40\n")
    assert invoke(["certify", "d.toml", "--dry-run"]) == 0
    first, *shares, last = capsys.readouterr().out.splitlines()
    assert shares  # of the failure probability
    assert first.split(maxsplit=1) == ["dp", "examination of 1 pairs, 40 draws of each data set"]
    assert 4 <= int(last.split()[1]) <= 12
    assert not (work / "pdp-verify-out").exists()
