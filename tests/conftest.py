"""What every test starts from: properties that repeat or search, a heap that stays, a Ctrl-C that is not ignored."""

from __future__ import annotations

import gc
import signal
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

#: Fast tests try the same examples in every run, slow ones try more: what makes either fail is a change.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=200, deadline=None)
#: ``--hypothesis-profile exploring`` tries others in every run, and prints what tries a find again.
settings.register_profile("exploring", max_examples=1000, deadline=None, database=None, print_blob=True)

# A script's background job ignores SIGINT, and so would every process that a test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Search further where the slow tests run, unless a profile was asked for."""
    asked: str | None = config.getoption("--hypothesis-profile", None)
    settings.load_profile(asked or ("thorough" if slow_tests(config) else "repeatable"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no later search for garbage go through what stays until the end: modules, and thousands of collected tests.

    What a test leaves behind is collected as ever. The test files are compiled, with their assertions rewritten, once
    and not in each process of each run, even where the environment keeps no bytecode, which then holds for the tests.
    Each BLAS that is loaded then has one thread, as in the product's own commands: on small matrices others only wait.
    """
    gc.disable()
    forbidden, sys.dont_write_bytecode = sys.dont_write_bytecode, False
    try:
        return (yield)
    finally:
        sys.dont_write_bytecode = forbidden
        gc.freeze()
        gc.enable()
        threadpool_limits(1)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_teardown(item: pytest.Item, nextitem: pytest.Item | None) -> Iterator[None]:
    """After a file that let the search through everything, as a calibration does, keep it from there once more."""
    yield
    if nextitem is not None and nextitem.path != item.path and not gc.get_freeze_count():
        keep()


def keep() -> None:
    """Collect what is garbage now and leave the rest alone from now on."""
    gc.collect()
    gc.freeze()


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is listed as slow; let every property test be one of the slow tests too; mark the quick tier."""
    for item in listed_as_slow(items, whole=not any("::" in each for each in config.args)):
        item.add_marker("slow")
    for item in items if slow_tests(config) else ():
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("slow")
    for item in quick_tier(items):
        item.add_marker("quick")


def listed_as_slow(items: list[pytest.Item], whole: bool) -> Iterable[pytest.Item]:
    """Return the tests of ``slow_tests.txt``; a function that its file does not have, collected whole, is a mistake."""
    lines = Path(__file__).with_name("slow_tests.txt").read_text(encoding="utf-8").splitlines()
    listed = {line for line in lines if not line.startswith("#")}
    names = {item.nodeid.partition("[")[0] for item in items}
    files = {name.partition("::")[0] for name in names} if whole else set()
    for line in listed:
        name = line.partition("[")[0]
        if name not in names and name.partition("::")[0] in files:
            raise pytest.UsageError(f"tests/slow_tests.txt must name tests that exist, got {line}")
    return [item for item in items if item.nodeid in listed or item.nodeid.partition("[")[0] in listed]


def quick_tier(items: list[pytest.Item]) -> Iterable[pytest.Item]:
    """Return the first fast test of each file that marks none as quick itself."""
    own = {item.path for item in items if item.get_closest_marker("quick")}
    first: dict[Path, pytest.Item] = {}
    for item in items:
        if item.path not in own and item.get_closest_marker("slow") is None:
            first.setdefault(item.path, item)
    return first.values()


def slow_tests(config: pytest.Config) -> bool:
    """Tell whether the slow tests are what runs."""
    return config.getoption("markexpr") == "slow"
