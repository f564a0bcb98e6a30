"""Each form of a claim implies what its curve says, and no mechanism that keeps the claim is above the curve."""

import math
import pickle
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pytest
from dp_accounting.rdp import rdp_privacy_accountant
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audits import claim_curves as literal
from scipy import special
from scipy.integrate import quad

from audits.black_box.claims import (
    ADD_REMOVE,
    PrivacyClaim,
    RenyiCurve,
    TableCurve,
    ZcdpCurve,
    gaussian_dp_claim,
    group_claim,
    implied_by,
    laplace_renyi,
    largest_pure,
    point_claim,
    renyi_claim,
    table_claim,
    zcdp_claim,
)
from mechanisms import BOTH, Bracket, GaussianProfile, LaplaceProfile, Relation
from mechanisms.laws import QuadraticProfile
from mechanisms.laws.divergences import renyi_divergence
from mechanisms.laws.gaussian_calibration import analytic_mu

EPSILONS = np.concatenate([np.linspace(0, 4, 33), np.linspace(5, 40, 15)])
ORDERS = 1 + np.logspace(-5, 4, 30_001)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-3, 6.0))
def test_a_normal_pair_keeps_the_curves_that_its_own_claims_imply(mu):
    profile = GaussianProfile(mu)
    for order in (1.01, 1.5, 2.0, 8.0, 64.0):
        curve = RenyiCurve(order, 0.5 * order * mu**2)
        assert all(profile.delta_at(e) <= curve(e) for e in EPSILONS)
    curve = ZcdpCurve(0.5 * mu**2)
    assert all(profile.delta_at(e) <= curve(e) for e in EPSILONS)
    exact = gaussian_dp_claim(mu)
    assert all(profile.delta_at(e) == exact.delta_at(e) for e in EPSILONS)


@pytest.mark.parametrize("mu", [0.3, 1.0, 3.0])
def test_a_normal_pair_breaks_the_curves_of_half_its_divergence(mu):
    profile = GaussianProfile(mu)
    for curve in (ZcdpCurve(0.25 * mu**2), RenyiCurve(2 + 4 / mu, 0.25 * (2 + 4 / mu) * mu**2)):
        assert any(profile.delta_at(e) > curve(e) for e in EPSILONS)


@settings(max_examples=40, deadline=None)
@given(st.floats(1e-2, 5.0))
def test_a_laplace_pair_keeps_the_curves_that_its_own_claims_imply(size):
    profile = LaplaceProfile(size)
    for order in (1.01, 1.5, 2.0, 8.0, 64.0):
        divergence = laplace_renyi(size, order)
        assert divergence <= min(size, 0.5 * order * size**2) * (1 + 1e-12)
        assert all(profile.delta_at(e) <= RenyiCurve(order, divergence)(e) for e in EPSILONS)
    assert all(profile.delta_at(e) <= ZcdpCurve(0.5 * size**2)(e) for e in EPSILONS)


laws = st.lists(st.integers(1, 1000), min_size=3, max_size=3)


@settings(max_examples=60, deadline=None)
@given(laws, laws, st.floats(1.01, 30.0))
def test_finite_laws_keep_the_curve_of_their_own_divergence(p, q, order):
    p, q = ([Fraction(v, sum(law)) for v in law] for law in (p, q))
    divergence = renyi_divergence(p, q, order)
    assert divergence == pytest.approx(
        literal.finite_renyi([float(v) for v in p], [float(v) for v in q], order), abs=1e-9
    )
    curve = RenyiCurve(order, max(divergence, 0.0))
    for e in EPSILONS:
        assert literal.finite_delta(p, q, e) <= curve(e) + 1e-15


@pytest.mark.parametrize("rho", [1e-4, 0.02, 0.5, 5.0])
def test_the_zcdp_curve_is_the_least_over_orders(rho):
    for epsilon in (0.01, 0.1, 0.5, 1.0, 3.0, 10.0, 30.0):
        curve = ZcdpCurve(rho)(epsilon)
        variation = math.sqrt(min(0.5 * rho, 1 - math.exp(-rho)))
        scanned = min(literal.zcdp_delta(rho, epsilon, ORDERS), variation)
        assert curve <= scanned * (1 + 1e-10)
        assert curve == pytest.approx(scanned, rel=1e-4)


