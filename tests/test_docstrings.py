"""Docstrings of public names say what goes in and out; every example in them and in the README gives what it shows."""

from __future__ import annotations

import dataclasses
import doctest
import html
import importlib
import inspect
import re
from pathlib import Path
from typing import Any

import pytest
from packages import public_packages

#: Rooms whose functions are documented in full.
FULL = ("mechanisms", "audits", "verify", "reports")
BESIDE = Path(__file__).resolve().parent.parent  # the tests are run against an installed wheel too
ROOT = Path(str(importlib.import_module("audits").__file__)).parent.parent
SOURCES = [path for room in FULL for path in sorted((ROOT / room).rglob("*.py"))]
EXAMPLES = [path for path in SOURCES if re.search(r"^\s*>>> ", path.read_text("utf-8"), re.MULTILINE)]
FUNCTIONS = [
    (room, name)
    for room in public_packages()
    for name in importlib.import_module(room).__all__
    if inspect.isfunction(getattr(importlib.import_module(room), name))
]


def module_name(path: Path) -> str:
    return ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("folder", sorted({module_name(path.parent) for path in EXAMPLES}))
def test_the_examples_of_modules_give_what_they_show(folder: str) -> None:
    modules = [module_name(path) for path in EXAMPLES if module_name(path.parent) == folder]
    results = {name: doctest.testmod(importlib.import_module(name)) for name in modules}
    assert [name for name, result in results.items() if result.failed or not result.attempted] == []


@pytest.mark.quick
def test_examples_of_the_guides() -> None:
    """Every example in a guide gives the output that it shows."""
    assert len(run_examples(BESIDE / "docs" / "audit.md")) >= 8


def test_readme_example_gives_what_it_shows_and_what_its_picture_shows() -> None:
    found = run_examples(BESIDE / "README.md")["found"]
    for style in ("", "_dark"):
        picture = (BESIDE / "docs" / "pictures" / f"first_audit{style}.svg").read_text(encoding="utf-8")
        titles = re.findall("<title>(.*?)</title>", picture, re.DOTALL)
        assert [html.unescape(title) for title in titles] == [found.summary()]


def run_examples(page: Path) -> dict[str, Any]:
    """Return what the examples of a page leave behind."""
    examples = "\n".join(line for line in page.read_text(encoding="utf-8").splitlines() if not line.startswith("```"))
    test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
    assert doctest.DocTestRunner(verbose=False).run(test, clear_globs=False).failed == 0
    return test.globs


@pytest.mark.quick
def test_examples_are_found() -> None:
    assert len(EXAMPLES) > 30
    assert len(FUNCTIONS) > 60


def test_public_functions_document_their_parameters_and_what_they_return() -> None:
    wrong: list[str] = []
    for room, name in FUNCTIONS:
        function = getattr(importlib.import_module(room), name)
        text, signature = inspect.getdoc(function) or "", inspect.signature(function)
        described = text.partition("Parameters\n----------\n")[2]
        wrong += [f"{name}: {word}" for word in signature.parameters if not re.search(rf"\b{word}\b", described)]
        if "Returns\n-------\n" not in text and signature.return_annotation not in (None, "None"):
            wrong.append(f"{name}: Returns")
    assert wrong == []


def test_no_docstring_speaks_the_language_of_another_generator() -> None:
    """The roles of Sphinx would be printed as they are."""
    role = re.compile(r":(func|mod|class|meth|attr|data|exc|obj|ref|const):`")
    assert [module_name(path) for path in SOURCES if role.search(path.read_text("utf-8"))] == []


CLASSES = [
    (room, name)
    for room in public_packages("audits", "verify", "reports")
    for name in importlib.import_module(room).__all__
    if inspect.isclass(cls := getattr(importlib.import_module(room), name)) and dataclasses.is_dataclass(cls)
]


def test_public_classes_say_what_their_fields_are() -> None:
    wrong: list[str] = []
    for room, name in CLASSES:
        cls = getattr(importlib.import_module(room), name)
        text, fields = inspect.getdoc(cls) or "", [field.name for field in dataclasses.fields(cls)]
        wrong += [f"{name}: {field}" for field in fields if not re.search(rf"\b{field}\b", text)]
    assert wrong == []
