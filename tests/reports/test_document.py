"""The PDF: hostile texts, equal bytes, accessible structure, metadata, attachment, every kind of block."""

from __future__ import annotations

import dataclasses
import io
import os
import re
import subprocess
import sys

import pypdf
import pytest
from rows import for_each

from reports.document import STANDARDS, check_formulas, pdf_bytes
from reports.formats import write_document
from reports.markdown import render_markdown
from reports.row import (
    Attachment,
    Audience,
    Badge,
    Bullets,
    Callout,
    Code,
    Document,
    Fact,
    Facts,
    FormulaBlock,
    Paragraph,
    Reference,
    Section,
    Table,
    TextStyle,
    Tone,
)

HOSTILE = (
    '#panic("x") $',
    "= not a heading",
    '*bold* _it_ `raw` ~ @ref <label> // comment /* c */ \\ #{} #[x] #import "a"',
    "$ x^2 $ & | -- --- ... ' \"",
    "https://example.org/#a",
)
BANNER = "CONFIDENTIAL - CONTAINS PRIVATE INFORMATION"


def read(data: bytes) -> pypdf.PdfReader:
    return pypdf.PdfReader(io.BytesIO(data), strict=True)


def text_of(reader: pypdf.PdfReader) -> str:
    return " ".join(" ".join(page.extract_text() for page in reader.pages).split())


def squeezed(text: str) -> str:
    """Without spaces: versions of pypdf differ in where they see one between two letters."""
    return "".join(text.split())


@pytest.fixture(scope="module")
def demo_pdf(demo):
    return pdf_bytes(demo)


@pytest.fixture(scope="module")
def reader(demo_pdf):
    return read(demo_pdf)


def structure(reader: pypdf.PdfReader) -> list[tuple[str, str]]:
    """Every element of the structure tree as (role, alternative text)."""
    found, queue, seen = [], [reader.trailer["/Root"]["/StructTreeRoot"]], set()
    while queue:
        node = queue.pop().get_object()
        if isinstance(node, list):
            queue.extend(node)
        elif isinstance(node, dict) and id(node) not in seen:
            seen.add(id(node))
            if "/S" in node:
                found.append((str(node["/S"]), str(node.get("/Alt", ""))))
            if "/K" in node:
                queue.append(node.raw_get("/K"))
    return found


def test_every_title_is_searchable_and_bookmarked(demo, reader):
    text = squeezed(text_of(reader))
    assert squeezed(demo.title) in text
    bookmarks = []

    def walk(items):
        for item in items:
            if isinstance(item, list):
                walk(item)
            else:
                bookmarks.append(item.title)

    walk(reader.outline)
    assert bookmarks == [bookmark(section) for section in demo.sections]
    for section in demo.sections:
        for part in (section.title, section.kicker, *(badge.text for badge in section.badges)):
            assert squeezed(part) in text


def bookmark(section):
    """A heading with what stands above its title."""
    return " · ".join(filter(None, (section.kicker, section.title)))


@pytest.mark.quick
def test_parts_of_a_document_hold_its_bookmarks_and_start_a_page():
    """Where there are parts, a section of level 1 starts no page, and its bookmark is one level deeper."""
    words = (Paragraph("x"),)
    sections = (
        Section("First", 1, words, kicker="W19-L2.4 · refuted", part="Wang (2019)"),
        Section("Piece", 2, words),
        Section("Second", 1, words),
        Section("Third", 1, words, part="Method"),
    )
    document = Document("t", sections, front=(Facts((Fact("Paper", "a title", "https://doi.org/10.1/x"),)),))
    reader = read(pdf_bytes(document))
    assert len(reader.pages) == 3
    first, below, method, third = reader.outline
    assert (first.title, method.title) == ("Wang (2019)", "Method")
    assert [item.title for item in below if not isinstance(item, list)] == ["W19-L2.4 · refuted · First", "Second"]
    assert [item.title for item in third] == ["Third"]
    links = [each.get_object()["/A"]["/URI"] for each in reader.pages[0]["/Annots"]]
    assert links == ["https://doi.org/10.1/x"]


def test_each_section_of_level_one_starts_a_page(demo, reader):
    level_one = [bookmark(section) for section in demo.sections if section.level == 1]
    tops = [item.title for item in reader.outline if not isinstance(item, list)]
    pages = [reader.get_destination_page_number(item) for item in reader.outline if not isinstance(item, list)]
    assert tops == level_one
    assert len(set(pages)) == len(pages)
    assert min(pages) == 1


def test_page_numbers_and_running_header(demo, reader):
    for number, page in enumerate(reader.pages, start=1):
        text = squeezed(page.extract_text())
        assert f"{number}of{len(reader.pages)}" in text
        assert (squeezed(demo.running_header) in text) == (number > 1)
        assert squeezed(BANNER) not in text


def test_metadata_and_language(demo, reader):
    metadata = reader.metadata
    assert metadata.title == demo.title
    assert metadata.author == demo.author
    assert metadata.subject == demo.subtitle
    assert metadata["/Keywords"] == ", ".join(demo.keywords)
    assert metadata.creation_date.isoformat().startswith(demo.date)
    assert reader.trailer["/Root"]["/Lang"] == demo.language
    assert reader.trailer["/Root"]["/MarkInfo"]["/Marked"]


