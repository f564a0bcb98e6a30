"""What every test starts from: the same examples of property tests in every run, and a Ctrl-C that is not ignored."""

from __future__ import annotations

import signal

from hypothesis import settings

settings.register_profile("repeatable", derandomize=True, deadline=None)
settings.load_profile("repeatable")

# A script's background job ignores SIGINT, and so would every process that a test starts in order to interrupt it.
signal.signal(signal.SIGINT, signal.default_int_handler)
