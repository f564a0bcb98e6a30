"""Draws until a sparing audit refutes, beside the batch audit and the whole examination; false alarms; slow queries.

Run ``python benchmarks/sparing.py [--repeats 20] [--alarms 1000] [--only draws|alarms|query]``. The failure probability
is 1e-4; a power is the share of repetitions in which the claim is refuted.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from running import options

from audits import Budget, PrivacyClaim, StreamKey, black_box_audit, examine, gaussian_dp_claim, point_claim
from audits.black_box.black_box_results import BlackBoxOutcome
from audits.search import NamedPair
from audits.sequential import audit_sparingly
from mechanisms import Dataset, NeighbouringPair

FAILURE_PROB, SEED = 1e-4, 20261123
#: Gaps of eight pairs, as shares of the largest: the audit must find out which pair shows the most.
GAPS = (0.5, 0.02, 1.0, 0.25, 0.1, 0.75, 0.05, 0.01)
MOST = 40_000
ONE = Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0, name="one record", public=True)
PAIRS = [NamedPair(f"gap {gap:g}", NeighbouringPair.add(ONE, [1.0], gap)) for gap in GAPS]
WORST = PAIRS[GAPS.index(1.0)]
Noise = Callable[[np.random.Generator, int], Any]


@dataclass(frozen=True)
class Sum:
    """The sum of the responses with noise; with probability ``leak`` one value instead, where the sum is large."""

    noise: Noise
    leak: float = 0.0
    seconds: float = 0.0
    name: str = "sum"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return independent outputs, shape ``(n_draws, 1)``."""
        time.sleep(self.seconds * n_draws)
        total = float(dataset.y.sum())
        values = total + self.noise(rng, n_draws)
        if total == 1.0:
            values[rng.random(n_draws) < self.leak] = 12.5
        return values[:, None]


def laplace(scale: float) -> Noise:
    """Return Laplace noise."""
    return lambda rng, n: rng.laplace(scale=scale, size=n)


def normal(sigma: float) -> Noise:
    """Return normal noise."""
    return lambda rng, n: sigma * rng.standard_normal(n)


PURE = point_claim(1.0, 0.0)
CASES: tuple[tuple[str, Sum, PrivacyClaim], ...] = (
    ("Laplace, half the noise, claim (1, 0)", Sum(laplace(0.5)), PURE),
    ("Gaussian, sigma too small by 1.5, claim mu = 1", Sum(normal(1 / 1.5)), gaussian_dp_claim(1.0)),
    ("a value leaked with probability .1, claim (1, 0)", Sum(laplace(1.0), 0.1), PURE),
    ("a value leaked with probability .02, claim (1, 0)", Sum(laplace(1.0), 0.02), PURE),
)


def key(*names: object) -> StreamKey:
    """Return the stream of one run."""
    return StreamKey(SEED, ("sparing", *(str(name) for name in names)))


def draws(mechanism: Sum, claim: PrivacyClaim, pairs: list[NamedPair], repeats: int, most: int) -> list[float]:
    """Return the draws until refuted of each repetition, infinite where it was not."""
    audits = (
        audit_sparingly(mechanism, pairs, claim, Budget(most, FAILURE_PROB, key("draws", len(pairs), i)))
        for i in range(repeats)
    )
    return [audit.n_draws if audit.refuted else math.inf for audit in audits]


def batch(mechanism: Sum, claim: PrivacyClaim, n: int, i: int) -> bool:
    """Return whether the batch audit of the worst pair refutes with ``n`` draws."""
    budget = Budget(n, FAILURE_PROB, key("batch", n, i))
    return black_box_audit(mechanism, WORST.pair, claim.black_box(), budget).outcome is BlackBoxOutcome.REFUTED


def spread(mechanism: Sum, claim: PrivacyClaim, n: int, i: int) -> bool:
    """Return whether the examination refutes with ``max_draws = n`` spread over the eight pairs."""
    budget = Budget(8_000, FAILURE_PROB, key("spread", n, i))
    return bool(examine(mechanism, PAIRS, claim, budget, max_draws=n).refutations)


def enough(refutes: Callable[[int, int], bool], repeats: int) -> float:
    """Return the first of 200, 280, 400, 560, … draws with a power of at least .9, infinite beyond ``MOST``."""
    sizes = (round(200 * 2 ** (step / 2) / 20) * 20 for step in range(17))
    powers = ((n, np.mean([refutes(n, i) for i in range(repeats)])) for n in sizes if n <= MOST)
    return next((n for n, power in powers if power >= 0.9), math.inf)