@pytest.mark.parametrize("order", [1.5, 2.0, 10.0, 100.0])
@pytest.mark.parametrize("divergence", [0.01, 0.5, 3.0])
def test_the_renyi_curve_against_dp_accounting(order, divergence):
    for epsilon in (0.0, 0.3, 1.0, 4.0):
        theirs = rdp_privacy_accountant.compute_delta([order], [divergence], epsilon)[0]
        ours = RenyiCurve(order, divergence)(epsilon)
        pinsker = math.sqrt(0.5 * divergence)  # they use Bretagnolle and Huber's bound only
        assert ours == pytest.approx(min(theirs, pinsker), rel=1e-9)


def test_the_zcdp_curve_against_dp_accounting():
    for epsilon in (0.5, 1.0, 5.0):
        theirs = rdp_privacy_accountant.compute_delta(ORDERS[10_000::20], 0.1 * ORDERS[10_000::20], epsilon)[0]
        assert ZcdpCurve(0.1)(epsilon) == pytest.approx(theirs, rel=1e-3)


tables = st.lists(st.tuples(st.floats(0, 4), st.floats(0, 0.5)), min_size=1, max_size=5)


@settings(max_examples=80, deadline=None)
@given(tables, st.floats(0, 5))
def test_a_table_implies_what_a_linear_program_says(points, epsilon):
    curve = TableCurve(tuple(points))
    assert curve(epsilon) == pytest.approx(literal.table_delta(points, epsilon), abs=1e-7)
    assert all(curve(e) <= d * (1 + 1e-12) + 1e-15 for e, d in points)


@settings(max_examples=30, deadline=None)
@given(st.floats(0.05, 4.0), st.lists(st.floats(0, 6), min_size=1, max_size=6))
def test_true_laws_keep_the_curve_of_their_own_table(mu, epsilons):
    for profile in (GaussianProfile(mu), LaplaceProfile(mu)):
        curve = TableCurve(tuple((e, profile.delta_at(e)) for e in epsilons))
        assert all(profile.delta_at(e) <= curve(e) * (1 + 1e-9) + 1e-15 for e in np.linspace(0, 8, 41))


def test_one_point_implies_the_total_variation_of_randomised_response():
    assert point_claim(1.0, 0.0).delta_at(0.0) == pytest.approx(math.tanh(0.5))
    assert point_claim(1.0, 0.25).delta_at(0.0) == pytest.approx(1 - 2 * 0.75 / (1 + math.e))
    assert TableCurve(((0.0, 0.3),))(2.0) == 0.3
    assert TableCurve(((700.0, 0.0), (1.0, 1.0)))(3.0) == pytest.approx(1.0)


def test_curves_fall_and_have_inverses_on_the_safe_side():
    for curve in (ZcdpCurve(0.3), RenyiCurve(4.0, 0.5), TableCurve(((0.5, 0.1), (2.0, 1e-6)))):
        values = [curve(e) for e in np.linspace(0, 12, 200)]
        assert all(a >= b * (1 - 1e-9) for a, b in pairwise(values))
        for delta in (0.05, 1e-3, 1e-6):
            epsilon = curve.epsilon_at(delta)
            assert curve(epsilon) <= delta
            assert curve(epsilon * (1 - 1e-9)) > delta * (1 - 1e-6)
        assert curve.epsilon_at(1.0) == 0.0
        assert curve.epsilon_at(0.0) == math.inf
    assert TableCurve(((1.5, 0.0),)).epsilon_at(0.0) == pytest.approx(1.5)
    assert ZcdpCurve(0.0)(0.0) == RenyiCurve(2.0, 0.0)(0.0) == 0.0


def test_extreme_parameters_stay_in_the_unit_interval():
    for curve in (ZcdpCurve(1e-12), ZcdpCurve(1e6), RenyiCurve(1 + 1e-15, 1.0), RenyiCurve(1e12, 1e3)):
        for epsilon in (0.0, 1e-9, 1.0, 1e3, 1e6):
            assert 0.0 <= curve(epsilon) <= 1.0


CLAIMS = [
    (point_claim(1, 1e-6), "point", "(1, 1e-06)"),
    (gaussian_dp_claim(0.5), "gaussian-dp", "mu = 0.5 Gaussian DP"),
    (zcdp_claim(0.1), "zcdp", "rho = 0.1 zCDP"),
    (renyi_claim(8, 0.25), "renyi", "order 8, epsilon = 0.25 Renyi DP"),
    (table_claim([(1, 0.01), (2, 1e-6)]), "table", "(1, 0.01) and (2, 1e-06)"),
    (table_claim([(1, 0.01), (2, 1e-6), (3, 0), (4, 0)]), "table", "4 points from (1, 0.01) to (4, 0)"),
    (group_claim(point_claim(1.5, 0), 3), "point", "(1.5, 0) for 3 records"),
]


