"""Docstrings of public names say what goes in and out; every example in them and in the README gives what it shows."""

from __future__ import annotations

import dataclasses
import doctest
import importlib
import inspect
import re
from pathlib import Path

import pytest

#: Rooms whose functions are documented in full.
FULL = ("mechanisms", "audits", "verify", "reports")
README = Path(__file__).resolve().parent.parent / "README.md"  # the tests are run against an installed wheel too
ROOT = Path(str(importlib.import_module("audits").__file__)).parent.parent
SOURCES = [path for room in FULL for path in sorted((ROOT / room).rglob("*.py"))]
EXAMPLES = [path for path in SOURCES if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.MULTILINE)]
FUNCTIONS = [
    (room, name)
    for room in FULL
    for name in importlib.import_module(room).__all__
    if inspect.isfunction(getattr(importlib.import_module(room), name))
]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("path", EXAMPLES, ids=module_name)
def test_the_examples_of_a_module_give_what_they_show(path: Path) -> None:
    result = doctest.testmod(importlib.import_module(module_name(path)))
    assert result.attempted > 0
    assert result.failed == 0


@pytest.mark.quick
def test_readme_examples() -> None:
    """Every example in the README gives the output that it shows."""
    examples = "\n".join(line for line in README.read_text(encoding="utf-8").splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(examples, {}, "README.md", str(README), 0)
    assert len(test.examples) >= 8
    assert doctest.DocTestRunner(verbose=False).run(test).failed == 0


@pytest.mark.quick
def test_examples_are_found() -> None:
    assert len(EXAMPLES) > 30


@pytest.mark.parametrize(("room", "name"), FUNCTIONS)
def test_a_public_function_documents_its_parameters_and_what_it_returns(room: str, name: str) -> None:
    function = getattr(importlib.import_module(room), name)
    text = inspect.getdoc(function) or ""
    described = text.partition("Parameters\n----------\n")[2]
    parameters = list(inspect.signature(function).parameters)
    assert [word for word in parameters if not re.search(rf"\b{word}\b", described)] == []
    assert "Returns\n-------\n" in text or inspect.signature(function).return_annotation in (None, "None")


def test_no_docstring_speaks_the_language_of_another_generator() -> None:
    """The roles of Sphinx would be printed as they are."""
    role = re.compile(r":(func|mod|class|meth|attr|data|exc|obj|ref|const):`")
    assert [module_name(path) for path in SOURCES if role.search(path.read_text("utf-8"))] == []


CLASSES = [
    (room, name)
    for room in ("audits", "verify", "reports")
    for name in importlib.import_module(room).__all__
    if inspect.isclass(cls := getattr(importlib.import_module(room), name)) and dataclasses.is_dataclass(cls)
]


@pytest.mark.parametrize(("room", "name"), CLASSES)
def test_a_public_class_says_what_its_fields_are(room: str, name: str) -> None:
    cls = getattr(importlib.import_module(room), name)
    text = inspect.getdoc(cls) or ""
    assert [field.name for field in dataclasses.fields(cls) if not re.search(rf"\b{field.name}\b", text)] == []
