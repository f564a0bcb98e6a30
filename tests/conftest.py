"""What every test starts from: property tests that repeat or explore, and a Ctrl-C that is not ignored."""

from __future__ import annotations

import signal

import pytest
from hypothesis import settings

#: Fast tests try the same examples in every run; slow ones explore, and print what tries a find again.
settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.register_profile("exploring", max_examples=300, deadline=None, database=None, print_blob=True)

# A script's background job ignores SIGINT, and so would every process that a test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_configure(config: pytest.Config) -> None:
    """Explore where the slow tests run."""
    settings.load_profile("exploring" if explores(config) else "repeatable")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Let every property test be one of the slow tests too."""
    for item in items if explores(config) else ():
        if getattr(getattr(item, "obj", None), "is_hypothesis_test", False):
            item.add_marker("slow")


def explores(config: pytest.Config) -> bool:
    """Tell whether the slow tests are what runs."""
    return config.getoption("markexpr") == "slow"
