"""HTML is a tree: whatever a text holds, it is a text when it is written."""

import pytest
from rows import for_each

from reports.web.elements import append, element, raw_text, serialised


def test_texts_and_attributes_are_escaped() -> None:
    made = element("p", "a < b & c", element("b", "</p>"), " d", title='"><script>', class_="x", id=None)
    assert serialised(made) == ('<p title="&quot;&gt;<script&gt;" class="x">a &lt; b &amp; c<b>&lt;/p&gt;</b> d</p>')


def test_lines_and_unseen_characters_are_shown() -> None:
    made = element("p", "one\r\ntwo\x00")
    append(made, "three\n", element("i"), "four")
    assert serialised(made) == "<p>one<br>two&lt;U+0000&gt;three<br><i></i>four</p>"


@for_each("text", ["a </script> b", "<!-- b"])
def test_a_raw_text_cannot_end_its_element(text: str) -> None:
    with pytest.raises(ValueError, match="text of script must be without the end of an element"):
        raw_text("script", text)
    assert serialised(raw_text("style", "a>b{c:d}")) == "<style>a>b{c:d}</style>"
