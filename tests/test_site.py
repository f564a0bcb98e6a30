"""What the documentation site is made from is whole: pages, formulas, names. CI builds it, warnings as errors."""

from __future__ import annotations

import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from markdown import Markdown

ROOT = Path(__file__).resolve().parent.parent
DOCS = ROOT / "docs"
ROOMS = ("mechanisms", "audits", "verify", "reports")
CONFIGURATION = (ROOT / "mkdocs.yml").read_text("utf-8")
PAGES = sorted(str(path.relative_to(DOCS)) for path in DOCS.rglob("*.md"))


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
    assert sorted(re.findall(r"(\S+\.md)$", navigation, re.MULTILINE)) == PAGES


@pytest.mark.parametrize("room", ROOMS)
def test_the_page_of_a_room_holds_its_public_names(room: str) -> None:
    assert f"[names of {room}]" in (DOCS / "api" / f"{room}.md").read_text("utf-8").splitlines()
    listed = re.findall(r"^::: (\S+)$", SITE.room_page(room), re.MULTILINE)
    assert sorted(name.rpartition(".")[2] for name in listed) == sorted(importlib.import_module(room).__all__)
    for name in listed:
        module, _, attribute = name.rpartition(".")
        assert hasattr(importlib.import_module(module), attribute)


@pytest.mark.parametrize("page", PAGES)
def test_every_formula_of_a_page_is_set(page: str) -> None:
    """No dollar and no command of LaTeX is left outside code."""
    html = rendered((DOCS / page).read_text("utf-8"))
    plain = re.sub(r"<(pre|code)\b.*?</\1>", "", html, flags=re.DOTALL)
    assert re.findall(r"\$[^$\n]*\$|\\[a-zA-Z]+", plain) == []
    assert all(part.count("<math") == 1 for part in re.findall(r"<math.*?</math>", plain, flags=re.DOTALL))


def test_a_formula_is_read_before_what_it_holds() -> None:
    html = rendered(r"where $[a](\hat b)$, `$c$` and $$x_1<y_2$$ stay")
    assert html.count("<math") == 2
    assert "<a " not in html
    assert "<code>$c$</code>" in html
    assert "<em>" not in html


def test_pages_are_read_from_disk() -> None:
    assert "use_directory_urls: false" in CONFIGURATION
    assert "font: false" in CONFIGURATION
