"""Filters in numbers: exact games of up to twenty steps, somebody's filter examined, and filtered training's speed.

Run with ``python benchmarks/filters.py``. One thread, processor time.
"""

from __future__ import annotations

import time
from fractions import Fraction

import numpy as np
from threadpoolctl import threadpool_limits

from audits.games.adaptive_games import AdaptiveGame, delta_beside_report, worst_delta, worst_exceedance
from audits.games.filter_examination import examine_filter
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
)
from mechanisms import DPSGD, Dataset, FilteredDPSGD
from mechanisms.filters import GaussianFilter, RenyiFilter

#: Steps that an analyst asks: kinds of randomised response, and answers that are lopsided.
RESPONSES = tuple(randomised_response(ratio) for ratio in (Fraction(3, 2), 2, 3))
FOUR = (randomised_response(Fraction(5, 4)), *RESPONSES)
LOPSIDED = (*FOUR[:2], binary(Fraction(1, 4), Fraction(1, 5)), binary(Fraction(1, 10), Fraction(1, 20)))


def line(what: str, result: str, start: float) -> None:
    print(f"{what}: {result}; {time.process_time() - start:.2f} s", flush=True)


def refuted() -> None:
    """Print the games that refute."""
    start, delta = time.process_time(), Fraction(2, 9)
    steps = (randomised_response(2), reveal(delta))
    worst = worst_delta(AdaptiveGame(steps, steps, NaturalFilter(Fraction(2), delta), 2), Fraction(2))
    line("natural (ln 2, 2/9) filter", f"{worst.value} > 2/9: {worst.strategy.words()}", start)
    start, steps = time.process_time(), (randomised_response(2), reveal(1))
    game = AdaptiveGame(steps, (Fraction(2), None), MomentFilter(Fraction(10**6)), 2)
    open_game = AdaptiveGame(steps, ("RR", "Reveal"), Sequence(), 2)
    worst = delta_beside_report(open_game, Fraction(2), lambda asked: asked in ((), ("RR",)))
    kept = delta_beside_report(game, Fraction(2), lambda spent: spent is not None and spent <= 2)
    line("no filter, a run reports ln 2", f"{worst.value} (filtered {kept.value})", start)
    start = time.process_time()
    firsts = ("19/100", "19/1050"), ("1/10", "1/190"), ("11/100", "11/150")
    told = tuple(binary(Fraction(p), Fraction(q)) for p, q in firsts)
    ledger = OrderLedger((2, 3, 5, 9, 17, 33, 65), Fraction(1, 8))
    game = AdaptiveGame(told, tuple(map(ledger.costs, told)), ledger, 4)
    value = worst_exceedance(game, ledger.exceeds).value
    line("order chosen after the run, delta 1/8", f"{value} = {float(8 * value):.4f} delta", start)


class Sequence(NoFilter):
    """Admits everything and remembers what was asked."""

    def start(self) -> tuple[str, ...]:  # type: ignore[override]
        """Return nothing asked."""
        return ()

    def spend(self, spent: tuple[str, ...], cost: str) -> tuple[str, ...]:  # type: ignore[override]
        """Return what was asked, in order."""
        return (*spent, cost)


def held(steps: tuple[FiniteStep, ...], order: int, n_steps: int, factor: int) -> None:
    """Print the worst delta under the Renyi filter, whose budget is that of ``n_steps`` times the first step."""
    start = time.process_time()
    moments = tuple(step.moment(order) for step in steps)
    assert moments[0] is not None
    budget = moments[0] ** n_steps
    worst = worst_delta(AdaptiveGame(steps, moments, MomentFilter(budget), n_steps), Fraction(factor))
    promised = min(Fraction(1), promised_delta(order, budget, Fraction(factor)))
    what = f"Renyi filter, order {order}, {len(steps)} mechanisms, T = {n_steps}, epsilon ln {factor}"
    line(what, f"{float(worst.value):.6f} <= {float(promised):.6f}, {worst.states:,} states", start)


class Late:
    """A filter that looks at what was spent before the step."""

    def start(self) -> tuple[float, float]:
        """Return nothing spent."""
        return 0.0, 0.0

    def spend(self, spent: tuple[float, float], cost: float) -> tuple[float, float]:
        """Return the sum before the last step, and that step's cost."""
        return spent[0] + spent[1], cost

    def admits(self, spent: tuple[float, float]) -> bool:
        """Return whether the sum before fits."""
        return spent[0] <= 1.0


def examined() -> None:
    """Print what the games find of a wrong filter."""
    for claimed in (RenyiFilter(8, 1.0), GaussianFilter(1.0)):
        start = time.process_time()
        found = next(each for each in examine_filter(Late(), claimed, 1e-5) if each.refutes)
        line(f"a late filter claims {claimed}", f"{found.quantity} {found.value.mid:.4g} > {found.allowed:.4g}", start)


def training() -> None:
    """Print the time of filtered trainings beside those without a filter (n = 1,000, d = 10, T = 100)."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((1000, 10)) / np.sqrt(10)
    data = Dataset(X, np.sign(X @ rng.standard_normal(10) + 0.3 * rng.standard_normal(1000)), np.inf, 1.0)
    for rate in (0.01, 0.2, 1.0):
        plain = DPSGD("logistic", 100, rate, 1.0 + 14 * rate, 1.0, 1.0, normaliser=1000 * rate)
        filtered = FilteredDPSGD(plain, RenyiFilter(8, 0.01))
        filtered.costs(np.zeros(1))  # makes the table
        times = []
        for mechanism in (plain, filtered):
            start = time.process_time()
            mechanism.draw(data, 100, rng=np.random.default_rng(1))
            times.append((time.process_time() - start) * 10)
        print(f"rate {rate}: {times[0]:.2f} ms a training, filtered {times[1]:.2f} ms", flush=True)


if __name__ == "__main__":
    with threadpool_limits(1):
        refuted()
        held(RESPONSES, 4, 8, 8)
        held(RESPONSES, 2, 8, 8)
        held(FOUR, 4, 20, 8)
        held(LOPSIDED, 4, 20, 8)
        examined()
        training()
