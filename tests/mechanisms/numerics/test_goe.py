"""The exact GOE laws against ball arithmetic, a literal Pfaffian, closed forms and simulation."""

import math
from fractions import Fraction

import numpy as np
import pytest
from flint import ctx
from oracles.mechanisms.goe import cdf_half_off_diagonal, sf_one, sf_two
from rows import for_each

from mechanisms.numerics.goe import Extreme, GoeLaw, Normalisation, draw_goe, goe_tau
from mechanisms.numerics.goe_brackets import isf_bracket, sf_bracket

UNIT, HALF = Normalisation.UNIT_OFF_DIAGONAL, Normalisation.HALF_OFF_DIAGONAL
LARGEST, NORM = Extreme.LARGEST_EIGENVALUE, Extreme.SPECTRAL_NORM
TAILS = (0.999, 0.9, 0.5, 0.1, 1e-2, 1e-4, 1e-8, 1e-12, 1e-40)


@pytest.mark.parametrize("extreme", list(Extreme))
@pytest.mark.parametrize(
    ("dim", "tolerance"),
    [*((d, 3e-14) for d in range(1, 13)), (25, 6e-14), (26, 6e-14), (50, 1e-13), (51, 1e-13)],
)
def test_upper_tail_against_ball_arithmetic(dim, tolerance, extreme):
    law = GoeLaw(dim, extreme, UNIT)
    for upper_tail in TAILS if dim < 50 else TAILS[1::3]:
        x = law.isf(upper_tail)
        bracket = sf_bracket(law, x)
        assert bracket.high - bracket.low <= 1e-12 * bracket.high
        assert law.sf(x) == pytest.approx(bracket.mid, rel=tolerance)


@pytest.mark.slow
@pytest.mark.parametrize("extreme", list(Extreme))
@pytest.mark.parametrize(("dim", "tolerance"), [(99, 2e-13), (100, 2e-13), (200, 1e-12)])
def test_upper_tail_against_ball_arithmetic_in_large_dimensions(dim, tolerance, extreme):
    law = GoeLaw(dim, extreme, UNIT)
    for upper_tail in (0.9, 1e-6, 1e-12):
        x = law.isf(upper_tail)
        assert law.sf(x) == pytest.approx(sf_bracket(law, x).mid, rel=tolerance)


@for_each(
    ("dim", "upper_tail", "tolerance"), [(4, 0.9999, 1e-10), (7, 0.9999, 1e-9), (20, 0.9999, 1e-8), (50, 0.9999, 1e-8)]
)
@for_each("extreme", list(Extreme))
def test_lower_tail_is_relatively_accurate_down_to_the_documented_range(dim, upper_tail, tolerance, extreme):
    law = GoeLaw(dim, extreme, UNIT)
    x = law.isf(upper_tail)
    bracket = sf_bracket(law, x)
    assert law.cdf(x) == pytest.approx(1 - bracket.mid, rel=tolerance)


@pytest.mark.parametrize("two_sided", [False, True])
@pytest.mark.parametrize("dim", [1, 2, 3, 4, 5])
def test_distribution_function_against_the_literal_pfaffian(dim, two_sided):
    law = GoeLaw(dim, NORM if two_sided else LARGEST, HALF)
    for t in (0.3, 1.25, 2.5):
        assert law.cdf(t) == pytest.approx(cdf_half_off_diagonal(dim, t, two_sided), rel=2e-13)


@for_each("x", [0.1, 1.0, 2.5, 7.0])
def test_known_answers_in_one_and_two_dimensions(x):
    for dim, closed_form in ((1, sf_one), (2, sf_two)):
        one_sided, two_sided = closed_form(x)
        assert GoeLaw(dim, LARGEST, UNIT).sf(x) == pytest.approx(one_sided, rel=1e-12)
        assert GoeLaw(dim, NORM, UNIT).sf(x) == pytest.approx(two_sided, rel=1e-12)


@for_each(("dim", "n_draws"), [(3, 20000), (10, 20000), (50, 2000)])
def test_simulated_spectra_stay_inside_the_dkw_band(dim, n_draws):
    """Null: the law is exact. Level 1e-7 a law (Dvoretzky-Kiefer-Wolfowitz), ``n_draws`` draws, two laws.

    The same draws refute the law of the other normalisation (a factor of sqrt(2))."""
    spectra = np.linalg.eigvalsh(draw_goe(dim, n_draws, UNIT, rng=np.random.default_rng(20210512 + dim)))
    band = math.sqrt(math.log(2 / 1e-7) / (2 * n_draws))
    samples = {LARGEST: spectra[:, -1], NORM: np.abs(spectra).max(axis=1)}
    for extreme, sample in samples.items():
        grid = np.quantile(sample, np.linspace(0.01, 0.99, 25))
        empirical = (sample[None, :] <= grid[:, None]).mean(axis=1)
        right, wrong = (np.array([GoeLaw(dim, extreme, n).cdf(x) for x in grid]) for n in (UNIT, HALF))
        assert np.abs(empirical - right).max() <= band
        assert np.abs(empirical - wrong).max() > band


