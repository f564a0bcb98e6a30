"""One training run: ``python benchmarks/one_run.py``; with jax-privacy beside it where that is installed.

Ideal scores ``N(±mu/2, 1)`` of a Gaussian mechanism that is exactly ``(epsilon, 1e-5)``-DP, inclusion by fair coins,
bounds at 95 %. Columns: the bound on epsilon at delta (point), the refuted Gaussian curve by its epsilon at delta
(curve); numbers of guesses planned on the true epsilon, on half of it, or four numbers at a quarter of the level each.
Means over runs, as shares of the true epsilon. jax-privacy 2.0.0 guesses at one end and pays for all thresholds.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable

import numpy as np
from running import options
from scipy.optimize import brentq
from scipy.stats import binom

from audits import StreamKey
from audits.training import one_run_bound, one_run_gaussian_bound, planned_guesses
from audits.training.one_run import GuessCounts, gaussian_bound, ideal_accuracy, point_bound
from mechanisms import GaussianProfile
from mechanisms.laws.gaussian_calibration import analytic_mu

DELTA, FAILURE_PROB = 1e-5, 0.05
EPSILONS, CANARIES = (1.0, 2.0, 4.0, 8.0), (1_000, 10_000, 100_000)
KEY = StreamKey(20261123, ("benchmark", "one run"))
#: Counts at which the library's formulas and ours are compared.
COMPARED = ((1_000, 58, 52), (10_000, 337, 310), (10_000, 337, 337), (1_000, 491, 290), (10_000, 5_000, 3_300))

Scores = tuple[np.ndarray, np.ndarray]


def ideal(m: int, mu: float, rng: np.random.Generator) -> Scores:
    """Return scores and inclusions."""
    included = rng.random(m) < 0.5
    return np.where(included, mu / 2, -mu / 2) + rng.standard_normal(m), included


def columns(m: int, epsilon: float) -> dict[str, Callable[[Scores], float]]:
    """Return what is computed from one run, by name."""

    def plan(share: float, curve: bool) -> int:
        return planned_guesses(m, epsilon=share * epsilon, delta=DELTA, failure_prob=FAILURE_PROB, curve=curve)

    several = [m // 100, m // 30, m // 10, m // 3]
    choices = {"plan": (plan(1, False), plan(1, True)), "half": (plan(0.5, False), plan(0.5, True))}
    choices["four"] = (several, several)
    made: dict[str, Callable[[Scores], float]] = {}
    for name, (point, curve) in choices.items():
        made[f"point, {name}"] = lambda of, n=point: (
            one_run_bound(*of, delta=DELTA, failure_prob=FAILURE_PROB, n_guesses=n).epsilon.low
        )
        made[f"curve, {name}"] = lambda of, n=curve: (
            one_run_gaussian_bound(*of, delta=DELTA, failure_prob=FAILURE_PROB, n_guesses=n).curve_epsilon
        )
    return made


def library() -> dict[str, Callable[[Scores], float]]:
    """Return the library's two bounds, or nothing where it is not installed."""
    try:
        from jax_privacy import auditing
    except ImportError:
        print("jax-privacy is not installed (pip install jax-privacy==2.0.0): its columns are left out")
        return {}

    def auditor(of: Scores) -> auditing.CanaryScoreAuditor:
        scores, included = of
        return auditing.CanaryScoreAuditor(scores[included], scores[~included])

    return {
        "jax point": lambda of: float(auditor(of).epsilon_one_run(FAILURE_PROB, DELTA)),
        "jax curve": lambda of: float(auditor(of).epsilon_one_run_fdp(FAILURE_PROB, DELTA)),
    }


def formulas() -> None:
    """Print our bounds and the library's at equal counts."""
    try:
        from jax_privacy import auditing
    except ImportError:
        return
    print("\nm, guesses, right     point: ours, library      curve: ours, library, difference")
    for m, r, v in COMPARED:
        counts = GuessCounts(m, r, v)
        point, mu = point_bound(counts, DELTA, FAILURE_PROB), gaussian_bound(counts, FAILURE_PROB)
        curve = GaussianProfile(mu).epsilon_at(DELTA)
        theirs = auditing._epsilon_one_run(0, m, r, v, FAILURE_PROB, DELTA)
        library_curve = auditing._epsilon_one_run_fdp(0, m, r, v, FAILURE_PROB, DELTA)
        print(
            f"{m:6d} {r:6d} {v:6d}     {point:8.5f} {theirs:8.5f}         "
            f"{curve:9.6f} {library_curve:9.6f} {curve - library_curve:9.1e}"
        )


