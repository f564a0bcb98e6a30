"""Markdown: every text is there, and nothing in a text is taken for markup."""

import re

import pytest

from reports.markdown import BANNER, render_markdown
from reports.row import Badge, Bullets, Code, Document, FormulaBlock, Paragraph, Section, Table


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


@pytest.mark.parametrize(
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
