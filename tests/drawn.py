"""A configuration that draws an output and a report, and what its release folder holds."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from mechanisms import Dataset
from verify.deployment import releases
from verify.deployment.config import load

TOML = """
[data]
file = "data.csv"
features = ["a", "b"]
target = "y"
x_bound = 1.0
y_bound = 1.0
[mechanism]
name = "objective-perturbation"
loss = "logistic"
sigma = 8.0
lam = 4.0
[release]
draw = true
[report]
rho = 0.01
sigma2 = 8.0
sigma3 = 0.25
[[claims]]
type = "dp"
epsilon = 4.0
delta = 1e-5
"""
DATA = Dataset(np.array([[0.5, 0.1], [0.2, -0.4], [0.1, 0.3]]), np.array([1.0, -1.0, 1.0]), 1.0, 1.0)


def prepared(folder: Path, text: str = TOML, **more: Any) -> releases.Released:
    folder.mkdir(exist_ok=True)
    (folder / "d.toml").write_text(text)
    loaded = load(folder / "d.toml")
    return releases.prepare(loaded, loaded.config.mechanism.build(2), DATA, **more)


def entries(folder: Path) -> list[Any]:
    found = json.loads((folder / "d.releases" / "spent.json").read_bytes())
    assert isinstance(found, list)
    return found
