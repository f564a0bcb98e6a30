"""W18, Remark 11: one epsilon of one-posterior sampling for all targets.

With ``m = B^2/(lambda + lambda_min)`` and ``a = sqrt(gamma) L/B`` the printed epsilon is a function of three numbers, and no data
at all (d = 1) attain both. The tail lacks a factor 2 as in Theorem 10; for a target that leaves, the eigenvalue and L must
be those of the data without it (docs/derivations/wang2018_appendix_d.md, section 2).
"""

from __future__ import annotations

import math

import numpy as np

from audits import Budget
from audits.worst_case import adversarial_pairs
from mechanisms.data import Dataset
from mechanisms.neighbours import NeighbouringPair, Relation
from mechanisms.posterior_sampling import PosteriorSampling
from mechanisms.profiles import QuadraticProfile
from mechanisms.ridge import ridge_fit
from reports.row import Figure

from ..cases import adversarial, case, grid, mutant
from ..evidence import hockey_stick_evidence
from ..formal import FormalClaim, Version, version_name
from ..plots import profile_figure
from ..search import Axis, Point, excess
from ..statement import Case, Evidence, Formula, Observer, Part, Role, Standing, Statement, Value

ID = "W18-R11"
ADD, REMOVE = f"{ID}#add", f"{ID}#remove"
DELTAS = (1e-1, 1e-3, 1e-6, 1e-9, 1e-12)


def epsilon(p: Point, *, tail: float) -> float:
    """Return the remark's epsilon with ``tail log(2/delta)`` for the squared normal quantile: 1 as printed, 2 corrected."""
    m, a, quantile2 = p["leverage"], p["residual"], tail * math.log(2.0 / p["delta"])
    return a * math.sqrt(m * quantile2) + a * a * m / (2.0 * (1.0 + m)) + (1.0 + quantile2) * m / 2.0


VERSIONS = {
    "printed": Version(lambda p: epsilon(p, tail=1.0)),
    "corrected": Version(lambda p: epsilon(p, tail=2.0)),
    "epsilon cut by 10 %": Version(lambda p: 0.9 * epsilon(p, tail=2.0)),
    "tail factor 1.7": Version(lambda p: epsilon(p, tail=1.7)),
    "no residual": Version(lambda p: epsilon(p | {"residual": 0.0}, tail=2.0)),
}
CLAIM = FormalClaim(
    profile=lambda p: QuadraticProfile(p["leverage"], p["residual"]),
    box={"leverage": Axis(1e-6, 1e4), "residual": Axis(1e-4, 1e4), "delta": Axis(1e-12, 0.999)},
    versions=VERSIONS,
)


def check(case: Case, budget: Budget) -> Evidence:
    """Decide one case: no data at all (three numbers), or the worst of many structured pairs of data sets."""
    if case.part == ADD and "n" not in case.params:
        return CLAIM.check(case, budget)
    pairs = [_smallest()] if "n" not in case.params else _pairs(case)
    mechanism = PosteriorSampling(gamma=case.number("gamma"), lam=case.number("lam"))
    delta, version = case.number("delta"), version_name(case)
    found = []
    for pair in pairs:
        bound = VERSIONS[version].epsilon(_point(mechanism, pair, delta, own=version == "printed"))
        profile = mechanism.profile(pair)
        found.append((excess(profile, bound, delta), bound, profile, pair.relation))
    _, bound, profile, relation = max(found, key=lambda each: each[0])
    return hockey_stick_evidence(profile, bound, delta, relation=relation, observer=Observer.OUTPUT)


def _point(mechanism: PosteriorSampling, pair: NeighbouringPair, delta: float, *, own: bool) -> Point:
    """Return the three numbers, from the data set that the remark is about (``own``) or from the smaller one."""
    dataset = pair.first if own or pair.relation is Relation.ADD else pair.second
    bound = dataset.x_bound
    smallest = float(np.linalg.eigvalsh(dataset.X.T @ dataset.X)[0]) if dataset.n_records else 0.0
    lipschitz = bound * (bound * float(np.linalg.norm(ridge_fit(dataset, mechanism.lam).theta)) + dataset.y_bound)
    leverage = bound**2 / (mechanism.lam + max(0.0, smallest))
    return {"leverage": leverage, "residual": math.sqrt(mechanism.gamma) * lipschitz / bound, "delta": delta}


def _smallest() -> NeighbouringPair:
    """One record (1, 1) in one dimension, and none."""
    return NeighbouringPair.remove(Dataset(np.ones((1, 1)), np.ones(1), 1.0, 1.0), 0)


