"""Balls: on a box, on a line, growth along a sequence, densities, and means of truncated noise."""

import math

import numpy as np
import pytest
from flint import arb
from rows import for_each
from scipy.integrate import quad
from scipy.stats import norm

from audits import Budget, StreamKey
from mechanisms import Dataset, Direction, GaussianProfile, NeighbouringPair, Relation
from mechanisms.objective.losses import LogisticLoss
from mechanisms.objective.objective_perturbation import ObjectivePerturbation
from verify.kernel.box_search import Axis
from verify.kernel.evidence import sampled_delta
from verify.kernel.statement import Observer
from verify.kernel.verdict import Outcome, judge
from verify.methods import truncated
from verify.methods.ball_density import as_rows, cdf_log_ratio, deviation, log_ratio, slopes
from verify.methods.boxes import box_evidence, on_box, prove_nonnegative
from verify.methods.enclosed import SETTLING, decades_evidence, enclosed, growth_evidence
from verify.methods.line_delta import line_delta


# Branch and bound in ball arithmetic: true inequalities are proved, false ones refuted, touching ones left open.
def gaussian_tail(p):
    """2 exp(-t^2/2)/t - P(|Z| > t), positive for every t > 0 (the Mills bound has sqrt(2/pi) < 2)."""
    t = p["t"]
    return 2 * (-t * t / 2).exp() / t - (t / arb(2).sqrt()).erfc()


@for_each("smooth", [False, True])
def test_a_true_inequality_in_one_variable_is_proved(smooth):
    proof = prove_nonnegative(gaussian_tail, {"t": Axis(1e-6, 8.0)}, smooth=smooth)
    assert proof.proved
    assert not proof.refuted
    # The smallest value is the one at t = 8, about 2.5 times 1e-15: enclosed, and met.
    true = 2 * math.exp(-32) / 8 - math.erfc(8 / math.sqrt(2))
    assert 0 <= proof.low <= true * (1 + 1e-13)
    assert proof.high >= true * (1 - 1e-13)


@for_each("smooth", [False, True])
def test_a_bound_one_percent_too_small_is_refuted_where_it_fails(smooth):
    """2 c exp(-t^2/2)/t >= P(|Z| > t) fails for c below 0.3989 = 1/sqrt(2 pi), at large t only."""
    proof = prove_nonnegative(
        lambda p: 0.395 * 2 * (-p["t"] * p["t"] / 2).exp() / p["t"] - (p["t"] / arb(2).sqrt()).erfc(),
        {"t": Axis(1.0, 30.0)},
        smooth=smooth,
    )
    assert proof.refuted
    assert proof.worst["t"] > 9.0


@for_each("smooth", [False, True])
def test_three_variables(smooth):
    """The arithmetic mean of three positive numbers is at least their geometric mean: equality on the diagonal."""

    def gap(shift):
        return lambda p: (p["x"] + p["y"] + p["z"]) / 3 + shift - ((p["x"] * p["y"] * p["z"]).log() / 3).exp()

    box = {name: Axis(0.25, 4.0) for name in "xyz"}
    assert prove_nonnegative(gap(0.5), box, smooth=smooth).proved
    assert prove_nonnegative(gap(-0.001), box, smooth=smooth).refuted
    touching = prove_nonnegative(gap(0.0), box, smooth=smooth, max_boxes=500)
    assert not touching.proved
    assert not touching.refuted
    assert touching.low < 0 <= touching.high


def test_unknown_pieces_are_cut_and_an_undecidable_point_is_left_open():
    # log x >= -15 on (0, 1] reaches a ball around 0 first; sqrt is not finite at a ball around 0 however it is cut.
    assert prove_nonnegative(lambda p: p["x"].log() + 15, {"x": Axis(1e-6, 1.0)}).proved
    open_ = prove_nonnegative(lambda p: (p["x"] - 1).sqrt(), {"x": Axis(0.5, 2.0)}, max_boxes=300)
    assert open_.low == -math.inf
    assert not open_.refuted


def test_smallest_value_is_enclosed_against_a_fine_grid():
    def f(p):
        return (p["x"] - 0.3) * (p["x"] - 0.3) + p["y"] * (p["y"] - 1) + 0.26

    for smooth in (False, True):
        proof = prove_nonnegative(f, {"x": Axis(-1, 1, log=False), "y": Axis(0, 2, log=False)}, smooth=smooth)
        # minimum 0.01 at (0.3, 0.5)
        assert proof.proved
        assert proof.low <= 0.01 <= proof.high


@for_each("axis", [Axis(0.0, 1.0), Axis(-1.0, 1.0), Axis(0.0, math.inf, log=False)])
def test_boxes_that_are_none_are_refused(axis):
    with pytest.raises(ValueError, match="axis must be"):
        prove_nonnegative(lambda p: p["x"], {"x": axis})


