"""Black-box lower bounds and detection rates, and the same detections from the known law without a draw.

Run ``python benchmarks/black_box.py [--seeds N] [--runs N] [--jobs N] [--only SECTION]``; SECTION is bounds, gaussian,
detection, white-box, power (violations hard to find, at failure probability 1e-3), null (tight honest laws), seconds.
N draws per data set, 95 % one-sided. The ceiling is the same test with the best event known in advance and every
draw spent on it, on the same draws; beside it the Clopper-Pearson pair that other tools use, with its own best event.
Medians come with an exact lower end (order statistics), rates with a Clopper-Pearson interval, each end at 95 %.
"""

from __future__ import annotations

import math
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

import numpy as np
from running import options
from scipy import stats

from audits import Budget, StreamKey
from audits.black_box.black_box_audit import audit_claim, audit_epsilon, audit_gaussian_dp, black_box_audit
from audits.black_box.black_box_events import FixedEvent, RankEvent, epsilon_lower
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome
from audits.stats.intervals import clopper_pearson_lower, clopper_pearson_upper
from audits.white_box.exact import exact_delta
from mechanisms import Dataset, GaussianProfile, LaplaceProfile, NeighbouringPair, PrivacyProfile, Relation
from mechanisms.laws.gaussian_calibration import analytic_mu
from verify.kernel.statement import Claim
from verify.kernel.verdict import decide

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests"))
from oracles.audits.black_box_bank import HARD, PAIR, TIGHT, Law

LEVEL = 0.05
#: sigma of the analytic Gaussian mechanism at (1, 1e-5), sensitivity 1 (Balle and Wang 2018).
SIGMA_CLAIMED = 3.730632


@dataclass(frozen=True)
class Location:
    """The number of extra records plus noise; keeps what it drew when ``kept`` is given."""

    noise: str
    scale: float
    kept: dict[int, list[np.ndarray]] | None = field(default=None, compare=False)
    name: str = "location"

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        sampler = rng.standard_normal if self.noise == "gaussian" else partial(rng.laplace, 0.0, 1.0)
        outputs = (dataset.n_records - 1) + self.scale * sampler(size=(n_draws, 1))
        if self.kept is not None:
            self.kept.setdefault(dataset.n_records, []).append(outputs[:, 0])
        return outputs


def pair() -> NeighbouringPair:
    return NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0), [1.0], 0.0)


def tail(noise: str, scale: float, level: float) -> float:
    """Mass at distance one of the event that has mass ``level``."""
    law = stats.norm if noise == "gaussian" else stats.laplace
    return float(law.sf(law.isf(level, scale=scale) + 1.0, scale=scale))


def best_level(noise: str, n: int, delta: float, event: Callable[[int, int], object]) -> int:
    """The rank whose bound at the expected count is largest, from the known law."""
    ranks = np.unique(np.round(np.geomspace(3, 0.7 * n, 60)).astype(int))
    bounds = [epsilon_lower(event(int(k), round(n * tail(noise, 1.0, k / n))), delta, LEVEL) for k in ranks]
    return int(ranks[int(np.argmax(bounds))])


def one_bound(
    noise: str, n: int, delta: float, rank: int, fixed_rank: int, seed: int
) -> tuple[float, float, float, float]:
    """Certified epsilon, the Gaussian-DP line, both ceilings, from one seed; and the seconds of the first."""
    kept: dict[int, list[np.ndarray]] = {}
    budget = Budget(2 * n, LEVEL, StreamKey(seed, ("benchmark", noise, str(n), str(delta))))
    low = audit_epsilon(Location(noise, 1.0, kept), pair(), budget, delta=delta).estimate.low
    first, second = (np.concatenate(kept[records]) for records in (2, 1))  # the pair's second data set has the shift
    threshold = np.partition(first, n - rank)[n - rank]
    ceiling = epsilon_lower(RankEvent(rank, n, int((second >= threshold).sum()), n), delta, LEVEL)
    law = stats.norm if noise == "gaussian" else stats.laplace
    fixed = 1.0 + law.isf(fixed_rank / n)
    counts = int((first >= fixed).sum()), int((second >= fixed).sum())
    pair_ceiling = epsilon_lower(FixedEvent(counts[0], n, counts[1], n), delta, LEVEL)
    return low, ceiling, pair_ceiling


def one_gaussian(n: int, seed: int) -> float:
    budget = Budget(2 * n, LEVEL, StreamKey(seed, ("benchmark", "gaussian-dp", str(n))))
    return audit_gaussian_dp(Location("gaussian", 1.0), pair(), budget, delta=1e-5).estimate.low


