"""Certify on trainings that are imported as a user's own: planted errors FAIL, the right one never does."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from mechanisms import DPSGD
from verify.calibration.series.training_series import stated_epsilon
from verify.cli import invoke

SUMS = {"loss": "squared", "n_steps": 5, "rate": 0.5, "sigma": 4.0, "clip": 2.0, "step_size": 1.0, "normaliser": 10.0}
MODELS = SUMS | {"sigma": 16.0, "observer": "final"}
BROKEN, RIGHT = "mechanisms.broken.broken_training", "mechanisms.training.dp_sgd"

#: Two records and a third one: named in the configuration, since the number of records is what a normaliser reads.
PAIR = '[[pairs]]\nname = "few"\nX = [[1.0, 0.0], [0.0, 1.0]]\ny = [4.0, -4.0]\ntarget_x = [0.6, 0.8]\ntarget_y = 4.0\n'


@pytest.mark.parametrize(
    ("module", "name", "parameters", "code"),
    [(BROKEN, "HalfNoise", SUMS, 1), (RIGHT, "DPSGD", MODELS, 3), (BROKEN, "OwnBatch", MODELS, 1)],
)
def test_planted_errors_fail_and_the_right_training_does_not(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    module: str,
    name: str,
    parameters: dict[str, Any],
    code: int,
) -> None:
    monkeypatch.chdir(tmp_path)
    index = np.arange(8)
    rows = np.column_stack([0.6 * np.sin(index), 0.6 * np.cos(2 * index), 3.5 * np.sin(3 * index)])
    np.savetxt("data.csv", rows, delimiter=",", header="a,b,y", comments="")
    given = ", ".join(f"{key} = {json.dumps(value)}" for key, value in parameters.items())
    Path("deployment.toml").write_text(
        '[data]\nfile = "data.csv"\nfeatures = ["a", "b"]\ntarget = "y"\nx_bound = 1.0\ny_bound = 4.0\npublic = true\n'
        f'[mechanism]\nimport = "{module}:{name}"\nparameters = {{ {given} }}\n'
        f'[[claims]]\ntype = "dp"\nepsilon = {stated_epsilon(DPSGD(**parameters), 0.01)}\ndelta = 0.01\n'
        f'relation = "add-remove"\n{PAIR}[budget]\njobs = 1\npairs = 1\ndraws = 5000\n',
        encoding="utf-8",
    )
    assert invoke(["certify", "deployment.toml", "--out", "out"]) == code
    told = capsys.readouterr().out.splitlines()[0]
    assert told.split()[1] == ("FAIL" if code == 1 else "UNDECIDED")
    if name == "OwnBatch":
        assert "few" in told