def test_evidence_is_decided_by_the_enclosure():
    box = {"t": Axis(1e-3, 5.0)}
    holds = box_evidence("bound minus tail", prove_nonnegative(gaussian_tail, box), box)
    fails = box_evidence("bound minus tail", prove_nonnegative(lambda p: -gaussian_tail(p), box), box)
    assert judge(holds)[0] is Outcome.HOLDS
    assert judge(fails)[0] is Outcome.FAILS
    assert holds.exact is not None
    assert "proved on the box" in holds.exact.method
    assert holds.exact.failure_prob == 0


def test_evidence_on_a_box_holds_and_fails():
    """x (1 - x) + shift is at least 0 on [0.1, 0.9] for shift 0, not for -0.2 (0.09 - 0.2 at the ends)."""
    box = {"x": Axis(0.1, 0.9, log=False)}
    for shift, outcome in ((0.0, Outcome.HOLDS), (-0.2, Outcome.FAILS)):
        evidence = on_box("x (1 - x)", lambda p, shift=shift: p["x"] * (1 - p["x"]) + shift, box, smooth=True)
        assert judge(evidence)[0] is outcome
        assert evidence.exact.high >= 0.09 + shift


# A number in balls against the interval it is allowed.
def test_what_is_enclosed_holds_the_number_tightly() -> None:
    found = enclosed("root of 2", lambda: arb(2).sqrt(), 1.0, 2.0, 1.5)
    assert found.exact is not None
    assert found.exact.low <= math.sqrt(2) <= found.exact.high
    assert found.exact.high - found.exact.low < 1e-12
    assert (found.claim.published, found.claim.observer) == (1.5, Observer.OUTPUT)
    assert judge(found)[0] is Outcome.HOLDS


@for_each(("low", "high"), [(1.5, 2.0), (0.0, 1.4)])
def test_a_number_outside_the_allowed_interval_fails(low: float, high: float) -> None:
    assert judge(enclosed("root of 2", lambda: arb(2).sqrt(), low, high, 1.5))[0] is Outcome.FAILS


def test_a_probability_is_cut_to_0_and_1_and_the_words_of_the_claim_are_passed_on() -> None:
    found = enclosed(
        "one",
        lambda: arb(1, 1e-9),
        0.0,
        1.0,
        1.0,
        probability=True,
        in_domain=False,
        relation=Relation.ADD,
        observer=Observer.TRANSCRIPT,
        conditioned_on="the data",
        notes={"n": 3},
    )
    assert found.exact is not None
    assert found.exact.high == 1.0
    claim = found.claim
    assert (claim.in_domain, claim.relation, claim.observer) == (False, Relation.ADD, Observer.TRANSCRIPT)
    assert claim.conditioned_on == "the data"
    assert found.notes == {"n": 3}


# Growth along a sequence, on powers of n that are known.
@for_each(("power", "outcome"), [(0.5, Outcome.FAILS), (0.0, Outcome.HOLDS), (-1.0, Outcome.HOLDS)])
def test_a_power_of_n_grows_by_its_exponent(power: float, outcome: Outcome) -> None:
    found = growth_evidence("3 n^p", lambda n: 3 * n ** arb(power), 2, 12)
    assert found.exact is not None
    assert found.exact.value == pytest.approx(10 * power, abs=1e-9)
    assert judge(found)[0] is outcome


def test_what_must_grow_or_fall_at_least_so_far() -> None:
    falling = growth_evidence("1/n", lambda n: 1 / n, 1, 3, most=-SETTLING)
    assert judge(falling)[0] is Outcome.HOLDS
    assert judge(growth_evidence("1", lambda n: n / n, 1, 3, most=-SETTLING))[0] is Outcome.FAILS
    assert judge(growth_evidence("1/n", lambda n: 1 / n, 1, 3, least=-SETTLING))[0] is Outcome.FAILS


@for_each(("decades", "outcome"), [(0.0, Outcome.HOLDS), (-3.0, Outcome.HOLDS), (4.0, Outcome.FAILS)])
def test_known_decades(decades: float, outcome: Outcome) -> None:
    assert judge(decades_evidence("a ratio", decades))[0] is outcome


# The enclosed divergence on the line against draws, a Gaussian limit and its own mirror image.
SHARED = [(-0.5, 1.0), (1.0, -1.0), (0.7, 1.0)]


@pytest.mark.parametrize("added", [True, False])
@pytest.mark.parametrize("n", [0, 3])
def test_encloses_what_draws_show(n: int, added: bool) -> None:
    """Null: the enclosure meets a betting interval of the same delta; 60,000 draws, level 1e-9."""
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma=2.0, lam=0.5)
    X, y = np.array([[x] for x, _ in SHARED[:n]]).reshape(n, 1), np.array([y for _, y in SHARED[:n]])
    pair = NeighbouringPair.add(Dataset(X, y, 1.0, 1.0), [1.0], 1.0)
    pair = pair if added else pair.swapped()
    bracket = line_delta(SHARED[:n], (1.0, 1.0), added=added, sigma=2.0, lam=0.5, epsilon=0.2, resolution=1e-4)
    sampled = sampled_delta(mechanism, pair, 0.2, Direction.FORWARD, Budget(60_000, 1e-9, StreamKey(5)))
    assert bracket.low <= sampled.high
    assert sampled.low <= bracket.high
    assert bracket.high - bracket.low < 0.02 * bracket.high