@pytest.mark.parametrize(("claim", "form", "sentence"), CLAIMS)
def test_forms_words_and_what_a_black_box_attacks(claim, form, sentence):
    assert (claim.form, claim.sentence) == (form, sentence)
    attacked = claim.black_box()
    assert (attacked.epsilon, attacked.delta, attacked.relations) == (claim.epsilon, claim.delta, ADD_REMOVE)
    assert (attacked.curve is None) == (form == "point")
    points = attacked.points()
    for epsilon, forward, backward in zip(points.epsilons, points.forward, points.backward, strict=True):
        assert forward == backward == pytest.approx(claim.delta_at(float(epsilon)), rel=1e-6, abs=1e-12)
    assert claim.delta_at(claim.epsilon) <= claim.delta
    assert pickle.loads(pickle.dumps(claim)) == claim
    assert pickle.loads(pickle.dumps(attacked)) == attacked


def test_an_attack_may_pick_every_point_of_a_table():
    points = table_claim([(0.3, 0.2), (1.7, 1e-3)]).black_box().points()
    for epsilon, delta in ((0.3, 0.2), (1.7, 1e-3)):
        assert points.forward[np.flatnonzero(points.epsilons == epsilon)[0]] == pytest.approx(delta)


def test_the_point_shown_is_the_least_epsilon():
    claim = gaussian_dp_claim(analytic_mu(1.0, 1e-6))
    assert (claim.epsilon, claim.delta) == (pytest.approx(1.0), 1e-6)
    assert zcdp_claim(0.1, shown_delta=1e-3).delta == 1e-3
    assert table_claim([(2, 1e-6), (1, 0.01)]).epsilon == 2
    assert renyi_claim(8, 0.25, [Relation.REPLACE]).relations == (Relation.REPLACE,)


TIGHT = analytic_mu(1.0, 1e-6)


@pytest.mark.parametrize(
    ("profile", "claim", "expected"),
    [
        (GaussianProfile(TIGHT), point_claim(1, 1e-6), True),
        (GaussianProfile(TIGHT * 1.0001), point_claim(1, 1e-6), False),
        (LaplaceProfile(1), point_claim(1, 0), True),
        (LaplaceProfile(1.0001), point_claim(1, 0), False),
        (LaplaceProfile(1), table_claim([(1, 0), (0.5, 0.2211)]), False),
        (LaplaceProfile(1), table_claim([(1, 0), (0.5, 0.2213)]), True),
        (GaussianProfile(0.5), gaussian_dp_claim(0.5), True),
        (GaussianProfile(0.51), gaussian_dp_claim(0.5), False),
        (GaussianProfile(0.6), zcdp_claim(0.18), True),
        (GaussianProfile(0.6), zcdp_claim(0.179), False),
        (GaussianProfile(0.6), renyi_claim(5, 0.9), True),
        (GaussianProfile(0.6), renyi_claim(5, 0.89), False),
        (LaplaceProfile(0.5), zcdp_claim(0.125), True),
        (LaplaceProfile(0.5), zcdp_claim(0.124), None),  # the curve of Laplace itself may be below
        (LaplaceProfile(3), zcdp_claim(0.1), False),
        (LaplaceProfile(1), gaussian_dp_claim(1.2321), True),  # -2 ndtri(1 / (1 + e)) = 1.23204
        (LaplaceProfile(1), gaussian_dp_claim(1.2), None),
        (LaplaceProfile(3), gaussian_dp_claim(1.2), False),
        (LaplaceProfile(1), renyi_claim(2, laplace_renyi(1, 2)), True),
        (LaplaceProfile(1), renyi_claim(2, laplace_renyi(1, 2) * 0.999), False),
        (GaussianProfile(0.1), group_claim(point_claim(1, 0.5), 2), None),
    ],
)
def test_what_a_stated_profile_supports(profile, claim, expected):
    assert implied_by(profile, claim) is expected


def test_a_scale_of_one_over_epsilon_supports_epsilon_whatever_its_rounding():
    epsilons = [e / 100 for e in range(1, 400)]
    sizes = [1 / (1 / e) for e in epsilons]
    assert any(size > e for size, e in zip(sizes, epsilons, strict=True))
    for size, epsilon in zip(sizes, epsilons, strict=True):
        assert implied_by(LaplaceProfile(size), point_claim(epsilon, 0)) is True
        assert implied_by(LaplaceProfile(size * (1 + 1e-9)), point_claim(epsilon, 0)) is False