def test_standards_are_claimed(reader):
    xmp = reader.trailer["/Root"]["/Metadata"].get_object().get_data().decode()
    assert STANDARDS == ("1.7", "ua-1", "a-3a")
    assert re.search(r"pdfuaid:part>1<|pdfuaid:part=.1", xmp)
    assert re.search(r"pdfaid:part>3<|pdfaid:part=.3", xmp)
    assert re.search(r"pdfaid:conformance>A<|pdfaid:conformance=.A", xmp)


def test_alternative_texts_are_in_the_structure_tree(demo, reader):
    elements = structure(reader)
    formulas = [block.text for block in demo.blocks() if isinstance(block, FormulaBlock)]
    drawings = [block.alt for block in demo.blocks() if hasattr(block, "alt")]
    assert sorted(alt for role, alt in elements if role == "/Formula") == sorted(formulas)
    assert sorted(alt for role, alt in elements if role == "/Figure" and alt) == sorted(drawings)
    roles = {role for role, _ in elements}
    assert {"/H1", "/H2", "/Table", "/TH", "/TD", "/P", "/L", "/LI", "/Caption", "/Link"} <= roles


def test_attachment(demo, reader):
    assert reader.attachments[demo.attachment.name] == [demo.attachment.data]
    without = read(pdf_bytes(dataclasses.replace(Document("t", ()), attachment=None)))
    assert not without.attachments


@for_each("paper", ["a4", "us-letter"])
def test_confidential_pages_are_marked(paper):
    sections = tuple(Section(f"Section {i}", 1, (Paragraph("x"),)) for i in range(3))
    document = Document("t", sections, confidential=True, paper=paper)
    pages = read(pdf_bytes(document)).pages
    assert len(pages) == 4
    assert all(squeezed(BANNER) in squeezed(page.extract_text()) for page in pages)
    assert [round(float(side)) for side in pages[0].mediabox[2:]] == {"a4": [595, 842], "us-letter": [612, 792]}[paper]


def everywhere(text: str) -> Document:
    """One text in every place where a text can stand."""
    blocks = (
        Paragraph(text),
        Paragraph(text, TextStyle.LEAD),
        Paragraph(text, TextStyle.NOTE),
        Bullets((text,)),
        Code(text, label=text),
        Facts((Fact(text, text),)),
        Table(text, (text, "b"), ((text, Badge(text, Tone.BAD)), (Reference(text, text), Reference(text)))),
        FormulaBlock(text, "x <= y", text),
        Callout(Tone.WARNING, text, text),
    )
    section = Section(text, 1, blocks, Audience.RELEASE, (Badge(text),), kicker=text, id=text)
    return Document(
        title=text,
        subtitle=text,
        author=text,
        keywords=(text,),
        summary=Callout(Tone.GOOD, text, text),
        front=blocks[:6],
        sections=(section,),
        running_header=text,
        audience=Audience.RELEASE,
        attachment=Attachment("a.json", b"{}", "application/json", text),
    )


@for_each("text", HOSTILE)
def test_a_hostile_text_prints_as_itself(text):
    reader = read(pdf_bytes(everywhere(text)))
    assert squeezed(text_of(reader)).count(squeezed(text)) >= 20
    assert reader.metadata.title == text
    assert reader.outline[0].title == f"{text} · {text}"


@for_each(
    ("text", "shown"),
    [
        ("数据 x", "<U+6570><U+636E> x"),
        ("a\x00b", "a<U+0000>b"),
        ("\ud800", "<U+D800>"),
        ("\ue000", "<U+E000>"),
        ("user\u202egpj.exe", "user<U+202E>gpj.exe"),
        ("zero\u200bwidth \u00ad", "zero<U+200B>width <U+00AD>"),
        ("smile 😀 é", "smile <U+1F600> é"),
        ("x\u20ddz", "z"),
        ("ε ≤ δ ‖x‖ θ̂ 10⁻⁶ − ∞ ·", "ε ≤ δ ‖x‖"),
    ],
)
def test_characters_without_a_glyph_are_written_out(text, shown):
    reader = read(pdf_bytes(everywhere(text)))
    assert squeezed(shown) in squeezed(text_of(reader))


def test_long_words_stay_on_the_page():
    word = "".join(f"column{i:03d}" for i in range(60))
    table = Table("t", ("a", "b", "c"), ((word, word, "1.0"), ("x", "y" * 200, "2.0")))
    document = Document("t", (Section("s", 1, (Paragraph(word), table, Code(word), Facts((Fact("k", word),)))),))
    reader = read(pdf_bytes(document))
    positions = []
    for page in reader.pages:
        page.extract_text(visitor_text=lambda text, cm, tm, *_: positions.append(tm[4] if text.strip() else 0))
    assert max(positions) < 595 - 62
    text = squeezed(text_of(reader))
    assert text.count(word) == 5


