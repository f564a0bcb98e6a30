"""HTML as a tree of elements, never as joined strings: what is written escapes every text and attribute."""

from __future__ import annotations

from xml.etree.ElementTree import Element, SubElement, tostring

from ..text import printable

Content = str | Element

__all__ = ["Content", "Element", "append", "element", "serialised"]


def element(tag: str, /, *content: Content, **attributes: str | None) -> Element:
    """Return an element.

    Parameters
    ----------
    tag : str
        Its name.
    content : text or elements
        A line break in a text becomes a ``br``; characters that cannot be seen are written as code points.
    attributes : str
        ``class_`` and ``aria_label`` stand for ``class`` and ``aria-label``; None leaves the attribute out.

    Examples
    --------
    >>> serialised(element("p", "a < b", class_="note"))
    '<p class="note">a &lt; b</p>'
    """
    made = Element(tag)
    for name, value in attributes.items():
        if value is not None:
            made.set(name.rstrip("_").replace("_", "-"), printable(value))
    append(made, *content)
    return made


def append(parent: Element, *content: Content) -> None:
    """Append texts and elements, in order."""
    for item in content:
        if isinstance(item, str):
            first, *others = printable(item).split("\n")
            _append_text(parent, first)
            for line in others:
                SubElement(parent, "br").tail = line
        else:
            parent.append(item)


def raw_text(tag: str, text: str) -> Element:
    """Return a ``style`` or ``script`` element; its text is ours and is written as it stands.

    Raises
    ------
    ValueError
        If the text could end the element.
    """
    if "</" in text or "<!--" in text:
        raise ValueError(f"text of {tag} must be without the end of an element, got {text[:40]!r}")
    made = Element(tag)
    made.text = text
    return made


def serialised(tree: Element) -> str:
    """Return the HTML text of an element."""
    return tostring(tree, encoding="unicode", method="html")


def _append_text(parent: Element, text: str) -> None:
    if len(parent):
        parent[-1].tail = (parent[-1].tail or "") + text
    else:
        parent.text = (parent.text or "") + text
