"""The HTML of a document: everything that it holds, escaped, in one file that may run nothing but its own script."""

import base64
import hashlib
import re
import subprocess
import sys
from collections import Counter
from dataclasses import dataclass, replace
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

from reports import Document, Figure, Section, Series, Table
from reports.codec import loads
from reports.formats import rendered
from reports.markdown import BANNER
from reports.row import (
    Attachment,
    Badge,
    Bullets,
    Callout,
    Code,
    Facet,
    Fact,
    Facts,
    FormulaBlock,
    Paragraph,
    Reference,
    Tone,
)
from reports.web.html_page import html_bytes

HOSTILE = '<script>alert(\'&amp;\')</script>" onload="x" \u202e\x00'
VOID = ("meta", "br", "input", "link", "img", "hr")


class Page(HTMLParser):
    """A page as a browser's parser sees it: every start tag with its attributes, and the text outside scripts."""

    def __init__(self, data: bytes) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str]]] = []
        self.text = ""
        self.raw: dict[str, str] = {}
        self._open: list[str] = []
        self.feed(data.decode())
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, {name: value or "" for name, value in attrs}))
        if tag not in VOID:
            self._open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] in ("script", "style"):
            self.raw[self._open[-1]] = self.raw.get(self._open[-1], "") + data
        else:
            self.text += data

    def values(self, name: str) -> list[str]:
        return [attributes[name] for _, attributes in self.tags if name in attributes]

    def count(self, tag: str) -> int:
        return sum(name == tag for name, _ in self.tags)


def page(document: Document) -> Page:
    return Page(html_bytes(document))


@pytest.fixture(scope="module")
def demo_page(demo: Document) -> Page:
    return page(demo)


def section(name: str, **facets: str) -> Section:
    held = tuple(Facet(key, value) for key, value in facets.items())
    return Section(f"About {name}", 1, (Paragraph(f"This is {name}."),), id=name, facets=held)


def everywhere(text: str) -> Document:
    """Return a document with a text in every place that takes one."""
    curve = Figure("f", text, text, text, text, text, (Series(text, (1.0, 2.0), (1.0, 2.0)),))
    blocks = (
        Paragraph(text),
        Bullets((text,)),
        Code(text, text),
        Facts((Fact(text, text),)),
        Table(text, (text, "b"), ((text, Badge(text)), (Reference("one two", text), text))),
        FormulaBlock(text, "x", text),
        Callout(Tone.BAD, text, text),
        curve,
    )
    return Document(
        title=text,
        subtitle=text,
        author=text,
        keywords=(text,),
        summary=Callout(Tone.GOOD, text, text),
        front=(Paragraph(text),),
        sections=(
            Section(text, 1, blocks, badges=(Badge(text),), kicker=text, id="one two", facets=(Facet("a", text),)),
        ),
        attachment=Attachment("a.txt", b"x", "text/plain", text),
    )


def test_every_section_block_and_figure_of_a_document_is_there(demo: Document, demo_page: Page) -> None:
    assert demo_page.count("article") == sum(part.level == 1 for part in demo.sections)
    assert demo_page.count("section") == sum(part.level > 1 for part in demo.sections)
    figures = [block for block in demo.blocks() if hasattr(block, "alt")]
    assert [a["aria-label"] for tag, a in demo_page.tags if tag == "svg"] == [figure.alt for figure in figures]
    assert all(a["role"] == "img" for tag, a in demo_page.tags if tag == "svg")
    assert demo_page.count("math") >= sum(isinstance(block, FormulaBlock) for block in demo.blocks()) > 5
    words = " ".join(demo_page.text.split())
    for part in demo.sections:
        assert part.title in words
        assert part.kicker in words
        assert all(badge.text in words for badge in part.badges)
    for block in demo.blocks():
        if isinstance(block, Table):
            assert all(cell in words for row in block.rows for cell in row if isinstance(cell, str))


