"""What was typed after ``pdp-verify``, kept in the command's context; and files that a document is written to."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Any

import click

from .messages.errors import UserError

#: Where the context keeps the command that goes on with what was begun.
KEY = "verify.goes_on"
#: Commands that go on by themselves when they are typed again.
AGAIN = ("certify", "sweep")


class DocumentPath(click.Path):
    """A file that a document is written to, or (``handed``) a record for other people's tools; its suffix is known."""

    def __init__(self, *, handed: bool = False) -> None:
        super().__init__(path_type=Path)
        self._handed = handed

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Refuse another suffix before any work is done."""
        from reports.formats import FORMATS

        path, known = Path(str(super().convert(value, param, ctx))), tuple(FORMATS)
        if self._handed:
            from .export.interchange_formats import INTERCHANGE

            known += tuple(INTERCHANGE)
        if path.suffix not in FORMATS and not any(path.name.endswith(end) and path.name != end for end in known):
            raise UserError(f"output must end in {' or '.join(known)}, got output={path}")
        return path


DOCUMENT, RECORD_OUTPUT = DocumentPath(), DocumentPath(handed=True)


def typed() -> list[str]:
    """Return the words of the command that is running."""
    return list(click.get_current_context().find_root().obj or ())


def will_go_on(command: str) -> None:
    """Keep the command that goes on with what is begun now, should it be stopped."""
    click.get_current_context().meta[KEY] = command


def goes_on(context: click.Context) -> str:
    """Return the command that goes on with what a stopped one has done, or nothing when there is none."""
    words = list(context.find_root().obj or ())
    again = shlex.join(["pdp-verify", *words]) if words and words[0] in AGAIN else ""
    return str(context.meta.get(KEY, again))
