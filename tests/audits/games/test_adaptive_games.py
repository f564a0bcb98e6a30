"""Adaptive games against every analyst there is, and the exact numbers of docs/filters.md."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction as F

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from oracles.audits.all_analysts import delta_of, largest, moment_of
from rows import for_each

from audits.games.adaptive_games import (
    AdaptiveGame,
    Strategy,
    delta_beside_report,
    worst_delta,
    worst_exceedance,
    worst_moment,
)
from audits.games.finite_steps import (
    FiniteStep,
    MomentFilter,
    NaturalFilter,
    NoFilter,
    OrderLedger,
    binary,
    promised_delta,
    randomised_response,
    reveal,
    together,
)
from mechanisms.laws.finite_laws import smallest_delta

#: The games of the findings: three kinds of randomised response, eight steps.
THREE = tuple(randomised_response(ratio) for ratio in (F(3, 2), 2, 3))


def renyi_game(order: int, n_steps: int = 8, filter_of: type = MomentFilter) -> AdaptiveGame:
    """Return the game in which the budget is that of eight of the mildest steps."""
    costs = tuple(step.moment(order) for step in THREE)
    return AdaptiveGame(THREE, costs, filter_of(costs[0] ** 8), n_steps)


def test_the_natural_filter_is_refuted():
    """8/27 > 6/27: every run's own composition keeps (ln 2, 2/9), the interaction does not."""
    steps, claimed = (randomised_response(2), reveal(F(2, 9))), F(2, 9)
    for second in steps:
        assert smallest_delta(*together([steps[0], second]), F(2)) == claimed
    worst = worst_delta(AdaptiveGame(steps, steps, NaturalFilter(F(2), claimed), 2), F(2))
    assert worst.value == F(8, 27) > claimed == F(6, 27)
    assert worst.strategy.words() == 'ask RR(2); after "in": ask RR(2); after "out": ask Reveal(2/9)'
    assert worst_delta(AdaptiveGame(steps, steps, NaturalFilter(F(2), claimed), 1), F(2)).value == claimed
    steps, claimed = (randomised_response(2), randomised_response(5), reveal(F(1, 3))), F(1, 3)
    assert worst_delta(AdaptiveGame(steps, steps, NaturalFilter(F(4), claimed), 2), F(4)).value == F(4, 9)


def test_without_a_filter_a_run_reports_ln_2_and_delta_there_is_two_thirds():
    steps = (randomised_response(2), reveal(1))
    game = AdaptiveGame(steps, tuple(step.factor for step in steps), MomentFilter(F(10**9)), 2)
    open_game = AdaptiveGame(steps, tuple(step.factor for step in steps), Pure(), 2)
    worst = delta_beside_report(open_game, F(2), lambda spent: spent is not None and spent <= 2)
    assert worst.value == F(2, 3)
    assert worst.strategy.words() == 'ask RR(2); after "in": ask Reveal(1)'
    kept = delta_beside_report(game, F(2), lambda spent: spent is not None and spent <= 2)
    assert kept.value < F(2, 3)  # a filter does not admit what reveals all


@dataclass(frozen=True)
class Pure(NoFilter):
    """Adds up realised epsilons and admits everything."""

    def start(self):
        return F(1)

    def spend(self, spent, cost):
        return None if spent is None or cost is None else spent * cost


#: Found by a random search outside the tests (seed 0, two minutes), and fixed here.
LEDGER_STEPS = (
    binary(F(19, 100), F(19, 1050)), binary(F(1, 10), F(1, 190)), binary(F(11, 100), F(11, 150))
)  # fmt: skip
ORDERS = (2, 3, 5, 9, 17, 33, 65)


def exceedance(orders, steps=LEDGER_STEPS):
    ledger = OrderLedger(orders, F(1, 8))
    return worst_exceedance(AdaptiveGame(steps, tuple(map(ledger.costs, steps)), ledger, 4), ledger.exceeds)


def test_the_order_chosen_after_the_run_is_refuted():
    """P(the loss exceeds what the run reports) is 1.71 times the stated 1/8; with two orders, and two steps, too."""
    worst = exceedance(ORDERS)
    assert worst.value == F(214219, 1_000_000)
    assert worst.value / F(1, 8) > F(171, 100)
    assert exceedance((3, 65)).value == F(199, 1000) > F(1, 8)
    assert exceedance(ORDERS, LEDGER_STEPS[1:]).value == F(20701, 100_000) > F(1, 8)


