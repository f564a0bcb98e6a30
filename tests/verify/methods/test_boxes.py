"""Branch and bound in ball arithmetic: true inequalities are proved, false ones refuted, touching ones left open."""

import math

import pytest
from flint import arb

from verify.kernel.box_search import Axis
from verify.kernel.verdict import Outcome, judge
from verify.methods.boxes import box_evidence, on_box, prove_nonnegative


def gaussian_tail(p):
    """2 exp(-t^2/2)/t - P(|Z| > t), positive for every t > 0 (the Mills bound has sqrt(2/pi) < 2)."""
    t = p["t"]
    return 2 * (-t * t / 2).exp() / t - (t / arb(2).sqrt()).erfc()


@pytest.mark.parametrize("smooth", [False, True])
def test_a_true_inequality_in_one_variable_is_proved(smooth):
    proof = prove_nonnegative(gaussian_tail, {"t": Axis(1e-6, 8.0)}, smooth=smooth)
    assert proof.proved
    assert not proof.refuted
    # The smallest value is the one at t = 8, about 2.5 times 1e-15: enclosed, and met.
    true = 2 * math.exp(-32) / 8 - math.erfc(8 / math.sqrt(2))
    assert 0 <= proof.low <= true * (1 + 1e-13)
    assert proof.high >= true * (1 - 1e-13)


@pytest.mark.parametrize("smooth", [False, True])
def test_a_bound_one_percent_too_small_is_refuted_where_it_fails(smooth):
    """2 c exp(-t^2/2)/t >= P(|Z| > t) fails for c below 0.3989 = 1/sqrt(2 pi), at large t only."""
    proof = prove_nonnegative(
        lambda p: 0.395 * 2 * (-p["t"] * p["t"] / 2).exp() / p["t"] - (p["t"] / arb(2).sqrt()).erfc(),
        {"t": Axis(1.0, 30.0)},
        smooth=smooth,
    )
    assert proof.refuted
    assert proof.worst["t"] > 9.0


@pytest.mark.parametrize("smooth", [False, True])
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


@pytest.mark.parametrize("axis", [Axis(0.0, 1.0), Axis(-1.0, 1.0), Axis(0.0, math.inf, log=False)])
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
