"""The two ways a command can stop: the user's mistake (one line, exit 2), or a defect of ours (exit 4)."""

from __future__ import annotations


class UserError(Exception):
    """The input or the call is wrong; the message is the one line that the user sees."""


class Defect(Exception):
    """Something of ours broke; what was done so far is kept."""