@for_each("order", ORDERS)
def test_a_fixed_order_keeps_its_word(order):
    assert 0 < exceedance((order,)).value <= F(1, 8)


@for_each(("order", "true", "promised"), [(2, 0.0411989333, 0.1072566773), (4, 0.0625923793, 0.0918061461)])
def test_the_renyi_filter_holds(order, true, promised):
    game = renyi_game(order)
    worst, bound = worst_delta(game, F(8)).value, promised_delta(order, game.filter.budget, F(8))
    assert worst <= bound
    assert (float(worst), float(bound)) == pytest.approx((true, promised), abs=1e-10)
    assert worst_moment(game, order).value == game.filter.budget  # reached, and not exceeded


def test_exact_numbers_of_the_renyi_filter():
    game = renyi_game(4)
    worst = worst_delta(game, F(8))
    assert worst.value == F(660154, 10546875)
    unfiltered = worst_delta(AdaptiveGame(THREE, THREE, NoFilter(), 8), F(8)).value
    assert float(unfiltered) == pytest.approx(0.6678009033, abs=1e-10)
    assert unfiltered > promised_delta(4, game.filter.budget, F(8))


@dataclass(frozen=True)
class Late(MomentFilter):
    """Wrong: looks at what was spent before the step."""

    def start(self):
        return F(1), F(1)

    def spend(self, spent, cost):
        return spent[0] * spent[1], cost

    def admits(self, spent):
        return spent[0] <= self.budget


@dataclass(frozen=True)
class Average(MomentFilter):
    """Wrong: eight times the average cost."""

    def start(self):
        return F(1), 0

    def spend(self, spent, cost):
        return spent[0] * cost, spent[1] + 1

    def admits(self, spent):
        return spent[0] ** 8 <= self.budget ** spent[1]


@for_each("wrong", [Late, Average, NoFilter])
def test_wrong_filters_are_refuted(wrong):
    costs = tuple(step.moment(4) for step in THREE)
    budget = costs[0] ** 8
    made = wrong() if wrong is NoFilter else wrong(budget)
    n_steps = 16 if wrong is Average else 10
    assert worst_moment(AdaptiveGame(THREE, costs, made, n_steps), 4).value > budget
    assert worst_moment(AdaptiveGame(THREE, costs, MomentFilter(budget), n_steps), 4).value <= budget


def test_costs_at_another_order_are_refuted():
    """Whoever may choose the order pays at 2 what is promised at 8."""
    costs, budget = tuple(step.moment(2) for step in THREE), THREE[0].moment(2) ** 8
    worst = worst_moment(AdaptiveGame(THREE, costs, MomentFilter(budget), 8), 8)
    assert worst.value > budget**7  # exp((order - 1) B) of the same B


@st.composite
def games(draw):
    """Games of two steps with two or three answers, and a filter that admits some sequences."""
    part = st.integers(1, 6)
    steps = []
    for k in range(2):
        size = draw(st.integers(2, 3)) if k == 0 else 2
        laws = [draw(st.lists(part, min_size=size, max_size=size)) for _ in range(2)]
        first, second = (tuple(F(each, sum(law)) for each in law) for law in laws)
        steps.append(FiniteStep(f"M{k}", tuple("abc"[:size]), first, second))
    costs = tuple(step.moment(2) for step in steps)
    budget = draw(st.sampled_from([costs[0], costs[0] * costs[1], costs[1] ** 2, F(10**6)]))
    return AdaptiveGame(tuple(steps), costs, MomentFilter(budget), draw(st.integers(1, 2)))


