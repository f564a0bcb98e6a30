"""W18, Remark 11: one epsilon of one-posterior sampling for all targets.

With ``m = B^2/(lambda + lambda_min)`` and ``a = sqrt(gamma) L/B`` the printed epsilon is a function of three numbers, and no data
at all (d = 1) attain both. The tail lacks a factor 2 as in Theorem 10. Used for a target that leaves (``LEAVING``), the eigenvalue and L
must be those of the data without it (docs/derivations/wang2018_appendix_d.md, section 2).
"""

import math
from collections.abc import Callable
from functools import partial

import numpy as np

from audits import Budget
from mechanisms.data.dataset import Dataset
from mechanisms.data.neighbours import NeighbouringPair, Relation
from mechanisms.laws import QuadraticProfile
from mechanisms.linear.posterior_sampling import PosteriorSampling
from mechanisms.linear.ridge import ridge_fit
from reports.row import Figure

from ...kernel.box_search import Axis, Point
from ...kernel.formal import FormalClaim
from ...kernel.statement_plots import profile_figure
from ..kit import Case, Display, Evidence, Form, Mutant, over, search, smallest, statement
from .shared.ops_rules import structured, worst_of


def epsilon(p: Point, *, tail: float, factor: float = 1.0, residual: float = 1.0) -> float:
    """Return ``factor`` times the remark's epsilon, with ``residual`` times the scaled residual in it.

    ``tail log(2/delta)`` stands for the squared normal quantile: 1 as printed, 2 corrected.
    """
    m, a, quantile2 = p["leverage"], residual * p["residual"], tail * math.log(2.0 / p["delta"])
    return factor * (a * math.sqrt(m * quantile2) + a * a * m / (2.0 * (1.0 + m)) + (1.0 + quantile2) * m / 2.0)


CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(p["leverage"], p["residual"]),
    box={"leverage": Axis(1e-6, 1e4), "residual": Axis(1e-4, 1e4), "delta": Axis(1e-12, 0.999)},
)


def _joins(case: Case, budget: Budget, *, bound: Callable[[Point], float]) -> Evidence:
    """Decide one case of a target that joins: no data at all (three numbers), or structured pairs of data sets."""
    return _on_pairs(case, bound, Relation.ADD) if "n" in case.params else CLAIM.of(bound)(case, budget)


def _leaves(case: Case, *, bound: Callable[[Point], float], own: bool = False) -> Evidence:
    """Decide one case of a target that leaves, with the numbers of the data that contain it if ``own``."""
    return _on_pairs(case, bound, Relation.REMOVE, own=own)


def _on_pairs(case: Case, bound: Callable[[Point], float], relation: Relation, *, own: bool = False) -> Evidence:
    """Decide the worst of many structured pairs, or of one record (1, 1) in one dimension and none."""
    pairs = [NeighbouringPair.remove(Dataset(np.ones((1, 1)), np.ones(1), 1.0, 1.0), 0)]
    if "n" in case.params:
        pairs = [pair for pair in structured(case, case.number("B"), case.number("Y")) if pair.relation is relation]
    mechanism, delta = PosteriorSampling(gamma=case.number("gamma"), lam=case.number("lam")), case.number("delta")
    return worst_of(mechanism, pairs, lambda pair: bound(_point(mechanism, pair, delta, own=own)), delta)


def _point(mechanism: PosteriorSampling, pair: NeighbouringPair, delta: float, *, own: bool) -> Point:
    """Return the three numbers, from the data set that the remark is about (``own``) or from the smaller one."""
    dataset = pair.first if own or pair.relation is Relation.ADD else pair.second
    bound = dataset.x_bound
    smallest = float(np.linalg.eigvalsh(dataset.X.T @ dataset.X)[0]) if dataset.n_records else 0.0
    lipschitz = bound * (bound * float(np.linalg.norm(ridge_fit(dataset, mechanism.lam).theta)) + dataset.y_bound)
    leverage = bound**2 / (mechanism.lam + max(0.0, smallest))
    return {"leverage": leverage, "residual": math.sqrt(mechanism.gamma) * lipschitz / bound, "delta": delta}


