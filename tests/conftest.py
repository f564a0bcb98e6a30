"""What every test starts from: properties that repeat or search, a heap that stays, a Ctrl-C that is not ignored."""

from __future__ import annotations

import gc
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

#: Fast tests try the same examples in every run, slow ones try more: what makes either fail is a change.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("thorough", derandomize=True, max_examples=200, deadline=None)
#: ``--hypothesis-profile exploring`` tries others in every run, and prints what tries a find again.
settings.register_profile("exploring", max_examples=1000, deadline=None, database=None, print_blob=True)

# A script's background job ignores SIGINT, and so would every process that a test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)


#: What ``--quick`` keeps of each file: so many test functions, the first case of each.
QUICK = 2


def pytest_addoption(parser: pytest.Parser) -> None:
    """Offer the quick tier, for environments in which the whole suite has already passed in another."""
    parser.addoption("--quick", action="store_true", help=f"of each file the first {QUICK} tests, one case of each")


def pytest_configure(config: pytest.Config) -> None:
    """Search further where the slow tests run, unless a profile was asked for."""
    asked: str | None = config.getoption("--hypothesis-profile", None)
    settings.load_profile(asked or ("thorough" if slow_tests(config) else "repeatable"))


@pytest.hookimpl(wrapper=True)
def pytest_collection() -> Iterator[None]:
    """Let no later search for garbage go through what stays until the end: modules, and thousands of collected tests.

    What a test leaves behind is collected as ever.
    """
    gc.disable()
    try:
        return (yield)
    finally:
        keep()
        gc.enable()


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
    """Let every property test be one of the slow tests too; keep the quick tier alone where it is asked for."""
    for item in items if slow_tests(config) else ():
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("slow")
    if config.getoption("--quick"):
        kept = quick_tier(items)
        config.hook.pytest_deselected(items=[item for item in items if item not in kept])
        items[:] = [item for item in items if item in kept]


def quick_tier(items: list[pytest.Item]) -> set[pytest.Item]:
    """Return of each file the first fast test functions, and the first case of each."""
    seen: dict[str, dict[str, pytest.Item]] = {}
    for item in items:
        if item.get_closest_marker("slow") is None:
            file, _, name = item.nodeid.partition("::")
            seen.setdefault(file, {}).setdefault(name.partition("[")[0], item)
    return {item for functions in seen.values() for item in list(functions.values())[:QUICK]}


def slow_tests(config: pytest.Config) -> bool:
    """Tell whether the slow tests are what runs."""
    return config.getoption("markexpr") == "slow"
