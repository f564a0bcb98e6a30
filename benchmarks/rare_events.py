"""Tails of 1e-9 with intervals valid at a finite sample: ``python benchmarks/rare_events.py``.

Prints, for P(L > epsilon) and a two-sided 99 % interval: draws (or solves), the interval relative to the estimate, the
exact value where there is one, and how the cost of +-10 % grows from 1e-3 to 1e-12. The epsilon of a tail is found on
a pilot stream; the estimate is made on another one.
"""

from __future__ import annotations

import math
import time

import numpy as np
from running import options, timed

from audits import Budget, StreamKey
from audits.rare.importance import RareAudit, audit_rare
from mechanisms import Dataset, Direction, LogisticLoss, NeighbouringPair, ObjectivePerturbation
from mechanisms.envelopes.gaussian_envelopes import posterior_envelope
from mechanisms.envelopes.logistic_envelope import logistic_envelope
from mechanisms.envelopes.tail_envelopes import Envelope
from mechanisms.linear.posterior_sampling import PosteriorSampling

#: Half of it goes to the tail and half to the divergence: the tail's interval is a 99 % one.
FAILURE_PROB = 0.02
KEY = StreamKey(20261121, ("benchmark", "rare events"))
COLUMNS = (("case", -58), ("draws", 7), ("P(L > epsilon)", 14), ("99 % interval, relative", 24), ("counted", 8))


def example(n: int, dim: int, *, labels: bool, badly_scaled: bool = False) -> NeighbouringPair:
    rng = np.random.default_rng(7)
    X = rng.normal(size=(n, dim))
    if badly_scaled:
        X *= 10.0 ** -np.linspace(0, 2, dim)
    X /= np.linalg.norm(X, axis=1).max() if badly_scaled else np.linalg.norm(X, axis=1)[:, None]
    signal = X @ rng.normal(size=dim)
    y = np.where(rng.random(n) < 1 / (1 + np.exp(-2 * signal)), 1.0, -1.0) if labels else np.clip(signal, -1.0, 1.0)
    x = np.ones(dim) / math.sqrt(dim)
    return NeighbouringPair.add(Dataset(X, y, 1.0, 1.0, name="benchmark", public=True), x, -1.0)


def line(name: str, audit: RareAudit, seconds: float, exact: float | None = None) -> str:
    t = audit.tail
    spread = f"-{1 - t.low / t.value:.2%} +{t.high / t.value - 1:.2%}" if t.value else "envelope too loose"
    tail = f"{name:58s} {audit.n_draws:7d} {t.value:14.4e} {spread:>24s} {audit.acceptance:8.1%}"
    covered = "" if exact is None else f"  exact {exact:.6e} {'inside' if t.low <= exact <= t.high else 'OUTSIDE'}"
    return f"{tail} {1e3 * seconds / audit.n_draws:8.4f}{covered}"


def audited(envelope: Envelope, n_draws: int, name: str) -> tuple[RareAudit, float]:
    return timed(lambda: audit_rare(envelope, Budget(n_draws, FAILURE_PROB, KEY.child(name))))


def logistic_epsilon(mechanism: ObjectivePerturbation, pair: NeighbouringPair, d: Direction, tail: float) -> float:
    """Return an epsilon whose tail is about ``tail``, by bisection on 300 pilot draws each."""
    low, high = 0.0, 4.0
    for step in range(12):
        middle = 0.5 * (low + high)
        envelope = logistic_envelope(mechanism, pair, d, middle)
        pilot = audit_rare(envelope, Budget(300, 0.1, KEY.child("pilot", d.name, f"{tail:g}", str(step))))
        # where nothing counts in an event that is still large, the pilot cannot see: the edge is further out
        beyond = pilot.tail.value > tail or (pilot.tail.value == 0 and math.exp(envelope.log_mass) > tail)
        low, high = (middle, high) if beyond else (low, middle)
    return 0.5 * (low + high)


def draws_for_ten_percent(acceptance: float) -> float:
    """Return how many draws inside the envelope give +-10 % at 99 % (normal approximation: a cost, not a bound)."""
    return 2.576**2 * (1 - acceptance) / acceptance / 0.01 if 0 < acceptance < 1 else 53.0  # log(200)/0.1: all count


def posterior() -> None:
    mechanism, pair = PosteriorSampling(20.0, 1.0), example(200, 5, labels=False)
    profile = mechanism.profile(pair)
    for d in Direction:
        for tail in (1e-3, 1e-6, 1e-9, 1e-12):
            low, high = 0.0, 200.0
            for _ in range(200):
                middle = 0.5 * (low + high)
                low, high = (middle, high) if profile.tail_at(middle, d) > tail else (low, middle)
            for n_draws in (1_000, 100_000) if tail == 1e-9 else (1_000,):
                name = f"OPS, {d.name.lower()}, {tail:g}"
                audit, seconds = audited(posterior_envelope(mechanism, pair, d, low), n_draws, name)
                print(line(name, audit, seconds, profile.tail_at(low, d)), flush=True)


def objective(
    sigma: float,
    tails: tuple[float, ...],
    n_solves: int,
    direction: Direction,
    *,
    lam: float = 1.0,
    badly_scaled: bool = False,
) -> None:
    pair = example(1_000, 10, labels=True, badly_scaled=badly_scaled)
    mechanism = ObjectivePerturbation(LogisticLoss(), sigma, lam)
    scaled = ", badly scaled" if badly_scaled else ""
    for tail in tails:
        name = f"logistic, sigma {sigma:g}, lam {lam:g}{scaled}, {direction.name.lower()}, {tail:g}"
        epsilon = logistic_epsilon(mechanism, pair, direction, tail)
        start = time.perf_counter()
        envelope = logistic_envelope(mechanism, pair, direction, epsilon)
        build = time.perf_counter() - start
        audit, seconds = audited(envelope, n_solves, name)
        cost = draws_for_ten_percent(audit.acceptance)
        words = f"event {math.exp(envelope.log_mass):.1e} ({build:.1f} s), +-10 % at {cost:.0f}"
        words += f" = {cost / -math.log(tail):.0f} log(1/delta)"
        print(line(name, audit, seconds), f" epsilon {epsilon:.4f}, {words}", flush=True)


def main() -> None:
    n_solves = options(__doc__, solves=5_000).solves  # of objective perturbation (n = 1,000, dim = 10)
    print(*(f"{word:<{-width}s}" if width < 0 else f"{word:>{width}s}" for word, width in COLUMNS), " ms/draw")
    posterior()
    depths = (1e-3, 1e-6, 1e-9, 1e-12)
    without, with_target = Direction.FORWARD, Direction.BACKWARD  # what is drawn from
    objective(11.0, depths, n_solves, without)
    objective(11.0, (1e-9,), n_solves, without, badly_scaled=True)
    objective(2.0, depths, n_solves, without)
    objective(2.0, (1e-9,), n_solves, without, badly_scaled=True)
    objective(2.0, depths, n_solves, with_target)
    objective(11.0, depths, n_solves, with_target, lam=100.0)
    objective(11.0, (1e-3,), n_solves, with_target, lam=20.0)  # deeper, and with lam = 1, nothing useful is proved


if __name__ == "__main__":
    main()
