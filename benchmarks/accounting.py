"""Epsilon of many DP-SGD steps between two proved ends, beside two accountants: ``python benchmarks/accounting.py``.

For sampling rates, noise multipliers and numbers of steps at the corners of the goal (rate 1e-3 to 1, sigma/clip 0.5 to
10, up to 1e4 steps, delta down to 1e-12 where epsilon is at most 50): the two ends of the worse direction, the larger
width of both, and processor seconds for both ends of both directions together. At rate 1 the closed form beside them.
``--libraries`` adds dp-accounting (connect-the-dots on a grid of 1e-4, and its optimistic end) and, where it is
installed, prv-accountant (error 1e-2 in epsilon), on the cases named there, at delta 1e-5.
"""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator
from typing import Any

from running import options

from mechanisms import BOTH, Direction, GaussianProfile
from mechanisms.accounting.composed_law import ComposedLaw, compose
from mechanisms.accounting.subsampled_gaussian import SubsampledGaussianProfile
from mechanisms.data.neighbours import Relation

RATES = (1e-3, 1e-2, 0.1, 0.5, 1.0)
NOISES = (0.5, 1.0, 2.0, 10.0)
STEPS = (1, 100, 10_000)
DELTAS = (1e-5, 1e-12)
LARGEST_EPSILON = 50.0
GOAL = 1e-3
#: Cases shown beside the libraries.
BESIDE = ((0.01, 1.0, 1000), (0.01, 1.0, 10_000), (0.001, 0.5, 10_000), (0.1, 2.0, 1000), (0.5, 10.0, 1000))

Case = tuple[float, float, int]


def composed(case: Case, least_delta: float, width: float) -> tuple[ComposedLaw, float]:
    rate, noise, n_steps = case
    profile = GaussianProfile(1 / noise) if rate == 1 else SubsampledGaussianProfile(rate, 1 / noise, Relation.REMOVE)
    start = time.process_time()
    law = compose([(profile, n_steps)], width=width, least_delta=least_delta)
    return law, time.process_time() - start


def ends(law: ComposedLaw, delta: float) -> tuple[float, float, float]:
    """Return both ends of the larger epsilon, and the larger width."""
    found = [law.epsilon_bracket(delta, direction) for direction in BOTH]
    worst = max(found, key=lambda bracket: bracket.high)
    return worst.low, worst.high, max(bracket.high - bracket.low for bracket in found)


def line(case: Case) -> str:
    rate, noise, n_steps = case
    label = f"{rate:7g} {noise:5g} {n_steps:6d}"
    rough = composed(case, 1e-12, 1.0)[0]
    deltas = [delta for delta in DELTAS if rough.epsilon_at(delta, Direction.FORWARD) <= LARGEST_EPSILON]
    if not deltas:
        return f"{label}  epsilon above {LARGEST_EPSILON:g}"
    law, seconds = composed(case, min(deltas), GOAL)
    parts, missed = [], seconds > 15
    for delta in deltas:
        low, high, width = ends(law, delta)
        exact = GaussianProfile(math.sqrt(n_steps) / noise).epsilon_at(delta) if rate == 1 else None
        inside = "" if exact is None else " exact inside" if low <= exact <= high else f" EXACT {exact} OUTSIDE"
        parts.append(f"{delta:g}: [{low:.6f}, {high:.6f}] {width:.1e}{inside}")
        missed = missed or width > GOAL
    return f"{label} {seconds:6.1f} s  " + "  ".join(parts) + ("  MISSED" if missed else "")


def beside(case: Case) -> Iterator[str]:
    rate, noise, n_steps = case
    yield f"rate {rate:g}, sigma/clip {noise:g}, {n_steps} steps, delta 1e-5"
    law, seconds = composed(case, 1e-12, GOAL)
    low, high, _ = ends(law, 1e-5)
    yield f"  ours                   [{low:.6f}, {high:.6f}] {high - low:.1e} {seconds:6.1f} s"
    libraries: tuple[tuple[str, Callable[[Case], tuple[float, float]]], ...] = (
        ("dp-accounting, 1e-4", dp_accounting),
        ("prv-accountant, 1e-2", prv_accountant),
    )
    for name, ask in libraries:
        start = time.process_time()
        try:
            low, high = ask(case)
        except ModuleNotFoundError as missing:
            yield f"  {name:22s} not installed ({missing.name})"
            continue
        yield f"  {name:22s} [{low:.6f}, {high:.6f}] {high - low:.1e} {time.process_time() - start:6.1f} s"


def dp_accounting(case: Case) -> tuple[float, float]:
    from dp_accounting.pld import privacy_loss_distribution as pld

    rate, noise, n_steps = case

    def epsilon(**options: Any) -> float:
        one = pld.from_gaussian_mechanism(noise, sampling_prob=rate, value_discretization_interval=1e-4, **options)
        return float(one.self_compose(n_steps).get_epsilon_for_delta(1e-5))

    return epsilon(pessimistic_estimate=False, use_connect_dots=False), epsilon()


def prv_accountant(case: Case) -> tuple[float, float]:
    from prv_accountant import PoissonSubsampledGaussianMechanism, PRVAccountant

    rate, noise, n_steps = case
    accountant = PRVAccountant(
        prvs=[PoissonSubsampledGaussianMechanism(sampling_probability=rate, noise_multiplier=noise)],
        max_self_compositions=[n_steps],
        eps_error=1e-2,
        delta_error=1e-8,
    )
    low, _, high = accountant.compute_epsilon(delta=1e-5, num_self_compositions=[n_steps])
    return float(low), float(high)


def main() -> None:
    if options(__doc__, libraries=False).libraries:  # the two libraries beside ours instead of the corners
        for case in BESIDE:
            for text in beside(case):
                print(text, flush=True)
        return
    print("   rate sigma  steps  seconds  delta: [ends of the larger epsilon] larger width of both directions")
    for case in itertools.product(RATES, NOISES, STEPS):
        print(line(case), flush=True)


if __name__ == "__main__":
    main()