def _pairs(case: Case) -> list[NeighbouringPair]:
    wanted = Relation.ADD if case.part == ADD else Relation.REMOVE
    named = adversarial_pairs(case.whole("n"), case.whole("dim"), x_bound=case.number("B"), y_bound=case.number("Y"))
    return [each.pair for each in named if each.pair.relation is wanted]


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    axes = {"leverage": (1e-3, 0.1, 1.0, 30.0), "residual": (0.0, 0.3, 3.0, 30.0), "delta": DELTAS}
    smallest: dict[str, Value] = {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}
    leaves: dict[str, Value] = {"gamma": 1.0, "lam": 0.01, "delta": 1e-3}
    data: dict[str, tuple[Value, ...]] = {
        "n": (1, 20),
        "dim": (2,),
        "B": (3.0,),
        "Y": (0.5,),
        "gamma": (0.1, 10.0),
        "lam": (1e-3, 10.0),
        "delta": (1e-2, 1e-6),
    }
    counter = Role.COUNTEREXAMPLE
    one = "D = {(1, 1)}, d = 1, lambda = 0.01, gamma = 1; the record leaves"
    return (
        case(ADD, printed, smallest, role=counter, regime="no data, d = 1, B = Y = 1, lambda = gamma = 100, target (1, 1)"),
        adversarial(ADD, printed, quick=False),
        case(ADD, corrected, smallest, role=counter, regime="the case that refutes the printed form"),
        *grid(ADD, corrected, axes, regime="leverage, residual and delta", quick_every=7),
        *grid(ADD, corrected, data, regime="structured pairs of data sets", quick_every=11),
        adversarial(ADD, corrected, quick=False),
        mutant(ADD, "epsilon cut by 10 %", severity=0.1, quick=False),
        mutant(ADD, "tail factor 1.7", severity=0.15),
        mutant(ADD, "no residual", {"leverage": 1.0, "residual": 30.0, "delta": 1e-3}),
        case(REMOVE, printed, leaves, role=counter, regime=one),
        case(REMOVE, corrected, leaves, role=counter, regime=one),
        *grid(REMOVE, corrected, data, regime="structured pairs of data sets", quick_every=11),
        mutant(REMOVE, "no residual", {"n": 4, "dim": 3, "B": 1.0, "Y": 0.5, "gamma": 10.0, "lam": 1.0, "delta": 1e-2}),
        mutant(REMOVE, "epsilon cut by 10 %", {"gamma": 1e8, "lam": 1.0, "delta": 1e-6}, severity=0.1),
    )  # fmt: skip


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact profile at the smallest counterexample, with both epsilons."""
    point = {"leverage": 0.01, "residual": 10.0, "delta": 1e-6}
    bounds = {name: VERSIONS[name].epsilon(point) for name in ("printed", "corrected")}
    setting = "No data, one unit target; lambda = gamma = 100"
    return (
        profile_figure("w18-r11", "One posterior sample: all targets", CLAIM.profile(point), 1e-6, bounds, setting),
    )


def _formula(tail: str, plain: str) -> Formula:
    return Formula(
        f"epsilon = sqrt(({tail}gamma L^2 log(2\\/delta))/(lambda + lambda_min)) + (gamma L^2)/(2 (lambda + lambda_min + norm(cal(X))^2))"
        f" + ((1 + {tail}log(2\\/delta)) norm(cal(X))^2)/(2 (lambda + lambda_min))",
        f"epsilon = sqrt({plain}gamma L^2 log(2/delta)/(lambda + lambda_min)) + gamma L^2/(2 (lambda + lambda_min + B^2)) "
        f"+ (1 + {plain}log(2/delta)) B^2/(2 (lambda + lambda_min))",
    )


_DOC = "docs/derivations/wang2018_appendix_d.md, section 2"

STATEMENT = Statement(
    id=ID,
    paper="wang2018",
    kind="remark",
    title="One epsilon of a posterior sample for all targets",
    locator="Remark 11, appendix D.2",
    domain=(
        "Every (X, y) and every target within the bounds, gamma > 0, lambda + lambda_min > 0; both directions; gamma and lambda public "
        "and fixed. Decided for leverages in [1e-6, 1e4], scaled residuals in [1e-4, 1e4] (and 0), delta in [1e-12, 0.999], and on "
        "structured data sets (n <= 20, d = 2)"
    ),
    summary=(
        "As printed epsilon is too small by up to sqrt(2), and for a record that leaves by any factor, since the eigenvalue and L are "
        "then those of the data that contain it. The corrected epsilon has no slack where the residual is large."
    ),
    parts=(
        Part(
            ADD,
            "a target that joins",
            _formula("", ""),
            _formula("2 ", "2 "),
            "The normal quantile of Theorem 10 lacks a factor 2 under the root.",
            _DOC,
        ),
        Part(
            REMOVE,
            "a target that leaves",
            _formula("", ""),
            Formula(
                _formula("2 ", "2 ").typst + ' quad "with" lambda_min, L "of the data without the target"',
                _formula("2 ", "2 ").text + " with lambda_min and L of the data without the target",
            ),
            "A record may hold up the smallest eigenvalue alone: out of sample its leverage is larger than B^2/(lambda + lambda_min).",
            _DOC,
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
