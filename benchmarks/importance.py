"""Lower ends of tails at 1e-9 without a proved envelope: ``python benchmarks/importance.py``.

The first table has, for P(L > epsilon) by adaptive importance sampling, the 99 % lower end relative to a reference:
median and worst of several audits, each on its own stream. The second has the budget (pilot included) at which the
median reaches 0.9, from 1e-3 to 1e-12, and that budget over log(1/tail). References are exact where there is a closed
form, and otherwise the estimate of one long audit; epsilons are found on streams of their own.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from rare_events import example
from running import options

from audits import Budget, StreamKey
from audits.rare.importance import audit_rare_lower
from mechanisms import Direction, GaussianOutput, LogisticLoss, ObjectivePerturbation, PosteriorSampling
from mechanisms.envelopes.loss_points import LossPoints, noise_points, output_points

#: Half of it goes to the tail and half to the divergence: each lower end holds at 99 %.
FAILURE_PROB = 0.02
KEY = StreamKey(20261121, ("benchmark", "importance sampling"))
TAILS = (1e-3, 1e-6, 1e-9, 1e-12)
REACHED = 0.9


@dataclass(frozen=True)
class Case:
    name: str
    source: LossPoints
    tail_at: Callable[[float], float] | None = None  # exact, where there is a closed form

    def audit(self, epsilon: float, n_draws: int, *names: str):
        return audit_rare_lower(
            self.source, Budget(n_draws, FAILURE_PROB, KEY.child(self.name, *names)), epsilon=epsilon
        )

    def epsilon(self, tail: float, n_pilot: int) -> float:
        """Return an epsilon whose tail is about ``tail``: exactly where that can be, else by pilot audits."""
        low, high = 0.0, 400.0 if self.tail_at else 4.0
        for step in range(100 if self.tail_at else 14):
            middle = 0.5 * (low + high)
            found = (
                self.tail_at(middle)
                if self.tail_at
                else self.audit(middle, n_pilot, "epsilon", f"{tail:g}", str(step)).tail.value
            )
            low, high = (middle, high) if found > tail else (low, middle)
        return low

    def reference(self, epsilon: float, n_draws: int) -> float:
        return self.tail_at(epsilon) if self.tail_at else self.audit(epsilon, n_draws, "reference").tail.value


def logistic(sigma: float, direction: Direction, *, lam: float = 1.0, badly_scaled: bool = False) -> Case:
    pair = example(1_000, 10, labels=True, badly_scaled=badly_scaled)
    scaled = ", badly scaled" if badly_scaled else ""
    name = f"logistic, sigma {sigma:g}, lam {lam:g}{scaled}, {direction.name.lower()}"
    return Case(name, noise_points(ObjectivePerturbation(LogisticLoss(), sigma, lam), pair, direction))


def gaussian(dim: int) -> Case:
    pair = example(200, dim, labels=False)
    mechanism = GaussianOutput.isotropic(0.02, dim)
    return Case(
        f"Gaussian output, dim {dim}", noise_points(mechanism, pair, Direction.FORWARD), mechanism.profile(pair).tail_at
    )


def posterior(direction: Direction, *, density: bool = False) -> Case:
    pair, mechanism = example(200, 5, labels=False), PosteriorSampling(20.0, 1.0)
    profile, build = mechanism.profile(pair), output_points if density else noise_points
    words = "by its density" if density else "by its noise"
    name = f"one-posterior sampling {words}, dim 5, {direction.name.lower()}"
    return Case(name, build(mechanism, pair, direction), lambda epsilon: profile.tail_at(epsilon, direction))


def relative(case: Case, epsilon: float, reference: float, n_draws: int, repeats: int) -> list[float]:
    """Return the lower ends of some audits, relative to the reference, in increasing order."""
    lows = (case.audit(epsilon, n_draws, "audit", str(n_draws), str(i)).tail.low for i in range(repeats))
    return sorted(low / reference for low in lows)


def lower_ends(case: Case, n_draws: int, repeats: int, *, tail: float = 1e-9) -> None:
    epsilon = case.epsilon(tail, min(n_draws, 20_000))
    reference = case.reference(epsilon, min(20 * n_draws, 200_000))
    start = time.perf_counter()
    found = relative(case, epsilon, reference, n_draws, repeats)
    seconds = (time.perf_counter() - start) / repeats
    one = case.audit(epsilon, n_draws, "audit", str(n_draws), "0")
    print(
        f"{case.name:52s} {n_draws:7d} {one.n_pilot:7d} {epsilon:9.4f} {reference:11.4e} "
        f"{statistics.median(found):7.3f} {found[0]:7.3f} {found[-1]:7.3f} {one.acceptance:7.0%} {seconds:8.2f}",
        flush=True,
    )


def growth(case: Case, repeats: int) -> None:
    for tail in TAILS:
        epsilon = case.epsilon(tail, 4_000)
        reference = case.reference(epsilon, 80_000)
        n_draws = 400
        while statistics.median(relative(case, epsilon, reference, n_draws, repeats)) < REACHED:
            n_draws = math.ceil(1.15 * n_draws)
        per_log = n_draws / math.log(1 / reference)
        print(f"{case.name:52s} {reference:11.4e} {n_draws:7d} {per_log:10.1f}", flush=True)


def main() -> None:
    asked = options(__doc__, draws=5_000, repeats=11)  # solves of one audit, its pilot included
    forward, backward = Direction.FORWARD, Direction.BACKWARD
    print(f"{'case':52s} {'draws':>7s} {'pilot':>7s} {'epsilon':>9s} {'reference':>11s} ", end="")
    print(f"{'median':>7s} {'worst':>7s} {'best':>7s} {'counted':>7s} {'seconds':>8s}")
    for case in (
        gaussian(10),
        gaussian(50),
        posterior(forward),
        posterior(backward),
        posterior(forward, density=True),
        logistic(11.0, forward),
        logistic(2.0, forward),
        logistic(2.0, forward, badly_scaled=True),
        logistic(2.0, backward),
        logistic(11.0, backward, lam=100.0),
        logistic(11.0, backward, lam=20.0),
    ):
        lower_ends(case, asked.draws, asked.repeats)
    lower_ends(gaussian(50), 5 * asked.draws, asked.repeats)
    for factor in (4, 16):
        lower_ends(logistic(11.0, backward), factor * asked.draws, asked.repeats)
    print(f"\n{'case':52s} {'tail':>11s} {'budget':>7s} {'/log(1/tail)':>10s}")
    for case in (
        gaussian(10),
        posterior(forward),
        posterior(backward),
        logistic(11.0, forward),
        logistic(2.0, forward),
        logistic(2.0, backward),
    ):
        growth(case, asked.repeats)


if __name__ == "__main__":
    main()