def published_bound(counts: GuessCounts) -> float:
    """Return the bound of Steinke, Nasr and Jagielski 2023: ``beta + 2 m delta max_i P(v > B >= v - i) / i``."""
    r, v = counts.n_guesses, counts.n_correct
    falls = np.arange(1, v + 1)

    def excess(epsilon: float) -> float:
        odds = 1 / (1 + math.exp(-epsilon))
        beyond = binom.sf(v - falls - 1, r, odds) - binom.sf(v - 1, r, odds)
        tail = float(binom.sf(v - 1, r, odds))
        return tail + 2 * counts.n_canaries * DELTA * float((beyond / falls).max()) - FAILURE_PROB

    return 0.0 if excess(0.0) > 0 else float(brentq(excess, 0.0, 64.0))


def growth() -> None:
    """Print the bounds at the expected number of right guesses, each at its best number of guesses."""
    print("\nshare of epsilon at the expected number of right guesses: published formula, point, curve")
    for m in (1_000, 10_000, 100_000, 1_000_000):
        words = []
        for epsilon in EPSILONS:
            mu, best = analytic_mu(epsilon, DELTA), [0.0, 0.0, 0.0]
            for r in np.geomspace(20, min(m, 30_000), 16).astype(int).tolist():
                counts = GuessCounts(m, r, int(r * ideal_accuracy(r / m, mu)))
                curve = gaussian_bound(counts, FAILURE_PROB)
                made = (
                    published_bound(counts),
                    point_bound(counts, DELTA, FAILURE_PROB),
                    GaussianProfile(curve).epsilon_at(DELTA) if curve else 0.0,
                )
                best = [max(a, b / epsilon) for a, b in zip(best, made, strict=True)]
            words.append(f"epsilon {epsilon:g}: " + " ".join(f"{share:.2f}" for share in best))
        print(f"m {m:9,}   " + "   ".join(words), flush=True)


def scan() -> None:
    """Print how the term in delta compares with the published formula's, by the tail that it is added to."""
    shares: dict[float, list[float]] = {edge: [] for edge in (0.01, 0.1, 0.5, 0.85, 1.0)}
    for r in (*range(1, 41), 60, 100, 200, 500, 1_000):
        for odds in (1 / (1 + math.exp(-e)) for e in (0, 0.1, 0.5, 1, 2, 3, 4, 6, 8)):
            atoms, tails = binom.pmf(np.arange(r + 1), r, odds), binom.sf(np.arange(-1, r), r, odds)
            for v in (v for v in range(1, r + 1) if atoms[v] > 1e-250 and tails[v] < 1 - 1e-12):
                alpha = float((np.cumsum(atoms[:v][::-1]) / np.arange(1, v + 1)).max())
                share = tails[v] * (1 - tails[v]) / (v * atoms[v]) / (2 * alpha)
                shares[next(edge for edge in shares if tails[v] <= edge)].append(float(share))
    print("\nterm in delta over the published one, by the tail without delta")
    for edge, found in shares.items():
        print(f"up to {edge:g}: {min(found):.3f} to {max(found):.3f} ({len(found):,} triples)")


def main() -> None:
    """Print the tables."""
    given = options(__doc__, repeats=10, largest=10_000)
    jax = library()
    for epsilon in EPSILONS:
        mu = analytic_mu(epsilon, DELTA)
        for m in (m for m in CANARIES if m <= given.largest):
            started = time.perf_counter()
            ours = columns(m, epsilon)
            planned, seconds = time.perf_counter() - started, dict.fromkeys([*ours, *jax], 0.0)
            found: dict[str, list[float]] = {name: [] for name in seconds}
            for i in range(given.repeats):
                run = ideal(m, mu, KEY.child(f"{epsilon:g}", str(m), str(i)).rng())
                for name, bound in {**ours, **(jax if i < 3 else {})}.items():
                    started = time.perf_counter()
                    found[name].append(bound(run))
                    seconds[name] += time.perf_counter() - started
            cells = "; ".join(
                f"{name} {statistics.fmean(values) / epsilon:.2f} ({seconds[name] / len(values):.2f} s)"
                for name, values in found.items()
            )
            print(f"epsilon {epsilon:g}, m {m:,}: {cells}; plans {planned:.1f} s", flush=True)
    formulas()
    growth()
    scan()


if __name__ == "__main__":
    main()
