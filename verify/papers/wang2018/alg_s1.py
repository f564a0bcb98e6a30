"""W18, section 3.2, item 1, with the noise of appendix C.1: sufficient statistics perturbation.

Both statistics together are one normal release at distance mu = epsilon/sqrt(2 log(4/delta)) at most, so their exact
divergence is known (docs/derivations/wang2018_ssp.md, section 1).
"""

import math
from functools import partial

import numpy as np

from audits import Budget
from mechanisms import BOTH, GaussianProfile, NeighbouringPair
from mechanisms.data.dataset import Dataset
from mechanisms.linear.sufficient_statistics import SufficientStatistics
from reports.row import Figure

from ...kernel.box_search import Axis, Point
from ...kernel.formal import FormalClaim, data_evidence
from ...kernel.statement_plots import profile_figure
from ..kit import Case, Evidence, Form, Mutant, Observer, over, search, smallest, statement

#: Largest epsilon up to which the printed noise is enough for every delta searched; from 9.1 on it is not.
LARGEST = 9.0


def distance(p: Point) -> float:
    """Return the Gaussian-DP distance of the two statistics with the printed noise, the worst record."""
    mechanism = SufficientStatistics.published(p["epsilon"], p["delta"], x_bound=1.0, y_bound=1.0)
    return mechanism.worst_profile(1.0, 1.0).mu


CLAIM = FormalClaim(
    profile=lambda p: GaussianProfile(distance(p)),
    box={"epsilon": Axis(1e-3, 100.0), "delta": Axis(1e-12, 0.99)},
    observer=Observer.TRANSCRIPT,
)


def _release(case: Case, budget: Budget, *, largest: float = math.inf, factor: float = 1.0) -> Evidence:
    """Decide ``factor`` times epsilon, claimed up to ``largest``, on the worst record or by draws on small data sets."""
    if "records" not in case.params:
        return CLAIM.of(lambda p: factor * p["epsilon"], lambda p, _: p["epsilon"] <= largest)(case, budget)
    n, dim = case.whole("records"), case.whole("dim")
    epsilon, delta = case.number("epsilon"), case.number("delta")
    rng = np.random.Generator(np.random.PCG64DXSM([n, dim]))
    X = rng.standard_normal((n + 1, dim))
    X *= 2.0 / np.linalg.norm(X, axis=1, keepdims=True)
    y = np.where(np.arange(n + 1) % 2, 3.0, -3.0)
    pair = NeighbouringPair.add(Dataset(X[:n], y[:n], 2.0, 3.0), X[n], float(y[n]))
    mechanism = SufficientStatistics.published(epsilon, delta, x_bound=2.0, y_bound=3.0)
    return data_evidence(mechanism, pair, epsilon, delta, budget, observer=Observer.TRANSCRIPT)


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile of the printed noise at epsilon = 10, delta = 0.1, with the calibrated noise's claim."""
    profile = CLAIM.profile(SMALLEST)
    exact = max(profile.epsilon_at(0.1, d) for d in BOTH)
    return (
        profile_figure(
            "w18-s1",
            "Exact profile of SSP with the printed noise",
            profile,
            0.1,
            {"printed": 10.0, "exact": exact},
            f"epsilon = 10, delta = 0.1: Gaussian DP with mu = {distance(SMALLEST):.3f} = 10/sqrt(2 log 40)",
        ),
    )


SMALLEST = {"epsilon": 10.0, "delta": 0.1}
BUDGETS = {"epsilon": (1e-3, 0.1, 1.0, 5.0, 9.0), "delta": (0.9, 0.25, 1e-1, 1e-3, 1e-6, 1e-9, 1e-12)}
DATA = {"records": (0, 1, 12), "dim": (1, 3), "epsilon": (1.0,), "delta": (0.1,)}

STATEMENT = statement(
    "W18-S1",
    derivation="docs/derivations/wang2018_ssp.md, section 1",
    domain="One record added or removed, ||x|| <= ||X||, |y| <= ||Y||; both statistics seen; epsilon > 0 and delta in (0, 1) without a "
    "printed bound. Decided for epsilon in [1e-3, 100], delta in [1e-12, 0.99]",
    summary="With the printed noise the two statistics together are (epsilon, delta)-DP up to epsilon = 9 and not beyond 9.1 (at delta around "
    "0.3); for epsilon <= 1 the true delta is at most a 50th of the promised one. Exact at every epsilon: noise sqrt(2)/mu(epsilon, delta) "
    "times the sensitivities. 'Xy' is X^T y. A statistic alone can exceed (epsilon/2, delta/2), as a release in W18-TH3i does.",
    title="both statistics, released privately",
    printed=Form(
        "hat(theta) = (hat(X^T X))^(-1) hat(X y), quad E_1 tilde.op cal(N)(0, (4 norm(cal(X))^4 log(4/delta))/epsilon^2),"
        ' quad E_2 tilde.op cal(N)(0, (4 norm(cal(X))^2 norm(cal(Y))^2 log(4/delta))/epsilon^2) quad "is" (epsilon, delta)"-DP"',
        _release,
        [smallest("no record and one at both bounds", SMALLEST), search(quick=False)],
    ),
    corrected=Form(
        '"the same with" X^T y "and" epsilon <= 9',
        partial(_release, largest=LARGEST),
        [
            smallest("the case that refutes the printed form: no claim is made", SMALLEST),
            *over("epsilon and delta", BUDGETS, quick_every=5),
            *over("small data, drawn", DATA, draws=(5_000, 40_000, 400_000), quick_every=4),
            search(quick=False),
        ],
    ),
    wrong="No bound on epsilon is stated; the constant 4 log(4/delta) lacks the factor 2 of the Gaussian mechanism, which the loose "
    "composition covers only for moderate epsilon.",
    mutants={
        "epsilon up to 9.5": Mutant(_release, {"epsilon": 9.5, "delta": 0.18}, severity=0.04, largest=9.5),
        "epsilon cut by 5 %": Mutant(
            _release, {"epsilon": 9.0, "delta": 1e-12}, severity=0.05, largest=LARGEST, factor=0.95
        ),
    },
    figures=figures,
)
