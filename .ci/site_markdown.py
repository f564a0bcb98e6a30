"""Markdown of the documentation site: formulas become MathML, ``[names of ROOM]`` the public names of a room.

Both are done while the site is built, so that its pages need no script and no network to be read.
"""

from __future__ import annotations

import ast
import re
from itertools import groupby
from pathlib import Path

from latex2mathml.converter import convert
from markdown import Markdown
from markdown.extensions import Extension
from markdown.preprocessors import Preprocessor

ROOT = Path(__file__).resolve().parent.parent
#: Code, which stays as it is; a formula of its own line; a formula in the text.
PIECES = re.compile(r"(```.*?```|`[^`]*`)|\$\$(.+?)\$\$|\$([^\s$](?:[^$\n]|\n(?!\n))*?)\$", re.DOTALL)
NAMES = re.compile(r"^\[names of (\w+)\]$", re.MULTILINE)


def public_names(room: str) -> list[tuple[str, str]]:
    """Return the module, relative to the room, and the name of everything public, in the order of the modules."""
    found = []
    for stub in [ROOT / room / "__init__.pyi", *(ROOT / room).glob("*/__init__.pyi")]:
        part = "" if stub.parent.name == room else f"{stub.parent.name}."
        imports = [node for node in ast.parse(stub.read_text("utf-8")).body if isinstance(node, ast.ImportFrom)]
        found += [(f"{part}{node.module or ''}", alias.name) for node in imports for alias in node.names]
    return sorted(found)


def sentence(folder: Path) -> str:
    """Return the first line of what a folder says of itself."""
    docstring = ast.get_docstring(ast.parse((folder / "__init__.py").read_text("utf-8"))) or ""
    return docstring.splitlines()[0]


def room_page(room: str) -> str:
    """Return the page of a room: a heading a folder, then its public names for mkdocstrings."""
    parts = [sentence(ROOT / room)]
    for folder, names in groupby(public_names(room), key=lambda name: name[0].rpartition(".")[0]):
        if folder:
            parts += [f"## {folder.replace('_', ' ').capitalize()}", sentence(ROOT / room / folder)]
        else:
            parts += ["## Basics"]
        parts += [f"::: {room}.{module}.{name}" for module, name in names]
    return "\n\n".join(parts)


class Pieces(Preprocessor):
    """Puts the names of a room and the formulas of a page into their places."""

    def run(self, lines: list[str]) -> list[str]:
        """Return the lines of the page, formulas stashed away from what reads Markdown."""
        text = NAMES.sub(lambda found: room_page(found[1]), "\n".join(lines))
        return PIECES.sub(self._piece, text).split("\n")

    def _piece(self, found: re.Match[str]) -> str:
        code, display, inline = found.groups()
        if code is not None:
            return code
        return str(self.md.htmlStash.store(convert(display or inline, display="block" if display else "inline")))


class Site(Extension):
    """The extension, for ``markdown_extensions``."""

    def extendMarkdown(self, md: Markdown) -> None:
        """Read formulas before anything else does."""
        md.preprocessors.register(Pieces(md), "site", 28)


def makeExtension(**options: object) -> Site:
    """Return the extension, as Markdown asks for it."""
    return Site(**options)