class Cut:
    """A profile of the user's own: randomised response with ratio e, or a wide enclosure of it."""

    def __init__(self, width=0.0):
        self.width = width

    def delta_bracket(self, epsilon, direction):
        value = max(0.0, (math.e - math.exp(epsilon)) / (1 + math.e))
        return Bracket(max(0.0, value - self.width), value + self.width)


def test_profiles_of_the_users_own():
    assert implied_by(Cut(), zcdp_claim(0.5)) is True
    assert implied_by(Cut(), zcdp_claim(0.499)) is None
    assert implied_by(Cut(), gaussian_dp_claim(1.2329)) is True  # -2 ndtri(1 / (1 + e)) = 1.23210
    assert implied_by(Cut(), renyi_claim(50, 1.0)) is True
    assert implied_by(Cut(), renyi_claim(50, 0.9)) is None
    assert implied_by(Cut(), renyi_claim(50, 0.01)) is False
    assert implied_by(Cut(), point_claim(1, 0)) is True
    assert implied_by(Cut(width=0.1), point_claim(1, 0.05)) is None
    assert implied_by(Cut(width=0.1), table_claim([(1, 0.05), (0, 0.3)])) is False
    quadratic = QuadraticProfile(*QUADRATIC)
    assert implied_by(quadratic, zcdp_claim(3.0)) is None
    assert implied_by(quadratic, zcdp_claim(1e-6)) is False


QUADRATIC = (1.0, 0.5)


def test_the_largest_pure_claim_is_where_randomised_response_meets_the_curve():
    assert largest_pure(GaussianProfile(1.5)) == pytest.approx(-math.log(1 / special.ndtr(0.75) - 1), rel=1e-12)
    assert largest_pure(ZcdpCurve(0.5)) == 1.0
    assert (largest_pure(RenyiCurve(50, 1.0)), largest_pure(RenyiCurve(2, 0.25))) == (1.0, 0.5)


def test_randomised_response_meets_the_pure_to_gaussian_bound_with_equality():
    mu = 1.2320  # just below -2 ndtri(1 / (1 + e))
    assert max(Cut().delta_bracket(e, d).low - GaussianProfile(mu).delta_at(e) for e in (0.0, 0.5) for d in BOTH) > 0


@pytest.mark.parametrize(("size", "order"), [(0.3, 1.5), (1.0, 2.0), (2.0, 7.0)])
def test_the_renyi_divergence_of_laplace_by_integration(size, order):
    def integrand(x):
        return 0.5 * math.exp(-order * abs(x) - (1 - order) * abs(x - size))

    whole = sum(quad(integrand, a, b)[0] for a, b in ((-60, 0), (0, size), (size, 60)))
    assert laplace_renyi(size, order) == pytest.approx(math.log(whole) / (order - 1), rel=1e-9)
    assert laplace_renyi(0.0, order) == pytest.approx(0.0, abs=1e-15)
    assert laplace_renyi(size, 1e6) == pytest.approx(size, rel=1e-5)


@pytest.mark.parametrize(
    ("build", "message"),
    [
        (lambda: point_claim(-1, 0), "epsilon must be finite and at least 0, got epsilon=-1"),
        (lambda: point_claim(1, 2), r"delta must be in \[0, 1\], got delta=2"),
        (lambda: gaussian_dp_claim(math.inf), "mu must be finite and at least 0, got mu=inf"),
        (lambda: zcdp_claim(-0.1), r"rho must be finite and at least 0, got rho=-0\.1"),
        (lambda: renyi_claim(1, 0.1), "order must be finite and above 1, got order=1"),
        (lambda: renyi_claim(2, math.nan), "epsilon must be finite and at least 0, got epsilon=nan"),
        (lambda: table_claim([]), "points must be at least one"),
        (lambda: table_claim([(1, 2)]), r"delta must be in \[0, 1\], got delta=2"),
        (lambda: group_claim(point_claim(1, 0), 0), "group must be a whole number of at least 1, got group=0"),
        (lambda: zcdp_claim(1, shown_delta=0), r"shown_delta must be in \(0, 1\], got shown_delta=0"),
        (lambda: point_claim(1, 0, ()), "relations must be a non-empty tuple"),
        (lambda: PrivacyClaim(math.inf, 0.0), "epsilon must be finite and at least 0, got epsilon=inf"),
    ],
)
def test_claims_are_checked(build, message):
    with pytest.raises(ValueError, match=message):
        build()