def claims() -> dict[str, tuple[str, float, BlackBoxClaim, int]]:
    """Noise, scale, claim and N per data set of every detection row, the correct mechanisms among them."""
    mu = 1.0 / SIGMA_CLAIMED
    curve = BlackBoxClaim(1.0, 1e-5, (Relation.ADD,), GaussianProfile(mu))
    pure = BlackBoxClaim(1.0, 0.0, (Relation.ADD,))
    return {
        "Laplace, half scale": ("laplace", 0.5, pure, 200),
        "Laplace, correct": ("laplace", 1.0, pure, 200),
        "Gaussian / 1.5": ("gaussian", SIGMA_CLAIMED / 1.5, curve, 20_000),
        "Gaussian, correct (2e4)": ("gaussian", SIGMA_CLAIMED, curve, 20_000),
        "Gaussian / 1.1": ("gaussian", SIGMA_CLAIMED / 1.1, curve, 200_000),
        "Gaussian, correct (2e5)": ("gaussian", SIGMA_CLAIMED, curve, 200_000),
    }


def one_detection(row: str, seed: int) -> bool:
    noise, scale, claim, n = claims()[row]
    budget = Budget(2 * n, LEVEL, StreamKey(seed, ("benchmark", "detection", row)))
    return audit_claim(Location(noise, scale), pair(), claim, budget).outcome is BlackBoxOutcome.REFUTED


def white_box_rows() -> dict[str, tuple[PrivacyProfile, float]]:
    """Law of the loss and claimed delta at epsilon 1; the correct mechanisms reach their claims with equality."""
    mu = analytic_mu(1.0, 1e-5)
    return {
        "Laplace, half scale": (LaplaceProfile(2.0), 0.0),
        "Laplace, correct": (LaplaceProfile(1.0), 0.0),
        "Gaussian / 1.5": (GaussianProfile(1.5 * mu), 1e-5),
        "Gaussian / 1.1": (GaussianProfile(1.1 * mu), 1e-5),
        "Gaussian / (1 + 1e-12)": (GaussianProfile((1 + 1e-12) * mu), 1e-5),
        "Gaussian, correct": (GaussianProfile(mu), 1e-5),
    }


def white_box() -> None:
    print("mechanism                  decision   delta(1), proved enclosure                 draws  ms (median of 1000)")
    for row, (profile, delta) in white_box_rows().items():
        claim, spent = Claim("delta at epsilon 1", 0.0, delta, 1.0), []
        for _ in range(1000):
            start = time.perf_counter()
            found = exact_delta(profile, 1.0)
            outcome = decide(claim, found)
            spent.append(1e3 * (time.perf_counter() - start))
        ends = f"[{found.low!r}, {found.high!r}]"
        print(f"{row:26s} {outcome.name:9s}  {ends:46s} {found.n_draws}      {np.median(spent):.3f}", flush=True)


def median_lower(values: np.ndarray) -> float:
    """Exact 95 % lower end of a median: the largest order statistic that the median undercuts often enough."""
    index = int(stats.binom.ppf(0.05, len(values), 0.5)) - 1
    return float(np.sort(values)[index]) if index >= 0 else -math.inf


def bounds(run: Callable, seeds: int) -> None:
    rows = [("laplace", 0.0, 1.0), ("gaussian", 1e-2, 2.31779), ("gaussian", 1e-5, 4.37718)]
    print("law       delta  N       certified (low end)  ceiling  of the ceiling (low end)  CP ceiling  above truth")
    for noise, delta, truth in rows:
        for n in (10_000, 100_000, 1_000_000):
            rank = best_level(noise, n, delta, lambda k, y, n=n: RankEvent(k, n, y, n))
            fixed = best_level(noise, n, delta, lambda k, y, n=n: FixedEvent(k, n, y, n))
            start = time.perf_counter()
            table = np.array(run(partial(one_bound, noise, n, delta, rank, fixed), range(seeds))) / truth
            seconds = (time.perf_counter() - start) / seeds
            low, ceiling, pair_ceiling = table.T
            ratio = low / ceiling
            cells = [
                f"{noise:9s} {delta:<6g} {n:<8d}{np.median(low):.4f} ({median_lower(low):.4f})    ",
                f"{np.median(ceiling):.4f}   {np.median(ratio):.4f} ({median_lower(ratio):.4f})          ",
                f"{np.median(pair_ceiling):.4f}      {int((low > 1).sum())}/{seeds}  ({seconds:.2f} s/run)",
            ]
            print("".join(cells), flush=True)


def gaussian(run: Callable, seeds: int) -> None:
    truth = GaussianProfile(1.0).epsilon_at(1e-5)
    for n in (10_000, 100_000, 1_000_000):
        values = np.array(run(partial(one_gaussian, n), range(seeds))) / truth
        print(
            f"Gaussian-DP line, delta 1e-5, N={n}: median {np.median(values):.4f} ({median_lower(values):.4f}), "
            f"above truth {int((values > 1).sum())}/{seeds}",
            flush=True,
        )


