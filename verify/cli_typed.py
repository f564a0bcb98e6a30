"""What was typed after ``pdp-verify``: kept in the command's context, so that it is right however it was invoked."""

from __future__ import annotations

import shlex

import click

#: Where the context keeps the command that goes on with what was begun.
KEY = "verify.goes_on"
#: Commands that go on by themselves when they are typed again.
AGAIN = ("certify", "sweep")


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
