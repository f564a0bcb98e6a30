"""What a researcher types is there, and importing the room stays light."""

import importlib
import subprocess
import sys

import pytest

import audits


@pytest.mark.parametrize("name", audits.__all__)
def test_every_public_name_is_what_its_module_holds(name: str) -> None:
    found = getattr(audits, name)
    module = importlib.import_module(found.__module__)
    assert getattr(module, name) is found
    assert found.__doc__
    # importing its module must not put the module in the function's place
    assert getattr(audits, name) is found
    assert name in dir(audits)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(AttributeError, match="module 'audits' has no attribute 'guarantee'"):
        _ = audits.guarantee


def test_importing_the_room_loads_no_statistics_package() -> None:
    heavy = ("scipy.stats", "statsmodels", "pandas", "matplotlib", "sklearn", "dp_accounting", "pydantic", "typst")
    text = f"import sys, audits; print([name for name in {heavy!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
