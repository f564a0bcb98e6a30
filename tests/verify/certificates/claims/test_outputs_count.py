"""Every output that was drawn counts, in the claims about the records as in those about everybody."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from toys.deployments import DATA, QUICK, claim, dp, mechanism, pdp, write_labelled

from audits.verdict import Decision, Ground
from verify.certificates.certificate import FINDINGS, read_deployment
from verify.certificates.claims.claims_dp import dp_finding
from verify.certificates.claims.finding import Deployment
from verify.certificates.config.config import load

MECHANISM = mechanism("gaussian-output", lam=1.0, sigma=2.0)
MINE = """
import numpy as np
from dataclasses import dataclass
from mechanisms import GaussianProfile
@dataclass(frozen=True)
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + 8.0 * rng.standard_normal((n_draws, dataset.dim))
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / 8.0).sum(axis=1)
    def worst_profile(self, x_bound, y_bound):
        return GaussianProfile(x_bound * y_bound / 8.0)
"""
VOUCHED = """[mechanism]
import = "mine.py:Mine"
vouched_by = { who = "we", proof = "https://doi.org/10.1561/0400000042" }
"""


def read(folder: Path, text: str) -> Deployment:
    write_labelled(folder)
    (folder / "mine.py").write_text(MINE, encoding="utf-8")
    (folder / "d.toml").write_text(DATA + text + QUICK + "pairs = 2\ndraws = 2000\n", encoding="utf-8")
    return read_deployment(load(folder / "d.toml"), jobs=1)[0]


@pytest.mark.parametrize("scope", ["records", "everyone"])
def test_exact_laws_are_composed(tmp_path: Path, scope: str) -> None:
    deployment = read(tmp_path, MECHANISM + claim("pdp", scope=scope, epsilon=1.0, delta=1e-5))
    section = deployment.config.claims[0]
    assert dp_finding(deployment, section).verdict.decision is Decision.PASS
    checks = [dp_finding(replace(deployment, n_outputs=n), section).checks[0].evidence.exact for n in (1, 2)]
    one, two = (check for check in checks if check is not None)
    assert two.high > max(2 * one.high, one.low)
    ends = [
        (0.5 * one.low, Decision.FAIL),
        (0.5 * (one.high + two.high), Decision.UNDECIDED),
        (1.0001 * two.high, Decision.PASS),
    ]
    for delta, verdict in ends:
        found = dp_finding(replace(deployment, n_outputs=2), section.model_copy(update={"delta": delta}))
        assert found.verdict.decision is verdict, delta


def test_an_imported_mechanism_is_examined_for_one_output(tmp_path: Path) -> None:
    deployment = read(tmp_path, VOUCHED + dp(1.0) + pdp(1.0))
    for each in deployment.config.claims:
        assert FINDINGS[type(each)](deployment, each).verdict.ground is Ground.VOUCHED
        found = FINDINGS[type(each)](replace(deployment, n_outputs=2), each)
        assert found.verdict.decision is Decision.UNDECIDED
        assert "2 outputs were drawn" in found.verdict.why