def test_no_style_attribute_no_handler_and_no_address_outside(demo_page: Page) -> None:
    assert demo_page.values("style") == []
    assert [name for _, attributes in demo_page.tags for name in attributes if name.startswith("on")] == []
    assert all(address.startswith("#") for address in demo_page.values("href") + demo_page.values("src"))
    assert not re.search(r"https?://", demo_page.raw["script"] + demo_page.raw["style"])


def test_the_policy_allows_this_style_and_this_script_alone(demo_page: Page) -> None:
    policy = next(a["content"] for _, a in demo_page.tags if a.get("http-equiv") == "Content-Security-Policy")
    rules = dict(rule.strip().split(" ", 1) for rule in policy.split(";"))
    assert rules["default-src"] == "'none'"
    for kind in ("style", "script"):
        digest = base64.b64encode(hashlib.sha256(demo_page.raw[kind].encode()).digest()).decode()
        assert rules[f"{kind}-src"] == f"'sha256-{digest}'"
    assert rules["font-src"] == rules["img-src"] == "data:"
    assert rules["base-uri"] == rules["form-action"] == "'none'"
    assert [tag for tag, _ in demo_page.tags[:5]] == ["html", "head", "meta", "meta", "meta"]


def test_ids_are_unique_and_links_lead_somewhere(demo_page: Page) -> None:
    ids = demo_page.values("id")
    assert [name for name, count in Counter(ids).items() if count > 1] == []
    assert {unquote(link[1:]) for link in demo_page.values("href")} <= set(ids)


def test_sections_without_an_id_or_with_one_of_the_page_get_one_of_their_own() -> None:
    same = tuple(Section("Same words", 1, ()) for _ in range(3))
    clash = (Section("x", 1, (), id="same-words-2"), Section("y", 1, (), id="page-main"), Section("§", 1, ()))
    made = page(Document("t", (*same, *clash)))
    articles = [a["id"] for tag, a in made.tags if tag == "article"]
    assert articles == ["same-words", "same-words-3", "same-words-4", "same-words-2", "page-main-2", "section"]
    assert len(set(made.values("id"))) == len(made.values("id"))


def test_a_part_is_named_above_its_first_section_and_a_kicker_comes_before_it() -> None:
    parted = Section("What it holds", 1, (Paragraph("a"),), part="Wang (2019)")
    both = Section("Second", 1, (Paragraph("b"),), part="Method", kicker="two words")
    made = page(Document("t", (parted, both)))
    assert "Wang (2019)" in made.text
    assert "two words" in made.text
    assert "Method" not in made.text


def test_an_id_with_signs_of_addresses_is_linked_as_it_must_be() -> None:
    table = Table("", ("a",), ((Reference("W18-A2#output", "there"),),))
    made = page(Document("t", (Section("x", 1, (), id="W18-A2#output"),), front=(table,)))
    assert "#W18-A2%23output" in made.values("href")
    assert "W18-A2#output" in made.values("id")


@pytest.mark.parametrize("text", [HOSTILE, "</style></title></textarea>--><!--", "a & b < c > d ' \"", "]]>{{7*7}}"])
def test_hostile_texts_stay_texts(text: str) -> None:
    plain, hostile = page(everywhere("x")), page(everywhere(text))
    kept = [tag for tag, _ in hostile.tags if tag not in ("path", "use", "g", "defs")]
    assert kept == [tag for tag, _ in plain.tags if tag not in ("path", "use", "g", "defs")]
    assert sorted({name for _, a in hostile.tags for name in a}) == sorted({name for _, a in plain.tags for name in a})
    shown = text.replace("\u202e", "<U+202E>").replace("\x00", "<U+0000>")
    assert hostile.text.count(shown) >= 20
    assert hostile.raw == plain.raw


def test_line_breaks_are_kept() -> None:
    made = html_bytes(Document("t", (), front=(Paragraph("one\ntwo"), Code("if:\n  a\n\n  b"))))
    assert b"one<br>two" in made
    assert b"<code>if:\n  a\n\n  b</code>" in made


