"""The lower bound on delta of dp-recorder's distributional audit, the whole mechanism taken as one untrusted primitive.

Runs in an environment of its own, with a checkout of https://github.com/ObliviousAI/dp-recorder. Reads one object of
JSON: the bug's command, the two data sets, how many draws, the claimed epsilon. What it does beyond this (the inputs
of trusted primitives, held against their declared sensitivities) needs the library's own code to be marked.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

asked = json.load(sys.stdin)
sys.path.insert(0, str(Path(asked["checkout"]) / "src"))
sys.modules["dp_recorder.visualization"] = ModuleType("dp_recorder.visualization")  # its pictures are not needed
from dp_recorder.auditing.audit_primitives import Auditor, audit_spec  # noqa: E402
from dp_recorder.auditing.privacy_converter import PrivacyConverter  # noqa: E402

door = subprocess.Popen(asked["command"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
assert door.stdin is not None
assert door.stdout is not None
ready: dict[str, list[Any]] = {"first": [], "second": []}


def drawn(member: str, n_draws: int) -> list[Any]:
    door.stdin.write(json.dumps(asked[member] | {"n_draws": n_draws, "seed": len(member)}) + "\n")
    door.stdin.flush()
    return [json.loads(door.stdout.readline()) for _ in range(n_draws)]


@audit_spec(kind="whole mechanism", input_arg="member", sensitivity_arg="none", metric_fn=lambda a, b: 0.0)
def mechanism(member: str) -> Any:
    ready[member] = ready[member] or drawn(member, asked["n_draws"] // 2 + 2)
    output = ready[member].pop()
    return [float(output is not None), float(output or 0.0)] if not isinstance(output, list) else output


auditor = Auditor()
with auditor:
    mechanism("first")
auditor.set_replay()
with auditor:
    mechanism("second")
auditor.run_distributional_audit(n_samples=asked["n_draws"], alpha=asked["failure_prob"])
curve = auditor.log[0].tradeoff_curve
both = [curve, [(second, first) for first, second in curve]]
deltas = [PrivacyConverter(points).get_delta_from_epsilon(asked["epsilon"]) for points in both]
door.stdin.close()
print(json.dumps({"dp-recorder": float(np.max(deltas))}))
