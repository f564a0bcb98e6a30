"""One test over many rows: every row is tried, and each that fails is reported with its values."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import wraps
from inspect import Signature, signature
from typing import Any

import pytest

Test = Callable[..., None]


def for_each(names: str | tuple[str, ...], rows: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test once for all ``rows``, which ``pytest.mark.parametrize`` would make one test each.

    It is for rows of one property that together take less than a second. Two of them on one test try every
    combination. Each row has a ``tmp_path`` of its own; every other fixture must be one that no test changes.
    """
    columns = (names,) if isinstance(names, str) else names
    table = [dict(zip(columns, (row,) if isinstance(names, str) else row, strict=True)) for row in rows]
    if not table:
        raise ValueError(f"rows of {names} must be at least one, got none")

    def over(test: Test) -> Test:
        @wraps(test)
        def looped(**given: Any) -> None:
            failures, others = [], dict(given)
            for number, row in enumerate(table):
                try:
                    if "tmp_path" in given:
                        others["tmp_path"] = given["tmp_path"] / str(number)
                        others["tmp_path"].mkdir()
                    test(**others, **row)
                except (Exception, pytest.fail.Exception, BaseExceptionGroup) as failure:
                    failure.add_note(", ".join(f"{name} = {value!r:.200}" for name, value in row.items()))
                    failures.append(failure)
            if failures:
                raise BaseExceptionGroup(f"{len(failures)} of {len(table)} rows fail", failures)

        left = [fixture for name, fixture in signature(test).parameters.items() if name not in columns]
        looped.__signature__ = Signature(left)  # type: ignore[attr-defined]
        return looped

    return over
