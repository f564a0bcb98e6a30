"""One test over all entries of a family: a few of each with the fast tests, the others with the slow ones."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from . import Entry


def over_families(
    entries: Iterable[Entry], fast: int = 8
) -> Callable[[Callable[[Entry], None]], Callable[[list[Entry]], None]]:
    """Return a decorator: a check of one entry becomes a test of each family, which names every entry that fails it.

    A family is a class of the broken mechanisms, or the file that an honest one stands in.
    """
    families: dict[str, list[Entry]] = {}
    for entry in entries:
        families.setdefault(f"class-{entry.klass}" if entry.klass else entry.path.stem, []).append(entry)
    parameters = []
    for name, whole in families.items():
        few = whole[:: -(-len(whole) // fast)]
        parameters.append(pytest.param(few, id=name))
        if rest := [entry for entry in whole if entry not in few]:
            parameters.append(pytest.param(rest, id=f"{name}-others", marks=pytest.mark.slow))

    def decorate(check: Callable[[Entry], None]) -> Callable[[list[Entry]], None]:
        def test(several: list[Entry]) -> None:
            wrong = {}
            for entry in several:
                try:
                    check(entry)
                except AssertionError as error:
                    wrong[entry.name] = str(error)
            assert wrong == {}

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return pytest.mark.parametrize("several", parameters)(test)

    return decorate
