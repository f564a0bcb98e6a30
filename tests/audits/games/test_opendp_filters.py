"""OpenDP 0.16: its filters on our games, and its odometer read at the end of a run (docs/filters.md says what is seen).

Each sequence of steps is asked of a fresh filter of OpenDP's own, so that what it admits is what it admits.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from fractions import Fraction as F
from typing import Any

import opendp.prelude as dp
import pytest

from audits.games.adaptive_games import AdaptiveGame, delta_beside_report, worst_delta, worst_moment
from audits.games.finite_steps import NaturalFilter, randomised_response, reveal

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
