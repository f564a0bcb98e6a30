"""What the files of AdaSSP (W18, algorithm 2 and theorem 3) share: its three releases, and its last line.

Our copy prints the raw Gram matrix in the last line, where a hat is likely to be lost: both readings are decided.
"""

import math
from collections.abc import Iterable
from functools import partial

import numpy as np
from flint import fmpq

from audits import Budget, Estimate
from audits.search.worst_case import adversarial_pairs
from audits.white_box.tails import worse
from mechanisms import BOTH, GaussianProfile, NeighbouringPair, Relation
from mechanisms.data.dataset import Dataset
from mechanisms.linear.adassp import AdaSSP

from ....kernel.box_search import Axis, Point
from ....kernel.evidence import sampled_delta
from ....kernel.formal import FormalClaim
from ....methods.rational import Matrix, column, generator, identity, random_matrix, same
from ...kit import At, Case, Claim, Display, Evidence, Form, Measure, Mutant, Observer, over, search, smallest

#: Largest epsilon up to which the printed noise is enough for every delta searched; from 15.8 on it is not.
LARGEST = 15.5
PAIRS = ("empty", "one record", "twelve records")
#: Outputs drawn of the last line.
DRAWS = 16
#: Where the printed noise is too small.
LARGE = {"epsilon": 17.0, "delta": 0.5}


def together(p: Point) -> float:
    """Return the Gaussian-DP distance of the three releases with the printed noise, the worst record."""
    return AdaSSP(p["epsilon"], p["delta"]).worst_profile().mu


#: The three releases together. Reached in dimension 1 with so many records that the cut at 0 never acts.
RELEASES = FormalClaim(
    profile=lambda p: GaussianProfile(together(p)),
    box={"epsilon": Axis(1e-3, 100.0), "delta": Axis(1e-12, 0.99)},
    observer=Observer.TRANSCRIPT,
)


def releases(case: Case, budget: Budget, *, largest: float = math.inf, factor: float = 1.0) -> Evidence:
    """Decide ``factor`` times epsilon, claimed up to ``largest``, on the worst record, or by draws on small data sets."""
    if "pair" not in case.params:
        return RELEASES.of(lambda p: factor * p["epsilon"], lambda p, _: p["epsilon"] <= largest)(case, budget)
    epsilon, delta = case.number("epsilon"), case.number("delta")
    mechanism, pair = AdaSSP(epsilon, delta), small_pair(case.text("pair"), case.whole("dim"))
    sampled = worse([sampled_delta(mechanism, pair, epsilon, d, budget.part(d.name, share=0.5)) for d in BOTH])
    quantity = "hockey-stick delta at epsilon, worse direction"
    claim = Claim(quantity, 0.0, delta, epsilon, relation=Relation.ADD, measure=Measure.DELTA)
    return Evidence(claim, sampled=sampled)


#: The corrected claim about the three releases: its check, its cases on the worst record and by draws, its mutants.
CORRECTED = partial(releases, largest=LARGEST)
WORST = [
    *over(
        "epsilon and delta",
        {"epsilon": (1e-3, 0.1, 1.0, 5.0, 15.5), "delta": (0.9, 0.5, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)},
        quick_every=6,
    ),
    search(quick=False),
]
DRAWN = over(
    "small data, drawn",
    {"pair": PAIRS, "dim": (1, 3), "epsilon": (1.0,), "delta": (0.1,)},
    draws=(4_000, 20_000, 200_000),
    quick_every=4,
)
MUTANTS = {
    "epsilon up to 16.5": Mutant(releases, {"epsilon": 16.5, "delta": 0.35}, severity=0.05, largest=16.5),
    "epsilon cut by 5 %": Mutant(
        releases, {"epsilon": 15.5, "delta": 0.3163}, severity=0.05, largest=LARGEST, factor=0.95
    ),
}


def small_pair(name: str, dim: int) -> NeighbouringPair:
    """Return the first structured worst-case pair of a size."""
    if name == "empty":
        empty = Dataset(np.zeros((0, dim)), np.zeros(0), 2.0, 3.0)
        return NeighbouringPair.add(empty, 2.0 * np.eye(dim)[0], 3.0)
    return adversarial_pairs(1 if name == "one record" else 12, dim, x_bound=2.0, y_bound=3.0)[0].pair


def _raw_line(case: Case) -> Evidence:
    """Decide the last line with the raw Gram matrix, in rational arithmetic.

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
    quantity = "hockey-stick delta at epsilon, drawn from D"
    claim = Claim(quantity, 0.0, delta, case.number("epsilon"), relation=Relation.ADD, measure=Measure.DELTA)
    return Evidence(claim, exact=exact, notes={"recognised under D": inside, "recognised under D'": outside})


def _recognised(drawn: Matrix, moment: Matrix, lam: fmpq, known: Matrix) -> bool:
    """Return whether an output of the last line with the raw matrix gives the Gram matrix ``known`` away."""
    theta = (drawn + identity(drawn.nrows(), lam)).inv() * moment
    return bool(moment - theta * lam == known * theta)


def released_line(case: Case, *, raw: int | fmpq = 0, own_ridge: bool = False) -> Evidence:
    """Decide that the last line with the released matrix adds nothing to the releases, in rational arithmetic.

    The outputs of two data sets that differ by one row, whose releases are the same numbers, are compared. ``raw`` is the
    share of the raw Gram matrix in the line; with ``own_ridge`` lambda is taken from the data.
    """
    dim, n = case.whole("dim"), case.whole("n")
    X, x = random_matrix(n, dim, 3), random_matrix(dim, 1, 5)
    grams = (gram := X.transpose() * X), gram + x * x.transpose()
    rng = generator(dim, n, 7)
    outputs: tuple[list[Matrix], list[Matrix]] = ([], [])
    for draw in range(DRAWS):
        released, moment = gram + random_matrix(dim, dim, draw, 8), random_matrix(dim, 1, draw, 9)
        lam = fmpq(int(rng.integers(1, 10**6)), 1000)
        for own, found in zip(grams, outputs, strict=True):
            ridge = own[0, 0] if own_ridge else lam
            matrix = released * (1 - raw) + own * raw
            found.append((matrix + identity(dim, ridge)).inv() * moment)
    entries = (column(*(value for output in found for value in output.entries())) for found in outputs)
    return same("outputs of two neighbours whose releases are the same", *entries)


def last_line(title: str, printed: str, corrected: str, cases: Iterable[At], derivation: str) -> Display:
    """Return the reading of the last line with the raw matrix: it gives the Gram matrix away; corrected it has a hat."""
    sizes = ((1, 1, 1.0), (2, 3, 1.0), (3, 1, 20.0))
    away = [
        smallest("one row added", {"dim": dim, "n": n, "epsilon": epsilon, "delta": 0.5}) for dim, n, epsilon in sizes
    ]
    return Display(title, Form(printed, _raw_line, away), Form(corrected, CORRECTED, cases), RAW, MUTANTS, derivation)


RAW = (
    "Read word for word, the raw matrix stands where the released one belongs, and the output is no post-processing of the releases. "
    "The hat is most likely lost in our copy: step 4 releases it, and nothing else uses it."
)
