"""HTML as a tree of elements, never as joined strings: what is written escapes every text and attribute."""

from __future__ import annotations

import re
from xml.etree import ElementTree
from xml.etree.ElementTree import Element, SubElement, tostring

from ..layout import printable

Content = str | Element

__all__ = ["Content", "Element", "append", "element", "serialised"]


def element(tag: str, /, *content: Content, **attributes: str | None) -> Element:
    """Return an element.

    A line break in a text becomes a ``br``; characters that cannot be seen are written as code points. ``class_`` and
    ``aria_label`` stand for ``class`` and ``aria-label``; None leaves the attribute out.

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

    Raises ``ValueError`` if the text could end the element.
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


_NAMESPACE = "{http://www.w3.org/2000/svg}"
_LINK = "{http://www.w3.org/1999/xlink}href"
_SHAPES = frozenset(
    ("svg", "g", "defs", "use", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon", "clipPath")
)
_GRADIENTS = frozenset(("pattern", "linearGradient", "radialGradient", "stop", "image", "mask"))
_ALLOWED = _SHAPES | _GRADIENTS
_LEFT_OUT = ("metadata", "style", "title", "desc")
_PLACES = ("d", "x", "y", "width", "height", "points")
_LONG = re.compile(r"(-?\d+\.\d\d)\d+")
_URL = re.compile(r"url\(\s*#([^)\s]+)\s*\)")
#: What matplotlib's style sheet says of everything, as attributes of the whole drawing.
_INHERITED = {"stroke-linejoin": "round", "stroke-linecap": "butt"}


def inline_svg(svg: bytes, key: str, alt: str) -> Element:
    """Return a drawing (UTF-8 SVG, as ``figure_svg`` draws it) as an element of a page, with the role of an image.

    ``key`` is put before every id, so that two drawings of a page have none in common; ``alt`` says what it shows.
    Raises ``ValueError`` if it is no SVG, or holds an element or an attribute that has no place in a drawing of ours.
    """
    try:
        root = ElementTree.fromstring(svg)
    except ElementTree.ParseError as error:
        raise ValueError(f"svg must be SVG, got {error}") from None
    _drop(root)
    for node in root.iter():
        _clean(node, key)
    if root.tag != "svg":
        raise ValueError(f"svg must be SVG, got an element {root.tag}")
    _keep_used_ids(root)
    root.attrib = {"role": "img", "aria-label": alt, **_INHERITED, **root.attrib}
    return root


def _drop(node: Element) -> None:
    for child in list(node):
        if child.tag.removeprefix(_NAMESPACE) in _LEFT_OUT:
            node.remove(child)
        else:
            _drop(child)


def _clean(node: Element, key: str) -> None:
    """Name an element without its namespace, and turn its style into attributes."""
    node.tag = node.tag.removeprefix(_NAMESPACE)
    if node.tag not in _ALLOWED:
        raise ValueError(f"svg must hold shapes, got an element {node.tag}")
    node.text = node.tail = None
    given = dict(node.attrib)
    style = given.pop("style", "")
    for declaration in filter(str.strip, style.split(";")):
        name, _, value = declaration.partition(":")
        given[name.strip()] = value.strip()
    node.attrib = dict(_attribute(name, value, key) for name, value in given.items())


def _attribute(name: str, value: str, key: str) -> tuple[str, str]:
    if name in (_LINK, "href"):
        if value.startswith("#"):
            return "href", f"#{key}-{value[1:]}"
        if value.startswith("data:image/png;base64,"):
            return "href", value
        raise ValueError(f"svg must point to nothing outside, got href={value[:60]!r}")
    if name.startswith("{") or name.lower().startswith("on"):
        raise ValueError(f"svg must hold attributes of shapes, got {name}={value[:60]!r}")
    if name == "id":
        return name, f"{key}-{value}"
    value = _URL.sub(lambda match: f"url(#{key}-{match[1]})", value)
    if "url(" in value and not value.startswith(f"url(#{key}-"):
        raise ValueError(f"svg must point to nothing outside, got {name}={value[:60]!r}")
    return name, " ".join(_LONG.sub(r"\1", value).split()) if name in _PLACES else value


def _keep_used_ids(root: Element) -> None:
    """Take away the ids that nothing in the drawing points to."""
    used: set[str] = set()
    for node in root.iter():
        used.update(value[1:] for name, value in node.attrib.items() if name == "href" and value.startswith("#"))
        used.update(match for value in node.attrib.values() for match in _URL.findall(value))
    for node in root.iter():
        if node.get("id") not in used:
            node.attrib.pop("id", None)