@for_each("extreme", list(Extreme))
@for_each("dim", [1, 2, 9, 50, 200])
def test_quantile_inverts_the_tail_and_orders_the_laws(dim, extreme):
    law = GoeLaw(dim, extreme, UNIT)
    quantiles = [law.isf(p) for p in (*TAILS, 1e-100)]
    assert quantiles == sorted(quantiles)
    for p, x in zip(TAILS, quantiles, strict=False):
        assert law.sf(x) == pytest.approx(p, rel=1e-11)
        assert law.log_sf(x) == pytest.approx(math.log(p), rel=1e-11, abs=1e-11)
    assert GoeLaw(dim, extreme, HALF).isf(0.1) == pytest.approx(law.isf(0.1) / math.sqrt(2), rel=1e-15)
    assert law.ppf(0.5) == law.isf(0.5)


@for_each("dim", [1, 2, 5, 30])
def test_union_bound_of_lemma_20(dim):
    """RW21 Lemma 20: P(norm > x) lies between the tail of the largest eigenvalue and twice it."""
    largest, norm = GoeLaw(dim, LARGEST, UNIT), GoeLaw(dim, NORM, UNIT)
    for p in (0.3, 0.01, 1e-9):
        tau = goe_tau(dim, p)
        assert largest.sf(tau) < norm.sf(tau) <= p * (1 + 1e-12)
    assert norm.sf(goe_tau(dim, 1e-9)) == pytest.approx(1e-9, rel=1e-6)  # hardly ever both at once


def test_printed_tau_12_belongs_to_the_other_normalisation():
    """RW21-N1 (supplement D.1) prints F^{-1}(1 - rho/2) = 12 at d = 50, rho = 8.465e-6 beside Lemma 20's scale."""
    level = Fraction("8.465e-6") / 2
    unit = isf_bracket(GoeLaw(50, LARGEST, UNIT), level)
    half = isf_bracket(GoeLaw(50, LARGEST, HALF), level)
    assert 16.97 < unit.low <= unit.high < 16.98  # proved: 12 * sqrt(2) = 16.9706
    assert 11.9999 < half.low <= half.high < 12.0  # the printed level is rounded
    # at 12 nearly every largest eigenvalue in Lemma 20's scale lies above
    assert sf_bracket(GoeLaw(50, LARGEST, UNIT), 12.0).low > 0.98


def test_limits():
    for extreme in Extreme:
        law = GoeLaw(7, extreme, UNIT)
        assert law.sf(math.inf) == law.sf(1e9) == 0.0
        assert law.cdf(math.inf) == 1.0
        assert law.log_sf(1e9) == -math.inf
        assert law.cdf(-math.inf) == 0.0
        assert law.sf(-1e9) == 1.0
    assert GoeLaw(7, NORM, UNIT).sf(0.0) == 1.0
    assert sf_bracket(GoeLaw(7, NORM, UNIT), 0.0).low == 1.0


def test_ball_precision_is_restored():
    before = ctx.prec
    sf_bracket(GoeLaw(3, NORM, UNIT), 2.0)
    assert ctx.prec == before


@for_each(
    ("action", "message"),
    [
        (lambda: GoeLaw(0, LARGEST, UNIT), "dim must be"),
        (lambda: GoeLaw(501, LARGEST, UNIT), "dim must be"),
        (lambda: GoeLaw(True, LARGEST, UNIT), "dim must be"),
        (lambda: GoeLaw(2.5, LARGEST, UNIT), "dim must be"),
        (lambda: GoeLaw(math.nan, LARGEST, UNIT), "dim must be"),
        (lambda: GoeLaw(3, "norm", UNIT), "extreme must be"),
        (lambda: GoeLaw(3, LARGEST, 1.0), "normalisation must be"),
        (lambda: GoeLaw(3, LARGEST, UNIT).cdf(math.nan), "x must be"),
        (lambda: GoeLaw(3, LARGEST, UNIT).isf(0.0), "upper_tail must be"),
        (lambda: GoeLaw(3, LARGEST, UNIT).isf(math.nan), "upper_tail must be"),
        (lambda: GoeLaw(3, LARGEST, UNIT).ppf(1.0), "upper_tail must be"),
        (lambda: goe_tau(3, 0.0), "failure_prob must be"),
        (lambda: goe_tau(3, math.nan), "failure_prob must be"),
        (lambda: sf_bracket(GoeLaw(3, LARGEST, UNIT), math.inf), "x must be finite"),
        (lambda: isf_bracket(GoeLaw(3, LARGEST, UNIT), Fraction(0)), "upper_tail must be"),
    ],
)
def test_refusals(action, message):
    with pytest.raises(ValueError, match=message):
        action()