def test_wide_formulas_stay_on_the_page():
    terms = " + ".join(f"abs(x_{i} - theta_{i})^2 / sigma_{i}" for i in range(30))
    reader = read(pdf_bytes(Document("t", (), front=(FormulaBlock("wide", terms, "a sum"),))))
    positions = []
    reader.pages[0].extract_text(visitor_text=lambda text, cm, tm, *_: positions.append(tm[4] if text.strip() else 0))
    assert max(positions) < 595 - 62


def test_a_wrong_formula_is_named(tmp_path):
    wrong = FormulaBlock("as printed", "frac(1", "one over")
    path = tmp_path / "a.pdf"
    with pytest.raises(ValueError, match=r"typst must be Typst math .* got typst='frac\(1' in formula 'as printed'"):
        write_document(Document("t", (), front=(FormulaBlock("right", "x", "x"), wrong)), path)
    assert not path.exists()
    check_formulas([FormulaBlock("right", "x", "x")])
    with pytest.raises(ValueError, match="unknown variable: epsilonn"):
        check_formulas([FormulaBlock("misspelt", "epsilonn <= 1", "x")])


def test_an_empty_document_and_an_undated_one():
    reader = read(pdf_bytes(Document("Only a title", ())))
    assert "Only a title" in text_of(reader)
    assert reader.metadata.creation_date.year == 1970


def test_figures_drawn_elsewhere_are_used(demo):
    names = [block.name for block in demo.blocks() if hasattr(block, "alt")]
    square = b'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect width="9" height="9"/></svg>'
    assert len(pdf_bytes(demo, figures=dict.fromkeys(names, square))) < len(pdf_bytes(demo))


def test_equal_bytes_in_two_processes(demo, demo_pdf, tmp_path):
    program = (
        "import sys, pathlib; from reports.formats import write_document; from reports.row import Document; "
        "write_document(Document.from_json(pathlib.Path('demo.json').read_text()), 'demo.pdf')"
    )
    for name, zone, seed in (("one", "UTC", "1"), ("another place", "Asia/Tokyo", "2")):
        folder = tmp_path / name
        (folder / "tmp").mkdir(parents=True)
        (folder / "demo.json").write_text(demo.to_json(), encoding="utf-8")
        changes = {"TMPDIR": str(folder / "tmp"), "TZ": zone, "PYTHONHASHSEED": seed, "HOME": str(folder)}
        settings = {"MPLCONFIGDIR": str(folder), "LC_ALL": "C"}
        (folder / "matplotlibrc").write_text("svg.hashsalt: other\nfont.size: 20\n", encoding="utf-8")
        done = subprocess.run(
            [sys.executable, "-c", program], cwd=folder, env=os.environ | changes | settings, check=False, text=True,
            capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        assert (folder / "demo.pdf").read_bytes() == demo_pdf


def test_the_import_stays_light():
    program = "import sys, reports.document, reports.numbers, reports.junit; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    heavy = {"matplotlib", "numpy", "typst", "pandas", "scipy"}
    assert not heavy & set(done.stdout.split())


def unescaped(markdown: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", markdown)


def test_everything_is_said(demo):
    text = render_markdown(demo)
    plain = unescaped(text)
    assert text == render_markdown(demo)
    for section in demo.sections:
        assert f"\n{'#' * (section.level + 1)} " in text
        assert section.title in plain
        assert all(badge.text in plain for badge in section.badges)
    for block in demo.blocks():
        assert getattr(block, "alt", "") in plain
        if isinstance(block, FormulaBlock):
            assert block.text in plain
    assert BANNER not in text


def test_confidential_is_said_first_and_last():
    text = render_markdown(Document("t", (), confidential=True))
    assert text.startswith(f"**{BANNER}**\n")
    assert text.endswith(f"**{BANNER}**\n")


@for_each(
    "text",
    [
        "*a* _b_ `c`",
        "[x](y) ![z](w)",
        "<script>alert(1)</script>",
        "# heading",
        "a | b",
        "- item",
        "1. item",
        "$x$",
        "&lt;",
    ],
)
def test_nothing_is_taken_for_markup(text):
    document = Document(text, (Section(text, 1, (Paragraph(text), Bullets((text,)))),))
    markdown = render_markdown(document)
    assert unescaped(markdown).count(text) == 4
    for line in markdown.splitlines():
        body = re.sub(r"^(#+|-) ", "", line)
        assert not re.search(r"(?<!\\)[*_`\[<$&]", body)
        assert not re.match(r"(#|- |\d+\. )", body)


def test_a_table_keeps_its_columns():
    table = Table("", ("a|b", "c"), (("x|y\nz", Badge("OK")),))
    lines = render_markdown(Document("t", (), front=(table,))).splitlines()[2:]
    assert [len(re.findall(r"(?<!\\)\|", line)) for line in lines] == [3, 3, 3]


def test_code_cannot_leave_its_fence():
    markdown = render_markdown(Document("t", (), front=(Code("a\n```\n# b"),)))
    assert "````text\na\n```\n# b\n````" in markdown