def detection(run: Callable, runs: int) -> None:
    print("mechanism                  N        refuted       exact 95 % ends")
    for row, (_, _, _, n) in claims().items():
        found = int(np.sum(run(partial(one_detection, row), range(runs))))
        low = clopper_pearson_lower(found, runs, 0.05)
        high = clopper_pearson_upper(found, runs, 0.05)
        print(f"{row:26s} {n:<8d} {found}/{runs}     [{low:.4f}, {high:.4f}]", flush=True)


def one_power(name: str, seed: int) -> tuple[bool, str, float]:
    """Whether the whole audit refutes at 1e-3, the line that did, seconds."""
    outputs, claim, n_draws = HARD[name]
    budget, start = Budget(n_draws, 1e-3, StreamKey(seed, ("benchmark", "power", name))), time.perf_counter()
    found = black_box_audit(Law(outputs), PAIR, claim, budget)
    return found.outcome is BlackBoxOutcome.REFUTED, found.claim_test.line, time.perf_counter() - start


def power(run: Callable, seeds: int) -> None:
    print("violation                      N       refuted  by (of those)                      seconds (median)")
    for name, (_, _, n_draws) in HARD.items():
        table = run(partial(one_power, name), range(seeds))
        lines = [line for refuted, line, _ in table if refuted]
        words = ", ".join(f"{line} {lines.count(line)}" for line in sorted(set(lines)))
        seconds = float(np.median([spent for *_, spent in table]))
        print(f"{name:30s} {n_draws:<7d} {len(lines)}/{seeds}    {words:35s} {seconds:.2f}", flush=True)


def one_null(name: str, n_draws: int, seed: int) -> list[bool]:
    """Whether each part refutes a true claim at LEVEL: the whole audit, and each line at its own share."""
    outputs, claim = TIGHT[name]
    budget = Budget(n_draws, LEVEL, StreamKey(seed, ("benchmark", "null", name, str(n_draws))))
    found = black_box_audit(Law(outputs), PAIR, claim, budget)
    p_values = dict(found.claim_test.p_values)
    shares = {"rank events": 0.8, "betting": 0.1, "label-blind": 0.1}
    own = [p_values.get(line, 1.0) * share <= LEVEL for line, share in shares.items()]
    return [found.outcome is BlackBoxOutcome.REFUTED, *own]


def null(run: Callable, runs: int, n_draws: int) -> None:
    print(f"false alarms at {LEVEL:g} of {runs} runs, {n_draws} evaluations: the audit; each line alone at that level")
    total = np.zeros(4, dtype=int)
    for name in TIGHT:
        found = np.array(run(partial(one_null, name, n_draws), range(runs)))
        total += found.sum(axis=0)
        print(
            f"{name:30s} audit {found[:, 0].sum()}, rank {found[:, 1].sum()}, betting {found[:, 2].sum()}, "
            f"label-blind {found[:, 3].sum()}",
            flush=True,
        )
    allowed = int(stats.binom.isf(1e-3, runs, LEVEL))
    print(f"all laws: {total.tolist()} of {runs * len(TIGHT)}; a cell above {allowed} has probability below 1e-3")


def seconds() -> None:
    """Time of the whole audit, and of the rank events and the epsilon line alone."""
    for name, (outputs, claim) in TIGHT.items():
        spent = {"audit": [], "epsilon alone": []}
        for seed in range(5):
            budget = Budget(200_000, 1e-3, StreamKey(seed, ("benchmark", "seconds", name)))
            start = time.perf_counter()
            black_box_audit(Law(outputs), PAIR, claim, budget)
            spent["audit"].append(time.perf_counter() - start)
            start = time.perf_counter()
            audit_epsilon(Law(outputs), PAIR, budget, delta=claim.delta)
            spent["epsilon alone"].append(time.perf_counter() - start)
        print(f"{name:30s}", ", ".join(f"{what} {np.median(each):.2f} s" for what, each in spent.items()), flush=True)


def main() -> None:
    args = options(
        __doc__,
        seeds=100,
        runs=1000,
        jobs=2,
        only=("bounds", "gaussian", "detection", "white-box", "power", "null", "seconds"),
        draws=20_000,  # evaluations of a null run
    )
    if args.only in (None, "white-box"):
        white_box()
    if args.only == "white-box":
        return
    with ProcessPoolExecutor(args.jobs) as pool:

        def run(task: Callable, seeds: range) -> list:
            return list(pool.map(task, seeds, chunksize=max(1, len(seeds) // (4 * args.jobs))))

        if args.only in (None, "bounds"):
            bounds(run, args.seeds)
        if args.only in (None, "gaussian"):
            gaussian(run, args.seeds)
        if args.only in (None, "detection"):
            detection(run, args.runs)
        if args.only in (None, "power"):
            power(run, args.seeds)
        if args.only in (None, "null"):
            null(run, args.runs, args.draws)
    if args.only in (None, "seconds"):
        seconds()


if __name__ == "__main__":
    main()