def test_the_search_is_there_where_sections_have_facets_and_hidden_without_the_script(demo_page: Page) -> None:
    chosen = Document("t", (section("A-1", colour="red"), section("A-2", colour="blue"), Section("Rest", 1, ())))
    made = page(chosen)
    form = next(a for tag, a in made.tags if tag == "form")
    assert "hidden" in form
    assert form["role"] == "search"
    assert [a.get("data-colour") for tag, a in made.tags if tag == "article"] == ["red", "blue", None]
    assert [a["data-facet"] for tag, a in made.tags if tag == "select"] == ["colour"]
    assert not any("hidden" in a for tag, a in made.tags if tag in ("article", "main", "header"))
    assert demo_page.count("form") == 0


def test_a_facet_is_a_word_and_stands_once_on_level_one() -> None:
    with pytest.raises(ValueError, match="name must be lower-case letters"):
        Facet("A b", "x")
    with pytest.raises(ValueError, match="value must be text"):
        Facet("a", " ")
    with pytest.raises(ValueError, match="facets must be empty below level 1"):
        Section("x", 2, (), facets=(Facet("a", "b"),))
    with pytest.raises(ValueError, match="name of facets must be unique"):
        Section("x", 1, (), facets=(Facet("a", "b"), Facet("a", "c")))
    document = Document("t", (section("A-1", colour="red"),))
    assert loads(document.to_json(), Document) == document


def test_columns_of_page_numbers_are_left_out() -> None:
    table = Table("", ("Id", "Page"), ((Reference("A-1", "A-1"), Reference("A-1")),))
    made = page(Document("t", (section("A-1"),), front=(table,)))
    assert "Page" not in made.text
    assert made.values("href").count("#A-1") == 2  # the row and the permanent link


def test_a_confidential_page_says_so_and_names_what_it_was_made_from() -> None:
    attachment = Attachment("audit.jsonl", b"{}", "application/json", "The record")
    made = page(Document("t", (), confidential=True, attachment=attachment))
    assert made.text.count(BANNER) == 2
    assert hashlib.sha256(b"{}").hexdigest() in made.text
    assert BANNER not in page(Document("t", ())).text


def test_the_font_travels_where_formulas_do() -> None:
    assert "data:font/woff" in page(Document("t", (), front=(FormulaBlock("", "x^2", "x^2"),))).raw["style"]
    assert "data:font" not in page(Document("t", (), front=(Paragraph("no formula"),))).raw["style"]


@dataclass(frozen=True)
class Stranger:
    """A block that no renderer knows."""

    text: str = "x"


def test_a_block_of_another_type_is_refused() -> None:
    with pytest.raises(ValueError, match=r"block must be one of reports\.row, got block=Stranger"):
        html_bytes(Document("t", (), front=(Stranger(),)))  # type: ignore[arg-type]


def test_a_drawing_with_a_script_is_refused(demo: Document) -> None:
    names = [block.name for block in demo.blocks() if hasattr(block, "alt")]
    evil = b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script></svg>'
    with pytest.raises(ValueError, match="svg must hold shapes, got an element script"):
        html_bytes(demo, figures=dict.fromkeys(names, evil))


def test_equal_documents_have_equal_bytes_in_every_process(tmp_path: Path) -> None:
    document = replace(everywhere("x"), date="2031-01-01")
    (tmp_path / "d.json").write_text(document.to_json(), encoding="utf-8")
    code = (
        "import sys, pathlib; from reports.formats import rendered; from reports.row import Document; "
        "sys.stdout.buffer.write(rendered(Document.from_json(pathlib.Path('d.json').read_text()), '.html'))"
    )
    root = str(Path(__file__).resolve().parents[3])
    answer = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env={"PYTHONPATH": root}, capture_output=True)
    assert answer.stdout == rendered(document, ".html"), answer.stderr
