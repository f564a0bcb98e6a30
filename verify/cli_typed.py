"""What was typed after ``pdp-verify``: kept in the command's context, so that it is right however it was invoked."""

from __future__ import annotations

import click


def typed() -> list[str]:
    """Return the words of the command that is running."""
    return list(click.get_current_context().find_root().obj or ())