@settings(max_examples=40)
@given(game=games(), factor=st.fractions(1, 4, max_denominator=5))
def test_every_analyst_is_tried(game, factor):
    assert worst_delta(game, factor).value == largest(game, lambda seen: delta_of(seen, factor))
    assert worst_moment(game, 2).value == largest(game, lambda seen: moment_of(seen, 2))
    ledger = OrderLedger((2, 4), F(1, 3))
    told = AdaptiveGame(game.steps, tuple(map(ledger.costs, game.steps)), ledger, game.n_steps)

    def spent(taken):
        total = ledger.start()
        for k in taken:
            total = ledger.spend(total, told.costs[k])
        return total

    def beyond(seen):
        return sum((p for p, q, taken in seen if ledger.exceeds(p / q, spent(taken))), F(0))

    assert worst_exceedance(told, ledger.exceeds).value == largest(told, beyond)
    pure = AdaptiveGame(game.steps, tuple(step.factor for step in game.steps), Pure(), game.n_steps)

    def some_run_reports(seen):
        totals = []
        for _, _, taken in seen:
            total = F(1)
            for k in taken:
                total *= pure.costs[k]
            totals.append(total)
        return delta_of(seen, factor) if min(totals) <= factor else None

    beside = delta_beside_report(pure, factor, lambda total: total <= factor)
    assert beside.value == largest(pure, some_run_reports)


def test_a_strategy_in_words():
    stop, again = Strategy("", {}), Strategy("RR(2)", {"in": Strategy("", {}), "out": Strategy("", {})})
    assert stop.words() == "stop"
    assert Strategy("A", {"in": again, "out": again}).words() == "ask A; then ask RR(2)"
    deep = Strategy("A", {"in": Strategy("B", {"in": again, "out": stop}), "out": again})
    assert deep.words() == 'ask A; after "in": (ask B; after "in": ask RR(2)); after "out": ask RR(2)'
    assert deep.words(most=2) == 'ask A; after "in": ask B, and so on; after "out": ask RR(2)'
    assert (deep.depth, stop.depth) == (3, 0)


def test_games_that_are_refused():
    step = randomised_response(2)
    with pytest.raises(ValueError, match="steps must be at least one with a cost each"):
        AdaptiveGame((step,), (), NoFilter(), 1)
    with pytest.raises(ValueError, match="n_steps must be a whole number of at least 1, got n_steps=0"):
        AdaptiveGame((step,), (None,), NoFilter(), 0)
    with pytest.raises(ValueError, match="budget must be at least 1"):
        MomentFilter(F(1, 2))
    full = AdaptiveGame((step, reveal(1)), (step, reveal(1)), NoFilter(), 1)
    assert worst_moment(full, 2) is None


def test_randomised_response_by_hand():
    step = randomised_response(2)
    assert (step.first, step.second) == ((F(2, 3), F(1, 3)), (F(1, 3), F(2, 3)))
    assert step.factor == 2
    assert step.delta_at(F(1)) == F(1, 3)
    assert step.delta_at(F(2)) == 0
    # (2/3)^3/(1/3)^2 + (1/3)^3/(2/3)^2
    assert step.moment(3) == F(8, 3) + F(1, 12)


def test_what_reveals_has_no_moment_and_no_factor():
    step = reveal(F(2, 9))
    assert step.moment(2) is None
    assert step.factor is None
    assert step.delta_at(F(10**6)) == F(2, 9)


def test_the_larger_direction_counts():
    step = binary(F(1, 10), F(1, 100))
    forward = F(1, 10) ** 2 / F(1, 100) + F(9, 10) ** 2 / F(99, 100)
    backward = F(1, 100) ** 2 / F(1, 10) + F(99, 100) ** 2 / F(9, 10)
    assert forward > backward
    assert step.moment(2) == step.swapped.moment(2) == forward
    assert step.swapped.forward_moment(2) == backward


def test_together_is_the_product():
    first, second = together([randomised_response(2), randomised_response(2)])
    assert first == (F(4, 9), F(2, 9), F(2, 9), F(1, 9))
    assert second == first[::-1]


@for_each("order", [1, 1.5, 0, True])
def test_orders_that_are_refused(order):
    with pytest.raises(ValueError, match=f"order must be a whole number of at least 2, got order={order}"):
        randomised_response(2).moment(order)


def test_laws_that_are_refused():
    with pytest.raises(ValueError, match="law must be non-negative numbers that sum to 1"):
        FiniteStep("half", ("a", "b"), (F(1, 2), F(1, 3)), (F(1, 2), F(1, 2)))
    with pytest.raises(ValueError, match="answers must have one probability"):
        FiniteStep("two", ("a",), (F(1, 2), F(1, 2)), (F(1, 2), F(1, 2)))
    with pytest.raises(ValueError, match="ratio must be at least 1"):
        randomised_response(F(1, 2))
    with pytest.raises(ValueError, match="chance must be in"):
        reveal(2)
