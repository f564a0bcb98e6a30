"""What the documents and docstrings name exists: files of the repository, and modules or names in them."""

from __future__ import annotations

import ast
import importlib
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ("mechanisms", "audits", "verify", "reports")
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for place in ("*.md", "docs/**/*.md")
    for path in ROOT.glob(place)
    if path.name != "CHANGELOG.md"  # of the past
)
FILE = re.compile(
    r"(?<![\w/.])(?:mechanisms|audits|verify|reports|tests|docs|benchmarks)/[\w/]+\.(?:py|md|toml|json|csv|typ)\b"
)
NAME = re.compile(r"(?<![\w/.])(?:mechanisms|audits|verify|reports)(?:\.[A-Za-z_]\w*)+")


def missing_files(text: str) -> Iterator[str]:
    yield from (name for name in FILE.findall(text) if not (ROOT / name).is_file())


def is_there(dotted: str) -> bool:
    """Tell whether a dotted name is a module, or a name inside one."""
    parts = dotted.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            thing: object = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for name in parts[cut:]:
            if not hasattr(thing, name):
                return False
            thing = getattr(thing, name)
        return True
    return False


@pytest.mark.parametrize("page", PAGES)
def test_what_a_document_names_exists(page: str) -> None:
    text = (ROOT / page).read_text(encoding="utf-8")
    assert sorted(set(missing_files(text))) == []
    code = re.findall(r"`([^`\n]+)`", text)
    assert sorted({name for span in code for name in NAME.findall(span) if not is_there(name)}) == []


@pytest.mark.parametrize("room", ROOMS)
def test_what_a_source_file_names_exists(room: str) -> None:
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for path in (ROOT / room).rglob("*.py")
        for name in missing_files(path.read_text(encoding="utf-8"))
    }
    assert sorted(wrong) == []


def test_the_picture_of_the_house_is_true() -> None:
    """Each folder stands in docs/architecture.md with the first sentence of its ``__init__``, and no other."""
    page = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
    shown = dict(re.findall(r"^\| `((?:mechanisms|audits|verify|reports)[\w/]*)/` \| (.+) \|$", page, re.MULTILINE))
    house = {}
    for room in ROOMS:
        for path in (ROOT / room).rglob("__init__.py"):
            words = " ".join((ast.get_docstring(ast.parse(path.read_text(encoding="utf-8"))) or "").split())
            house[path.parent.relative_to(ROOT).as_posix()] = words.partition(". ")[0].rstrip(".")
    assert shown == house


def test_a_wrong_name_is_noticed() -> None:
    assert list(missing_files("see docs/nowhere.md and verify/cli.py")) == ["docs/nowhere.md"]
    assert is_there("verify.cli.group")
    assert is_there("mechanisms.Dataset.public")
    assert not is_there("verify.nowhere")
    assert not is_there("mechanisms.Dataset.nowhere")
