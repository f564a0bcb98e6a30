"""What the files of AdaSSP (W18, algorithm 2 and theorem 3) share: its three releases, and its printed last line."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from flint import fmpq

from audits import Budget, Estimate
from audits.tails import worse
from audits.worst_case import adversarial_pairs
from mechanisms import BOTH, NeighbouringPair, Relation
from mechanisms.adassp import AdaSSP
from mechanisms.data import Dataset
from mechanisms.profiles import GaussianProfile

from ..cases import adversarial, grid, mutant
from ..formal import FormalClaim, Version
from ..search import Axis, Point
from ..statement import Case, Claim, Evidence, Observer, Standing, Value
from ..wang2019.rational import Matrix, generator, identity, random_matrix
from ..witness import sampled_delta

#: Largest epsilon up to which the printed noise is enough for every delta searched; from 15.9 on it is not.
LARGEST = 15.5
DRAWN = (4_000, 20_000, 200_000)
PAIRS = ("empty", "one record", "twelve records")


def together(p: Point) -> float:
    """Return the Gaussian-DP distance of the three releases with the printed noise, the worst record."""
    return AdaSSP(p["epsilon"], p["delta"]).worst_profile().mu


def _up_to(largest: float, factor: float = 1.0) -> Version:
    return Version(lambda p: factor * p["epsilon"], lambda p, _: p["epsilon"] <= largest)


#: The three releases together. Reached in dimension 1 with so many records that the cut at 0 never acts.
RELEASES = FormalClaim(
    profile=lambda p: GaussianProfile(together(p)),
    box={"epsilon": Axis(1e-3, 100.0), "delta": Axis(1e-12, 0.99)},
    versions={
        "printed": Version(lambda p: p["epsilon"]),
        "corrected": _up_to(LARGEST),
        "epsilon up to 16.5": _up_to(16.5),
        "epsilon cut by 5 %": _up_to(LARGEST, 0.95),
    },
    observer=Observer.TRANSCRIPT,
)


def corrected_cases(part: str, *, drawn: bool = True) -> tuple[Case, ...]:
    """Return the cases of the corrected claim about the three releases, with its mutants; ``drawn`` adds pairs."""
    axes = {"epsilon": (1e-3, 0.1, 1.0, 5.0, 15.5), "delta": (0.9, 0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)}
    pairs = {"pair": PAIRS, "dim": (1, 3), "epsilon": (1.0,), "delta": (0.1,)}
    return (
        *grid(part, Standing.CORRECTED, axes, regime="epsilon and delta", quick_every=6),
        *(
            grid(part, Standing.CORRECTED, pairs, regime="small data, drawn", draws=DRAWN, quick_every=4)
            if drawn
            else ()
        ),
        adversarial(part, Standing.CORRECTED, quick=False),
        mutant(part, "epsilon up to 16.5", {"epsilon": 16.5, "delta": 0.35}, severity=0.05),
        mutant(part, "epsilon cut by 5 %", {"epsilon": 15.5, "delta": 0.3163}, severity=0.05),
    )


def releases_evidence(case: Case, budget: Budget) -> Evidence:
    """Decide the three releases on the worst record, or by draws on a pair of small data sets."""
    if "pair" not in case.params:
        return RELEASES.check(case, budget)
    epsilon, delta = case.number("epsilon"), case.number("delta")
    pair = small_pair(case.text("pair"), case.whole("dim"))
    sampled = worse(
        [sampled_delta(AdaSSP(epsilon, delta), pair, epsilon, d, budget.part(d.name, share=0.5)) for d in BOTH]
    )
    claim = Claim("hockey-stick delta at epsilon, worse direction", 0.0, delta, epsilon, relation=Relation.ADD)
    return Evidence(claim, sampled=sampled)


def small_pair(name: str, dim: int) -> NeighbouringPair:
    """Return the first structured worst-case pair of a size."""
    if name == "empty":
        empty = Dataset(np.zeros((0, dim)), np.zeros(0), 2.0, 3.0)
        return NeighbouringPair.add(empty, 2.0 * np.eye(dim)[0], 3.0)
    return adversarial_pairs(1 if name == "one record" else 12, dim, x_bound=2.0, y_bound=3.0)[0].pair


def raw_line_evidence(case: Case) -> Evidence:
    """Decide the printed last line, which uses the raw Gram matrix, in rational arithmetic.

    The event "moment - lambda theta = G theta", with G the Gram matrix of D, has probability 1 under D by algebra. Under
    D + (x, y) it is x (x^T theta) = 0, of probability 0 for a continuous noise: the divergence is 1 at every epsilon.
    """
    dim, n, delta = case.whole("dim"), case.whole("n"), case.number("delta")
    X, y = random_matrix(n, dim, 3), random_matrix(n, 1, 4)
    x, response = random_matrix(dim, 1, 5), fmpq(1)
    gram, moment = X.transpose() * X, X.transpose() * y
    grown, moved = gram + x * x.transpose(), moment + x * identity(1, response)
    rng = generator(dim, n, 6)
    inside = outside = 0
    for _ in range(DRAWS):
        lam = fmpq(int(rng.integers(1, 10**6)), 1000)
        noise = random_matrix(dim, 1, int(rng.integers(0, 10**6)))
        inside += _recognised(gram, moment + noise, lam, gram)
        outside += _recognised(grown, moved + noise, lam, gram)
    low = max(0.0, inside / DRAWS - np.exp(case.number("epsilon")) * outside / DRAWS)
    exact = Estimate.proved(low, 1.0, f"mutually singular laws: identity in rational arithmetic, {DRAWS} outputs each")
    claim = Claim(
        "hockey-stick delta at epsilon, drawn from D", 0.0, delta, case.number("epsilon"), relation=Relation.ADD
    )
    return Evidence(claim, exact=exact, notes={"recognised under D": inside, "recognised under D'": outside})


DRAWS = 16


def _recognised(drawn: Matrix, moment: Matrix, lam: fmpq, known: Matrix) -> bool:
    """Return whether an output of the printed last line gives the Gram matrix ``known`` away."""
    theta = (drawn + identity(drawn.nrows(), lam)).inv() * moment
    return bool(moment - theta * lam == known * theta)


def raw_line_case(dim: int, n: int, epsilon: float) -> dict[str, Value]:
    """Return the numbers of one case of :func:`raw_line_evidence`."""
    return {"dim": dim, "n": n, "epsilon": epsilon, "delta": float(Fraction(1, 2))}
