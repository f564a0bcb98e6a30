"""Somebody's filter on the games: right ones are not refuted at any budget, wrong ones are, and faults are told."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from fractions import Fraction as F
from typing import Any

import opendp.prelude as dp
import pytest
from rows import for_each

from audits.games.adaptive_games import AdaptiveGame, delta_beside_report, worst_delta, worst_moment
from audits.games.filter_examination import FilterFaultError, examine_filter
from audits.games.finite_steps import FiniteStep, NaturalFilter, binary, randomised_response, reveal
from mechanisms.filters import GaussianFilter, RenyiFilter
from mechanisms.laws.gaussian_profile import gaussian_delta

CLAIMS = [
    (RenyiFilter(8, 1.0), 1.0), (RenyiFilter(2, 0.1), 0.1), (RenyiFilter(32, 0.01), 0.01), (RenyiFilter(4, 20.0), 20.0),
    (GaussianFilter(1.0), 1.0), (GaussianFilter(0.1), 0.01),
]  # fmt: skip


@dataclass(frozen=True)
class Sum:
    """Right: costs are added, and the sum stays within the budget."""

    budget: float

    def start(self):
        return 0.0

    def spend(self, spent, cost):
        return spent + cost

    def admits(self, spent):
        return spent <= self.budget


@dataclass(frozen=True)
class LateSum(Sum):
    """Wrong: looks at what was spent before the step."""

    def start(self):
        return 0.0, 0.0

    def spend(self, spent, cost):
        return spent[0] + spent[1], cost

    def admits(self, spent):
        return spent[0] <= self.budget


@dataclass(frozen=True)
class AverageCost(Sum):
    """Wrong: four times the average cost."""

    def start(self):
        return 0.0, 0

    def spend(self, spent, cost):
        return spent[0] + cost, spent[1] + 1

    def admits(self, spent):
        return 4 * spent[0] / spent[1] <= self.budget


@dataclass(frozen=True)
class LargestCost(Sum):
    """Wrong: the largest cost counts."""

    def spend(self, spent, cost):
        return max(spent, cost)


@dataclass(frozen=True)
class OtherOrder(Sum):
    """Wrong: whoever asks chooses the order, and takes the cheapest."""

    def cost(self, step):
        return math.log(step.moment(2))


@for_each(("claimed", "budget"), CLAIMS)
def test_a_right_filter_is_not_refuted(claimed, budget):
    found = examine_filter(Sum(budget), claimed, 1e-5)
    assert not any(each.refutes for each in found)
    assert all(each.states > 5 for each in found)
    assert examine_filter(claimed, claimed, 1e-5)[0].refutes is False
    first = found[0]
    assert first.value.high >= 0.8 * first.allowed  # the games come near the claim


@for_each("wrong", [LateSum, AverageCost, LargestCost])
@for_each(("claimed", "budget"), [CLAIMS[1], CLAIMS[4]])
def test_wrong_filters_are_refuted(wrong, claimed, budget):
    found = examine_filter(wrong(budget), claimed, 1e-5)
    refuted = [each for each in found if each.refutes]
    assert refuted
    assert refuted[0].words.startswith("ask ")


def test_costs_at_an_order_of_ones_own():
    assert examine_filter(OtherOrder(1.0), RenyiFilter(8, 1.0), 1e-5)[0].refutes
    assert not examine_filter(OtherOrder(1.0), RenyiFilter(2, 1.0), 1e-5)[0].refutes


def test_the_gaussian_parameter_of_finite_laws():
    step = randomised_response(3)
    assert gaussian_delta(step.gaussian_mu, 0.0) == pytest.approx(0.5, rel=1e-9)  # total variation 3/4 - 1/4
    lopsided = binary(F(1, 20), F(1, 200))
    for factor in (F(1), F(3, 2), F(4)):
        assert lopsided.delta_at(factor) <= gaussian_delta(lopsided.gaussian_mu, math.log(factor))
        assert lopsided.swapped.gaussian_mu == pytest.approx(lopsided.gaussian_mu, rel=1e-9)
    three = FiniteStep("three", ("a", "b", "c"), (F(1, 2), F(1, 3), F(1, 6)), (F(1, 4), F(1, 4), F(1, 2)))
    smaller = 0.99 * three.gaussian_mu
    grid = [F(k, 20) for k in range(10, 60)]
    assert all(three.delta_at(x) <= gaussian_delta(three.gaussian_mu, abs(math.log(x))) for x in grid if x >= 1)
    assert any(float(three.delta_at(x)) > gaussian_delta(smaller, math.log(x)) for x in grid if x >= 1)
    assert math.isinf(reveal(F(1, 9)).gaussian_mu)


class Remembers:
    """Keeps its own account, as no filter may."""

    def __init__(self, budget):
        self.budget, self.total = budget, 0.0

    def start(self):
        return 0.0

    def spend(self, spent, cost):
        self.total += cost
        return self.total

    def admits(self, spent):
        return self.total <= self.budget


@dataclass(frozen=True)
class Raises(Sum):
    def spend(self, spent, cost):
        raise KeyError("cost")


@dataclass(frozen=True)
class CostsLists(Sum):
    def cost(self, step):
        return [1.0]


@dataclass(frozen=True)
class KeepsLists(Sum):
    def start(self):
        return [0.0]


@dataclass(frozen=True)
class SaysNo(Sum):
    def admits(self, spent):
        return "no"


@dataclass(frozen=True)
class ForgetsToReturn(Sum):
    def admits(self, spent):
        _ = spent <= self.budget


@dataclass(frozen=True)
class IsNaN(Sum):
    """Refuses nothing, as no comparison with NaN holds."""

    def spend(self, spent, cost):
        return math.nan

    def admits(self, spent):
        return not spent > self.budget


@dataclass(frozen=True)
class CostsNaN(Sum):
    def cost(self, step):
        return 0, math.nan


@for_each(
    ("wrong", "words"),
    [
        (SaysNo, "filter.admits must return True or False, got 'no'"),
        (ForgetsToReturn, "filter.admits must return True or False, got None"),
        (IsNaN, "filter.spend must return numbers that are no NaN, got nan"),
        (CostsNaN, "filter.cost must return numbers that are no NaN, got (0, nan)"),
        (Remembers, "filter.spend must be a function of what it is given, got two answers to one question"),
        (Raises, "filter.spend must answer, got KeyError: 'cost'"),
        (CostsLists, "filter.cost must return a number or a tuple, got unhashable type: 'list'"),
        (KeepsLists, "filter.start must return a number or a tuple, got unhashable type: 'list'"),
    ],
)
def test_faults_are_one_line(wrong, words):
    with pytest.raises(FilterFaultError, match=re.escape(words)):
        examine_filter(wrong(1.0), RenyiFilter(8, 1.0), 1e-5)


@for_each("claimed", [RenyiFilter(2, 1e-17), RenyiFilter(2, 1e4), GaussianFilter(1e-9)])
def test_claims_that_no_step_fits_are_not_examined(claimed):
    with pytest.raises(FilterFaultError, match="no step of the games costs a share of the claimed budget"):
        examine_filter(Sum(1.0), claimed, 1e-5)


def test_a_filter_that_keeps_too_much_apart_is_refused(monkeypatch):
    monkeypatch.setattr("audits.games.adaptive_games.MOST_STATES", 100)
    with pytest.raises(FilterFaultError, match=r"filter\.spend must lead to fewer states, got more than 100"):
        examine_filter(Sum(1.0), RenyiFilter(8, 1.0), 1e-5)


def test_what_is_found_is_a_value_of_its_game():
    """The enclosed numbers against the exact rational ones, for the right filter."""
    from audits.games.filter_examination import _game, _log_moment, _steps

    claimed = RenyiFilter(8, 1.0)
    steps = _steps(lambda step: _log_moment(step, 8).high, 1.0)
    game = _game(Sum(1.0), steps, lambda step: _log_moment(step, 8).mid)
    moment, found = worst_moment(game, 8), examine_filter(Sum(1.0), claimed, 1e-2)
    assert math.log(moment.value) / 7 == pytest.approx(found[0].value.mid, rel=1e-12)
    factor = F(math.ceil(F(math.exp(claimed.epsilon_at(1e-2)) * (1 + 1e-15)) * 1024), 1024)
    assert float(worst_delta(game, factor).value) == pytest.approx(found[1].value.mid, rel=1e-12)


dp.enable_features("contrib", "honest-but-curious")
SPACE = dp.atom_domain(T=bool), dp.discrete_distance()
STEPS = tuple(randomised_response(ratio) for ratio in (F(3, 2), 2, 3))


def response(step) -> Any:
    """Return OpenDP's randomised response of the same probability."""
    return dp.m.make_randomized_response_bool(prob=float(step.first[0]))


