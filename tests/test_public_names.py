"""What a researcher types is there, typed, and importing a room stays light."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest
from packages import ROOMS, public_packages

import audits
import mechanisms

NAMES = [(room, name) for room in public_packages() for name in importlib.import_module(room).__all__]
#: Where else a room's names may come from: the one call is decided by ``certify``.
ELSEWHERE = {"audits": ("verify.certificates.audit_call",)}


def test_every_public_name_is_what_its_module_holds() -> None:
    """It has a docstring, and no module of its name could take its place when it is imported later."""
    wrong = []
    for room, name in NAMES:
        package = importlib.import_module(room)
        value = getattr(package, name)
        if inspect.isclass(value) or inspect.isfunction(value):
            own = value.__module__.startswith((f"{room}.", *ELSEWHERE.get(room, ()))) and value.__doc__
            if not own or getattr(importlib.import_module(value.__module__), name) is not value:
                wrong.append(f"{room}.{name}")
        if (
            importlib.util.find_spec(f"{room}.{name}")
            or getattr(package, name) is not value
            or name not in dir(package)
        ):
            wrong.append(f"{room}.{name} is hidden")
    assert len(NAMES) > 150
    assert wrong == []


def test_the_top_of_a_room_is_short_and_what_stood_there_is_one_level_down() -> None:
    """At the top those names are found for one version more, with a warning."""
    assert len(audits.__all__) <= 30
    assert len(mechanisms.__all__) <= 45
    for room in (audits, mechanisms):
        for part in room._PARTS:
            package = importlib.import_module(f"{room.__name__}.{part}")
            assert package.__all__
            for name in package.__all__:
                assert name not in room.__all__
                with pytest.warns(DeprecationWarning, match=f"{room.__name__}.{name} is {package.__name__}.{name} now"):
                    assert getattr(room, name) is getattr(package, name)


def test_an_unknown_name_is_refused() -> None:
    for room in ROOMS:
        with pytest.raises(AttributeError, match=f"{room} attribute no_such_name"):
            importlib.import_module(room).no_such_name  # noqa: B018


def test_a_package_carries_its_types_and_lists_a_name_once() -> None:
    for room in public_packages():
        package = importlib.import_module(room)
        folder = Path(str(package.__file__)).parent
        assert "." in room or (folder / "py.typed").is_file()
        lines = [
            each for each in (folder / "__init__.pyi").read_text("utf-8").splitlines() if each.startswith("from .")
        ]
        names = [line.rpartition(" as ")[2] for line in lines]
        assert sorted(names) == sorted(package.__all__)
        assert len(set(names)) == len(names)


@pytest.mark.parametrize("room", ROOMS)
def test_importing_a_room_loads_nothing_heavy(room: str) -> None:
    heavy = ("numpy", "scipy", "statsmodels", "pandas", "matplotlib", "sklearn", "dp_accounting", "pydantic", "typst")
    text = f"import sys, {room}; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_process_that_draws_waits_for_no_pandas() -> None:
    text = "import sys, audits.harness.fresh_process; print('pandas' in sys.modules)"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
