"""A worst_profile of the user's own object, from the configuration to the verdict."""

from __future__ import annotations

from pathlib import Path

import pytest
from toys.deployments import DATA, QUICK, claim, dp, write_labelled

from audits.verdict import Decision, Ground
from mechanisms import GaussianProfile
from verify.certificates.certificate import FINDINGS, read_deployment
from verify.certificates.claims.finding import Finding
from verify.certificates.config.config import load

MINE = """
import math
import numpy as np
from scipy.special import ndtr
class Own:
    def __init__(self, mu):
        self.mu = mu
    def delta_at(self, epsilon):
        return {delta}
class Mine:
    name = "mine"
    def draw(self, dataset, n_draws, *, rng):
        return dataset.X.T @ dataset.y + 8.0 * rng.standard_normal((n_draws, dataset.dim))
    def log_density(self, outputs, dataset):
        return -0.5 * np.square((outputs - dataset.X.T @ dataset.y) / 8.0).sum(axis=1)
    def worst_profile(self, x_bound, y_bound):
        return Own(x_bound * y_bound / 8.0)
"""
RIGHT = "ndtr(self.mu / 2 - epsilon / self.mu) - math.exp(epsilon) * ndtr(-self.mu / 2 - epsilon / self.mu)"
VOUCHED = """[mechanism]
import = "mine.py:Mine"
vouched_by = { who = "we", proof = "https://doi.org/10.1561/0400000042" }
"""


def found(folder: Path, delta: str, asked: str, pairs: int = 2) -> Finding:
    write_labelled(folder)
    (folder / "mine.py").write_text(MINE.replace("{delta}", delta), encoding="utf-8")
    (folder / "d.toml").write_text(
        DATA + VOUCHED + asked + QUICK + f"pairs = {pairs}\ndraws = 2000\n", encoding="utf-8"
    )
    deployment = read_deployment(load(folder / "d.toml"), jobs=1)[0]
    claim = deployment.config.claims[0]
    return FINDINGS[type(claim)](deployment, claim)


def test_a_tight_claim_passes_on_delta_at_alone(tmp_path: Path) -> None:
    """The claimed delta is the stated one to all digits."""
    tight = GaussianProfile(1 / 8).delta_at(0.1)
    verdict = found(tmp_path, RIGHT, dp(0.1, delta=tight), pairs=8).verdict
    assert (verdict.decision, verdict.ground) == (Decision.PASS, Ground.VOUCHED), verdict.why


def test_a_claim_below_it_stays_open_and_the_numbers_are_told_apart(tmp_path: Path) -> None:
    below = GaussianProfile(1 / 8).delta_at(0.1) * (1 - 1e-6)
    verdict = found(tmp_path, RIGHT, dp(0.1, delta=below), pairs=8).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "at most 0.01577811, and at most 0.01577809 is claimed" in verdict.why


@pytest.mark.parametrize(("delta", "got"), [("-0.1", "got -0.1"), ("math.nan", "got nan"), ("1 / 0", "it raised")])
def test_what_is_no_number_is_said_in_the_reason(tmp_path: Path, delta: str, got: str) -> None:
    verdict = found(tmp_path, delta, dp(1.0)).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "delta_at(0) of what worst_profile returns must be a number in [0, 1], " + got in verdict.why


@pytest.mark.quick
def test_a_curve_that_single_epsilons_do_not_tell(tmp_path: Path) -> None:
    verdict = found(tmp_path, RIGHT, claim("dp", profile="gaussian-dp", mu=0.2)).verdict
    assert verdict.decision is Decision.UNDECIDED
    assert "delta at single epsilons does not tell" in verdict.why
