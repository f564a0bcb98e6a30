"""The command line on toy statements: ``python -m toys ID[,ID…] ARGUMENTS`` (for tests that need a process)."""

from __future__ import annotations

import sys

if __name__ == "__main__":
    from toys import LEDGER, toy_registry
    from verify.cli import invoke
    from verify.papers import ledger, registry

    chosen = toy_registry(*sys.argv.pop(1).split(","))
    registry.default = lambda: chosen
    ledger.default = lambda: LEDGER
    sys.exit(invoke())
