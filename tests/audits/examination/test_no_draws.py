"""The three violations of the black-box benchmark, and the correct mechanisms, decided from the law without a draw."""

import math

import pytest

from audits.white_box.exact import exact_delta, exact_epsilon
from mechanisms import GaussianProfile, LaplaceProfile
from mechanisms.base import BOTH, PrivacyProfile
from mechanisms.laws.gaussian_calibration import analytic_sigma
from verify.kernel.statement import Claim
from verify.kernel.verdict import Outcome, decide

#: Standard deviation of the analytic Gaussian mechanism at (1, 1e-5), sensitivity 1.
SIGMA = analytic_sigma(1.0, 1.0, 1e-5)
GAUSSIAN, PURE = Claim("delta at epsilon 1", 0.0, 1e-5, 1.0), Claim("delta at epsilon 1", 0.0, 0.0, 1.0)

#: What is claimed, and the law of the loss of what is run.
WRONG = {
    "Gaussian noise divided by 1.1": (GAUSSIAN, GaussianProfile(1.1 / SIGMA)),
    "Gaussian noise divided by 1.5": (GAUSSIAN, GaussianProfile(1.5 / SIGMA)),
    "Laplace noise of half the scale": (PURE, LaplaceProfile(2.0)),
    # the edge itself: no sampled audit could tell these from a correct mechanism
    "Gaussian noise divided by 1 + 1e-12": (GAUSSIAN, GaussianProfile((1 + 1e-12) / SIGMA)),
    "Laplace, one unit in the last place": (PURE, LaplaceProfile(math.nextafter(1.0, 2.0))),
}
RIGHT = {
    "Gaussian, the least noise": (GAUSSIAN, GaussianProfile(1 / SIGMA)),
    "Gaussian, a trace more noise": (GAUSSIAN, GaussianProfile((1 - 1e-12) / SIGMA)),
    "Laplace, with equality": (PURE, LaplaceProfile(1.0)),
}


@pytest.mark.parametrize("name", WRONG)
def test_a_violation_is_refuted_without_a_draw(name: str) -> None:
    claim, profile = WRONG[name]
    found = exact_delta(profile, 1.0)
    assert decide(claim, found) is Outcome.FAILS
    assert (found.n_draws, found.failure_prob) == (0, 0.0)
    assert exact_epsilon(profile, claim.high).low > 1.0 - 1e-12


@pytest.mark.parametrize("name", RIGHT)
def test_a_correct_mechanism_holds_although_it_reaches_its_claim(name: str) -> None:
    claim, profile = RIGHT[name]
    found = exact_delta(profile, 1.0)
    assert decide(claim, found) is Outcome.HOLDS
    assert claim.high - found.high < 1e-15  # with equality, to rounding


def test_the_numbers_are_the_known_ones() -> None:
    """delta(1) = 4.31e-5 and 1.36e-3 (two-term formula, Balle and Wang 2018), 1 - e^(-1/2) for the Laplace."""
    seen = [exact_delta(profile, 1.0).value for _, profile in list(WRONG.values())[:3]]
    assert seen == pytest.approx([4.3128e-5, 1.35968e-3, -math.expm1(-0.5)], rel=1e-5)


@pytest.mark.parametrize("claimed", [GaussianProfile(1 / SIGMA), LaplaceProfile(1.0)])
@pytest.mark.parametrize("factor", [1.1, 1.5, 2.0])
def test_the_whole_claimed_curve_is_broken_at_every_epsilon(claimed: PrivacyProfile, factor: float) -> None:
    """Less noise of one family raises the whole curve: proved on a grid, in both directions."""
    size = claimed.mu if isinstance(claimed, GaussianProfile) else claimed.size
    run = type(claimed)(factor * size)
    for epsilon in (0.0, 0.1, 0.5, 0.9, 1.05):
        for direction in BOTH:
            assert run.delta_bracket(epsilon, direction).low > claimed.delta_bracket(epsilon, direction).high
