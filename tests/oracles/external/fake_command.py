"""A command that answers requests on its standard input; ``python fake_command.py '{"scale": 0.5}'``."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

if __name__ == "__main__":  # run as a file
    sys.path.insert(0, str(Path(__file__).resolve().parent))
    from noisy_sum import Switches, answer, fault_of, generator
else:
    from oracles.external.noisy_sum import Switches, answer, fault_of, generator


def command(**switches: object) -> list[str]:
    """Return the command that runs this file with some switches."""
    Switches(**switches)  # type: ignore[arg-type]  # a wrong name is refused here
    return [sys.executable, "-I", "-S", str(Path(__file__).resolve()), json.dumps(switches)]


def act(fault: str, lines: list[str]) -> None:
    """Write the answer, with a fault."""
    if fault == "exit":
        os._exit(3)
    if fault == "signal":
        os.kill(os.getpid(), signal.SIGKILL)
    if fault == "hang":
        time.sleep(3600)
    if fault == "close":
        os.close(1)
        time.sleep(3600)
    text = "".join(f"{line}\n" for line in lines)
    if fault == "half":
        os.write(1, text[: len(text) // 2 + 1].encode())
        os._exit(0)
    if fault == "drip":
        for letter in text:
            os.write(1, letter.encode())
            time.sleep(0.02)
        return
    os.write(1, text.encode())
    if fault == "late":
        time.sleep(0.02)
        os.write(1, b"0.0\n")


def main() -> None:
    switches = Switches(**(json.loads(sys.argv[1]) if len(sys.argv) > 1 else {}))
    for line in sys.stdin:
        request = json.loads(line)
        rng = generator(request, switches)
        fault = fault_of(request, switches, rng)
        time.sleep(switches.pause)
        act(fault, answer(request, switches, fault, rng))


if __name__ == "__main__":
    main()
