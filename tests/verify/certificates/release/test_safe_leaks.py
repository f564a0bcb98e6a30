"""Nothing that the public sees of ``certify`` depends on the records; a leak that is planted is found at its door.

Worlds and comparison are in ``leaks``; ``benchmarks/leaks.py`` compares all of them for every mechanism.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import sys
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click
import pytest
from leaks import BROKEN, CALLS, MECHANISMS, drawn, dry, kept_releases, reused, strict, worlds

from verify.certificates import certificate, dry_run

WORLDS = worlds()
#: Worlds that the fast and the slow tests compare with the base for every mechanism.
FEW = ("singular", "empty after the drop", "huge")
#: Of every kind one: what follows in the table are further claims and preparations, for the benchmark.
OURS = list(MECHANISMS)[: list(MECHANISMS).index("imported") + 1]
#: One claim about everyone and one about the records: the least that can leak.
SHORT = MECHANISMS["adaops-2018"].replace('[[claims]]\ntype = "ex-post"\nepsilon = 0.05\n', "")


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return kept_releases(tmp_path_factory.mktemp("before") / "w", SHORT)


def test_the_worlds_are_many_and_keep_every_rule() -> None:
    assert len(WORLDS) > 30
    assert len(set(WORLDS.values())) == len(WORLDS)


def test_neighbouring_records_are_not_seen(tmp_path: Path) -> None:
    base, other = (drawn(tmp_path / "w", SHORT, WORLDS[each], tmp_path) for each in ("base", "one removed"))
    assert (base.code, base.err) == (0, "")
    assert {"out/release/audit.pdf", "out/curator", "d.releases"} <= set(base.files)
    assert base.files["out/curator"][0] == base.files["d.releases"][0] == "drwx------"
    assert base.differences(other) == []


@pytest.mark.slow
@pytest.mark.parametrize(("name", "world"), list(zip(OURS, itertools.cycle(FEW), strict=False)))
def test_no_mechanism_shows_its_records(name: str, world: str, tmp_path: Path) -> None:
    """Every mechanism, each in two worlds that differ as much as two can; the benchmark compares all worlds."""
    base, other = (drawn(tmp_path / "w", MECHANISMS[name], WORLDS[each], tmp_path) for each in ("base", world))
    assert base.code in (0, 1, 3)
    assert base.differences(other) == []


@pytest.mark.slow
def test_no_call_shows_the_records(kept: Path, tmp_path: Path) -> None:
    """Also with a kept release, drawn once more, after it finished with other records, and as a dry run."""
    for (name, call), world in zip(CALLS.items(), ("one record", *FEW, "one removed"), strict=True):
        if name != "drawn":
            base, other = (call(tmp_path / "w", SHORT, WORLDS[each], kept) for each in ("base", world))
            assert base.code in (0, 3)  # what is drawn twice costs twice
            assert base.differences(other) == []


@pytest.mark.parametrize("rule", list(BROKEN))
def test_a_broken_rule_shows_that_it_was_broken_and_nothing_else(rule: str, tmp_path: Path) -> None:
    line, (first, second) = BROKEN[rule]
    text = strict(MECHANISMS["ssp"], line)
    one, other = (drawn(tmp_path / "w", text, data, tmp_path) for data in (first, second))
    assert one.code == 2
    assert one.err.startswith("error: ")
    assert one.err.count("\n") == 1
    assert not any(name.startswith("out") for name in one.files)
    assert one.differences(other) == []


# --- planted leaks: one at each door ----------------------------------------------------------------------------------


def on_records(act: Callable[[Any], None], patch: pytest.MonkeyPatch) -> None:
    """Let something happen that depends on the records, when the claims are decided."""
    honest = certificate.decide

    def leaking(deployment: Any, *arguments: Any, **more: Any) -> Any:
        act(deployment.dataset.n_records)
        return honest(deployment, *arguments, **more)

    patch.setattr(certificate, "decide", leaking)


def raises(n: int) -> None:
    """Stop on an odd number of records."""
    if n % 2:
        raise RuntimeError


#: What each leak does with the number of records, and the door at which it must be found.
PLANTED: dict[str, Callable[[int], object]] = {
    "out": lambda n: click.echo(f"{n} records"),
    "err": lambda n: click.echo(f"{n} records", err=True),
    "file left over": lambda n: Path("left over").write_text("x" * n),
    "file d.releases": lambda n: Path("d.releases").chmod(0o700 + n % 2),
    "file out": lambda n: Path("out").chmod(0o755 - n % 2),
}


@pytest.mark.slow
def test_planted_leaks_are_found_at_their_doors(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Five at once, and a number that slips into the header: every file made of the record shows it."""
    honest = certificate._header

    def leaking(*arguments: Any) -> Any:
        return honest(*arguments) | {"mean": float(arguments[0].deployment.dataset.y.mean())}

    monkeypatch.setattr(certificate, "_header", leaking)
    on_records(lambda n: [act(n) for act in PLANTED.values()], monkeypatch)
    base, other = (reused(tmp_path / "w", SHORT, WORLDS[each], kept) for each in ("base", "one removed"))
    found = set(base.differences(other))
    assert {*PLANTED, "file out/release/audit.jsonl", "file out/release/audit.pdf"} <= found
    assert "file out/release/run.json" not in found


@pytest.mark.slow
def test_a_stop_that_depends_on_the_records_is_found(
    kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_records(raises, monkeypatch)
    base, other = (reused(tmp_path / "w", SHORT, WORLDS[each], kept) for each in ("base", "one removed"))
    assert (base.code, other.code) == (4, 0)
    assert {"code", "out", "err", "file out/release"} <= set(base.differences(other))


@pytest.mark.slow
def test_a_planted_word_is_found_in_a_dry_run(kept: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    honest = dry_run.plan

    def leaking(deployment: Any, *arguments: Any) -> Any:
        click.echo(deployment.dataset.digest)
        return honest(deployment, *arguments)

    monkeypatch.setattr(dry_run, "plan", leaking)
    base, other = (dry(tmp_path / "w", SHORT, WORLDS[each], kept) for each in ("base", "one removed"))
    assert base.differences(other) == ["out"]


# --- warnings of libraries --------------------------------------------------------------------------------------------

LOUD = """
import sys, warnings
from verify.engine.work import mapped
from verify.messages.faults import silenced

def loud(n):
    warnings.warn(f"{n} records")
    return n

if __name__ == "__main__":
    with silenced(sys.argv[1] == "yes"):
        loud(0)
        assert mapped(loud, [1, 2], 2) == [1, 2]
    warnings.warn("afterwards")
"""


@pytest.mark.parametrize(("wanted", "count"), [("yes", 1), pytest.param("no", 4, marks=pytest.mark.slow)])
def test_no_warning_comes_through_here_and_in_workers(wanted: str, count: int, tmp_path: Path) -> None:
    """Whatever ``-W`` and the environment ask for; afterwards all is as it was."""
    (tmp_path / "loud.py").write_text(LOUD, encoding="utf-8")
    run = subprocess.run(
        [sys.executable, "-W", "always", str(tmp_path / "loud.py"), wanted],
        env=os.environ | {"PYTHONWARNINGS": "default"},
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert run.returncode == 0
    assert run.stderr.count("UserWarning") == count
    assert "UserWarning: afterwards" in run.stderr


def test_warnings_of_private_records_are_silent_in_release_alone(tmp_path: Path) -> None:
    from verify.messages.faults import silenced

    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        with silenced(True):
            warnings.warn("private", stacklevel=1)
        with silenced(False):
            warnings.warn("public", stacklevel=1)
    assert [str(each.message) for each in heard] == ["public"]
