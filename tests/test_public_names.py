"""What a researcher types is there, typed, and importing a room stays light."""

from __future__ import annotations

import importlib
import importlib.util
import inspect
import subprocess
import sys
from pathlib import Path

import pytest

ROOMS = ("mechanisms", "audits", "verify", "reports")
NAMES = [(room, name) for room in ROOMS for name in importlib.import_module(room).__all__]


@pytest.mark.parametrize(("room", "name"), NAMES)
def test_every_public_name_is_what_its_module_holds(room: str, name: str) -> None:
    package = importlib.import_module(room)
    value = getattr(package, name)
    if inspect.isclass(value) or inspect.isfunction(value):
        assert getattr(importlib.import_module(value.__module__), name) is value
        assert value.__module__.startswith(f"{room}.")
        assert value.__doc__
    # importing a module later must not put the module in its place
    assert importlib.util.find_spec(f"{room}.{name}") is None
    assert getattr(package, name) is value
    assert name in dir(package)


@pytest.mark.parametrize("room", ROOMS)
def test_an_unknown_name_is_refused(room: str) -> None:
    with pytest.raises(AttributeError, match=f"{room} attribute no_such_name"):
        importlib.import_module(room).no_such_name  # noqa: B018


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_carries_its_types_and_lists_a_name_once(room: str) -> None:
    package = importlib.import_module(room)
    folder = Path(str(package.__file__)).parent
    assert (folder / "py.typed").is_file()
    lines = [line for line in (folder / "__init__.pyi").read_text("utf-8").splitlines() if line.startswith("from .")]
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