@dataclass(frozen=True)
class OpenDPFilter:
    """What ``make_privacy_filter`` admits; its costs are places in a list of OpenDP's measurements."""

    made: Any
    measurements: tuple[Any, ...]
    answers: dict[tuple[int, ...], bool] = field(default_factory=dict)

    def start(self) -> tuple[int, ...]:
        return ()

    def spend(self, spent, cost):
        return tuple(sorted((*spent, cost)))

    def admits(self, spent) -> bool:
        if spent not in self.answers:
            self.answers[spent] = self._asked(spent)
        return self.answers[spent]

    def _asked(self, spent) -> bool:
        queryable = self.made(True)
        try:
            for place in spent:
                queryable(self.measurements[place])
        except dp.OpenDPException as refused:
            if "filter is now exhausted" in str(refused) or "unknown ordering" in str(refused):
                return False
            raise
        return True


def opendp_filter(measure: Any, budget: Any) -> Any:
    odometer = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=measure)
    return dp.c.make_privacy_filter(odometer, d_in=1, d_out=budget)


def opendp_game(steps, measurements, made, n_steps: int) -> AdaptiveGame:
    return AdaptiveGame(steps, tuple(range(len(steps))), OpenDPFilter(made, tuple(measurements)), n_steps)


def test_pure_budgets_hold():
    """Sums of epsilons are a filter; version 0.16 does not refuse it."""
    game = opendp_game(STEPS, map(response, STEPS), opendp_filter(dp.max_divergence(), 1.5), 3)
    assert worst_delta(game, F(math.exp(1.5))).value == 0
    assert worst_delta(game, F(math.exp(1.3))).value > 0  # and it is used


