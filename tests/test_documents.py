"""What documents and docstrings name exists: files, modules, names; what the site is made from is whole.

CI builds the site, warnings as errors.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import re
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

from markdown import Markdown
from packages import ROOMS, public_packages

ROOT = Path(__file__).resolve().parent.parent
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


def test_what_documents_name_exists() -> None:
    wrong = set()
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        named = [name for span in re.findall(r"`([^`\n]+)`", text) for name in NAME.findall(span)]
        wrong |= {f"{page}: {name}" for name in (*missing_files(text), *named) if "/" in name or not is_there(name)}
    assert sorted(wrong) == []


def test_what_source_files_name_exists() -> None:
    wrong = {
        f"{path.relative_to(ROOT)}: {name}"
        for room in ROOMS
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


# --- the site ---------------------------------------------------------------------------------------------------------

DOCS = ROOT / "docs"
CONFIGURATION = (ROOT / "mkdocs.yml").read_text("utf-8")
SITE_PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


def extension() -> ModuleType:
    spec = importlib.util.spec_from_file_location("site_markdown", ROOT / ".ci" / "site_markdown.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SITE = extension()


def rendered(text: str) -> str:
    return Markdown(extensions=["tables", "fenced_code", SITE.Site()]).convert(text)


def test_every_page_is_in_the_navigation_and_exists() -> None:
    navigation = CONFIGURATION.partition("\nnav:\n")[2]
    assert sorted(re.findall(r"(\S+\.md)$", navigation, re.MULTILINE)) == SITE_PAGES


def test_the_page_of_a_package_holds_its_public_names() -> None:
    for room in ROOMS:
        assert f"[names of {room}]" in (DOCS / "api" / f"{room}.md").read_text("utf-8").splitlines()
        listed = re.findall(r"^::: (\S+)$", SITE.room_page(room), re.MULTILINE)
        names = [name for package in public_packages(room) for name in importlib.import_module(package).__all__]
        assert sorted(name.rpartition(".")[2] for name in listed) == sorted(names)
        assert [name for name in listed if not is_there(name)] == []


def test_every_formula_of_every_page_is_set() -> None:
    """No dollar and no command of LaTeX is left outside code."""
    wrong: list[str] = []
    for page in SITE_PAGES:
        html = rendered((DOCS / page).read_text("utf-8"))
        plain = re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)
        wrong += [f"{page}: {left}" for left in re.findall(r"\$[^$\n]*\$|\\[a-zA-Z]+", plain)]
        formulas = re.findall(r"<math.*?</math>", plain, flags=re.DOTALL)
        wrong += [f"{page}: {formula}" for formula in formulas if formula.count("<math") != 1]
    assert wrong == []


def test_a_formula_is_read_before_what_it_holds() -> None:
    html = rendered(r"where $[a](\hat b)$, `$c$` and $$x_1<y_2$$ stay")
    assert html.count("<math") == 2
    assert "<a " not in html
    assert "<code>$c$</code>" in html
    assert "<em>" not in html


def test_pages_are_read_from_disk() -> None:
    assert "use_directory_urls: false" in CONFIGURATION
    assert "font: false" in CONFIGURATION
