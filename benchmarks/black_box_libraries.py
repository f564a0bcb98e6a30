"""What diffprivlib and OpenDP claim, and what a black-box audit certifies about them.

Run ``python benchmarks/black_box_libraries.py [--n N] [--fits N] [--out docs/black_box_libraries.md]``; needs the
extras ``diffprivlib`` and ``opendp``. OpenDP cannot be seeded, so its rows change a little from run to run.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from running import options

from audits import Budget, StreamKey
from audits.adapters.diffprivlib import DiffprivlibMechanism, DiffprivlibModel
from audits.adapters.opendp import OpenDPNoise, OpenDPTheilSen, zcdp_curve
from audits.black_box.black_box_audit import black_box_audit
from audits.black_box.black_box_results import BlackBoxClaim, BlackBoxOutcome, BlackBoxResult
from mechanisms import Dataset, GaussianProfile, Mechanism, NeighbouringPair, Relation

SIGMA = 3.730632  # analytic Gaussian mechanism at (1, 1e-5), sensitivity 1 (Balle and Wang 2018)
COUNT = NeighbouringPair.add(Dataset(np.ones((1, 1)), np.zeros(1), 1.0, 1.0), [1.0], 0.0)
#: Two records whose squares differ by 1; the library keeps no noise on the sum of squares when the lower bound is 0.
SQUARES = NeighbouringPair.replace(Dataset(np.array([[1.0], [0.1]]), np.array([1.0, 0.1]), 1.0, 1.0), 0, [0.0], 0.0)
LABELS = NeighbouringPair.replace(
    Dataset(np.array([[1.0], [1.0], [-1.0], [1.0]]), np.array([1.0, 1.0, 0.0, 0.0]), 1.0, 1.0), 0, [1.0], 0.0
)
#: A record of norm 100 against one of norm 0: how much the curvature of the objective can change.
NORMS = NeighbouringPair.replace(Dataset(np.array([[100.0], [0.0]]), np.array([1.0, 0.0]), 100.0, 1.0), 0, [0.0], 1.0)
#: Five rows, so that one is dropped before the shuffle; taking away the first brings the dropped one back.
ODD = NeighbouringPair.remove(
    Dataset(np.array([[5.0], [0.0], [1.0], [9.0], [10.0]]), np.array([1000.0, 0, 0, 0, 0]), 10.0, 1000.0), 0
)


@dataclass(frozen=True)
class Audit:
    mechanism: Mechanism
    parameters: str
    pair: NeighbouringPair
    claim: BlackBoxClaim
    fits: int = 0  # multiples of --fits draws, for a model that takes milliseconds a fit


@dataclass(frozen=True)
class Slope:
    """One coefficient of a model as a number."""

    model: DiffprivlibModel

    @property
    def name(self) -> str:
        return self.model.name

    def draw(self, dataset: Dataset, n_draws: int, *, rng: np.random.Generator) -> np.ndarray:
        return np.reshape(self.model.draw(dataset, n_draws, rng=rng), (n_draws, 1))


def slope(kind: str, **parameters: object) -> Slope:
    return Slope(DiffprivlibModel(kind, {"epsilon": 1.0, "fit_intercept": False, **parameters}, ("coef_",)))


def scalar(kind: str, integer: bool = False, curve: Callable | None = None, **parameters: float) -> Audit:
    claim = BlackBoxClaim(
        parameters.get("epsilon", 0.0), parameters.get("delta", 0.0), (Relation.ADD, Relation.REMOVE), curve
    )
    words = ", ".join(f"{k}={v:g}" for k, v in parameters.items())
    return Audit(DiffprivlibMechanism(kind, parameters, integer=integer), words, COUNT, claim)


def audits() -> list[Audit]:
    gauss = GaussianProfile(1 / SIGMA).delta_at
    both = (Relation.ADD, Relation.REMOVE)
    open_gauss = zcdp_curve(SIGMA)
    theil_sen = OpenDPTheilSen((0.0, 10.0), (0.0, 10.0), scale=1.0, candidates_count=12)
    replaced = BlackBoxClaim(1.0, 0.0, (Relation.REPLACE,))
    return [
        scalar("Laplace", epsilon=1.0, sensitivity=1.0),
        scalar("Staircase", epsilon=1.0, sensitivity=1.0),
        scalar("Snapping", epsilon=1.0, sensitivity=1.0, lower=-20.0, upper=20.0),
        scalar("Geometric", integer=True, epsilon=1.0, sensitivity=1),
        scalar("Gaussian", epsilon=1.0, delta=1e-5, sensitivity=1.0),
        scalar("GaussianAnalytic", curve=gauss, epsilon=1.0, delta=1e-5, sensitivity=1.0),
        scalar("GaussianDiscrete", integer=True, epsilon=1.0, delta=1e-5, sensitivity=1),
        Audit(
            slope("LinearRegression", bounds_X=(0.0, 1.0), bounds_y=(-1.0, 1.0)),
            "epsilon=1, bounds_X=(0, 1), no intercept",
            SQUARES,
            replaced,
            fits=1,
        ),
        Audit(
            slope("LinearRegression", bounds_X=(-1.0, 1.0), bounds_y=(-1.0, 1.0)),
            "epsilon=1, bounds_X=(-1, 1), no intercept",
            SQUARES,
            replaced,
            fits=1,
        ),
        Audit(
            slope("LogisticRegression", data_norm=1.0),
            "epsilon=1, data_norm=1, no intercept",
            LABELS,
            replaced,
            fits=1,
        ),
        Audit(
            slope("LogisticRegression", data_norm=100.0),
            "epsilon=1, data_norm=100, no intercept",
            NORMS,
            replaced,
            fits=3,
        ),
        Audit(OpenDPNoise("laplace", 1.0), "scale=1", COUNT, BlackBoxClaim(1.0, 0.0, both)),
        Audit(OpenDPNoise("geometric", 1.0), "scale=1", COUNT, BlackBoxClaim(1.0, 0.0, both)),
        Audit(
            OpenDPNoise("gaussian", SIGMA),
            f"scale={SIGMA:g}",
            COUNT,
            BlackBoxClaim(open_gauss.epsilon(1e-5), 1e-5, both, open_gauss.delta),
        ),
        Audit(
            OpenDPNoise("canonical", epsilon=1.0, delta=1e-5),
            "d_out=(1, 1e-5)",
            COUNT,
            BlackBoxClaim(1.0, 1e-5, both),
        ),
        Audit(theil_sen, "scale=1, 12 candidates", ODD, BlackBoxClaim(theil_sen.claimed_epsilon(), 0.0, both)),
    ]


def row(audit: Audit, result: BlackBoxResult) -> str:
    bits = "-" if result.floating_point is None else f"{result.floating_point.estimate.low:.3f}"
    curve = "-" if result.curve is None else f"{result.curve.p_value:.2g}"
    refuted = [
        words
        for words, outcome in (
            ("point", result.outcome),
            ("curve", BlackBoxOutcome.NOT_REFUTED if result.curve is None else result.curve.outcome),
        )
        if outcome is BlackBoxOutcome.REFUTED
    ]
    if not refuted and result.implementation_outcome is BlackBoxOutcome.REFUTED:
        refuted = ["point, through bits"]
    cells = [
        result.mechanism,
        audit.parameters,
        result.relation.name,
        f"({result.claim.epsilon:.4g}, {result.claim.delta:g})",
        f"{result.epsilon.estimate.low:.3f}",
        bits,
        f"{result.point.p_value:.2g}",
        curve,
        " and ".join(refuted) or "nothing",
        str(result.n_draws),
    ]
    return "| " + " | ".join(cells) + " |"


HEADER = (
    "| mechanism | parameters | relation | claimed | certified epsilon | through bits | p, point | p, curve | refuted |"
    " draws |"
    "\n|---|---|---|---|---|---|---|---|---|---|"
)


def main() -> None:
    # draws per data set, fits per data set of a slow regression model; a file to write the table to, below its heading
    args = options(__doc__, n=20_000, fits=6_000, seed=1, out=Path)
    warnings.simplefilter("ignore")
    lines = [HEADER]
    print(HEADER, flush=True)
    for audit in audits():
        n = audit.fits * args.fits or args.n
        budget = Budget(2 * n, 0.01, StreamKey(args.seed, ("libraries", audit.mechanism.name, audit.parameters)))
        lines.append(row(audit, black_box_audit(audit.mechanism, audit.pair, audit.claim, budget)))
        print(lines[-1], flush=True)
    if args.out:
        text = args.out.read_text() if args.out.exists() else "# What two libraries claim, and what we measured\n\n"
        args.out.write_text(text.split("| mechanism |")[0] + "\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
