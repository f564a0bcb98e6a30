"""Whatever a command is given: an exit code that says whose fault it is, one line, no private cell, nothing left.

Fast: a few examples, always the same, without figures and pages, and all that was ever found. Slow: 200 examples,
those of the commit: the seed is its hash, so that one commit gives one result and each commit explores anew (the noise
of a private release alone is the operating system's); every fourth with figures and pages, and, of a sweep, with a
worker process. A failing case is printed so that it can be pasted into ``FOUND``.
"""

from __future__ import annotations

import hashlib
import subprocess
from importlib.metadata import version
from pathlib import Path

import pytest
from fuzz.configurations import MECHANISMS, configurations, valid
from fuzz.damage import damaged
from fuzz.data_files import data_files
from fuzz.found import FOUND
from fuzz.grids import grids
from fuzz.promise import Case, attempt
from fuzz.trees import written
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st

from verify.certificates.config.config import parse

#: More than half of the configurations get as far as the checks (0.57 of 667, docs/reliability.md). Of 67, a share
#: that is four standard deviations smaller is still above this.
LEAST_SHARE = 0.32


def of_the_commit() -> int:
    """Return a number that the commit decides, or the version where there is no repository."""
    command = ["git", "-C", str(Path(__file__).parent), "rev-parse", "HEAD"]
    try:
        name = subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()
    except (OSError, subprocess.CalledProcessError):
        name = version("pdp-verify")
    return int(hashlib.sha256(name.encode()).hexdigest()[:12], 16)


def explore(cases: st.SearchStrategy[Case], n_examples: int, number: int) -> float:
    """Try cases until one breaks a promise; return the share that reached the checks."""
    reached: list[bool] = []

    @seed(number)
    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        phases=[Phase.generate],  # a case has one change: there is nothing to shrink
        suppress_health_check=list(HealthCheck),
    )
    @given(cases)
    def keeps_its_promises(case: Case) -> None:
        outcome = attempt(case)
        assert not outcome.faults, str(outcome)
        reached.append(outcome.reached)

    keeps_its_promises()
    return sum(reached) / len(reached)


PLAIN, SOME = st.just(False), st.sampled_from((True, False, False, False))
#: 200 in all; a third of them configurations, a third data files and grids, a third damage.
SLOW_EXAMPLES = {"configurations": 67, "data files": 40, "grids": 26, "damage": 67}
KINDS = {"configurations": configurations, "data files": data_files, "grids": grids, "damage": damaged}


@pytest.mark.parametrize("case", [pytest.param(case, id=name) for name, case in FOUND.items()])
def test_what_was_found_before_keeps_its_promises(case: Case) -> None:
    outcome = attempt(case)
    assert not outcome.faults, str(outcome)


@pytest.mark.parametrize("name", KINDS)
def test_a_few_examples(name: str) -> None:
    assert explore(KINDS[name](rendered=PLAIN), 12, 1) >= 0


@pytest.mark.slow
@pytest.mark.parametrize("name", KINDS)
def test_examples_of_this_commit(name: str) -> None:
    share = explore(KINDS[name](rendered=SOME), SLOW_EXAMPLES[name], of_the_commit())
    if name == "configurations":
        assert share >= LEAST_SHARE


@settings(max_examples=200, suppress_health_check=list(HealthCheck))
@given(valid())
def test_what_a_configuration_starts_from_is_valid(tree: dict[str, object]) -> None:
    assert parse(written(tree)).claims


def test_a_broken_promise_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """Were every refusal a traceback that quotes the line of the file, each promise would be reported as broken."""
    from verify import cli

    def quoting(words: list[str]) -> int:
        import sys
        import warnings

        warnings.warn("careless", RuntimeWarning, stacklevel=1)
        Path("half.tmp").write_text("half")
        print("error: not a number: 0.5313373133731\nTraceback (most recent call last):", file=sys.stderr)
        return 2

    monkeypatch.setattr("fuzz.calls.invoke", quoting)
    case = Case("configuration", "deployment", (("certify", "c.toml", "--audience", "release"),))
    faults = " ".join(attempt(case).faults)
    for words in ("RuntimeWarning", "not one line", "refused, and changed half.tmp", "a source file", "a private cell"):
        assert words in faults
    monkeypatch.setattr("fuzz.calls.invoke", lambda words: 4)
    assert "exit code 4" in " ".join(attempt(case).faults)
    assert cli.invoke is not quoting
    assert set(MECHANISMS) >= {"objective-logistic", "worst"}