def table(repeats: int) -> Iterator[str]:
    """Yield a line for each case."""
    yield "| what is false | pair known: median, .9 quantile | 8 pairs: median, .9 quantile, power | batch | spread |"
    yield "|---|---|---|---|---|"
    for name, mechanism, claim in CASES:
        most = 12_000 if mechanism.leak == 0.02 else 4_000
        few = max(5, repeats // 4) if mechanism.leak == 0.02 else repeats
        known, found = (draws(mechanism, claim, pairs, few, most) for pairs in ([WORST], PAIRS))
        one = enough(lambda n, i, m=mechanism, c=claim: batch(m, c, n, i), repeats)
        all_ = enough(lambda n, i, m=mechanism, c=claim: spread(m, c, n, i), max(5, repeats // 2))
        ends = [
            f"{np.quantile(each, 0.5):,.0f}, {np.quantile(each, 0.9, method='higher'):,.0f}" for each in (known, found)
        ]
        power = np.mean(np.isfinite(found))
        yield f"| {name} | {ends[0]} | {ends[1]}, {power:.2f} | {one:,.0f} | {all_:,.0f} |"


def alarms(repeats: int) -> Iterator[str]:
    """Yield false alarms on claims that hold with equality."""
    yield f"| claim that holds with equality | level | false alarms of {repeats} |"
    yield "|---|---|---|"
    gaussian = gaussian_dp_claim(1.0)
    delta = gaussian.delta_at(0.5)
    response = RandomisedResponse()
    for name, mechanism, claim in (
        ("randomised response, (1, 0)", response, PURE),
        ("Laplace, (1, 0)", Sum(laplace(1.0)), PURE),
        (f"Gaussian, mu = 1: (.5, {delta:.4f})", Sum(normal(1.0)), point_claim(0.5, delta)),
    ):
        logs = [
            audit_sparingly(mechanism, [WORST], claim, Budget(100, 1e-12, key("alarms", name, i))).log_wealth
            for i in range(repeats)
        ]
        for level in (0.5, 0.1, 0.01):
            yield f"| {name} | {level:g} | {int(np.sum(np.array(logs) >= -math.log(level)))} |"


@dataclass(frozen=True)
class RandomisedResponse:
    """Whether the responses add up to 1, told truly with odds e to 1."""

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return independent outputs 0 and 1, shape ``(n_draws, 1)``."""
        truth = float(dataset.y.sum()) == 1.0
        heads = 1 / (1 + math.exp(-1.0 if truth else 1.0))
        return (rng.random((n_draws, 1)) < heads).astype(np.float64)


@dataclass
class Slow:
    """The half-noise Laplace sum behind 300 ms a draw, with calls that may be open together."""

    concurrency: int
    seconds: float = 0.3
    batch: int = 100
    reproducible: bool = True
    name: str = "slow query"

    def fresh(self) -> Slow:
        """Return it as it begins."""
        return self

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> Any:
        """Return independent outputs."""
        return Sum(laplace(0.5), seconds=self.seconds).draw(dataset, n_draws, rng=rng)


def query() -> Iterator[str]:
    """Yield what an audit of a query of 300 ms takes, eight pairs, at most 2,000 draws."""
    for concurrency in (1, 4):
        start = time.perf_counter()
        audit = audit_sparingly(Slow(concurrency), PAIRS, PURE, Budget(2_000, FAILURE_PROB, key("query")))
        took = time.perf_counter() - start
        rate = 600 * audit.n_draws / took
        yield f"{concurrency} at once: {audit.outcome.name}, {audit.n_draws} draws, {took:.0f} s, {rate:,.0f} in 10 min"


def main() -> None:
    """Print what is asked for."""
    asked = options(__doc__, repeats=20, alarms=1000, only=("draws", "alarms", "query"))
    parts = {"draws": lambda: table(asked.repeats), "alarms": lambda: alarms(asked.alarms), "query": query}
    for name, lines in parts.items():
        if asked.only in (None, name):
            start = time.perf_counter()
            for line in lines():
                print(line, flush=True)
            print(f"({name}: {time.perf_counter() - start:.0f} s)\n", flush=True)


if __name__ == "__main__":
    main()
