"""Configurations of ``certify`` that many tests start from, section by section, and the records beside them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np


def section(header: str, **values: Any) -> str:
    """Return a section of a configuration, a line for each value."""
    written = {key: json.dumps(value).replace("e-0", "e-") for key, value in values.items()}
    return f"{header}\n" + "".join(f"{key} = {value}\n" for key, value in written.items())


def mechanism(name: str, **parameters: Any) -> str:
    return section("[mechanism]", name=name, **parameters)


def imported(origin: str, **more: Any) -> str:
    """Return the section of a mechanism of one's own."""
    return section("[mechanism]", **{"import": origin}, **more)


def claim(kind: str, **values: Any) -> str:
    return section("[[claims]]", type=kind, **values)


def dp(epsilon: float, delta: float = 1e-6) -> str:
    return claim("dp", epsilon=epsilon, delta=delta)


def pdp(epsilon: float, delta: float = 1e-6) -> str:
    """Return a claim about every record of the file."""
    return claim("pdp", scope="records", epsilon=epsilon, delta=delta)


DATA = section("[data]", file="data.csv", features=["a", "b"], target="y", x_bound=1.0, y_bound=1.0)
CLIPPED = DATA + 'rows = "clip"\n'
OBJECTIVE = mechanism("objective-perturbation", loss="logistic", sigma=8.0, lam=4.0)
SSP = mechanism("ssp", sigma_gram=8.0, sigma_moment=8.0, lam=1.0)
DRAWN = section("[release]", draw=True)
#: A report whose rate is known, and what makes it one that depends on the records.
REPORT = section("[report]", rho=0.01)
SCALES = "sigma2 = 8.0\nsigma3 = 0.25\n"
ARTEFACT = section("[artefact]", file="model.onnx")
QUICK = section("[budget]", profile="quick", jobs=1)
#: Code of one's own, to be called ``mine.py:make``: the moment of the records, with noise.
MOMENT = """
import numpy as np
class Mine:
    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + 8.0 * rng.standard_normal((n_draws, dataset.dim))
def make():
    return Mine()
"""


def write_rows(folder: Path, rows: np.ndarray) -> None:
    """Write ``data.csv`` with the columns that ``DATA`` names."""
    np.savetxt(folder / "data.csv", rows, delimiter=",", header="a,b,y", comments="")


def write_labelled(folder: Path, n: int = 25) -> None:
    """Write records whose responses are labels."""
    index = np.arange(n)
    write_rows(folder, np.column_stack([0.5 * np.sin(index), 0.5 * np.cos(index), np.where(index % 3 > 0, 1, -1)]))


def write_uniform(folder: Path, n: int = 30) -> None:
    write_rows(folder, np.random.default_rng(1).uniform(-0.6, 0.6, size=(n, 3)))