def test_zero_concentrated_budgets_hold():
    measurements = tuple(dp.c.make_pureDP_to_zCDP(response(step)) for step in STEPS)
    game = opendp_game(STEPS, measurements, opendp_filter(dp.zero_concentrated_divergence(), 0.5), 4)
    for order in (2, 4, 8):
        worst = worst_moment(game, order)
        assert 0.2 * order < math.log(worst.value) / (order - 1) <= 0.5 * order


def test_an_approximate_budget_holds_where_the_natural_filter_fails():
    """(ln 2, 2/9): its sums admit RR(2) and Reveal(2/9) once each, and never RR(2) twice."""
    steps = (randomised_response(2), reveal(F(2, 9)))
    measure = dp.approximate(dp.max_divergence())
    told = dp.m.make_user_measurement(*SPACE, measure, function=lambda x: x, privacy_map=lambda _: (0.0, 2 / 9))
    measurements = (dp.c.make_approximate(response(steps[0])), told)
    game = opendp_game(steps, measurements, opendp_filter(measure, (math.log(2) + 1e-9, 2 / 9)), 2)
    assert worst_delta(game, F(2)).value == F(2, 9)
    natural = AdaptiveGame(steps, steps, NaturalFilter(F(2), F(2, 9)), 2)
    assert worst_delta(natural, F(2)).value == F(8, 27)


@pytest.mark.quick
def test_a_filter_that_has_refused_answers_nothing_more():
    queryable = opendp_filter(dp.max_divergence(), 1.0)(True)
    queryable(response(STEPS[1]))
    with pytest.raises(dp.OpenDPException, match="filter is now exhausted"):
        queryable(response(STEPS[1]))
    with pytest.raises(dp.OpenDPException, match="filter is exhausted"):
        queryable(response(STEPS[0]))


def test_an_odometer_read_at_the_end_of_a_run_is_no_promise():
    """The run that answered "out" reports ln 2; the interaction that it is part of has delta(ln 2) near 2/3."""
    odometer = dp.c.make_fully_adaptive_composition(*SPACE, output_measure=dp.max_divergence())
    steps = (STEPS[1], randomised_response(1000))
    measurements = tuple(map(response, steps))

    @dataclass(frozen=True)
    class Reported:
        def start(self):
            return ()

        def spend(self, spent, cost):
            return (*spent, cost)

        def admits(self, spent):
            return True

    def reported(spent) -> bool:
        queryable = odometer(True)
        for place in spent:
            queryable(measurements[place])
        return queryable.privacy_loss(1) <= math.log(2) + 1e-12

    worst = delta_beside_report(AdaptiveGame(steps, (0, 1), Reported(), 2), F(2), reported)
    assert worst.value == F(2, 3) * F(999, 1001)
    assert worst.strategy.words() == 'ask RR(2); after "in": ask RR(1000)'