def test_gaussian_limit() -> None:
    """With lam = 1e6 the output stays at 0, where f' = -1/2 and f'' is nothing: Gaussian with mu = 1/(2 sigma)."""
    exact = GaussianProfile(0.5).delta_at(0.3)
    for added in (True, False):
        bracket = line_delta([], (1.0, 1.0), added=added, sigma=1.0, lam=1e6, epsilon=0.3, resolution=1e-3)
        assert bracket.low - 1e-5 <= exact <= bracket.high + 1e-5


def test_mirror_image() -> None:
    """Flipping all labels mirrors the line."""
    one, other = (
        line_delta(
            [(x, sign * y) for x, y in SHARED],
            (1.0, sign),
            added=True,
            sigma=1.0,
            lam=0.5,
            epsilon=0.5,
            resolution=1e-3,
        )
        for sign in (1.0, -1.0)
    )
    assert math.isclose(one.low, other.low, rel_tol=1e-9)
    assert math.isclose(one.high, other.high, rel_tol=1e-9)


# Log density ratios of objective perturbation in balls, against literal formulas in floats.
def test_slopes_of_the_losses_by_hand() -> None:
    """Logistic at u = 0, y = 1: -1/2, 1/4; squared at 3, 1: 2, 1; Poisson at 0, 2: -1, 1."""
    for loss, u, y, first, second in (
        ("logistic", 0, 1, -0.5, 0.25),
        ("squared", 3, 1, 2, 1),
        ("poisson", 0, 2, -1, 1),
    ):
        found = [float(s.mid()) for s in slopes(loss, arb(u), float(y))]
        assert found == pytest.approx([first, second])


def literal(X: np.ndarray, y: np.ndarray, theta: np.ndarray, sigma: float, lam: float) -> float:
    """Log density of the logistic case up to a constant."""
    s = 1 / (1 + np.exp(y * (X @ theta)))
    gradient = lam * theta - X.T @ (y * s)
    hessian = lam * np.eye(len(theta)) + (X.T * (s * (1 - s))) @ X
    return float(np.linalg.slogdet(hessian)[1] - gradient @ gradient / (2 * sigma**2))


def test_logistic_ratio_in_floats() -> None:
    rng = np.random.default_rng(4)
    X, y, theta = rng.normal(size=(5, 2)), np.sign(rng.normal(size=5)), rng.normal(size=2)
    expected = literal(X, y, theta, 1.5, 0.7) - literal(X[:4], y[:4], theta, 1.5, 0.7)
    found = log_ratio("logistic", as_rows(X, y), as_rows(X[:4], y[:4]), theta.tolist(), 1.5, 0.7)
    assert found.low <= found.high
    assert found.mid == pytest.approx(expected, rel=1e-10)
    assert deviation(expected, found) < 1e-10
    assert deviation(expected + 0.5, found) == pytest.approx(0.5 / max(1.0, abs(expected)), rel=1e-6)


@for_each("loss", ["logistic", "squared", "poisson"])
def test_in_one_dimension_the_distribution_function_says_the_same(loss: str) -> None:
    rows = [((0.5,), 1.0), ((-0.75,), 1.0 if loss != "poisson" else 2.0)]
    density = log_ratio(loss, rows, rows[:1], [0.4], 2.0, 0.5)
    distribution = cdf_log_ratio(loss, rows, rows[:1], 0.4, 2.0, 0.5)
    assert math.isclose(density.mid, distribution.mid, rel_tol=1e-10, abs_tol=1e-12)


# The error of perturbed statistics given a small noise matrix, against scipy's quadrature.
def test_conditional_error_against_quadrature() -> None:
    """One dimension, spectrum 20, noise 5: the ball quadrature is that of scipy."""
    setting = truncated.NoisyMoments([20.0], 5.0, 2.0, 1.5, sigma=3.0)

    def weight(u: float) -> float:
        return float(norm.pdf(u * 4.0) * 4.0)

    top = quad(lambda u: (0.01 + 9 / 20 + (1.5 * u) ** 2) / (1 + u) ** 2 * weight(u), -0.5, 0.5)[0]
    assert truncated.exact_error(setting).value == pytest.approx(top / quad(weight, -0.5, 0.5)[0], rel=1e-9)


def test_conditional_error_drawn_agrees_with_quadrature() -> None:
    """Null: same mean in one dimension; betting interval at level 1e-9, 4,000 draws."""
    setting = truncated.NoisyMoments([20.0], 5.0, 2.0, 1.5, sigma=3.0)
    drawn = truncated.sampled_error(setting, Budget(4_000, 1e-9, StreamKey(3)))
    exact = truncated.exact_error(setting)
    assert drawn.low <= exact.low <= exact.high <= drawn.high
