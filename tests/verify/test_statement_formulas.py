"""The published and corrected formulas of statement files, against numbers derived independently."""

from __future__ import annotations

import math

import pytest
from scipy.optimize import brentq

from mechanisms import Direction
from mechanisms.profiles import GaussianProfile
from verify.redberg_wang2021 import thm_10, thm_17
from verify.wang2019 import lem_2_4, thm_4_1


def test_lemma_2_4_printed_number() -> None:
    """gamma = 0.01, Delta = 1, delta = 1.25/e: the root is 1, so epsilon is gamma as printed, sqrt(2 gamma) mended."""
    point = {"gamma": 0.01, "sensitivity": 1.0, "delta": 1.25 / math.e}
    assert lem_2_4.epsilon_published(point) == pytest.approx(0.01)
    assert lem_2_4.epsilon_corrected(point) == pytest.approx(math.sqrt(0.02))


def test_lemma_2_4_critical_constant() -> None:
    """The critical factor is 1/(mu sqrt(2 log(1.25e12))) with mu the exact Gaussian-DP parameter of (1, 1e-12)."""
    mu = brentq(
        lambda m: GaussianProfile(m).log_delta_at(1.0, Direction.FORWARD) - math.log(1e-12), 0.05, 0.5, xtol=1e-14
    )
    critical = 1.0 / (mu * math.sqrt(2.0 * math.log(1.25e12)))
    assert math.isclose(lem_2_4.CRITICAL, critical, rel_tol=1e-9)


def test_theorem_4_1_by_hand() -> None:
    """mu = 1, a = 2, delta = 2/e: (4.3) is |2 - log 2|/2 + 1/2 + 2 as printed, + 1 + 2 sqrt 2 corrected."""
    point = {"leverage": 1.0, "residual": 2.0, "delta": 2.0 / math.e}
    centre = 0.5 * (2.0 - math.log(2.0))
    assert thm_4_1.out_of_sample(point, tail=1.0) == pytest.approx(centre + 0.5 + 2.0)
    assert thm_4_1.out_of_sample(point, tail=2.0) == pytest.approx(centre + 1.0 + 2.0 * math.sqrt(2.0))


@pytest.mark.parametrize("leverage", [1e-6, 0.3, 1.0, 1e4])
@pytest.mark.parametrize("residual", [0.0, 0.7, 40.0])
def test_theorem_4_1_corrected_sides_agree(leverage: float, residual: float) -> None:
    """The corrected (4.4) is the corrected (4.3) in other letters."""
    point = {"leverage": leverage, "residual": residual, "delta": 1e-5}
    assert thm_4_1.in_sample_corrected(point) == pytest.approx(thm_4_1.out_of_sample(point, tail=2.0), rel=1e-12)


def test_theorem_17_and_10_by_hand() -> None:
    """Norm 2, sigma 1, delta = exp(-2): mu = sqrt 2, so epsilon is 1 + 2 sqrt 2; T10.2 with gradient 0 is the same."""
    point = {"norm": 2.0, "sigma": 1.0, "delta": math.exp(-2.0)}
    assert thm_17.epsilon_goe(point) == pytest.approx(1.0 + 2.0 * math.sqrt(2.0))
    joint = {"gradient": 0.0, "hessian": 2.0, "sigma_2": 1.0, "sigma_3": 1.0, "delta": math.exp(-2.0)}
    assert thm_10.epsilon_joint(joint) == pytest.approx(thm_17.epsilon_goe(point))