PRINTED, CORRECTED = partial(epsilon, tail=1.0), partial(epsilon, tail=2.0)
SMALLEST = {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}
SCALES = {
    "leverage": (1e-3, 0.1, 1.0, 30.0), "residual": (0.0, 0.3, 3.0, 30.0), "delta": (1e-1, 1e-3, 1e-6, 1e-9, 1e-12),
}  # fmt: skip
DATA = over(
    "structured pairs of data sets",
    {"n": (1, 20), "dim": (2,), "B": (3.0,), "Y": (0.5,), "gamma": (0.1, 10.0), "lam": (1e-3, 10.0), "delta": (1e-2, 1e-6)},
    quick_every=11,
)  # fmt: skip
LEAVES = smallest(
    "D = {(1, 1)}, d = 1, lambda = 0.01, gamma = 1; the record leaves", {"gamma": 1.0, "lam": 0.01, "delta": 1e-3}
)


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile at the smallest counterexample, with both epsilons."""
    bounds = {"printed": PRINTED(SMALLEST), "corrected": CORRECTED(SMALLEST)}
    setting = "No data, one unit target; lambda = gamma = 100"
    title = "One posterior sample: all targets"
    return (profile_figure("w18-r11", title, CLAIM.profile(SMALLEST), 1e-6, bounds, setting),)


def _formula(tail: str) -> str:
    return (
        f"epsilon = sqrt(({tail}gamma L^2 log(2\\/delta))/(lambda + lambda_min)) + (gamma L^2)/(2 (lambda + lambda_min + norm(cal(X))^2))"
        f" + ((1 + {tail}log(2\\/delta)) norm(cal(X))^2)/(2 (lambda + lambda_min))"
    )


#: The remark used for a record that leaves, as in appendix D.5: a line of W18-TH2i's proof.
LEAVING = Display(
    printed=Form(_formula(""), partial(_leaves, bound=PRINTED, own=True), [LEAVES]),
    corrected=Form(
        _formula("2 ") + ' quad "with" lambda_min, L "of the data without the target"',
        partial(_leaves, bound=CORRECTED),
        [LEAVES, *DATA],
    ),
    wrong="A record may hold up the smallest eigenvalue alone: out of sample its leverage is larger than B^2/(lambda + lambda_min).",
    mutants={
        "no residual": Mutant(
            _leaves,
            {"n": 4, "dim": 3, "B": 1.0, "Y": 0.5, "gamma": 10.0, "lam": 1.0, "delta": 1e-2},
            bound=partial(CORRECTED, residual=0.0),
        ),
        "epsilon cut by 10 %": Mutant(
            _leaves, {"gamma": 1e8, "lam": 1.0, "delta": 1e-6}, severity=0.1, bound=partial(CORRECTED, factor=0.9)
        ),
    },
    derivation="docs/derivations/wang2018_appendix_d.md, section 2",
)

STATEMENT = statement(
    "W18-R11",
    domain="Every (X, y) and every target within the bounds, which joins, gamma > 0, lambda + lambda_min > 0; both directions; gamma and lambda public "
    "and fixed. Decided for leverages in [1e-6, 1e4], scaled residuals in [1e-4, 1e4] (and 0), delta in [1e-12, 0.999], and on "
    "structured data sets (n <= 20, d = 2)",
    summary="As printed epsilon is too small, by a factor of up to sqrt(2) where the residual decides and of up to 2 where the leverage does. The "
    "corrected epsilon has no slack where the residual is large. It speaks of a target that joins (X, y); its use in appendix D.5 for one "
    "that leaves is decided in W18-TH2i.p5.",
    derivation="docs/derivations/wang2018_appendix_d.md, section 2",
    printed=Form(
        _formula(""),
        partial(_joins, bound=PRINTED),
        [smallest("no data, d = 1, B = Y = 1, lambda = gamma = 100, target (1, 1)", SMALLEST), search(quick=False)],
    ),
    corrected=Form(
        _formula("2 "),
        partial(_joins, bound=CORRECTED),
        [
            smallest("the case that refutes the printed form", SMALLEST),
            *over("leverage, residual and delta", SCALES, quick_every=7),
            *DATA,
            search(quick=False),
        ],
    ),
    wrong="The normal quantile of Theorem 10 lacks a factor 2 under the root.",
    mutants={
        "epsilon cut by 10 %": Mutant(_joins, severity=0.1, quick=False, bound=partial(CORRECTED, factor=0.9)),
        "tail factor 1.7": Mutant(_joins, severity=0.15, bound=partial(epsilon, tail=1.7)),
        "no residual": Mutant(
            _joins, {"leverage": 1.0, "residual": 30.0, "delta": 1e-3}, bound=partial(CORRECTED, residual=0.0)
        ),
    },
    figures=figures,
)
