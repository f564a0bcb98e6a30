"""RW21, Theorem 9: bounds on the inner product of the two gradients that need no release.

``grad J = -b`` at the output. T9.1 for all z at once is ``max_j |b_j| <= sigma t`` (the dual of the 1-norm), T9.2 for one z
is ``|x^T b| <= sigma ||x|| t``: both have exact normal probabilities, whatever the loss and the data are.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
from flint import arb
from numpy.typing import NDArray

from audits import Budget, Estimate
from audits.coverage import audit_coverage
from mechanisms import Dataset, NeighbouringPair
from mechanisms.balls import enclose
from mechanisms.embedded import load
from mechanisms.losses import GlmLoss, LogisticLoss, SquaredLoss
from mechanisms.objective_perturbation import ObjectivePerturbation
from reports.row import Figure

from ..cases import case, grid, mutant
from ..evidence import coverage_evidence
from ..formal import version_name
from ..plots import curve_figure
from ..statement import Case, Evidence, Formula, Part, Role, Standing, Statement, Value

ID = "RW21-T9"
ALL, ONE = f"{ID}.1", f"{ID}.2"
LOSSES: dict[str, GlmLoss] = {"logistic": LogisticLoss(), "squared": SquaredLoss()}

#: Every version: the factor on sigma sqrt(2 log(2 dim/rho)), and whether the slope stands in absolute value.
VERSIONS = {
    "printed": (1.0, True),
    "corrected": (1.0, True),
    "root cut by 10 %": (0.9, True),
    "no dimension": (1.0, True),
    "no absolute value": (1.0, False),
}


def root(dim: int, rho: Any) -> Any:
    """Return ``sqrt(2 log(2 dim/rho))`` as a ball: T9.1 at ``dim``, T9.2 at 1."""
    return (2 * (arb(2 * dim) / arb(rho)).log()).sqrt()


def normal_inside(t: Any) -> Any:
    """Return ``P(|N| <= t)`` as a ball."""
    return (t / arb(2).sqrt()).erf()


def exact_coverage(dim: int, rho: float, factor: float, *, counted: int | None = None) -> Estimate:
    """Enclose ``P(max of dim normals, in absolute value, <= factor sqrt(2 log(2 counted/rho)))``."""
    found = enclose(lambda: normal_inside(arb(factor) * root(counted or dim, rho)) ** dim, low=0.0, high=1.0)
    return Estimate.proved(found.low, found.high, "normal law, ball arithmetic")


def check(case: Case, budget: Budget) -> Evidence:
    """Decide the coverage exactly where the event is one of the noise alone; by simulation beside it where data are named."""
    rho, version = case.number("rho"), version_name(case)
    factor, absolute = VERSIONS[version]
    if case.part == ONE and version == "printed":
        absolute = False
    dim = case.whole("dim") if "dim" in case.params else 1
    counted = 1 if version == "no dimension" else None
    return coverage_evidence(
        "probability that the bound holds" + (" for all z at once" if case.part == ALL else " for one z"),
        1.0 - rho,
        exact=exact_coverage(dim if case.part == ALL else 1, rho, factor, counted=counted) if absolute else None,
        sampled=_sampled(case, factor, absolute, budget) if "loss" in case.params else None,
        conditioned_on="D fixed" if case.part == ALL else "D and z fixed",
    )


def _pair(case: Case) -> NeighbouringPair:
    """Return the data and the target: ``none`` is an empty data set and the target x = (1, 0, …), y as given."""
    if case.text("data") == "none":
        dim = case.whole("dim") if "dim" in case.params else 1
        return NeighbouringPair.add(
            Dataset(np.empty((0, dim)), np.empty(0), 1.0, 1.0), np.eye(dim)[0], case.number("y")
        )
    return NeighbouringPair.remove(load(case.text("data")), case.whole("record"))


def _sampled(case: Case, factor: float, absolute: bool, budget: Budget) -> Estimate:
    """Draw outputs and compare the inner product of the two gradients, computed from outputs and data, with the bound."""
    pair, loss, rho = _pair(case), LOSSES[case.text("loss")], case.number("rho")
    mechanism = ObjectivePerturbation(loss, sigma=case.number("sigma"), lam=case.number("lam"))
    dim = pair.dataset.dim
    bound = factor * mechanism.sigma * math.sqrt(2.0 * math.log(2.0 * (dim if case.part == ALL else 1) / rho))

    def events(n_draws: int, rng: np.random.Generator) -> NDArray[np.bool_]:
        theta = mechanism.draw(pair.first, n_draws, rng=rng)
        gradient = -mechanism.noise(theta, pair.first)
        slope = loss.first(theta @ pair.x, np.asarray(pair.y))
        if case.part == ALL:
            return np.asarray(np.abs(gradient).max(axis=1) <= bound)
        size = np.abs(slope) if absolute else slope
        return np.asarray(np.abs(slope * (gradient @ pair.x)) <= size * float(np.linalg.norm(pair.x)) * bound)

    joint = audit_coverage(events, budget).joint
    return replace(joint, method=joint.method + ", outputs of objective perturbation")


def _cases() -> tuple[Case, ...]:
    printed, corrected = Standing.PRINTED, Standing.CORRECTED
    rhos = (0.5, 0.3, 0.1, 1e-2, 1e-6, 1e-12)
    draws, few = (2_000, 10_000, 200_000), (200, 500, 50_000)
    here: dict[str, Value] = {"loss": "logistic", "data": "none", "sigma": 2.0, "lam": 1.0, "y": 1.0, "rho": 0.1}
    real: dict[str, Value] = {"loss": "logistic", "data": "anes96", "record": 3, "sigma": 4.0, "lam": 0.5}
    sampled = [
        real | {"rho": 0.1},
        real | {"rho": 0.3, "record": 17},
        here | {"loss": "squared", "y": -1.0},
        here | {"y": -1.0, "rho": 0.3},
    ]
    dim = load("anes96").dim
    return (
        *grid(
            ALL,
            printed,
            {"dim": (1, 2, 10, 100, 10_000), "rho": rhos},
            regime="exact, any loss and data",
            quick_every=4,
        ),
        case(ALL, printed, real | {"rho": 0.1, "dim": dim}, regime="real data", draws=few, quick=False),
        case(ALL, printed, here | {"dim": 3}, regime="no data", draws=draws),
        mutant(ALL, "root cut by 10 %", {"dim": 1, "rho": 1e-12}, severity=0.1),
        mutant(ALL, "no dimension", {"dim": 10, "rho": 0.1}),
        case(ONE, printed, here, role=Role.COUNTEREXAMPLE, regime="no data, label 1: negative slope", draws=draws),
        case(ONE, printed, here | {"loss": "squared"}, regime="no data, squared loss", draws=draws, quick=False),
        case(
            ONE, corrected, here, role=Role.COUNTEREXAMPLE, regime="the case that refutes the printed form", draws=draws
        ),
        *grid(ONE, corrected, {"rho": rhos}, regime="exact, any loss and data"),
        *(
            case(ONE, corrected, p, regime="outputs", draws=draws if i > 1 else few, quick=i == 3)
            for i, p in enumerate(sampled)
        ),
        mutant(ONE, "root cut by 10 %", {"rho": 1e-12}, severity=0.1),
        mutant(ONE, "no absolute value", here, draws=draws),
    )


def figures(seed: int) -> tuple[Figure, ...]:
    """Return the exact failure probability of T9.1 against rho, with the bound of the statement."""
    rhos = [10.0 ** (-0.1 * i) for i in range(1, 41)]
    curves = {
        f"dimension {dim}": lambda rho, dim=dim: 1.0 - exact_coverage(dim, rho, 1.0).value for dim in (1, 10, 100)
    }
    return (
        curve_figure(
            "rw21-t9",
            "Failure probability of the bound for all records at once",
            "The bound of T9.1 fails with a probability below rho/2; the margin grows as rho falls.",
            "Three almost equal curves below half of the diagonal.",
            ("rho", "probability that the bound fails"),
            rhos,
            {"rho": lambda rho: rho, **curves},
            {},
            x_scale="log",
            y_scale="log",
        ),
    )


STATEMENT = Statement(
    id=ID,
    paper="redberg_wang2021",
    kind="theorem",
    title="Bounds on the third term that need no release",
    locator="Theorem 9, section 3.2.1",
    domain=(
        "Objective perturbation, convex twice differentiable loss, any data; T9.1 for all z at once, T9.2 for one z and a "
        "generalised linear loss. Decided for rho in [1e-12, 0.5], dimension 1 to 10,000"
    ),
    summary=(
        "T9.1 is true, with failure probability below rho/2. T9.2 prints the slope f' without its absolute value; for a "
        "negative slope the bound is negative and never holds. With |f'| it is true, with failure probability below rho/2."
    ),
    parts=(
        Part(
            ALL,
            "general losses, all records at once",
            Formula(
                "abs(nabla J(hat(theta)^P; D)^T nabla ell (hat(theta)^P; z)) <="
                " sigma sqrt(2 log(2 d/rho)) norm(nabla ell (hat(theta)^P; z))_1",
                "|grad J' grad l| <= sigma sqrt(2 log(2 d/rho)) ||grad l||_1",
            ),
        ),
        Part(
            ONE,
            "generalised linear losses, one record",
            printed=Formula(
                "abs(nabla J(hat(theta)^P; D)^T nabla ell (hat(theta)^P; z)) <="
                " f'(x^T hat(theta)^P; y) sigma norm(x)_2 sqrt(2 log(2/rho))",
                "|grad J' grad l| <= f'(x'theta; y) sigma ||x|| sqrt(2 log(2/rho))",
            ),
            corrected=Formula(
                "abs(nabla J(hat(theta)^P; D)^T nabla ell (hat(theta)^P; z)) <="
                " abs(f'(x^T hat(theta)^P; y)) sigma norm(x)_2 sqrt(2 log(2/rho))",
                "|grad J' grad l| <= |f'(x'theta; y)| sigma ||x|| sqrt(2 log(2/rho))",
            ),
            what_went_wrong="The slope f' stands without its absolute value; it is negative for half of all records.",
            derivation="docs/derivations/redberg_wang2021.md, Theorem 9",
        ),
    ),
    cases=_cases(),
    check=check,
    figures=figures,
)
