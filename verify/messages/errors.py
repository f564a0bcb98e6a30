"""The two ways a command can stop: the user's mistake (one line, exit 2), or a defect of ours (exit 4)."""

from __future__ import annotations

#: Most characters of the line that says what is wrong.
LONGEST = 500


class UserError(Exception):
    """The input or the call is wrong; the message is the one line that the user sees."""


class Defect(Exception):
    """Something of ours broke; what was done so far is kept."""


def one_line(message: str, most: int = LONGEST) -> str:
    """Return the line of an error, with its end: white space is one space, and what is too long is cut in the middle.

    The rule stands at its beginning and the way out at its end; what was given stands between them.

    Examples
    --------
    >>> one_line("name must be short, got name=" + "x" * 30 + "; see --help", 50)
    'error: name must be short, got…xxxxxxx; see --help\\n'
    """
    line = "error: " + " ".join(message.split())
    tail = (most - 1) * 2 // 5
    return (line if len(line) <= most else f"{line[: most - 1 - tail]}…{line[-tail:]}") + "\n"
